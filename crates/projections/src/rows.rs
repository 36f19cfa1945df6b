//! Row facts: one record an ordinal, memory-mapped, that says from which position to which a
//! version held. Text and vectors alike filter by it, so closing a version is one small write here.
//!
//! ```text
//! header: magic (8) · zero (8)
//! record: from (8) · to (8, all ones while it holds) · memory (16) · tag of its topic (4) · check (4)
//! ```
//! Every record has its own check, so what is used is known to be whole.

use std::fs::{File, OpenOptions};
use std::path::Path;

use icm_log::{Position, SubjectId};
use rustc_hash::FxHashMap;

use crate::error::{Result, ViewError, io};
use crate::fold::Closed;

const MAGIC: [u8; 16] = *b"ICMROWS2\0\0\0\0\0\0\0\0";
const HEADER_LEN: usize = 16;
const RECORD_LEN: usize = 40;

/// The version still holds.
pub(crate) const OPEN: u64 = u64::MAX;

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// First position it holds at.
    pub from: Position,
    /// First position it no longer holds at; [`OPEN`] while it holds.
    pub to: u64,
    /// Its memory.
    pub entity: SubjectId,
    /// Stands for its topic: different tags are different topics, and the same tag is the same topic
    /// but for one chance in four thousand million.
    pub topic: u32,
}

/// The tag of a topic.
pub(crate) fn topic_tag(topic: Option<&str>) -> u32 {
    crc32c::crc32c(topic.unwrap_or_default().as_bytes())
}

impl Row {
    /// Whether the version held at `position`.
    pub fn holds_at(&self, position: Position) -> bool {
        self.from <= position && position.0 < self.to
    }

    fn encode(&self) -> [u8; RECORD_LEN] {
        let mut bytes = [0; RECORD_LEN];
        bytes[..8].copy_from_slice(&self.from.0.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.to.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.entity.0);
        bytes[32..36].copy_from_slice(&self.topic.to_le_bytes());
        let check = crc32c::crc32c(&bytes[..36]);
        bytes[36..].copy_from_slice(&check.to_le_bytes());
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Row> {
        let bytes: &[u8; RECORD_LEN] = bytes.try_into().ok()?;
        let four = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if crc32c::crc32c(&bytes[..36]) != four(36) {
            return None;
        }
        let (mut from, mut to, mut entity) = ([0; 8], [0; 8], [0; 16]);
        from.copy_from_slice(&bytes[..8]);
        to.copy_from_slice(&bytes[8..16]);
        entity.copy_from_slice(&bytes[16..32]);
        Some(Row {
            from: Position(u64::from_le_bytes(from)),
            to: u64::from_le_bytes(to),
            entity: SubjectId(entity),
            topic: four(32),
        })
    }
}

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
    /// No rows.
    pub fn empty() -> Rows {
        Rows {
            backing: Backing::Owned(MAGIC.to_vec()),
            count: 0,
        }
    }

    /// The first `count` records of a file.
    #[allow(unsafe_code)]
    pub fn open(path: &Path, count: u64) -> Result<Rows> {
        let file = File::open(path).map_err(io("opening", path))?;
        // SAFETY: the file is only ever appended to and changed in place by whole records that
        // carry a check; nobody truncates a file of a generation that is in use, they replace it.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(io("mapping", path))?;
        let need = HEADER_LEN as u64 + count * RECORD_LEN as u64;
        if (map.len() as u64) < need || map[..HEADER_LEN] != MAGIC {
            return Err(ViewError::Unusable {
                view: "rows",
                why: "it is too short".into(),
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

    /// Records that a file of `len` bytes has room for.
    pub(crate) fn count_in(len: u64) -> u64 {
        len.saturating_sub(HEADER_LEN as u64) / RECORD_LEN as u64
    }

    /// Number of records.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The record of an ordinal; `None` beyond the checkpoint, and for a damaged record.
    pub fn get(&self, ordinal: u64) -> Option<Row> {
        if ordinal >= self.count {
            return None;
        }
        let start = HEADER_LEN + ordinal as usize * RECORD_LEN;
        Row::parse(self.bytes().get(start..start + RECORD_LEN)?)
    }

    /// The tag of the topic of an ordinal, as it lies there: 0 beyond the checkpoint.
    pub(crate) fn tag(&self, ordinal: u64) -> u32 {
        let at = HEADER_LEN + ordinal as usize * RECORD_LEN + 32;
        let four = self.bytes().get(at..at + 4).unwrap_or_default();
        four.try_into().map_or(0, u32::from_le_bytes)
    }

    /// Whether every record is whole.
    pub fn check(&self) -> Result<()> {
        match (0..self.count).find(|ordinal| self.get(*ordinal).is_none()) {
            None => Ok(()),
            Some(ordinal) => Err(ViewError::Unusable {
                view: "rows",
                why: format!("the record of ordinal {ordinal} is damaged"),
            }),
        }
    }

    /// Takes new and closed records into rows that are held in memory.
    pub fn absorb(&mut self, opened: &[(u64, Row)], closed: &FxHashMap<u64, Closed>) {
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

/// Writes new and closed records to the file, creating it when `next` is 0. `next` is the ordinal
/// after the last one of the checkpoint before; what the file holds beyond is written over.
pub(crate) fn write(
    path: &Path,
    next: u64,
    opened: &[(u64, Row)],
    closed: &FxHashMap<u64, Closed>,
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

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(not(unix))]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> std::io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}

#[cfg(not(unix))]
fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = file;
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_there_and_back_and_every_flip_is_seen() {
        let row = Row {
            from: Position(3),
            to: OPEN,
            entity: SubjectId([7; 16]),
            topic: topic_tag(Some("a/b")),
        };
        let bytes = row.encode();
        assert_eq!(Row::parse(&bytes), Some(row));
        for bit in 0..RECORD_LEN * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Row::parse(&flipped), None, "bit {bit}");
        }
        assert!(row.holds_at(Position(3)) && !row.holds_at(Position(2)));
        let closed = Row { to: 5, ..row };
        assert!(closed.holds_at(Position(4)) && !closed.holds_at(Position(5)));
    }
}
