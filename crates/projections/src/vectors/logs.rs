//! usearch is compiled with fast mathematics, so that it asks for glibc's library of vector functions: a library more for
//! the loader, each time a program starts, for a metric that nobody here uses. Here is the one function that it asks for.

use std::arch::x86_64::{__m128, _mm_set_ps};

/// Natural logarithms of four numbers, as the vector ABI of x86-64 glibc names it (`N`: no mask, `4v`: four lanes of a vector).
#[unsafe(no_mangle)]
#[allow(
    unsafe_code,
    non_snake_case,
    improper_ctypes_definitions,
    reason = "the name is glibc's own, and the vector goes in the register that C has for it"
)]
extern "C" fn _ZGVbN4v_logf(of: __m128) -> __m128 {
    // SAFETY: four floats in sixteen bytes, both ways.
    let lanes: [f32; 4] = unsafe { std::mem::transmute(of) };
    let [a, b, c, d] = lanes.map(f32::ln);
    // SAFETY: SSE is part of x86-64.
    unsafe { _mm_set_ps(d, c, b, a) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_stay_in_order() {
        let of = [1.0_f32, 2.0, 0.5, 10.0];
        #[allow(unsafe_code)]
        // SAFETY: four floats in sixteen bytes, both ways.
        let logs: [f32; 4] = unsafe {
            let of: __m128 = std::mem::transmute(of);
            std::mem::transmute(_ZGVbN4v_logf(of))
        };
        assert_eq!(logs, of.map(f32::ln));
    }
}
