//! Counts of tokens in documents.

use tantivy::fieldnorm::FieldNormReader;

/// Tokens by field: a sum of lengths as tantivy keeps them with each document (exact up to 40, coarser beyond). So a
/// document can be subtracted again without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tokens(pub(crate) [u64; 2]);

impl Tokens {
    /// Adds a document.
    pub(crate) fn add(&mut self, norm_ids: [u8; 2]) {
        for (sum, id) in self.0.iter_mut().zip(norm_ids) {
            *sum += u64::from(FieldNormReader::id_to_fieldnorm(id));
        }
    }

    /// Subtracts a document.
    pub(crate) fn remove(&mut self, norm_ids: [u8; 2]) {
        for (sum, id) in self.0.iter_mut().zip(norm_ids) {
            *sum = sum.saturating_sub(u64::from(FieldNormReader::id_to_fieldnorm(id)));
        }
    }

    /// Adds the counts of `other`.
    pub(crate) fn add_all(&mut self, other: Tokens) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            *sum += more;
        }
    }
}
