//! Commands: from a caller's request to events in the log.
//!
//! A command takes the lock, sees the events of others, decides, appends and gives the lock up. So the events that it
//! names as observed are the newest ones.

mod author;
pub(crate) mod batch;
mod change;
mod choice;
mod expires;
mod file_state;
mod plan;
mod receipt;
mod request;
pub(crate) mod secrets;
mod session;
#[cfg(test)]
mod tests;
pub(crate) mod transaction;
mod validated;

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::time::Duration;

use icm_log::{Durability, LOCK_FILE, NewEvent, Position, Refusal, RequestKey, Rewritten};
use icm_projections::fold::Source;

use crate::command::secrets::Guard;
use crate::service::Service;
use icm_api::Caller;
use icm_api::error::{OPENED_READ_ONLY, Result, ServiceError};
use icm_api::limits;
use icm_api::limits::SOURCE_LEN_MAX;

pub(crate) use author::Author;
pub(crate) use batch::{Command, actor_of, check_caller};
pub(crate) use change::{Change, next_length, retagged, turned};
pub(crate) use choice::{Choice, settled, still_forgotten};
pub(crate) use expires::{NewExpiry, condition_text};
pub(crate) use file_state::came_true;
pub(crate) use plan::{plan_for, plan_name, refuse_other_plan};
pub(crate) use receipt::{earlier_receipt, first_receipt, receipt, stored_receipt, unchanged};
pub(crate) use request::{RequestKeyOf, digest_of, request_shape, update_shape};
pub(crate) use validated::{Scope, ValidatedStore, source_text};

/// Longest wait for the lock to record a recall, 50 ms. Raised, the recording thread waits longer in a busy store;
/// lowered, more records are put off.
pub(crate) const RECORD_WAIT: Duration = Duration::from_millis(50);

impl Service {
    pub(crate) fn refuse_read_only(&self) -> Result<()> {
        match self.options.read_only {
            true => Err(ServiceError::ReadOnly {
                why: OPENED_READ_ONLY.to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// Returns `false` if this process can append nothing: it was opened to read, the log refuses writes, or this user may
    /// not write.
    pub(crate) fn may_append(&self) -> bool {
        if self.options.read_only || self.log.refusal().is_some() {
            return false;
        }
        let lock = OpenOptions::new()
            .write(true)
            .open(self.dir().join(LOCK_FILE));
        !lock.is_err_and(|error| {
            matches!(
                error.kind(),
                ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
            )
        })
    }

    /// Appends one batch that a power cut may lose. `read` is the state of the log's files that the events speak of. If
    /// they were rewritten since, as by a redaction, the batch is dropped. Waits up to `wait` for the lock. Returns `true` if
    /// the batch is in the log.
    pub(crate) fn append_lazily(
        &self,
        caller: &Caller,
        events: Vec<NewEvent>,
        read: &Rewritten,
        wait: Duration,
    ) -> Result<bool> {
        Guard::new(&self.settings.secrets, false).caller(caller)?;
        let Some(views) = self.snapshots.newest() else {
            return Ok(false);
        };
        // Commands are refused for the same reasons.
        if views.tally().newer.is_some() || views.stopped().is_some() {
            return Ok(false);
        }
        let writer = self.log.begin(&*self.ground.env, wait)?;
        if self.log.rewritten() != *read || self.log.redaction_pending() {
            return Ok(false);
        }
        let mut command = Command::new(self, writer, caller, None, RequestKey::ZERO);
        command.append(&views, events)?;
        command.writer.commit(Durability::Lazy)?;
        Ok(true)
    }

    /// Returns the reason why the log refuses writes, if it does.
    pub fn refusal(&self) -> Option<Refusal> {
        self.log.refusal()
    }

    pub(crate) fn check_source(&self, caller: &Caller, given: &icm_api::Source) -> Result<Source> {
        let pick = |what: &str, given: &Option<String>, own: &Option<String>| {
            let value = given
                .as_ref()
                .or(own.as_ref())
                .filter(|text| !text.trim().is_empty());
            if let Some(text) = value {
                limits::optional_text(what, text, SOURCE_LEN_MAX)?;
            }
            Ok::<_, ServiceError>(value.cloned())
        };
        Ok(Source {
            agent: pick("the source's agent", &given.agent, &None)?,
            client: pick("the source's client", &given.client, &caller.client)?,
            session: pick("the source's session", &given.session, &caller.session)?,
            project: pick("the source's project", &given.project, &caller.project)?,
            file: pick("the source's file", &given.file, &None)?,
        })
    }

    /// Masks the secrets of an argument in an error about it.
    pub(crate) fn without_its_secrets(&self, error: ServiceError) -> ServiceError {
        match error {
            ServiceError::Invalid { message, hint } => ServiceError::Invalid {
                message: self.settings.secrets.masked(&message).unwrap_or(message),
                hint,
            },
            other => other,
        }
    }
}

/// A position after every event.
pub(crate) const NEWEST: Position = Position(u64::MAX);
