//! Reads files in the format of LongMemEval: an array of questions, each with its own history.
//!
//! The format is in the README of xiaowu0162/LongMemEval. A history becomes JSON lines for `icm import jsonl`. Session
//! ids contain the answer (`answer_…`), and topics and keys are searched. The store therefore gets numbers, and the
//! names are put back afterwards.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer as _, Error as _, SeqAccess, Visitor};
use serde_json::json;

use super::Question;
use super::pairs::NO_CATEGORY;
use icm_api::Granularity;
use icm_api::error::{Result, ServiceError};
use icm_api::limits::CONTENT_LEN_MAX;
use icm_guard::json::without_place;

/// One question with the history to ask.
pub(super) struct Haystack {
    pub(super) question: Question,
    /// `true` if nothing in the history answers the question.
    pub(super) abstention: bool,
    pub(super) granularity: Granularity,
    /// JSON lines, one memory each.
    pub(super) lines: Vec<u8>,
    /// The names of memories in the file, by their keys in the store.
    pub(super) names: HashMap<String, String>,
    /// Count of texts that were cut to the length limit of a memory.
    pub(super) cut: u64,
}

#[derive(Deserialize)]
struct Instance {
    question_id: String,
    question_type: Option<String>,
    question: String,
    haystack_session_ids: Vec<String>,
    #[serde(default)]
    haystack_dates: Vec<String>,
    haystack_sessions: Vec<Vec<Turn>>,
    answer_session_ids: Vec<String>,
}

#[derive(Deserialize)]
struct Turn {
    content: String,
    /// Present in sessions with evidence only.
    has_answer: Option<bool>,
}

/// Calls `each` with every question of a file and its place for errors. Reads one question at a time, because a file
/// can be larger than memory.
pub(super) fn for_each(
    path: &Path,
    granularity: Option<Granularity>,
    mut each: impl FnMut(&str, Haystack) -> Result<()>,
) -> Result<()> {
    let name = path.display();
    let file = File::open(path).map_err(|source| ServiceError::Io {
        doing: format!("cannot read {name}"),
        source,
    })?;
    let mut number = 0;
    let mut stopped = None;
    let mut input = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, file));
    let read = input.deserialize_seq(Each(|instance: Instance| {
        number += 1;
        let place = format!("{name}: question {number} ({})", instance.question_id);
        let done = haystack(instance, granularity)
            .map_err(|why| ServiceError::invalid(format!("{place}: {why}")))
            .and_then(|haystack| each(&place, haystack));
        done.map_err(|error| stopped = Some(error)).is_ok()
    }));
    let read = read.and_then(|()| input.end());
    match (stopped, read) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(()),
        (None, Err(error)) => Err(ServiceError::invalid_with(
            format!(
                "{name}:{}: after {number} questions: {}",
                error.line(),
                without_place(&error)
            ),
            "a LongMemEval file is one array of questions with their histories",
        )),
    }
}

/// Calls a function with each element of an array, until the function returns `false`.
struct Each<F>(F);

impl<'de, F: FnMut(Instance) -> bool> Visitor<'de> for Each<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of questions")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> std::result::Result<(), A::Error> {
        while let Some(instance) = items.next_element()? {
            if !self.0(instance) {
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

fn haystack(
    instance: Instance,
    granularity: Option<Granularity>,
) -> std::result::Result<Haystack, String> {
    let (ids, dates) = (&instance.haystack_session_ids, &instance.haystack_dates);
    let sessions = &instance.haystack_sessions;
    if ids.len() != sessions.len() || !(dates.is_empty() || dates.len() == sessions.len()) {
        return Err(format!(
            "{} sessions, but {} ids and {} dates",
            sessions.len(),
            ids.len(),
            dates.len()
        ));
    }
    let marked = sessions.iter().flatten().any(|t| t.has_answer.is_some());
    let granularity = granularity.unwrap_or(match marked {
        true => Granularity::Turn,
        false => Granularity::Session,
    });

    let mut lines = Lines::default();
    let mut evidence = Vec::new();
    for (nth, (id, turns)) in ids.iter().zip(sessions).enumerate() {
        let topic = format!("session-{:04}", nth + 1);
        let date = dates.get(nth).map(|date| occurred_at(date));
        match granularity {
            Granularity::Session => {
                let texts: Vec<&str> = turns.iter().map(|turn| turn.content.as_str()).collect();
                let key = topic.clone();
                lines.add(&topic, key, id.clone(), texts.join("\n"), date.as_deref());
            }
            Granularity::Turn => {
                for (turn, number) in turns.iter().zip(1..) {
                    let name = format!("{id}:{number}");
                    if turn.has_answer == Some(true) {
                        evidence.push(name.clone());
                    }
                    let key = format!("{topic}-{number:03}");
                    lines.add(&topic, key, name, turn.content.clone(), date.as_deref());
                }
            }
        }
    }
    if granularity == Granularity::Session {
        evidence = instance.answer_session_ids;
    }
    evidence.sort();
    evidence.dedup();
    Ok(Haystack {
        abstention: instance.question_id.ends_with("_abs"),
        question: Question {
            id: instance.question_id,
            query: instance.question,
            category: instance.question_type.unwrap_or(NO_CATEGORY.to_owned()),
            evidence,
        },
        granularity,
        lines: lines.text,
        names: lines.names,
        cut: lines.cut,
    })
}

#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    names: HashMap<String, String>,
    cut: u64,
}

impl Lines {
    /// Adds a memory; a text without words is left out.
    fn add(&mut self, topic: &str, key: String, name: String, mut text: String, at: Option<&str>) {
        if text.trim().is_empty() {
            return;
        }
        if text.len() > CONTENT_LEN_MAX {
            text.truncate(text.floor_char_boundary(CONTENT_LEN_MAX));
            self.cut += 1;
        }
        let line = json!({ "topic": topic, "key": key, "content": text, "occurred_at": at });
        self.text.extend_from_slice(line.to_string().as_bytes());
        self.text.push(b'\n');
        self.names.insert(key, name);
    }
}

/// Converts `2023/05/20 (Sat) 02:21`, a time without a zone, to RFC 3339 in UTC. Other formats are returned unchanged;
/// the import judges them.
fn occurred_at(date: &str) -> String {
    let mut words = date.split_whitespace();
    match (words.next(), words.next_back()) {
        (Some(day), Some(time)) if day.contains('/') => {
            format!("{}T{time}:00Z", day.replace('/', "-"))
        }
        _ => date.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::occurred_at;

    #[test]
    fn dates_are_read_in_its_own_shape() {
        for (date, expected) in [
            ("2023/05/20 (Sat) 02:21", "2023-05-20T02:21:00Z"),
            ("2023/05/20 02:21", "2023-05-20T02:21:00Z"),
            ("2023-05-20T02:21:00Z", "2023-05-20T02:21:00Z"),
            ("nonsense", "nonsense"),
        ] {
            assert_eq!(occurred_at(date), expected);
        }
    }
}
