//! The rest of a redaction or repair that was begun. No view is opened before it is done.

use std::path::{Path, PathBuf};

use icm_log::Writer;
use icm_log::redact::Blanked;
use icm_projections::{ViewError, Views};
use icm_vectors::embed::Cache;

use crate::service::{Service, locked, store_folder};
use icm_api::error::{Result, ServiceError};
use icm_wait::bounds;

impl Service {
    /// Finishes a redaction as [`Service::resume_redaction`] does, before the log is copied.
    ///
    /// # Errors
    /// `Invalid` if it cannot be finished now.
    pub(crate) fn finish_what_was_begun(&self) -> Result<()> {
        match self.resume_redaction()? {
            true => Ok(()),
            false => Err(ServiceError::invalid_with(
                "a redaction that was begun is not finished",
                "`icm doctor` says what is in its way",
            )),
        }
    }

    /// Finishes a redaction that was begun, if one was. Returns `false` if that is not possible now: the views on disk
    /// are not used until it is.
    pub(crate) fn resume_redaction(&self) -> Result<bool> {
        if self.options.read_only || !self.log.redaction_pending() {
            return Ok(true);
        }
        locked(&self.begun).extend(self.log.redaction_request());
        let begun = self.until_free(self.options.lock_wait, |wait| self.begin(wait));
        let blanked = begun.and_then(|writer| {
            // Another process may have finished it while this one waited for the lock.
            match self.log.redaction_pending() {
                true => self.clean(writer),
                false => Ok(Blanked::default()),
            }
        });
        let blanked = match blanked {
            Ok(blanked) => blanked,
            Err(
                error @ (ServiceError::Busy { .. }
                | ServiceError::Stopped { .. }
                | ServiceError::Damaged { .. }
                | ServiceError::NewerFormat { .. }
                | ServiceError::ReadOnly { .. }),
            ) => {
                self.notice(format!(
                    "a redaction or a repair waits to be finished: {error}"
                ));
                return Ok(false);
            }
            Err(error) => return Err(error),
        };
        if blanked.looked_everywhere {
            for line in unknown(&blanked) {
                self.notice(line);
            }
            self.notice(match blanked.events {
                0 => "finished a redaction that was begun".to_owned(),
                1 => "finished a redaction that was begun: 1 event cleaned".to_owned(),
                events => format!("finished a redaction that was begun: {events} events cleaned"),
            });
        } else if blanked != Blanked::default() {
            self.notice("finished a repair that was begun".to_owned());
        }
        Ok(true)
    }

    /// Takes every redacted text out of the log, the views and the cache.
    pub(crate) fn finish_redaction(&self) -> Result<Blanked> {
        let writer = self.until_free(self.options.lock_wait, |wait| self.begin(wait))?;
        self.clean(writer)
    }

    fn clean(&self, mut writer: Writer<'_>) -> Result<Blanked> {
        // While the state is locked, no thread opens views.
        let mut state = self.snapshots.locked();
        // If the log is damaged, the views are cleaned all the same.
        let blanked = writer.blank(&self.log.redacted()?);
        state.put(None);
        Views::wipe(&self.views_dir(), bounds::ANSWER)?;
        remove_cache(&self.cache_dir())?;
        let mut blanked = blanked?;
        if blanked.looked_everywhere {
            blanked
                .unknown
                .extend(store_folder::not_ours(&self.options.dir));
        }
        writer.end_redaction()?;
        Ok(blanked)
    }
}

/// Returns lines on files in the store's folder that may hold a redacted text, for a person to judge.
pub(crate) fn unknown(blanked: &Blanked) -> Vec<String> {
    let line = |path: &PathBuf| {
        let what = match path.starts_with("torn") {
            true => "set aside earlier",
            false => "no file of the store",
        };
        let path = path.display();
        format!("{path}: {what}, and it may hold the text: delete it if nobody needs it")
    };
    blanked.unknown.iter().map(line).collect()
}

/// The file that says how far transcripts were read, in paths and numbers. Without it a redacted text would be found in
/// them again.
const KEPT: &str = "transcripts.json";

/// Removes the cache, except for [`KEPT`]. If the cache is a link, icm's files at its target are removed, too.
fn remove_cache(cache: &Path) -> Result<()> {
    let kept = std::fs::read(cache.join(KEPT)).ok();
    let removed = match cache.symlink_metadata() {
        Ok(found) if found.is_dir() => std::fs::remove_dir_all(cache).and_then(|()| match kept {
            Some(bytes) => {
                std::fs::create_dir(cache)?;
                std::fs::write(cache.join(KEPT), bytes)
            }
            None => Ok(()),
        }),
        Ok(found) if found.is_symlink() && cache.is_dir() => {
            Cache::wipe_in(cache).and_then(|()| std::fs::remove_file(cache))
        }
        Ok(_) => std::fs::remove_file(cache),
        Err(error) => Err(error),
    };
    match removed {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(ViewError::Io {
            doing: "removing",
            path: cache.to_owned(),
            source,
        }
        .into()),
        _ => Ok(()),
    }
}
