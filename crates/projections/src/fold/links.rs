//! Links between memories: an add-wins set of the events that added them.
//!
//! A link holds while its `memory.linked` is in force and no `memory.unlinked` in force names it.
//! Whether its ends are there to be seen is asked when it is shown, so it is no part of the link. One that says
//! `similar_to` of a memory and itself is a confirmation: the memory was stored once more, by whoever wrote it.

use icm_log::facts::{MemoryLinked, Relation};
use icm_log::{
    ActorId, Event, EventId, Kind, OriginId, Position, Seq, SessionId, SubjectId, payload,
};
use serde::{Deserialize, Serialize};

use super::apply::{Applied, Base, Folder, Keep};
use super::record::EntityId;
use super::state_hash::link_digest;
use super::stretches::Stretches;
use super::undos::{InChain, Undos};
use crate::error::Result;

/// A link, with all that became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The event that added it.
    pub event: EventId,
    /// Its position.
    pub position: Position,
    /// Its author.
    pub origin: OriginId,
    /// Its place in the author's chain.
    pub seq: Seq,
    /// Who wrote it.
    pub actor: ActorId,
    /// In which session; zero for none.
    pub session: SessionId,
    /// The memory that it goes out from, as the event names it.
    pub from: SubjectId,
    /// The memory that it goes to, as the event names it.
    pub to: SubjectId,
    /// How the one relates to the other.
    pub relation: Relation,
    /// The relation in words, where there is no code for it.
    pub words: Option<String>,
    /// How alike the texts are, where that was said.
    pub score_ppm: Option<u32>,
    /// Events that take it away, in force or not.
    pub removed_by: Vec<InChain>,
    /// Where it held.
    pub held: Stretches,
}

impl Link {
    fn of(event: &Event<'_>, facts: &MemoryLinked, removed_by: Vec<InChain>) -> Link {
        let bytes = event.body.payload();
        let payload =
            bytes.and_then(|bytes| payload::decode::<payload::MemoryLinked<'_>>(bytes).ok());
        let payload = payload.unwrap_or_default();
        let in_words = facts.relation == Relation::IN_WORDS;
        Link {
            event: event.id,
            position: event.position,
            origin: event.head.origin(),
            seq: event.head.seq(),
            actor: event.head.actor(),
            session: event.head.session(),
            from: event.head.subject(),
            to: facts.other,
            relation: facts.relation,
            words: payload.relation.filter(|_| in_words).map(str::to_owned),
            score_ppm: payload.score_ppm,
            removed_by,
            held: Stretches::default(),
        }
    }

    fn in_chain(&self) -> InChain {
        InChain {
            origin: self.origin,
            seq: self.seq,
            event: self.event,
        }
    }

    /// Whether it holds now.
    pub fn holds(&self) -> bool {
        self.held.is_open()
    }

    /// Whether it held at a position.
    pub fn held_at(&self, position: Position) -> bool {
        self.held.holds(position)
    }

    /// Whether it is in force when these are the undos.
    pub(super) fn counts(&self, undos: &Undos) -> bool {
        let mut removed = self.removed_by.iter();
        !undos.is_undone(&self.in_chain()) && removed.all(|removed| undos.is_undone(removed))
    }
}

impl<K: Keep> Folder<K> {
    /// Every link from or to a memory that there ever was, in the order of positions.
    pub fn links(&self, base: &dyn Base, entity: EntityId) -> Result<Vec<Link>> {
        if self.tally.links + self.tally.concept_links == 0 {
            return Ok(Vec::new());
        }
        let mut links = Vec::new();
        for id in self.ids_of(base, entity)? {
            links.extend(self.kept.links(base, id)?);
        }
        links.sort_by_key(|link: &Link| link.position);
        // One between two ids of the memory stands under both.
        links.dedup_by_key(|link| link.position);
        Ok(links)
    }

    /// Links are kept under the ids that their events name. What those stand for is asked when they
    /// are shown: it may turn out late that two are one memory.
    pub(super) fn linked(
        &mut self,
        base: &dyn Base,
        event: &Event<'_>,
        facts: &MemoryLinked,
        in_force: bool,
    ) -> Result<Applied> {
        let from = event.head.subject();
        self.kept.waits(from, event.position);
        let confirms =
            event.head.kind() == Kind::MEMORY_LINKED && facts.relation == Relation::SIMILAR_TO;
        if from == facts.other && !confirms {
            return Ok(Applied::default());
        }
        match event.head.kind() {
            Kind::CONCEPT_LINKED => self.tally.concept_links += 1,
            _ => self.tally.links += 1,
        }
        let removed_by = match event.own {
            // Nobody knew of it before.
            true => Vec::new(),
            false => self.kept.unlinks(base, event.id)?,
        };
        let mut removed = removed_by.iter();
        let holds = in_force && removed.all(|removed| self.is_undone(removed));
        let link = Link::of(event, facts, removed_by);
        self.turn_link(link, false, holds, event.position);
        Ok(Applied::default())
    }

    pub(super) fn unlinked(
        &mut self,
        base: &dyn Base,
        event: &Event<'_>,
        in_force: bool,
    ) -> Result<Applied> {
        self.kept.waits(event.head.subject(), event.position);
        let by = InChain::of(event);
        for named in event.head.refs() {
            let Some(mut link) = self.kept.link_of(base, named)? else {
                self.kept.unlinks_later(named, by, in_force);
                continue;
            };
            link.removed_by.push(by);
            let held = link.holds();
            self.turn_link(link, held, held && !in_force, event.position);
        }
        Ok(Applied::default())
    }

    /// Keeps a link that held or not and holds or not from a position on.
    pub(super) fn turn_link(
        &mut self,
        mut link: Link,
        held: bool,
        holds: bool,
        position: Position,
    ) {
        if held != holds {
            link.held.turn(holds, position);
            match holds {
                true => self.tally.sum.add(link_digest(&link)),
                false => self.tally.sum.remove(link_digest(&link)),
            }
        }
        self.kept.link(link);
    }
}
