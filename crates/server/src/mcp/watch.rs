//! Subscriptions to the log: clients are told when the log has grown, by this process or another.

use std::sync::Arc;
use std::sync::Mutex;

use icm_log::EventId;
use icm_wait::bounds;
use tokio::task::AbortHandle;

use icm_service::Service;

/// Reads the newest event of the log, from any process.
pub(super) async fn newest(service: &Arc<Service>) -> Option<EventId> {
    let service = Arc::clone(service);
    let look = move || {
        let log = service.log_handle();
        // A query reports a log that cannot be read; here it counts as not grown.
        log.refresh().ok()?;
        Some(log.tip()?.event)
    };
    tokio::task::spawn_blocking(look).await.ok().flatten()
}

/// Calls `tell` each time the newest event differs from `known`, until `tell` returns `false`: nobody listens any more.
pub(super) async fn watch<F>(
    service: Arc<Service>,
    mut known: Option<EventId>,
    mut tell: impl FnMut() -> F,
) where
    F: Future<Output = bool>,
{
    loop {
        // A look costs a few microseconds.
        icm_wait::pause_async(bounds::LOOK_EVERY).await;
        let now = newest(&service).await;
        if now.is_some() && now != known {
            known = now;
            if !tell().await {
                return;
            }
        }
    }
}

/// The one subscription that a client of an older revision can have.
#[derive(Default)]
pub(super) struct Subscribed(Mutex<Option<AbortHandle>>);

impl Subscribed {
    /// Replaces the task of the subscription, and ends the task before.
    pub(super) fn set(&self, task: Option<AbortHandle>) {
        let mut held = self.0.lock().unwrap_or_else(|held| held.into_inner());
        if let Some(before) = std::mem::replace(&mut *held, task) {
            before.abort();
        }
    }
}

impl Drop for Subscribed {
    fn drop(&mut self) {
        self.set(None);
    }
}
