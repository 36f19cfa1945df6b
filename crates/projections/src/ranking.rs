//! From what words, meaning and neighbours say to one order. Pure arithmetic: it knows neither texts
//! nor files.

use icm_log::facts::Importance;

/// What counts how much when memories are ranked. A weight of 0 switches a factor off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranking {
    /// Of the words in common: BM25, as a share of the best candidate's.
    pub text: f64,
    /// How much of what a text could have that has every word of the query, 0 to 1, counts in full: where the
    /// best one has less, a single word in common among many does not count like all of them.
    pub coverage: f64,
    /// Of the meaning: cosine, as a share of the best candidate's. With 0 nothing is found by it.
    pub meaning: f64,
    /// Whether what all texts of the store have in common is taken off before the cosine that ranks.
    pub centred: bool,
    /// The share of a memory's own score, as far as it lies above the mean of all candidates, that the memory lends to
    /// those next to it in its topic; those two steps away get the square of this share.
    pub neighbours: f64,
    /// Added where the query names who speaks in the text.
    pub speaker: f64,
    /// Added where the text has a rare identifier of the query.
    pub identifier: f64,
    /// Added for importance: once for critical, half of it for high; taken off by half for low.
    pub importance: f64,
    /// Added for the newest candidate, nothing for the oldest, by its share of the time between them.
    pub recency: f64,
    /// Added where it is of one's own scope, the project or session that one is in, as far as it fits: times the
    /// square of how near its words or its meaning are, as a part of the nearest candidate's. A third of it is for
    /// parents and children of the session; a sixth is taken off, however it fits, where it is of another scope
    /// than those or `global`. What words, meaning and neighbours come to is about 1.8 at most.
    pub scope: f64,
    /// Added among the results for the others that confirm a memory: times the natural logarithm of one more than
    /// they are.
    pub confirmed: f64,
    /// A memory that none of the words is in is found from this cosine on.
    pub floor: f32,
    /// Candidates that text and meaning each bring. More results than this ask for as many, and as every share is
    /// of what is best among the candidates, the order of the first ones may change with it.
    pub candidates: usize,
    /// So many of the best candidates bring those next to them in their topic.
    pub expand: usize,
}

impl Default for Ranking {
    /// As measured in `docs/benchmarks/recall.md`.
    fn default() -> Ranking {
        Ranking {
            text: 0.5,
            coverage: 0.3,
            meaning: 0.5,
            centred: true,
            neighbours: 0.3,
            speaker: 0.15,
            identifier: 1.0,
            importance: 0.05,
            recency: 0.0,
            scope: 6.0,
            confirmed: 0.05,
            floor: 0.12,
            candidates: 64,
            expand: 32,
        }
    }
}

impl Ranking {
    /// Words alone, and of them nothing but BM25, which is the score.
    pub const TEXT: Ranking = Ranking {
        text: 1.0,
        coverage: 0.0,
        meaning: 0.0,
        centred: false,
        neighbours: 0.0,
        speaker: 0.0,
        identifier: 0.0,
        importance: 0.0,
        recency: 0.0,
        scope: 0.0,
        confirmed: 0.0,
        floor: 0.0,
        candidates: 0,
        expand: 0,
    };

    /// Meaning alone: the score is the share of the plain cosine, and the nearest are found however far
    /// they are.
    pub const MEANING: Ranking = Ranking {
        text: 0.0,
        meaning: 1.0,
        floor: -1.0,
        candidates: 200,
        ..Ranking::TEXT
    };
}

/// What is known of a candidate, and what it comes to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Evidence {
    /// BM25; 0 where no word is in common.
    pub text: f64,
    /// Cosine with the query, as it was found by; `None` where it was not looked at.
    pub cosine: Option<f32>,
    /// The cosine that ranks; `None` where there is no vector (yet).
    pub meaning: Option<f64>,
    /// The same by the built-in model, looked at where the model that is asked has no vectors of some
    /// versions: it ranks those.
    pub stand_in: Option<f64>,
    /// Whether the query names who speaks in it.
    pub speaker: bool,
    /// Whether it has a rare identifier of the query.
    pub identifier: bool,
    /// How important it is, as a code of [`Importance`](icm_log::facts::Importance); 0 where that is
    /// not known.
    pub importance: u8,
    /// When it happened, or was stored; milliseconds since 1970.
    pub time_ms: i64,
    /// Whose scope it is of.
    pub scope: Nearness,
    /// What its neighbours lend it.
    pub lent: f64,
}

/// How near a memory's scope is to where one is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Nearness {
    /// One's own: the project or the session that one is in.
    Own,
    /// That of a parent or a child of one's session.
    Kin,
    /// `global`, or not asked for.
    #[default]
    Common,
    /// Another project's or session's.
    Elsewhere,
}

impl Nearness {
    /// As it is explained.
    pub fn name(self) -> &'static str {
        match self {
            Nearness::Own => "own",
            Nearness::Kin => "kin",
            Nearness::Common => "common",
            Nearness::Elsewhere => "elsewhere",
        }
    }

    fn share(self) -> f64 {
        match self {
            Nearness::Own => 1.0,
            Nearness::Kin => 1.0 / 3.0,
            Nearness::Common => 0.0,
            Nearness::Elsewhere => -1.0 / 6.0,
        }
    }
}

impl Evidence {
    /// -0.5 for low, 0 for medium, 0.5 for high, 1 for critical.
    fn importance_share(&self) -> f64 {
        match self.importance {
            0 => 0.0,
            code => (f64::from(code) - f64::from(Importance::Medium.code())) / 2.0,
        }
    }
}

/// The facts of a query that are known before there are candidates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    /// About the BM25 of a text of average length that has every word of the query once.
    pub(crate) possible: f64,
    /// How much of [`Evidence::meaning`] counts, 0 to 1.
    pub(crate) meaning: f64,
    /// How much of [`Evidence::stand_in`] counts, 0 to 1.
    pub(crate) stand_in: f64,
}

/// Returns how much the meaning of a query counts, 0 to 1, by a model that cuts its words into so many pieces each.
///
/// A model that cuts words into pieces has not learned them: its vector of the query is noise. The bounds are
/// measured in `docs/benchmarks/recall.md`.
pub(crate) fn known_share(pieces_per_word: f64) -> f64 {
    ((2.0 - pieces_per_word) / 0.5).clamp(0.0, 1.0)
}

/// The scores of candidates. `near` names pairs of candidates that are next to each other in a topic,
/// with the steps between them (1 or 2).
pub(crate) fn scores(
    ranking: &Ranking,
    asked: &Asked,
    candidates: &mut [Evidence],
    near: &[(usize, usize, u32)],
) -> Vec<f64> {
    let mut text = Span::of(candidates.iter().map(|candidate| candidate.text));
    text.high = text.high.max(ranking.coverage * asked.possible);
    let meaning = Span::of(candidates.iter().filter_map(|candidate| candidate.meaning));
    let stand_in = Span::of(candidates.iter().filter_map(|candidate| candidate.stand_in));
    let nearness = |candidate: &Evidence| match (candidate.meaning, candidate.stand_in) {
        (Some(cosine), _) => asked.meaning * meaning.share(cosine),
        (None, Some(cosine)) => asked.stand_in * stand_in.share(cosine),
        (None, None) => 0.0,
    };
    let times = Span::of(candidates.iter().map(|candidate| candidate.time_ms as f64));
    let recency = |candidate: &Evidence| match times.high > times.low {
        true => times.share(candidate.time_ms as f64),
        false => 0.0,
    };
    let own: Vec<f64> = candidates
        .iter()
        .map(|candidate| {
            let yes = |yes: bool, weight: f64| if yes { weight } else { 0.0 };
            ranking.text * text.share(candidate.text)
                + ranking.meaning * nearness(candidate)
                + yes(candidate.speaker, ranking.speaker)
                + yes(candidate.identifier, ranking.identifier)
                + ranking.importance * candidate.importance_share()
                + ranking.recency * recency(candidate)
        })
        .collect();
    candidates
        .iter_mut()
        .for_each(|candidate| candidate.lent = 0.0);
    // A score that most candidates reach is noise: many neighbours that lend it would outweigh a true hit.
    let mean = own.iter().sum::<f64>() / own.len().max(1) as f64;
    let spare = |at: usize| (own[at] - mean).max(0.0);
    for &(a, b, steps) in near {
        let share = ranking.neighbours.powi(steps as i32);
        candidates[a].lent += share * spare(b);
        candidates[b].lent += share * spare(a);
    }
    // No neighbour lends what it has for its scope.
    let fit = |candidate: &Evidence| {
        let text = part(candidate.text, text.high);
        match (candidate.meaning, candidate.stand_in) {
            (Some(cosine), _) => text.max(asked.meaning * part(cosine, meaning.high)),
            (None, Some(cosine)) => text.max(asked.stand_in * part(cosine, stand_in.high)),
            (None, None) => text,
        }
    };
    let scope = |candidate: &Evidence| match candidate.scope.share() {
        share if share > 0.0 => ranking.scope * share * fit(candidate).powi(2),
        share => ranking.scope * share,
    };
    let added = candidates
        .iter()
        .map(|candidate| candidate.lent + scope(candidate));
    own.iter()
        .zip(added)
        .map(|(own, added)| own + added)
        .collect()
}

/// A number as a part of the largest, 0 to 1.
fn part(number: f64, largest: f64) -> f64 {
    match largest > 0.0 {
        true => (number / largest).clamp(0.0, 1.0),
        false => 0.0,
    }
}

/// The least and the largest of some numbers.
struct Span {
    low: f64,
    high: f64,
}

impl Span {
    fn of(numbers: impl Iterator<Item = f64>) -> Span {
        let (low, high) = numbers
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| {
                (low.min(number), high.max(number))
            });
        Span { low, high }
    }

    /// 0 for the least, 1 for the largest. Where all are the same, 1 for anything above 0.
    fn share(&self, number: f64) -> f64 {
        match self.high > self.low {
            true => (number - self.low) / (self.high - self.low),
            false => f64::from(u8::from(number > 0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(text: f64, meaning: f64) -> Evidence {
        Evidence {
            text,
            meaning: Some(meaning),
            ..Evidence::default()
        }
    }

    fn asked(possible: f64) -> Asked {
        Asked {
            possible,
            meaning: 1.0,
            stand_in: 1.0,
        }
    }

    fn ranking() -> Ranking {
        Ranking {
            neighbours: 0.5,
            ..Ranking::default()
        }
    }

    #[test]
    fn both_signals_count_by_their_share_of_the_span() {
        let mut candidates = [evidence(8.0, 0.1), evidence(4.0, 0.5), evidence(0.0, 0.3)];
        let scores = scores(&ranking(), &asked(0.0), &mut candidates, &[]);
        assert_eq!(scores[..2], [0.5, 0.75]);
        assert!((scores[2] - 0.25).abs() < 1e-9);
    }

    #[test]
    fn neighbours_lend_of_their_own_score_above_the_mean_and_not_of_what_is_lent_to_them() {
        let nothing = evidence(0.0, 0.0);
        let mut candidates = [evidence(8.0, 0.5), nothing, nothing, nothing];
        let near = [(0, 1, 1), (1, 2, 1), (0, 2, 2)];
        let scores = scores(&ranking(), &asked(0.0), &mut candidates, &near);
        assert_eq!(scores, [1.0, 0.375, 0.1875, 0.0]);
        assert_eq!(
            candidates.map(|candidate| candidate.lent),
            [0.0, 0.375, 0.1875, 0.0]
        );
    }

    /// The first candidate has most words of the query and stands alone in its topic; the second has fewer, and stands
    /// between the rest. `noise`: meaning of the rest.
    fn first_is_first(first: Evidence, second: Evidence, noise: &[f64]) {
        let mut candidates = vec![first, second];
        candidates.extend(noise.iter().map(|meaning| evidence(0.0, *meaning)));
        let near: Vec<_> = (2..candidates.len())
            .map(|at| (1, at, if at < 4 { 1 } else { 2 }))
            .collect();
        let ranking = Ranking::default();
        let found = scores(&ranking, &asked(0.0), &mut candidates, &near);
        let best = found.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(found[0], best, "{found:?}");
    }

    #[test]
    fn neighbours_of_no_words_do_not_push_a_true_hit_down() {
        // `icm demo`: the memory about invoices is changed, so it is the newest of its topic.
        first_is_first(
            evidence(5.1, 0.099),
            evidence(2.9, 0.155),
            &[0.061, 0.066, 0.059, 0.071, -0.04],
        );
        // Both have the words, the first one of them once more.
        first_is_first(
            evidence(5.0, 0.2),
            evidence(4.6, 0.2),
            &[0.1, 0.1, 0.1, 0.1, 0.0],
        );
        // The first is the only one with a word; the second is the nearest by meaning.
        first_is_first(
            evidence(5.0, 0.11),
            evidence(0.0, 0.2),
            &[0.11, 0.12, 0.13, 0.1],
        );
        // No word is in common: the nearest stays the nearest.
        first_is_first(
            evidence(0.0, 0.30),
            evidence(0.0, 0.29),
            &[0.2, 0.2, 0.2, 0.2, 0.1],
        );
    }

    #[test]
    fn an_identifier_outweighs_both_signals_and_a_factor_can_be_switched_off() {
        let prose = evidence(4.0, 0.9);
        let mut exact = evidence(4.0, 0.1);
        exact.identifier = true;
        exact.speaker = true;
        let found = scores(&ranking(), &asked(0.0), &mut [prose, exact], &[]);
        assert!(found[1] > found[0], "{found:?}");
        let off = Ranking {
            identifier: 0.0,
            speaker: 0.0,
            ..ranking()
        };
        let found = scores(&off, &asked(0.0), &mut [prose, exact], &[]);
        assert!(found[1] < found[0], "{found:?}");
    }

    #[test]
    fn of_what_fits_alike_the_more_important_and_with_a_weight_the_newer_is_first() {
        let candidate = |importance: Importance, time_ms| Evidence {
            importance: importance.code(),
            time_ms,
            ..evidence(4.0, 0.5)
        };
        let mut candidates = [
            candidate(Importance::Low, 30),
            candidate(Importance::Medium, 10),
            candidate(Importance::High, 20),
            candidate(Importance::Critical, 10),
        ];
        let by_default = scores(&ranking(), &asked(0.0), &mut candidates, &[]);
        assert!(by_default.is_sorted_by(|a, b| a < b), "{by_default:?}");
        let newer = Ranking {
            importance: 0.0,
            recency: 0.2,
            ..ranking()
        };
        let newer = scores(&newer, &asked(0.0), &mut candidates, &[]);
        let least = newer[1];
        assert_eq!(newer[3], least);
        assert!((newer[0] - least - 0.2).abs() < 1e-9, "{newer:?}");
        assert!((newer[2] - least - 0.1).abs() < 1e-9, "{newer:?}");
    }

    #[test]
    fn what_is_of_ones_own_scope_is_first_as_far_as_it_fits() {
        let of = |scope, text, meaning| Evidence {
            scope,
            ..evidence(text, meaning)
        };
        // The lesser one of two that fit has the least share of both signals.
        for scope in [Nearness::Own, Nearness::Kin] {
            let mut near = [of(Nearness::Common, 8.0, 0.5), of(scope, 7.0, 0.4)];
            let found = scores(&ranking(), &asked(0.0), &mut near, &[(0, 1, 1)]);
            assert!(found[1] > found[0], "{found:?}");
        }
        let mut noise = [of(Nearness::Common, 8.0, 0.5), of(Nearness::Own, 1.0, 0.1)];
        let found = scores(&ranking(), &asked(0.0), &mut noise, &[]);
        assert!(found[0] > found[1], "{found:?}");
        let order = [
            Nearness::Own,
            Nearness::Kin,
            Nearness::Common,
            Nearness::Elsewhere,
        ];
        let mut alike = order.map(|scope| of(scope, 4.0, 0.5)).to_vec();
        alike.push(of(Nearness::Elsewhere, 0.0, 0.1));
        // Those that are farther off have more neighbours.
        let near = [(1, 2, 1), (2, 3, 1), (1, 3, 2)];
        let default = Ranking::default();
        let found = scores(&default, &asked(0.0), &mut alike, &near);
        assert!(found.is_sorted_by(|a, b| a > b), "{found:?}");
        let off = scores(
            &Ranking {
                scope: 0.0,
                ..default
            },
            &asked(0.0),
            &mut alike,
            &near,
        );
        assert!(off[0] < off[1], "{off:?}");
    }

    #[test]
    fn one_word_of_many_does_not_count_like_all_of_them() {
        let all = |possible| {
            let mut candidates = [evidence(2.0, 0.3), evidence(0.0, 0.5), evidence(0.0, 0.1)];
            scores(&ranking(), &asked(possible), &mut candidates, &[])
        };
        assert!(all(2.0)[0] > all(2.0)[1]);
        // Of what there could be in common it has a tenth.
        assert!(all(20.0)[0] < all(20.0)[1]);
    }

    #[test]
    fn what_the_model_has_no_vector_of_counts_by_its_share_among_all_by_the_stand_in() {
        let candidate = |meaning, stand_in| Evidence {
            meaning,
            stand_in: Some(stand_in),
            ..Evidence::default()
        };
        let known = [candidate(Some(0.9), 0.1), candidate(Some(0.7), 0.3)];
        let mut candidates = [known[0], known[1], candidate(None, 0.2)];
        let found = scores(&ranking(), &asked(0.0), &mut candidates, &[]);
        assert_eq!(found[..2], [0.5, 0.0]);
        assert!((found[2] - 0.25).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn meaning_counts_as_far_as_the_model_knows_the_words() {
        let found = |meaning| {
            let mut candidates = [evidence(4.0, 0.1), evidence(2.0, 0.5), evidence(0.0, 0.3)];
            let asked = Asked {
                meaning,
                ..asked(0.0)
            };
            scores(&ranking(), &asked, &mut candidates, &[])
        };
        assert_eq!(found(1.0)[..2], [0.5, 0.75]);
        assert_eq!(found(0.5)[..2], [0.5, 0.5]);
        assert_eq!(found(0.0), [0.5, 0.25, 0.0]);
        // The nearest by meaning gains nothing by its scope from a meaning that does not count.
        let of = |scope, text, meaning| Evidence {
            scope,
            ..evidence(text, meaning)
        };
        let mut candidates = [of(Nearness::Common, 8.0, 0.1), of(Nearness::Own, 0.1, 0.9)];
        let unknown = Asked {
            meaning: 0.0,
            ..asked(0.0)
        };
        let found = scores(&ranking(), &unknown, &mut candidates, &[]);
        assert!(found[0] > found[1], "{found:?}");
    }

    #[test]
    fn the_stand_in_counts_as_far_as_it_knows_the_words_and_the_model_in_full() {
        let candidate = |meaning, stand_in| Evidence {
            meaning,
            stand_in: Some(stand_in),
            ..Evidence::default()
        };
        let mut candidates = [
            candidate(Some(0.9), 0.1),
            candidate(Some(0.1), 0.9),
            candidate(None, 0.8),
        ];
        let unknown = Asked {
            stand_in: 0.0,
            ..asked(0.0)
        };
        let found = scores(&ranking(), &unknown, &mut candidates, &[]);
        assert_eq!(found, [0.5, 0.0, 0.0]);
    }

    #[test]
    fn words_in_one_piece_are_known_and_words_in_pieces_are_not() {
        let shares = [1.0, 1.5, 1.75, 2.0, 4.0].map(known_share);
        assert_eq!(shares, [1.0, 1.0, 0.5, 0.0, 0.0]);
    }

    #[test]
    fn one_candidate_alone_has_what_it_matched() {
        assert_eq!(
            scores(&ranking(), &asked(0.0), &mut [evidence(3.0, 0.4)], &[]),
            [1.0]
        );
        assert_eq!(
            scores(&ranking(), &asked(0.0), &mut [evidence(0.0, 0.4)], &[]),
            [0.5]
        );
        assert_eq!(scores(&ranking(), &asked(0.0), &mut [], &[]), [0.0; 0]);
    }
}
