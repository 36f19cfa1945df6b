//! Progress of a long call: the client is told of it, if it asked for that, and may cancel the call.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use icm_wait::bounds;
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use icm_api::Progress;

/// Progress messages that wait to be sent; a client that does not read misses some. Raised, it misses fewer and gets
/// older ones.
const WAITING_MAX: usize = 16;

/// The progress of one call.
pub(super) struct Watched {
    gone: CancellationToken,
    told: Option<Told>,
}

struct Told {
    words: mpsc::Sender<Word>,
    state: Mutex<State>,
}

/// The state of the work.
#[derive(Default)]
struct State {
    phase: String,
    /// Total of this phase.
    total: Option<u64>,
    /// Steps done in all phases: the number sent to a client must only grow.
    done: u64,
    before: u64,
    last: Option<Instant>,
}

struct Word {
    done: u64,
    total: Option<u64>,
    phase: String,
}

impl Watched {
    /// Returns the progress of this request, and the task that tells the client until the progress is dropped. Must be
    /// called inside a tokio runtime.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> (Watched, Option<JoinHandle<()>>) {
        let told = context.meta.get_progress_token().map(|token| {
            let (words, waiting) = mpsc::channel(WAITING_MAX);
            let telling = tokio::spawn(tell(context.peer.clone(), token, waiting));
            let state = Mutex::default();
            (Told { words, state }, telling)
        });
        let (told, telling) = told.unzip();
        let gone = context.ct.clone();
        (Watched { gone, told }, telling)
    }

    fn say(&self, change: impl FnOnce(&mut State), always: bool) {
        let Some(told) = &self.told else {
            return;
        };
        let mut state = told.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        if always
            || state
                .last
                .is_none_or(|last| last.elapsed() >= bounds::LOOK_EVERY)
        {
            state.last = Some(Instant::now());
            let word = Word {
                done: state.done,
                total: state.total.map(|total| state.before + total),
                phase: state.phase.clone(),
            };
            // A client that does not read is not waited for.
            let _ = told.words.try_send(word);
        }
    }
}

impl Progress for Watched {
    fn start(&self, phase: &str, total: Option<u64>) {
        let begin = |state: &mut State| {
            state.before = state.done;
            phase.clone_into(&mut state.phase);
            state.total = total;
        };
        self.say(begin, true);
    }

    fn advance(&self, steps: u64) {
        self.say(|state| state.done += steps, false);
    }

    fn finish(&self) {
        self.say(|_| {}, true);
    }

    fn is_cancelled(&self) -> bool {
        self.gone.is_cancelled()
    }
}

/// Sends progress to the client, each time a larger number than before.
async fn tell(peer: Peer<RoleServer>, token: ProgressToken, mut waiting: mpsc::Receiver<Word>) {
    let mut last = None;
    while let Some(Word { done, total, phase }) = waiting.recv().await {
        if last.is_some_and(|last| done <= last) {
            continue;
        }
        last = Some(done);
        let mut word = ProgressNotificationParam::new(token.clone(), done as f64);
        word.total = total.map(|total| total as f64);
        word.message = (!phase.is_empty()).then_some(phase);
        if peer.notify_progress(word).await.is_err() {
            return;
        }
    }
}
