//! The order within a topic: by when it happened, or else was stored, then by id. That is a
//! function of the state, in whatever order its events were learned.

use std::cell::{Ref, RefCell};
use std::sync::Arc;

use icm_log::SubjectId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Views;
use super::query::ALL_IDS;
use crate::error::Result;
use crate::fold::{EntityId, Overlay};
use crate::rows::{self, Facts, OPEN, Rows, topic_tag};

/// The smallest id of each memory that has several: which of them its rows go by depends on what was learned first.
#[derive(Default)]
pub(super) struct LeadIds {
    ids: FxHashMap<EntityId, SubjectId>,
    /// How many ids stand for another one: what changes whenever these do.
    aliases: u64,
}

impl LeadIds {
    pub(super) fn of(&self, entity: EntityId) -> SubjectId {
        self.ids.get(&entity).copied().unwrap_or(entity)
    }
}

/// A version in the order of its topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    time_ms: i64,
    id: SubjectId,
    pub(super) ordinal: u64,
}

type Topic = Arc<[Step]>;

/// Topics of the files that were asked for, by tag; and whether with all versions or with those that hold at the
/// checkpoint alone.
#[derive(Default)]
pub(super) struct Filed {
    topics: RefCell<FiledTopics>,
    /// As they were last asked for.
    leads: RefCell<Option<Arc<LeadIds>>>,
}

#[derive(Default)]
struct FiledTopics {
    topics: FxHashMap<(u32, bool), Topic>,
    /// See [`LeadIds::aliases`].
    aliases: u64,
}

impl Filed {
    /// Reads the topics with these tags, but for those that are known.
    fn read(&self, rows: &Rows, tags: &[u32], history: bool, leads: &LeadIds) -> Result<()> {
        let filed = &mut *self.topics.borrow_mut();
        if filed.aliases != leads.aliases {
            filed.topics.clear();
            filed.aliases = leads.aliases;
        }
        let known = &mut filed.topics;
        let missing: FxHashSet<u32> = tags
            .iter()
            .filter(|tag| !known.contains_key(&(**tag, history)))
            .copied()
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut topics: FxHashMap<u32, Vec<Step>> =
            missing.into_iter().map(|tag| (tag, Vec::new())).collect();
        for ordinal in 0..rows.count() {
            let Some(topic) = topics.get_mut(&rows.tag(ordinal)) else {
                continue;
            };
            let row = rows.get(ordinal);
            let row = row.ok_or_else(|| rows::damaged(ordinal))?;
            if history || row.to == OPEN {
                topic.push(Step {
                    time_ms: row.facts.time_ms,
                    id: leads.of(row.entity),
                    ordinal,
                });
            }
        }
        for (tag, mut topic) in topics {
            topic.sort_unstable();
            known.insert((tag, history), topic.into());
        }
        Ok(())
    }
}

/// Topics of the tail, as far as it was asked.
#[derive(Default)]
pub(super) struct Newer(RefCell<NewerTopics>);

#[derive(Default)]
struct NewerTopics {
    /// So many of the opened versions, from the first on.
    read: usize,
    topics: FxHashMap<u32, Vec<Step>>,
    /// See [`LeadIds::aliases`].
    aliases: u64,
}

impl Newer {
    /// The versions of the tail by topic, in order.
    fn topics(&self, overlay: &Overlay, leads: &LeadIds) -> Ref<'_, NewerTopics> {
        {
            let newer = &mut *self.0.borrow_mut();
            if newer.aliases != leads.aliases {
                *newer = NewerTopics {
                    aliases: leads.aliases,
                    ..NewerTopics::default()
                };
            }
            for (ordinal, entity, from) in &overlay.opened[newer.read..] {
                let Some(version) = overlay.version_from(*entity, *from) else {
                    continue;
                };
                let step = Step {
                    time_ms: Facts::of(version).time_ms,
                    id: leads.of(*entity),
                    ordinal: *ordinal,
                };
                let topic = newer.topics.entry(topic_tag(version.topic.as_deref()));
                let topic = topic.or_default();
                let at = topic.partition_point(|other| *other < step);
                topic.insert(at, step);
            }
            newer.read = overlay.opened.len();
        }
        self.0.borrow()
    }
}

/// The topics of some versions.
pub(super) struct Order<'a> {
    filed: FxHashMap<u32, Topic>,
    newer: Ref<'a, NewerTopics>,
}

impl Views {
    /// The topics with these tags; with `history` also what no longer held at the checkpoint.
    pub(super) fn order(&self, tags: &[u32], history: bool, leads: &LeadIds) -> Result<Order<'_>> {
        self.steps.read(&self.rows, tags, history, leads)?;
        let filed = self.steps.topics.borrow();
        let topic = |tag: &u32| Some((*tag, filed.topics.get(&(*tag, history))?.clone()));
        Ok(Order {
            filed: tags.iter().filter_map(topic).collect(),
            newer: self.tail.steps.topics(&self.tail.folder.kept, leads),
        })
    }

    /// The smallest ids of the memories that have several.
    pub(super) fn lead_ids(&self) -> Result<Arc<LeadIds>> {
        let aliases = self.tally().aliases;
        let known = self.steps.leads.borrow();
        if let Some(leads) = known.as_ref().filter(|leads| leads.aliases == aliases) {
            return Ok(Arc::clone(leads));
        }
        drop(known);
        let mut leads = LeadIds {
            aliases,
            ..LeadIds::default()
        };
        for (id, entity) in self.aliases_in(ALL_IDS)? {
            let lead = leads.ids.entry(entity).or_insert(entity);
            *lead = (*lead).min(id);
        }
        let leads = Arc::new(leads);
        *self.steps.leads.borrow_mut() = Some(Arc::clone(&leads));
        Ok(leads)
    }

    /// The place of a version in its topic.
    pub(super) fn step(&self, ordinal: u64, leads: &LeadIds) -> Result<Step> {
        let at = ordinal.checked_sub(self.base.tally.next_ordinal);
        let step = match at {
            None => self
                .rows
                .get(ordinal)
                .map(|row| (row.facts.time_ms, row.entity)),
            Some(at) => self.opened(at).and_then(|version| {
                let (_, entity, _) = self.tail.folder.kept.opened.get(at as usize)?;
                Some((Facts::of(version).time_ms, *entity))
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
    /// The steps after one in the topic with this tag.
    pub(super) fn after(&self, tag: u32, step: Step) -> impl Iterator<Item = Step> {
        let [filed, newer] = self.lists(tag);
        let mut filed = filed[filed.partition_point(|other| *other <= step)..].iter();
        let mut newer = newer[newer.partition_point(|other| *other <= step)..].iter();
        std::iter::from_fn(move || {
            let first = match (filed.as_slice().first(), newer.as_slice().first()) {
                (Some(a), Some(b)) if b < a => newer.next(),
                (Some(_), _) => filed.next(),
                (None, _) => newer.next(),
            };
            first.copied()
        })
    }

    /// The steps before one, the nearest first.
    pub(super) fn before(&self, tag: u32, step: Step) -> impl Iterator<Item = Step> {
        let [filed, newer] = self.lists(tag);
        let mut filed = filed[..filed.partition_point(|other| *other < step)].iter();
        let mut newer = newer[..newer.partition_point(|other| *other < step)].iter();
        std::iter::from_fn(move || {
            let last = match (filed.as_slice().last(), newer.as_slice().last()) {
                (Some(a), Some(b)) if b > a => newer.next_back(),
                (Some(_), _) => filed.next_back(),
                (None, _) => newer.next_back(),
            };
            last.copied()
        })
    }

    /// The newest of a topic first.
    pub(super) fn newest(&self, tag: u32) -> impl Iterator<Item = Step> {
        let end = Step {
            time_ms: i64::MAX,
            id: SubjectId([u8::MAX; 16]),
            ordinal: u64::MAX,
        };
        self.before(tag, end)
    }

    fn lists(&self, tag: u32) -> [&[Step]; 2] {
        let filed = self.filed.get(&tag).map_or(&[][..], |topic| topic);
        let newer = self.newer.topics.get(&tag).map_or(&[][..], Vec::as_slice);
        [filed, newer]
    }
}
