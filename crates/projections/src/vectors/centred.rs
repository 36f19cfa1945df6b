//! Cosines with what all vectors have in common taken off, without making the shorter vectors.

use super::matrix::{Matrix, Query};
use crate::error::Result;

/// A query and what is taken off it and off every row.
#[derive(Debug, Clone)]
pub struct Centred {
    mean: Query,
    mean_square: f64,
    /// The query less the mean.
    query: Query,
    query_length: f64,
    /// Of that and the mean.
    product: f64,
}

impl Centred {
    /// # Panics
    /// As [`Query::new`]; and if the two have different lengths.
    pub fn new(query: &[f32], mean: &[f32]) -> Centred {
        assert_eq!(query.len(), mean.len(), "vectors of the same model");
        let less: Vec<f32> = query.iter().zip(mean).map(|(a, b)| a - b).collect();
        Centred {
            mean: Query::new(mean),
            mean_square: product(mean, mean),
            query_length: product(&less, &less).sqrt(),
            product: product(&less, mean),
            query: Query::new(&less),
        }
    }
}

fn product(a: &[f32], b: &[f32]) -> f64 {
    let products = a.iter().zip(b).map(|(a, b)| f64::from(a * b));
    products.sum()
}

impl Matrix {
    /// The cosine of the query less the mean and the vector of a version less the mean; `None` where the version has
    /// no vector here or a zero one, or nothing is left of one of the two.
    ///
    /// # Errors
    /// `Unusable` where the row is damaged.
    ///
    /// # Panics
    /// If the query has another dimension.
    pub fn centred_cosine(&self, centred: &Centred, ordinal: u64) -> Result<Option<f64>> {
        let Some(row) = self.whole(ordinal)? else {
            return Ok(None);
        };
        if row.scale() == 0.0 {
            return Ok(None);
        }
        // (r - m) · q' = r · q' - m · q', and |r - m|² = r · r - 2 r · m + m · m.
        let of = |query: &Query| f64::from(self.cosine_of(row, query));
        let product = of(&centred.query) - centred.product;
        let square = f64::from(self.cosine_between(row, row)) - 2.0 * of(&centred.mean)
            + centred.mean_square;
        let length = square.max(0.0).sqrt() * centred.query_length;
        Ok((length > 0.0).then(|| product / length))
    }
}
