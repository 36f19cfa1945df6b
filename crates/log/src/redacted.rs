//! Which events are redacted: a function of the heads of all events that are held, whatever way they
//! came here.
//!
//! `log.redacted` names single events, and subjects: every event of the memory family about one of
//! these, or about one that was stored under the same name, and every recall that shows one. An
//! event about a subject is spared only when its author knew of the redaction: when the author's own
//! walk held it before.

use std::collections::{HashMap, HashSet};

use crate::chain;
use crate::error::Result;
use crate::log::Log;
use crate::redact::Redacted;
use crate::runs;
use icm_event::facts::{Facts, ImportedRange};
use icm_event::head::Head;
use icm_event::id::{EventId, Name, OriginId, Seq, SubjectId};
use icm_event::kind::Kind;

/// Codes of the families of memories, memoirs and concepts, without the critical bit.
const FAMILIES: std::ops::RangeInclusive<u16> = 0x0100..=0x03ff;

/// The redactions that a set of events holds.
#[derive(Debug, Clone, Default)]
pub struct Redactions {
    singles: HashSet<EventId>,
    /// Where a subject is redacted, and by which event.
    subjects: HashMap<SubjectId, Vec<(OriginId, Seq, EventId)>>,
    /// The memories that were stored under a name, and the names of each.
    named: HashMap<Name, HashSet<SubjectId>>,
    names: HashMap<SubjectId, Vec<Name>>,
    /// What the chains learned of others: from a seq on, these ranges.
    learned: HashMap<OriginId, Vec<(Seq, ImportedRange)>>,
    /// The event that a range ends with, and the chains of which two say another one.
    heads: HashMap<(OriginId, Seq), EventId>,
    forked: HashSet<OriginId>,
    /// What the chains continue.
    continues: HashMap<OriginId, (OriginId, Seq)>,
    spread: bool,
}

impl Redactions {
    /// Whether nothing is redacted.
    pub fn is_empty(&self) -> bool {
        self.singles.is_empty() && self.subjects.is_empty()
    }

    /// Whether all of these are redacted.
    pub(crate) fn cover(&self, singles: &[EventId], subjects: &[SubjectId]) -> bool {
        singles.iter().all(|id| self.singles.contains(id))
            && (subjects.iter()).all(|subject| self.subjects.contains_key(subject))
    }

    /// Takes an event in. All of them have to be taken in before anything is asked.
    pub fn note(&mut self, head: &Head<'_>) {
        let kind = head.kind();
        let told = [
            Kind::MEMORY_STORED,
            Kind::MEMORY_CONSOLIDATED,
            Kind::MEMOIR_CREATED,
            Kind::CONCEPT_ADDED,
            Kind::LOG_REDACTED,
            Kind::LOG_IMPORTED,
            Kind::LOG_ORIGIN_STARTED,
        ];
        if !told.contains(&kind) {
            return;
        }
        let origin = head.origin();
        match Facts::of(head) {
            Ok(Facts::Stored(facts)) => self.name(facts.name, head.subject()),
            Ok(Facts::Consolidated(facts)) => self.name(facts.stored.name, head.subject()),
            Ok(Facts::MemoirCreated(facts)) => self.name(facts.name, head.subject()),
            Ok(Facts::ConceptAdded(facts)) => self.name(facts.name, head.subject()),
            Ok(Facts::Redacted(facts)) => {
                self.singles.extend(head.refs());
                for subject in facts.subjects {
                    let places = self.subjects.entry(subject).or_default();
                    places.push((origin, head.seq(), head.id()));
                }
            }
            Ok(Facts::Imported(facts)) => {
                let learned = self.learned.entry(origin).or_default();
                for range in facts.ranges {
                    let place = (range.origin, range.to_seq);
                    if *self.heads.entry(place).or_insert(range.head) != range.head {
                        self.forked.insert(range.origin);
                    }
                    learned.push((head.seq(), range));
                }
            }
            Ok(Facts::OriginStarted(facts)) => {
                if let Some(older) = facts.continues {
                    self.continues.insert(origin, (older.origin, older.seq));
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, name: Name, subject: SubjectId) {
        if name.is_zero() {
            return;
        }
        if self.named.entry(name).or_default().insert(subject) {
            self.names.entry(subject).or_default().push(name);
        }
    }

    /// Lets every subject share the redactions of those that have a name in common with it.
    pub fn settle(&mut self) {
        let mut open: Vec<SubjectId> = self.subjects.keys().copied().collect();
        while let Some(subject) = open.pop() {
            let places = self.subjects.get(&subject).cloned().unwrap_or_default();
            let names = self.names.get(&subject).cloned().unwrap_or_default();
            for other in names.iter().flat_map(|name| &self.named[name]) {
                let known = self.subjects.entry(*other).or_default();
                let before = known.len();
                for place in &places {
                    if !known.contains(place) {
                        known.push(*place);
                    }
                }
                if known.len() > before {
                    open.push(*other);
                }
            }
        }
        self.spread = true;
    }

    /// Whether an event is redacted.
    pub fn names(&self, head: &Head<'_>, id: EventId) -> bool {
        debug_assert!(self.spread, "redactions are settled before they are asked");
        if self.singles.contains(&id) {
            return true;
        }
        if self.subjects.is_empty() || !FAMILIES.contains(&(head.kind().0 & 0x7fff)) {
            return false;
        }
        let (author, seq) = (head.origin(), head.seq());
        let redacted = |subject: &SubjectId| {
            let places = self.subjects.get(subject);
            places.is_some_and(|places| {
                let mut places = places.iter();
                places.any(|redaction| !self.knew(author, seq, redaction))
            })
        };
        if redacted(&head.subject()) {
            return true;
        }
        match head.kind() {
            Kind::MEMORY_RECALLED => match Facts::of(head) {
                Ok(Facts::Recalled(facts)) => facts.results.iter().any(|shown| redacted(&shown.id)),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether the walk of `author`, before its event `seq`, held a redaction. Of a chain that is
    /// known to branch it is not said which branch was learned: then it did not.
    fn knew(&self, author: OriginId, seq: Seq, redaction: &(OriginId, Seq, EventId)) -> bool {
        let (origin, at, event) = *redaction;
        let covers = |range: &ImportedRange| {
            range.origin == origin
                && (range.from_seq..=range.to_seq).contains(&at)
                && (range.to_seq != at || range.head == event)
                && (range.to_seq == at || !self.forked.contains(&origin))
        };
        let (mut chain, mut before) = (author, seq);
        let mut seen = Vec::new();
        loop {
            if chain == origin && at < before {
                return true;
            }
            let learned = self.learned.get(&chain).into_iter().flatten();
            let mut learned = learned.filter(|(when, ..)| *when < before);
            if learned.any(|(_, range)| covers(range)) {
                return true;
            }
            seen.push(chain);
            match self.continues.get(&chain) {
                Some((older, until)) if !seen.contains(older) => {
                    (chain, before) = (*older, Seq(until.0.saturating_add(1)));
                }
                _ => return false,
            }
        }
    }
}

impl Log {
    /// Every event that a redaction names, of those that are held, by chain.
    ///
    /// # Errors
    /// `NewerFormat` where a newer version wrote what it cannot judge.
    pub fn redacted(&self) -> Result<Redacted> {
        let (disk, dir) = (&*self.disk, &self.dir);
        let origins = chain::origins(disk, dir)?;
        let mut redactions = Redactions::default();
        for origin in &origins {
            runs::runs_of(disk, dir, *origin, None, &mut |_, head, _| {
                redactions.note(head)
            })?;
        }
        let mut named = Redacted::new();
        if redactions.is_empty() {
            return Ok(named);
        }
        redactions.settle();
        for origin in origins {
            runs::runs_of(disk, dir, origin, None, &mut |_, head, id| {
                if redactions.names(head, id) {
                    named.entry(origin).or_default().insert(id);
                }
            })?;
        }
        Ok(named)
    }
}
