//! Sums of the embedder's rows, with the same bits on every machine.

/// Adds a row of signed bytes, times its scale, to a sum of the same length, number by number. Each number is rounded
/// after the product and after the sum: no variant is compiled for fused instructions.
#[allow(unsafe_code)]
pub(super) fn add_row(sum: &mut [f32], row: &[u8], scale: f32) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only condition of the function.
        return unsafe { add_avx2(sum, row, scale) };
    }
    add(sum, row, scale);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_avx2(sum: &mut [f32], row: &[u8], scale: f32) {
    add(sum, row, scale);
}

#[inline(always)]
fn add(sum: &mut [f32], row: &[u8], scale: f32) {
    for (sum, byte) in sum.iter_mut().zip(row) {
        *sum += f32::from(byte.cast_signed()) * scale;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_way_gives_the_same_bits(
            rows in proptest::collection::vec((any::<[u8; 67]>(), any::<f32>()), 0..8),
        ) {
            let mut expected = [0.0_f32; 67];
            for (row, scale) in &rows {
                for (sum, byte) in expected.iter_mut().zip(row) {
                    *sum += f32::from(*byte as i8) * scale;
                }
            }
            for add in [add_row, add] {
                let mut sum = [0.0; 67];
                for (row, scale) in &rows {
                    add(&mut sum, row, *scale);
                }
                let bits = |sum: [f32; 67]| sum.map(|x| if x.is_nan() { 0 } else { x.to_bits() });
                prop_assert_eq!(bits(sum), bits(expected));
            }
        }
    }
}
