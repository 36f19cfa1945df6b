//! Alerts that are shown, and whose event is not in the log yet.

use icm_api::{Alert, Caller};
use icm_log::EventId;
use icm_log::disk::DiskLock;

/// Alerts of one answer. It stays with that answer: [`Service::record_delivery`](crate::Service::record_delivery) takes
/// it once the answer is out, and dropping it means that the answer did not get out. Until it is dropped, nobody else
/// shows an alert of this store.
pub struct Delivery {
    pub(crate) caller: Caller,
    pub(crate) alerts: Vec<EventId>,
    /// Held, so that nobody else shows these alerts.
    pub(crate) _claim: Box<dyn DiskLock>,
}

impl Delivery {
    /// Leaves out the alerts that are not in `shown`: they stay pending.
    pub fn only(mut self, shown: &[Alert]) -> Delivery {
        self.alerts
            .retain(|event| shown.iter().any(|alert| alert.event == event.to_string()));
        self
    }
}
