//! Conditions to be set: what a request says, with the state of the file that it is about.

use std::path::Path;

use icm_log::facts::{self, Condition};
use icm_log::payload;
use icm_projections::fold::{Expiry, Version};

use super::file_state::FileState;
use crate::service::Service;
use icm_api::error::{Result, ServiceError};
use icm_api::expiry::{GivenExpiry, parse, refuse_passed, to_text};

/// A condition that an event will set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NewExpiry {
    given: GivenExpiry,
    file: FileState,
}

impl NewExpiry {
    /// Returns the condition of a row, as an event sets it again.
    pub(super) fn of_row(expiry: &Expiry) -> NewExpiry {
        NewExpiry {
            given: GivenExpiry {
                facts: expiry.facts,
                path: expiry.path.clone(),
                zone: expiry.zone.clone(),
            },
            file: FileState {
                len: expiry.len,
                modified_ms: expiry.modified_ms,
                hash: expiry.hash.clone(),
            },
        }
    }

    /// Returns the condition for the facts of an event. Recalls up to now don't count.
    pub(crate) fn facts(&self) -> facts::Expiry {
        self.given.facts
    }

    /// Returns the condition for the payload of an event.
    pub(crate) fn texts(&self) -> Option<payload::ExpiresText<'_>> {
        let texts = payload::ExpiresText {
            path: self.given.path.as_deref(),
            zone: self.given.zone.as_deref(),
            len: self.file.len,
            modified_ms: self.file.modified_ms,
            hash: self.file.hash.as_deref(),
        };
        (texts != payload::ExpiresText::default()).then_some(texts)
    }

    /// Returns the condition as users write it.
    pub(crate) fn to_text(&self) -> String {
        let GivenExpiry { facts, path, zone } = &self.given;
        to_text(facts, path.as_deref(), zone.as_deref())
    }

    /// Returns `true` if the number of recalls decides.
    pub(crate) fn counts_recalls(&self) -> bool {
        self.given.facts.condition == Condition::USAGE
    }

    /// Returns the condition for a memory that recalls showed `recalls` times before.
    pub(crate) fn counted_from(mut self, recalls: u64) -> NewExpiry {
        if self.counts_recalls() {
            self.given.facts.second = recalls;
        }
        self
    }
}

/// Returns the condition of a version as users write it.
pub(crate) fn condition_text(version: &Version) -> Option<String> {
    let expiry = version.expiry.as_deref()?;
    Some(to_text(
        &expiry.facts,
        expiry.path.as_deref(),
        expiry.zone.as_deref(),
    ))
}

/// Returns `true` if a row has this condition already, and it has not come true.
pub(super) fn is_set(expires: Option<&NewExpiry>, before: &Version) -> bool {
    match (expires, &before.expiry) {
        (None, None) => true,
        (Some(new), Some(old)) => {
            before.expired != Some(old.set_by) && *new == NewExpiry::of_row(old)
        }
        _ => false,
    }
}

impl Service {
    /// Returns the condition that a text names. Looks at the file of the condition.
    ///
    /// # Errors
    /// `Invalid` for a text of no form, a time that has passed, a relative path, and a file that is not there.
    pub(crate) fn new_expiry(&self, text: &str) -> Result<NewExpiry> {
        let given = parse(text, self.now_ms(), &self.zone())
            .map_err(|error| self.without_its_secrets(error))?;
        refuse_passed(&given, self.now_ms(), &self.zone())?;
        let file = match &given.path {
            Some(path) => state_of(path, given.facts.condition)?,
            None => FileState::default(),
        };
        Ok(NewExpiry { given, file })
    }
}

fn state_of(path: &str, condition: Condition) -> Result<FileState> {
    let refused = |why: &str, hint: &str| {
        let message = format!("a memory cannot expire with `{path}`: {why}");
        ServiceError::invalid_with(message, hint)
    };
    let wrong = |why: &str| refused(why, "name a file that is there");
    let file = Path::new(path);
    if !file.is_absolute() {
        return Err(refused("the path is relative", "give an absolute path"));
    }
    match condition == Condition::FILE_PRISTINE {
        true => FileState::of(file).map_err(|error| wrong(&error.to_string())),
        false => match std::fs::metadata(file) {
            Ok(_) => Ok(FileState::default()),
            Err(error) => Err(wrong(&error.to_string())),
        },
    }
}
