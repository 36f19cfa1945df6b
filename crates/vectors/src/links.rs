//! Which places of a graph lead to which, and the way through them to what is near (the search of HNSW).
//!
//! What usearch makes is read from what it writes, and kept as it is walked: by place, without room for more. While one
//! row is looked at, the memory is asked for the next ones: a search of many rows is mostly waiting for them.
//!
//! ```text
//! vectors (4) · their length (4) · vectors, each of them a place (4) · head (64)
//! nodes (8) · most neighbours (8) · the same on the lowest level (8) · highest level (8) · entry (8)
//! the level of each node (2) · nodes: key (8) · level (2) · from level 0 up: neighbours (4) · room for the most (4 each)
//! ```
//! Little-endian; a neighbour is named by the number of its node.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

const PLACE_LEN: usize = 4;
const HEAD_LEN: usize = 64;
const HEAD_MAGIC: &[u8] = b"usearch";

/// The levels of a graph, the lowest first.
#[derive(Default)]
pub(super) struct Links {
    levels: Vec<Level>,
    entry: u32,
    count: usize,
}

/// Who leads to whom on a level.
#[derive(Default)]
struct Level {
    /// Who is on it, ascending; on the lowest all are, and nobody is listed.
    places: Vec<u32>,
    /// Where the neighbours of each begin, and where those of the last one end.
    starts: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Level {
    fn of(&self, place: u32) -> &[u32] {
        let at = match self.places.is_empty() {
            true => place as usize,
            false => match self.places.binary_search(&place) {
                Ok(at) => at,
                Err(_) => return &[],
            },
        };
        &self.neighbours[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

impl Links {
    /// From what usearch wrote of the first `count` rows; `None` where it is anything else.
    pub(super) fn read(body: &[u8], count: u64) -> Option<Links> {
        let mut rest = Bytes(body);
        let (nodes, place_len) = (rest.four()? as usize, rest.four()? as usize);
        if nodes as u64 != count || place_len != PLACE_LEN {
            return None;
        }
        let place_of: Vec<u32> = words(rest.take(nodes.checked_mul(PLACE_LEN)?)?).collect();
        let is_right = rest.take(HEAD_LEN)?.starts_with(HEAD_MAGIC)
            && rest.eight()? == count
            && place_of.iter().all(|place| u64::from(*place) < count);
        if !is_right {
            return None;
        }
        let room = [rest.eight()?, rest.eight()?].map(|most| usize::try_from(most).ok());
        let (above, lowest) = (room[0]?, room[1]?);
        let (highest, entry) = (rest.eight()?, rest.eight()?);
        rest.take(2 * nodes)?;
        // Where the neighbours of each place are listed, level by level.
        let mut lists: Vec<Vec<(u32, &[u8])>> = Vec::new();
        for place in &place_of {
            let (key, level) = (rest.eight()?, usize::from(rest.two()?));
            if key != u64::from(*place) || level as u64 > highest {
                return None;
            }
            lists.resize_with(lists.len().max(level + 1), Vec::new);
            for (at, list) in lists.iter_mut().enumerate().take(level + 1) {
                let most = if at == 0 { lowest } else { above };
                let used = rest.four()? as usize;
                let neighbours = rest.take(most.checked_mul(4)?)?;
                list.push((*place, neighbours.get(..used.checked_mul(4)?)?));
            }
        }
        let levels = lists.iter_mut().enumerate();
        let levels = levels.map(|(at, list)| Level::read(list, at == 0, &place_of));
        let levels: Vec<Level> = levels.collect::<Option<_>>()?;
        let entry = match nodes {
            0 => 0,
            _ => *place_of.get(usize::try_from(entry).ok()?)?,
        };
        let is_whole = rest.0.is_empty() && levels.first().map_or(0, Level::len) == nodes;
        is_whole.then_some(Links {
            levels,
            entry,
            count: nodes,
        })
    }

    /// Places of about the `wanted` that are nearest by `cosine`, in no order, with `breadth` or more of them kept in
    /// sight; `soon` is told of a place before it is looked at.
    pub(super) fn nearest(
        &self,
        wanted: usize,
        breadth: usize,
        cosine: impl Fn(u32) -> f32,
    ) -> Vec<u32> {
        let Some((lowest, above)) = self.levels.split_first().filter(|_| wanted > 0) else {
            return Vec::new();
        };
        let step = |place: u32| (rank(cosine(place)), place);
        let mut start = step(self.entry);
        for level in above.iter().rev() {
            loop {
                let neighbours = level.of(start.1);
                let nearest = neighbours.iter().map(|place| step(*place)).max();
                match nearest.filter(|nearest| nearest.0 > start.0) {
                    Some(nearer) => start = nearer,
                    None => break,
                }
            }
        }
        let breadth = wanted.max(breadth);
        let mut seen = vec![0_u64; self.count.div_ceil(64)];
        let mut is_new = |place: u32| {
            let (word, bit) = (&mut seen[place as usize / 64], 1_u64 << (place % 64));
            let new = *word & bit == 0;
            *word |= bit;
            new
        };
        is_new(start.1);
        // Nearest first, and the farthest of the best first.
        let mut next = BinaryHeap::from([start]);
        let mut best = BinaryHeap::with_capacity(breadth + 1);
        best.push(Reverse(start));
        let mut new = Vec::new();
        while let Some(from) = next.pop() {
            if best.len() >= breadth && best.peek().is_some_and(|worst| from < worst.0) {
                break;
            }
            new.clear();
            new.extend(lowest.of(from.1).iter().filter(|place| is_new(**place)));
            for found in new.iter().map(|place| step(*place)) {
                if best.len() < breadth {
                    best.push(Reverse(found));
                } else if let Some(mut worst) = best.peek_mut()
                    && found > worst.0
                {
                    *worst = Reverse(found);
                } else {
                    continue;
                }
                next.push(found);
            }
        }
        let mut best = best.into_vec();
        best.sort_unstable();
        best.truncate(wanted);
        best.into_iter().map(|found| found.0.1).collect()
    }
}

impl Level {
    /// `None` where a neighbour is no node.
    fn read(list: &mut [(u32, &[u8])], is_lowest: bool, place_of: &[u32]) -> Option<Level> {
        list.sort_unstable_by_key(|(place, _)| *place);
        let doubled = list.windows(2).any(|pair| pair[0].0 == pair[1].0);
        let all: usize = list.iter().map(|(_, bytes)| bytes.len() / 4).sum();
        if doubled || u32::try_from(all).is_err() {
            return None;
        }
        let mut level = Level {
            places: Vec::new(),
            starts: Vec::with_capacity(list.len() + 1),
            neighbours: Vec::with_capacity(all),
        };
        if !is_lowest {
            level.places = list.iter().map(|(place, _)| *place).collect();
        }
        for (_, bytes) in list {
            level.starts.push(level.neighbours.len() as u32);
            for node in words(bytes) {
                level.neighbours.push(*place_of.get(node as usize)?);
            }
        }
        level.starts.push(level.neighbours.len() as u32);
        Some(level)
    }

    /// How many are on it.
    fn len(&self) -> usize {
        self.starts.len() - 1
    }
}

/// In the order of [`f32::total_cmp`].
fn rank(number: f32) -> i32 {
    let bits = number.to_bits().cast_signed();
    bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed()
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word))
}

/// Bytes that are yet to be read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const LEN: usize>(&mut self) -> Option<[u8; LEN]> {
        self.take(LEN)?.try_into().ok()
    }

    fn two(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn four(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn eight(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}
