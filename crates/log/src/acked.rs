//! The file `acked`: two slots that name the newest acknowledged event.
//!
//! A slot is written after the sync of the log, without a sync of its own. It therefore never names an event that is
//! not durable. Slots are the evidence that tells a torn tail from damage, and let an open start reading near the
//! chain's end.

use std::io;
use std::path::Path;

use crate::disk::{self, Disk, DiskFile, OpenMode};
use crate::error::{Result, at};
use crate::layout::ACKED_FILE;
use icm_event::id::{EventId, OriginId, Seq};

/// Bytes of a slot.
pub const SLOT_LEN: usize = 96;
/// Offsets of the two slots, a sector apart.
pub const SLOT_OFFSETS: [u64; 2] = [0, 512];

const MAGIC: [u8; 4] = *b"ACK1";

/// A slot: the newest acknowledged event of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Number of the slot; it rises with every slot that is written.
    pub generation: u64,
    /// The chain.
    pub origin: OriginId,
    /// Place of the event in the chain.
    pub seq: Seq,
    /// Id of the event.
    pub event: EventId,
    /// First seq of the event's segment.
    pub segment: Seq,
    /// Offset of the event's record in that segment, in bytes.
    pub offset: u64,
}

impl Slot {
    /// Encodes the slot.
    pub fn encode(&self) -> [u8; SLOT_LEN] {
        let mut bytes = [0; SLOT_LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&self.generation.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.origin.0);
        bytes[32..40].copy_from_slice(&self.seq.0.to_le_bytes());
        bytes[40..72].copy_from_slice(&self.event.0);
        bytes[72..80].copy_from_slice(&self.segment.0.to_le_bytes());
        bytes[80..88].copy_from_slice(&self.offset.to_le_bytes());
        let check = crc32c::crc32c(&bytes[8..]);
        bytes[4..8].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    /// Reads a slot; `None` if it was never written or is not whole.
    pub fn parse(bytes: &[u8]) -> Option<Slot> {
        let bytes = bytes.first_chunk::<SLOT_LEN>()?;
        let check = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        if bytes[..4] != MAGIC || crc32c::crc32c(&bytes[8..]) != check {
            return None;
        }
        let u64_at = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(eight)
        };
        let (mut origin, mut event) = ([0; 16], [0; 32]);
        origin.copy_from_slice(&bytes[16..32]);
        event.copy_from_slice(&bytes[40..72]);
        Some(Slot {
            generation: u64_at(8),
            origin: OriginId(origin),
            seq: Seq(u64_at(32)),
            event: EventId(event),
            segment: Seq(u64_at(72)),
            offset: u64_at(80),
        })
    }
}

/// Returns the newest whole slot, if there is one.
pub fn read(disk: &dyn Disk, dir: &Path) -> Result<Option<Slot>> {
    let path = dir.join(ACKED_FILE);
    match disk::read_all(disk, &path, 64 * 1_024) {
        Ok(bytes) => Ok(SLOT_OFFSETS
            .iter()
            .filter_map(|offset| Slot::parse(bytes.get(*offset as usize..)?))
            .max_by_key(|slot| slot.generation)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Ok(None),
        // A folder of this name is no evidence.
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(None),
        Err(error) => Err(at("reading", &path)(error)),
    }
}

/// Opens the file for writing slots, and creates it if it is absent.
pub fn open(disk: &dyn Disk, dir: &Path) -> Result<std::sync::Arc<dyn DiskFile>> {
    let path = dir.join(ACKED_FILE);
    disk.open(&path, OpenMode::Create)
        .map_err(at("opening", &path))
}

/// Writes a slot over the older one. Does not sync.
pub fn write(file: &dyn DiskFile, slot: &Slot) -> io::Result<()> {
    file.write_at(&slot.encode(), SLOT_OFFSETS[(slot.generation % 2) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flip_is_seen() {
        let slot = Slot {
            generation: 3,
            origin: OriginId([1; 16]),
            seq: Seq(9),
            event: EventId([2; 32]),
            segment: Seq(1),
            offset: 64,
        };
        let bytes = slot.encode();
        assert_eq!(Slot::parse(&bytes), Some(slot));
        for bit in 0..SLOT_LEN * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Slot::parse(&flipped), None, "bit {bit}");
        }
    }
}
