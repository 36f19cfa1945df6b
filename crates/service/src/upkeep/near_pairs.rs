//! Pairs of one topic and scope that say nearly the same: found by signatures, then compared.

use std::cmp::Reverse;
use std::rc::Rc;

use icm_projections::{Row, Views};
use icm_text::{BANDS, Likely, Words};
use rustc_hash::FxHashMap;

use crate::snapshot::QueryResult;

/// Older memories with one number of the signature of a memory that are looked at, the newest first. More find near ones in
/// topics of more than 100,000 memories, and cost some nanoseconds each.
const LOOKED_AT_MAX: usize = 128;
/// Older memories that a memory is compared with, those first whose signatures agree most. More find more of those that are
/// just near enough, and cost some 10 µs each.
const COMPARED_MAX: usize = 16;
/// Words of texts that are held to be compared, 8 bytes each: 16 MiB. Fewer have texts read more than once.
const WORDS_MAX: usize = 2 * 1_024 * 1_024;
/// One, in parts per million.
const ONE_PPM: u32 = 1_000_000;
/// No memory: the end of a chain.
const NONE: u32 = u32::MAX;

/// What memories are compared by. Those that there is no room for are read again.
#[derive(Default)]
struct Texts {
    held: FxHashMap<u64, Rc<Words>>,
    words: usize,
}

impl Texts {
    fn of(&mut self, views: &Views, (ordinal, row): (u64, &Row)) -> QueryResult<Rc<Words>> {
        if let Some(words) = self.held.get(&ordinal) {
            return Ok(Rc::clone(words));
        }
        let version = views.version_of_row(row)?;
        let words = Rc::new(Words::of(version.content.as_deref().unwrap_or_default()));
        if self.words + words.count() > WORDS_MAX {
            *self = Texts::default();
        }
        self.words += words.count();
        self.held.insert(ordinal, Rc::clone(&words));
        Ok(words)
    }
}

/// Hands out pairs of memories of one topic and scope that are at least as alike as `least_ppm`: the older one, the newer one,
/// and how alike they are in parts per million. `members` are ordinals and rows of all of them, the oldest first.
///
/// Each is compared with older ones that share a number of its signature ([`BANDS`]), and of those near it one is enough. Most
/// pairs are found, not all. Memory: about 200 bytes a member.
pub(super) fn near_pairs(
    views: &Views,
    members: &[(u64, Row)],
    least_ppm: u32,
    take: &mut dyn FnMut(&Row, &Row, u32),
) -> QueryResult<()> {
    let likely = Likely::at_least(least_ppm);
    let mut texts = Texts::default();
    // The newest member with a number, and of each member the one before it with the same number.
    let mut newest: FxHashMap<(u8, u16), u32> = FxHashMap::default();
    let mut before: Vec<[u32; BANDS]> = Vec::with_capacity(members.len());
    let mut candidates: Vec<(Reverse<u32>, u32)> = Vec::new();
    for (at, (ordinal, row)) in members.iter().enumerate() {
        before.push([NONE; BANDS]);
        if row.signature.is_empty() {
            continue;
        }
        candidates.clear();
        let numbers = || (0..BANDS as u8).zip(row.signature.bands());
        for number in numbers() {
            let band = usize::from(number.0);
            let mut older = newest.get(&number).copied().unwrap_or(NONE);
            before[at][band] = older;
            for _ in 0..LOOKED_AT_MAX {
                let Some((_, other)) = members.get(older as usize) else {
                    break;
                };
                if likely.may_be(row.signature, other.signature) {
                    let agreement = row.signature.agreement(other.signature);
                    candidates.push((Reverse(agreement), older));
                }
                older = before[older as usize][band];
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        let mut is_repeat = false;
        for (_, older) in candidates.iter().take(COMPARED_MAX) {
            let (older_ordinal, other) = &members[*older as usize];
            let one = texts.of(views, (*ordinal, row))?;
            let alike = texts
                .of(views, (*older_ordinal, other))?
                .similarity_ppm(&one);
            if alike >= least_ppm {
                take(other, row, alike);
                is_repeat = alike == ONE_PPM;
                break;
            }
        }
        // Whatever is near a repetition is as near to what it repeats.
        if !is_repeat {
            newest.extend(numbers().map(|number| (number, at as u32)));
        }
    }
    Ok(())
}
