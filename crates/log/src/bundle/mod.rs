//! Bundles: ranges of chains in one file, which is carried to another machine. Byte layout in `schemas/envelope.md`.
//!
//! The same events with the same bodies give the same bytes. A bundle holds nothing that only its own machine knows.

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

/// A range of consecutive events of one chain in a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleRange {
    /// The chain.
    pub origin: OriginId,
    /// Id of the event before the first event; zero at the start of the chain.
    pub base: EventId,
    /// Seq of the first event.
    pub from_seq: Seq,
    /// Seq of the last event.
    pub to_seq: Seq,
    /// Id of the last event.
    pub head: EventId,
    /// Offset of the first record in the file, in bytes.
    pub start: u64,
    /// Offset of the end of the last record, in bytes.
    pub end: u64,
}

/// A range of consecutive events of one chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChainRange {
    /// The chain.
    pub origin: OriginId,
    /// Seq of the first event.
    pub from_seq: Seq,
    /// Seq of the last event.
    pub to_seq: Seq,
    /// Id of the last event.
    pub head: EventId,
}

impl ChainRange {
    /// Returns the range from the start of a chain up to `to_seq`.
    pub fn up_to(origin: OriginId, to_seq: Seq, head: EventId) -> ChainRange {
        ChainRange {
            origin,
            from_seq: Seq(1),
            to_seq,
            head,
        }
    }
}

/// A bundle that was read to its end and found whole. Every head was hashed, every chain followed, every body compared
/// with its commitment.
pub struct Bundle {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    ranges: Vec<BundleRange>,
    events: u64,
}

impl Bundle {
    /// Returns the ranges, sorted by origin, first seq, base, first event.
    pub fn ranges(&self) -> &[BundleRange] {
        &self.ranges
    }

    /// Returns the number of events.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the records of the bundle as spares, from which a repair takes events.
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

    /// Hands out the records of a range in order, each with its offset in the file and its id.
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

/// Counts of an export.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Number of chains.
    pub origins: u64,
    /// The ranges that were written, in the order of the bundle.
    pub ranges: Vec<ChainRange>,
    /// Number of redactions that are known here, written or not.
    pub redactions: u64,
    /// Number of events.
    pub events: u64,
    /// Number of events without a body: redacted or damaged.
    pub bodiless: u64,
    /// Chains that lack events which this store had learned or written, and no repair records the loss. The events
    /// after such a gap are left out.
    pub incomplete: Vec<OriginId>,
    /// `true` if the export reached its limit and more events are left.
    pub more: bool,
    /// Bytes of the bundle.
    pub bytes: u64,
}
