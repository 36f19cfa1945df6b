//! Feedback: corrections of predictions, and marks on memories.

use serde::{Deserialize, Serialize};

use super::basis::Basis;
use super::marks::{Marks, Verdict};
use super::memory::{Source, Trust};

/// A request to record what was predicted and what was right.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeedbackRequest {
    /// The prediction, or what was done.
    pub predicted: String,
    /// The right answer.
    pub correct: String,
    /// The situation in which the prediction was made.
    pub context: String,
    /// The reason why it is right.
    pub reason: Option<String>,
    /// The topic of the feedback.
    pub topic: Option<String>,
    /// The memory that the prediction came from: full id or a unique prefix. It is called wrong.
    pub memory: Option<String>,
    /// The scope: `global`, `project:ID`, `session:ID`. Default: `global`.
    pub scope: Option<String>,
    /// Source of the feedback.
    pub source: Source,
    /// Trust in the feedback; `None` for an agent's.
    pub trust: Option<Trust>,
    /// Write it even if it holds a secret.
    pub allow_secret: bool,
}

/// The receipt of recorded feedback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedbackReceipt {
    /// The feedback (ULID).
    pub id: String,
    /// The event that recorded it (64 hex digits).
    pub event: String,
    /// The position of that event.
    pub position: u64,
    /// The memory that the prediction came from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<String>,
    /// The marks of that memory with this one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub marks: Option<Marks>,
    /// Warnings for the writer, one line each: a secret was stored or masked.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
}

/// The receipt of a mark on a memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MarkReceipt {
    /// The memory (ULID).
    pub id: String,
    /// Its topic.
    pub topic: String,
    /// The judgement.
    pub verdict: Verdict,
    /// `false` if this session (or else this actor) had judged the memory so before: nothing was written.
    pub marked: bool,
    /// The event of the mark (64 hex digits).
    pub event: String,
    /// The position of that event.
    pub position: u64,
    /// All marks of the memory.
    pub marks: Marks,
}

/// Recorded feedback: a prediction with its correction. A text is `None` if it is withheld.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Feedback {
    /// The feedback (ULID).
    pub id: String,
    /// The topic.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub topic: Option<String>,
    /// The situation in which the prediction was made.
    pub context: Option<String>,
    /// The prediction.
    pub predicted: Option<String>,
    /// The right answer.
    pub correct: Option<String>,
    /// The reason why it is right.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// The memory that the prediction came from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub memory: Option<String>,
    /// `global`, `project:ID`, `session:ID`.
    pub scope: String,
    /// Trust in the feedback.
    pub trust: Trust,
    /// Time of the record, RFC 3339.
    pub created_at: String,
}

impl Feedback {
    /// Returns the correction as one sentence: `"P" was predicted, "C" is right (context "X")`. Each text is cut to
    /// `max_chars` characters, on one line.
    pub fn told(&self, max_chars: usize) -> String {
        let shown = |text: &Option<String>| match text {
            Some(text) => beginning(text, max_chars),
            None => "(withheld)".to_owned(),
        };
        let reason = match &self.reason {
            Some(reason) => format!("; {}", beginning(reason, max_chars)),
            None => String::new(),
        };
        format!(
            "\"{}\" was predicted, \"{}\" is right{reason} (context \"{}\")",
            shown(&self.predicted),
            shown(&self.correct),
            shown(&self.context)
        )
    }
}

impl FeedbackHit {
    /// Returns the same feedback, each of its texts cut to `max_chars` characters, on one line.
    #[must_use]
    pub fn shortened(mut self, max_chars: usize) -> FeedbackHit {
        let feedback = &mut self.feedback;
        for text in [
            &mut feedback.context,
            &mut feedback.predicted,
            &mut feedback.correct,
            &mut feedback.reason,
        ] {
            *text = text.take().map(|text| beginning(&text, max_chars));
        }
        self
    }
}

/// Returns the beginning of a text, its white space made single spaces.
fn beginning(text: &str, max_chars: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(max_chars) {
        None => line,
        Some(_) => {
            let kept = line.chars().take(max_chars.saturating_sub(1));
            kept.chain(['…']).collect()
        }
    }
}

/// Feedback that a search or a recall found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedbackHit {
    /// Rank score: larger is better, comparable within one answer only.
    pub score: f64,
    /// Fit, 0 to 1 in thousandths, as of a result of a recall.
    pub fit: f64,
    /// Words of the query that matched; empty if the feedback was found by its meaning.
    pub matched: Vec<String>,
    /// The feedback.
    #[serde(flatten)]
    pub feedback: Feedback,
}

/// A request to search feedback.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeedbackSearchRequest {
    /// Words; never query syntax.
    pub query: String,
    /// Only feedback of this topic.
    pub topic: Option<String>,
    /// A scope to see from, or `all`, as of a recall.
    pub scope: Option<String>,
    /// Most results, 1 to 1000. Default: 10.
    pub limit: Option<usize>,
    /// Least fit of a result, 0 to 1. `None` for the configured floor.
    pub floor: Option<f64>,
    /// The moment to answer for, as `--at`.
    pub at: Option<String>,
}

/// The answer to a search of feedback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedbackSearch {
    /// The basis of the answer.
    pub basis: Basis,
    /// The results, best first.
    pub results: Vec<FeedbackHit>,
    /// The best feedback below the floor; present if there is no result above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<FeedbackHit>,
    /// A remark on the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A request for corrections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FeedbackListRequest {
    /// Only feedback of this topic.
    pub topic: Option<String>,
    /// Only feedback of this scope; of a session also of those below it. `None` for all.
    pub scope: Option<String>,
    /// Number of feedback to skip.
    pub offset: usize,
    /// Most feedback; `None` for all.
    pub limit: Option<usize>,
    /// The moment to answer for, as `--at`.
    pub at: Option<String>,
}

/// A page of feedback, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedbackList {
    /// The basis of the answer.
    pub basis: Basis,
    /// The page.
    pub feedback: Vec<Feedback>,
    /// Number of all that fit, on all pages.
    pub total: u64,
    /// `true` if more pages follow.
    pub more: bool,
}

/// The number of feedback of one topic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedbackTopic {
    /// The topic; `None` for feedback without one.
    pub topic: Option<String>,
    /// The number of feedback.
    pub feedback: u64,
}

/// A memory with its marks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarkedMemory {
    /// The memory (ULID).
    pub id: String,
    /// Its topic.
    pub topic: String,
    /// The beginning of its text in one line; `None` if the text is withheld.
    pub content: Option<String>,
    /// Its marks.
    #[serde(flatten)]
    pub marks: Marks,
}

/// The changes of feedback between two moments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FeedbackDiff {
    /// Feedback that is new.
    pub recorded: Vec<Feedback>,
    /// Feedback that was undone.
    pub gone: Vec<Feedback>,
    /// Memories with other marks, as of the later moment.
    pub judged: Vec<MarkedMemory>,
}

impl FeedbackDiff {
    /// Returns `true` if nothing changed.
    pub fn is_empty(&self) -> bool {
        self.recorded.is_empty() && self.gone.is_empty() && self.judged.is_empty()
    }
}

/// The numbers of feedback.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeedbackStats {
    /// The basis of the answer.
    pub basis: Basis,
    /// The number of feedback.
    pub feedback: u64,
    /// The same by topic, largest first.
    pub by_topic: Vec<FeedbackTopic>,
    /// The marks of all living memories.
    pub marks: Marks,
    /// The number of living memories with a mark.
    pub marked: u64,
    /// The memories that were called wrong most often, at most 10.
    pub most_wrong: Vec<MarkedMemory>,
    /// The memories that were called useful most often, at most 10.
    pub most_useful: Vec<MarkedMemory>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_correction_is_one_line() {
        let feedback = Feedback {
            id: String::new(),
            topic: None,
            context: Some("two\nlines".to_owned()),
            predicted: Some("abcdef".to_owned()),
            correct: None,
            reason: None,
            memory: None,
            scope: "global".to_owned(),
            trust: Trust::User,
            created_at: String::new(),
        };
        assert_eq!(
            feedback.told(4),
            "\"abc…\" was predicted, \"(withheld)\" is right (context \"two…\")"
        );
    }
}
