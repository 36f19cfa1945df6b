//! Sums of scores over questions, and their means.

use std::collections::BTreeMap;

use super::metrics;
use super::metrics::Rank;
use icm_api::Scores;

/// Budgets of a context, in tokens.
pub(super) const BUDGETS: [usize; 3] = [1_000, 2_000, 4_000];
/// Results that count for nDCG.
pub(super) const NDCG_AT: usize = 10;

/// The scores of all questions and of each category.
pub(super) struct Tally {
    ks: Vec<usize>,
    overall: Scores,
    categories: BTreeMap<String, Scores>,
}

impl Tally {
    pub(super) fn new(ks: &[usize]) -> Tally {
        Tally {
            ks: ks.to_vec(),
            overall: blank(ks),
            categories: BTreeMap::new(),
        }
    }

    /// Counts a question that was not asked.
    pub(super) fn skip(&mut self, category: &str) {
        self.each(category, |scores| scores.skipped += 1);
    }

    /// Adds a question by the ranks of its evidence. `filling` describes the longer recall that fills a context: the
    /// ranks of the evidence, and the tokens of each result.
    pub(super) fn add(&mut self, category: &str, ranks: &[Rank], filling: (&[Rank], &[usize])) {
        let (filling_ranks, tokens) = filling;
        self.each(category, |scores| {
            scores.n += 1;
            for (k, sum) in &mut scores.any_at {
                *sum += metrics::any_at(ranks, *k);
            }
            for (k, sum) in &mut scores.all_at {
                *sum += metrics::all_at(ranks, *k);
            }
            for (k, sum) in &mut scores.evidence_at {
                *sum += metrics::evidence_at(ranks, *k);
            }
            scores.mrr += metrics::reciprocal_rank(ranks);
            scores.ndcg_at_10 += metrics::ndcg_at(ranks, NDCG_AT);
            for (budget, sum) in &mut scores.evidence_in_tokens {
                let fitting = metrics::fitting(tokens.iter().copied(), *budget);
                *sum += metrics::evidence_at(filling_ranks, fitting);
            }
        });
    }

    /// Returns the means over all questions, and by category.
    pub(super) fn means(mut self) -> (Scores, BTreeMap<String, Scores>) {
        mean(&mut self.overall);
        self.categories.values_mut().for_each(mean);
        (self.overall, self.categories)
    }

    fn each(&mut self, category: &str, work: impl Fn(&mut Scores)) {
        work(&mut self.overall);
        let ks = &self.ks;
        let scores = self.categories.entry(category.to_owned());
        work(scores.or_insert_with(|| blank(ks)));
    }
}

fn blank(ks: &[usize]) -> Scores {
    let zeros = |of: &[usize]| of.iter().map(|at| (*at, 0.0)).collect();
    Scores {
        any_at: zeros(ks),
        all_at: zeros(ks),
        evidence_at: zeros(ks),
        evidence_in_tokens: zeros(&BUDGETS),
        ..Scores::default()
    }
}

fn mean(scores: &mut Scores) {
    if scores.n == 0 {
        return;
    }
    let n = scores.n as f64;
    let tables = [
        &mut scores.any_at,
        &mut scores.all_at,
        &mut scores.evidence_at,
        &mut scores.evidence_in_tokens,
    ];
    for sum in tables.into_iter().flat_map(BTreeMap::values_mut) {
        *sum /= n;
    }
    scores.mrr /= n;
    scores.ndcg_at_10 /= n;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_over_what_was_asked() {
        let mut tally = Tally::new(&[1, 3]);
        tally.add("a", &[Some(1), None], (&[Some(1), None], &[900, 200]));
        tally.add("b", &[Some(2)], (&[Some(2)], &[900, 200]));
        tally.skip("b");
        tally.skip("c");
        let (all, by) = tally.means();

        assert_eq!((all.n, all.skipped), (2, 2));
        assert_eq!(all.any_at, BTreeMap::from([(1, 0.5), (3, 1.0)]));
        assert_eq!(all.all_at, BTreeMap::from([(1, 0.0), (3, 0.5)]));
        assert_eq!(all.evidence_at, BTreeMap::from([(1, 0.25), (3, 0.75)]));
        assert_eq!(all.mrr, 0.75);
        // The second result does not fit into a thousand tokens.
        assert_eq!(
            all.evidence_in_tokens,
            BTreeMap::from([(1_000, 0.25), (2_000, 0.75), (4_000, 0.75)])
        );
        assert_eq!((by["a"].n, by["a"].skipped, by["a"].mrr), (1, 0, 1.0));
        assert_eq!((by["b"].n, by["b"].skipped, by["b"].mrr), (1, 1, 0.5));
        assert_eq!((by["c"].n, by["c"].skipped, by["c"].mrr), (0, 1, 0.0));
    }
}
