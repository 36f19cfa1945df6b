//! The deliveries of alerts, kept with the answer that shows them.

use std::sync::{Arc, Mutex, PoisonError};

use http::request::Parts;
use icm_service::Delivery;
use rmcp::model::Extensions;

/// The deliveries of the alerts in one answer. The transport puts it into the request, the tool fills it, and the
/// transport takes the deliveries once this answer is written. If the answer is dropped on its way, so are its
/// deliveries, and the alerts are shown again.
#[derive(Clone, Default)]
pub(crate) struct AlertsOfAnswer(Arc<Mutex<Vec<Delivery>>>);

impl AlertsOfAnswer {
    /// Returns the place for the answer to this request; `None` if the transport gave none.
    pub(super) fn of(request: &Extensions) -> Option<AlertsOfAnswer> {
        let over_http = || request.get::<Parts>()?.extensions.get();
        request.get().or_else(over_http).cloned()
    }

    pub(crate) fn add(&self, deliveries: impl IntoIterator<Item = Delivery>) {
        self.list().extend(deliveries);
    }

    pub(crate) fn take(&self) -> Vec<Delivery> {
        std::mem::take(&mut *self.list())
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<Delivery>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
