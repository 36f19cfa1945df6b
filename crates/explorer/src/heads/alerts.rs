//! Alerts: when each was set, and to which session it was shown.

use std::collections::HashMap;

use icm_log::facts::Facts;
use icm_log::{ActorId, Event, EventId, Kind, SessionId, payload};

/// The alerts of the log.
#[derive(Default)]
pub(crate) struct Alerts {
    set: Vec<AlertSeen>,
    /// The first delivery of each alert. An import can bring it before the alert.
    shown: HashMap<EventId, Delivered>,
}

/// An alert, as the log tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AlertSeen {
    /// Position of its `alert.set`.
    pub(crate) position: u64,
    event: EventId,
    /// The time at which it was set, in milliseconds since the epoch.
    pub(crate) set_ms: u64,
    pub(crate) actor: ActorId,
    /// The session that it is for; `None` if it is for a project.
    pub(crate) session: Option<SessionId>,
    /// The name of that session, as it was given.
    pub(crate) session_name: Option<String>,
    /// The project that it is for, if an event tells it.
    pub(crate) project: Option<String>,
    /// The time from which it is shown; `None` if it is shown at once.
    pub(crate) due_ms: Option<u64>,
    /// Its text; `None` if it is withheld or damaged.
    pub(crate) text: Option<String>,
    /// The delivery, if there is one.
    pub(crate) shown: Option<Delivered>,
}

/// The event that an alert was shown with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delivered {
    pub(crate) position: u64,
    pub(crate) ms: u64,
    /// The session that saw it; zero for none.
    pub(crate) session: SessionId,
}

impl Alerts {
    pub(super) fn take(&mut self, event: &Event<'_>) {
        let head = &event.head;
        match head.kind() {
            Kind::ALERT_SET => self.set.extend(set_by(event)),
            Kind::ALERT_DELIVERED => {
                for alert in head.refs() {
                    self.shown.entry(alert).or_insert(Delivered {
                        position: event.position.0,
                        ms: head.time().ms(),
                        session: head.session(),
                    });
                }
            }
            _ => {}
        }
    }

    /// Returns the alerts up to a position, the newest first.
    pub(crate) fn until(&self, position: u64) -> impl Iterator<Item = AlertSeen> {
        let set = self.set.iter().rev();
        let set = set.filter(move |alert| alert.position <= position);
        set.map(move |alert| AlertSeen {
            shown: (self.shown.get(&alert.event).copied())
                .filter(|shown| shown.position <= position),
            ..alert.clone()
        })
    }
}

fn set_by(event: &Event<'_>) -> Option<AlertSeen> {
    let Ok(Facts::AlertSet(facts)) = Facts::of(&event.head) else {
        return None;
    };
    let told = event.body.payload();
    let told = told.and_then(|bytes| payload::decode::<payload::AlertSet<'_>>(bytes).ok());
    let owned = |text: Option<&str>| text.map(str::to_owned);
    Some(AlertSeen {
        position: event.position.0,
        event: event.id,
        set_ms: event.head.time().ms(),
        actor: event.head.actor(),
        session: (!facts.session.is_zero()).then_some(facts.session),
        session_name: told.as_ref().and_then(|told| owned(told.session)),
        project: told.as_ref().and_then(|told| owned(told.project)),
        due_ms: (facts.due_ms > 0).then_some(facts.due_ms),
        text: told.map(|told| told.text.to_owned()),
        shown: None,
    })
}
