//! The runs of a chain: consecutive events in the files, each naming the one before. A whole chain is one run. Another
//! run starts where events are missing, and where the chain branches.

use std::path::{Path, PathBuf};

use crate::chain;
use crate::disk::Disk;
use crate::error::{LogError, Result};
use crate::scan::{SegmentScan, Step};
use icm_event::facts::Hole;
use icm_event::head::{Head, HeadError};
use icm_event::id::{EventId, OriginId, Seq};
use icm_event::record::Record;
use icm_event::segment::HEADER_LEN;

/// Consecutive events of one chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// Id of the event before the first one; zero at the start of the chain.
    pub(crate) base: EventId,
    /// Seq of the first event.
    pub(crate) from_seq: Seq,
    pub(crate) ids: Vec<EventId>,
    /// Places of the records, in order.
    pub(crate) parts: Vec<RunPart>,
    whole: Whole,
}

/// The part of a run up to its last whole batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Whole {
    events: usize,
    parts: usize,
    /// Offset of the end in the last of these parts, in bytes.
    end: u64,
}

/// A part of a file with records back to back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunPart {
    pub(crate) path: PathBuf,
    /// Offsets in bytes.
    pub(crate) start: u64,
    pub(crate) end: u64,
}

impl Run {
    /// Returns the seq of the last event.
    pub(crate) fn to_seq(&self) -> Seq {
        Seq(self.from_seq.0 + self.ids.len() as u64 - 1)
    }

    /// Returns the id of the last event.
    pub(crate) fn head(&self) -> EventId {
        *self.ids.last().expect("a run has an event")
    }

    /// Returns the id of the event at `seq`, if the run contains it.
    pub(crate) fn id_at(&self, seq: Seq) -> Option<EventId> {
        let index = seq.0.checked_sub(self.from_seq.0)?;
        self.ids.get(usize::try_from(index).ok()?).copied()
    }

    /// Returns the ids of the run's events between two seqs, both included.
    pub(crate) fn ids_between(&self, from: Seq, to: Seq) -> &[EventId] {
        let place = |seq: u64| usize::try_from(seq.saturating_sub(self.from_seq.0));
        let len = self.ids.len();
        let from = place(from.0).map_or(len, |from| from.min(len));
        let to = place(to.0.saturating_add(1)).map_or(len, |to| to.min(len));
        self.ids.get(from..to).unwrap_or_default()
    }

    /// Returns the run without the events of an incomplete batch at its end; `None` if no event is left.
    pub(crate) fn trimmed(mut self) -> Option<Run> {
        self.ids.truncate(self.whole.events);
        self.parts.truncate(self.whole.parts);
        if let Some(part) = self.parts.last_mut() {
            part.end = self.whole.end;
        }
        (!self.ids.is_empty()).then_some(self)
    }
}

/// Returns the runs of a chain up to `until`, sorted by first seq, base, first event. Hands out every event while
/// reading. After a record that cannot be read, the rest of the segment is skipped.
///
/// # Errors
/// `NewerFormat` if a newer version wrote a record.
pub(crate) fn runs_of(
    disk: &dyn Disk,
    store: &Path,
    origin: OriginId,
    until: Option<Seq>,
    each: &mut dyn FnMut(&Record<'_>, &Head<'_>, EventId),
) -> Result<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    for segment in chain::segments(disk, store, origin)? {
        let path = &segment.path;
        let mut scan = SegmentScan::open(disk, path, HEADER_LEN as u64, u64::MAX)?;
        let mut current: Option<usize> = None;
        loop {
            let (offset, record, id) = match scan.step()? {
                Step::Record { offset, record, id } => (offset, record, id),
                Step::End | Step::Bad { .. } => break,
                Step::Newer { .. } => return Err(newer("a record")),
            };
            if until.is_some_and(|until| record.seq() > until) {
                break;
            }
            let head = match record.parse_head() {
                Ok(head) => head,
                Err(HeadError::Length { .. }) => break,
                Err(error) => return Err(newer(&error.to_string())),
            };
            if !record.is_of(origin) {
                break;
            }
            let (seq, prev) = (head.seq(), head.prev());
            // An event that lies in the files twice counts once.
            if runs.iter().any(|run| run.id_at(seq) == Some(id)) {
                current = None;
                continue;
            }
            each(&record, &head, id);
            let goes_on = |run: &Run| run.to_seq().0 + 1 == seq.0 && run.head() == prev;
            let index = match current.filter(|index| goes_on(&runs[*index])) {
                Some(index) => index,
                None => runs.iter().position(goes_on).unwrap_or_else(|| {
                    runs.push(Run {
                        base: prev,
                        from_seq: seq,
                        ids: Vec::new(),
                        parts: Vec::new(),
                        whole: Whole::default(),
                    });
                    runs.len() - 1
                }),
            };
            let run = &mut runs[index];
            let end = offset + record.bytes.len() as u64;
            match run.parts.last_mut() {
                Some(part) if part.path == *path && part.end == offset => part.end = end,
                _ => run.parts.push(RunPart {
                    path: path.clone(),
                    start: offset,
                    end,
                }),
            }
            run.ids.push(id);
            if head.batch_index() + 1 == head.batch_count() {
                run.whole = Whole {
                    events: run.ids.len(),
                    parts: run.parts.len(),
                    end,
                };
            }
            current = Some(index);
        }
    }
    runs.sort_by_key(|run| (run.from_seq, run.base, run.ids[0]));
    Ok(runs)
}

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Index of the run.
    pub(crate) run: usize,
    /// Seq of the first event.
    pub(crate) from: Seq,
    /// Seq of the last event.
    pub(crate) to: Seq,
}

/// Returns the stretches that lead from event `from` to event `head` at `to`, newest first. Skips missing events.
pub(crate) fn leading_to(runs: &[Run], from: Seq, to: Seq, head: EventId) -> Vec<Stretch> {
    let (mut to, mut head) = (to, head);
    let mut found = Vec::new();
    while to >= from {
        let on_branch = runs.iter().position(|run| run.id_at(to) == Some(head));
        let before_hole = || {
            let ends = (0..runs.len()).filter(|index| runs[*index].to_seq() <= to);
            ends.max_by_key(|index| runs[*index].to_seq())
        };
        let Some(index) = on_branch.or_else(before_hole) else {
            break;
        };
        let run = &runs[index];
        let last = run.to_seq().min(to);
        if last < from {
            break;
        }
        found.push(Stretch {
            run: index,
            from: from.max(run.from_seq),
            to: last,
        });
        (to, head) = (Seq(run.from_seq.0 - 1), run.base);
    }
    found
}

/// Keeps the runs that can be reached from the start of the chain, over events that are there and holes that a repair
/// explains.
pub(crate) fn connected(runs: Vec<Run>, origin: OriginId, holes: &[Hole]) -> Vec<Run> {
    let mut kept: Vec<Run> = Vec::new();
    for run in runs {
        let before = run.from_seq.0.checked_sub(1);
        let joins = run.from_seq == Seq(1)
            || kept
                .iter()
                .any(|kept| before.and_then(|seq| kept.id_at(Seq(seq))) == Some(run.base));
        let explained = |hole: &Hole| {
            let reached = |kept: &Run| kept.to_seq().0 + 1 >= hole.from_seq.0;
            bridges(hole, origin, run.from_seq, run.ids[0])
                && (hole.last_good.is_zero() || kept.iter().any(reached))
        };
        if joins || holes.iter().any(explained) {
            kept.push(run);
        }
    }
    kept
}

/// Returns `true` if a repair lets a chain continue with this event although the events before it are missing. Events
/// that came back may have made the hole smaller.
pub(crate) fn bridges(hole: &Hole, origin: OriginId, seq: Seq, event: EventId) -> bool {
    let next = hole.to_seq.0.saturating_add(1);
    hole.origin == origin
        && hole.from_seq <= seq
        && seq.0 <= next
        && (seq.0 < next || hole.next_good == event || hole.next_good.is_zero())
}

fn newer(what: &str) -> LogError {
    LogError::NewerFormat {
        what: format!("a newer version of icm wrote {what}"),
    }
}
