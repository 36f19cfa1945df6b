//! Events of the log, listed, followed and shown for people and scripts.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

use icm_log::facts::Facts;
use icm_log::kind::family_of;
use icm_log::record::Body;
use icm_log::{Event, Kind, Position, SubjectId, Waypoint, Waypoints, payload};
use icm_projections::Views;
use icm_projections::fold::{Family, Link};
use icm_wait::bounds;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::history::actor::NamedActor;
use crate::history::range::EventRange;
use crate::history::summary::summary_of;
use crate::memory::link::relation_text;
use crate::memory::present::field_names;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::limits;
use icm_api::when::rfc3339;
use icm_api::{EventDetail, LogEntry, LogRequest};

/// A request for events, with names and times resolved.
struct Filter {
    kind: Option<String>,
    memory: Option<BTreeSet<SubjectId>>,
    topic: Option<BTreeSet<SubjectId>>,
    memoir: Option<BTreeSet<SubjectId>>,
    actor: Option<NamedActor>,
    session: Option<icm_log::SessionId>,
    range: EventRange,
}

impl Service {
    /// Calls `each` for every event that fits, until it returns `false`. Returns how many events were given out.
    pub fn log(&self, request: &LogRequest, each: &mut dyn FnMut(LogEntry) -> bool) -> Result<u64> {
        let cursor = request.cursor.unwrap_or(0);
        let (filter, names, from, back_from) = self.with_views(|views| {
            let filter = self.resolve_filter(views, request)?;
            // A waypoint of the views saves a pass over the segment.
            let from = match request.oldest_first {
                true => Some(
                    self.log
                        .cursor_before(Position(cursor.saturating_add(1)), views)?,
                ),
                false => None,
            };
            let newest_first = request.cursor.filter(|_| !request.oldest_first);
            let back_from = newest_first.map(|cursor| {
                let position = Position(cursor.saturating_sub(1));
                (position, Waypoint::back_from(position, views))
            });
            Ok((filter, views.tally().actors.clone(), from, back_from))
        })?;
        let limit = request.limit.map_or(u64::MAX, |limit| limit as u64);
        let mut given = 0;
        let mut visit = |event: &Event<'_>| {
            if given >= limit {
                return ControlFlow::Break(());
            }
            let actor = match names.get(&event.head.actor()) {
                Some(name) => Cow::Borrowed(name.as_str()),
                None => Cow::Owned(event.head.actor().to_string()),
            };
            if !filter.fits(event, &actor) {
                return ControlFlow::Continue(());
            }
            given += 1;
            match each(self.entry_of(event, actor.into_owned())) {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        };
        if let Some(from) = from {
            self.log
                .scan(&from, &mut |event| match event.position.0 > cursor {
                    true => visit(event),
                    false => ControlFlow::Continue(()),
                })?;
        } else if let Some((position, waypoints)) = back_from {
            self.log
                .scan_back_from((position, &waypoints), &mut visit)?;
        } else {
            self.log.scan_back(None, &mut visit)?;
        }
        Ok(given)
    }

    /// Returns the position of the newest event; 0 for an empty log.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn newest_position(&self) -> Result<u64> {
        self.log.refresh()?;
        Ok(self.log.tip().map_or(0, |tip| tip.position.0))
    }

    /// Checks a request for events, so that a wrong one fails before any waiting.
    ///
    /// # Errors
    /// As [`Service::log`].
    pub fn check_log(&self, request: &LogRequest) -> Result<()> {
        self.with_views(|views| self.resolve_filter(views, request).map(|_| ()))
    }

    /// Calls `each` for every event that fits and comes after a position, or after now, as processes append them. Ends
    /// when `each` or `go_on` returns `false`. Looks a few times a second.
    ///
    /// # Errors
    /// As [`Service::log`].
    pub fn follow_log(
        &self,
        request: &LogRequest,
        after: Option<u64>,
        go_on: &dyn Fn() -> bool,
        each: &mut dyn FnMut(LogEntry) -> bool,
    ) -> Result<()> {
        let now = self.newest_position()?;
        let mut seen = after.unwrap_or(now);
        self.check_log(request)?;
        while go_on() {
            let there = self.newest_position()?;
            if there <= seen {
                icm_wait::pause(bounds::LOOK_EVERY);
                continue;
            }
            let request = LogRequest {
                oldest_first: true,
                limit: None,
                cursor: Some(seen),
                ..request.clone()
            };
            let mut wanted = true;
            self.log(&request, &mut |entry| {
                // A later event comes with the next look, together with its neighbours.
                if entry.position > there {
                    return false;
                }
                wanted = each(entry);
                wanted
            })?;
            if !wanted {
                break;
            }
            seen = there;
        }
        Ok(())
    }

    fn resolve_filter(&self, views: &Views, request: &LogRequest) -> QueryResult<Filter> {
        if let Some(kind) = &request.kind
            && Kind::parse(kind).is_none()
            && !icm_log::kind::KINDS
                .iter()
                .any(|row| family_of(row.name) == kind)
        {
            let kinds = icm_log::kind::KINDS
                .iter()
                .filter(|row| row.status == icm_log::kind::Status::Written);
            let kinds: Vec<_> = kinds.map(|row| row.name).collect();
            return Err(ServiceError::invalid_with(
                format!("`{kind}` is no kind of event"),
                format!("kinds: {}; or a family, such as `memory`", kinds.join(", ")),
            )
            .into());
        }
        if let Some(actor) = &request.actor {
            limits::label("the actor", actor, limits::ACTOR_LEN_MAX)?;
        }
        let range = self.event_range(request.since.as_deref(), request.until.as_deref())?;
        Ok(Filter {
            kind: request.kind.clone(),
            memory: match &request.id {
                Some(id) => Some(ids_of(views, [self.find_any(views, id)?])?),
                None => None,
            },
            topic: match &request.topic {
                Some(topic) => {
                    let topic = self.topic_filter(views, topic)?;
                    Some(ids_of(views, views.members(&topic)?)?)
                }
                None => None,
            },
            memoir: match &request.memoir {
                Some(memoir) => Some(ids_of(views, self.members_of_memoir(views, memoir)?)?),
                None => None,
            },
            actor: (request.actor.as_deref()).map(|name| NamedActor::of(views, name)),
            session: match &request.session {
                Some(session) => Some(self.session_meant(session)?),
                None => None,
            },
            range,
        })
    }

    /// Returns everything about one event; `event` is the start of an id, or `@position`.
    pub fn log_show(&self, event: &str) -> Result<EventDetail> {
        let (position, names, waypoints) = self.with_views(|views| {
            let position = self.event_named(views, event)?;
            let waypoints = Waypoint::back_from(position, views);
            Ok((position, views.tally().actors.clone(), waypoints))
        })?;
        let mut detail = None;
        let from = (position, &waypoints as &dyn Waypoints);
        self.log.scan_back_from(from, &mut |event| {
            if event.position == position {
                let actor = names
                    .get(&event.head.actor())
                    .cloned()
                    .unwrap_or_else(|| event.head.actor().to_string());
                detail = Some(self.detail_of(event, actor));
            }
            ControlFlow::Break(())
        })?;
        detail.ok_or_else(|| ServiceError::NotFound {
            what: "event",
            id: event.to_owned(),
            nearest: self
                .log
                .tip()
                .map(|tip| format!("@{}", tip.position))
                .into_iter()
                .collect(),
        })
    }

    pub(crate) fn entry_of(&self, event: &Event<'_>, actor: String) -> LogEntry {
        let mut entry = entry_of(event, actor, &self.zone());
        match Facts::of(&event.head) {
            Ok(Facts::Unlinked) => {
                let Some(link) = self.link_taken(event) else {
                    return entry;
                };
                let other = id_text(link.to);
                let relation = relation_text(&link);
                entry.summary = match entry.summary.as_str() {
                    "" => format!("{relation} {other}"),
                    reason => format!("{relation} {other}: {reason}"),
                };
                entry.facts = serde_json::json!({ "other": other, "relation": relation });
            }
            Ok(
                Facts::Forgotten(_)
                | Facts::Revived(_)
                | Facts::Expired(_)
                | Facts::Pinned(_)
                | Facts::Unpinned
                | Facts::FeedbackApplied(_),
            ) => {
                if let Some(text) = self.text_about(event.head.subject(), event.position) {
                    entry.summary = match entry.summary.as_str() {
                        "" => text,
                        said => format!("{said}: {text}"),
                    };
                }
            }
            _ => {}
        }
        entry
    }

    /// Returns the topic and the text that a memory had at a position, as the summary of an event that has neither. `None`
    /// if the text is not known, or no longer.
    fn text_about(&self, memory: SubjectId, position: Position) -> Option<String> {
        let found = self.with_views(|views| {
            let entity = views.resolve(memory)?;
            Ok(views.version_at(entity, position)?)
        });
        // An error leaves the event itself to be shown.
        let version = found.ok().flatten()?;
        let is_memory = version.family() == Family::Memory;
        let (topic, content) = (version.topic?, version.content?);
        is_memory.then(|| format!("[{topic}] {content}"))
    }

    /// Returns a link that an event removes. All links that the event names have the same ends and relation. `None` if
    /// this store knows none of them.
    fn link_taken(&self, event: &Event<'_>) -> Option<Link> {
        let named: Vec<_> = event.head.refs().collect();
        let found = self.with_views(|views| {
            for event in &named {
                if let Some(link) = views.link_by(*event)? {
                    return Ok(Some(link));
                }
            }
            Ok(None)
        });
        // An error leaves the event itself to be shown.
        found.ok().flatten()
    }

    fn detail_of(&self, event: &Event<'_>, actor: String) -> EventDetail {
        let head = &event.head;
        let segment = event
            .place
            .path
            .strip_prefix(&self.options.dir)
            .unwrap_or(event.place.path);
        EventDetail {
            entry: self.entry_of(event, actor),
            prev: head.prev().to_string(),
            refs: head.refs().map(|id| id.to_string()).collect(),
            batch: (head.batch_index(), head.batch_count()),
            commitment: icm_log::to_hex(&head.commitment()),
            head_len_bytes: head.bytes().len() as u64,
            payload_len_bytes: event.body.payload().map_or(0, <[u8]>::len) as u64,
            segment: segment.display().to_string(),
            offset_bytes: event.place.offset,
        }
    }
}

/// Returns every id that these memories are known under.
fn ids_of(
    views: &Views,
    entities: impl IntoIterator<Item = SubjectId>,
) -> QueryResult<BTreeSet<SubjectId>> {
    let mut ids = BTreeSet::new();
    for entity in entities {
        ids.extend(views.ids_of(entity)?);
    }
    Ok(ids)
}

impl Filter {
    fn fits(&self, event: &Event<'_>, actor: &str) -> bool {
        let head = &event.head;
        self.kind.as_deref().is_none_or(|kind| {
            let name = head.kind().name();
            kind == name || kind == family_of(&name)
        }) && (self.actor.as_ref()).is_none_or(|wanted| wanted.is(actor))
            && self.session.is_none_or(|session| session == head.session())
            && self.range.holds(event)
            && self
                .memory
                .as_ref()
                .is_none_or(|ids| concerns(event, |id| ids.contains(&id)))
            && [&self.topic, &self.memoir].iter().all(|of| {
                of.as_ref()
                    .is_none_or(|ids| concerns(event, |id| ids.contains(&id)))
            })
    }
}

/// Returns `true` if an event is about, or showed, a memory that fits.
fn concerns(event: &Event<'_>, fits: impl Fn(SubjectId) -> bool) -> bool {
    if fits(event.head.subject()) {
        return true;
    }
    match Facts::of(&event.head) {
        Ok(Facts::Recalled(facts)) => facts.results.iter().any(|shown| fits(shown.id)),
        Ok(Facts::Consolidated(facts)) => facts.covers.iter().any(|covered| fits(covered.id)),
        Ok(Facts::Pruned(facts)) => facts.covers.iter().any(|covered| fits(covered.id)),
        Ok(Facts::Linked(facts)) => fits(facts.other),
        Ok(Facts::FeedbackRecorded(facts)) => fits(facts.memory),
        Ok(Facts::FeedbackApplied(facts)) => fits(facts.feedback),
        _ => false,
    }
}

fn entry_of(event: &Event<'_>, actor: String, zone: &TimeZone) -> LogEntry {
    let head = &event.head;
    let facts = Facts::of(head).unwrap_or(Facts::Opaque);
    let payload = event
        .body
        .payload()
        .and_then(payload::to_json)
        .unwrap_or(Value::Null);
    let family = head.kind().name();
    let about_memory = matches!(
        family_of(&family),
        "memory" | "memoir" | "concept" | "feedback"
    ) && !head.subject().is_zero();
    LogEntry {
        position: event.position.0,
        event: event.id.to_string(),
        kind: head.kind().name(),
        at: rfc3339(head.time().ms()),
        origin: head.origin().to_string(),
        seq: head.seq().0,
        subject: about_memory.then(|| id_text(head.subject())),
        actor,
        session: (!head.session().is_zero()).then(|| head.session().to_string()),
        command: head.command().to_string(),
        summary: summary_of(&facts, &payload, zone),
        facts: readable(facts.to_json(), &facts),
        payload,
        body: match event.body {
            Body::Present { .. } => "present",
            Body::Withheld => "withheld",
            Body::Damaged => "damaged",
        }
        .to_owned(),
    }
}

/// Returns facts with memory ids as users write them and fields by name.
fn readable(mut json: Value, facts: &Facts) -> Value {
    if let Facts::Recalled(recalled) = facts
        && let Some(results) = json.get_mut("results").and_then(Value::as_array_mut)
    {
        for (result, shown) in results.iter_mut().zip(&recalled.results) {
            result["id"] = Value::String(id_text(shown.id));
        }
        if let Some(shown) = recalled.shown {
            json["shown"]["front"] = shown.front.name().into();
        }
    }
    if let Facts::Redacted(redacted) = facts
        && let Some(object) = json.as_object_mut()
    {
        let ids: Vec<_> = redacted.subjects.iter().map(|id| id_text(*id)).collect();
        object.insert("subjects".to_owned(), ids.into());
    }
    let covered = match facts {
        Facts::Consolidated(facts) => &facts.covers[..],
        Facts::Pruned(facts) => &facts.covers,
        _ => &[],
    };
    if let Some(covers) = json.get_mut("covers").and_then(Value::as_array_mut) {
        for (cover, covered) in covers.iter_mut().zip(covered) {
            cover["id"] = Value::String(id_text(covered.id));
        }
    }
    if let Facts::Linked(linked) = facts {
        json["other"] = Value::String(id_text(linked.other));
        if let Some(name) = linked.relation.name() {
            json["relation"] = Value::String(name.to_owned());
        }
    }
    if let Facts::SessionStarted(started) = facts
        && let Some(object) = json.as_object_mut()
    {
        let parent = (!started.parent.is_zero()).then(|| started.parent.to_string());
        object.insert("parent".to_owned(), parent.into());
        object.insert("client".to_owned(), started.client.name().into());
        object.insert("cause".to_owned(), started.cause.name().into());
    }
    if let Facts::Expired(expired) = facts {
        json["condition"] = expired.condition.name().into();
    }
    let expiry = match facts {
        Facts::Stored(facts) => facts.expiry,
        Facts::Updated(facts) => facts.expiry,
        _ => None,
    };
    if let Some(expiry) = expiry {
        json["expiry"]["condition"] = expiry.condition.name().into();
    }
    if let Facts::SessionEnded(ended) = facts {
        json["reason"] = ended.reason.name().into();
    }
    if let Facts::AlertSet(set) = facts
        && let Some(object) = json.as_object_mut()
    {
        let session = (!set.session.is_zero()).then(|| set.session.to_string());
        let scope = (!set.scope_id.is_zero()).then(|| set.scope_id.to_string());
        let due = (set.due_ms > 0).then(|| rfc3339(set.due_ms));
        object.insert("session".to_owned(), session.into());
        object.insert("scope_id".to_owned(), scope.into());
        object.insert("due_at".to_owned(), due.into());
    }
    if let Facts::ConceptAdded(added) = facts {
        json["memoir"] = Value::String(id_text(added.memoir));
    }
    let id = |id: SubjectId| match id.is_zero() {
        true => Value::Null,
        false => id_text(id).into(),
    };
    if let Facts::FeedbackRecorded(recorded) = facts {
        json["memory"] = id(recorded.memory);
        json["verdict"] = recorded.verdict.name().into();
    }
    if let Facts::FeedbackApplied(applied) = facts {
        json["feedback"] = id(applied.feedback);
        json["verdict"] = applied.verdict.name().into();
    }
    let written = match facts {
        Facts::Stored(facts) => Some(facts.fields),
        Facts::Updated(facts) => Some(facts.fields),
        Facts::MemoirCreated(facts) => Some(facts.fields),
        Facts::MemoirDescribed(facts) => Some(facts.fields),
        Facts::ConceptAdded(facts) => Some(facts.fields),
        Facts::ConceptRefined(facts) => Some(facts.fields),
        _ => None,
    };
    if let (Some(fields), Some(object)) = (written, json.as_object_mut()) {
        object.insert("fields".to_owned(), field_names(fields).into());
    }
    json
}
