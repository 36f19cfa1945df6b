//! Holes that repairs have explained, as this log knows them.

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

    /// Takes holes for explained while the event that explains them is on its way.
    pub(crate) fn set_pending_holes(&self, holes: Vec<Hole>) {
        let mut known = self.holes.lock().unwrap_or_else(PoisonError::into_inner);
        known.pending = holes;
        known.forget();
    }
}
