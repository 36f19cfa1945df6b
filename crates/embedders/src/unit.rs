//! Vectors of length 1.

/// Brings a vector to length 1; one that is as good as zero becomes zeros. `None` where a number is
/// not finite.
pub(crate) fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    if vector.iter().any(|x| !x.is_finite()) {
        return None;
    }
    // In f64, where no square of an f32 overflows.
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

/// True for a text in which no model finds anything; its vector is zeros and nobody is asked.
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
