//! Figures of a set, with their confidence intervals.

use std::collections::BTreeMap;

use super::fit::Fits;
use super::metrics;
use super::metrics::Rank;
use super::tally::BUDGETS;
use icm_api::{Figure, Latency, SetScores};

/// The k of the `any@k` that every set shows.
const ANY_AT: [usize; 3] = [1, 5, 10];
const EVIDENCE_AT: usize = 10;
/// Resamples of the bootstrap. Raised, the ends of an interval get steadier and a report takes longer.
const RESAMPLES: usize = 1_000;
/// The seed of the resamples: the same questions always have the same intervals.
const SEED: u64 = 20_261_126;

/// The measures of one question: `any@k`, then `evidence@10`, then the reciprocal rank.
type Figures = [f64; ANY_AT.len() + 2];

/// The figures of a set, question by question.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    figures: Vec<Figures>,
    in_tokens: [f64; BUDGETS.len()],
    times_ms: Vec<f64>,
    pub(super) fits: Fits,
}

impl Sums {
    /// Adds a question; the arguments are those of [`super::tally::Tally::add`].
    pub(super) fn add(&mut self, ranks: &[Rank], filling: (&[Rank], &[usize])) {
        let mut figures = Figures::default();
        for (figure, k) in figures.iter_mut().zip(ANY_AT) {
            *figure = metrics::any_at(ranks, k);
        }
        figures[ANY_AT.len()] = metrics::evidence_at(ranks, EVIDENCE_AT);
        figures[ANY_AT.len() + 1] = metrics::reciprocal_rank(ranks);
        self.figures.push(figures);
        let (filling_ranks, tokens) = filling;
        for (sum, budget) in self.in_tokens.iter_mut().zip(BUDGETS) {
            let fitting = metrics::fitting(tokens.iter().copied(), budget);
            *sum += metrics::evidence_at(filling_ranks, fitting);
        }
    }

    /// Adds the wall time of a recall.
    pub(super) fn took(&mut self, ms: f64) {
        self.times_ms.push(ms);
    }

    /// Adds the figures of another set.
    pub(super) fn extend(&mut self, other: &Sums) {
        self.figures.extend(&other.figures);
        for (sum, more) in self.in_tokens.iter_mut().zip(other.in_tokens) {
            *sum += more;
        }
        self.times_ms.extend(&other.times_ms);
        self.fits.extend(&other.fits);
    }

    /// Returns the means, with `floor` as the floor of the fit scores.
    pub(super) fn scores(&self, name: &str, floor: f64) -> SetScores {
        let means = means(&self.figures);
        let n = self.figures.len();
        let in_tokens = self.in_tokens.map(|sum| sum / n.max(1) as f64);
        SetScores {
            name: name.to_owned(),
            n: n as u64,
            any_at: ANY_AT.into_iter().zip(means).collect(),
            evidence_at: BTreeMap::from([(EVIDENCE_AT, means[ANY_AT.len()])]),
            mrr: means[ANY_AT.len() + 1],
            evidence_in_tokens: BUDGETS.into_iter().zip(in_tokens).collect(),
            latency_ms: self.latency(),
            fit: self.fits.scores(floor),
        }
    }

    fn latency(&self) -> Latency {
        let mut times = self.times_ms.clone();
        times.sort_by(f64::total_cmp);
        Latency {
            p50: metrics::percentile(&times, 50),
            p95: metrics::percentile(&times, 95),
        }
    }
}

/// Returns the mean of each figure with its 95 % interval: the interval of the means of 1,000 resamples. A resample has
/// as many questions as the set, drawn with replacement.
fn means(questions: &[Figures]) -> [Figure; ANY_AT.len() + 2] {
    let n = questions.len();
    if n == 0 {
        return Default::default();
    }
    let mut random = SplitMix(SEED);
    let mut resampled: [Vec<f64>; ANY_AT.len() + 2] = Default::default();
    for _ in 0..RESAMPLES {
        let mut sums = Figures::default();
        for _ in 0..n {
            let question = &questions[random.below(n)];
            for (sum, figure) in sums.iter_mut().zip(question) {
                *sum += figure;
            }
        }
        for (means, sum) in resampled.iter_mut().zip(sums) {
            means.push(sum / n as f64);
        }
    }
    let mut at = 0;
    resampled.map(|mut means| {
        means.sort_by(f64::total_cmp);
        let mean = questions.iter().map(|figures| figures[at]).sum::<f64>() / n as f64;
        at += 1;
        let tail = RESAMPLES / 40;
        Figure {
            mean,
            low: means[tail - 1],
            high: means[RESAMPLES - tail],
        }
    })
}

/// The generator SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): short, and the same numbers on every platform.
struct SplitMix(u64);

impl SplitMix {
    /// Returns a number from 0 to n - 1.
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // The upper half of the product is even enough for any number of questions.
        ((u128::from(mixed) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_as_wide_as_chance() {
        let mut sums = Sums::default();
        for n in 0..400 {
            let rank = if n % 2 == 0 { Some(1) } else { Some(4) };
            sums.add(&[rank], (&[rank], &[900, 200, 10, 10]));
        }
        let scores = sums.scores("half", 0.0);
        assert_eq!(scores.n, 400);
        let first = scores.any_at[&1];
        assert_eq!(first.mean, 0.5);
        // 1.96 standard errors are 0.049.
        assert!((0.435..0.465).contains(&first.low), "{first:?}");
        assert!((0.535..0.565).contains(&first.high), "{first:?}");
        let sure = Figure {
            mean: 1.0,
            low: 1.0,
            high: 1.0,
        };
        assert_eq!(scores.any_at[&5], sure);
        assert_eq!(scores.evidence_at[&10], sure);
        assert_eq!(scores.mrr.mean, 0.625);
        // The second result and all below it do not fit into a thousand tokens.
        assert_eq!(scores.evidence_in_tokens[&1_000], 0.5);
        assert_eq!(scores.evidence_in_tokens[&2_000], 1.0);
        assert_eq!(sums.scores("half", 0.0), scores);
    }

    #[test]
    fn without_questions_everything_is_zero() {
        let scores = Sums::default().scores("none", 0.0);
        assert_eq!((scores.n, scores.mrr), (0, Figure::default()));
    }

    /// The first numbers for the seed 0, as printed by the program of the generator's authors.
    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix(0);
        let numbers: [usize; 3] = std::array::from_fn(|_| random.below(1 << 32));
        assert_eq!(numbers, [0xe220_a839, 0x6e78_9e6a, 0x06c4_5d18]);
    }
}
