//! The features of a candidate.

use icm_log::facts::Importance;

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
    pub(super) fn importance_share(&self) -> f64 {
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

    pub(super) fn share(self) -> f64 {
        match self {
            Nearness::Own => 1.0,
            Nearness::Kin => 1.0 / 3.0,
            Nearness::Common => 0.0,
            Nearness::Elsewhere => -1.0 / 6.0,
        }
    }
}
