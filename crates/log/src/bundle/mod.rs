//! Bundles: ranges of chains in one file, to be carried to another machine. Byte layout in
//! `schemas/envelope.md`. The same events with the same bodies give the same bytes; nothing local
//! goes along.

mod events;
mod export;
mod mark;
mod plan;
mod read;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::disk::DiskFile;
use crate::error::{LogError, Result};
use crate::repair::Spare;
use crate::scan::{SegmentScan, Step};
use icm_event::id::{EventId, OriginId, Seq};
use icm_event::record::Record;

pub use events::ExportedEvents;
pub use mark::MAGIC as BUNDLE_MAGIC;
pub use plan::Since;

/// Consecutive events of one chain within a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleRange {
    /// The chain.
    pub origin: OriginId,
    /// The event before the first one; zero for the start of the chain.
    pub base: EventId,
    /// Seq of the first one.
    pub from_seq: Seq,
    /// Seq of the last one.
    pub to_seq: Seq,
    /// The last one.
    pub head: EventId,
    /// Where its records start in the file, in bytes.
    pub start: u64,
    /// Where they end.
    pub end: u64,
}

/// Consecutive events of one chain, wherever they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChainRange {
    /// The chain.
    pub origin: OriginId,
    /// Seq of the first one.
    pub from_seq: Seq,
    /// Seq of the last one.
    pub to_seq: Seq,
    /// The last one.
    pub head: EventId,
}

impl ChainRange {
    /// A chain from its start.
    pub fn up_to(origin: OriginId, to_seq: Seq, head: EventId) -> ChainRange {
        ChainRange {
            origin,
            from_seq: Seq(1),
            to_seq,
            head,
        }
    }
}

/// A bundle that was read to its end and found whole: every head hashed, every chain followed, every
/// body held against its commitment.
pub struct Bundle {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    ranges: Vec<BundleRange>,
    events: u64,
}

impl Bundle {
    /// Its ranges, sorted by origin, first seq, base, first event.
    pub fn ranges(&self) -> &[BundleRange] {
        &self.ranges
    }

    /// Number of events.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// What it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its records, for a repair to take from.
    pub fn spares(&self) -> Vec<Spare> {
        let spare = |range: &BundleRange| Spare {
            file: Arc::clone(&self.file),
            path: self.path.clone(),
            origin: range.origin,
            from_seq: range.from_seq,
            to_seq: range.to_seq,
            start: range.start,
            end: range.end,
        };
        self.ranges.iter().map(spare).collect()
    }

    /// Hands out the records of a range, in order, each with its id and its place in the file.
    pub(crate) fn records(
        &self,
        range: &BundleRange,
        each: &mut dyn FnMut(u64, &Record<'_>, EventId) -> Result<()>,
    ) -> Result<()> {
        let mut scan = SegmentScan::of(Arc::clone(&self.file), &self.path, range.start, range.end);
        let mut reached = range.start;
        while let Step::Record { offset, record, id } = scan.step()? {
            reached = offset + record.bytes.len() as u64;
            each(offset, &record, id)?;
        }
        match reached == range.end {
            true => Ok(()),
            false => Err(LogError::BadBundle {
                path: self.path.clone(),
                offset_bytes: reached,
                what: "it was changed while it was read".to_owned(),
            }),
        }
    }
}

/// What an export wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Chains.
    pub origins: u64,
    /// What of them, in the order of the bundle.
    pub ranges: Vec<ChainRange>,
    /// Redactions that are known here, whether or not they went along.
    pub redactions: u64,
    /// Events.
    pub events: u64,
    /// Events without a body: redacted, or damaged.
    pub bodiless: u64,
    /// Chains of which events are missing that this store had learned or written, and no repair says
    /// so: what lies behind them is left out.
    pub incomplete: Vec<OriginId>,
    /// It reached its limit, and more was left to write.
    pub more: bool,
    /// Bytes of the bundle.
    pub bytes: u64,
}
