//! BLAKE3 of many short messages, several at a time.
//!
//! The digests of a state are added up, so their order is free, and a processor that works on eight
//! numbers at once hashes eight messages in little more than the time of one. A library of BLAKE3
//! does that within one long message only.

use super::state_hash::StateSum;

const BLOCK_LEN: usize = 64;
/// Longer messages are more than one chunk of BLAKE3 and hashed on their own.
const BLOCKS_MAX: usize = 16;
const LANES: usize = 8;

/// Messages that wait for enough others as long as they are.
#[derive(Debug, Default)]
pub(super) struct Digests {
    /// By number of blocks, from 1.
    waiting: [Waiting; BLOCKS_MAX],
}

#[derive(Debug, Default)]
struct Waiting {
    /// The messages, each filled up to whole blocks with zeros.
    bytes: Vec<u8>,
    /// Their lengths.
    lens: Vec<usize>,
}

impl Digests {
    /// Adds the digest of `message` to `sum`, now or at a later call.
    pub(super) fn add(&mut self, sum: &mut StateSum, message: &[u8]) {
        let blocks = message.len().div_ceil(BLOCK_LEN).max(1);
        if blocks > BLOCKS_MAX {
            sum.add(blake3::hash(message).as_bytes());
            return;
        }
        let waiting = &mut self.waiting[blocks - 1];
        waiting.bytes.extend_from_slice(message);
        waiting.lens.push(message.len());
        waiting
            .bytes
            .resize(waiting.lens.len() * blocks * BLOCK_LEN, 0);
        if waiting.lens.len() == LANES {
            waiting.flush(sum, blocks);
        }
    }

    /// Adds the digests that wait.
    pub(super) fn finish(&mut self, sum: &mut StateSum) {
        for (blocks, waiting) in (1..).zip(&mut self.waiting) {
            waiting.flush(sum, blocks);
        }
    }
}

impl Waiting {
    fn flush(&mut self, sum: &mut StateSum, blocks: usize) {
        match all_lanes(&self.bytes, &self.lens, blocks) {
            Some(digests) => digests.iter().for_each(|digest| sum.add(digest)),
            None => {
                let messages = self.bytes.chunks_exact(blocks * BLOCK_LEN);
                for (message, len) in messages.zip(&self.lens) {
                    sum.add(blake3::hash(&message[..*len]).as_bytes());
                }
            }
        }
        self.bytes.clear();
        self.lens.clear();
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn all_lanes(_: &[u8], _: &[usize], _: usize) -> Option<[[u8; 32]; LANES]> {
    None
}

/// The digests of messages of so many blocks, if there is one a lane and the processor has lanes.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
fn all_lanes(bytes: &[u8], lens: &[usize], blocks: usize) -> Option<[[u8; 32]; LANES]> {
    let lens: &[usize; LANES] = lens.try_into().ok()?;
    if !is_x86_feature_detected!("avx2") {
        return None;
    }
    if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
        // SAFETY: the processor has all three.
        return Some(unsafe { wide::digests_with_avx512(bytes, lens, blocks) });
    }
    // SAFETY: the processor has AVX2.
    Some(unsafe { wide::digests(bytes, lens, blocks) })
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_extract_epi32, _mm256_or_si256, _mm256_set1_epi32,
        _mm256_setr_epi32, _mm256_slli_epi32, _mm256_srli_epi32, _mm256_xor_si256,
    };

    use super::{BLOCK_LEN, LANES};

    const IV: [u32; 8] = [
        0x6A09_E667,
        0xBB67_AE85,
        0x3C6E_F372,
        0xA54F_F53A,
        0x510E_527F,
        0x9B05_688C,
        0x1F83_D9AB,
        0x5BE0_CD19,
    ];
    const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
    const SCHEDULE: [[usize; 16]; 7] = schedule();
    const CHUNK_START: i32 = 1;
    const CHUNK_END: i32 = 2;
    const ROOT: i32 = 8;

    const fn schedule() -> [[usize; 16]; 7] {
        let mut rounds = [[0; 16]; 7];
        let mut word = 0;
        while word < 16 {
            rounds[0][word] = word;
            word += 1;
        }
        let mut round = 1;
        while round < 7 {
            word = 0;
            while word < 16 {
                rounds[round][word] = rounds[round - 1][PERMUTATION[word]];
                word += 1;
            }
            round += 1;
        }
        rounds
    }

    #[target_feature(enable = "avx2")]
    fn add(a: __m256i, b: __m256i) -> __m256i {
        _mm256_add_epi32(a, b)
    }

    #[target_feature(enable = "avx2")]
    fn xor(a: __m256i, b: __m256i) -> __m256i {
        _mm256_xor_si256(a, b)
    }

    #[target_feature(enable = "avx2")]
    fn all(number: u32) -> __m256i {
        _mm256_set1_epi32(number.cast_signed())
    }

    /// Rotates to the right; the other way by `L`, which is 32 less `R`.
    #[target_feature(enable = "avx2")]
    fn rotate<const R: i32, const L: i32>(x: __m256i) -> __m256i {
        _mm256_or_si256(_mm256_srli_epi32::<R>(x), _mm256_slli_epi32::<L>(x))
    }

    /// The quarter round of BLAKE3 on four of the state's words.
    macro_rules! mix {
        ($v:ident, $a:literal, $b:literal, $c:literal, $d:literal, $x:expr, $y:expr) => {
            $v[$a] = add(add($v[$a], $v[$b]), $x);
            $v[$d] = rotate::<16, 16>(xor($v[$d], $v[$a]));
            $v[$c] = add($v[$c], $v[$d]);
            $v[$b] = rotate::<12, 20>(xor($v[$b], $v[$c]));
            $v[$a] = add(add($v[$a], $v[$b]), $y);
            $v[$d] = rotate::<8, 24>(xor($v[$d], $v[$a]));
            $v[$c] = add($v[$c], $v[$d]);
            $v[$b] = rotate::<7, 25>(xor($v[$b], $v[$c]));
        };
    }

    /// A word of the block at `at` of each message.
    #[target_feature(enable = "avx2")]
    fn word(bytes: &[u8], at: usize, stride: usize) -> __m256i {
        let of = |lane: usize| {
            let start = lane * stride + at;
            let mut four = [0; 4];
            four.copy_from_slice(&bytes[start..start + 4]);
            i32::from_le_bytes(four)
        };
        _mm256_setr_epi32(of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7))
    }

    /// Digests of messages of `blocks` blocks each, the last ones filled up with zeros.
    macro_rules! digests {
        ($name:ident, $features:literal) => {
            #[target_feature(enable = $features)]
            pub(super) fn $name(
                bytes: &[u8],
                lens: &[usize; LANES],
                blocks: usize,
            ) -> [[u8; 32]; LANES] {
                let stride = blocks * BLOCK_LEN;
                let mut state = IV.map(|word| all(word));
                for block in 0..blocks {
                    let last = block + 1 == blocks;
                    let at = block * BLOCK_LEN;
                    let m: [__m256i; 16] = std::array::from_fn(|w| word(bytes, at + 4 * w, stride));
                    let len = |lane: usize| match last {
                        true => (lens[lane] - at) as i32,
                        false => BLOCK_LEN as i32,
                    };
                    let first = if block == 0 { CHUNK_START } else { 0 };
                    let flags = first | if last { CHUNK_END | ROOT } else { 0 };
                    let [s0, s1, s2, s3, s4, s5, s6, s7] = state;
                    let mut v = [
                        s0,
                        s1,
                        s2,
                        s3,
                        s4,
                        s5,
                        s6,
                        s7,
                        all(IV[0]),
                        all(IV[1]),
                        all(IV[2]),
                        all(IV[3]),
                        // The chunk's number: there is one chunk.
                        all(0),
                        all(0),
                        _mm256_setr_epi32(
                            len(0),
                            len(1),
                            len(2),
                            len(3),
                            len(4),
                            len(5),
                            len(6),
                            len(7),
                        ),
                        _mm256_set1_epi32(flags),
                    ];
                    for order in &SCHEDULE {
                        mix!(v, 0, 4, 8, 12, m[order[0]], m[order[1]]);
                        mix!(v, 1, 5, 9, 13, m[order[2]], m[order[3]]);
                        mix!(v, 2, 6, 10, 14, m[order[4]], m[order[5]]);
                        mix!(v, 3, 7, 11, 15, m[order[6]], m[order[7]]);
                        mix!(v, 0, 5, 10, 15, m[order[8]], m[order[9]]);
                        mix!(v, 1, 6, 11, 12, m[order[10]], m[order[11]]);
                        mix!(v, 2, 7, 8, 13, m[order[12]], m[order[13]]);
                        mix!(v, 3, 4, 9, 14, m[order[14]], m[order[15]]);
                    }
                    state = std::array::from_fn(|word| xor(v[word], v[word + 8]));
                }
                let mut digests = [[0; 32]; LANES];
                for (word, lanes) in state.into_iter().enumerate() {
                    let lanes = [
                        _mm256_extract_epi32::<0>(lanes),
                        _mm256_extract_epi32::<1>(lanes),
                        _mm256_extract_epi32::<2>(lanes),
                        _mm256_extract_epi32::<3>(lanes),
                        _mm256_extract_epi32::<4>(lanes),
                        _mm256_extract_epi32::<5>(lanes),
                        _mm256_extract_epi32::<6>(lanes),
                        _mm256_extract_epi32::<7>(lanes),
                    ];
                    for (digest, number) in digests.iter_mut().zip(lanes) {
                        digest[4 * word..4 * word + 4].copy_from_slice(&number.to_le_bytes());
                    }
                }
                digests
            }
        };
    }

    digests!(digests, "avx2");
    // The same with twice the registers, and rotations that are one instruction.
    digests!(digests_with_avx512, "avx2,avx512f,avx512vl");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the processor has more, the lesser way is looked at, too.
    #[cfg(target_arch = "x86_64")]
    #[test]
    #[allow(unsafe_code)]
    fn with_avx2_alone() {
        if !is_x86_feature_detected!("avx2") {
            return;
        }
        for blocks in 1..=BLOCKS_MAX {
            let lens: [usize; LANES] = std::array::from_fn(|lane| blocks * BLOCK_LEN - 8 * lane);
            let mut bytes = vec![0; LANES * blocks * BLOCK_LEN];
            let messages = bytes.chunks_exact_mut(blocks * BLOCK_LEN);
            for (message, (len, lane)) in messages.zip(lens.iter().zip(1..)) {
                message[..*len].fill(lane);
            }
            // SAFETY: the processor has AVX2.
            let found = unsafe { wide::digests(&bytes, &lens, blocks) };
            let messages = bytes.chunks_exact(blocks * BLOCK_LEN);
            for ((message, len), digest) in messages.zip(lens).zip(found) {
                assert_eq!(digest, *blake3::hash(&message[..len]).as_bytes());
            }
        }
    }

    #[test]
    fn the_sum_is_that_of_single_hashes() {
        let bytes: Vec<u8> = (0..1_500_u32).map(|n| (n * 7 % 251) as u8).collect();
        let (mut digests, mut sum, mut expected) =
            (Digests::default(), StateSum::default(), StateSum::default());
        let mut count = 0;
        // Every length up to beyond a chunk, and a lane's worth and more of some.
        for len in (0..1_100).chain([0, 1, 49, 63, 64, 65, 400, 1_024].repeat(2 * LANES + 1)) {
            let message = &bytes[count % 400..][..len];
            digests.add(&mut sum, message);
            expected.add(blake3::hash(message).as_bytes());
            count += 1;
        }
        digests.finish(&mut sum);
        assert_eq!(sum, expected);
        assert_eq!(count, 1_100 + 8 * (2 * LANES + 1));
    }
}
