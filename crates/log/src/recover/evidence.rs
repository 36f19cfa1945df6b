//! Evidence in later records: each names the newest seq known to be durable when it was written.

use std::path::Path;

use crate::disk::{Disk, OpenMode};
use crate::error::{Result, at};
use icm_event::id::{OriginId, Seq};
use icm_event::record::{self, FRAME_LEN, Parsed, RECORD_LEN_MAX};

/// Returns the largest `synced` of the valid records of `origin` that start at or after `offset`, with a seq of `after`
/// or later. 0 if there are none.
pub(super) fn later_synced(
    disk: &dyn Disk,
    path: &Path,
    offset: u64,
    origin: OriginId,
    after: Seq,
) -> Result<Seq> {
    // The origin stands 8 bytes into the head, which follows the frame.
    const ORIGIN_AT: usize = FRAME_LEN + 8;
    const STRIDE: usize = 4 * 1_024 * 1_024;
    let file = disk
        .open(path, OpenMode::Read)
        .map_err(at("reading", path))?;
    let len = file.len().map_err(at("reading", path))?;
    let mut best = Seq(0);
    let mut bytes = Vec::new();
    let mut base = offset;
    while base < len {
        // A record that starts within the stride is read whole.
        let room = (len - base).min((STRIDE + RECORD_LEN_MAX) as u64) as usize;
        bytes.resize(room, 0);
        let read = file
            .read_at(&mut bytes, base)
            .map_err(at("reading", path))?;
        bytes.truncate(read);
        let mut start = 0;
        while let Some(found) = bytes
            .get(start + ORIGIN_AT..)
            .and_then(|rest| find(rest, &origin.0))
        {
            start += found;
            if start >= STRIDE {
                break;
            }
            if let Parsed::Record(shape) = record::parse(&bytes[start..]) {
                let record = shape.view(&bytes[start..]);
                let (seq, synced) = (record.seq(), record.synced);
                // A record can only declare earlier events durable.
                if seq >= after && synced < seq {
                    best = best.max(synced);
                }
            }
            start += 1;
        }
        base += STRIDE as u64;
    }
    Ok(best)
}

/// Returns the index at which `needle` first occurs in `haystack`.
pub(crate) fn find(haystack: &[u8], needle: &[u8; 16]) -> Option<usize> {
    let mut from = 0;
    while let Some(step) = haystack[from..].iter().position(|byte| *byte == needle[0]) {
        let at = from + step;
        if haystack[at..].starts_with(needle) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}
