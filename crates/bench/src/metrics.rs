//! The arithmetic of the measurements, as functions of ranks only.
//!
//! `ranks` has an entry for each piece of a question's evidence: its rank among the results, from 1, or `None` if it
//! was not found. Relevance is binary: a memory is evidence or not. A figure over several questions is the mean of
//! their figures.
//!
//! Names follow LongMemEval (Wu et al., ICLR 2025, section 4 and its `eval_utils.py`), which tells `recall_any@k` and
//! `recall_all@k` apart. The recall of the LoCoMo paper (Maharana et al., ACL 2024) is the share called *evidence*
//! here.

/// The rank of a piece of evidence among the results.
pub(super) type Rank = Option<usize>;

/// `recall_any@k`: 1 if some piece has a rank ≤ k, else 0.
pub(super) fn any_at(ranks: &[Rank], k: usize) -> f64 {
    truth(found_at(ranks, k) > 0)
}

/// `recall_all@k`: 1 if every piece has a rank ≤ k, else 0; 0 without evidence.
pub(super) fn all_at(ranks: &[Rank], k: usize) -> f64 {
    truth(!ranks.is_empty() && found_at(ranks, k) == ranks.len())
}

/// `evidence@k`: pieces with a rank ≤ k, divided by all pieces; 0 without evidence.
pub(super) fn evidence_at(ranks: &[Rank], k: usize) -> f64 {
    match ranks.len() {
        0 => 0.0,
        all => found_at(ranks, k) as f64 / all as f64,
    }
}

/// 1 / the smallest rank; 0 if nothing was found. The mean is the MRR (Voorhees, TREC-8, 1999).
pub(super) fn reciprocal_rank(ranks: &[Rank]) -> f64 {
    let first = ranks.iter().flatten().min();
    first.map_or(0.0, |rank| 1.0 / *rank as f64)
}

/// `nDCG@k` (Järvelin and Kekäläinen, TOIS 2002) as in `trec_eval` and BEIR: the sum of 1 / log2(rank + 1) over pieces
/// with a rank ≤ k, divided by the same sum for the ranks 1, 2, …, at most k of them. LongMemEval's script discounts by
/// log2(rank) from the second place on, so its figures are a little larger.
pub(super) fn ndcg_at(ranks: &[Rank], k: usize) -> f64 {
    let gain = |rank: usize| 1.0 / ((rank + 1) as f64).log2();
    let ideal: f64 = (1..=ranks.len().min(k)).map(gain).sum();
    let found = ranks.iter().flatten().filter(|rank| **rank <= k);
    let actual: f64 = found.map(|rank| gain(*rank)).sum();
    if ideal == 0.0 { 0.0 } else { actual / ideal }
}

/// Returns how many of the first results fit into a budget together. The first result that does not fit ends the count,
/// as for a reader from the top: shorter results below it do not count.
pub(super) fn fitting(tokens: impl IntoIterator<Item = usize>, budget: usize) -> usize {
    let mut left = budget;
    let fits = |tokens: &usize| match left.checked_sub(*tokens) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    tokens.into_iter().take_while(fits).count()
}

/// Returns the smallest value that at least `percent` of 100 values do not exceed (nearest rank); 0 for no values.
/// `sorted` is ascending.
pub(super) fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0.0)
}

fn found_at(ranks: &[Rank], k: usize) -> usize {
    ranks.iter().flatten().filter(|rank| **rank <= k).count()
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    /// Two pieces found at ranks 2 and 7, one not found.
    const RANKS: [Rank; 3] = [Some(7), None, Some(2)];

    #[test]
    fn recall_counts_what_is_among_the_first() {
        for (k, any, all, share) in [
            (1, 0.0, 0.0, 0.0),
            (2, 1.0, 0.0, 1.0 / 3.0),
            (6, 1.0, 0.0, 1.0 / 3.0),
            (7, 1.0, 0.0, 2.0 / 3.0),
            (1000, 1.0, 0.0, 2.0 / 3.0),
        ] {
            near(any_at(&RANKS, k), any);
            near(all_at(&RANKS, k), all);
            near(evidence_at(&RANKS, k), share);
        }
        let whole = [Some(3), Some(1)];
        near(all_at(&whole, 2), 0.0);
        near(all_at(&whole, 3), 1.0);
        near(evidence_at(&whole, 3), 1.0);
    }

    #[test]
    fn the_reciprocal_rank_is_of_the_first_piece() {
        near(reciprocal_rank(&RANKS), 0.5);
        near(reciprocal_rank(&[Some(1)]), 1.0);
        near(reciprocal_rank(&[None, None]), 0.0);
    }

    /// log2 of 2, 3, 4 and 8 is 1, 1.5849625007, 2 and 3.
    #[test]
    fn gain_is_discounted_by_place() {
        // 1/log2(3) + 1/log2(8), divided by 1/log2(2) + 1/log2(3) + 1/log2(4).
        let ideal = 1.0 + 0.630_929_753_571_457_4 + 0.5;
        let found = 0.630_929_753_571_457_4 + 1.0 / 3.0;
        near(ndcg_at(&RANKS, 10), found / ideal);
        near(
            ndcg_at(&RANKS, 2),
            0.630_929_753_571_457_4 / 1.630_929_753_571_457_4,
        );
        near(ndcg_at(&[Some(2), Some(1)], 10), 1.0);
        // With more evidence than places, the best score is that of full places.
        near(ndcg_at(&[Some(1), Some(2), None], 2), 1.0);
        near(ndcg_at(&[None], 10), 0.0);
    }

    #[test]
    fn without_evidence_there_is_nothing_to_find() {
        near(any_at(&[], 5), 0.0);
        near(all_at(&[], 5), 0.0);
        near(evidence_at(&[], 5), 0.0);
        near(ndcg_at(&[], 5), 0.0);
        near(reciprocal_rank(&[]), 0.0);
    }

    #[test]
    fn a_budget_is_filled_from_the_top() {
        assert_eq!(fitting([400, 600, 1], 1000), 2);
        assert_eq!(fitting([400, 601, 1], 1000), 1);
        assert_eq!(fitting([1001], 1000), 0);
        assert_eq!(fitting([0, 0], 0), 2);
        assert_eq!(fitting([], 1000), 0);
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let times: Vec<f64> = (1..=20).map(f64::from).collect();
        near(percentile(&times, 50), 10.0);
        near(percentile(&times, 95), 19.0);
        near(percentile(&[7.0], 95), 7.0);
        near(percentile(&[1.0, 2.0, 3.0], 50), 2.0);
        near(percentile(&[], 50), 0.0);
    }
}
