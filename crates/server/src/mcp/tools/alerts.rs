//! The tools `icm_alert_set` and `icm_alerts`: reminders for a session or a project.

use icm_agents::alerts::due_alerts;
use icm_api::error::ServiceError;
use icm_api::{AlertSetRequest, AlertsRequest, tokens};
use icm_guard::sanitize::clean_line;
use serde_json::json;

use super::{ALLOW_SECRET, Call, Hints, Kind, Param, Reply, Tool, clean_value, count};

const SESSION: Param = Param {
    name: "session",
    kind: Kind::Text,
    required: false,
    about: "a session's name or id, default this one",
};

pub(super) static SET: Tool = Tool {
    name: "icm_alert_set",
    title: "Set a reminder",
    description: "Set a reminder that is shown once to this session, its sub-agents, or without a session to the project. Call it before the context is compacted, or when something has to be done at a later time. Not for knowledge[: use {icm_memory_store}].",
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: false,
    },
    search_hint: "remind, reminder, later, todo",
    leaves_work: true,
    params: &[
        Param {
            name: "text",
            kind: Kind::Text,
            required: true,
            about: "the reminder, understandable on its own",
        },
        Param {
            name: "due",
            kind: Kind::Text,
            required: false,
            about: "in 2h, tomorrow, or a time; default at once",
        },
        SESSION,
        ALLOW_SECRET,
    ],
    output: None,
    run: |call, mut args| {
        let request = AlertSetRequest {
            text: args.required_text("text"),
            session: args.text("session"),
            due: args.text("due"),
            allow_secret: args.flag("allow_secret"),
        };
        set(call, request)
    },
};

pub(super) static DUE: Tool = Tool {
    name: "icm_alerts",
    title: "Show reminders",
    description: "Return the reminders of this session, of its parents and of the project that are due. Each is returned once. Call it when a session starts or after the context was compacted. Not for knowledge[: use {icm_memory_recall}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: false,
    },
    search_hint: "remind, reminder, todo, pending",
    leaves_work: true,
    params: &[SESSION],
    output: None,
    run: |call, mut args| due(call, args.text("session")),
};

/// Sets an alert.
pub(super) fn set(call: &Call<'_>, request: AlertSetRequest) -> Result<Reply, ServiceError> {
    let receipt = call.service.set_alert(call.caller, request)?;
    let whom = match (&receipt.session, &receipt.project) {
        (Some(session), _) => format!("for session {}", clean_line(session)),
        _ => "for this project".to_owned(),
    };
    let from = match &receipt.due_at {
        Some(due) if receipt.due => format!(", due at once: {} has passed", call.time(due)),
        Some(due) => format!(", from {}", call.time(due)),
        None => String::new(),
    };
    let mut text = format!("set an alert {whom}{from} @{}", receipt.position);
    for warning in &receipt.warnings {
        text.push_str(&format!("\nwarning: {}", clean_line(warning)));
    }
    let mut structured = json!(receipt);
    clean_value(&mut structured);
    Ok(Reply::new(text, structured))
}

/// Returns the alerts that are due, with their delivery.
pub(super) fn due(call: &Call<'_>, session: Option<String>) -> Result<Reply, ServiceError> {
    let request = AlertsRequest {
        session,
        read_only: call.options.read_only,
        ..AlertsRequest::default()
    };
    let budget = tokens::within(call.room_bytes());
    let found = due_alerts(call.service, call.caller, &request, budget)?;
    let mut text = match found.alerts.is_empty() {
        true => "no alert is due".to_owned(),
        false => found.text,
    };
    if found.left_out > 0 {
        text.push_str(&format!("\n{} more: call again", found.left_out));
    }
    if found.not_due > 0 {
        let later = count(found.not_due as u64, "alert is", "alerts are");
        text.push_str(&format!("\n{later} not due yet"));
    }
    // Texts stand in the frame alone.
    let alerts = found.alerts.iter().map(|alert| {
        json!({
            "event": alert.event,
            "position": alert.position,
            "set_at": alert.set_at,
            "due_at": alert.due_at,
        })
    });
    let structured = json!({
        "alerts": alerts.collect::<Vec<_>>(),
        "left_out": found.left_out,
        "not_due": found.not_due,
    });
    Ok(Reply {
        delivery: found.delivery,
        ..Reply::new(text, structured)
    })
}
