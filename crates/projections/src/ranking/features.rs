//! The features of a candidate.

use icm_log::facts::Importance;

/// The features of a candidate. Shares lie between 0 and 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Features {
    /// BM25 of stems, and half as much of words as written, as a share of the best candidate's value.
    pub text: f64,
    /// The share of the question's words that the candidate has, weighted by rarity; a similar word counts by its
    /// similarity. Of a long question, ten words that occur in one memory each count as the whole. See
    /// [`Coverage`](icm_text::Coverage).
    pub coverage: f64,
    /// The cosine with the question, scaled so that the farthest candidate has 0 and the nearest 1, times the model's
    /// knowledge of the question's words.
    pub meaning: f64,
    /// The coverage that the memories within three steps in the topic add to the candidate's own.
    pub window: f64,
    /// The sum of the [own](Features::own) evidence of the two next memories in the topic, plus half of that of the two
    /// after.
    pub neighbours: f64,
    /// The own evidence of the memory before, if that memory asks a question.
    pub answers: f64,
    /// `true` if the candidate is a turn of a transcript: it begins with a name, in a topic where at least two names
    /// recur.
    pub transcript: bool,
    /// `true` if the question names the candidate's speaker.
    pub speaker: bool,
    /// `true` if the text ends with a question mark.
    pub asks: bool,
    /// The logarithm of the length: -1 for 16 characters, 0 for 128, two thirds for 512.
    pub length: f64,
    /// `true` if the question asks for a time and the text has a word of time.
    pub when: bool,
    /// `true` if the text has a rare identifier of the question.
    pub identifier: bool,
    /// The importance as a code of [`Importance`]; 0 if unknown.
    pub importance: u8,
    /// The nearness of its scope.
    pub scope: Nearness,
    /// The [own](Features::own) evidence as a share of the best candidate's; the weight of the scope depends on it.
    pub own_share: f64,
}

impl Features {
    /// Returns the evidence without the neighbours, 0 to 1.
    pub(crate) fn own(&self) -> f64 {
        (self.text + self.coverage + self.meaning) / 3.0
    }

    /// Returns the coverage together with the window's.
    pub fn with_window(&self) -> f64 {
        self.coverage + self.window
    }

    /// Returns -0.5 for low, 0 for medium, 0.5 for high, 1 for critical.
    pub(super) fn importance_share(&self) -> f64 {
        match self.importance {
            0 => 0.0,
            code => (f64::from(code) - f64::from(Importance::Medium.code())) / 2.0,
        }
    }
}

/// Returns [`Features::length`] for a text of `chars` characters.
pub(crate) fn length_share(chars: u32) -> f64 {
    (f64::from(chars.clamp(16, 512)).log2() - 7.0) / 3.0
}

/// The nearness of a memory's scope to the caller's scopes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Nearness {
    /// The caller's project or session.
    Own,
    /// A parent or a child of the caller's session.
    Kin,
    /// `global`, or not looked at.
    #[default]
    Common,
    /// Another project's or session's.
    Elsewhere,
}

impl Nearness {
    /// Returns the name that `--explain` shows.
    pub fn name(self) -> &'static str {
        match self {
            Nearness::Own => "own",
            Nearness::Kin => "kin",
            Nearness::Common => "common",
            Nearness::Elsewhere => "elsewhere",
        }
    }

    pub(super) fn share(self) -> f64 {
        match self {
            Nearness::Own => 1.0,
            Nearness::Kin => 1.0 / 3.0,
            Nearness::Common => 0.0,
            Nearness::Elsewhere => -1.0 / 6.0,
        }
    }
}
