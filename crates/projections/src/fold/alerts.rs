//! Alerts that wait to be shown. An alert is pending from its `alert.set` until an `alert.delivered` names it, in any
//! order of learning.
//!
//! A delivery cannot be undone: the text was shown. An undone `alert.set` stays here, because the undo may be undone,
//! too; readers ask the undos.

use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::AlertSet;
use icm_log::{Event, EventId, Position, ScopeId, SessionId};
use serde::{Deserialize, Serialize};

use super::undos::InChain;

/// An alert that no event delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingAlert {
    /// Position of its `alert.set`.
    pub position: Position,
    /// Its `alert.set`, by which an undo names it.
    pub at: InChain,
    /// The session that it is for; zero if it is for a project.
    pub session: SessionId,
    /// The scope of the project that it is for; zero if it is for a session.
    pub scope_id: ScopeId,
    /// The time from which it is shown, in milliseconds since the epoch; 0 if it is shown at once.
    pub due_ms: u64,
}

impl PendingAlert {
    /// Returns the alert that an `alert.set` sets.
    pub fn of(event: &Event<'_>, facts: &AlertSet) -> PendingAlert {
        PendingAlert {
            position: event.position,
            at: InChain::of(event),
            session: facts.session,
            scope_id: facts.scope_id,
            due_ms: facts.due_ms,
        }
    }
}

/// The pending alerts. There are few, so they are a part of the tally.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alerts {
    pending: BTreeMap<EventId, PendingAlert>,
    /// Deliveries of alerts that are not pending: not learned yet, or delivered twice.
    delivered: BTreeSet<EventId>,
}

impl Alerts {
    /// Adds an alert, unless its delivery was learned before it.
    pub fn set(&mut self, event: &Event<'_>, facts: &AlertSet) {
        self.add(PendingAlert::of(event, facts));
    }

    fn add(&mut self, alert: PendingAlert) {
        if !self.delivered.contains(&alert.at.event) {
            self.pending.insert(alert.at.event, alert);
        }
    }

    /// Takes an alert away that was shown.
    pub fn deliver(&mut self, alert: EventId) {
        if self.pending.remove(&alert).is_none() {
            self.delivered.insert(alert);
        }
    }

    /// Returns the pending alerts, also those that are undone or not due, in the order of their event ids.
    pub fn pending(&self) -> impl Iterator<Item = &PendingAlert> {
        self.pending.values()
    }

    /// Returns `true` if the alert of this event is pending.
    pub fn is_pending(&self, alert: EventId) -> bool {
        self.pending.contains_key(&alert)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alert(n: u8) -> PendingAlert {
        PendingAlert {
            position: Position(u64::from(n)),
            at: InChain {
                event: EventId([n; 32]),
                ..InChain::NOWHERE
            },
            session: SessionId([1; 16]),
            scope_id: ScopeId::ZERO,
            due_ms: 0,
        }
    }

    #[test]
    fn a_delivery_counts_before_and_after_its_alert() {
        let [one, two] = [EventId([1; 32]), EventId([2; 32])];
        let mut alerts = Alerts::default();
        alerts.add(alert(1));
        alerts.add(alert(2));
        alerts.deliver(one);
        let mut reverse = Alerts::default();
        reverse.deliver(one);
        reverse.add(alert(2));
        reverse.add(alert(1));
        for alerts in [&alerts, &reverse] {
            assert!(!alerts.is_pending(one) && alerts.is_pending(two));
            assert_eq!(alerts.pending().count(), 1);
        }
        let text = serde_json::to_string(&reverse).expect("it encodes");
        assert_eq!(
            serde_json::from_str::<Alerts>(&text).expect("it is read"),
            reverse
        );
    }
}
