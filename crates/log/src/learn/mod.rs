//! Importing a bundle: takes the events that it has and this store lacks.
//!
//! A union of sets by event id. Foreign bytes are durable before the `log.imported` that names them,
//! so what a crash leaves is kept and learned by the next import. What fills a hole of a walked chain
//! goes back to where it was; a payload that is damaged or missing here and whole there comes back,
//! unless a redaction names it.

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

/// A place where a chain branches: two events of one origin have one seq.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Fork {
    /// The chain.
    pub origin: OriginId,
    /// The seq that two events have.
    pub seq: Seq,
}

/// What was learned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learned {
    /// Events that are new in the walk of this machine.
    pub events: u64,
    /// Events of the bundle that were here already.
    pub unchanged: u64,
    /// Events that were lost here and came back to their place.
    pub refilled_events: u64,
    /// Payloads that were lost here and came back.
    pub refilled_bodies: u64,
    /// Payloads that were left out, since a redaction names them.
    pub left_out: u64,
    /// Where chains branch that are new.
    pub forks: Vec<Fork>,
    /// What lies too far in the future by this machine's clock, and was left out.
    pub later: Vec<Gap>,
    /// What would fill a hole of this machine's chains, but nothing here vouches for it: it was left
    /// out. A repair takes it.
    pub unproven: Vec<Gap>,
    /// From where on chains undo events that are not here: they were left out.
    pub waiting: Vec<Gap>,
    /// Where this machine's chains have other events than the bundle, but lack those that they go on from: those were left
    /// out.
    pub own_forks: Vec<Fork>,
    /// Redactions among what was left out, to be said anew next: single events, and subjects.
    pub adopted: Vec<(Vec<EventId>, Vec<SubjectId>)>,
    /// Bodies that are here and are to go, since a redaction was learned.
    pub redactions: u64,
    /// What was folded before may fold differently now: views are to be dropped, which
    /// a marker in the store has noted.
    pub changes_the_past: bool,
    /// The facts of the `log.imported` events that make it known; to be appended next.
    pub facts: Vec<LogImported>,
}

impl Writer<'_> {
    /// Takes what a bundle holds into the files; durable when it returns. What is new counts once the
    /// facts of the receipt are appended, by this writer.
    ///
    /// # Errors
    /// `Gaps` where something is missing between what is held and what is brought, `TooTangled` for
    /// what would make the log slow to read: nothing was taken.
    pub fn learn(&mut self, bundle: &Bundle) -> Result<Learned> {
        let plan = self.log.plan_learning(bundle, self.env.now_ms())?;
        // What was there before is to go, whatever happens on the way.
        if plan.redacts {
            self.begin_redaction(None)?;
        } else if plan.changes_the_past() {
            self.begin_rewrite()?;
        }
        self.take(bundle, plan)
    }

    /// Facts that make known what is held and was never learned, to be appended next: what a repair
    /// brought back beyond the place where a newer origin carries on.
    pub fn unlearned(&self) -> Result<Vec<LogImported>> {
        let (ranges, only_imports) = write::unlearned(&self.log.held()?);
        Ok(match only_imports {
            true => Vec::new(),
            false => write::in_events(ranges),
        })
    }
}

/// What a log lacks of some ranges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lacking {
    /// Those of them of which an event is not held, or one is damaged.
    pub ranges: Vec<ChainRange>,
    /// Events are held that wait to be learned, by the next import of anything.
    pub waits: bool,
}

impl Log {
    /// What is held of every chain, by first event; where one branches, or events are missing, in several ranges.
    ///
    /// # Errors
    /// Where a chain cannot be read.
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

    /// What of these ranges is not held. Reads every head.
    ///
    /// # Errors
    /// Where a chain cannot be read.
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

    /// What learning a bundle would come to. Takes nothing. `now_ms`: milliseconds since the epoch.
    ///
    /// # Errors
    /// As [`Writer::learn`].
    pub fn would_learn(&self, bundle: &Bundle, now_ms: u64) -> Result<Learned> {
        self.refresh()?;
        Ok(self.plan_learning(bundle, now_ms)?.preview())
    }
}
