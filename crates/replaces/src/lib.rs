//! Whether a newer statement replaces an older one, by rules.
//!
//! [`Statement::of`] splits a short text, [`Statement::judge`] compares a newer one with an older one of the same topic. The
//! rules look for the same subject with another value, for words of change, for other numbers, times and versions, and for
//! negation, in English, German, French and Spanish. They are made to be silent rather than wrong.
//!
//! The crate is a function of two texts. It knows no store, no clock, no scope and no topic: its caller says which of the two
//! is newer, and compares statements only if they can be about one thing.
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
mod rules;
mod statement;
mod tables;
#[cfg(test)]
mod tests;

pub use statement::{Statement, WORDS_MAX};

/// The certainty that a newer statement replaces an older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Both may be true.
    No,
    /// Both are about one thing, and no rule says whether the older one still holds.
    Doubtful,
    /// A rule says that the newer one stands in the place of the older one.
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
    /// The newer one says of the old value that it has ended.
    Ended,
    /// Another person or thing has the role.
    AnotherHolder,
    /// The same words with another value.
    AnotherValue,
    /// Another number, time or date of the same kind.
    AnotherMeasure,
    /// The same is said to hold and not to hold.
    Turned,
    /// The newer one says that it changed.
    Changed,
}

impl Reason {
    /// The reason in a phrase for people.
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

/// An answer of the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    /// The certainty.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
}

impl Statement {
    /// Whether this statement replaces `older`. Compares each word of one with each of the other: at most
    /// [`WORDS_MAX`] times [`WORDS_MAX`].
    pub fn judge(&self, older: &Statement) -> Judgement {
        rules::judge(older, self)
    }
}
