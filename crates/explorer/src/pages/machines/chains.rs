//! The chains of the log up to a moment, from the heads of its events.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use icm_api::error::Result;
use icm_log::facts::Facts;
use icm_log::{ActorId, Cursor, Event, EventId, Kind, OriginId, Seq, payload};

use crate::Explorer;

/// A chain: the events of one origin that this store had learned at a moment.
pub(super) struct Chain {
    pub(super) origin: OriginId,
    pub(super) events: u64,
    /// Position and time of the newest event.
    pub(super) newest: (u64, u64),
    /// Seq and id of the last event.
    pub(super) head: (Seq, EventId),
    /// Position and time of the event with which this store learned the newest ones; `None` in a chain of its own.
    pub(super) learned: Option<(u64, u64)>,
    /// The program that began the chain.
    pub(super) program: Option<String>,
    /// The chain that it goes on from, after a restore or a move.
    pub(super) continues: Option<OriginId>,
    /// Names of its actors.
    pub(super) actors: BTreeSet<String>,
    /// Seqs at which a second branch begins.
    pub(super) branches: Vec<Seq>,
    held: Held,
    writers: BTreeSet<ActorId>,
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
            writers: BTreeSet::new(),
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
        self.writers.insert(head.actor());
        if self.held.take(seq) {
            self.branches.push(seq);
        }
        if head.kind() == Kind::LOG_ORIGIN_STARTED {
            self.program = text(event, "program");
            if let Ok(Facts::OriginStarted(started)) = Facts::of(head) {
                self.continues = started.continues.map(|before| before.origin);
            }
        }
    }
}

/// The seqs of a chain's events, as ranges.
#[derive(Default)]
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

/// Returns the chains of the events up to a position, those of the newest events first. Reads the heads of all these
/// events.
///
/// # Errors
/// If the log cannot be read.
pub(super) fn chains(explorer: &Explorer, until: u64) -> Result<Vec<Chain>> {
    let mut chains: BTreeMap<OriginId, Chain> = BTreeMap::new();
    let mut names: BTreeMap<ActorId, String> = BTreeMap::new();
    // Imported events stand directly before the own event that names them.
    let mut waiting: BTreeSet<OriginId> = BTreeSet::new();
    let log = explorer.service.log_handle();
    log.scan(&Cursor::START, &mut |event| {
        if event.position.0 > until {
            return ControlFlow::Break(());
        }
        let origin = event.head.origin();
        let chain = chains.entry(origin).or_insert_with(|| Chain::new(event));
        chain.take(event);
        if event.head.kind() == Kind::LOG_ACTOR_NAMED
            && let Some(name) = text(event, "name")
        {
            names.insert(ActorId(event.head.subject().0), name);
        }
        match event.own {
            false => _ = waiting.insert(origin),
            true => {
                let learned = (event.position.0, event.head.time().ms());
                for origin in std::mem::take(&mut waiting) {
                    if let Some(chain) = chains.get_mut(&origin) {
                        chain.learned = Some(learned);
                    }
                }
            }
        }
        ControlFlow::Continue(())
    })?;
    let mut chains: Vec<Chain> = chains.into_values().collect();
    for chain in &mut chains {
        let named = chain.writers.iter().filter_map(|writer| names.get(writer));
        chain.actors = named.cloned().collect();
    }
    chains.sort_by_key(|chain| std::cmp::Reverse(chain.newest));
    Ok(chains)
}

/// Returns a text of an event's payload; `None` if the payload is withheld or damaged.
fn text(event: &Event<'_>, name: &str) -> Option<String> {
    let payload = payload::to_json(event.body.payload()?)?;
    payload.get(name)?.as_str().map(str::to_owned)
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
