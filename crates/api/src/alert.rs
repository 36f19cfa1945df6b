//! Alerts: reminders for a session or a project.

use serde::{Deserialize, Serialize};

use crate::Basis;

/// A request to set an alert.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlertSetRequest {
    /// The text to be shown, at most 2 KiB.
    pub text: String,
    /// The session to be reminded: its name, its id in the log, or a beginning of the id. `None`: the caller's, or the
    /// project if the caller has none.
    pub session: Option<String>,
    /// The time from which the alert is shown: RFC 3339, a date, `tomorrow`, `in 2h`. `None`: at once.
    pub due: Option<String>,
    /// Set it even if it holds a secret.
    pub allow_secret: bool,
}

/// The answer after an alert was set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertReceipt {
    /// The event, 64 hexadecimal digits.
    pub event: String,
    /// Its position.
    pub position: u64,
    /// The session that the alert is for: its name, or its id if the name is not known.
    pub session: Option<String>,
    /// The id of the project that the alert is for.
    pub project: Option<String>,
    /// The time from which the alert is shown, RFC 3339; `None`: at once.
    pub due_at: Option<String>,
    /// `true` if it is due.
    #[serde(default)]
    pub due: bool,
    /// Warnings, for instance of a secret.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
}

/// A request for alerts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlertsRequest {
    /// The session that asks, as in [`AlertSetRequest::session`]. `None`: the caller's.
    pub session: Option<String>,
    /// The moment to show the alerts of. Only to look: nothing is delivered.
    pub at: Option<String>,
    /// Alerts of every session and project, also those that are not due. Only to look: nothing is delivered.
    pub all: bool,
    /// Only to look: nothing is delivered.
    pub read_only: bool,
    /// Name of the session's parent, if no event may record it yet.
    pub parent: Option<String>,
    /// Only alerts for the session itself, not those of its parents and of the project.
    pub own: bool,
}

/// An alert that was not shown before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// The event that set it, 64 hexadecimal digits.
    pub event: String,
    /// The position of that event.
    pub position: u64,
    /// The time at which it was set, RFC 3339.
    pub set_at: String,
    /// Name of the actor that set it.
    pub actor: String,
    /// The session that it is for: its name, or its id if the name is not known.
    pub session: Option<String>,
    /// The id of the project that it is for; `None` if it is for a session, or if the text was redacted.
    pub project: Option<String>,
    /// The time from which it is shown, RFC 3339; `None`: at once.
    pub due_at: Option<String>,
    /// `true` if it is due.
    pub due: bool,
    /// The text.
    pub text: String,
}

/// The alerts of a session: those that were due at once, then by the time from which they are due.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertsAnswer {
    /// The basis of the answer.
    pub basis: Basis,
    /// The alerts.
    pub alerts: Vec<Alert>,
    /// `true` if these alerts are not shown again after this answer.
    pub delivered: bool,
    /// Number of further alerts that are due and did not fit into this answer.
    pub left_out: usize,
    /// Number of alerts for this session that are not due.
    pub not_due: usize,
}
