//! The work left by calls, done in the background after their answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;

use icm_service::{Delivery, Service};

/// Time between an answer and the work left by it, 20 ms. Raised, views and records of recalls are behind for longer;
/// lowered, calls in a row share fewer rounds, and a round takes CPU from the next call.
const LULL: Duration = Duration::from_millis(20);

/// The work left by calls, done when their answers are out: recalls are recorded, views are brought up to date. Several
/// calls in a row share one round.
#[derive(Default)]
pub(crate) struct FollowUp {
    left: AtomicBool,
    /// Alerts of answers that are written, and whose event is not in the log yet.
    shown: Mutex<Vec<Delivery>>,
    finished: AtomicBool,
    wake: Notify,
    ending: Notify,
}

impl FollowUp {
    /// Notes that a call has left work.
    pub(crate) fn leave(&self) {
        self.left.store(true, Ordering::Release);
    }

    /// Leaves it to the task to record alerts, because the answers with them are written.
    pub(crate) fn shown(&self, deliveries: Vec<Delivery>) {
        if !deliveries.is_empty() {
            self.deliveries().extend(deliveries);
            self.leave_and_tell();
        }
    }

    /// Takes the alerts that are to be recorded.
    pub(crate) fn take_shown(&self) -> Vec<Delivery> {
        std::mem::take(&mut *self.deliveries())
    }

    fn deliveries(&self) -> MutexGuard<'_, Vec<Delivery>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the task, because answers are out.
    pub(crate) fn answered(&self) {
        if self.left.load(Ordering::Acquire) {
            self.wake.notify_one();
        }
    }

    /// Notes work left by an answer that is out already, and wakes the task.
    pub(crate) fn leave_and_tell(&self) {
        self.leave();
        self.answered();
    }

    /// Announces that no more answers will come; the work left is still done.
    pub(crate) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
        self.ending.notify_one();
        self.wake.notify_one();
    }

    /// Does the work until [`FollowUp::finish`].
    pub(crate) async fn run(self: Arc<Self>, service: Arc<Service>) {
        // Building a graph takes minutes, so the next round does not wait for it.
        let mut tending: Option<JoinHandle<()>> = None;
        loop {
            self.wake.notified().await;
            // Calls often come in bursts, and the next call should not wait for the store.
            let lull = icm_wait::pause_async(LULL);
            tokio::select! {
                () = lull => {}
                () = self.ending.notified() => {}
            }
            let finished = self.finished.load(Ordering::Acquire);
            if self.left.swap(false, Ordering::AcqRel) || finished {
                let working = Arc::clone(&service);
                let shown = self.take_shown();
                let work = move || {
                    for delivery in shown {
                        if let Err(error) = working.record_delivery(delivery) {
                            tracing::warn!(%error, "alerts were shown and will be shown again");
                        }
                    }
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

/// Waits for a thread that builds a graph.
async fn ended(tending: Option<JoinHandle<()>>) {
    if let Some(tending) = tending
        && let Err(error) = tending.await
    {
        tracing::error!(%error, "making a graph failed");
    }
}
