//! Rules that decide if a newer statement replaces an older one.
//!
//! [`Statement::of`] splits a short text, and [`Statement::judge`] compares it with an older one of the same topic. The
//! rules look for the same subject with another value, for words of change, for other numbers, times and versions, and
//! for negation. They know English, German, French and Spanish, and prefer to miss a correction than to claim a wrong
//! one.
//!
//! The crate is a function of two texts. It knows no store, clock, scope or topic. The caller says which text is newer,
//! and compares only statements that can be about the same thing.
//!
//! ```
//! use icm_replaces::{Reason, Statement, Verdict};
//!
//! let older = Statement::of("The build server is reachable at 10.0.3.7.");
//! let newer = Statement::of("The build server is reachable at 10.0.4.12.");
//! let other = Statement::of("The staging server is reachable at 10.0.4.12.");
//! let judged = newer.judge(&older);
//! assert_eq!((judged.verdict, judged.reason), (Verdict::Yes, Reason::AnotherValue));
//! assert_eq!(judged.reason.text(), "another value of the same thing");
//! assert_eq!(other.judge(&older).verdict, Verdict::No);
//! ```

mod align;
mod ended;
mod pair;
mod rules;
mod slot;
mod statement;
mod tables;
#[cfg(test)]
mod tests;
mod value;

pub use statement::{Statement, WORDS_MAX};

/// The certainty that a newer statement replaces an older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Both statements may be true.
    No,
    /// Both are about the same thing, and no rule tells if the older one still holds.
    Doubtful,
    /// A rule tells that the newer statement takes the older one's place.
    Yes,
}

/// The rule that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The statements are about different things.
    Another,
    /// The statements have a subject in common.
    SameSubject,
    /// The newer statement says that the old value has ended.
    Ended,
    /// Another person or thing holds the role.
    AnotherHolder,
    /// The same words with another value.
    AnotherValue,
    /// Another number, time or date of the same kind.
    AnotherMeasure,
    /// One statement says that something holds, the other that it does not.
    Turned,
    /// The newer statement says that something changed.
    Changed,
}

impl Reason {
    /// Returns the reason in a phrase for people.
    pub fn text(self) -> &'static str {
        match self {
            Reason::Another => "about something else",
            Reason::SameSubject => "about the same thing",
            Reason::Ended => "says that the older one has ended",
            Reason::AnotherHolder => "names another one in the same place",
            Reason::AnotherValue => "another value of the same thing",
            Reason::AnotherMeasure => "another number or time of the same thing",
            Reason::Turned => "says the opposite",
            Reason::Changed => "says that it changed",
        }
    }
}

/// The result of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    /// The certainty.
    pub verdict: Verdict,
    /// The rule that decided.
    pub reason: Reason,
}

impl Statement {
    /// Returns the judgement of the rules on this statement as a replacement of `older`. Costs a comparison of each
    /// word with each word of `older`: at most [`WORDS_MAX`] times [`WORDS_MAX`].
    pub fn judge(&self, older: &Statement) -> Judgement {
        rules::judge(older, self)
    }
}
