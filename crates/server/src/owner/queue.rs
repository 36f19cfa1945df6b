//! Writes that wait for their turn. Whoever comes while nobody decides does so itself, with no other thread in
//! between; what comes meanwhile is decided by a thread of the queue, one after another under one hold of the store.
//! All who wait for a sync share it, and the next ones are decided meanwhile.

use std::mem::take;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, panic, thread};

use icm_api::error::{Result, ServiceError};
use icm_api::{Caller, Receipt};
use icm_service::{OwnWay, Prepared, Service, Write};

/// One decides while the other waits for its sync.
const THREADS: usize = 2;
/// Nothing was written for so long: there is time for what the next recall would ask. Longer than a slow sync takes, which
/// all may be waiting for.
const IDLE: Duration = Duration::from_millis(5);
/// So long a thread looks for more before it sleeps: to be woken takes about as long.
const LOOKS_ON: Duration = Duration::from_micros(50);

/// The queue, and the threads that see to it until this is dropped.
pub(super) struct Queue {
    shared: Arc<Shared>,
}

struct Shared {
    service: Arc<Service>,
    waiting: Mutex<Waiting>,
    /// Something waits, or is to be folded, or the queue is closed.
    news: Condvar,
}

#[derive(Default)]
struct Waiting {
    writes: Vec<Waiter>,
    /// A thread decides what it took, or folds what was decided.
    is_taken: bool,
    /// Something was decided that is not folded.
    to_fold: bool,
    /// Something was folded that is not ready for a recall.
    to_ready: bool,
    /// When the newest write came.
    newest: Option<Instant>,
    is_closed: bool,
    /// Threads that sleep until they are told.
    asleep: usize,
}

struct Waiter {
    write: (Caller, Prepared),
    answer: Answer,
}

/// Who is told what became of a write, by the thread that saw to it; told of a failure when nobody did.
struct Answer(Option<Box<dyn FnOnce(Done) + Send>>);

/// The receipt, or why there is none.
type Done = Result<Receipt>;

impl Answer {
    fn new(tell: impl FnOnce(Done) + Send + 'static) -> Answer {
        Answer(Some(Box::new(tell)))
    }

    fn tell(mut self, done: Done) {
        if let Some(tell) = self.0.take() {
            tell(done);
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some(tell) = self.0.take() {
            tell(Err(failed()));
        }
    }
}

/// The right to decide, until it is dropped.
struct Turn<'a> {
    shared: &'a Shared,
}

/// What a thread of the queue does next.
enum Next {
    Decide(Vec<Waiter>),
    Fold,
    GetReady,
}

impl Queue {
    pub(super) fn new(service: Arc<Service>) -> io::Result<Queue> {
        let shared = Arc::new(Shared {
            service,
            waiting: Mutex::default(),
            news: Condvar::new(),
        });
        // From here on its end is told to the threads.
        let queue = Queue { shared };
        for _ in 0..THREADS {
            let shared = Arc::clone(&queue.shared);
            thread::Builder::new()
                .name("icm-writes".into())
                .spawn(move || shared.work_on())?;
        }
        Ok(queue)
    }

    /// Does a write. `tell` is told once it is durable, or why it is not done, by this thread or the one that saw to it; it
    /// must not wait for anything.
    pub(super) fn submit(
        &self,
        caller: Caller,
        write: Write,
        tell: impl FnOnce(Done) + Send + 'static,
    ) {
        self.shared.submit(caller, write, Answer::new(tell));
    }

    /// The way in for the writes of this process, as long as the queue is there: they wait with those of others, so
    /// that neither wait for the other's locks again and again.
    pub(super) fn own_way(&self) -> OwnWay {
        let shared = Arc::downgrade(&self.shared);
        Arc::new(move |caller, write| {
            match shared.upgrade()?.write(caller, write) {
                // Whether it was decided is not known: the caller does it without the queue, and the log knows it
                // again by its key.
                Err(ServiceError::Internal(_)) => None,
                done => Some(done),
            }
        })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.shared.waiting().is_closed = true;
        self.shared.news.notify_all();
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut waiting = self.shared.waiting();
        waiting.is_taken = false;
        let more = waiting.to_fold || !waiting.writes.is_empty();
        let more = more && waiting.asleep > 0;
        let is_closed = waiting.is_closed;
        drop(waiting);
        match is_closed {
            true => self.shared.news.notify_all(),
            false if more => self.shared.news.notify_one(),
            false => {}
        }
    }
}

impl Shared {
    /// Does a write, and returns once it is durable.
    fn write(&self, caller: Caller, write: Write) -> Done {
        let (tell, told) = mpsc::sync_channel(1);
        let answer = Answer::new(move |done| {
            let _ = tell.send(done);
        });
        self.submit(caller, write, answer);
        told.recv().unwrap_or_else(|_| Err(failed()))
    }

    fn submit(&self, caller: Caller, write: Write, answer: Answer) {
        let prepared = match self.service.prepare_write(&caller, write) {
            Ok(prepared) => prepared,
            Err(error) => return answer.tell(Err(error)),
        };
        let write = (caller, prepared);
        let mut waiting = self.waiting();
        waiting.newest = Some(Instant::now());
        // Nobody is there any more who would decide it.
        if waiting.is_closed {
            drop(waiting);
            return answer.tell(Err(failed()));
        }
        if !waiting.is_taken && waiting.writes.is_empty() {
            waiting.is_taken = true;
            drop(waiting);
            let turn = Turn { shared: self };
            let decided = panic::catch_unwind(AssertUnwindSafe(|| self.decide(&[write], turn)));
            return tell(vec![answer], decided.unwrap_or_else(|_| Err(failed())));
        }
        waiting.writes.push(Waiter { write, answer });
        // Who decides just now tells of what came meanwhile.
        let is_told = !waiting.is_taken && waiting.asleep > 0;
        drop(waiting);
        if is_told {
            self.news.notify_one();
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for writes and does them, until the queue is closed.
    fn work_on(&self) {
        // Whoever waits for one that fails hears of it, and does it without the owner.
        let round = || panic::catch_unwind(AssertUnwindSafe(|| self.work()));
        while round().unwrap_or_else(|_| {
            tracing::error!("a round of writes failed");
            true
        }) {}
    }

    /// Waits for writes and does them. False once the queue is closed.
    fn work(&self) -> bool {
        let Some((next, turn)) = self.next() else {
            return false;
        };
        match next {
            // While what was decided is synced, and who waited for that thinks of the next.
            Next::Fold => self.fold_ahead(false),
            Next::GetReady => self.fold_ahead(true),
            Next::Decide(waiting) => {
                let (writes, answers): (Vec<_>, Vec<_>) = waiting
                    .into_iter()
                    .map(|waiter| (waiter.write, waiter.answer))
                    .unzip();
                tell(answers, self.decide(&writes, turn));
            }
        }
        true
    }

    fn fold_ahead(&self, all: bool) {
        let go_on = || self.waiting().writes.is_empty();
        self.service.fold_ahead(all, &go_on);
    }

    /// Decides these, leaves the turn to others and waits until what was decided is durable.
    fn decide(&self, writes: &[(Caller, Prepared)], turn: Turn<'_>) -> Result<Vec<Done>> {
        let decided = self.service.decide_all(writes);
        if let Err(error) = &decided
            && let Some(error) = unavailable(error)
        {
            // Who came meanwhile has waited for the lock as well.
            let behind = take(&mut self.waiting().writes);
            tell(behind.into_iter().map(|it| it.answer).collect(), Err(error));
        }
        self.waiting().to_fold = true;
        drop(turn);
        decided.and_then(|receipts| receipts.commit())
    }

    /// What is to be done, as soon as there is something and nobody else decides; `None` once the queue is closed.
    fn next(&self) -> Option<(Next, Turn<'_>)> {
        let mut waiting = self.waiting();
        let mut idle = Instant::now();
        loop {
            if !waiting.is_taken && !waiting.writes.is_empty() {
                waiting.is_taken = true;
                waiting.to_fold = false;
                let writes = take(&mut waiting.writes);
                return Some((Next::Decide(writes), Turn { shared: self }));
            }
            if waiting.is_closed && waiting.writes.is_empty() {
                return None;
            }
            if !waiting.is_taken && waiting.to_fold {
                waiting.is_taken = true;
                waiting.to_fold = false;
                waiting.to_ready = true;
                return Some((Next::Fold, Turn { shared: self }));
            }
            let since = waiting.newest.map_or(IDLE, |newest| newest.elapsed());
            let rest = IDLE.saturating_sub(since);
            if !waiting.is_taken && waiting.to_ready && rest.is_zero() {
                waiting.is_taken = true;
                waiting.to_ready = false;
                return Some((Next::GetReady, Turn { shared: self }));
            }
            if idle.elapsed() < LOOKS_ON {
                drop(waiting);
                thread::yield_now();
                waiting = self.waiting();
                continue;
            }
            waiting.asleep += 1;
            if waiting.to_ready {
                // Nobody tells of that: a thread looks again.
                let rest = if waiting.is_taken { IDLE } else { rest };
                let slept = self.news.wait_timeout(waiting, rest);
                let (woken, slept) = slept.unwrap_or_else(PoisonError::into_inner);
                waiting = woken;
                if !slept.timed_out() {
                    idle = Instant::now();
                }
            } else {
                waiting = (self.news.wait(waiting)).unwrap_or_else(PoisonError::into_inner);
                idle = Instant::now();
            }
            waiting.asleep -= 1;
        }
    }
}

pub(super) fn failed() -> ServiceError {
    ServiceError::Internal("deciding it failed".to_owned())
}

/// The same error once more, where it says that the lock was not to be had.
fn unavailable(error: &ServiceError) -> Option<ServiceError> {
    match *error {
        ServiceError::Busy { waited_ms } => Some(ServiceError::Busy { waited_ms }),
        ServiceError::Stopped { pid, asked } => Some(ServiceError::Stopped { pid, asked }),
        _ => None,
    }
}

fn tell(answers: Vec<Answer>, receipts: Result<Vec<Done>>) {
    match receipts {
        Ok(receipts) => {
            for (answer, receipt) in answers.into_iter().zip(receipts) {
                answer.tell(receipt);
            }
        }
        Err(error) => {
            for answer in answers {
                let internal = || ServiceError::Internal(error.to_string());
                answer.tell(Err(unavailable(&error).unwrap_or_else(internal)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use icm_api::StoreRequest;
    use icm_service::OpenOptions;

    #[test]
    fn what_was_written_is_made_ready_for_a_recall_once_nothing_comes() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = OpenOptions {
            dir: folder.path().to_owned(),
            lock_wait: Duration::from_secs(5),
            read_only: false,
        };
        let service = Arc::new(Service::open(options).expect("it opens"));
        let queue = Queue::new(Arc::clone(&service)).expect("threads");
        for n in 0..1_200_u32 {
            // None is near another: those would be searched for.
            let words = blake3::hash(&n.to_le_bytes()).to_hex();
            let request = StoreRequest {
                topic: "t".to_owned(),
                content: format!("{} {} {}", &words[..6], &words[6..12], &words[12..18]),
                ..StoreRequest::default()
            };
            let stored = queue.shared.write(Caller::default(), Write::Store(request));
            stored.expect("it stores");
        }
        // Each look does a little of it; those that there is time for here do not do all.
        let begun = Instant::now();
        while service.makes_ready() {
            assert!(begun.elapsed() < Duration::from_secs(10), "nobody does it");
            thread::sleep(Duration::from_millis(50));
        }
    }
}
