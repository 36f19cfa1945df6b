//! The order within a topic: by the time of the described event, or else of storing, then by id. It is a function of
//! the state, independent of the order in which events were learned.

use std::iter::Peekable;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use icm_log::{Position, SubjectId};
use icm_text::{Growing, Map};
use imbl::OrdSet;
use rustc_hash::FxHashMap;

use super::Views;
use super::query::ALL_IDS;
use crate::error::Result;
use crate::fold::{EntityId, Overlay};
use crate::rows::{self, RowFacts, Rows, topic_tag};

/// The smallest id of each memory that has several. The id that keys the rows depends on the order of learning.
#[derive(Default)]
pub(super) struct LeadIds {
    ids: FxHashMap<EntityId, SubjectId>,
    /// The number of ids that stand for another one. It changes whenever `ids` changes.
    aliases: u64,
}

impl LeadIds {
    pub(super) fn of(&self, entity: EntityId) -> SubjectId {
        self.ids.get(&entity).copied().unwrap_or(entity)
    }
}

/// A version at its place in the order of its topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    time_ms: i64,
    id: SubjectId,
    pub(super) ordinal: u64,
}

type Topic = Arc<[Step]>;

/// Topics of the files that were asked for, by tag and by history: `true` for all versions, `false` for those that hold
/// at the checkpoint.
#[derive(Default)]
pub(super) struct Filed {
    topics: Mutex<FiledTopics>,
    /// The smallest ids, as last asked for.
    leads: Mutex<Option<Arc<LeadIds>>>,
}

#[derive(Default)]
struct FiledTopics {
    topics: FxHashMap<(u32, bool), Topic>,
    /// See [`LeadIds::aliases`].
    aliases: u64,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Filed {
    /// Returns the topics with these tags; reads the unknown ones.
    fn read(
        &self,
        (rows, at): (&Rows, Position),
        tags: &[u32],
        history: bool,
        leads: &LeadIds,
    ) -> Result<FxHashMap<u32, Topic>> {
        let (mut found, mut missing) = (FxHashMap::default(), FxHashMap::default());
        {
            let mut filed = locked(&self.topics);
            if filed.aliases != leads.aliases {
                filed.topics.clear();
                filed.aliases = leads.aliases;
            }
            for tag in tags {
                match filed.topics.get(&(*tag, history)) {
                    Some(topic) => found.insert(*tag, Arc::clone(topic)).map(drop),
                    None => missing.insert(*tag, Vec::new()).map(drop),
                };
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        // No lock is held meanwhile, because this reads every row.
        for ordinal in 0..rows.count() {
            let Some(topic) = missing.get_mut(&rows.tag(ordinal)) else {
                continue;
            };
            let row = rows.get(ordinal);
            let row = row.ok_or_else(|| rows::damaged(ordinal))?;
            if history || row.holds_at(at) {
                topic.push(Step {
                    time_ms: row.facts.time_ms,
                    id: leads.of(row.entity),
                    ordinal,
                });
            }
        }
        let mut filed = locked(&self.topics);
        for (tag, mut topic) in missing {
            topic.sort_unstable();
            let topic: Topic = topic.into();
            if filed.aliases == leads.aliases {
                filed.topics.insert((tag, history), Arc::clone(&topic));
            }
            found.insert(tag, topic);
        }
        Ok(found)
    }
}

/// Topics of the tail that were asked for.
#[derive(Default, Clone)]
pub(super) struct Newer(Growing<NewerTopics>);

#[derive(Default, Clone)]
struct NewerTopics {
    /// The number of opened versions, from the first on, that are included.
    read: usize,
    topics: Map<u32, OrdSet<Step>>,
    /// See [`LeadIds::aliases`].
    aliases: u64,
}

impl Newer {
    /// Returns the versions of the tail by topic, in order.
    fn topics(&self, overlay: &Overlay, leads: &LeadIds) -> &NewerTopics {
        self.0.get(|newer| {
            if newer.aliases != leads.aliases {
                *newer = NewerTopics {
                    aliases: leads.aliases,
                    ..NewerTopics::default()
                };
            }
            for (ordinal, entity, from) in overlay.opened.focus().narrow(newer.read..) {
                let Some(version) = overlay.version_from(*entity, *from) else {
                    continue;
                };
                let step = Step {
                    time_ms: RowFacts::of(version).time_ms,
                    id: leads.of(*entity),
                    ordinal: *ordinal,
                };
                let topic = newer.topics.entry(topic_tag(version.topic.as_deref()));
                topic.or_default().insert(step);
            }
            newer.read = overlay.opened.len();
        })
    }

    /// Continues in the next snapshot, whose events may open more versions.
    pub(super) fn go_on(&mut self) {
        self.0.grow_on();
    }
}

/// The order of some topics, in the files and in the tail.
pub(super) struct Order<'a> {
    filed: FxHashMap<u32, Topic>,
    newer: &'a NewerTopics,
    none: OrdSet<Step>,
}

impl Views {
    /// Returns the topics with these tags; with `history` including versions that no longer held at the checkpoint.
    pub(super) fn order(&self, tags: &[u32], history: bool, leads: &LeadIds) -> Result<Order<'_>> {
        let at = self.files.base.cursor.position;
        Ok(Order {
            filed: (self.files.steps).read((&self.files.rows, at), tags, history, leads)?,
            newer: self.tail.steps.topics(&self.tail.folder.kept, leads),
            none: OrdSet::new(),
        })
    }

    /// Returns the smallest ids of the memories that have several.
    pub(super) fn lead_ids(&self) -> Result<Arc<LeadIds>> {
        let aliases = self.tally().aliases;
        let known = locked(&self.files.steps.leads).clone();
        if let Some(leads) = known.filter(|leads| leads.aliases == aliases) {
            return Ok(leads);
        }
        let mut leads = LeadIds {
            aliases,
            ..LeadIds::default()
        };
        for (id, entity) in self.aliases_in(ALL_IDS)? {
            let lead = leads.ids.entry(entity).or_insert(entity);
            *lead = (*lead).min(id);
        }
        let leads = Arc::new(leads);
        *locked(&self.files.steps.leads) = Some(Arc::clone(&leads));
        Ok(leads)
    }

    /// Returns the place of a version in its topic.
    pub(super) fn step(&self, ordinal: u64, leads: &LeadIds) -> Result<Step> {
        let at = ordinal.checked_sub(self.files.base.tally.next_ordinal);
        let step = match at {
            None => self
                .files
                .rows
                .get(ordinal)
                .map(|row| (row.facts.time_ms, row.entity)),
            Some(at) => self.opened(at).and_then(|version| {
                let (_, entity, _) = self.tail.folder.kept.opened.get(at as usize)?;
                Some((RowFacts::of(version).time_ms, *entity))
            }),
        };
        let (time_ms, entity) = step.ok_or_else(|| rows::damaged(ordinal))?;
        Ok(Step {
            time_ms,
            id: leads.of(entity),
            ordinal,
        })
    }
}

impl Order<'_> {
    /// Returns the steps after `step` in the topic with this tag.
    pub(super) fn after(&self, tag: u32, step: Step) -> impl Iterator<Item = Step> {
        let (filed, newer) = self.lists(tag);
        let filed = &filed[filed.partition_point(|other| *other <= step)..];
        let newer = newer.range((Bound::Excluded(step), Bound::Unbounded));
        merged(filed.iter(), newer, |filed, newer| filed < newer)
    }

    /// Returns the steps before `step`, the nearest first.
    pub(super) fn before(&self, tag: u32, step: Step) -> impl Iterator<Item = Step> {
        let (filed, newer) = self.lists(tag);
        let filed = &filed[..filed.partition_point(|other| *other < step)];
        let newer = newer.range(..step).rev();
        merged(filed.iter().rev(), newer, |filed, newer| filed > newer)
    }

    /// Returns the steps of a topic, newest first.
    pub(super) fn newest(&self, tag: u32) -> impl Iterator<Item = Step> {
        let end = Step {
            time_ms: i64::MAX,
            id: SubjectId([u8::MAX; 16]),
            ordinal: u64::MAX,
        };
        self.before(tag, end)
    }

    fn lists(&self, tag: u32) -> (&[Step], &OrdSet<Step>) {
        let filed = self.filed.get(&tag).map_or(&[][..], |topic| topic);
        (filed, self.newer.topics.get(&tag).unwrap_or(&self.none))
    }
}

/// Merges the steps of the files and of the tail. `first` is true if the file's step comes first.
fn merged<'a>(
    filed: impl Iterator<Item = &'a Step>,
    newer: impl Iterator<Item = &'a Step>,
    first: impl Fn(&Step, &Step) -> bool,
) -> impl Iterator<Item = Step> {
    let mut filed: Peekable<_> = filed.peekable();
    let mut newer: Peekable<_> = newer.peekable();
    std::iter::from_fn(move || {
        let next = match (filed.peek(), newer.peek()) {
            (Some(one), Some(other)) if !first(one, other) => newer.next(),
            (Some(_), _) => filed.next(),
            (None, _) => newer.next(),
        };
        next.copied()
    })
}
