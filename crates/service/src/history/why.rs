//! Where a memory came from, and what became of it.

use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::Facts;
use icm_log::{Event, Position, SessionId, payload};
use icm_projections::Views;
use icm_projections::fold::InChain;
use serde_json::Value;

use crate::memory::present::field_names;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::ids::id_text;
use icm_api::when::rfc3339;
use icm_api::{Source, Why, WhyEvent, WhyFrom, WhyRecall};

impl Service {
    /// Where a memory came from, the events that changed it, and the newest `recalls` of those that
    /// showed it. Costs as many events of the log as are told of, not the whole log.
    pub fn why(&self, id: &str, recalls: usize) -> Result<Why> {
        self.with_views(|views| self.why_in(views, id, recalls))
    }

    fn why_in(&self, views: &Views, id: &str, recalls: usize) -> QueryResult<Why> {
        let entity = self.find_any(views, id)?;
        let newest = views.tally().position;
        let versions = views.versions(entity, newest)?;
        let shown = views.access_positions(entity, newest, recalls)?;
        let (recalls_total, _) = views.accesses_at(&self.log, entity, newest)?;
        let mut wanted: BTreeSet<Position> = shown.iter().copied().collect();
        wanted.extend(versions.iter().map(|version| version.from));
        // An event that came late has no version of its own.
        wanted.extend(views.touched(entity)?);
        let wanted: Vec<Position> = wanted.into_iter().collect();
        let undos = views.undos()?;

        let (mut covers, mut covered_by) = (None, None);
        let (mut sessions, mut late) = (BTreeMap::new(), Vec::new());
        let made: BTreeSet<Position> = versions.iter().map(|version| version.from).collect();
        let mut recalls = Vec::with_capacity(shown.len());
        let mut failed = None;
        let stored = versions.last().map(|version| version.id_stamp.event);
        let (mut from, mut first_stored) = (None, None);
        views.events_at(&self.log, &wanted, &mut |event| {
            let session = session_text(event.head.session());
            let undone = undos.is_undone(&InChain::of(event));
            let facts = match Facts::of(&event.head) {
                Ok(Facts::Recalled(facts)) => facts,
                other => {
                    if !made.contains(&event.position) {
                        late.push(WhyEvent {
                            position: event.position.0,
                            event: event.id.to_string(),
                            kind: event.head.kind().name(),
                            at: rfc3339(event.head.time().ms()),
                            actor: self.actor_name(views, event.head.actor()),
                            session,
                            changed: Vec::new(),
                        });
                    } else {
                        sessions.insert(event.position, session);
                    }
                    let is_first = stored == Some(event.id);
                    if is_first {
                        first_stored = Some((event.head.actor(), source_of(event)));
                    }
                    // What gave the memory its id may be undone, and another one in force.
                    let is_stored = matches!(other, Ok(Facts::Stored(_)));
                    if is_stored && !undone && (is_first || from.is_none()) {
                        from = Some((event.head.actor(), source_of(event)));
                    }
                    if let (Ok(Facts::Consolidated(facts)), false) = (other, undone) {
                        match views.resolve(event.head.subject()) {
                            Ok(subject) if subject == entity => {
                                let ids = facts.covers.iter().map(|covered| covered.id);
                                covers = Some((ids.collect(), event.head.command()));
                            }
                            Ok(subject) => covered_by = Some((subject, event.head.command())),
                            Err(error) => failed = Some(error),
                        }
                    }
                    return;
                }
            };
            let mut rank = None;
            for result in &facts.results {
                match views.resolve(result.id) {
                    Ok(found) if found == entity => {
                        rank = Some(result.rank);
                        break;
                    }
                    Ok(_) => {}
                    Err(error) => failed = Some(error),
                }
            }
            let payload = event.body.payload().and_then(payload::to_json);
            let query = payload.as_ref().and_then(|payload| payload.get("query"));
            recalls.push(WhyRecall {
                position: event.position.0,
                event: event.id.to_string(),
                at: rfc3339(event.head.time().ms()),
                actor: self.actor_name(views, event.head.actor()),
                session,
                query: query.and_then(Value::as_str).map(str::to_owned),
                rank: rank.unwrap_or_default(),
                undone,
            });
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        recalls.reverse();

        let (Some(first), Some(last)) = (versions.first(), versions.last()) else {
            return Err(crate::memory::present::not_found(id, Vec::new()));
        };
        let mut memory = self.memory_at(views, last, newest)?;
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
        // All of it is of one event: the source that is shown may be another one's.
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
        })
    }
}

/// What the event that stored a memory says of its source: nothing where that is withheld.
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
