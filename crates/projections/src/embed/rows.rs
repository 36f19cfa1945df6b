//! Sums of rows: the same bits on every machine, with the widest instructions that it has.

/// Adds a row of signed bytes, times its scale, number by number. As long as the sum.
///
/// May only be called where the processor has what it was compiled for.
pub(super) type AddRow = unsafe fn(sum: &mut [f32], row: &[u8], scale: f32);

/// The ways that run here, the fastest first. Each number is rounded after the product and after the sum, whichever is
/// taken: none of them is compiled for instructions that do both at once.
pub(super) fn ways() -> impl Iterator<Item = AddRow> {
    #[cfg(target_arch = "x86_64")]
    let avx2 = is_x86_feature_detected!("avx2").then_some(avx2 as AddRow);
    #[cfg(not(target_arch = "x86_64"))]
    let avx2 = None;
    avx2.into_iter().chain([portable as AddRow])
}

#[inline(always)]
fn portable(sum: &mut [f32], row: &[u8], scale: f32) {
    for (sum, byte) in sum.iter_mut().zip(row) {
        *sum += f32::from(byte.cast_signed()) * scale;
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(sum: &mut [f32], row: &[u8], scale: f32) {
    portable(sum, row, scale);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_this_processor_has_is_taken() {
        #[cfg(target_arch = "x86_64")]
        let ways_here = 1 + usize::from(is_x86_feature_detected!("avx2"));
        #[cfg(not(target_arch = "x86_64"))]
        let ways_here = 1;
        assert_eq!(ways().count(), ways_here);
    }

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
            for (at, add) in ways().enumerate() {
                let mut sum = [0.0; 67];
                for (row, scale) in &rows {
                    // SAFETY: only what runs here is among the ways.
                    #[allow(unsafe_code)]
                    unsafe { add(&mut sum, row, *scale) };
                }
                let bits = |sum: [f32; 67]| sum.map(|x| if x.is_nan() { 0 } else { x.to_bits() });
                prop_assert_eq!(bits(sum), bits(expected), "way {}", at);
            }
        }
    }
}
