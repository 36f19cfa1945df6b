//! Finding the alerts of a session.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use icm_log::facts::{Facts, ScopeKind};
use icm_log::{Event, EventId, Kind, Position, ScopeId, SessionId, hash, payload};
use icm_projections::Views;
use icm_projections::fold::PendingAlert;

use crate::history::basis::At;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::limits::{self, ALERTS_SHOWN_MAX, SOURCE_LEN_MAX};
use icm_api::when::{self, DayMeans, When, rfc3339};
use icm_api::{Alert, AlertsAnswer, AlertsRequest, Caller};

/// Events that are read for the parents of a session, at most. Raised, a parent is found that started longer ago, and a
/// session without a start reads more of the log.
const PARENT_EVENTS: usize = 100_000;

/// The session and the project that ask.
pub(super) struct Asker {
    session: Option<SessionId>,
    /// Its parent, if no event may record it yet.
    parent: Option<SessionId>,
    /// The sessions whose alerts are seen, as far as the session's name tells.
    sessions: BTreeSet<SessionId>,
    project: Option<ScopeId>,
}

impl Service {
    pub(super) fn asker(&self, caller: &Caller, request: &AlertsRequest) -> Result<Asker> {
        let own = (caller.session.as_deref()).filter(|_| !caller.session_is_made);
        let name = request.session.as_deref().or(own);
        let mut asker = Asker {
            session: None,
            parent: None,
            sessions: BTreeSet::new(),
            project: None,
        };
        if let Some(name) = name {
            limits::text("the session", name, SOURCE_LEN_MAX)?;
            // An id is only looked for if a person gave it.
            let session = match &request.session {
                Some(given) => self.session_meant(given)?,
                None => hash::session_id(name),
            };
            asker.session = Some(session);
            asker.sessions.insert(session);
            if !request.own && session == hash::session_id(name) {
                asker.sessions.extend(named_parents(name));
            }
        }
        if let Some(parent) = request.parent.as_deref().filter(|_| !request.own) {
            limits::text("the parent session", parent, SOURCE_LEN_MAX)?;
            let id = hash::session_id(parent);
            asker.parent = Some(id);
            asker.sessions.insert(id);
            asker.sessions.extend(named_parents(parent));
        }
        if let Some(project) = caller.project_id.as_deref().filter(|_| !request.own) {
            let project = limits::name("the scope's id", project, SOURCE_LEN_MAX)?;
            asker.project = Some(hash::scope_id(ScopeKind::Project.code(), &project));
        }
        Ok(asker)
    }

    /// Returns the alerts that the asker sees, and the events that set them.
    pub(super) fn find_alerts(
        &self,
        views: &Views,
        asker: &Asker,
        request: &AlertsRequest,
    ) -> QueryResult<(AlertsAnswer, Vec<EventId>)> {
        let (at, now_ms) = self.moment_of_alerts(views, request.at.as_deref())?;
        let mut pending: Vec<PendingAlert> = match request.at {
            None => views.tally().alerts.pending().copied().collect(),
            Some(_) => self.pending_at(at.position)?,
        };
        if !pending.is_empty() {
            let undos = views.undos()?;
            let undos = match request.at {
                None => undos,
                Some(_) => undos.as_of(at.position),
            };
            pending.retain(|alert| !undos.is_undone(&alert.at));
        }
        let mut sessions = asker.sessions.clone();
        let is_of_others = |alert: &PendingAlert| {
            let is_due = alert.due_ms <= now_ms;
            is_due && !alert.session.is_zero() && !sessions.contains(&alert.session)
        };
        if !request.own && !request.all && pending.iter().any(is_of_others) {
            for session in [asker.session, asker.parent].into_iter().flatten() {
                sessions.extend(self.recorded_parents(session)?);
            }
        }
        pending.retain(|alert| {
            let is_mine = match alert.session.is_zero() {
                true => asker.project == Some(alert.scope_id),
                false => sessions.contains(&alert.session),
            };
            request.all || is_mine
        });
        let not_due = pending.iter().filter(|alert| alert.due_ms > now_ms).count();
        if !request.all {
            pending.retain(|alert| alert.due_ms <= now_ms);
        }
        let mut texts = self.texts_of(views, &pending, now_ms)?;
        // In the same order on every machine. An alert that was due at once has the time 0.
        let mut found: Vec<((u64, u64, EventId), Alert)> = pending
            .iter()
            .filter_map(|alert| {
                let (set_ms, shown) = texts.remove(&alert.position)?;
                Some(((alert.due_ms, set_ms, alert.at.event), shown))
            })
            .collect();
        found.sort_unstable_by_key(|(times, _)| *times);
        let left_out = found.len().saturating_sub(ALERTS_SHOWN_MAX);
        if !request.all {
            found.truncate(ALERTS_SHOWN_MAX);
        }
        let found = found.into_iter();
        let (events, alerts) = found.map(|((_, _, event), alert)| (event, alert)).unzip();
        let answer = AlertsAnswer {
            basis: at.to_basis(),
            alerts,
            delivered: false,
            left_out: if request.all { 0 } else { left_out },
            not_due,
        };
        Ok((answer, events))
    }

    /// Returns the basis, and the time that alerts must be due by.
    fn moment_of_alerts(&self, views: &Views, at: Option<&str>) -> QueryResult<(At, u64)> {
        let Some(text) = at else {
            return Ok((self.now(views), self.now_ms()));
        };
        let at = self.at_or_nothing(views, text)?;
        // The newest event may be older than the time that was asked for.
        let asked = when::parse(text, self.now_ms(), &self.zone(), DayMeans::End);
        Ok(match asked {
            Ok(When::Time(ms)) => (at, ms),
            _ => (at, at.time_ms),
        })
    }

    /// Returns the alerts that were pending at an earlier position, also those that are undone. Reads the log back to
    /// its start.
    fn pending_at(&self, position: Position) -> Result<Vec<PendingAlert>> {
        let (mut set, mut delivered) = (Vec::new(), BTreeSet::new());
        if position.0 == 0 {
            return Ok(set);
        }
        self.log.scan_back(Some(position), &mut |event| {
            match event.head.kind() {
                Kind::ALERT_DELIVERED => delivered.extend(event.head.refs()),
                Kind::ALERT_SET => {
                    if let Ok(Facts::AlertSet(facts)) = Facts::of(&event.head) {
                        set.push(PendingAlert::of(event, &facts));
                    }
                }
                _ => {}
            }
            ControlFlow::Continue(())
        })?;
        set.retain(|alert| !delivered.contains(&alert.at.event));
        Ok(set)
    }

    /// Returns the sessions that a session works for, by the `session.started` of each, the nearest first.
    fn recorded_parents(&self, session: SessionId) -> Result<Vec<SessionId>> {
        let (mut parents, mut child, mut left) = (Vec::new(), session, PARENT_EVENTS);
        self.log.scan_back(None, &mut |event| {
            left -= 1;
            if event.head.kind() == Kind::SESSION_STARTED
                && event.head.session() == child
                && let Ok(Facts::SessionStarted(started)) = Facts::of(&event.head)
            {
                let parent = started.parent;
                if parent.is_zero() || parent == session || parents.contains(&parent) {
                    return ControlFlow::Break(());
                }
                parents.push(parent);
                child = parent;
            }
            match left {
                0 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        })?;
        Ok(parents)
    }

    /// Returns the alerts with their texts and the times at which they were set, by position. An alert whose text was
    /// redacted is left out.
    fn texts_of(
        &self,
        views: &Views,
        alerts: &[PendingAlert],
        now_ms: u64,
    ) -> QueryResult<BTreeMap<Position, (u64, Alert)>> {
        let by_position: BTreeMap<Position, &PendingAlert> =
            alerts.iter().map(|alert| (alert.position, alert)).collect();
        let positions: Vec<Position> = by_position.keys().copied().collect();
        let mut found = BTreeMap::new();
        views.events_at(&self.log, &positions, &mut |event| {
            if let Some(alert) = by_position.get(&event.position)
                && let Some(alert) = self.alert_of(views, event, alert, now_ms)
            {
                found.insert(event.position, (event.head.time().ms(), alert));
            }
        })?;
        Ok(found)
    }

    fn alert_of(
        &self,
        views: &Views,
        event: &Event<'_>,
        alert: &PendingAlert,
        now_ms: u64,
    ) -> Option<Alert> {
        let payload: payload::AlertSet<'_> = payload::decode(event.body.payload()?).ok()?;
        let session = (!alert.session.is_zero()).then(|| match payload.session {
            Some(name) => name.to_owned(),
            None => alert.session.to_string(),
        });
        Some(Alert {
            event: event.id.to_string(),
            position: event.position.0,
            set_at: rfc3339(event.head.time().ms()),
            actor: self.actor_name(views, event.head.actor()),
            session,
            project: payload.project.map(str::to_owned),
            due_at: (alert.due_ms > 0).then(|| rfc3339(alert.due_ms)),
            due: alert.due_ms <= now_ms,
            text: payload.text.to_owned(),
        })
    }
}

/// Returns the sessions above one by its name: `a` and `a/b` for `a/b/c`.
fn named_parents(name: &str) -> impl Iterator<Item = SessionId> {
    let slashes = name.match_indices('/').filter(|(at, _)| *at > 0);
    slashes.map(|(at, _)| hash::session_id(&name[..at]))
}
