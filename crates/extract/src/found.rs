//! The sentences that are found, and the rules for finding them.

use serde::{Deserialize, Serialize};

/// A sentence that is worth keeping.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// The sentence as it was written, on one line. A list item may have the words that introduce its list in front.
    pub text: String,
    /// The sum of the points of `signals`, at least [`Rules::threshold`].
    pub score: u32,
    /// The reasons for the score, each once, in the order of [`Signal`].
    pub signals: Vec<Signal>,
    /// Medium for an explicit mark, a decision, or a high score; else low.
    pub importance: Importance,
    /// Names, identifiers and code of the sentence: at most eight, each at most 64 bytes.
    pub keywords: Vec<String>,
    /// The place of the sentence.
    pub place: Place,
    /// The speaker of the sentence.
    pub speaker: Speaker,
    /// When it was said, milliseconds since the epoch, if the transcript has a time.
    pub at_ms: Option<i64>,
}

/// The place of a sentence.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The line that the sentence begins at, from 1. In a transcript of JSON lines this is the line of the message.
    pub line: u64,
    /// The line that the sentence ends at.
    pub last_line: u64,
    /// Bytes from the beginning of the transcript to the line of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The client's id of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A text that somebody says in a transcript, for a program other than the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The text without what was injected into it.
    pub text: String,
    /// The speaker of the text.
    pub speaker: Speaker,
    /// The place of the text.
    pub place: Place,
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

/// The weight of a sentence. Rules never give more than medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Importance {
    /// A detail.
    Low,
    /// A decision, or something that was marked.
    Medium,
}

/// A reason for the score of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Signal {
    /// Somebody asked to keep it: `remember that`, `note:`, `from now on`, `never use`.
    Marked,
    /// A decision or a preference: `decided`, `switched to`, `instead of`.
    Decision,
    /// The build of something: `uses`, `lives in`, `depends on`.
    Architecture,
    /// An error, its cause or its remedy: `root cause`, `workaround`, `fixed by`.
    Fix,
    /// A setting: `configured`, `enabled`, `defaults to`.
    Configuration,
    /// A step of development: `deploy`, `migrate`, `release`.
    Development,
    /// A fact about people: `my name is`, `owns`, `deadline`.
    Person,
    /// A reason is given: `because`, `so that`.
    Reason,
    /// Two phrases of one of the signals above.
    Several,
    /// It names one thing: a file, a version, a name, code.
    Specific,
    /// It names two or more things.
    VerySpecific,
    /// A person said it.
    ByUser,
    /// It asks.
    Question,
    /// It guesses or weighs: `maybe`, `we could`, `not sure`.
    Hypothetical,
    /// It reports what is being done: `let me`, `I will now`.
    Progress,
    /// It is polite: `thanks`, `sounds good`.
    Greeting,
    /// It gives a task: `please fix`, `add a test`.
    Request,
    /// It is long.
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

    /// Returns the points that the signal adds to a score; less than 0 for one that speaks against a sentence.
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

    /// Returns the name, as JSON has it.
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
            Signal::VerySpecific => "veryspecific",
            Signal::ByUser => "byuser",
            Signal::Question => "question",
            Signal::Hypothetical => "hypothetical",
            Signal::Progress => "progress",
            Signal::Greeting => "greeting",
            Signal::Request => "request",
            Signal::Long => "long",
        }
    }
}

/// The choice of what is extracted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The least score of a sentence that is returned. A higher one returns fewer and surer sentences.
    pub threshold: u32,
    /// The most sentences that are returned; of more the best.
    pub max: usize,
    /// True if the output of tools is read, too. It is mostly logs and code.
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
