//! The origin of a memory, and the events that changed or showed it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, RangeInclusive};

use icm_log::facts::{Facts, MemoryRecalled};
use icm_log::{ActorId, CommandId, Event, EventId, Kind, Position, SessionId, SubjectId, payload};
use icm_projections::fold::{EntityId, InChain, Undos, Version};
use icm_projections::{ViewError, Views};
use serde_json::Value;

use crate::memory::present::field_names;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::ids::id_text;
use icm_api::when::rfc3339;
use icm_api::{Source, Why, WhyEvent, WhyFrom, WhyRecall};

impl Service {
    /// Returns the origin of a memory, the events that changed it, and the newest `recalls` of the recalls that showed
    /// it. Reads only the events that it returns, not the whole log.
    pub fn why(&self, id: &str, recalls: usize) -> Result<Why> {
        self.why_at(id, recalls, None)
    }

    /// Returns what [`Service::why`] would have returned at a moment.
    ///
    /// # Errors
    /// `NotFound` also for a memory that was stored later.
    pub fn why_at(&self, id: &str, recalls: usize, at: Option<&str>) -> Result<Why> {
        self.with_views(|views| {
            let newest = self.at(views, at, None)?.position;
            self.why_in(views, (id, newest), recalls)
        })
    }

    fn why_in(
        &self,
        views: &Views,
        (id, newest): (&str, Position),
        recalls_max: usize,
    ) -> QueryResult<Why> {
        let entity = self.find_any(views, id)?;
        let versions = views.versions(entity, newest)?;
        let shown = views.access_positions(entity, newest, recalls_max)?;
        let (recalls_total, _) = views.accesses_at(&self.log, entity, newest)?;
        let Reading {
            mut sessions,
            late,
            mut recalls,
            from,
            first_stored,
            covers,
            covered_by,
            ..
        } = self.read_about(views, (entity, newest), &versions, &shown)?;
        recalls.reverse();
        let since = versions.first().map_or(Position(0), |version| version.from);
        let injections = self.injections(views, entity, since..=newest, recalls_max)?;

        let (Some(first), Some(last)) = (versions.first(), versions.last()) else {
            return Err(crate::memory::present::not_found(id, Vec::new()));
        };
        let mut memory = self.memory_at(views, last, newest)?;
        memory.authors = self.authors(views, last, newest)?;
        let covered_by = match covered_by.filter(|_| memory.forgotten) {
            Some((by, command)) => Some(id_text(self.summary_of(views, by, command)?)),
            None => None,
        };
        let consolidated_from = match covers {
            Some((covers, command)) => self.without_parts(views, covers, command)?,
            None => Vec::new(),
        };
        let consolidated_from = consolidated_from.into_iter().map(id_text).collect();
        memory.consolidated_into.clone_from(&covered_by);
        let mut events: Vec<WhyEvent> = versions
            .iter()
            .map(|version| WhyEvent {
                position: version.from.0,
                event: version.stamp.event.to_string(),
                kind: version.kind().name(),
                at: rfc3339(version.stamp.time.ms()),
                actor: self.actor_name(views, version.actor),
                session: sessions.remove(&version.from).flatten(),
                changed: field_names(version.changed),
            })
            .collect();
        events.extend(late);
        events.sort_by_key(|event| event.position);
        // Actor and source are from one event: the source that is shown may be another event's.
        let from = from.or(first_stored);
        let (actor, source) = from.unwrap_or_else(|| (first.actor, memory.source.clone()));
        Ok(Why {
            from: WhyFrom {
                actor: self.actor_name(views, actor),
                source,
                consolidated_from,
            },
            covered_by,
            memory,
            events,
            recalls_total: recalls_total.max(recalls.len() as u64),
            recalls,
            injections_total: injections.1,
            injections: injections.0,
        })
    }

    /// Reads the events of a memory up to a position: those of its versions, those that came late, and the recalls
    /// `shown`.
    fn read_about<'a>(
        &'a self,
        views: &'a Views,
        (entity, newest): (EntityId, Position),
        versions: &[Version],
        shown: &[Position],
    ) -> QueryResult<Reading<'a>> {
        let mut wanted: BTreeSet<Position> = shown.iter().copied().collect();
        wanted.extend(versions.iter().map(|version| version.from));
        // An event that came late has no version of its own.
        let touched = views.touched(entity)?.into_iter();
        wanted.extend(touched.filter(|position| *position <= newest));
        let wanted: Vec<Position> = wanted.into_iter().collect();
        let mut reading = Reading {
            service: self,
            views,
            undos: views.undos()?.as_of(newest),
            entity,
            made: versions.iter().map(|version| version.from).collect(),
            stored: versions.last().map(|version| version.id_stamp.event),
            sessions: BTreeMap::new(),
            late: Vec::new(),
            recalls: Vec::with_capacity(shown.len()),
            from: None,
            first_stored: None,
            covers: None,
            covered_by: None,
        };
        let mut failed = None;
        views.events_at(&self.log, &wanted, &mut |event| {
            failed = reading.read(event).err().or(failed.take());
        })?;
        match failed {
            Some(error) => Err(error.into()),
            None => Ok(reading),
        }
    }

    /// Returns the newest `most` times that a memory was shown to a session that had not asked for it, newest first,
    /// and how many there are in all. Reads the log back to the first position, the event that stored it.
    fn injections(
        &self,
        views: &Views,
        entity: EntityId,
        known: RangeInclusive<Position>,
        most: usize,
    ) -> QueryResult<(Vec<WhyRecall>, u64)> {
        let undos = views.undos()?.as_of(*known.end());
        let ids = views.ids_of(entity)?;
        let (mut newest, mut total) = (Vec::new(), 0);
        self.log.scan_back(Some(*known.end()), &mut |event| {
            if event.position < *known.start() {
                return ControlFlow::Break(());
            }
            if event.head.kind() == Kind::MEMORY_RECALLED
                && let Ok(Facts::Recalled(facts)) = Facts::of(&event.head)
                && !facts.is_asked()
                && let Some(shown) = facts.results.iter().find(|shown| ids.contains(&shown.id))
            {
                total += 1;
                if newest.len() < most {
                    newest.push(self.why_recall(views, &undos, event, &facts, shown.rank));
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok((newest, total))
    }

    fn why_recall(
        &self,
        views: &Views,
        undos: &Undos,
        event: &Event<'_>,
        facts: &MemoryRecalled,
        rank: u16,
    ) -> WhyRecall {
        let payload = event.body.payload().and_then(payload::to_json);
        let query = payload.as_ref().and_then(|payload| payload.get("query"));
        let shown = facts.shown.and_then(|shown| shown.front.name());
        WhyRecall {
            position: event.position.0,
            event: event.id.to_string(),
            at: rfc3339(event.head.time().ms()),
            actor: self.actor_name(views, event.head.actor()),
            session: session_text(event.head.session()),
            query: query.and_then(Value::as_str).map(str::to_owned),
            rank,
            front: shown.map(str::to_owned),
            undone: undos.is_undone(&InChain::of(event)),
        }
    }
}

/// The events about a memory as they are read, and the facts collected from them.
struct Reading<'a> {
    service: &'a Service,
    views: &'a Views,
    undos: Undos,
    entity: EntityId,
    /// The positions of events that made a version.
    made: BTreeSet<Position>,
    /// The event that gave the memory its id.
    stored: Option<EventId>,
    /// The sessions of events that made a version.
    sessions: BTreeMap<Position, Option<String>>,
    /// Events that made no version, because they came late.
    late: Vec<WhyEvent>,
    recalls: Vec<WhyRecall>,
    /// Actor and source of the store: of an event in force, and of the event that gave the memory its id.
    from: Option<(ActorId, Source)>,
    first_stored: Option<(ActorId, Source)>,
    /// The memories that this one summarises, and the summary that covers it, each with its command.
    covers: Option<(Vec<SubjectId>, CommandId)>,
    covered_by: Option<(SubjectId, CommandId)>,
}

impl Reading<'_> {
    fn read(&mut self, event: &Event<'_>) -> std::result::Result<(), ViewError> {
        match Facts::of(&event.head) {
            Ok(Facts::Recalled(facts)) => self.recall(event, &facts),
            other => self.change(event, other.ok()),
        }
    }

    fn change(
        &mut self,
        event: &Event<'_>,
        facts: Option<Facts>,
    ) -> std::result::Result<(), ViewError> {
        let session = session_text(event.head.session());
        let undone = self.undos.is_undone(&InChain::of(event));
        if self.made.contains(&event.position) {
            self.sessions.insert(event.position, session);
        } else {
            self.late.push(WhyEvent {
                position: event.position.0,
                event: event.id.to_string(),
                kind: event.head.kind().name(),
                at: rfc3339(event.head.time().ms()),
                actor: self.service.actor_name(self.views, event.head.actor()),
                session,
                changed: match &facts {
                    Some(Facts::FeedbackApplied(facts)) => facts
                        .verdict
                        .name()
                        .map(str::to_owned)
                        .into_iter()
                        .collect(),
                    _ => Vec::new(),
                },
            });
        }
        let is_first = self.stored == Some(event.id);
        if is_first {
            self.first_stored = Some((event.head.actor(), source_of(event)));
        }
        // The event that gave the memory its id may be undone, and another store in force.
        let is_stored = matches!(facts, Some(Facts::Stored(_)));
        if is_stored && !undone && (is_first || self.from.is_none()) {
            self.from = Some((event.head.actor(), source_of(event)));
        }
        if let (Some(Facts::Consolidated(facts)), false) = (facts, undone) {
            let subject = self.views.resolve(event.head.subject())?;
            let command = event.head.command();
            if subject == self.entity {
                let ids = facts.covers.iter().map(|covered| covered.id);
                self.covers = Some((ids.collect(), command));
            } else {
                self.covered_by = Some((subject, command));
            }
        }
        Ok(())
    }

    fn recall(
        &mut self,
        event: &Event<'_>,
        facts: &MemoryRecalled,
    ) -> std::result::Result<(), ViewError> {
        let mut rank = None;
        for result in &facts.results {
            if self.views.resolve(result.id)? == self.entity {
                rank = Some(result.rank);
                break;
            }
        }
        let rank = rank.unwrap_or_default();
        let shown = (self.service).why_recall(self.views, &self.undos, event, facts, rank);
        self.recalls.push(shown);
        Ok(())
    }
}

/// Returns the source in the event that stored a memory; empty if its payload is withheld.
fn source_of(event: &Event<'_>) -> Source {
    let stored = event.body.payload().map(payload::decode);
    let Some(Ok(payload::MemoryStored { source, .. })) = stored else {
        return Source::default();
    };
    Source {
        agent: source.agent.map(str::to_owned),
        client: source.client.map(str::to_owned),
        session: source.session.map(str::to_owned),
        project: source.project.map(str::to_owned),
        file: source.file.map(str::to_owned),
    }
}

fn session_text(session: SessionId) -> Option<String> {
    (!session.is_zero()).then(|| session.to_string())
}
