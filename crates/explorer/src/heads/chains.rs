//! The chains of the log, from the heads of their events.

use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::Facts;
use icm_log::{ActorId, Event, EventId, Kind, OriginId, Seq, payload};

/// A chain: the events of one origin that this store has learned.
#[derive(Clone)]
pub(crate) struct Chain {
    pub(crate) origin: OriginId,
    pub(crate) events: u64,
    /// Position and time of the newest event.
    pub(crate) newest: (u64, u64),
    /// Seq and id of the last event.
    pub(crate) head: (Seq, EventId),
    /// Position and time of the event with which this store learned the newest ones; `None` in a chain of its own.
    pub(crate) learned: Option<(u64, u64)>,
    /// The program that began the chain.
    pub(crate) program: Option<String>,
    /// The chain that it goes on from, after a restore or a move.
    pub(crate) continues: Option<OriginId>,
    /// Its actors.
    pub(crate) actors: BTreeSet<ActorId>,
    /// Seqs at which a second branch begins.
    pub(crate) branches: Vec<Seq>,
    held: Held,
}

impl Chain {
    fn new(event: &Event<'_>) -> Chain {
        Chain {
            origin: event.head.origin(),
            events: 0,
            newest: (0, 0),
            head: (Seq(0), event.id),
            learned: None,
            program: None,
            continues: None,
            actors: BTreeSet::new(),
            branches: Vec::new(),
            held: Held::default(),
        }
    }

    fn take(&mut self, event: &Event<'_>) {
        let head = &event.head;
        let seq = head.seq();
        self.events += 1;
        self.newest = (event.position.0, head.time().ms());
        if seq >= self.head.0 {
            self.head = (seq, event.id);
        }
        self.actors.insert(head.actor());
        if self.held.take(seq) {
            self.branches.push(seq);
        }
        if head.kind() == Kind::LOG_ORIGIN_STARTED {
            self.program = program(event);
            if let Ok(Facts::OriginStarted(started)) = Facts::of(head) {
                self.continues = started.continues.map(|before| before.origin);
            }
        }
    }
}

/// The seqs of a chain's events, as ranges.
#[derive(Clone, Default)]
struct Held(Vec<(Seq, Seq)>);

impl Held {
    /// Notes a seq. Returns `true` if another branch begins with it.
    fn take(&mut self, seq: Seq) -> bool {
        // The last range is the one that grew last.
        if let Some(last) = self.0.last_mut()
            && seq.0 == last.1.0 + 1
        {
            last.1 = seq;
            return false;
        }
        let is_held = self.0.iter().any(|(from, to)| *from <= seq && seq <= *to);
        self.0.push((seq, seq));
        is_held
    }
}

/// The chains of the events that were taken.
#[derive(Default)]
pub(crate) struct Chains {
    by_origin: BTreeMap<OriginId, Chain>,
    /// Chains whose imported events stand directly before the own event that names them.
    waiting: BTreeSet<OriginId>,
}

impl Chains {
    pub(super) fn take(&mut self, event: &Event<'_>) {
        let origin = event.head.origin();
        let chain = self.by_origin.entry(origin);
        chain.or_insert_with(|| Chain::new(event)).take(event);
        if !event.own {
            self.waiting.insert(origin);
            return;
        }
        let learned = (event.position.0, event.head.time().ms());
        while let Some(origin) = self.waiting.pop_first() {
            if let Some(chain) = self.by_origin.get_mut(&origin) {
                chain.learned = Some(learned);
            }
        }
    }

    /// Returns the chains, those of the newest events first.
    pub(crate) fn list(&self) -> Vec<Chain> {
        let mut chains: Vec<Chain> = self.by_origin.values().cloned().collect();
        chains.sort_by_key(|chain| std::cmp::Reverse(chain.newest));
        chains
    }
}

/// Returns the program that began a chain; `None` if the payload is withheld or damaged.
fn program(event: &Event<'_>) -> Option<String> {
    let payload = payload::to_json(event.body.payload()?)?;
    payload.get("program")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seq_that_comes_twice_begins_a_branch() {
        let branches = |seqs: &[u64]| {
            let mut held = Held::default();
            let begun = seqs.iter().filter(|seq| held.take(Seq(**seq)));
            begun.copied().collect::<Vec<_>>()
        };
        assert_eq!(branches(&[1, 2, 3, 4]), Vec::<u64>::new());
        assert_eq!(branches(&[1, 2, 3, 2, 3, 4]), [2]);
        // Lost events that come back later are no branch.
        assert_eq!(branches(&[1, 2, 5, 6, 3, 4]), Vec::<u64>::new());
        assert_eq!(branches(&[1, 2, 3, 2, 3, 3]), [2, 3]);
    }
}
