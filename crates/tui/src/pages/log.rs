//! The page *Log*: events that fit a filter, and the event beside the list.

use icm_api::error::{Result, ServiceError};
use icm_api::{LogEntry, LogRequest};

use super::{Page, Scene, empty, event_row, facts};
use crate::ask::Events;
use crate::row::{Look, Row};
use crate::text::at_least;

/// The words of a filter, for errors and help.
pub(crate) const FILTERS: &str =
    "a kind (memory.stored, memory), topic:, memory:, actor:, session:, memoir:, since:, until:";

/// Makes the page.
pub(crate) fn page(scene: &Scene<'_>, filter: &str, events: &Events) -> Page {
    let mut rows: Vec<Row> = events
        .entries
        .iter()
        .map(|entry| event_row(scene, entry))
        .collect();
    if rows.is_empty() {
        rows = match filter.is_empty() {
            true => empty(scene.columns, &["The log has no event yet."]),
            false => empty(
                scene.columns,
                &["No event fits. Esc takes the filter away, / gives another."],
            ),
        };
    } else if events.more {
        rows.push(Row::new().with("  more follow: moving on loads them", Look::Dim));
    }
    let shown = events.entries.len() as u64;
    let mut head = facts(
        scene.columns,
        &[
            ("", at_least(shown, events.more, "event", "events")),
            ("only", filter.to_owned()),
            ("", "newest first".to_owned()),
        ],
    );
    head.truncate(2);
    Page { head, rows }
}

/// Reads a filter as a person types it: `memory.updated actor:codex since:"2h ago"`.
///
/// # Errors
/// `Invalid` for a word that is none of [`FILTERS`].
pub(crate) fn parse(text: &str) -> Result<LogRequest> {
    let mut filter = LogRequest::default();
    for word in words(text) {
        let (name, value) = match word.split_once(':') {
            Some((name, value)) => (name, value),
            None => ("kind", &*word),
        };
        let field = match name {
            "kind" => &mut filter.kind,
            "topic" => &mut filter.topic,
            "memory" | "id" => &mut filter.id,
            "actor" => &mut filter.actor,
            "session" => &mut filter.session,
            "memoir" => &mut filter.memoir,
            "since" => &mut filter.since,
            "until" => &mut filter.until,
            _ => {
                return Err(ServiceError::Invalid {
                    message: format!("`{name}:` is no filter"),
                    hint: Some(format!("filters: {FILTERS}")),
                });
            }
        };
        *field = Some(value.to_owned()).filter(|value| !value.is_empty());
    }
    Ok(filter)
}

/// Divides a text at its spaces, except between quotes.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in text.chars() {
        match character {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            other => {
                if let Some(word) = words.last_mut() {
                    word.push(other);
                }
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the event for the side of a wide terminal.
pub(crate) fn beside(scene: &Scene<'_>, entry: &LogEntry) -> Vec<Row> {
    let mut rows = super::event::head(scene, entry);
    rows.push(Row::new());
    rows.extend(super::event::body(scene, entry));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_read_word_by_word() {
        let filter = parse(r#" memory.updated actor:codex  since:"2h ago" topic:a/b"#);
        let filter = filter.expect("a filter");
        assert_eq!(filter.kind.as_deref(), Some("memory.updated"));
        assert_eq!(filter.actor.as_deref(), Some("codex"));
        assert_eq!(filter.since.as_deref(), Some("2h ago"));
        assert_eq!(filter.topic.as_deref(), Some("a/b"));
        assert_eq!(parse("").expect("no filter"), LogRequest::default());
        let error = parse("colour:red").expect_err("no filter").to_string();
        assert_eq!(error, "`colour:` is no filter");
    }
}
