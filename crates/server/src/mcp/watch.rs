//! Who listens to the log: told when it has grown, whoever wrote to it.

use std::sync::Arc;
use std::sync::Mutex;

use icm_log::EventId;
use icm_wait::bounds;
use tokio::task::AbortHandle;

use icm_service::Service;

/// The newest event, whoever wrote it.
pub(super) async fn newest(service: &Arc<Service>) -> Option<EventId> {
    let service = Arc::clone(service);
    let look = move || {
        let log = service.log_handle();
        // A log that cannot be read now is told by whoever reads it.
        log.refresh().ok()?;
        Some(log.tip()?.event)
    };
    tokio::task::spawn_blocking(look).await.ok().flatten()
}

/// Calls `tell` each time the log has grown beyond what is known, until that says that nobody listens any more.
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
    /// Puts this task in the place of another one.
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
