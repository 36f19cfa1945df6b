//! The dot product of a row and a query, in whole numbers: the same on every machine.
//!
//! The best that the processor has is chosen when the program runs. A row is int8 and a query int16,
//! because the instructions widen int8 to int16 anyway: the finer query costs nothing.

/// A way to compute the product.
#[derive(Clone, Copy)]
pub(super) struct Dot {
    /// May only be called where the processor has what it was compiled for, like the next one.
    compute: unsafe fn(&[u8], &[i16]) -> i32,
    between: unsafe fn(&[u8], &[u8]) -> i32,
}

impl Dot {
    /// The fastest that runs here.
    pub(super) fn best() -> Dot {
        Dot::all()[0]
    }

    /// All that run here, the fastest first. The last one runs everywhere (SSE2 on x86-64, NEON on
    /// 64-bit ARM).
    pub(super) fn all() -> Vec<Dot> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            all.push(Dot {
                compute: avx2,
                between: avx2_between,
            });
        }
        all.push(Dot {
            compute: portable,
            between: portable_between,
        });
        all
    }

    /// The sum over bytes of `row`, which are signed, times numbers of `query`. Both are of one
    /// length, and 128 · length · the largest number of `query` is less than 2³¹.
    #[inline]
    #[allow(unsafe_code)]
    pub(super) fn of(self, row: &[u8], query: &[i16]) -> i32 {
        // SAFETY: only `all` makes one that wants more than every processor has, after it asked.
        unsafe { (self.compute)(row, query) }
    }

    /// The sum over signed bytes of one row times those of another. Both are of one length, less than 2¹⁷.
    #[inline]
    #[allow(unsafe_code)]
    pub(super) fn between(self, row: &[u8], other: &[u8]) -> i32 {
        // SAFETY: as above.
        unsafe { (self.between)(row, other) }
    }
}

/// How far ahead of the row that is being looked at the memory is asked for what comes; in bytes. The
/// processor sees by itself what is read in a row, but not beyond the end of a page.
const AHEAD_LEN: usize = 4_096;

/// Asks the memory for what lies [`AHEAD_LEN`] after the beginning of `row`, and as much as `row` is long.
#[inline]
pub(super) fn prefetch(row: &[u8]) {
    prefetch_from(row.as_ptr().wrapping_add(AHEAD_LEN), row.len());
}

/// Asks the memory for `row`.
#[inline]
pub(super) fn prefetch_row(row: &[u8]) {
    prefetch_from(row.as_ptr(), row.len());
}

#[inline]
#[allow(unsafe_code)]
fn prefetch_from(start: *const u8, len: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..len).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint, which nothing comes of where there is no such memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, len);
}

fn portable(row: &[u8], query: &[i16]) -> i32 {
    let products = row
        .iter()
        .zip(query)
        .map(|(byte, number)| i32::from(byte.cast_signed()) * i32::from(*number));
    products.sum()
}

fn portable_between(row: &[u8], other: &[u8]) -> i32 {
    let products = row
        .iter()
        .zip(other)
        .map(|(a, b)| i32::from(a.cast_signed()) * i32::from(b.cast_signed()));
    products.sum()
}

/// Sixteen products an instruction; compiled for AVX2, the loop above makes do with eight.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[allow(unsafe_code)]
fn avx2(row: &[u8], query: &[i16]) -> i32 {
    use std::arch::x86_64::{
        __m256i, _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_loadu_si256,
        _mm256_madd_epi16, _mm256_setzero_si256, _mm256_storeu_si256,
    };
    let step = |sum: __m256i, row: &[u8; 16], query: &[i16; 16]| {
        // SAFETY: the arrays are as long as what is loaded; neither load wants alignment.
        let (row, query) = unsafe {
            let row = _mm_loadu_si128(row.as_ptr().cast());
            (row, _mm256_loadu_si256(query.as_ptr().cast()))
        };
        _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_cvtepi8_epi16(row), query))
    };
    let (row, row_rest) = row.as_chunks::<16>();
    let (query, query_rest) = query.as_chunks::<16>();
    let mut sum = _mm256_setzero_si256();
    for (row, query) in row.iter().zip(query) {
        sum = step(sum, row, query);
    }
    let mut sums = [0_i32; 8];
    // SAFETY: as above.
    unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), sum) };
    sums.iter().sum::<i32>() + portable(row_rest, query_rest)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[allow(unsafe_code)]
fn avx2_between(row: &[u8], other: &[u8]) -> i32 {
    use std::arch::x86_64::{
        _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_madd_epi16,
        _mm256_setzero_si256, _mm256_storeu_si256,
    };
    let load = |bytes: &[u8; 16]| {
        // SAFETY: the array is as long as what is loaded, and the load wants no alignment.
        _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
    };
    let (row, row_rest) = row.as_chunks::<16>();
    let (other, other_rest) = other.as_chunks::<16>();
    let mut sum = _mm256_setzero_si256();
    for (row, other) in row.iter().zip(other) {
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(load(row), load(other)));
    }
    let mut sums = [0_i32; 8];
    // SAFETY: the array is as long as what is stored, and the store wants no alignment.
    unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), sum) };
    sums.iter().sum::<i32>() + portable_between(row_rest, other_rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn plain(row: &[u8], query: &[i16]) -> i32 {
        let mut sum = 0_i64;
        for at in 0..row.len() {
            sum += i64::from(row[at] as i8) * i64::from(query[at]);
        }
        i32::try_from(sum).expect("it fits")
    }

    proptest! {
        #[test]
        fn every_way_gives_the_same(
            pairs in proptest::collection::vec((any::<u8>(), any::<i16>()), 0..512),
        ) {
            let (row, query): (Vec<u8>, Vec<i16>) = pairs.into_iter().unzip();
            for (at, dot) in Dot::all().into_iter().enumerate() {
                prop_assert_eq!(dot.of(&row, &query), plain(&row, &query), "way {}", at);
                let other: Vec<u8> = query.iter().map(|number| *number as u8).collect();
                let wide: Vec<i16> = other.iter().map(|byte| i16::from(*byte as i8)).collect();
                let between = dot.between(&row, &other);
                prop_assert_eq!(between, plain(&row, &wide), "between, way {}", at);
            }
        }
    }

    #[test]
    fn the_largest_numbers_fit() {
        for (len, level) in [(1, i16::MAX), (511, i16::MAX), (4_096, 4_095)] {
            for (byte, sign) in [(0x80, 1), (0x80, -1), (0x7f, 1), (0x7f, -1)] {
                let (row, query) = (vec![byte; len], vec![level * sign; len]);
                for dot in Dot::all() {
                    assert_eq!(dot.of(&row, &query), plain(&row, &query), "{len} {byte}");
                }
            }
        }
    }
}
