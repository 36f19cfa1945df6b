//! How recalls that showed a memory are kept: in blocks, so that a rebuild does not insert a row for
//! each memory of each recall.
//!
//! ```text
//! block:  accesses before it (8) · accesses, oldest first
//! access: position (8) · time, milliseconds since the epoch (8)
//! ```

use icm_log::Position;

use super::read::unreadable;
use crate::error::Result;
use crate::fold::Access;

/// A block that is full is not much to read for one number.
const BLOCK_ACCESSES: usize = 64;
const COUNT_LEN: usize = 8;
const ACCESS_LEN: usize = 16;

/// Divides accesses into blocks. Those at one position stay together: a block is found by its first.
pub(super) fn blocks(mut accesses: &[Access]) -> impl Iterator<Item = &[Access]> {
    std::iter::from_fn(move || {
        let last = accesses.get(..BLOCK_ACCESSES.min(accesses.len()))?.last()?;
        let len = accesses.partition_point(|access| access.position <= last.position);
        let (block, rest) = accesses.split_at(len);
        accesses = rest;
        Some(block)
    })
}

/// The value of a block that `before` accesses precede.
pub(super) fn encode(before: u64, block: &[Access]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(COUNT_LEN + block.len() * ACCESS_LEN);
    bytes.extend_from_slice(&before.to_be_bytes());
    for access in block {
        bytes.extend_from_slice(&access.position.0.to_be_bytes());
        bytes.extend_from_slice(&access.at_ms.to_be_bytes());
    }
    bytes
}

/// A block, read in place.
pub(super) struct Block<'a> {
    before: u64,
    accesses: &'a [[u8; ACCESS_LEN]],
}

impl Block<'_> {
    pub(super) fn parse(bytes: &[u8]) -> Result<Block<'_>> {
        let (before, accesses) = bytes
            .split_first_chunk::<COUNT_LEN>()
            .ok_or_else(|| unreadable("access"))?;
        let (accesses, rest) = accesses.as_chunks::<ACCESS_LEN>();
        if accesses.is_empty() || !rest.is_empty() {
            return Err(unreadable("access"));
        }
        Ok(Block {
            before: u64::from_be_bytes(*before),
            accesses,
        })
    }

    /// Accesses up to the end of the block.
    pub(super) fn count(&self) -> u64 {
        self.before + self.accesses.len() as u64
    }

    /// Positions of the accesses up to `position`, newest first.
    pub(super) fn positions(&self, position: Position) -> impl Iterator<Item = Position> {
        let positions = self.accesses.iter().rev();
        positions
            .map(|access| Position(number(access, 0)))
            .filter(move |found| *found <= position)
    }

    /// How many accesses there were up to `position`, and when the last one was.
    pub(super) fn at(&self, position: Position) -> (u64, Option<u64>) {
        let seen = self
            .accesses
            .partition_point(|access| number(access, 0) <= position.0);
        let last = self.accesses[..seen].last();
        (
            self.before + seen as u64,
            last.map(|access| number(access, 8)),
        )
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

    /// Accesses of one memory, taken in over two flushes, some of them at one position, against
    /// counting them.
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
