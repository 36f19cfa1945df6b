//! The plan for one chain: segments to rewrite, bytes to set aside, events that are lost.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::salvage::{Edge, NoBody};
use icm_event::facts::Hole;
use icm_event::id::{EventId, OriginId, Seq};
use icm_event::segment::{SegmentHeader, SegmentName};

/// A stretch of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slice {
    pub(super) source: usize,
    pub(super) start: u64,
    pub(super) end: u64,
}

/// A segment as the repair will write it.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) name: SegmentName,
    pub(super) header: SegmentHeader,
    pub(super) slices: Vec<Slice>,
    /// `true` if some of its payloads are damaged.
    pub(super) bad_bodies: bool,
}

/// Bytes that are set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Aside {
    pub(super) slice: Slice,
    /// Seq of the event that should have been there.
    pub(super) seq: Seq,
    pub(super) what: &'static str,
}

/// A hole, and the events at its edges, if known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gone {
    pub(super) hole: Hole,
    pub(super) after: Option<Edge>,
    pub(super) before: Option<Edge>,
}

/// Events with a damaged payload, each with the place of a good copy, if there is one.
pub(super) type Bodies = BTreeMap<EventId, (NoBody, Option<Slice>)>;

/// The work on a chain.
#[derive(Debug, Clone)]
pub(super) struct ChainPlan {
    pub(super) origin: OriginId,
    pub(super) newest: bool,
    /// Segments that are rewritten.
    pub(super) write: Vec<Target>,
    pub(super) remove: Vec<PathBuf>,
    pub(super) aside: Vec<Aside>,
    pub(super) gone: Vec<Gone>,
    /// The newest seq that the chain once had, if it is beyond the newest event left.
    pub(super) end: Option<Seq>,
    /// `true` if another event stands in place of the acknowledged one.
    pub(super) other_branch: bool,
    /// `true` if spares continue the chain beyond the last event that this store knew of.
    pub(super) further: bool,
    /// Events with a damaged payload, each with the place of a good copy, if there is one.
    pub(super) bodies: Bodies,
    /// Number of events that come from elsewhere.
    pub(super) refilled: u64,
    /// Seq of the newest event that is left.
    pub(super) last: Seq,
}

impl ChainPlan {
    pub(super) fn is_empty(&self) -> bool {
        self.write.is_empty() && self.remove.is_empty() && self.gone.is_empty() && !self.ends_anew()
    }

    /// Returns `true` if a new origin must continue the chain.
    pub(super) fn ends_anew(&self) -> bool {
        self.newest && (self.end.is_some() || self.other_branch || self.further)
    }

    /// Returns the events whose payload is lost for good.
    pub(super) fn payloads_gone(&self) -> impl Iterator<Item = &NoBody> {
        let gone = self.bodies.values().filter(|(_, copy)| copy.is_none());
        gone.map(|(body, _)| body)
    }
}
