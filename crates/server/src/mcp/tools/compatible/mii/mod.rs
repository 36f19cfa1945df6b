//! The tools of mii-memory. Its tags are keywords, its modes are scopes: `workspace` is the project, `session` the
//! session of the caller, which the server made if nobody named one.
//!
//! A memory of a mode that needs a project or a session is refused without one, so that it is not shown to others.

pub(super) mod alerts;
pub(super) mod list_tags;
pub(super) mod memory_get;
pub(super) mod memory_set;

use crate::mcp::schema::Kind;
use icm_api::Caller;
use icm_api::error::ServiceError;

const MODE: Kind = Kind::OneOf(&["global", "workspace", "session"]);

/// Returns the caller with its session as a scope, even if the server made the session.
fn in_session(caller: &Caller) -> Caller {
    Caller {
        session_is_made: false,
        ..caller.clone()
    }
}

/// Returns the scope of a mode.
///
/// # Errors
/// `Invalid` for `workspace` without a project, and for `session` without a session (over HTTP).
fn scope_of(caller: &Caller, mode: &str) -> Result<Option<String>, ServiceError> {
    let word = match mode {
        "workspace" => "project",
        mode => mode,
    };
    caller.scope(Some(word.to_owned()))
}

/// Returns the mode of a scope, and the project or session that it names.
fn mode_of(scope: &str) -> (&'static str, Option<&str>) {
    match scope.split_once(':') {
        Some(("project", id)) => ("workspace", Some(id)),
        Some(("session", id)) => ("session", Some(id)),
        _ => ("global", None),
    }
}

/// Returns tags as mii-memory keeps them: trimmed and in lower case.
fn tags(given: Option<Vec<String>>) -> Vec<String> {
    let given = given.unwrap_or_default().into_iter();
    given.map(|tag| tag.trim().to_lowercase()).collect()
}
