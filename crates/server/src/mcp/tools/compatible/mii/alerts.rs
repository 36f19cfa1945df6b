//! The tools `alert_set` and `alerts_get` of mii-memory: reminders for a session. There, alerts belong to sessions alone,
//! so an alert for a project is neither set nor returned here.

use super::in_session;
use crate::mcp::tools::alerts::{due, set};
use crate::mcp::tools::{Call, Hints, Kind, Param, Tool};
use icm_api::error::ServiceError;
use icm_api::{AlertSetRequest, Caller};

pub(in crate::mcp::tools) static SET: Tool = Tool {
    name: "alert_set",
    title: "Set an alert",
    description: "Set an alert for this session: it is returned once, [by {alerts_get} or ]when the session starts again. Call it before the context is compacted. Not for knowledge[: use {memory_set}].",
    hints: Hints {
        read_only: false,
        destructive: false,
        idempotent: false,
    },
    search_hint: "remind, reminder, later",
    leaves_work: true,
    params: &[Param {
        name: "content",
        kind: Kind::Text,
        required: true,
        about: "the reminder, understandable on its own",
    }],
    output: None,
    run: |call, mut args| {
        let caller = of_session(call.caller)?;
        let call = &Call {
            caller: &caller,
            ..*call
        };
        let request = AlertSetRequest {
            text: args.required_text("content"),
            session: None,
            due: None,
            allow_secret: false,
        };
        set(call, request)
    },
};

pub(in crate::mcp::tools) static GET: Tool = Tool {
    name: "alerts_get",
    title: "Get the alerts",
    description: "Return the alerts of this session and of its parents that were not returned yet. Call it when a session starts and after the context was compacted. Not for knowledge[: use {memory_get}].",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: false,
    },
    search_hint: "reminders, pending",
    leaves_work: true,
    params: &[],
    output: None,
    run: |call, _| {
        let caller = of_session(call.caller)?;
        let call = &Call {
            caller: &caller,
            ..*call
        };
        due(call, None)
    },
};

/// Returns the caller as a session that belongs to no project.
///
/// # Errors
/// `Invalid` without a session: over HTTP, if the request names none.
fn of_session(caller: &Caller) -> Result<Caller, ServiceError> {
    if caller.session.is_none() {
        return Err(ServiceError::invalid_with(
            "an alert belongs to a session, and this request names none",
            "send the session's name as `sessionId` in `_meta`",
        ));
    }
    Ok(Caller {
        project_id: None,
        ..in_session(caller)
    })
}
