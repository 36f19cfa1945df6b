//! The sentences that were found, and the rules of the search.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A sentence that is worth keeping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The sentence as written, on one line. A list item may have the words that introduce its list in front.
    pub text: String,
    /// The sum of the points of `signals`, at least [`Rules::threshold`].
    pub score: u32,
    /// The reasons for the score, each once, in the order of [`Signal`].
    pub signals: Vec<Signal>,
    /// Medium for an explicit mark, a decision or a high score; otherwise low.
    pub importance: Importance,
    /// Names, identifiers and code in the sentence: at most eight, each of at most 64 bytes.
    pub keywords: Vec<String>,
    /// The origin of the sentence.
    pub origin: Origin,
    /// The speaker of the sentence.
    pub speaker: Speaker,
    /// The date at the beginning of the line (in UTC), else the date of the heading above, else the time of the message, if
    /// there is one: milliseconds since the epoch.
    pub at_ms: Option<i64>,
}

/// The place of a sentence: lines and message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// First line of the sentence, from 1. In a transcript of JSON lines, the line of the message.
    pub line: u64,
    /// Last line of the sentence.
    pub last_line: u64,
    /// Offset of the message's line in the transcript, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The client's id of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The text of one turn of a speaker, for programs that extract in another way than by rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The text without injected text.
    pub text: String,
    /// The speaker of the text.
    pub speaker: Speaker,
    /// The origin of the text.
    pub origin: Origin,
}

/// The speaker of a sentence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Speaker {
    /// A person.
    User,
    /// A model.
    Assistant,
    /// The output of a tool.
    Tool,
    /// The text does not say.
    #[default]
    Unknown,
}

/// The importance of a sentence. Rules never give more than medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Importance {
    /// A detail.
    Low,
    /// A decision, or something with an explicit mark.
    Medium,
}

/// A reason for the score of a sentence. In JSON, its [`Signal::name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// A request to keep it: `remember that`, `note:`, `from now on`, `never use`.
    Marked,
    /// A decision or a preference: `decided`, `switched to`, `instead of`.
    Decision,
    /// A fact about a structure: `uses`, `lives in`, `depends on`.
    Architecture,
    /// An error, its cause or its remedy: `root cause`, `workaround`, `fixed by`.
    Fix,
    /// A setting: `configured`, `enabled`, `defaults to`.
    Configuration,
    /// A step of development: `deploy`, `migrate`, `release`.
    Development,
    /// A fact about people: `my name is`, `owns`, `deadline`.
    Person,
    /// A reason: `because`, `so that`.
    Reason,
    /// Two phrases of one of the signals above.
    Several,
    /// The sentence names one thing: a file, a version, a name, code.
    Specific,
    /// The sentence names two or more things.
    VerySpecific,
    /// A person said it.
    ByUser,
    /// The sentence is a question.
    Question,
    /// A guess or a weighing: `maybe`, `we could`, `not sure`.
    Hypothetical,
    /// A report of work in progress: `let me`, `I will now`.
    Progress,
    /// A courtesy: `thanks`, `sounds good`.
    Greeting,
    /// A task for the model: `please fix`, `add a test`.
    Request,
    /// The sentence is long.
    Long,
}

impl Signal {
    /// Every signal, in order.
    pub const ALL: [Signal; 18] = [
        Signal::Marked,
        Signal::Decision,
        Signal::Architecture,
        Signal::Fix,
        Signal::Configuration,
        Signal::Development,
        Signal::Person,
        Signal::Reason,
        Signal::Several,
        Signal::Specific,
        Signal::VerySpecific,
        Signal::ByUser,
        Signal::Question,
        Signal::Hypothetical,
        Signal::Progress,
        Signal::Greeting,
        Signal::Request,
        Signal::Long,
    ];

    /// Returns the points of the signal in a score; negative for a signal against a sentence.
    pub fn points(self) -> i32 {
        match self {
            Signal::Marked => 6,
            Signal::Decision => 4,
            Signal::Architecture | Signal::Fix | Signal::Person => 3,
            Signal::Configuration | Signal::Development | Signal::VerySpecific => 2,
            Signal::Reason | Signal::Several | Signal::Specific | Signal::ByUser => 1,
            Signal::Long => -2,
            Signal::Hypothetical | Signal::Request => -4,
            Signal::Greeting => -6,
            Signal::Question | Signal::Progress => -8,
        }
    }

    /// Returns the name in texts and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Signal::Marked => "marked",
            Signal::Decision => "decision",
            Signal::Architecture => "architecture",
            Signal::Fix => "fix",
            Signal::Configuration => "configuration",
            Signal::Development => "development",
            Signal::Person => "person",
            Signal::Reason => "reason",
            Signal::Several => "several",
            Signal::Specific => "specific",
            Signal::VerySpecific => "very-specific",
            Signal::ByUser => "by-user",
            Signal::Question => "question",
            Signal::Hypothetical => "hypothetical",
            Signal::Progress => "progress",
            Signal::Greeting => "greeting",
            Signal::Request => "request",
            Signal::Long => "long",
        }
    }
}

impl Serialize for Signal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Signal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Signal, D::Error> {
        let name = String::deserialize(deserializer)?;
        let signal = Signal::ALL.into_iter().find(|signal| signal.name() == name);
        signal.ok_or_else(|| D::Error::custom(format!("unknown signal `{name}`")))
    }
}

/// The options of an extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Least score of a sentence that is returned. Raised, fewer and surer sentences are returned.
    pub threshold: u32,
    /// Most sentences that are returned; the best stay.
    pub max: usize,
    /// `true` to read the output of tools, too, which is mostly logs and code.
    pub tool_output: bool,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            threshold: 4,
            max: 50,
            tool_output: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_names_of_signals() {
        for signal in Signal::ALL {
            let json = serde_json::to_value(signal).expect("it is a text");
            assert_eq!(json, signal.name());
            assert_eq!(serde_json::from_value::<Signal>(json).ok(), Some(signal));
            let fits = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(signal.name().chars().all(fits), "{signal:?}");
        }
        let names = [Signal::VerySpecific, Signal::ByUser].map(Signal::name);
        assert_eq!(names, ["very-specific", "by-user"]);
        assert!(serde_json::from_str::<Signal>("\"byuser\"").is_err());
    }
}
