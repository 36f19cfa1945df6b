//! Facts: one current value for each scope, subject and attribute.
//!
//! A fact is a memory of the topic `facts/SUBJECT` with the key ATTRIBUTE. Its content is `SUBJECT ATTRIBUTE: VALUE`, so
//! that it can be found and read alone, and the time of its event is the moment from which the value is valid.

use serde::{Deserialize, Serialize};

use super::memory::{Receipt, Source, Trust};
use crate::error::{Result, ServiceError};
use crate::limits::{self, KEY_LEN_MAX, SUBJECT_LEN_MAX};

/// The topic above the topics of all facts.
pub const FACTS: &str = icm_projections::fold::FACTS;

/// Returns the topic of a subject's facts. The levels of a subject, between `/`, are levels of the topic.
///
/// # Errors
/// `Invalid` for an empty or long subject, an empty level, and a control character or an invisible one.
pub fn fact_topic(subject: &str) -> Result<String> {
    let subject = limits::visible_name("the subject", subject, SUBJECT_LEN_MAX)?;
    match subject.split('/').all(|level| !level.trim().is_empty()) {
        true => Ok(format!("{FACTS}{subject}")),
        false => Err(ServiceError::invalid_with(
            format!("a level of the subject `{subject}` has no name"),
            "write a name before and after each `/`, for instance `payments/api`",
        )),
    }
}

/// Returns the key of an attribute.
///
/// # Errors
/// `Invalid` for an empty or long attribute, and a control character or an invisible one.
pub fn fact_key(attribute: &str) -> Result<String> {
    limits::visible_name("the attribute", attribute, KEY_LEN_MAX)
}

/// Returns the text of a fact: its names and its value.
pub fn fact_text(subject: &str, attribute: &str, value: &str) -> String {
    format!("{subject} {attribute}: {value}")
}

/// Returns the value in the text of a fact. A text without the names, as `icm update` may write it, is a value.
pub fn fact_value<'t>(subject: &str, attribute: &str, text: &'t str) -> &'t str {
    let named = fact_text(subject, attribute, "");
    text.strip_prefix(&named).unwrap_or(text)
}

/// A request to set a fact.
#[derive(Debug, Clone, PartialEq)]
pub struct FactRequest {
    /// Required, at most 122 bytes; levels with `/` between them.
    pub subject: String,
    /// Required, at most 256 bytes.
    pub attribute: String,
    /// Required, at most 64 KiB.
    pub value: String,
    /// The moment from which the value is valid (RFC 3339, date, `2h ago` …); `None` for now.
    pub from: Option<String>,
    /// `global` (default), `project:ID` or `session:ID`.
    pub scope: Option<String>,
    /// Overrides of the caller's own values, for the first value of a fact.
    pub source: Source,
    /// Trust of the memory, for the first value of a fact.
    pub trust: Trust,
    /// Store it even if it holds a secret.
    pub allow_secret: bool,
}

impl FactRequest {
    /// Returns a request to set a global fact, valid from now on.
    pub fn new(
        subject: impl Into<String>,
        attribute: impl Into<String>,
        value: impl Into<String>,
    ) -> Self {
        FactRequest {
            subject: subject.into(),
            attribute: attribute.into(),
            value: value.into(),
            from: None,
            scope: None,
            source: Source::default(),
            trust: Trust::User,
            allow_secret: false,
        }
    }
}

/// The receipt of a fact that was set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactReceipt {
    /// The receipt of the memory.
    #[serde(flatten)]
    pub receipt: Receipt,
    /// The value that was set, with the time in which it is valid.
    pub set: Fact,
    /// The value that is valid now; `None` if none is.
    pub current: Option<Fact>,
}

/// A question for facts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FactQuery {
    /// The subject.
    pub subject: String,
    /// The attribute; `None` for all of the subject.
    pub attribute: Option<String>,
    /// Only this scope; `None` for the nearest that the caller sees: the session, its parents, the project, `global`.
    pub scope: Option<String>,
    /// As this machine knew at that moment.
    pub at: Option<String>,
    /// The values that were valid at that time; `None` for the moment of `at`, or now.
    pub valid_at: Option<String>,
}

impl FactQuery {
    /// Returns a question for one attribute of a subject, or for all.
    pub fn new(subject: impl Into<String>, attribute: Option<&str>) -> Self {
        FactQuery {
            subject: subject.into(),
            attribute: attribute.map(str::to_owned),
            ..FactQuery::default()
        }
    }
}

/// A request to list facts: those with a value, and without `valid_at` also those whose first value is planned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FactListRequest {
    /// Only this scope, and those below it if it is a session.
    pub scope: Option<String>,
    /// As this machine knew at that moment.
    pub at: Option<String>,
    /// The values that were valid at that time; `None` for the moment of `at`, or now.
    pub valid_at: Option<String>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// A value of a fact, and the time in which it is valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fact {
    /// Id of the memory (ULID), the same for all values of the fact.
    pub id: String,
    /// `global`, `project:ID`, `session:ID`.
    pub scope: String,
    /// The subject.
    pub subject: String,
    /// The attribute.
    pub attribute: String,
    /// The value; `null` if it was redacted or is damaged.
    pub value: Option<String>,
    /// First moment of its validity, RFC 3339.
    pub valid_from: String,
    /// End of its validity, exclusive: the first moment of the next value. `None` if no later value is known.
    pub valid_until: Option<String>,
    /// Time of the event that said it first, by the author's clock, RFC 3339.
    pub learned_at: String,
    /// Name of the actor.
    pub actor: String,
    /// That event (64 hex digits).
    pub event: String,
    /// Its position.
    pub position: u64,
    /// Its place in time, as of the moment of the answer.
    pub state: FactState,
    /// The first planned value after it, if no other value is valid in between (not in a history).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<NextValue>,
    /// The event that gave the same moment another value, so that this one was never valid (only in a history).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub corrected_by: Option<String>,
}

/// The place of a value in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactState {
    /// A later value is valid.
    Earlier,
    /// It is the value that is valid.
    Current,
    /// It is not valid yet.
    Planned,
    /// Another value of the same moment replaced it, so it was never valid.
    Corrected,
}

/// A planned value of a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextValue {
    /// The value; `null` if it was redacted or is damaged.
    pub value: Option<String>,
    /// First moment of its validity, RFC 3339.
    pub valid_from: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_a_topic_below_facts() {
        let topic = |subject: &str| match fact_topic(subject) {
            Ok(topic) => topic,
            Err(error) => error.to_string(),
        };
        for (subject, expected) in [
            (" deploy ", "facts/deploy"),
            ("payments/api", "facts/payments/api"),
            ("Cafe\u{301}", "facts/Caf\u{e9}"),
            ("", "the subject is empty"),
            ("a/", "a level of the subject `a/` has no name"),
            ("/a", "a level of the subject `/a` has no name"),
        ] {
            assert_eq!(topic(subject), expected, "{subject}");
        }
        assert!(limits::topic(&topic(&"s".repeat(SUBJECT_LEN_MAX))).is_ok());
        assert_eq!(
            topic(&"s".repeat(SUBJECT_LEN_MAX + 1)),
            "the subject is 123 bytes long, the limit is 122 bytes"
        );
        assert_eq!(fact_key(" on call ").expect("a key"), "on call");
        assert!(fact_key("a\tb").is_err() && fact_key(" ").is_err());
    }
}
