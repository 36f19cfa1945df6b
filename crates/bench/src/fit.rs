//! Scores of the fit: how often the fit is right, and which results a floor lets through.

use icm_api::{CurvePoint, FitBin, FitScores, Share};

/// Results that a floor is judged by: as many as a recall shows by default.
pub(super) const SHOWN: usize = 10;
/// Least fit of a result that counts as a sure answer.
const SURE: f64 = 0.5;
/// Bins of the calibration, each 0.1 of fit wide.
const BINS: usize = 10;
/// Floors of the curve, 0.05 apart.
const FLOORS: usize = 20;

/// The fits of one set, question by question.
#[derive(Debug, Clone, Default)]
pub(super) struct Fits {
    /// Fits of the first results, and `true` if the result is evidence.
    first: Vec<(f64, bool)>,
    /// The largest fit of evidence among the first ten results, for each own question that has evidence there.
    own: Vec<f64>,
    /// The largest fit of the first ten results, for each foreign question; `None` if nothing was found.
    same_set: Vec<Option<f64>>,
    other_set: Vec<Option<f64>>,
}

/// The source of a foreign question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    SameSet,
    OtherSet,
}

impl Fits {
    /// Adds an own question with its results, best first: the fit, and `true` if the result is evidence.
    pub(super) fn own(&mut self, found: &[(f64, bool)]) {
        self.first.extend(found.first());
        let shown = found.iter().take(SHOWN);
        let evidence = shown.filter(|(_, is_evidence)| *is_evidence);
        self.own
            .extend(evidence.map(|(fit, _)| *fit).max_by(f64::total_cmp));
    }

    /// Adds a foreign question with the fits of its results, best first.
    pub(super) fn foreign(&mut self, kind: Kind, found: impl Iterator<Item = f64>) {
        let largest = found.take(SHOWN).max_by(f64::total_cmp);
        match kind {
            Kind::SameSet => self.same_set.push(largest),
            Kind::OtherSet => self.other_set.push(largest),
        }
    }

    /// Adds the fits of another set.
    pub(super) fn extend(&mut self, other: &Fits) {
        self.first.extend(&other.first);
        self.own.extend(&other.own);
        self.same_set.extend(&other.same_set);
        self.other_set.extend(&other.other_set);
    }

    /// Returns the figures; those of one floor are computed at `floor`.
    pub(super) fn scores(&self, floor: f64) -> FitScores {
        let first = self.first.iter();
        let sure = first.clone().filter(|(fit, _)| *fit >= SURE);
        let right = first.filter(|(_, is_evidence)| *is_evidence);
        FitScores {
            bins: (0..BINS).map(|bin| self.bin(bin)).collect(),
            sure: share(sure, |(_, is_evidence)| *is_evidence),
            right: share(right, |(fit, _)| *fit >= SURE),
            floor,
            own: share(self.own.iter(), |fit| **fit < floor),
            same_set: answered(&self.same_set, floor),
            other_set: answered(&self.other_set, floor),
            curve: (0..FLOORS)
                .map(|step| step as f64 / FLOORS as f64)
                .map(|floor| CurvePoint {
                    floor,
                    own_lost: share(self.own.iter(), |fit| **fit < floor).share,
                    same_set: answered(&self.same_set, floor).share,
                    other_set: answered(&self.other_set, floor).share,
                })
                .collect(),
        }
    }

    fn bin(&self, bin: usize) -> FitBin {
        // The last bin includes its upper end.
        let bin_of = |fit: f64| ((fit * BINS as f64) as usize).min(BINS - 1);
        let here = self.first.iter().filter(|(fit, _)| bin_of(*fit) == bin);
        let right = share(here, |(_, is_evidence)| *is_evidence);
        FitBin {
            from: bin as f64 / BINS as f64,
            to: (bin + 1) as f64 / BINS as f64,
            n: right.of,
            right: right.share,
        }
    }
}

fn answered(foreign: &[Option<f64>], floor: f64) -> Share {
    share(foreign.iter(), |fit| fit.is_some_and(|fit| fit >= floor))
}

fn share<T>(all: impl Iterator<Item = T>, mut holds: impl FnMut(&T) -> bool) -> Share {
    let (mut of, mut those) = (0_u64, 0_u64);
    for one in all {
        of += 1;
        those += u64::from(holds(&one));
    }
    Share {
        of,
        share: those as f64 / of.max(1) as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(of: u64, share: f64) -> Share {
        Share { of, share }
    }

    #[test]
    fn a_floor_costs_evidence_and_keeps_foreign_questions_out() {
        let mut fits = Fits::default();
        // Right, sure.
        fits.own(&[(0.9, true), (0.2, false)]);
        // Wrong, sure; its evidence lies lower.
        fits.own(&[(0.5, false), (0.25, true), (0.3, true)]);
        // Right, not sure.
        fits.own(&[(0.1, true)]);
        // The evidence is the eleventh: a floor cannot lose it.
        let mut far = vec![(0.3, false); SHOWN];
        far.push((0.3, true));
        fits.own(&far);
        fits.own(&[]);
        fits.foreign(Kind::SameSet, [0.1, 0.4].into_iter());
        fits.foreign(Kind::SameSet, std::iter::empty());
        fits.foreign(Kind::OtherSet, [0.05].into_iter());

        let scores = fits.scores(0.3);
        assert_eq!(scores.sure, of(2, 0.5));
        assert_eq!(scores.right, of(2, 0.5));
        assert_eq!(scores.own, of(3, 1.0 / 3.0));
        assert_eq!(scores.same_set, of(2, 0.5));
        assert_eq!(scores.other_set, of(1, 0.0));

        let at = |step: usize| {
            let point = scores.curve[step];
            (point.floor, point.own_lost, point.same_set, point.other_set)
        };
        assert_eq!(at(0), (0.0, 0.0, 0.5, 1.0));
        assert_eq!(at(1), (0.05, 0.0, 0.5, 1.0));
        assert_eq!(at(9), (0.45, 2.0 / 3.0, 0.0, 0.0));
        assert_eq!(scores.curve.len(), 20);

        let bins: Vec<_> = scores.bins.iter().map(|bin| (bin.n, bin.right)).collect();
        assert_eq!(bins[1], (1, 1.0));
        assert_eq!(bins[3], (1, 0.0));
        assert_eq!(bins[5], (1, 0.0));
        assert_eq!(bins[9], (1, 1.0));
        assert_eq!(bins.iter().map(|bin| bin.0).sum::<u64>(), 4);
    }

    #[test]
    fn a_fit_of_one_is_in_the_last_step() {
        let mut fits = Fits::default();
        fits.own(&[(1.0, true)]);
        assert_eq!(fits.scores(0.0).bins[9].n, 1);
    }

    #[test]
    fn sets_come_together() {
        let mut one = Fits::default();
        one.own(&[(0.9, true)]);
        one.foreign(Kind::OtherSet, [0.2].into_iter());
        let mut all = one.clone();
        all.extend(&one);
        let scores = all.scores(0.1);
        assert_eq!(scores.own.of, 2);
        assert_eq!(scores.sure.of, 2);
        assert_eq!(scores.other_set, of(2, 1.0));
    }
}
