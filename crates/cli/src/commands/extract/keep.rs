//! Stores candidates: duplicates are skipped, secrets are refused, the rest becomes one command.

mod duplicates;

use std::io::BufRead;

use icm_api::{Caller, ImportedLine, Memory, NoProgress, limits};
use icm_extract::{Found, Importance};
use icm_guard::secrets::{Action, Policy};
use icm_service::Service;
use serde::Serialize;
use serde_json::{Value, json};

use self::duplicates::Duplicates;
use crate::error::CliError;

/// The metadata field that marks a memory as extracted.
pub(crate) const MARK: &str = "extract";

/// The topic and scope of the stored memories.
pub(crate) struct Destination {
    /// A valid topic.
    pub(crate) topic: String,
    /// `None` for `global`.
    pub(crate) scope: Option<String>,
}

impl Destination {
    /// Returns the scope in the form of requests.
    pub(crate) fn scope(&self) -> &str {
        self.scope.as_deref().unwrap_or("global")
    }
}

/// The source of the candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// The rules of `icm-extract`.
    Rules,
    /// `[extractor] command`.
    Command,
}

impl By {
    /// Returns the name in JSON and in the metadata of memories.
    pub(crate) fn name(self) -> &'static str {
        match self {
            By::Rules => "rules",
            By::Command => "command",
        }
    }
}

/// An extraction: its store, its input and its destination.
pub(crate) struct Run<'r> {
    pub(crate) service: &'r Service,
    pub(crate) caller: &'r Caller,
    pub(crate) destination: &'r Destination,
    /// The name of the input.
    pub(crate) from: &'r str,
    pub(crate) by: By,
    pub(crate) secrets: &'r Policy,
}

/// A sentence that may become a memory.
pub(crate) struct Candidate {
    pub(crate) found: Found,
    pub(crate) topic: String,
}

/// A line of a command's answer that is no candidate.
pub(crate) struct Unfit {
    /// The beginning of the line.
    pub(crate) text: String,
    /// The reason for the rejection.
    pub(crate) why: String,
}

impl Candidate {
    /// Returns a candidate that the rules found.
    pub(crate) fn by_rules(found: Found, topic: &str) -> Candidate {
        Candidate {
            found,
            topic: topic.to_owned(),
        }
    }
}

/// The decision about a candidate; in a dry run the decision of a real run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fate {
    Stored,
    Skipped,
    Rejected,
}

/// A candidate and its fate.
#[derive(Debug, Serialize)]
pub(crate) struct Judged {
    pub(crate) fate: Fate,
    /// The reason why the candidate was not stored, or a warning about the stored memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<String>,
    /// The id of the new memory, or of the memory that says the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    pub(crate) text: String,
    pub(crate) topic: String,
    /// `None` if a command found the candidate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) signals: Vec<&'static str>,
    #[serde(serialize_with = "by_name")]
    pub(crate) importance: icm_api::Importance,
    pub(crate) keywords: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) speaker: Option<icm_extract::Speaker>,
}

fn by_name<S: serde::Serializer>(
    importance: &icm_api::Importance,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(importance.name())
}

impl Judged {
    fn of(candidate: &Candidate, fate: Fate) -> Judged {
        let found = &candidate.found;
        Judged {
            fate,
            why: None,
            id: None,
            text: found.text.clone(),
            topic: candidate.topic.clone(),
            score: (found.score > 0).then_some(found.score),
            signals: found.signals.iter().map(|signal| signal.name()).collect(),
            importance: importance_of(found),
            keywords: keywords_of(found),
            line: (found.origin.line > 0).then_some(found.origin.line),
            message: found.origin.message.clone(),
            speaker: Some(found.speaker),
        }
    }

    /// Masks secrets in the text: a refused secret is not shown either.
    fn hide(&mut self, secrets: &Policy) {
        if let Some(masked) = secrets.masked(&self.text) {
            self.text = masked;
            self.keywords.clear();
        }
    }

    fn unfit(unfit: Unfit, destination: &Destination) -> Judged {
        Judged {
            fate: Fate::Rejected,
            why: Some(unfit.why),
            id: None,
            text: unfit.text,
            topic: destination.topic.clone(),
            score: None,
            signals: Vec::new(),
            importance: icm_api::Importance::Low,
            keywords: Vec::new(),
            line: None,
            message: None,
            speaker: None,
        }
    }
}

/// Returns the importance of a memory, `medium` at most.
fn importance_of(found: &Found) -> icm_api::Importance {
    match found.importance {
        Importance::Low => icm_api::Importance::Low,
        Importance::Medium => icm_api::Importance::Medium,
    }
}

/// Returns the keywords that fit into a memory.
fn keywords_of(found: &Found) -> Vec<String> {
    let fits = |word: &&String| {
        let is_allowed = limits::keywords(std::slice::from_ref(*word)).is_ok();
        is_allowed && limits::refuse_comma(word).is_ok()
    };
    found.keywords.iter().filter(fits).cloned().collect()
}

/// Skips candidates that a memory says already, refuses secrets, and stores the rest as one command, which `icm undo`
/// takes back. No existing memory is changed. With `dry_run` nothing is written, and `Fate::Stored` means "would be
/// stored".
///
/// # Errors
/// The store cannot be read or written, or the scope is invalid.
pub(crate) fn keep(
    run: &Run<'_>,
    candidates: Vec<Result<Candidate, Unfit>>,
    dry_run: bool,
) -> Result<Vec<Judged>, CliError> {
    let mut known = Duplicates::of(run)?;
    let mut judged = Vec::new();
    let mut lines = String::new();
    let mut line_to_judged = Vec::new();
    for candidate in candidates {
        let candidate = match candidate {
            Ok(candidate) => candidate,
            Err(unfit) => {
                judged.push(Judged::unfit(unfit, run.destination));
                continue;
            }
        };
        let mut verdict = Judged::of(&candidate, Fate::Stored);
        let secret = run.secrets.found(&candidate.found.text).into_iter().next();
        if let Some(duplicate) = known.find(&candidate)? {
            verdict.fate = Fate::Skipped;
            (verdict.why, verdict.id) = (Some(duplicate.why), duplicate.id);
        } else if let Some(secret) = secret.filter(|_| run.secrets.action() == Action::Refuse) {
            verdict.fate = Fate::Rejected;
            verdict.why = Some(format!("it looks like it holds a secret ({})", secret.rule));
        } else {
            line_to_judged.push(judged.len());
            lines.push_str(&line_of(&candidate, run).to_string());
            lines.push('\n');
        }
        judged.push(verdict);
    }
    if !dry_run && !line_to_judged.is_empty() {
        import(run, lines, &line_to_judged, &mut judged)?;
    }
    for verdict in &mut judged {
        verdict.hide(run.secrets);
    }
    Ok(judged)
}

/// Imports lines and notes the fate of each in `judged`; line n is `judged[line_to_judged[n - 1]]`.
fn import(
    run: &Run<'_>,
    lines: String,
    line_to_judged: &[usize],
    judged: &mut [Judged],
) -> Result<(), CliError> {
    let index_of = |line: u64| {
        let line = usize::try_from(line).ok()?.checked_sub(1)?;
        line_to_judged.get(line).copied()
    };
    let input: Box<dyn BufRead> = Box::new(std::io::Cursor::new(lines.into_bytes()));
    let file = (run.from.to_owned(), input);
    let mut take_line = |line: ImportedLine| {
        let Some(verdict) = index_of(line.line).and_then(|index| judged.get_mut(index)) else {
            return;
        };
        verdict.id = line.id;
        if line.unchanged {
            verdict.fate = Fate::Skipped;
            verdict.why = Some("it was stored before, and changed or forgotten since".to_owned());
        } else if !line.warnings.is_empty() {
            let warnings = line.warnings.join("; ");
            verdict.why = Some(match verdict.line {
                Some(line) => format!("{}:{line}: {warnings}", run.from),
                None => format!("{}: {warnings}", run.from),
            });
        }
    };
    let report =
        run.service
            .import_lines_reported(run.caller, file, &NoProgress, &mut take_line)?;
    for rejected in report.rejected {
        if let Some(verdict) = index_of(rejected.line).and_then(|index| judged.get_mut(index)) {
            verdict.fate = Fate::Rejected;
            verdict.why = Some(rejected.why);
        }
    }
    Ok(())
}

/// Returns the JSON line that imports a candidate.
fn line_of(candidate: &Candidate, run: &Run<'_>) -> Value {
    let (found, caller, from) = (&candidate.found, run.caller, run.from);
    let origin = &found.origin;
    let mut mark = json!({"from": from, "by": run.by.name()});
    if origin.line > 0 {
        mark["line"] = json!(origin.line);
        mark["last_line"] = json!(origin.last_line);
    }
    if let Some(message) = &origin.message {
        mark["message"] = json!(message);
    }
    if run.by == By::Rules {
        mark["speaker"] = json!(found.speaker);
        mark["score"] = json!(found.score);
        mark["signals"] = json!(found.signals);
    }
    let mut source = json!({"file": from});
    let agent = caller.actor.strip_prefix("agent:");
    for (name, value) in [
        ("agent", agent),
        ("client", caller.client.as_deref()),
        ("session", caller.session.as_deref()),
        ("project", caller.project.as_deref()),
    ] {
        if let Some(value) = value {
            source[name] = json!(value);
        }
    }
    let occurred_at = found
        .at_ms
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    json!({
        "topic": candidate.topic,
        "content": found.text,
        "importance": importance_of(found).name(),
        "keywords": keywords_of(found),
        "occurred_at": occurred_at.map(|at| at.to_string()),
        "scope": run.destination.scope,
        "trust": "external",
        "source": source,
        "metadata": {MARK: mark},
    })
}

/// Returns `true` if a memory was extracted.
pub(crate) fn is_extracted(memory: &Memory) -> bool {
    memory
        .metadata
        .as_ref()
        .is_some_and(|metadata| metadata[MARK].is_object())
}
