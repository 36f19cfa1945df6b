//! The work that calls leave behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use icm_service::Service;

/// How long work that an answer leaves behind waits for more of its kind, and how long after it was done last it is not
/// done again, however many answers there are.
const LULL: Duration = Duration::from_millis(2);

const REST: Duration = Duration::from_millis(20);

/// The work that calls leave behind, done when their answers are out: recalls are recorded, views
/// brought up to date. Several calls in a row share one round.
#[derive(Default)]
pub(crate) struct FollowUp {
    left: AtomicBool,
    finished: AtomicBool,
    wake: Notify,
    ending: Notify,
}

impl FollowUp {
    /// A call has left work.
    pub(crate) fn leave(&self) {
        self.left.store(true, Ordering::Release);
    }

    /// Answers are out.
    pub(crate) fn answered(&self) {
        if self.left.load(Ordering::Acquire) {
            self.wake.notify_one();
        }
    }

    /// An answer is out that has left work.
    pub(crate) fn leave_and_tell(&self) {
        self.leave();
        self.answered();
    }

    /// No more answers will come; what is left is still done.
    pub(crate) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
        self.ending.notify_one();
        self.wake.notify_one();
    }

    /// Does the work until [`FollowUp::finish`].
    pub(crate) async fn run(self: Arc<Self>, service: Arc<Service>) {
        // Making a graph takes minutes, so the next round does not wait for it.
        let mut tending: Option<JoinHandle<()>> = None;
        let mut rested = Instant::now();
        loop {
            self.wake.notified().await;
            // Calls often come in bursts, and the next one should not wait for the store.
            let lull = tokio::time::sleep_until(rested.max(Instant::now() + LULL));
            tokio::select! {
                () = lull => {}
                () = self.ending.notified() => {}
            }
            let finished = self.finished.load(Ordering::Acquire);
            if self.left.swap(false, Ordering::AcqRel) || finished {
                let working = Arc::clone(&service);
                let work = move || {
                    working.record_recalls();
                    if finished {
                        working.settle();
                    } else {
                        working.settle_between();
                    }
                    let more = !finished && working.embed_behind();
                    for notice in working.take_notices() {
                        tracing::warn!("{notice}");
                    }
                    more
                };
                match tokio::task::spawn_blocking(work).await {
                    Ok(true) => self.leave_and_tell(),
                    Ok(false) => {}
                    Err(error) => tracing::error!(%error, "the work after an answer failed"),
                }
                rested = Instant::now() + REST;
                if !finished && tending.as_ref().is_none_or(JoinHandle::is_finished) {
                    ended(tending.take()).await;
                    let (service, this) = (Arc::clone(&service), Arc::clone(&self));
                    tending = Some(tokio::task::spawn_blocking(move || {
                        service.tend_graph(&|| !this.finished.load(Ordering::Relaxed));
                    }));
                }
            }
            if finished {
                ended(tending).await;
                return;
            }
        }
    }
}

/// Waits for whoever makes a graph.
async fn ended(tending: Option<JoinHandle<()>>) {
    if let Some(tending) = tending
        && let Err(error) = tending.await
    {
        tracing::error!(%error, "making a graph failed");
    }
}
