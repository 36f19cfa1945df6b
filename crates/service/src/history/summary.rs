//! Events as one line for people.

use icm_log::facts::{Facts, Front, Hole, MemoryUpdated, UndoneRange};
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::memory::present::field_names;
use crate::upkeep::decay::{day_text, decimal};
use icm_api::expiry;
use icm_api::ids::id_text;
use icm_api::when::local;

/// Returns an event in one line, with times in a zone.
pub(super) fn summary_of(facts: &Facts, payload: &Value, zone: &TimeZone) -> String {
    let text = |field: &str| text_in(payload, field);
    match facts {
        Facts::Stored(_) if payload.is_null() => "(withheld)".to_owned(),
        Facts::Stored(_) => format!("[{}] {}", text("topic"), text("content")),
        Facts::Consolidated(facts) => format!(
            "[{}] {} memories: {}",
            text("topic"),
            facts.covers.len(),
            text("content")
        ),
        Facts::Updated(facts) => update_summary(facts, payload, text),
        Facts::Recalled(facts) => match facts.shown.map(|shown| shown.front) {
            Some(Front::WAKE_UP) => format!("woken up with {}", facts.results.len()),
            Some(Front::HOOK) => format!("a hook showed {}", facts.results.len()),
            _ => format!("\"{}\" showed {}", text("query"), facts.results.len()),
        },
        Facts::Pinned(facts) => match facts.until_ms {
            0 => String::new(),
            until_ms => format!("until {}", local(until_ms, zone)),
        },
        Facts::Expired(facts) => match expiry::seen(facts.condition) {
            Some(seen) => format!("{}: {seen}", facts.condition.name().unwrap_or_default()),
            None => "a condition that this version does not know".to_owned(),
        },
        Facts::Decayed(facts) => format!(
            "to {}, {} % a day",
            day_text(facts.as_of_day),
            decimal(facts.rate_ppm) * 100.0
        ),
        Facts::Pruned(facts) => {
            let memories = match facts.covers.len() {
                1 => "1 memory".to_owned(),
                memories => format!("{memories} memories"),
            };
            format!("{memories} below {}", decimal(facts.threshold_ppm))
        }
        Facts::Linked(facts) => {
            let relation = (facts.relation.name()).unwrap_or_else(|| text("relation"));
            format!("{relation} {}", id_text(facts.other))
        }
        Facts::Forgotten(_) | Facts::Revived(_) | Facts::Unlinked | Facts::Unpinned => payload
            .get("reason")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        Facts::MemoirCreated(_)
        | Facts::MemoirDescribed(_)
        | Facts::ConceptAdded(_)
        | Facts::ConceptRefined(_)
        | Facts::ConceptLabelled(_)
        | Facts::ConceptUnlabelled(_) => of_graph(facts, payload),
        Facts::SessionStarted(_)
        | Facts::SessionEnded(_)
        | Facts::AlertSet(_)
        | Facts::AlertDelivered
        | Facts::FeedbackRecorded(_)
        | Facts::FeedbackApplied(_) => of_session(facts, payload, zone),
        Facts::OriginStarted(_)
        | Facts::ActorNamed
        | Facts::Imported(_)
        | Facts::Repaired(_)
        | Facts::Redacted(_)
        | Facts::Undone(_)
        | Facts::Opaque => of_log(facts, payload),
    }
}

/// Returns a text of a payload.
fn text_in<'p>(payload: &'p Value, field: &str) -> &'p str {
    let text = payload.get(field).and_then(Value::as_str);
    text.unwrap_or("(withheld)")
}

/// Returns an event about a memoir or a concept in one line.
fn of_graph(facts: &Facts, payload: &Value) -> String {
    let text = |field: &str| text_in(payload, field);
    match facts {
        Facts::MemoirCreated(_) if payload.is_null() => "(withheld)".to_owned(),
        Facts::MemoirCreated(_) => format!("[{}] {}", text("name"), text("description")),
        Facts::MemoirDescribed(_) => format!("description: {}", text("description")),
        Facts::ConceptAdded(_) if payload.is_null() => "(withheld)".to_owned(),
        Facts::ConceptAdded(_) => format!(
            "[{}] {}: {}",
            text("memoir"),
            text("name"),
            text("definition")
        ),
        Facts::ConceptRefined(_) => format!("definition: {}", text("definition")),
        Facts::ConceptLabelled(_) => {
            let labels = payload.get("labels").and_then(Value::as_array);
            let labels = labels.into_iter().flatten().filter_map(Value::as_str);
            let labels: Vec<String> = labels.map(|label| format!("+{label}")).collect();
            format!("labels: {}", labels.join(" "))
        }
        Facts::ConceptUnlabelled(facts) => match facts.removed.len() {
            1 => "labels: 1 taken away".to_owned(),
            removed => format!("labels: {removed} taken away"),
        },
        _ => String::new(),
    }
}

/// Returns an event about a session, an alert or feedback in one line.
fn of_session(facts: &Facts, payload: &Value, zone: &TimeZone) -> String {
    let text = |field: &str| text_in(payload, field);
    match facts {
        Facts::SessionStarted(facts) => {
            let cause = facts
                .cause
                .name()
                .unwrap_or("of a cause that this version does not know");
            let client = payload.get("client").and_then(Value::as_str);
            let client = client
                .map(|client| format!(", {client}"))
                .unwrap_or_default();
            let project = payload.get("project").and_then(Value::as_str);
            let project = project
                .map(|project| format!(", {project}"))
                .unwrap_or_default();
            format!("{cause}{client}{project}")
        }
        Facts::SessionEnded(facts) => {
            let reason = facts.reason.name();
            reason
                .unwrap_or("for a reason that this version does not know")
                .to_owned()
        }
        Facts::AlertSet(_) if payload.is_null() => "(withheld)".to_owned(),
        Facts::AlertSet(facts) => match facts.due_ms {
            0 => text("text").to_owned(),
            due_ms => format!("{} (from {})", text("text"), local(due_ms, zone)),
        },
        Facts::AlertDelivered => "alerts were shown".to_owned(),
        Facts::FeedbackRecorded(_) if payload.is_null() => "(withheld)".to_owned(),
        Facts::FeedbackRecorded(_) => format!(
            "\"{}\" was predicted, \"{}\" is right: {}",
            text("predicted"),
            text("correct"),
            text("context")
        ),
        Facts::FeedbackApplied(facts) => match facts.verdict.name() {
            Some(verdict) => verdict.to_owned(),
            None => "a verdict that this version does not know".to_owned(),
        },
        _ => String::new(),
    }
}

/// Returns an event about the log in one line.
fn of_log(facts: &Facts, payload: &Value) -> String {
    let text = |field: &str| text_in(payload, field);
    match facts {
        Facts::OriginStarted(_) => text("program").to_owned(),
        Facts::ActorNamed => text("name").to_owned(),
        Facts::Imported(facts) => match facts.count() {
            1 => "1 event".to_owned(),
            events => format!("{events} events"),
        },
        Facts::Repaired(facts) => match facts.holes.iter().map(Hole::count).sum() {
            1_u64 => "1 event is gone".to_owned(),
            events => format!("{events} events are gone"),
        },
        Facts::Redacted(facts) => match facts.subjects.len() {
            0 => "single events".to_owned(),
            1 => "1 memory".to_owned(),
            memories => format!("{memories} memories"),
        },
        Facts::Undone(facts) => {
            let len = |range: &UndoneRange| range.to_seq.0 - range.from_seq.0 + 1;
            match facts.ranges.iter().map(len).sum() {
                1_u64 => format!("took back 1 event: {}", chosen(text("selector"))),
                events => format!("took back {events} events: {}", chosen(text("selector"))),
            }
        }
        Facts::Opaque => "a kind that this version does not know".to_owned(),
        _ => String::new(),
    }
}

/// Returns the choice of an undo as a person would say it: `the last 2 commands`, `session s-17`, `@33`.
fn chosen(selector: &str) -> String {
    let mut words = selector.split(' ');
    let mut said: Vec<String> = Vec::new();
    while let Some(word) = words.next() {
        said.push(match word {
            "--last" => match words.next() {
                Some("1") => "the last command".to_owned(),
                last => format!("the last {} commands", last.unwrap_or_default()),
            },
            "--only" => "without the rest of its command".to_owned(),
            "--cascade" => "with what builds on it".to_owned(),
            word => word.strip_prefix("--").unwrap_or(word).to_owned(),
        });
    }
    said.join(" ")
}

/// Returns the fields that an update wrote, in words.
fn update_summary<'p>(
    facts: &MemoryUpdated,
    payload: &Value,
    text: impl Fn(&str) -> &'p str,
) -> String {
    let mut parts: Vec<String> = field_names(facts.fields)
        .into_iter()
        .filter(|name| name != "content")
        .map(|name| match name.as_str() {
            "topic" => format!("topic: {}", text("topic")),
            "importance" => match facts.importance {
                Some(importance) => format!(
                    "importance: {}",
                    icm_api::Importance::from(importance).name()
                ),
                None => name,
            },
            _ => name,
        })
        .collect();
    let added = payload.get("keywords_added").and_then(Value::as_array);
    let added: Vec<String> = (added.into_iter().flatten())
        .filter_map(Value::as_str)
        .map(|word| format!("+{word}"))
        .collect();
    match (added.is_empty(), facts.removed.len()) {
        (true, 0) => {}
        (true, 1) => parts.push("keywords: 1 taken away".to_owned()),
        (true, removed) => parts.push(format!("keywords: {removed} taken away")),
        (false, 0) => parts.push(format!("keywords: {}", added.join(" "))),
        (false, removed) => parts.push(format!(
            "keywords: {}, {removed} taken away",
            added.join(" ")
        )),
    }
    if facts.fields & icm_log::facts::fields::CONTENT != 0 {
        parts.push(format!("content: {}", text("content")));
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_of_an_undo_is_said_in_words() {
        for (selector, said) in [
            ("--last 1", "the last command"),
            ("--last 3", "the last 3 commands"),
            ("@33 @34 --only", "@33 @34 without the rest of its command"),
            (
                "--session s-17 --since yesterday",
                "session s-17 since yesterday",
            ),
            ("(withheld)", "(withheld)"),
        ] {
            assert_eq!(chosen(selector), said);
        }
    }
}
