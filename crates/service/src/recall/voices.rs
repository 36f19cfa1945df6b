//! The share of what others said of a memory in its score.

use icm_projections::ranking::Ranking;

use icm_api::Memory;

/// Returns the shares of a memory's confirmations and of its marks, each with its name.
pub(super) fn shares(ranking: &Ranking, memory: &Memory) -> [(&'static str, f64); 2] {
    let marks = memory.marks.unwrap_or_default();
    [
        ("confirmed", ranking.for_confirmations(memory.confirmations)),
        ("marked", ranking.for_marks(marks.useful, marks.wrong)),
    ]
}
