//! Cosines after the mean of all vectors was subtracted, computed from the rows as they are stored.

use super::format::Row;
use super::matrix::{Matrix, Query};
use crate::error::Result;

/// A query, and the mean that is subtracted from the query and from every row.
#[derive(Debug, Clone)]
pub struct Centred {
    mean: Query,
    mean_square: f64,
    /// The query minus the mean.
    query: Query,
    query_length: f64,
    /// The dot product of `query` and the mean.
    product: f64,
}

impl Centred {
    /// # Panics
    /// As [`Query::new`]; and if `query` and `mean` have different lengths.
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
    /// Returns the cosine of a query and a version's vector, and the same cosine after the mean was subtracted from
    /// both. `None` if the version has no vector here. The second cosine is `None` if the vector is zero, or if one of
    /// the two differences is zero.
    ///
    /// # Errors
    /// `Unusable` if the row is damaged.
    ///
    /// # Panics
    /// If the query has another dimension.
    pub fn cosines(
        &self,
        query: &Query,
        centred: &Centred,
        ordinal: u64,
    ) -> Result<Option<(f32, Option<f64>)>> {
        let row = self.whole(ordinal)?;
        Ok(row.map(|row| (self.cosine_of(row, query), self.centred(row, centred))))
    }

    fn centred(&self, row: Row<'_>, centred: &Centred) -> Option<f64> {
        if row.scale() == 0.0 {
            return None;
        }
        // (r - m) · q' = r · q' - m · q', and |r - m|² = r · r - 2 r · m + m · m.
        let of = |query: &Query| f64::from(self.cosine_of(row, query));
        let product = of(&centred.query) - centred.product;
        let square = f64::from(self.cosine_between(row, row)) - 2.0 * of(&centred.mean)
            + centred.mean_square;
        let length = square.max(0.0).sqrt() * centred.query_length;
        (length > 0.0).then(|| product / length)
    }
}
