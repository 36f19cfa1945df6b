//! The plan of one chain: segments that are written anew, bytes that are set aside,
//! events that are gone.

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

/// A segment as it should be.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) name: SegmentName,
    pub(super) header: SegmentHeader,
    pub(super) slices: Vec<Slice>,
    /// Some of its payloads are damaged.
    pub(super) bad_bodies: bool,
}

/// Bytes to be set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Aside {
    pub(super) slice: Slice,
    /// The event that should have stood there.
    pub(super) seq: Seq,
    pub(super) what: &'static str,
}

/// Events that are gone, and what is known of where they stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gone {
    pub(super) hole: Hole,
    pub(super) after: Option<Edge>,
    pub(super) before: Option<Edge>,
}

/// Events whose payload is not what was written, and where a good copy of it lies.
pub(super) type Bodies = BTreeMap<EventId, (NoBody, Option<Slice>)>;

/// What is to be done about a chain.
#[derive(Debug, Clone)]
pub(super) struct ChainPlan {
    pub(super) origin: OriginId,
    pub(super) newest: bool,
    /// Segments that are written anew.
    pub(super) write: Vec<Target>,
    pub(super) remove: Vec<PathBuf>,
    pub(super) aside: Vec<Aside>,
    pub(super) gone: Vec<Gone>,
    /// The newest seq that there was, where it is beyond the newest that there is.
    pub(super) end: Option<Seq>,
    /// Another event stands where one was acknowledged.
    pub(super) other_branch: bool,
    /// What was brought goes on where nothing here says that it did.
    pub(super) further: bool,
    /// Events whose payload is not what was written, and where a good copy of it lies.
    pub(super) bodies: Bodies,
    /// Events that are taken from elsewhere.
    pub(super) refilled: u64,
    /// Seq of the newest event.
    pub(super) last: Seq,
}

impl ChainPlan {
    pub(super) fn is_empty(&self) -> bool {
        self.write.is_empty() && self.remove.is_empty() && self.gone.is_empty() && !self.ends_anew()
    }

    /// Whether a new origin has to carry on.
    pub(super) fn ends_anew(&self) -> bool {
        self.newest && (self.end.is_some() || self.other_branch || self.further)
    }

    /// Events whose payload is gone for good.
    pub(super) fn payloads_gone(&self) -> impl Iterator<Item = &NoBody> {
        let gone = self.bodies.values().filter(|(_, copy)| copy.is_none());
        gone.map(|(body, _)| body)
    }
}
