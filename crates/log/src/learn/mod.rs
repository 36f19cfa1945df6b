//! Importing a bundle: takes the events of the bundle that this store lacks.
//!
//! An import is a union of sets by event id. Foreign bytes are durable before the `log.imported` that names them, so
//! the next import learns what a crash left. Events that fill a hole of a walked chain return to their place. A payload
//! that is damaged or missing here and whole in the bundle returns, unless a redaction names it.

mod held;
mod limits;
mod plan;
mod waiting;
mod walked;
mod write;

use serde::Serialize;

use crate::bundle::{Bundle, ChainRange};
use crate::error::{Gap, Result};
use crate::log::Log;
use crate::writer::Writer;
use icm_event::facts::LogImported;
use icm_event::id::{EventId, OriginId, Seq, SubjectId};

/// A place at which a chain branches: two events of one origin have the same seq.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Fork {
    /// The chain.
    pub origin: OriginId,
    /// Seq of the two events.
    pub seq: Seq,
}

/// The result of an import.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learned {
    /// Number of events that are new in the walk of this machine.
    pub events: u64,
    /// Number of events of the bundle that were here already.
    pub unchanged: u64,
    /// Number of events that were lost here and came back to their place.
    pub refilled_events: u64,
    /// Number of payloads that were lost here and came back.
    pub refilled_bodies: u64,
    /// Number of payloads that were left out because a redaction names them.
    pub left_out: u64,
    /// New branches of chains.
    pub forks: Vec<Fork>,
    /// Chains that were left out from a seq on: by this machine's clock the time of that event is too far in the
    /// future.
    pub later: Vec<Gap>,
    /// Events for holes of this machine's chains that were left out: no event here proves that they are genuine. A
    /// repair takes them.
    pub unproven: Vec<Gap>,
    /// Chains that were left out from a seq on: an undo there names events that are not here.
    pub waiting: Vec<Gap>,
    /// Other branches of this machine's chains that were left out: this store lacks the events from which they branch.
    pub own_forks: Vec<Fork>,
    /// Redactions among the events that were left out, as single events and subjects. The caller appends them as
    /// redactions of this machine next.
    pub adopted: Vec<(Vec<EventId>, Vec<SubjectId>)>,
    /// Number of bodies of this store that a learned redaction removes.
    pub redactions: u64,
    /// `true` if older events may fold differently now. Views must be dropped; a marker in the store says so.
    pub changes_the_past: bool,
    /// Facts of the `log.imported` events that make the new events known. The caller appends them next.
    pub facts: Vec<LogImported>,
}

impl Writer<'_> {
    /// Writes the new events of a bundle to the files and makes them durable. They count once this writer has appended
    /// the `facts` of the result.
    ///
    /// # Errors
    /// `Gaps` if events between the store and the bundle are missing; `TooTangled` if the bundle would make the log
    /// slow to read. In both cases nothing was taken.
    pub fn learn(&mut self, bundle: &Bundle) -> Result<Learned> {
        let plan = self.log.plan_learning(bundle, self.env.now_ms())?;
        // Marked first: even if the import stops halfway, older bodies or views must go.
        if plan.redacts {
            self.begin_redaction(None)?;
        } else if plan.changes_the_past() {
            self.begin_rewrite()?;
        }
        self.take(bundle, plan)
    }

    /// Returns the facts for events that the store holds but never learned. A repair brought them back, beyond the
    /// place from which a newer origin continues. The caller appends them next.
    pub fn unlearned(&self) -> Result<Vec<LogImported>> {
        let (ranges, only_imports) = write::unlearned(&self.log.held()?);
        Ok(match only_imports {
            true => Vec::new(),
            false => write::in_events(ranges),
        })
    }
}

/// The parts of some ranges that a log lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lacking {
    /// The ranges of which an event is missing or damaged.
    pub ranges: Vec<ChainRange>,
    /// `true` if the store holds events that the next import, of any bundle, will learn.
    pub waits: bool,
}

impl Log {
    /// Returns the ranges of events of every chain, by first event. A chain that branches or lacks events has several
    /// ranges.
    ///
    /// # Errors
    /// If a chain cannot be read.
    pub fn held_ranges(&self) -> Result<Vec<ChainRange>> {
        self.refresh()?;
        let held = self.held()?;
        let of_chain = held.runs.iter().flat_map(|(origin, runs)| {
            runs.iter().map(|run| ChainRange {
                origin: *origin,
                from_seq: run.from_seq,
                to_seq: run.to_seq(),
                head: run.head(),
            })
        });
        Ok(of_chain.collect())
    }

    /// Returns the ranges of which this log lacks events. Reads every head.
    ///
    /// # Errors
    /// If a chain cannot be read.
    pub fn lacking(&self, ranges: &[ChainRange]) -> Result<Lacking> {
        self.refresh()?;
        let held = self.held()?;
        let lacks = |range: &&ChainRange| !held.has_all(range);
        let (unlearned, only_imports) = write::unlearned(&held);
        Ok(Lacking {
            ranges: ranges.iter().filter(lacks).copied().collect(),
            waits: !unlearned.is_empty() && !only_imports,
        })
    }

    /// Returns the result that learning a bundle would have, and takes nothing. `now_ms`: milliseconds since 1970-01-01
    /// UTC.
    ///
    /// # Errors
    /// The errors of [`Writer::learn`].
    pub fn would_learn(&self, bundle: &Bundle, now_ms: u64) -> Result<Learned> {
        self.refresh()?;
        Ok(self.plan_learning(bundle, now_ms)?.preview())
    }
}
