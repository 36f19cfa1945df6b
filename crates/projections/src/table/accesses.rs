//! The storage of accesses (recalls that showed a memory): in blocks, so that a rebuild does not insert a row for each
//! memory of each recall.
//!
//! ```text
//! block:  number of accesses before it (8) · latest time of them (8) · accesses, oldest first
//! access: position (8) · time, milliseconds since the epoch (8)
//! ```
//! An undo that changes which recalls count starts a block of its own. The numbers of that block are the new ones, and
//! its first access is no recall: the top bit of its position is set, and its time is the latest of the recalls that
//! count.

use icm_log::Position;

use super::unreadable;
use crate::error::Result;
use crate::fold::Access;

/// Most accesses in a block: 64, so that few bytes are read for one number. A larger value reads more for each query
/// and makes fewer rows.
const BLOCK_ACCESSES: usize = 64;
const SEEN_LEN: usize = 16;
const ACCESS_LEN: usize = 16;
/// Bit in a position that marks an undo instead of a recall.
const NO_RECALL: u64 = 1 << 63;

/// The number and the latest time of the recalls up to a position.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// The number of recalls that count.
    pub(super) count: u64,
    /// The time of the latest of them, by the caller's clock; 0 without one.
    pub(super) last_ms: u64,
}

impl Seen {
    /// Returns the values after a block.
    pub(super) fn after(self, block: &[Access]) -> Seen {
        block
            .iter()
            .fold(self, |seen, access| match access.counted {
                Some(count) => Seen {
                    count,
                    last_ms: access.at_ms,
                },
                None => Seen {
                    count: seen.count + 1,
                    last_ms: seen.last_ms.max(access.at_ms),
                },
            })
    }
}

/// Divides accesses into blocks. Accesses at one position stay together, because a block is found by its first access.
pub(super) fn blocks(mut accesses: &[Access]) -> impl Iterator<Item = &[Access]> {
    std::iter::from_fn(move || {
        let last = accesses.get(..BLOCK_ACCESSES.min(accesses.len()))?.last()?;
        let mut len = accesses.partition_point(|access| access.position <= last.position);
        let undo = accesses[1..len].iter().position(|a| a.counted.is_some());
        if let Some(undo) = undo {
            len = undo + 1;
        }
        let (block, rest) = accesses.split_at(len);
        accesses = rest;
        Some(block)
    })
}

/// Returns the bytes of a block that follows `before`.
pub(super) fn encode(before: Seen, block: &[Access]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(SEEN_LEN + block.len() * ACCESS_LEN);
    let undo = block.first().filter(|first| first.counted.is_some());
    let before = undo.map_or(before, |undo| before.after(std::slice::from_ref(undo)));
    bytes.extend_from_slice(&before.count.to_be_bytes());
    bytes.extend_from_slice(&before.last_ms.to_be_bytes());
    for access in block {
        let flag = access.counted.map_or(0, |_| NO_RECALL);
        bytes.extend_from_slice(&(access.position.0 | flag).to_be_bytes());
        bytes.extend_from_slice(&access.at_ms.to_be_bytes());
    }
    bytes
}

/// A block, read in place.
pub(super) struct Block<'a> {
    before: Seen,
    accesses: &'a [[u8; ACCESS_LEN]],
}

impl Block<'_> {
    pub(super) fn parse(bytes: &[u8]) -> Result<Block<'_>> {
        let (before, accesses) = bytes
            .split_first_chunk::<SEEN_LEN>()
            .ok_or_else(|| unreadable("access"))?;
        let (accesses, rest) = accesses.as_chunks::<ACCESS_LEN>();
        if accesses.is_empty() || !rest.is_empty() {
            return Err(unreadable("access"));
        }
        Ok(Block {
            before: Seen {
                count: number(before, 0),
                last_ms: number(before, 8),
            },
            accesses,
        })
    }

    /// Returns the values at the end of the block.
    pub(super) fn end(&self) -> Seen {
        self.at(Position(NO_RECALL - 1))
    }

    /// Gives positions and times of the recalls up to `position` to `take`. Returns `false` if an undo up to `position`
    /// affects which of them count.
    pub(super) fn times(&self, position: Position, take: &mut impl FnMut(Position, u64)) -> bool {
        let undo = self.undos() == 1;
        if undo && number(&self.accesses[0], 0) & !NO_RECALL <= position.0 {
            return false;
        }
        for access in &self.accesses[self.undos()..] {
            let at = Position(number(access, 0));
            if at <= position {
                take(at, number(access, 8));
            }
        }
        true
    }

    /// Returns 1 if the first access is an undo, else 0.
    fn undos(&self) -> usize {
        usize::from(number(&self.accesses[0], 0) & NO_RECALL != 0)
    }

    /// Returns the positions of the recalls up to `position`, newest first.
    pub(super) fn positions(&self, position: Position) -> impl Iterator<Item = Position> {
        let positions = self.accesses[self.undos()..].iter().rev();
        positions
            .map(|access| Position(number(access, 0)))
            .filter(move |found| *found <= position)
    }

    /// Returns the values as of `position`.
    pub(super) fn at(&self, position: Position) -> Seen {
        let seen = self
            .accesses
            .partition_point(|access| number(access, 0) & !NO_RECALL <= position.0);
        let recalls = self.accesses[..seen]
            .get(self.undos()..)
            .unwrap_or_default();
        Seen {
            count: self.before.count + recalls.len() as u64,
            last_ms: recalls
                .iter()
                .map(|access| number(access, 8))
                .fold(self.before.last_ms, u64::max),
        }
    }
}

fn number(bytes: &[u8; ACCESS_LEN], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_be_bytes(eight)
}

#[cfg(test)]
mod tests {
    use icm_log::{Cursor, SubjectId};
    use redb::{Builder, backends::InMemoryBackend};

    use super::*;
    use crate::fold::{Folder, Tally};
    use crate::table::{Table, flush};

    /// Compares the accesses of one memory, written in two flushes and some at one position, with a plain count.
    #[test]
    fn counted_as_of_every_position() {
        let db = Builder::new()
            .create_with_backend(InMemoryBackend::new())
            .expect("memory");
        let (one, other) = (SubjectId([1; 16]), SubjectId([2; 16]));
        let mut all = Vec::new();
        let mut end = 0;
        for flushed in 0..2 {
            let mut folder = Folder::new(Tally::default());
            for n in 0..250_u64 {
                end += u64::from(n % 5 != 0 && !(100..190).contains(&n)) * 2 + u64::from(n == 0);
                let access = Access {
                    position: Position(10 + end),
                    at_ms: 1_000 * end + flushed,
                    counted: None,
                };
                all.push(access);
                folder.kept.accesses.entry(one).or_default().push(access);
            }
            folder.kept.accesses.entry(other).or_default().push(all[0]);
            flush(&db, &folder, &Cursor::START).expect("it writes");
        }
        let table = Table::of(&db).expect("it reads");
        for position in (0..end + 20).map(Position) {
            let seen = || all.iter().filter(|access| access.position <= position);
            let expected = (
                seen().count() as u64,
                seen().next_back().map(|access| access.at_ms),
            );
            let found = table.accesses_at(one, position).expect("it reads");
            assert_eq!(found, expected, "as of {position}");
            for most in [0, 1, 65, usize::MAX] {
                let newest = seen().rev().map(|access| access.position).take(most);
                let found = table.access_positions(one, position, most);
                let found = found.expect("it reads");
                assert_eq!(found, newest.collect::<Vec<_>>(), "as of {position}");
            }
        }
        assert!(all.len() == 500 && end > 100);
    }
}
