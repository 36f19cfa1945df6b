//! Differences of the memories between two moments.

pub(crate) mod links;
mod words;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use icm_log::Position;
use icm_projections::fold::{Schedule, Version};
use icm_projections::{ALL_IDS, ViewError, Views, topic_fits};
use serde_json::{Map, Value};

use crate::history::basis::At;
use crate::memory::present::{memory, planned_from};
use crate::service::Service;
use crate::snapshot::QueryResult;
use crate::upkeep::decay::decimal;
use icm_api::error::{Result, ServiceError};
use icm_api::{Diff, DiffLeftOut, DiffRequest, FeedbackDiff, GraphDiff, Memory, MemoryChange};

pub use self::words::shown_difference;
pub(crate) use self::words::word_difference;

/// The fields by which two states of a memory are compared, as in its JSON.
const FIELDS: [&str; 15] = [
    "topic",
    "content",
    "raw_excerpt",
    "importance",
    "weight",
    "keywords",
    "scope",
    "key",
    "trust",
    "source",
    "occurred_at",
    "pinned_until",
    "expires",
    "expired",
    "metadata",
];

impl Service {
    /// Returns the differences of the memories between two moments. Walks the memories once, and with a session the
    /// events in between.
    pub fn diff(&self, request: &DiffRequest) -> Result<Diff> {
        self.with_views(|views| self.diff_in(views, request))
    }

    fn diff_in(&self, views: &Views, request: &DiffRequest) -> QueryResult<Diff> {
        let from = self.at_or_nothing(views, &request.from)?;
        let to = self.at(views, request.to.as_deref(), None)?;
        if from.position > to.position {
            return Err(backwards(request, from, to).into());
        }
        if request.memoir.is_some() && (request.topic.is_some() || request.session.is_some()) {
            return Err(ServiceError::invalid_with(
                "a memoir is compared as a whole",
                "give a memoir alone, or a topic and a session",
            )
            .into());
        }
        let mut diff = Diff {
            from: from.to_basis(),
            to: to.to_basis(),
            added: Vec::new(),
            changed: Vec::new(),
            forgotten: Vec::new(),
            revived: Vec::new(),
            linked: Vec::new(),
            unlinked: Vec::new(),
            graph: GraphDiff::default(),
            feedback: FeedbackDiff::default(),
            faded: 0,
            left_out: DiffLeftOut::default(),
        };
        if let Some(memoir) = &request.memoir {
            diff.graph = self.graph_diff(views, from, to, Some(memoir))?;
            return Ok(diff);
        }
        let topic = self.topic_filter_if_any(views, request.topic.as_deref())?;
        let request = &DiffRequest {
            topic,
            ..request.clone()
        };
        let mut moved = self.moved(views, request, from, to, &mut diff.faded)?;
        // Each list of memories is by topic, then id.
        moved.sort_unstable_by(|(_, a), (_, b)| (topic_text(a), a.id).cmp(&(topic_text(b), b.id)));
        for (before, after) in moved {
            self.compare(
                views,
                (&mut diff, request.limit),
                before.as_ref(),
                &after,
                [from, to],
            )?;
        }
        self.compare_memory_links(views, request, &mut diff, [from, to])?;
        if request.topic.is_none() && request.session.is_none() {
            diff.graph = self.graph_diff(views, from, to, None)?;
            diff.feedback = self.feedback_diff(views, [&from, &to])?;
        }
        Ok(diff)
    }

    /// Returns the memories that have another version at `to` than at `from`, with both versions. Counts in `faded` how
    /// many of the others have faded.
    fn moved(
        &self,
        views: &Views,
        request: &DiffRequest,
        from: At,
        to: At,
        faded: &mut u64,
    ) -> QueryResult<Vec<(Option<Version>, Version)>> {
        let session = match &request.session {
            Some(session) => Some(self.events_of(views, session, from, to)?),
            None => None,
        };
        let topic = request.topic.as_deref();
        let fits = |version: &Version| {
            let held = version.topic.as_deref().unwrap_or_default();
            topic.is_none_or(|asked| topic_fits(asked, held))
        };
        let schedules = [
            views.schedule_at(from.position)?,
            views.schedule_at(to.position)?,
        ];
        let fades = session.is_none() && schedules[0] != schedules[1];
        // A version that already held at `from` is no difference, but its weight may have faded.
        let mut entities = Vec::new();
        let mut look = |entity, version: &Version| -> std::result::Result<(), ViewError> {
            if version.from > from.position {
                entities.push((entity, version.clone()));
            } else if fades && version.is_alive() && fits(version) {
                let weight = |schedule: &Schedule, at: At| {
                    views.weight_by(schedule, &self.log, entity, version, at.position)
                };
                let [was, is] = [weight(&schedules[0], from)?, weight(&schedules[1], to)?];
                *faded += u64::from(was != is);
            }
            Ok(())
        };
        match topic {
            Some(topic) => {
                for entity in views.members(topic)? {
                    if let Some(version) = views.version_at(entity, to.position)? {
                        look(entity, &version)?;
                    }
                }
            }
            None => views.each_at(ALL_IDS, to.position, false, &mut |entity, version| {
                look(entity, version)?;
                Ok(true)
            })?,
        }
        let mut moved = Vec::new();
        for (entity, after) in entities {
            let before = views.version_at(entity, from.position)?;
            if !fits(&after) && !before.as_ref().is_some_and(fits) {
                continue;
            }
            if let Some(events) = &session {
                let versions = views.versions(entity, to.position)?;
                if !versions
                    .iter()
                    .any(|version| events.contains(&version.from))
                {
                    continue;
                }
            }
            moved.push((before, after));
        }
        Ok(moved)
    }

    /// Returns the positions of a session's events after `from`, up to `to`.
    fn events_of(
        &self,
        views: &Views,
        session: &str,
        from: At,
        to: At,
    ) -> QueryResult<BTreeSet<Position>> {
        let session = self.session_meant(session)?;
        let mut events = BTreeSet::new();
        let after = Position(from.position.0.saturating_add(1));
        let cursor = self.log.cursor_before(after, views)?;
        self.log.scan(&cursor, &mut |event| {
            if event.position > to.position {
                return ControlFlow::Break(());
            }
            if event.position >= after && event.head.session() == session {
                events.insert(event.position);
            }
            ControlFlow::Continue(())
        })?;
        Ok(events)
    }

    /// Adds a memory to the lists of a diff. A memory beyond the limit is counted.
    fn compare(
        &self,
        views: &Views,
        (diff, limit): (&mut Diff, Option<usize>),
        before: Option<&Version>,
        after: &Version,
        [from, to]: [At; 2],
    ) -> QueryResult<()> {
        let is_full = |listed: usize| limit.is_some_and(|limit| listed >= limit);
        let lived = before.is_some_and(Version::is_alive);
        match (lived, after.is_alive()) {
            // The memory was stored and forgotten in between, or was forgotten all along.
            (false, false) => return Ok(()),
            (true, false) if is_full(diff.forgotten.len()) => {
                diff.left_out.forgotten += 1;
                return Ok(());
            }
            (true, false) => {
                let forgotten = self.memory_at(views, after, to.position)?;
                diff.forgotten.push(forgotten);
                return Ok(());
            }
            (false, true) => {
                let (list, left_out) = match before {
                    None => (&mut diff.added, &mut diff.left_out.added),
                    Some(_) => (&mut diff.revived, &mut diff.left_out.revived),
                };
                match is_full(list.len()) {
                    true => *left_out += 1,
                    false => list.push(Memory {
                        planned_from: planned_from(after, &to),
                        ..self.memory_at(views, after, to.position)?
                    }),
                }
            }
            (true, true) => {}
        }
        let Some(before) = before else { return Ok(()) };
        // Most of the memories beyond the limit differ in their text. The other fields take longer to compare.
        if is_full(diff.changed.len()) && before.content != after.content {
            diff.left_out.changed += 1;
            return Ok(());
        }
        let entity = views.resolve(after.id)?;
        let state = |version: &Version, at: At| -> QueryResult<Memory> {
            let weight_ppm = views.weight_at(&self.log, entity, version, at.position)?;
            Ok(Memory {
                weight: decimal(weight_ppm),
                ..memory(version, (0, None))
            })
        };
        let (old, new) = (state(before, from)?, state(after, to)?);
        match is_full(diff.changed.len()) {
            true => {
                let differ = !differences(&old, &new).fields.is_empty();
                diff.left_out.changed += u64::from(differ);
            }
            false => diff.changed.extend(change(&old, &new)),
        }
        Ok(())
    }
}

/// Returns the topic of a memory as its JSON has it.
fn topic_text(version: &Version) -> &str {
    version.topic.as_deref().unwrap_or("(withheld)")
}

/// Returns the differences between two states of a memory, if there are any.
fn change(old: &Memory, new: &Memory) -> Option<MemoryChange> {
    let mut change = differences(old, new);
    if let (Some(old), Some(new)) = (&old.content, &new.content)
        && old != new
    {
        change.content_diff = word_difference(old, new);
    }
    Some(change).filter(|change| !change.fields.is_empty())
}

/// Returns the fields that differ, without the words of the content.
fn differences(old: &Memory, new: &Memory) -> MemoryChange {
    let (topic, id) = (new.topic.clone(), new.id.clone());
    let [mut old, mut new] = [old, new].map(|memory| match serde_json::to_value(memory) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    });
    let value = |fields: &mut Map<String, Value>, name| fields.remove(name).unwrap_or_default();
    let mut change = MemoryChange {
        id,
        topic,
        fields: Vec::new(),
        before: Map::new(),
        after: Map::new(),
        content_diff: Vec::new(),
    };
    for name in FIELDS {
        let (old, new) = (value(&mut old, name), value(&mut new, name));
        if old != new {
            change.fields.push(name.to_owned());
            change.before.insert(name.to_owned(), old);
            change.after.insert(name.to_owned(), new);
        }
    }
    change
}

fn backwards(request: &DiffRequest, from: At, to: At) -> ServiceError {
    let later = request.to.as_deref().unwrap_or("now");
    ServiceError::invalid_with(
        format!(
            "`{}` (@{}) is after `{later}` (@{})",
            request.from, from.position, to.position
        ),
        "give the earlier moment first",
    )
}

#[cfg(test)]
mod tests {
    use icm_api::{Caller, Importance, StoreRequest, UpdateRequest};

    use super::*;
    use crate::service::tests::service;

    /// The lists with a limit are the beginnings of the lists without one; the rest is counted.
    #[test]
    fn a_limit_counts_the_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(&folder.path().join("store"));
        let caller = Caller::default();
        let store = |text: &str| {
            let topic = if text.len().is_multiple_of(2) {
                "even"
            } else {
                "odd"
            };
            let stored = service.store(&caller, StoreRequest::new(topic, text));
            stored.expect("it stores").id
        };
        let words = ["amber", "birch", "cedar", "dune", "ember", "fern", "grove"];
        let old: Vec<String> = words.iter().map(|word| store(word)).collect();
        let from = format!("@{}", service.newest_position().expect("a position"));
        for word in [
            "hazel", "iris", "juniper", "kelp", "larch", "maple", "nettle",
        ] {
            store(word);
        }
        let (gone, kept) = old.split_at(3);
        service.forget(&caller, gone).expect("it forgets");
        for id in kept {
            let update = UpdateRequest {
                id: id.clone(),
                content: (Some(id) == kept.last()).then(|| "grass".to_owned()),
                importance: Some(Importance::High),
                ..UpdateRequest::default()
            };
            service.update(&caller, update).expect("it updates");
        }
        let diff = |limit| {
            let request = DiffRequest {
                from: from.clone(),
                limit,
                ..DiffRequest::default()
            };
            service.diff(&request).expect("a diff")
        };
        let all = diff(None);
        assert_eq!(all.left_out, DiffLeftOut::default());
        let lens = [all.added.len(), all.changed.len(), all.forgotten.len()];
        assert_eq!(lens, [7, 4, 3]);
        let place = |memory: &Memory| (memory.topic.clone(), memory.id.clone());
        assert!(all.added.is_sorted_by_key(place));
        let first = diff(Some(2));
        assert_eq!(first.added, all.added[..2]);
        assert_eq!(first.changed, all.changed[..2]);
        assert_eq!(first.forgotten, all.forgotten[..2]);
        let left_out = DiffLeftOut {
            added: 5,
            changed: 2,
            forgotten: 1,
            revived: 0,
        };
        assert_eq!(first.left_out, left_out);
    }
}
