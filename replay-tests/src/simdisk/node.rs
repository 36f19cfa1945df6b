//! The bytes of a file: those that programs see, the durable ones, and the changes in between.

use std::ops::Range;
use std::sync::Arc;

use crate::rng::Rng;

/// The unit in which a page cache writes back and loses, in bytes.
const PAGE_LEN: u64 = 4_096;
/// The unit that a disk writes in one step, in bytes.
const SECTOR_LEN: u64 = 512;

/// A change of a file that is not durable yet.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Write { offset: u64, bytes: Vec<u8> },
    Truncate(u64),
}

#[derive(Debug, Clone, Default)]
pub(super) struct FileNode {
    /// The bytes that programs see. Shared between copies of a disk until one of them changes.
    pub(super) current: Arc<Vec<u8>>,
    /// The bytes that any crash leaves.
    durable: Arc<Vec<u8>>,
    /// The changes that a sync will make durable, in order.
    pending: Vec<Change>,
    /// Ranges that a failed sync gave up: programs see them, but no sync writes them until they are written again.
    lost: Vec<Range<u64>>,
    pub(super) locked: bool,
}

impl FileNode {
    /// Returns a file with durable contents.
    pub(super) fn durable(bytes: Arc<Vec<u8>>) -> FileNode {
        FileNode {
            current: Arc::clone(&bytes),
            durable: bytes,
            ..FileNode::default()
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8], offset: u64) {
        if bytes.is_empty() {
            return;
        }
        let change = Change::Write {
            offset,
            bytes: bytes.to_vec(),
        };
        apply(Arc::make_mut(&mut self.current), &change);
        self.pending.push(change);
        // A page that is written to goes to the disk whole, with the bytes that an earlier sync gave up.
        let pages = floor(offset)..ceil(offset + bytes.len() as u64);
        if self.lost.iter().any(|lost| overlap(lost, &pages)) {
            self.lost = self
                .lost
                .iter()
                .flat_map(|lost| without(lost, &pages))
                .collect();
            let end = pages.end.min(self.current.len() as u64);
            let whole = self.current[pages.start as usize..end as usize].to_vec();
            self.pending.push(Change::Write {
                offset: pages.start,
                bytes: whole,
            });
        }
    }

    pub(super) fn truncate(&mut self, len: u64) {
        apply(Arc::make_mut(&mut self.current), &Change::Truncate(len));
        self.pending.push(Change::Truncate(len));
    }

    pub(super) fn sync(&mut self) {
        if self.lost.is_empty() {
            // Without lost ranges, pending changes are the only difference between current and durable.
            self.pending.clear();
            self.durable = Arc::clone(&self.current);
        }
        for change in self.pending.drain(..) {
            apply(Arc::make_mut(&mut self.durable), &change);
        }
    }

    /// Makes a sync fail: some sectors become durable, and none of them is dirty any more.
    pub(super) fn sync_fails(&mut self, rng: &mut Rng) {
        self.durable = Arc::new(self.reordered(rng));
        for change in self.pending.drain(..) {
            match change {
                Change::Write { offset, bytes } => {
                    self.lost.push(offset..offset + bytes.len() as u64);
                }
                Change::Truncate(len) => Arc::make_mut(&mut self.durable).truncate(len as usize),
            }
        }
    }

    /// Returns the file with all unsynced changes.
    pub(super) fn kept(&self) -> Vec<u8> {
        let mut bytes = self.durable.to_vec();
        self.pending
            .iter()
            .for_each(|change| apply(&mut bytes, change));
        bytes
    }

    /// Returns the file without the unsynced changes.
    pub(super) fn dropped(&self) -> Vec<u8> {
        self.durable.to_vec()
    }

    /// Returns `true` if a crash has no choice about this file.
    pub(super) fn is_settled(&self) -> bool {
        self.pending.is_empty()
    }

    /// Returns the file without pending changes, as after a crash that had no choice.
    pub(super) fn settled(&self) -> FileNode {
        FileNode::durable(Arc::clone(&self.durable))
    }

    /// Returns the file with its changes in order, up to some byte or sector.
    pub(super) fn halved(&self, rng: &mut Rng) -> Vec<u8> {
        let mut bytes = self.durable.to_vec();
        let weight = |change: &Change| match change {
            Change::Write { bytes, .. } => bytes.len() as u64,
            Change::Truncate(_) => 1,
        };
        let mut left = rng.below(self.pending.iter().map(weight).sum());
        let whole_sectors = rng.coin();
        for change in &self.pending {
            match change {
                _ if weight(change) <= left => apply(&mut bytes, change),
                Change::Write {
                    offset,
                    bytes: written,
                } => {
                    let cut = if whole_sectors {
                        ((offset + left) / SECTOR_LEN * SECTOR_LEN).saturating_sub(*offset)
                    } else {
                        left
                    };
                    let part = written[..cut as usize].to_vec();
                    if !part.is_empty() {
                        apply(
                            &mut bytes,
                            &Change::Write {
                                offset: *offset,
                                bytes: part,
                            },
                        );
                    }
                    break;
                }
                Change::Truncate(_) => break,
            }
            left -= weight(change);
        }
        bytes
    }

    /// Returns the file with its changes in any order. Each sector (or page) is as it was after some of the changes,
    /// and so is the length. So later bytes may be there without earlier ones, and zeros where nothing was written yet.
    pub(super) fn reordered(&self, rng: &mut Rng) -> Vec<u8> {
        let count = self.pending.len() as u64;
        let unit = if rng.coin() { SECTOR_LEN } else { PAGE_LEN } as usize;
        // States of the file after 0, 1, … changes.
        let mut states = vec![self.durable.to_vec()];
        for change in &self.pending {
            let mut next = states[states.len() - 1].clone();
            apply(&mut next, change);
            states.push(next);
        }
        // All or nothing is the likeliest for the length: extents are journaled.
        let len = match rng.below(4) {
            0 => states[0].len(),
            1 => states[rng.below(count + 1) as usize].len(),
            _ => states[states.len() - 1].len(),
        };
        let mut bytes = vec![0; len];
        for start in (0..len).step_by(unit) {
            let end = (start + unit).min(len);
            let state = match rng.below(3) {
                0 => &states[0],
                1 => &states[rng.below(count + 1) as usize],
                _ => &states[states.len() - 1],
            };
            let there = state.len().clamp(start, end);
            bytes[start..there].copy_from_slice(state.get(start..there).unwrap_or(&[]));
        }
        bytes
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write {
            offset,
            bytes: written,
        } => {
            let (start, end) = (*offset as usize, *offset as usize + written.len());
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[start..end].copy_from_slice(written);
        }
        Change::Truncate(len) => bytes.resize(*len as usize, 0),
    }
}

fn floor(offset: u64) -> u64 {
    offset / PAGE_LEN * PAGE_LEN
}

fn ceil(offset: u64) -> u64 {
    offset.div_ceil(PAGE_LEN) * PAGE_LEN
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// Returns the parts of `whole` outside `cut`.
fn without(whole: &Range<u64>, cut: &Range<u64>) -> Vec<Range<u64>> {
    let before = whole.start..whole.end.min(cut.start);
    let after = whole.start.max(cut.end)..whole.end;
    [before, after]
        .into_iter()
        .filter(|range| range.start < range.end)
        .collect()
}
