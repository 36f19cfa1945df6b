//! Row facts: a memory-mapped file with one record for each ordinal, with the positions at which the version held. Text
//! and vectors are filtered by it, so closing a version is one small write here.
//!
//! ```text
//! header: magic (8) · zero (8), then the records
//! ```

mod filter;
mod record;
mod tags;

use std::fs::OpenOptions;
use std::path::Path;

use icm_log::{Position, SubjectId};
use icm_text::{Map, Signature};

use crate::error::{Result, ViewError, io};
use crate::file::{read_at, write_at};
use crate::fold::Closed;

pub use filter::FactFilter;
pub(crate) use record::OPEN;
use record::{ENTITY_AT, RECORD_LEN, SIGNATURE_AT, TOPIC_AT};
pub use record::{Row, RowFacts};
pub(crate) use tags::topic_tag;
pub use tags::{HomeTag, TopicTag};

const MAGIC: [u8; 16] = *b"ICMROWS8\0\0\0\0\0\0\0\0";
const HEADER_LEN: usize = 16;

enum Backing {
    Mapped(memmap2::Mmap),
    Owned(Vec<u8>),
}

/// The row facts up to a checkpoint.
pub struct Rows {
    backing: Backing,
    /// Records that belong to the checkpoint; the file may hold more.
    count: u64,
}

impl Rows {
    /// Returns row facts without records, in memory.
    pub fn empty() -> Rows {
        Rows {
            backing: Backing::Owned(MAGIC.to_vec()),
            count: 0,
        }
    }

    /// Opens the first `count` records of a file.
    #[allow(unsafe_code)]
    pub fn open(path: &Path, count: u64) -> Result<Rows> {
        let file = crate::file::open(path).map_err(io("opening", path))?;
        // SAFETY: the file is only appended to, or changed in place by whole records with a check. A file of a
        // generation in use is never truncated; its generation is replaced.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(io("mapping", path))?;
        let need = HEADER_LEN as u64 + count * RECORD_LEN as u64;
        let why = match map.get(..HEADER_LEN) {
            Some(header) if header != MAGIC => Some("another version of icm wrote it"),
            _ if (map.len() as u64) < need => Some("it is too short"),
            _ => None,
        };
        if let Some(why) = why {
            return Err(ViewError::Unusable {
                view: "rows",
                why: why.into(),
            });
        }
        Ok(Rows {
            backing: Backing::Mapped(map),
            count,
        })
    }

    fn bytes(&self) -> &[u8] {
        match &self.backing {
            Backing::Mapped(map) => map,
            Backing::Owned(bytes) => bytes,
        }
    }

    /// Returns the number of records that a file of `len` bytes has room for.
    pub(crate) fn count_in(len: u64) -> u64 {
        len.saturating_sub(HEADER_LEN as u64) / RECORD_LEN as u64
    }

    /// Returns the number of records.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the record of an ordinal; `None` beyond the checkpoint, and for a damaged record.
    pub fn get(&self, ordinal: u64) -> Option<Row> {
        if ordinal >= self.count {
            return None;
        }
        let start = HEADER_LEN + ordinal as usize * RECORD_LEN;
        let parsed = || Row::parse(self.bytes().get(start..start + RECORD_LEN)?);
        // A commit of another process may be closing the record, half of which was read.
        parsed().or_else(|| {
            std::thread::yield_now();
            parsed()
        })
    }

    /// Returns the tag of an ordinal's topic, unchecked; 0 beyond the checkpoint. Callers check a record that they use
    /// by [`Rows::get`].
    pub(crate) fn tag(&self, ordinal: u64) -> u32 {
        if ordinal >= self.count {
            return 0;
        }
        let at = HEADER_LEN + ordinal as usize * RECORD_LEN + TOPIC_AT;
        let four = self.bytes().get(at..at + 4).unwrap_or_default();
        four.try_into().map_or(0, u32::from_le_bytes)
    }

    /// Returns the memory of an ordinal, unchecked; `None` beyond the checkpoint.
    pub(crate) fn entity(&self, ordinal: u64) -> Option<SubjectId> {
        if ordinal >= self.count {
            return None;
        }
        let at = HEADER_LEN + ordinal as usize * RECORD_LEN + ENTITY_AT;
        let id = self.bytes().get(at..at + 16)?.first_chunk()?;
        Some(SubjectId(*id))
    }

    /// Returns the signature of an ordinal's text, unchecked; `None` beyond the checkpoint.
    pub(crate) fn signature(&self, ordinal: u64) -> Option<Signature> {
        if ordinal >= self.count {
            return None;
        }
        let at = HEADER_LEN + ordinal as usize * RECORD_LEN + SIGNATURE_AT;
        let bytes = self.bytes().get(at..at + Signature::LEN)?;
        Some(Signature::from_bytes(bytes.first_chunk()?))
    }

    /// Checks that every record is whole.
    pub fn check(&self) -> Result<()> {
        match (0..self.count).find(|ordinal| self.get(*ordinal).is_none()) {
            None => Ok(()),
            Some(ordinal) => Err(ViewError::Unusable {
                view: "rows",
                why: format!("the record of ordinal {ordinal} is damaged"),
            }),
        }
    }

    /// Adds new records to rows in memory, and closes records.
    pub fn absorb(&mut self, opened: &[(u64, Row)], closed: &Map<u64, Closed>) {
        let Backing::Owned(bytes) = &mut self.backing else {
            return;
        };
        for (ordinal, row) in opened {
            debug_assert_eq!(*ordinal, self.count, "ordinals are dense");
            bytes.extend_from_slice(&row.encode());
            self.count += 1;
        }
        for (ordinal, end) in closed {
            let start = HEADER_LEN + *ordinal as usize * RECORD_LEN;
            let Some(place) = bytes.get_mut(start..start + RECORD_LEN) else {
                continue;
            };
            if let Some(row) = Row::parse(place) {
                place.copy_from_slice(
                    &Row {
                        to: end.at.0,
                        ..row
                    }
                    .encode(),
                );
            }
        }
    }
}

/// Writes new and closed records to the file; creates the file if `next` is 0. `next` is the ordinal after the last one
/// of the checkpoint before. Later records in the file are overwritten.
pub(crate) fn write(
    path: &Path,
    next: u64,
    opened: &[(u64, Row)],
    closed: &Map<u64, Closed>,
) -> Result<()> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(next == 0)
        .truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(io("opening", path))?;
    let at = |ordinal: u64| HEADER_LEN as u64 + ordinal * RECORD_LEN as u64;
    if next == 0 {
        write_at(&file, &MAGIC, 0).map_err(io("writing", path))?;
    }
    let bytes: Vec<u8> = opened.iter().flat_map(|(_, row)| row.encode()).collect();
    write_at(&file, &bytes, at(next)).map_err(io("writing", path))?;
    for (ordinal, end) in closed {
        let mut record = [0; RECORD_LEN];
        read_at(&file, &mut record, at(*ordinal)).map_err(io("reading", path))?;
        let Some(row) = Row::parse(&record) else {
            return Err(ViewError::Unusable {
                view: "rows",
                why: "a damaged record".into(),
            });
        };
        let closed = Row {
            to: end.at.0,
            ..row
        }
        .encode();
        write_at(&file, &closed, at(*ordinal)).map_err(io("writing", path))?;
    }
    Ok(())
}

/// Reopens the records, among the first `count`, that a commit which was not finished closed after `position`.
pub(crate) fn go_back(path: &Path, count: u64, position: Position) -> Result<()> {
    let rows = Rows::open(path, count)?;
    rows.check()?;
    let is_ahead = |row: &Row| row.to != OPEN && row.to > position.0;
    let file = OpenOptions::new().write(true).open(path);
    let file = file.map_err(io("opening", path))?;
    for ordinal in 0..count {
        if let Some(row) = rows.get(ordinal).filter(is_ahead) {
            let open = Row { to: OPEN, ..row }.encode();
            let at = HEADER_LEN as u64 + ordinal * RECORD_LEN as u64;
            write_at(&file, &open, at).map_err(io("writing", path))?;
        }
    }
    Ok(())
}

pub(crate) fn damaged(ordinal: u64) -> ViewError {
    ViewError::Unusable {
        view: "rows",
        why: format!("the record of ordinal {ordinal} is damaged"),
    }
}

#[cfg(test)]
mod tests {
    use icm_log::facts::{Importance, ScopeKind, Trust};

    use super::*;
    use crate::fold::Family;

    #[test]
    fn conflicts_closed_after_a_position_are_open_again_once_taken_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("rows");
        let row = |from: u64| Row {
            from: Position(from),
            to: OPEN,
            entity: SubjectId([from as u8; 16]),
            topic: 0,
            created_ms: 0,
            updated_ms: 0,
            home: HomeTag::default(),
            signature: Signature::default(),
            scope_kind: ScopeKind::Global,
            facts: RowFacts {
                importance: Importance::Medium,
                trust: Trust::Agent,
                family: Family::Memory,
                is_pinned: false,
                expires_ms: u64::MAX,
                expires_by_more: false,
                is_fact: false,
                is_planned: false,
                time_ms: 0,
            },
        };
        let ended = |at: u64| Closed {
            entity: SubjectId([0; 16]),
            at: Position(at),
        };
        let first = [(0, row(1)), (1, row(2)), (2, row(3))];
        write(&path, 0, &first, &Map::default()).expect("written");
        let closed = Map::from_iter([(0, ended(5)), (1, ended(6))]);
        write(&path, 3, &[(3, row(6))], &closed).expect("written");
        go_back(&path, 3, Position(5)).expect("taken back");
        let rows = Rows::open(&path, 3).expect("opened");
        let ends = [0, 1, 2].map(|ordinal| rows.get(ordinal).expect("whole").to);
        assert_eq!(ends, [5, OPEN, OPEN]);
    }
}
