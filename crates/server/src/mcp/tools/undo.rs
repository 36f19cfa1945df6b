//! The tool `icm_undo`: undoes events, after a preview.

use std::fmt::Write;

use serde_json::json;

use super::{Call, Hints, Kind, Param, Reply, Tool, clean_value, count, short};
use crate::mcp::schema::Args;
use icm_api::error::ServiceError;
use icm_api::{UndoAction, UndoAnswer, UndoFact, UndoRequest};
use icm_guard::frame::Frame;
use icm_guard::sanitize::clean_line;

/// Changes that a reply lists.
const CHANGES_MAX: usize = 50;
const LAST_MAX: u64 = 1_000;

pub(super) static TOOL: Tool = Tool {
    name: "icm_undo",
    title: "Undo changes",
    description: "Take changes back. Call it when a change was wrong; without confirm it only previews. An undo is undone the same way. Not for erasing secrets.",
    hints: Hints {
        read_only: false,
        destructive: true,
        idempotent: false,
    },
    search_hint: "revert, restore, take back",
    leaves_work: true,
    params: &[
        Param {
            name: "event",
            kind: Kind::Text,
            required: false,
            about: "event id, @position or range @12..@20",
        },
        Param {
            name: "last",
            kind: Kind::Whole {
                min: 1,
                max: LAST_MAX,
            },
            required: false,
            about: "the newest N changing commands",
        },
        Param {
            name: "session",
            kind: Kind::Text,
            required: false,
            about: "what this session did",
        },
        Param {
            name: "actor",
            kind: Kind::Text,
            required: false,
            about: "what this actor did",
        },
        Param {
            name: "topic",
            kind: Kind::Text,
            required: false,
            about: "changes of memories of this topic",
        },
        Param {
            name: "memoir",
            kind: Kind::Text,
            required: false,
            about: "changes of this memoir and in it",
        },
        Param {
            name: "since",
            kind: Kind::Text,
            required: false,
            about: "nothing before: date, 2h ago or @position",
        },
        Param {
            name: "cascade",
            kind: Kind::Flag,
            required: false,
            about: "also later changes of the same memories",
        },
        Param {
            name: "confirm",
            kind: Kind::Text,
            required: false,
            about: "the plan that the preview named: do just that",
        },
    ],
    output: None,
    run,
};

fn run(call: &Call<'_>, mut args: Args) -> Result<Reply, ServiceError> {
    let request = UndoRequest {
        events: args.text("event").into_iter().collect(),
        last: args.whole("last").map(|last| last as usize),
        session: args.text("session"),
        actor: args.text("actor"),
        topic: args.text("topic"),
        memoir: args.text("memoir"),
        since: args.text("since"),
        cascade: args.flag("cascade"),
        ..UndoRequest::default()
    };
    let plan = args.text("confirm");
    let request = UndoRequest {
        dry_run: plan.is_none(),
        plan,
        ..request
    };
    let mut answer = call.service.undo(call.caller, &request)?;
    let (total, outcome) = (answer.changes.len(), answer.outcome());
    let (_, staying) = answer.later_gone_and_staying();
    answer.changes.truncate(CHANGES_MAX);
    answer.facts.truncate(CHANGES_MAX);
    let text = text_of(&answer, total, staying, &outcome);
    let mut structured =
        serde_json::to_value(&answer).map_err(|error| ServiceError::Internal(error.to_string()))?;
    structured["changes_total"] = json!(total);
    clean_value(&mut structured);
    Ok(Reply::new(text, structured))
}

/// Adds a value of a fact that changes although the memory of the fact looks the same.
fn tell_fact(frame: &mut Frame, fact: &UndoFact) {
    let value = |value: &Option<String>| match value {
        Some(value) => format!("\"{}\"", clean_line(value)),
        None => "no value".to_owned(),
    };
    let until = match &fact.valid_until {
        Some(until) => format!(" until {until}"),
        None => String::new(),
    };
    let line = format!(
        "\"{} {}\" from {}{until}: {} instead of {}",
        clean_line(&fact.subject),
        clean_line(&fact.attribute),
        fact.valid_from,
        value(&fact.after),
        value(&fact.before),
    );
    frame.item(&format!("changed {} ", fact.id), &line, "", usize::MAX);
}

fn text_of(answer: &UndoAnswer, total: usize, staying: u64, outcome: &str) -> String {
    let events = count(answer.events, "event", "events");
    let mut text = match (&answer.event, answer.position) {
        (Some(event), Some(position)) => {
            format!(
                "undone {events}: {outcome} (event {}, @{position})",
                short(event)
            )
        }
        _ => format!(
            "would undo {events}: {outcome}; to do it call again with confirm: \"{}\"",
            answer.plan
        ),
    };
    let redacted = answer.skipped.iter().filter(|it| it.redacted).count();
    if redacted > 0 {
        let events = count(redacted as u64, "redacted event", "redacted events");
        let _ = write!(text, "\nnot undone: {events}");
    }
    let mut frame = Frame::new();
    for change in &answer.changes {
        let mut line = String::new();
        let word = match change.action {
            UndoAction::Gone => "gone",
            UndoAction::Back => "back",
            UndoAction::Changed => "changed",
        };
        let _ = write!(line, "in \"{}\"", clean_line(&change.topic));
        if !change.fields.is_empty() {
            let _ = write!(line, ": {}", change.fields.join(", "));
        }
        if change.later_changes > 0 {
            let later = count(change.later_changes, "later change", "later changes");
            let what = match (&change.after, change.later_changes) {
                (None, 1) => "goes with it, and comes back with it",
                (None, _) => "go with it, and come back with it",
                (Some(_), 1) => "stays in force",
                (Some(_), _) => "stay in force",
            };
            let _ = write!(line, " ({later} {what})");
        }
        for link in &change.links {
            let word = match link.action {
                UndoAction::Back => "back",
                _ => "gone",
            };
            let relation = clean_line(&link.relation);
            let other = match (&link.name, &link.from) {
                (Some(name), Some(_)) => format!("{} {relation}", clean_line(name)),
                (Some(name), None) => format!("{relation} {}", clean_line(name)),
                (None, _) => format!("{relation} {}", link.to),
            };
            let _ = write!(line, "\nlink {word}: {other}");
        }
        frame.item(&format!("{word} {} ", change.id), &line, "", usize::MAX);
    }
    answer
        .facts
        .iter()
        .for_each(|fact| tell_fact(&mut frame, fact));
    if !answer.changes.is_empty() || !answer.facts.is_empty() {
        let _ = write!(text, "\n{}", frame.finish());
    }
    if total > answer.changes.len() {
        let _ = write!(text, "\n… and {} more", total - answer.changes.len());
    }
    if staying > 0 {
        let later = count(staying, "later change", "later changes");
        let stay = if staying == 1 { "stays" } else { "stay" };
        let _ = write!(
            text,
            "\n{later} of these {} {stay} in force; cascade: true undoes them too",
            answer.later_of()
        );
    }
    text
}
