//! Scales vectors to length 1.

/// Scales a vector to length 1; a vector of nearly no length becomes zeros. `None` if a number is not finite.
pub(crate) fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    if vector.iter().any(|x| !x.is_finite()) {
        return None;
    }
    // No square of an f32 overflows in f64.
    let square: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    let length = square.sqrt();
    if length < 1e-30 {
        vector.fill(0.0);
    } else {
        for x in &mut vector {
            *x = (f64::from(*x) / length) as f32;
        }
    }
    Some(vector)
}

/// Returns `true` for a text without content: its vector is zeros, and no model is asked.
pub(crate) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_one_or_nothing() {
        assert_eq!(unit(vec![3.0, 4.0]).unwrap(), [0.6, 0.8]);
        assert_eq!(unit(vec![f32::MAX, 0.0]).unwrap(), [1.0, 0.0]);
        assert_eq!(unit(vec![0.0, 0.0]).unwrap(), [0.0, 0.0]);
        assert!(unit(vec![f32::NAN, 1.0]).is_none());
        assert!(unit(vec![f32::INFINITY]).is_none());
    }
}
