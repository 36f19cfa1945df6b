//! From what words, meaning and neighbours say to one order. Pure arithmetic: it knows neither texts
//! nor files.
//!
//! A score is a sum: each [feature](Features) of a candidate times its weight in [`Ranking`], where the reasons
//! stand. How sure it is that a candidate answers the question at all is its [fit](Answered::fit): that is no share of what is
//! best among the candidates, so it can be low for all of them.

use icm_log::facts::Importance;
use serde::{Deserialize, Serialize};

/// Divides every sum, so that a memory with the whole question scores about 1.
const SCALE: f64 = 7.0;

/// The weights of a ranking. A weight of 0 switches a feature off.
///
/// They are round numbers. `docs/benchmarks/recall.md` has what each is worth, and what `tools/rank` finds on one half of the sets is no
/// better on the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ranking {
    /// [`Features::text`] in transcripts: rare words, and short texts that have them.
    pub text: f64,
    /// [`Features::text`] in notes. Lower, because words with endings hide more matches in long texts.
    pub notes_text: f64,
    /// [`Features::coverage`]: two words of a question say more than one of them twice, and words are told from
    /// others by their beginnings in any language.
    pub coverage: f64,
    /// [`Features::meaning`]: other words for the same; as much as the model knows the question's language.
    pub meaning: f64,
    /// [`Features::window`] in transcripts: a turn leaves out what the turns before it said.
    pub window: f64,
    /// [`Features::window`] elsewhere: notes beside one another are of one thing less often.
    pub notes_window: f64,
    /// [`Features::neighbours`] outside transcripts. Of notes that fit alike, prefers the one whose neighbours fit, too.
    pub neighbours: f64,
    /// [`Features::answers`], in transcripts: the answer is seldom in the words of the question.
    pub answers: f64,
    /// Added if the question names who speaks, in transcripts: most questions are about what somebody said of themselves.
    pub speaker: f64,
    /// Taken off where a turn of a transcript asks: a question is no answer.
    pub asks: f64,
    /// [`Features::length`], in transcripts: short turns say little.
    pub length: f64,
    /// Added if the question asks when and a turn of a transcript has a word of time.
    pub when: f64,
    /// Added if the text has a rare identifier of the question: it stands for itself.
    pub identifier: f64,
    /// For importance: once for critical, half of it for high; taken off by half for low. It decides between what
    /// fits alike.
    pub importance: f64,
    /// Of one's own scope, the project or session that one is in, as far as it fits; a third of it for
    /// parents and children of the session. A sixth is taken off where it is of another scope than those or `global`.
    pub scope: f64,
    /// For the others that confirm a memory: times the natural logarithm of one more than they are.
    pub confirmed: f64,
    /// The least [fit](Answered::fit) of a result, 0 to 1.
    pub floor: f64,
    /// Candidates that words bring. More results than this ask for as many, and as some features are shares of what
    /// is best among the candidates, the order of the first ones may change with it.
    pub candidates: usize,
    /// Candidates that meaning brings, at least; more where words bring few.
    pub nearest: usize,
    /// So many of the best candidates bring those next to them in their topic.
    pub expand: usize,
}

impl Default for Ranking {
    fn default() -> Ranking {
        Ranking {
            text: 1.5,
            notes_text: 0.7,
            coverage: 4.0,
            meaning: 1.5,
            window: 4.0,
            notes_window: 1.5,
            neighbours: 0.3,
            answers: 2.0,
            speaker: 1.0,
            asks: 0.75,
            length: 1.0,
            when: 1.4,
            identifier: 7.0,
            importance: 0.35,
            scope: 42.0,
            confirmed: 0.35,
            floor: 0.2,
            candidates: 64,
            nearest: 16,
            expand: 16,
        }
    }
}

impl Ranking {
    /// Words alone, and of them nothing but BM25.
    pub const TEXT: Ranking = Ranking {
        text: SCALE,
        notes_text: SCALE,
        coverage: 0.0,
        meaning: 0.0,
        window: 0.0,
        notes_window: 0.0,
        neighbours: 0.0,
        answers: 0.0,
        speaker: 0.0,
        asks: 0.0,
        length: 0.0,
        when: 0.0,
        identifier: 0.0,
        importance: 0.0,
        scope: 0.0,
        confirmed: 0.0,
        floor: 0.0,
        candidates: 0,
        nearest: 0,
        expand: 0,
    };

    /// Meaning alone: the nearest, however far they are.
    pub const MEANING: Ranking = Ranking {
        text: 0.0,
        notes_text: 0.0,
        meaning: SCALE,
        nearest: 200,
        ..Ranking::TEXT
    };

    /// The same without what stands beside a candidate: for what does not follow one another.
    #[must_use]
    pub fn alone(self) -> Ranking {
        Ranking {
            window: 0.0,
            notes_window: 0.0,
            neighbours: 0.0,
            answers: 0.0,
            expand: 0,
            nearest: self.nearest.max(self.candidates),
            ..self
        }
    }

    /// Each weight and count, as the config file calls it.
    pub fn settings(&self) -> [(&'static str, f64); 20] {
        [
            ("text", self.text),
            ("notes_text", self.notes_text),
            ("coverage", self.coverage),
            ("meaning", self.meaning),
            ("window", self.window),
            ("notes_window", self.notes_window),
            ("neighbours", self.neighbours),
            ("answers", self.answers),
            ("speaker", self.speaker),
            ("asks", self.asks),
            ("length", self.length),
            ("when", self.when),
            ("identifier", self.identifier),
            ("importance", self.importance),
            ("scope", self.scope),
            ("confirmed", self.confirmed),
            ("floor", self.floor),
            ("candidates", self.candidates as f64),
            ("nearest", self.nearest as f64),
            ("expand", self.expand as f64),
        ]
    }

    /// Whether words find anything.
    pub(crate) fn finds_by_words(&self) -> bool {
        self.text + self.notes_text > 0.0
    }

    /// Whether a candidate has to be compared with the question word by word.
    pub(crate) fn compares_words(&self) -> bool {
        self.coverage > 0.0 || self.window > 0.0 || self.notes_window > 0.0
    }

    /// Whether what stands beside a candidate has a say in its score.
    pub(crate) fn looks_beside(&self) -> bool {
        [
            self.window,
            self.notes_window,
            self.neighbours,
            self.answers,
        ]
        .iter()
        .any(|weight| *weight > 0.0)
    }

    /// The share of a memory's confirmations in its score.
    pub fn for_confirmations(&self, confirmations: u64) -> f64 {
        self.confirmed * (confirmations as f64).ln_1p() / SCALE
    }

    /// The score of a candidate.
    pub fn score(&self, features: &Features) -> f64 {
        self.shares(features).iter().map(|share| share.share).sum()
    }

    /// Each feature of a candidate with what it adds to its score.
    pub fn shares(&self, features: &Features) -> [Share; 13] {
        let in_transcript = |weight| if features.transcript { weight } else { 0.0 };
        let in_notes = |weight| if features.transcript { 0.0 } else { weight };
        let share = |name, value: f64, weight: f64| Share {
            name,
            value,
            weight,
            share: weight * value / SCALE,
        };
        let flag = |name, on, weight| share(name, f64::from(u8::from(on)), weight);
        let text = in_transcript(self.text) + in_notes(self.notes_text);
        let window = in_transcript(self.window) + in_notes(self.notes_window);
        let scope = match features.scope.share() {
            part if part > 0.0 => part * features.near.powi(2),
            part => part,
        };
        [
            share("text", features.text, text),
            share("coverage", features.coverage, self.coverage),
            share("meaning", features.meaning, self.meaning),
            share("window", features.window, window),
            share("neighbours", features.neighbours, in_notes(self.neighbours)),
            share("answers", features.answers, in_transcript(self.answers)),
            flag("speaker", features.speaker, in_transcript(self.speaker)),
            flag("asks", features.asks, in_transcript(-self.asks)),
            share("length", features.length, in_transcript(self.length)),
            flag("when", features.when, in_transcript(self.when)),
            flag("identifier", features.identifier, self.identifier),
            share("importance", features.importance_share(), self.importance),
            share("scope", scope, self.scope),
        ]
    }
}

/// A feature of a candidate, and what it adds to the score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// The feature, as its weight is called.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Its weight here: 0 where the candidate is no transcript's turn and only those have it, or the other way round.
    pub weight: f64,
    /// Its share of the score.
    pub share: f64,
}

/// The features of a candidate. Shares are from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Features {
    /// BM25 of stems, and half as much of words as they are written, as a share of the best candidate's.
    pub text: f64,
    /// The share of the question's words that it has, by their rarity; a word that is like one of them counts by as much as
    /// it is. Of a long question as much as ten words that are in one memory alone are all. See
    /// [`Coverage`](icm_text::Coverage).
    pub coverage: f64,
    /// The cosine with the question, as a share of the way from the farthest candidate to the nearest, times how well the
    /// model knows the question's words.
    pub meaning: f64,
    /// The coverage that the memories within three steps of it in its topic add to its own.
    pub window: f64,
    /// The sum of [their own](Features::own) of those next to it, and half of that of the next ones.
    pub neighbours: f64,
    /// The own evidence of the one before it, if that asks.
    pub answers: f64,
    /// Whether it is a turn of a transcript: begins with a name, in a topic where at least two names come back.
    pub transcript: bool,
    /// Whether the question names who speaks in it.
    pub speaker: bool,
    /// Whether it ends with a question mark.
    pub asks: bool,
    /// From -1 for 16 characters over 0 for 128 to two thirds for 512, by the logarithm.
    pub length: f64,
    /// Whether the question asks when and it has a word of time.
    pub when: bool,
    /// Whether it has a rare identifier of the question.
    pub identifier: bool,
    /// How important it is, as a code of [`Importance`]; 0 where that is not known.
    pub importance: u8,
    /// Whose scope it is of.
    pub scope: Nearness,
    /// How near it is to the question, as a share of the nearest candidate: what counts for its scope.
    pub near: f64,
}

impl Features {
    /// Its evidence without its neighbours, 0 to 1.
    pub(crate) fn own(&self) -> f64 {
        (self.text + self.coverage + self.meaning) / 3.0
    }

    /// Its coverage with what its window adds.
    pub fn with_window(&self) -> f64 {
        self.coverage + self.window
    }

    /// -0.5 for low, 0 for medium, 0.5 for high, 1 for critical.
    fn importance_share(&self) -> f64 {
        match self.importance {
            0 => 0.0,
            code => (f64::from(code) - f64::from(Importance::Medium.code())) / 2.0,
        }
    }
}

/// [`Features::length`] of a text of so many characters.
pub(crate) fn length_share(chars: u32) -> f64 {
    (f64::from(chars.clamp(16, 512)).log2() - 7.0) / 3.0
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

/// The evidence that a question is answered here at all: of the [`BEST`] best candidates, in numbers that are no shares of
/// what another candidate has.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Answered {
    /// The largest [`Features::coverage`].
    pub coverage: f64,
    /// The largest of them with all that stands within three steps in the topic.
    pub with_window: f64,
    /// The largest cosine with the question, times how well the model knows its words.
    pub cosine: f64,
    /// How well the built-in model knows the words of the question, 0 to 1.
    pub known: f64,
    /// The memories that there are.
    pub memories: u64,
    /// Whether the question names who speaks in one of them, in a transcript.
    pub speaker: bool,
    /// Whether one of them has a rare identifier of a question that is too long to be covered.
    pub identifier: bool,
    /// Whether the best is of a transcript.
    pub transcript: bool,
    /// Whether the cosines are those of a model that the user chose: they tell more than those of the built-in one.
    pub chosen_model: bool,
}

/// About as many memories as the stores have that the weights of [`Answered::value`] were found on.
const MEMORIES_USUAL: f64 = 300.0;

/// So many of the best candidates say whether a question is answered.
pub(crate) const BEST: usize = 10;

impl Answered {
    /// How sure it is that something here answers the question, 0 to 1: a logistic function of round weights. `tools/rank/calibrate.py
    /// --given` reports how good they are on questions of a store and on those of others.
    pub fn value(&self) -> f64 {
        let flag = |on, weight: f64| if on { weight } else { 0.0 };
        let sum = -3.6
            + 4.0 * self.coverage
            + 3.0 * self.with_window
            + self.by_meaning(self.cosine)
            // Words of other languages have more endings.
            + 1.3 * (1.0 - self.known)
            // The more memories there are, the more words come up in one of them by chance.
            - 0.8 * (self.memories.max(1) as f64 / MEMORIES_USUAL).log10()
            // In a talk of hundreds of turns most words come up, but not the names of others.
            + flag(self.speaker, 5.0)
            // Of a pasted log it may be all that is known here.
            + flag(self.identifier, 3.0)
            - flag(self.transcript, 2.5);
        1.0 / (1.0 + (-sum).exp())
    }

    /// How sure it is that a candidate is an answer, 0 to 1. A turn of a transcript may have none of the question's words
    /// if what stands within three steps has them. Of anything else without such words a tenth is left, unless a chosen
    /// model says that it is near by its cosine.
    pub fn fit(&self, features: &Features, cosine: f64) -> f64 {
        let by_words = match features.transcript {
            true => 0.3 + 0.7 * features.with_window(),
            false if features.coverage > 0.0 => 0.3 + 0.7 * features.coverage.sqrt(),
            false => 0.1,
        };
        let by_meaning = match self.chosen_model {
            true => self.by_meaning(cosine) / self.by_meaning(1.0),
            false => 0.0,
        };
        self.value() * by_words.max(by_meaning)
    }

    /// The share of a cosine in the sum of [`Answered::value`]. Cosines of what has nothing in common reach up to where
    /// it begins.
    fn by_meaning(&self, cosine: f64) -> f64 {
        match self.chosen_model {
            true => 10.0 * (cosine - 0.3).max(0.0),
            false => 5.0 * (cosine - 0.4).max(0.0),
        }
    }
}

/// Returns how much the meaning of a query counts, 0 to 1, by a model that cuts its words into so many pieces each.
///
/// A model that cuts words into pieces has not learned them: its vector of the query is noise.
pub(crate) fn known_share(pieces_per_word: f64) -> f64 {
    ((2.0 - pieces_per_word) / 0.5).clamp(0.0, 1.0)
}

/// The least and the largest of some numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    low: f64,
    high: f64,
}

impl Span {
    pub(crate) fn of(numbers: impl Iterator<Item = f64>) -> Span {
        let (low, high) = numbers
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| {
                (low.min(number), high.max(number))
            });
        Span { low, high }
    }

    /// 0 for the least, 1 for the largest. Where all are the same, 1 for anything above 0.
    pub(crate) fn share(&self, number: f64) -> f64 {
        match self.high > self.low {
            true => ((number - self.low) / (self.high - self.low)).clamp(0.0, 1.0),
            false => f64::from(u8::from(number > 0.0)),
        }
    }

    /// A number as a part of the largest, 0 to 1.
    pub(crate) fn part(&self, number: f64) -> f64 {
        match self.high > 0.0 {
            true => (number / self.high).clamp(0.0, 1.0),
            false => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(coverage: f64, window: f64) -> Features {
        Features {
            coverage,
            window,
            transcript: true,
            ..Features::default()
        }
    }

    fn note(coverage: f64, window: f64) -> Features {
        Features {
            transcript: false,
            ..turn(coverage, window)
        }
    }

    #[test]
    fn a_score_is_the_sum_of_its_shares_and_every_weight_can_be_switched_off() {
        let features = Features {
            text: 0.5,
            meaning: 0.25,
            answers: 0.5,
            speaker: true,
            asks: true,
            length: 0.5,
            when: true,
            identifier: true,
            importance: Importance::High.code(),
            ..turn(0.5, 0.25)
        };
        let all = Ranking::default().score(&features);
        type SwitchOff = fn(&mut Ranking);
        let off: [(SwitchOff, f64); 13] = [
            (|ranking| ranking.text = 0.0, 0.5 * 1.5),
            (|ranking| ranking.coverage = 0.0, 0.5 * 4.0),
            (|ranking| ranking.meaning = 0.0, 0.25 * 1.5),
            (|ranking| ranking.window = 0.0, 0.25 * 4.0),
            (|ranking| ranking.answers = 0.0, 0.5 * 2.0),
            (|ranking| ranking.speaker = 0.0, 1.0),
            (|ranking| ranking.asks = 0.0, -0.75),
            (|ranking| ranking.length = 0.0, 0.5),
            (|ranking| ranking.when = 0.0, 1.4),
            (|ranking| ranking.identifier = 0.0, 7.0),
            (|ranking| ranking.importance = 0.0, 0.5 * 0.35),
            // Those of notes count nothing here.
            (|ranking| ranking.notes_text = 0.0, 0.0),
            (|ranking| ranking.notes_window = 0.0, 0.0),
        ];
        let sum: f64 = off.iter().map(|(_, share)| share).sum();
        assert!((all - sum / 7.0).abs() < 1e-9, "{all}");
        for (at, (switch_off, share)) in off.into_iter().enumerate() {
            let mut ranking = Ranking::default();
            switch_off(&mut ranking);
            let gone = all - ranking.score(&features);
            assert!((gone - share / 7.0).abs() < 1e-9, "weight {at}: {gone}");
        }
        assert_eq!(Ranking::TEXT.score(&features), features.text);
        assert_eq!(Ranking::MEANING.score(&features), features.meaning);
    }

    #[test]
    fn what_only_transcripts_have_counts_nothing_in_notes() {
        let features = Features {
            answers: 1.0,
            speaker: true,
            asks: true,
            length: 1.0,
            when: true,
            ..note(0.0, 0.0)
        };
        assert_eq!(Ranking::default().score(&features), 0.0);
    }

    #[test]
    fn a_turn_may_be_found_by_what_stands_beside_it_and_a_note_by_its_own_words() {
        let ranking = Ranking::default();
        assert!(ranking.score(&turn(0.0, 0.9)) > ranking.score(&turn(0.3, 0.3)));
        assert!(ranking.score(&note(0.0, 0.9)) < ranking.score(&note(0.4, 0.3)));
    }

    #[test]
    fn neighbours_of_no_words_do_not_push_a_true_hit_down() {
        let ranking = Ranking::default();
        let hit = Features {
            text: 1.0,
            meaning: 0.4,
            ..note(0.8, 0.0)
        };
        // The memory about invoices was changed and stands at the end of its topic; another one stands amid it.
        let amid = Features {
            text: 0.4,
            meaning: 1.0,
            neighbours: 1.5,
            ..note(0.4, 0.4)
        };
        assert!(ranking.score(&hit) > ranking.score(&amid));
    }

    #[test]
    fn the_more_of_a_question_is_there_the_surer_is_its_answer() {
        let answered = |coverage: f64, with_window: f64| Answered {
            coverage,
            with_window,
            known: 1.0,
            memories: 300,
            ..Answered::default()
        };
        let [none, half, all] = [0.0, 0.5, 1.0].map(|part| answered(part, part).value());
        assert!(
            none < 0.05 && 0.3 < half && half < 0.7 && 0.9 < all,
            "{none} {half} {all}"
        );
        let floor = Ranking::default().floor;
        // A note has to have words of its own; a turn may follow what has them.
        assert!(answered(1.0, 1.0).fit(&note(0.0, 1.0), 0.0) < floor);
        assert!(answered(1.0, 1.0).fit(&turn(0.0, 1.0), 0.0) > floor);
        // In a talk most words come up, but not the names of others.
        let talk = Answered {
            transcript: true,
            ..answered(0.4, 0.6)
        };
        let named = Answered {
            speaker: true,
            ..talk
        };
        assert!(talk.value() < floor && named.value() > 0.5);
        // A model that was chosen may be sure where no word is there.
        let chosen = Answered {
            chosen_model: true,
            cosine: 0.9,
            ..answered(0.0, 0.0)
        };
        assert!(chosen.fit(&note(0.0, 0.0), 0.9) > 0.5);
        assert!(chosen.fit(&note(0.0, 0.0), 0.3) < floor);
    }

    #[test]
    fn spans_are_shared_out() {
        let span = Span::of([2.0, 4.0, 3.0].into_iter());
        assert_eq!(
            [2.0, 3.0, 4.0, 9.0].map(|at| span.share(at)),
            [0.0, 0.5, 1.0, 1.0]
        );
        assert_eq!([-1.0, 2.0].map(|at| span.part(at)), [0.0, 0.5]);
        let same = Span::of([2.0, 2.0].into_iter());
        assert_eq!(
            (same.share(2.0), Span::of([0.0].into_iter()).share(0.0)),
            (1.0, 0.0)
        );
        assert_eq!(
            [16, 128, 512, 4_000].map(length_share),
            [-1.0, 0.0, 2.0 / 3.0, 2.0 / 3.0]
        );
    }
}
