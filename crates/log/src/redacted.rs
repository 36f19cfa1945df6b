//! Decides which events are redacted: a function of the heads of all events of the store, in any order of arrival.
//!
//! `log.redacted` names single events, and subjects. A redacted subject covers every event about it, or about a subject
//! that was stored under the same name, every recall that shows it, and every feedback that names it.
//!
//! An event about a subject is spared only if its author knew of the redaction: the author's own walk held the
//! redaction before the event.

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

/// Codes of the families of memories, memoirs, concepts and feedback, without the critical bit.
const FAMILIES: std::ops::RangeInclusive<u16> = 0x0100..=0x04ff;

/// The redactions in a set of events.
#[derive(Debug, Clone, Default)]
pub struct Redactions {
    singles: HashSet<EventId>,
    /// The redactions of each subject.
    subjects: HashMap<SubjectId, Vec<(OriginId, Seq, EventId)>>,
    /// The subjects that were stored under each name.
    named: HashMap<Name, HashSet<SubjectId>>,
    names: HashMap<SubjectId, Vec<Name>>,
    /// The ranges that each chain learned, each with the seq at which it did.
    learned: HashMap<OriginId, Vec<(Seq, ImportedRange)>>,
    /// The event at the end of each range, and the chains for which two ranges name different events in one place.
    heads: HashMap<(OriginId, Seq), EventId>,
    forked: HashSet<OriginId>,
    /// The place from which each chain continues another.
    continues: HashMap<OriginId, (OriginId, Seq)>,
    spread: bool,
}

impl Redactions {
    /// Returns `true` if nothing is redacted.
    pub fn is_empty(&self) -> bool {
        self.singles.is_empty() && self.subjects.is_empty()
    }

    /// Returns `true` if all of these are redacted.
    pub(crate) fn cover(&self, singles: &[EventId], subjects: &[SubjectId]) -> bool {
        singles.iter().all(|id| self.singles.contains(id))
            && (subjects.iter()).all(|subject| self.subjects.contains_key(subject))
    }

    /// Adds an event. All events must be added before the first question.
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

    /// Makes subjects that share a name share their redactions.
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

    /// Returns `true` if an event is redacted.
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
            Kind::FEEDBACK_RECORDED => match Facts::of(head) {
                Ok(Facts::FeedbackRecorded(facts)) => redacted(&facts.memory),
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns `true` if the walk of `author` held a redaction before its event `seq`. In a chain that is known to
    /// branch, a range does not tell which branch was learned; the answer is then `false`.
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
    /// Returns every event of the store that a redaction names, by chain.
    ///
    /// # Errors
    /// `NewerFormat` if a newer version wrote events that this version cannot judge.
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
