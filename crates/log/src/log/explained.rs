//! The holes of this log that repairs have explained.

use std::sync::PoisonError;

use super::Log;
use crate::holes::Explainer;
use icm_event::facts::Hole;
use icm_event::id::{EventId, OriginId};

impl Log {
    pub(crate) fn explainer(&self, own: Vec<OriginId>, tip: Option<EventId>) -> Explainer<'_> {
        Explainer {
            disk: &*self.disk,
            store: &self.dir,
            own,
            tip,
            known: &self.holes,
        }
    }

    /// Counts these holes as explained until the event that explains them is written.
    pub(crate) fn set_pending_holes(&self, holes: Vec<Hole>) {
        let mut known = self.holes.lock().unwrap_or_else(PoisonError::into_inner);
        known.pending = holes;
        known.forget();
    }
}
