//! Conditions to be set: what a request says, with the state of the file that it is about.

use std::path::{Component, Path, PathBuf};

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
        let mut given = parse(text, self.now_ms(), &self.zone())
            .map_err(|error| self.without_its_secrets(error))?;
        refuse_passed(&given, self.now_ms(), &self.zone())?;
        let file = match &mut given.path {
            Some(path) => {
                *path = without_parents(path)?;
                state_of(path, given.facts.condition)?
            }
            None => FileState::default(),
        };
        Ok(NewExpiry { given, file })
    }
}

fn refused(path: &str, why: &str, hint: &str) -> ServiceError {
    let message = format!("a memory cannot expire with `{path}`: {why}");
    ServiceError::invalid_with(message, hint)
}

fn not_there(path: &str, error: &std::io::Error) -> ServiceError {
    refused(path, &error.to_string(), "name a file that is there")
}

/// Returns the path of a file without `..`: the folder that the part up to the last `..` leads to, and the rest. A path
/// without `..` is returned unchanged, so that each look follows its links.
///
/// # Errors
/// `Invalid` for a relative path, and for a folder that is not there.
fn without_parents(path: &str) -> Result<String> {
    let file = Path::new(path);
    if !file.is_absolute() {
        return Err(refused(
            path,
            "the path is relative",
            "give an absolute path",
        ));
    }
    let parts: Vec<Component<'_>> = file.components().collect();
    let last = parts.iter().rposition(|part| *part == Component::ParentDir);
    let Some(last) = last else {
        return Ok(path.to_owned());
    };
    let (parents, rest) = parts.split_at(last + 1);
    let folder = parents.iter().collect::<PathBuf>().canonicalize();
    let mut file = folder.map_err(|error| not_there(path, &error))?;
    file.extend(rest);
    let text = file.to_str().map(str::to_owned);
    text.ok_or_else(|| refused(path, "its folder is not UTF-8", "give a path without `..`"))
}

fn state_of(path: &str, condition: Condition) -> Result<FileState> {
    let file = Path::new(path);
    let state = match condition == Condition::FILE_PRISTINE {
        true => FileState::of(file),
        false => std::fs::metadata(file).map(|_| FileState::default()),
    };
    state.map_err(|error| not_there(path, &error))
}

#[cfg(all(test, unix))]
mod tests {
    use crate::service::tests::service;

    #[test]
    fn parents_are_those_of_the_file_system() {
        let folder = tempfile::tempdir().expect("a folder");
        let top = folder.path().canonicalize().expect("a path");
        let service = service(&top.join("store"));
        std::fs::create_dir_all(top.join("other/deep")).expect("a folder");
        std::fs::create_dir(top.join("near")).expect("a folder");
        std::os::unix::fs::symlink(top.join("other/deep"), top.join("near/link")).expect("a link");
        for file in ["near/f", "other/f", "other/deep/f"] {
            std::fs::write(top.join(file), file).expect("written");
        }
        let top = top.to_str().expect("UTF-8");
        for form in ["file-exists", "file-pristine"] {
            let set = |path: &str| service.new_expiry(&format!("{form} {top}/{path}"));
            for (given, kept) in [
                ("near/link/../f", "other/f"),
                ("near/../near/f", "near/f"),
                ("near/link/../../near/link/f", "near/link/f"),
                ("./near/./link/f", "near/link/f"),
                ("near//f", "near//f"),
            ] {
                let expiry = set(given).expect(given);
                assert_eq!(expiry.to_text(), format!("{form} {top}/{kept}"));
            }
            for (missing, named) in [
                ("near/nope/../f", "near/nope/../f"),
                ("near/f/../f", "near/f/../f"),
                ("near/link/../g", "other/g"),
            ] {
                let refused = set(missing).expect_err(missing);
                let named = format!("cannot expire with `{top}/{named}`: ");
                assert!(refused.to_string().contains(&named), "{refused}");
                assert_eq!(refused.hint().as_deref(), Some("name a file that is there"));
            }
        }
        let folder = service.new_expiry(&format!("file-exists {top}/near/link/.."));
        let text = folder.expect("a folder").to_text();
        assert_eq!(text, format!("file-exists {top}/other"));
        assert!(service.new_expiry("file-exists near/../near").is_err());
    }
}
