//! Folds a memory from all its events at once, in an order that depends on the events alone. The row is therefore the
//! same for every order of learning.
//!
//! The order follows the refs: an event comes after the events that it names, and after the earlier events of its own
//! command. Among the events that may come next, the one with the least stamp does. A write beats every write that it
//! reaches through refs, however long the way.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::path::Path;
use std::sync::Arc;

use icm_log::facts::Facts;
use icm_log::head::Head;
use icm_log::record::Body;
use icm_log::{Event, EventId, Place, Position, Seq};
use rustc_hash::{FxHashMap, FxHashSet};

use super::memory::{self, Seen, stamp_of};
use super::record::{Stamp, Version};
use super::texts::Texts;

/// An event about a memory, kept until the memory is folded.
#[derive(Debug)]
pub(super) struct Held {
    /// Shared by all the memories that the event speaks of, which may be thousands.
    head: Arc<[u8]>,
    payload: Option<Arc<[u8]>>,
    id: EventId,
    position: Position,
    own: bool,
    /// The facts about the memory: a summary may cover two ids of one memory.
    parts: Vec<Facts>,
    in_force: bool,
}

impl Held {
    /// Returns a held event without facts.
    pub(super) fn of(event: &Event<'_>, in_force: bool) -> Held {
        Held {
            head: event.head.bytes().into(),
            payload: event.body.payload().map(Arc::from),
            id: event.id,
            position: event.position,
            own: event.own,
            parts: Vec::new(),
            in_force,
        }
    }

    /// Returns the same event with its facts about one memory.
    pub(super) fn saying(&self, parts: Vec<Facts>) -> Held {
        Held {
            head: self.head.clone(),
            payload: self.payload.clone(),
            parts,
            ..*self
        }
    }

    fn event(&self) -> Event<'_> {
        Event {
            head: Head::parse(&self.head).expect("it was parsed before it was kept"),
            id: self.id,
            position: self.position,
            body: match &self.payload {
                Some(payload) => Body::Present { salt: &[], payload },
                None => Body::Withheld,
            },
            place: Place {
                path: Path::new(""),
                segment: Seq(0),
                offset: 0,
                len: 0,
            },
            own: self.own,
        }
    }
}

/// Returns the row of a memory from all its known events; `None` if no event stores the memory. The caller sets the
/// event that made the version.
pub(super) fn fold_all<X: Texts>(texts: &mut X, held: &[Held]) -> Option<Version<X::Text>> {
    let events: Vec<Event<'_>> = held.iter().map(Held::event).collect();
    let before = named_by(&events);
    let mut row: Option<Version<X::Text>> = None;
    let mut heads = BTreeSet::new();
    // For each writer that still holds a field: its id, and the events that reach it.
    let mut reached: Vec<(EventId, FxHashSet<usize>)> = Vec::new();
    let stamps: Vec<Stamp> = events.iter().map(stamp_of).collect();
    for at in canonical_order(&stamps, &before) {
        let (event, held) = (&events[at], &held[at]);
        let mut seen = Vec::new();
        for (writer, reaching) in &mut reached {
            if before[at].iter().any(|named| reaching.contains(named)) {
                reaching.insert(at);
                seen.push(*writer);
            }
        }
        for facts in &held.parts {
            let seen = Seen::Only(&seen);
            row = memory::next(texts, event, facts, row.as_ref(), seen, held.in_force).or(row);
        }
        let writers = row.as_ref().map_or(&[][..], |row| &row.writers);
        reached.retain(|(event, _)| writers.iter().any(|writer| writer.stamp.event == *event));
        let writes = writers.iter().any(|writer| writer.stamp.event == event.id);
        if writes && reached.iter().all(|(writer, _)| *writer != event.id) {
            reached.push((event.id, FxHashSet::from_iter([at])));
        }
        before[at].iter().for_each(|named| {
            heads.remove(&events[*named].id);
        });
        heads.insert(event.id);
    }
    let mut row = row?;
    row.heads = heads.into_iter().collect();
    show_largest(texts, &mut row, held, &events);
    Some(row)
}

/// Returns for each event the events that precede it: those that it names, and the earlier events of its command.
fn named_by(events: &[Event<'_>]) -> Vec<Vec<usize>> {
    let places: FxHashMap<EventId, usize> = events.iter().map(|event| event.id).zip(0..).collect();
    let mut named: Vec<Vec<usize>> = Vec::with_capacity(events.len());
    for event in events {
        let refs = event.head.refs();
        named.push(refs.filter_map(|id| places.get(&id).copied()).collect());
    }
    let command = |at: usize| (events[at].head.origin(), events[at].head.command());
    let mut by_command: Vec<usize> = (0..events.len()).collect();
    by_command.sort_unstable_by_key(|at| (command(*at), events[*at].head.seq()));
    for pair in by_command.windows(2) {
        let in_order = events[pair[0]].head.seq() < events[pair[1]].head.seq();
        if in_order && command(pair[0]) == command(pair[1]) {
            named[pair[1]].push(pair[0]);
        }
    }
    for named in &mut named {
        named.sort_unstable();
        named.dedup();
    }
    named
}

/// Returns the order in which events are folded on every machine: each after the events that it names (`before`, by
/// index), else by stamp. Events that name one another in a circle, which only a forger can write, are left out.
pub fn canonical_order(stamps: &[Stamp], before: &[Vec<usize>]) -> Vec<usize> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); stamps.len()];
    let mut missing: Vec<usize> = Vec::with_capacity(stamps.len());
    let mut free: BinaryHeap<Reverse<(Stamp, usize)>> = BinaryHeap::new();
    for (at, named) in before.iter().enumerate() {
        missing.push(named.len());
        named.iter().for_each(|named| after[*named].push(at));
        if named.is_empty() {
            free.push(Reverse((stamps[at], at)));
        }
    }
    let mut order = Vec::with_capacity(stamps.len());
    while let Some(Reverse((_, at))) = free.pop() {
        order.push(at);
        for next in &after[at] {
            missing[*next] -= 1;
            if missing[*next] == 0 {
                free.push(Reverse((stamps[*next], *next)));
            }
        }
    }
    order
}

/// Shows the value of the largest stamp in each field with several writers. During the fold, another writer may have
/// beaten that one without beating the others.
fn show_largest<X: Texts>(
    texts: &mut X,
    row: &mut Version<X::Text>,
    held: &[Held],
    events: &[Event<'_>],
) {
    if row.writers.len() < 2 {
        return;
    }
    let mut writers = row.writers.clone();
    writers.sort_unstable_by_key(|writer| writer.stamp);
    for writer in writers {
        let at = events
            .iter()
            .position(|event| event.id == writer.stamp.event);
        for facts in at.iter().flat_map(|at| &held[*at].parts) {
            memory::show(texts, row, writer.fields, &events[at.unwrap_or(0)], facts);
        }
    }
}
