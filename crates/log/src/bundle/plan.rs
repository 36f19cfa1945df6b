//! The plan of an export: the parts of chains that it holds, in any output format.

use super::ChainRange;
use crate::chain;
use crate::disk::OpenMode;
use crate::error::{Result, at};
use crate::log::Log;
use crate::redacted::Redactions;
use crate::runs::{self, Run};
use crate::walk::Walked;
use icm_event::facts::{Facts, Hole};
use icm_event::head::Head;
use icm_event::id::{EventId, OriginId, Position, Seq};
use icm_event::kind::Kind;

/// The parts of the chains of this store that `since` does not name.
pub(super) struct Plan {
    /// The chains, in the order of a bundle.
    pub(super) chains: Vec<(OriginId, Vec<Part>)>,
    /// The redactions known here. An event that they name is exported without its body, even if this store has not
    /// blanked it yet.
    pub(super) redactions: Redactions,
    /// Number of redactions that are known here, exported or not.
    pub(super) redacted: u64,
    /// See [`Exported::incomplete`](super::Exported::incomplete).
    pub(super) incomplete: Vec<OriginId>,
}

/// A part of a run.
pub(super) struct Part {
    pub(super) run: Run,
    /// First and last seq of each stretch.
    pub(super) stretches: Vec<(Seq, Seq)>,
}

impl Log {
    /// Returns the plan of an export. Makes the own chain durable first.
    pub(super) fn export_plan(&self, since: &Since) -> Result<Plan> {
        self.refresh()?;
        if let Some(refusal) = self.refusal() {
            return Err(refusal.to_error(&self.dir));
        }
        let mut chains = Vec::new();
        let mut holes = Vec::new();
        let (mut redactions, mut redacted) = (Redactions::default(), 0);
        let mut wanted = Wanted::default();
        let mut known = Known::of(since);
        let parts = self.lock_state().parts.clone();
        for part in &parts {
            let until = part.until.map(|until| (part.origin, until, part.event));
            wanted.0.extend(until);
        }
        wanted
            .0
            .extend((self.tip()).map(|tip| (tip.origin, tip.seq, tip.event)));
        let walked = Walked::of(&*self.disk, &self.dir, &parts)?;
        let own = |head: &Head<'_>, id| walked.has(head.origin(), head.seq(), id);
        for origin in chain::origins(&*self.disk, &self.dir)? {
            let until = self.durable_until(origin)?;
            let runs = runs::runs_of(&*self.disk, &self.dir, origin, until, &mut |_, head, id| {
                redactions.note(head);
                redacted += u64::from(head.kind() == Kind::LOG_REDACTED);
                known.note(head, id, own(head, id));
                if ![Kind::LOG_REPAIRED, Kind::LOG_IMPORTED].contains(&head.kind()) {
                    return;
                }
                match Facts::of(head) {
                    Ok(Facts::Repaired(facts)) => holes.extend(facts.holes),
                    Ok(Facts::Imported(facts)) if own(head, id) => {
                        let heads = facts.ranges.iter();
                        wanted
                            .0
                            .extend(heads.map(|it| (it.origin, it.to_seq, it.head)));
                    }
                    _ => {}
                }
            })?;
            chains.push((origin, runs));
        }
        redactions.settle();
        let chains = chains.into_iter().map(|(origin, runs)| {
            let runs = runs::connected(runs, origin, &holes);
            wanted.found(origin, &runs);
            (origin, parts_of(origin, runs, &known))
        });
        Ok(Plan {
            chains: chains.collect(),
            redactions,
            redacted,
            incomplete: wanted.missing(&holes),
        })
    }

    /// Makes the chain that this store writes durable, and returns its newest seq. An importer must not know more than
    /// this store does after a power cut. Returns `None` for every other chain.
    fn durable_until(&self, origin: OriginId) -> Result<Option<Seq>> {
        if self.origin() != Some(origin) {
            return Ok(None);
        }
        let place = self.lock_state().tip.clone();
        let Some(place) = place.filter(|place| place.tip.origin == origin) else {
            return Ok(Some(Seq(0)));
        };
        let path = &place.segment.path;
        let file = self.disk.open(path, OpenMode::Read);
        let file = file.map_err(at("opening", path))?;
        file.sync().map_err(at("syncing", path))?;
        Ok(Some(place.tip.seq))
    }
}

fn parts_of(origin: OriginId, runs: Vec<Run>, known: &Known) -> Vec<Part> {
    let last = runs.iter().map(|run| run.from_seq).max();
    let whole = runs.into_iter().filter_map(|run| {
        // Only a batch before a hole may lack its end.
        let run = match Some(run.to_seq()) < last {
            true => run,
            false => run.trimmed()?,
        };
        let stretches = known.lacking_of(origin, &run);
        Some(Part { run, stretches })
    });
    whole.collect()
}

/// The events that the receiver of an export already has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Since {
    /// No events.
    #[default]
    Start,
    /// The events of these ranges. A range whose last event is not in this store is ignored.
    Ranges(Vec<ChainRange>),
    /// The events that this machine had written or learned at this position.
    Position(Position),
}

/// The events that the receiver is known to have.
struct Known {
    ranges: Vec<ChainRange>,
    /// Ranges of the chains that this store wrote.
    own: Vec<ChainRange>,
    position: Position,
}

impl Known {
    fn of(since: &Since) -> Known {
        let (ranges, position) = match since {
            Since::Start => (Vec::new(), Position(0)),
            Since::Ranges(ranges) => (ranges.clone(), Position(0)),
            Since::Position(position) => (Vec::new(), *position),
        };
        Known {
            ranges,
            own: Vec::new(),
            position,
        }
    }

    /// Adds the events that this machine wrote or learned up to the position.
    fn note(&mut self, head: &Head<'_>, id: EventId, own: bool) {
        if !own || head.position() > self.position {
            return;
        }
        // Own chains come one after another, each in the order of its events.
        let reached = ChainRange::up_to(head.origin(), head.seq(), id);
        match self.own.last_mut() {
            Some(last) if last.origin == reached.origin => *last = reached,
            _ => self.own.push(reached),
        }
        if let Ok(Facts::Imported(facts)) = Facts::of(head) {
            let ranges = facts.ranges.iter();
            let ranges = ranges.map(|it| ChainRange::up_to(it.origin, it.to_seq, it.head));
            self.ranges.extend(ranges);
        }
    }

    /// Returns the first and the last seq of each stretch of a run that the receiver may lack.
    fn lacking_of(&self, origin: OriginId, run: &Run) -> Vec<(Seq, Seq)> {
        let within = |range: &&ChainRange| {
            let is_held = || run.id_at(range.to_seq) == Some(range.head);
            range.origin == origin && range.from_seq <= range.to_seq && is_held()
        };
        let known = self.ranges.iter().chain(&self.own).filter(within);
        let mut known: Vec<(Seq, Seq)> = known.map(|it| (it.from_seq, it.to_seq)).collect();
        known.sort_unstable();
        let (mut next, mut lacking) = (run.from_seq, Vec::new());
        for (from_seq, to_seq) in known {
            if from_seq > next {
                lacking.push((next, Seq(from_seq.0 - 1)));
            }
            next = next.max(Seq(to_seq.0 + 1));
        }
        if next <= run.to_seq() {
            lacking.push((next, run.to_seq()));
        }
        lacking
    }
}

/// Events that this store once had: the newest event of each range that it learned or wrote.
#[derive(Default)]
struct Wanted(Vec<(OriginId, Seq, EventId)>);

impl Wanted {
    fn found(&mut self, origin: OriginId, runs: &[Run]) {
        self.0.retain(|(of, seq, event)| {
            *of != origin || !runs.iter().any(|run| run.id_at(*seq) == Some(*event))
        });
    }

    /// Returns the chains of the events that are not in the store, unless a repair recorded their loss.
    fn missing(self, holes: &[Hole]) -> Vec<OriginId> {
        let gone = |origin: OriginId, seq: Seq| {
            let mut holes = holes.iter().filter(|hole| hole.origin == origin);
            holes.any(|hole| hole.from_seq <= seq && seq <= hole.to_seq)
        };
        let missing = self
            .0
            .into_iter()
            .filter(|(origin, seq, _)| !gone(*origin, *seq));
        let mut origins: Vec<OriginId> = missing.map(|(origin, ..)| origin).collect();
        origins.sort_unstable();
        origins.dedup();
        origins
    }
}
