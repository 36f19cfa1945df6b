//! Passages of versions: their numbers are dense and in the order of ordinals. Text and vectors are searched by
//! passage; versions decide what holds and who sees it.
//!
//! Most versions have one passage, so only the others have a record:
//!
//! ```text
//! passages: magic (16) · records, in the order of ordinals
//! record:   ordinal (8) · number of its first passage (8) · passages (4) · check (4)
//! ```

use std::cmp::Ordering;
use std::fs::{self, OpenOptions};
use std::ops::Range;
use std::path::Path;

use imbl::Vector;

use crate::error::{Result, ViewError, io};
use crate::file::write_at;

/// Name of the file within a generation.
pub(crate) const PASSAGES_FILE: &str = "passages";

const MAGIC: [u8; HEADER_LEN] = *b"ICMPASSAGES1\0\0\0\0";
const HEADER_LEN: usize = 16;
const RECORD_LEN: usize = 24;
const CHECK_AT: usize = RECORD_LEN - 4;

/// A version with several passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Long {
    ordinal: u64,
    first: u64,
    count: u32,
}

/// The passages of all versions. A copy shares all equal parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Passages {
    long: Vector<Long>,
}

impl Passages {
    /// Returns the passages of a version.
    pub(crate) fn of(&self, ordinal: u64) -> Range<u64> {
        let at = self.position(|long| long.ordinal < ordinal);
        let start = match at.checked_sub(1).and_then(|at| self.long.get(at)) {
            Some(before) => before.first + u64::from(before.count) + ordinal - before.ordinal - 1,
            None => ordinal,
        };
        let own = self.long.get(at).filter(|long| long.ordinal == ordinal);
        start..start + own.map_or(1, |long| u64::from(long.count))
    }

    /// Returns the version of a passage, and the passage's number within the version, from 0.
    pub(crate) fn version(&self, passage: u64) -> (u64, u64) {
        let at = self.position(|long| long.first <= passage);
        let Some(long) = at.checked_sub(1).and_then(|at| self.long.get(at)) else {
            return (passage, 0);
        };
        let (nth, count) = (passage - long.first, u64::from(long.count));
        match nth < count {
            true => (long.ordinal, nth),
            false => (long.ordinal + 1 + nth - count, 0),
        }
    }

    /// Records the number of passages of a version. Versions that come before the last recorded one are ignored.
    pub(crate) fn note(&mut self, ordinal: u64, count: usize) {
        let known = self.long.back().map(|last| last.ordinal);
        if count > 1 && known.is_none_or(|known| known < ordinal) {
            let first = self.of(ordinal).start;
            let count = u32::try_from(count).expect("a text has fewer passages than bytes");
            self.long.push_back(Long {
                ordinal,
                first,
                count,
            });
        }
    }

    /// Returns the number of leading records for which `comes_first` is true.
    fn position(&self, comes_first: impl Fn(&Long) -> bool) -> usize {
        let order = |long: &Long| match comes_first(long) {
            true => Ordering::Less,
            false => Ordering::Greater,
        };
        self.long.binary_search_by(order).unwrap_or_else(|at| at)
    }

    /// Reads the passages of the first `next` versions, `count` in all.
    ///
    /// # Errors
    /// `Unusable` for a file that is damaged, of another version, or too short; `Io` for a file that cannot be read.
    pub(crate) fn open(generation: &Path, next: u64, count: u64) -> Result<Passages> {
        let path = generation.join(PASSAGES_FILE);
        crate::file::open(&path).map_err(io("opening", &path))?;
        let bytes = fs::read(&path).map_err(io("reading", &path))?;
        let records = bytes
            .strip_prefix(&MAGIC)
            .ok_or_else(|| bad("another version of icm wrote it"))?;
        let mut passages = Passages::default();
        for record in records.chunks_exact(RECORD_LEN) {
            // Records beyond the checkpoint are of a commit that was not finished.
            if passages.of(next).start >= count {
                break;
            }
            let long = Long::parse(record).ok_or_else(|| bad("a record is damaged"))?;
            if long.first != passages.of(long.ordinal).start {
                return Err(bad("its records do not follow one another"));
            }
            passages.long.push_back(long);
        }
        match passages.of(next).start == count {
            true => Ok(passages),
            false => Err(bad("it is too short")),
        }
    }

    /// Writes the records of the versions from `next` on to the file; creates the file if `next` is 0.
    pub(crate) fn write(&self, generation: &Path, next: u64) -> Result<()> {
        let path = generation.join(PASSAGES_FILE);
        let kept = self.position(|long| long.ordinal < next);
        let mut options = OpenOptions::new();
        options.write(true).create(next == 0).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).map_err(io("opening", &path))?;
        let new = self.long.focus().narrow(kept..);
        let bytes: Vec<u8> = new.into_iter().flat_map(Long::encode).collect();
        let at = (HEADER_LEN + kept * RECORD_LEN) as u64;
        write_at(&file, &MAGIC, 0).map_err(io("writing", &path))?;
        write_at(&file, &bytes, at).map_err(io("writing", &path))?;
        file.set_len(at + bytes.len() as u64)
            .map_err(io("writing", &path))
    }
}

impl Long {
    fn encode(&self) -> [u8; RECORD_LEN] {
        let mut bytes = [0; RECORD_LEN];
        bytes[..8].copy_from_slice(&self.ordinal.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.first.to_le_bytes());
        bytes[16..CHECK_AT].copy_from_slice(&self.count.to_le_bytes());
        let check = crc32c::crc32c(&bytes[..CHECK_AT]);
        bytes[CHECK_AT..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Long> {
        let eight = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let four = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let is_whole = crc32c::crc32c(bytes.get(..CHECK_AT)?) == four(CHECK_AT)?;
        let long = Long {
            ordinal: eight(0)?,
            first: eight(8)?,
            count: four(16)?,
        };
        (is_whole && long.count > 1).then_some(long)
    }
}

fn bad(why: &str) -> ViewError {
    ViewError::Unusable {
        view: "passages",
        why: why.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Versions 0 to 5: 1 has three passages, 2 has two, and 4 has four.
    fn some() -> Passages {
        let mut passages = Passages::default();
        for (ordinal, count) in [(0, 1), (1, 3), (2, 2), (3, 1), (4, 4), (5, 1)] {
            passages.note(ordinal, count);
        }
        passages
    }

    #[test]
    fn numbers_are_dense_and_lead_back() {
        let passages = some();
        let mut next = 0;
        for ordinal in 0..8 {
            let range = passages.of(ordinal);
            assert_eq!(range.start, next, "of {ordinal}");
            for (nth, passage) in (0..).zip(range.clone()) {
                assert_eq!(passages.version(passage), (ordinal, nth));
            }
            next = range.end;
        }
        assert_eq!(next, 14);
        assert_eq!(Passages::default().of(7), 7..8);
    }

    #[test]
    fn a_file_there_and_back_and_on() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut passages = some();
        passages.write(dir.path(), 0).expect("written");
        let open = |next, count| Passages::open(dir.path(), next, count);
        assert_eq!(open(6, 12).expect("opened"), passages);
        // An earlier checkpoint ignores later records, and the next commit overwrites them.
        let mut earlier = open(3, 6).expect("opened");
        assert_eq!(earlier.of(2), 4..6);
        earlier.note(3, 7);
        earlier.write(dir.path(), 3).expect("written");
        assert_eq!(open(4, 13).expect("opened"), earlier);
        passages.note(6, 2);
        for (next, count) in [(4, 12), (3, 7), (9, 20)] {
            open(next, count).expect_err("other counts");
        }
    }

    #[test]
    fn every_flip_and_every_cut_is_seen() {
        let dir = tempfile::tempdir().expect("a folder");
        some().write(dir.path(), 0).expect("written");
        let path = dir.path().join(PASSAGES_FILE);
        let bytes = fs::read(&path).expect("read");
        let is_refused = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("written");
            Passages::open(dir.path(), 6, 12).is_err()
        };
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(is_refused(&flipped), "bit {bit}");
        }
        for len in 0..bytes.len() {
            assert!(is_refused(&bytes[..len]), "{len} bytes");
        }
    }
}
