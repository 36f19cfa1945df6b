//! The segment that is appended to, and room in it: zeros behind its end. A sync of what was written within a file need not
//! write the file's new length, which takes about a third of a sync that does (docs/benchmarks/owner.md).
//!
//! Where there is room neither the length of the file nor, for two changes in one tick of the clock, its time shows an
//! append; the bytes at the end do. Nor is the file's time looked at while it is appended to: it would be counted anew by
//! each write, and some file systems write it with each sync.

use std::io;
use std::sync::Arc;

use crate::disk::{DiskFile, Stamp};
use crate::segment::SEGMENT_LEN_TARGET;

/// Room is made up to the next multiple of this.
const ROOM_LEN: u64 = 64 * 1_024;
/// Appends through one open file before room is made: most processes write once or twice and end.
const APPENDS_MIN: u32 = 4;
/// Larger appends get none: what is written twice would cost them more than the length.
const APPEND_LEN_MAX: usize = 16 * 1_024;
/// Of the first bytes of a record not all are zero: they are the check of its head, and the head's length.
const LOOKED_AT: usize = 8;

/// A segment, opened to be appended to.
pub(crate) struct OpenSegment {
    file: Arc<dyn DiskFile>,
    appends: u32,
    /// Up to here the file is known to reach; 0 while that is not known.
    reaches: u64,
    /// What tells it from other files, where it is known how far it reaches.
    identity: u64,
    /// Where the newest record begins, and with what.
    newest: Option<(u64, [u8; LOOKED_AT])>,
}

/// How the segment of the newest event looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SegmentLook {
    Stamp(Stamp),
    /// This process has it open, and there is room where the next event goes.
    Room {
        identity: u64,
    },
}

impl SegmentLook {
    /// What tells the file from others.
    pub(crate) fn identity(&self) -> u64 {
        match *self {
            SegmentLook::Stamp(stamp) => stamp.identity,
            SegmentLook::Room { identity } => identity,
        }
    }
}

impl OpenSegment {
    pub(crate) fn new(file: Arc<dyn DiskFile>) -> OpenSegment {
        OpenSegment {
            file,
            appends: 0,
            reaches: 0,
            identity: 0,
            newest: None,
        }
    }

    pub(crate) fn file(&self) -> &Arc<dyn DiskFile> {
        &self.file
    }

    /// Writes records where the segment's records end, the newest of them from `newest` in `bytes` on.
    ///
    /// # Errors
    /// Where they are not all written, a part of them may be.
    pub(crate) fn append(&mut self, bytes: &[u8], offset: u64, newest: usize) -> io::Result<()> {
        self.newest = None;
        self.file.write_at(bytes, offset)?;
        let begins = bytes.get(newest..).and_then(<[u8]>::first_chunk);
        self.newest = begins.map(|begins| (offset + newest as u64, *begins));
        let end = offset + bytes.len() as u64;
        self.appends = self.appends.saturating_add(1);
        if bytes.len() <= APPEND_LEN_MAX && self.appends > APPENDS_MIN {
            self.make_room(end);
        }
        Ok(())
    }

    /// Makes room behind `end`, where the file reaches no further. Without it syncs are slower, and all else is the same.
    fn make_room(&mut self, end: u64) {
        if self.reaches == 0 {
            // Whoever appended before may have left some.
            let Ok(stamp) = self.file.stamp() else {
                return;
            };
            (self.reaches, self.identity) = (stamp.len, stamp.identity);
        }
        let to = (end / ROOM_LEN + 1) * ROOM_LEN;
        if end < self.reaches || to > SEGMENT_LEN_TARGET {
            return;
        }
        let zeros = [0; ROOM_LEN as usize];
        match self.file.write_at(&zeros[..(to - end) as usize], end) {
            Ok(()) => self.reaches = to,
            Err(_) => {
                // What there is of it is given back; it is tried again later.
                let _ = self.file.truncate(end);
                (self.appends, self.reaches) = (0, 0);
            }
        }
    }

    /// How it looks by the room at `end`; `None` where there is none that this process knows of, or it was appended to, or
    /// the newest record is no longer there, as where a copy was put back.
    pub(crate) fn look(&self, end: u64) -> Option<SegmentLook> {
        let identity = self.identity;
        let (at, begins) = self.newest?;
        let mut found = [0; LOOKED_AT];
        let has_room = self.reaches >= end + LOOKED_AT as u64
            && is_room(&*self.file, end)
            && self.file.read_at(&mut found, at).ok()? == LOOKED_AT
            && found == begins;
        has_room.then_some(SegmentLook::Room { identity })
    }

    /// Gives back the room behind `end`, whoever made it: nothing is appended any more.
    pub(crate) fn give_back_room(&mut self, end: u64) {
        // Zeros are nothing to a reader.
        let _ = self.cut(end);
    }

    /// Cuts off what follows the records, be it room or what a failed append left.
    ///
    /// # Errors
    /// Where the file cannot be cut.
    pub(crate) fn cut(&mut self, end: u64) -> io::Result<()> {
        self.reaches = 0;
        self.file.truncate(end)
    }
}

/// Whether nothing was appended at `end` to a file that reaches beyond it.
pub(crate) fn is_room(file: &dyn DiskFile, end: u64) -> bool {
    let mut bytes = [0; LOOKED_AT];
    let read = file.read_at(&mut bytes, end);
    // A file that ends here was cut, or there is a little room before its end.
    read.is_ok_and(|read| read > 0 && bytes[..read].iter().all(|byte| *byte == 0))
}
