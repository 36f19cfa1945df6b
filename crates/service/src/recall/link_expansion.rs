//! The effect of links on the results of a recall. A superseded memory stands behind the memory that supersedes it,
//! memories that contradict each other stand together, and related memories come last.

use std::collections::BTreeMap;

use icm_log::{Position, SubjectId};
use icm_projections::Views;
use icm_projections::fold::Version;

use crate::memory::expiry::Expired;
use crate::memory::link::{Linked, Links};
use crate::recall::scopes::Scopes;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::ids::id_text;
use icm_api::{Direction, RecallHit, Via};

const SUPERSEDES: &str = "supersedes";
const CONTRADICTS: &str = "contradicts";
/// Relations that are followed from the best results to other memories.
const EXPANDED: [&str; 3] = ["related", "derived_from", "co_recalled"];
/// Best results from which relations are followed. Raised, more related memories are added.
const EXPAND_FROM: usize = 5;
/// The most `supersedes` links that are followed from a result. Raised, long chains cost more reads.
const CHAIN_MAX: usize = 64;

/// A result with its links.
pub(crate) struct Shown {
    pub(crate) hit: RecallHit,
    /// The id that the memory is shown under.
    pub(crate) id: SubjectId,
    pub(crate) linked: Vec<Linked>,
    /// Its place among the hits of the search, from 0; `None` for a memory that a link brought in.
    pub(crate) found: Option<usize>,
}

impl Shown {
    fn ends(&self, relation: &str, direction: Option<Direction>) -> impl Iterator<Item = &Linked> {
        self.linked.iter().filter(move |linked| {
            linked.related.relation == relation
                && direction.is_none_or(|wanted| linked.related.direction == wanted)
        })
    }
}

/// A recall whose results are ordered by links: its views, basis, scopes and conditions.
pub(crate) struct LinkExpansion<'a> {
    pub(crate) service: &'a Service,
    pub(crate) views: &'a Views,
    pub(crate) position: Position,
    pub(crate) scopes: &'a Scopes,
    pub(crate) expired: &'a Expired<'a>,
    /// Returns `true` if a memory meets every condition of the recall.
    pub(crate) passes: &'a dyn Fn(&Version) -> bool,
    /// Results that are shown at most.
    pub(crate) limit: usize,
}

/// Results while their order is decided.
struct Order {
    shown: Vec<Shown>,
    /// The index in `shown` by memory id.
    at: BTreeMap<String, usize>,
    /// The order, as far as it is decided.
    placed: Vec<usize>,
    /// `true` for a result whose place is decided or being decided. A circle of links ends there.
    begun: Vec<bool>,
    /// Memories that may still be brought in because they supersede or contradict a hit.
    room: usize,
}

impl LinkExpansion<'_> {
    /// Returns the hits in the order that links give them, with the memories that links bring in, `limit` at most.
    pub(crate) fn apply(&self, hits: Vec<Shown>) -> QueryResult<Vec<Shown>> {
        let found = hits.len();
        let mut order = Order {
            at: (0..)
                .zip(&hits)
                .map(|(at, shown)| (shown.hit.memory.id.clone(), at))
                .collect(),
            begun: vec![false; found],
            placed: Vec::with_capacity(found),
            shown: hits,
            room: self.limit.div_ceil(3),
        };
        for at in 0..found {
            self.place(&mut order, at)?;
        }
        order.placed.truncate(self.limit);
        self.expand(&mut order)?;
        let mut shown: Vec<Option<Shown>> = order.shown.into_iter().map(Some).collect();
        let placed = order.placed.into_iter();
        let mut shown: Vec<Shown> = placed.filter_map(|at| shown[at].take()).collect();
        say_what_links_say(&mut shown);
        Ok(shown)
    }

    /// Places a result behind the memories that supersede it, and the memories that contradict it behind it.
    fn place(&self, order: &mut Order, at: usize) -> QueryResult<()> {
        if std::mem::replace(&mut order.begun[at], true) {
            return Ok(());
        }
        for better in self.superseding(order, at)? {
            self.place(order, better)?;
        }
        order.placed.push(at);
        let others: Vec<Linked> = order.shown[at].ends(CONTRADICTS, None).cloned().collect();
        for other in others {
            if let Some(other) = self.bring_to_tell(order, &other.other, CONTRADICTS, at)? {
                self.place(order, other)?;
            }
        }
        Ok(())
    }

    /// Returns the results that supersede a result. If none of the hits does, the last memory at the end of the newest
    /// links is brought in.
    fn superseding(&self, order: &mut Order, at: usize) -> QueryResult<Vec<usize>> {
        let ids = |shown: &Shown| -> Vec<String> {
            let ends = shown.ends(SUPERSEDES, Some(Direction::In));
            ends.map(|linked| linked.related.id.clone()).collect()
        };
        let direct = ids(&order.shown[at]);
        let known: Vec<usize> = direct
            .iter()
            .filter_map(|id| order.at.get(id).copied())
            .collect();
        if direct.is_empty() || !known.is_empty() {
            return Ok(known);
        }
        let mut path = vec![order.shown[at].hit.memory.id.clone()];
        let newest = |linked: &[Linked], path: &[String]| {
            let better = linked.iter().filter(|linked| {
                let related = &linked.related;
                related.relation == SUPERSEDES
                    && related.direction == Direction::In
                    && !path.contains(&related.id)
            });
            let better = better.max_by(|a, b| a.related.id.cmp(&b.related.id));
            better.map(|linked| linked.other.clone())
        };
        let mut next = newest(&order.shown[at].linked, &path);
        let mut last = None;
        while let Some(better) = next.filter(|_| path.len() < CHAIN_MAX) {
            let id = id_text(better.id);
            if let Some(known) = order.at.get(&id) {
                return Ok(vec![*known]);
            }
            path.push(id);
            next = newest(&self.links(&better)?.others, &path);
            if (self.passes)(&better) {
                last = Some(better);
            }
        }
        let Some(last) = last else {
            return Ok(Vec::new());
        };
        let brought = self.bring_to_tell(order, &last, SUPERSEDES, at)?;
        Ok(brought.into_iter().collect())
    }

    /// Returns the place of a memory that supersedes or contradicts a result. It is brought in if there is room.
    fn bring_to_tell(
        &self,
        order: &mut Order,
        version: &Version,
        relation: &str,
        from: usize,
    ) -> QueryResult<Option<usize>> {
        if let Some(known) = order.at.get(&id_text(version.id)) {
            return Ok(Some(*known));
        }
        if order.room == 0 || !(self.passes)(version) {
            return Ok(None);
        }
        order.room -= 1;
        let links = self.links(version)?;
        self.bring(order, version, links, relation, from, false)
            .map(Some)
    }

    fn bring(
        &self,
        order: &mut Order,
        version: &Version,
        links: Links,
        relation: &str,
        from: usize,
        expanded: bool,
    ) -> QueryResult<usize> {
        let memory = self
            .service
            .memory_with(self.views, version, &links, self.position)?;
        let at = order.shown.len();
        order.at.insert(memory.id.clone(), at);
        order.begun.push(false);
        order.shown.push(Shown {
            hit: RecallHit {
                elsewhere: self.scopes.is_elsewhere(&memory.scope),
                via: Some(Via {
                    relation: relation.to_owned(),
                    from: order.shown[from].hit.memory.id.clone(),
                }),
                expanded,
                ..RecallHit::of(memory)
            },
            id: version.id,
            linked: links.others,
            found: None,
        });
        Ok(at)
    }

    /// Adds memories that are related to the best hits, if there is room: a third of the results at most.
    fn expand(&self, order: &mut Order) -> QueryResult<()> {
        let mut room = (self.limit - order.placed.len()).min(self.limit / 3);
        let best = order.placed.iter().copied().take(EXPAND_FROM);
        for from in best.collect::<Vec<_>>() {
            let relations = EXPANDED.iter();
            let ends = relations.flat_map(|relation| order.shown[from].ends(relation, None));
            for end in ends.cloned().collect::<Vec<_>>() {
                if room == 0 {
                    return Ok(());
                }
                if order.at.contains_key(&end.related.id) || !(self.passes)(&end.other) {
                    continue;
                }
                let links = self.links(&end.other)?;
                if links.is_superseded() {
                    continue;
                }
                let relation = &end.related.relation;
                let at = self.bring(order, &end.other, links, relation, from, true)?;
                order.placed.push(at);
                room -= 1;
            }
        }
        Ok(())
    }

    pub(super) fn links(&self, version: &Version) -> QueryResult<Links> {
        let sees =
            |other: &Version| self.scopes.sees(&other.scope_text()) && !self.expired.hides(other);
        self.service
            .links_of(self.views, version, self.position, &sees)
    }
}

/// Names in each result the memories that supersede and contradict it.
fn say_what_links_say(shown: &mut [Shown]) {
    let ids: Vec<String> = shown
        .iter()
        .map(|shown| shown.hit.memory.id.clone())
        .collect();
    // A memory that was brought in for another one supersedes it, however many links away.
    let stands_for: BTreeMap<String, String> = (shown.iter())
        .filter_map(|shown| Some((shown.hit.via.as_ref()?, &shown.hit.memory.id)))
        .filter(|(via, _)| via.relation == SUPERSEDES)
        .map(|(via, id)| (via.from.clone(), id.clone()))
        .collect();
    for shown in shown {
        let better: Vec<&String> = shown
            .ends(SUPERSEDES, Some(Direction::In))
            .map(|linked| &linked.related.id)
            .collect();
        let known = better.iter().filter(|id| ids.contains(id)).max().copied();
        let stands = stands_for
            .get(&shown.hit.memory.id)
            .filter(|_| !better.is_empty());
        let superseded_by = known.or(stands).or(better.iter().max().copied()).cloned();
        let mut contradicts: Vec<String> = shown
            .ends(CONTRADICTS, None)
            .map(|linked| linked.related.id.clone())
            .collect();
        // Both memories may say it of each other; each is named once.
        contradicts.sort_unstable();
        contradicts.dedup();
        shown.hit.superseded_by = superseded_by;
        shown.hit.contradicts = contradicts;
    }
}
