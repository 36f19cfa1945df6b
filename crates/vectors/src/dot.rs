//! The dot product of a row and a query, in whole numbers: the same on every machine.
//!
//! A row is int8 and a query int16: processors widen int8 to int16 anyway, so the finer query costs nothing.

/// Returns the sum of the signed bytes of `row` times the numbers of `query`. Both have the same length, and 128 ·
/// length · the largest number of `query` is less than 2³¹.
pub(super) fn dot(row: &[u8], query: &[i16]) -> i32 {
    widest(row, query)
}

/// Returns the sum of the signed bytes of a row times those of another row. Both have the same length, less than 2¹⁷.
pub(super) fn dot_of_rows(row: &[u8], other: &[u8]) -> i32 {
    widest(row, other)
}

/// A number of a vector.
trait Number: Copy {
    fn widened(self) -> i32;
}

impl Number for u8 {
    fn widened(self) -> i32 {
        i32::from(self.cast_signed())
    }
}

impl Number for i16 {
    fn widened(self) -> i32 {
        i32::from(self)
    }
}

/// Returns the sum, computed with the widest instructions of this processor.
#[allow(unsafe_code)]
fn widest<N: Number>(row: &[u8], other: &[N]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only condition of the function.
        return unsafe { sum_avx2(row, other) };
    }
    sum(row, other)
}

/// The same loop as [`sum`], compiled for 256-bit instructions: a scan takes half as long.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2<N: Number>(row: &[u8], other: &[N]) -> i32 {
    sum(row, other)
}

#[inline(always)]
fn sum<N: Number>(row: &[u8], other: &[N]) -> i32 {
    let products = row
        .iter()
        .zip(other)
        .map(|(byte, number)| byte.widened() * number.widened());
    products.sum()
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
            prop_assert_eq!(dot(&row, &query), plain(&row, &query));
            prop_assert_eq!(sum(&row, &query), plain(&row, &query));
            let other: Vec<u8> = query.iter().map(|number| *number as u8).collect();
            let wide: Vec<i16> = other.iter().map(|byte| i16::from(*byte as i8)).collect();
            prop_assert_eq!(dot_of_rows(&row, &other), plain(&row, &wide));
            prop_assert_eq!(sum(&row, &other), plain(&row, &wide));
        }
    }

    #[test]
    fn the_largest_numbers_fit() {
        for (len, level) in [(1, i16::MAX), (511, i16::MAX), (4_096, 4_095)] {
            for (byte, sign) in [(0x80, 1), (0x80, -1), (0x7f, 1), (0x7f, -1)] {
                let (row, query) = (vec![byte; len], vec![level * sign; len]);
                assert_eq!(dot(&row, &query), plain(&row, &query), "{len} {byte}");
                assert_eq!(sum(&row, &query), plain(&row, &query), "{len} {byte}");
            }
        }
    }
}
