//! Views that have seen the log: opened, followed, and rebuilt if the ones on disk cannot be used.
//!
//! A question that meets a damaged view is asked again after a rebuild, once, and the user gets one notice of it.

use std::sync::Arc;

use icm_log::{Log, LogError, Refusal};
use icm_projections::{ViewError, Views};

use super::{QueryError, QueryResult, TAIL_MAX, catching_panics};
use crate::service::{Service, locked, store_folder};
use icm_api::error::VIEWS_WAIT;
use icm_api::error::{Result, plain};
use icm_wait::bounds;

/// A check of views; `true` means that they must no longer be used.
type Stale = fn(&Views, &Log) -> bool;

/// Times that an answer is computed again because commits of other processes overtook it. Raised, a busy store answers
/// later.
const OVERTAKEN_MAX: u32 = 3;

impl Service {
    /// Runs a question on a snapshot that has seen the whole log, without a lock. A damaged view is dropped, rebuilt
    /// from the log and asked again. A question that ran while log files were rewritten is asked again, too.
    pub(crate) fn with_views<T>(&self, ask: impl Fn(&Views) -> QueryResult<T>) -> Result<T> {
        let read = || {
            self.log.refresh()?;
            let mark = self.log.rewritten();
            let (answer, views) = self.answer_in_time(&ask)?;
            // An answer from before the end of a redaction may show its text.
            let is_old = self.log.rewritten_now() != mark;
            let is_damaged = self.damage_in(Some(&views)).is_some();
            Ok((answer, is_old, is_damaged))
        };
        // Retries for damage have a limit. A text that was redacted meanwhile is never shown, so those retries have
        // none.
        let answer = loop {
            let found =
                self.retry_while_rewritten(&read, |(_, is_old, is_damaged)| *is_old || *is_damaged);
            match found {
                Ok((_, true, _)) => {}
                found => break found.map(|(answer, ..)| answer),
            }
        };
        if let Some(remark) = self.remark_on_the_log(self.snapshots.newest().as_deref()) {
            let mut told = locked(&self.told);
            if told.as_ref() != Some(&remark) {
                self.notice(remark.clone());
                *told = Some(remark);
            }
        }
        answer
    }

    /// Returns a line for the user if the log is not in order.
    pub(crate) fn remark_on_the_log(&self, views: Option<&Views>) -> Option<String> {
        if let Some(damage) = self.damage_in(views) {
            return Some(format!(
                "{damage}; the answer is of what lies before: see `icm log verify` and `icm log repair`"
            ));
        }
        match self.log.refusal()? {
            Refusal::NoStoreFile { why } => Some(format!(
                "the store {} can be read but not written: {why}",
                self.options.dir.display()
            )),
            Refusal::Newer { what } => Some(format!(
                "the store was written by a newer icm ({what}): it is read as far as this one \
                 understands it, and not written"
            )),
            Refusal::Repairing => Some(format!(
                "the store {} can be read but not written: a repair was begun and is not finished: \
                 `icm log repair` goes on with it",
                self.options.dir.display()
            )),
            Refusal::Damaged { .. } => None,
        }
    }

    /// Returns the damage of the log. Answers are of the events before it.
    pub fn damage(&self) -> Option<String> {
        self.damage_in(self.snapshots.newest().as_deref())
    }

    pub(crate) fn damage_in(&self, views: Option<&Views>) -> Option<String> {
        match self.log.refusal() {
            Some(refusal @ Refusal::Damaged { .. }) => Some(format!(
                "the log is damaged: {}",
                refusal.to_error(&self.options.dir)
            )),
            _ => views
                .and_then(Views::stopped)
                .map(|why| format!("the log is damaged: {why}")),
        }
    }

    /// Runs a question, which may run again, on the newest snapshot. Returns the answer and the snapshot. An answer
    /// that another process overtook is computed again, up to [`OVERTAKEN_MAX`] times.
    fn answer_in_time<T>(
        &self,
        ask: &impl Fn(&Views) -> QueryResult<T>,
    ) -> Result<(T, Arc<Views>)> {
        let mut overtaken = 0;
        loop {
            let answer = self.ask_newest(Views::are_stale, ask)?;
            // Pages that the question read may have been reused since.
            if overtaken == OVERTAKEN_MAX || !self.drop_if_stale(Views::are_stale) {
                return Ok(answer);
            }
            overtaken += 1;
        }
    }

    /// Runs a question on the snapshot of [`Service::newest_snapshot`]. Returns the answer and the snapshot.
    pub(crate) fn ask_newest<T>(
        &self,
        stale: Stale,
        ask: impl Fn(&Views) -> QueryResult<T>,
    ) -> Result<(T, Arc<Views>)> {
        let (mut tried, mut overtaken) = (false, 0);
        loop {
            let asked = catching_panics(|| self.newest_snapshot(stale));
            let (used, error) = match asked {
                Ok(views) => match catching_panics(|| ask(&views)) {
                    Ok(answer) => return Ok((answer, views)),
                    Err(error) => (Some(views), error),
                },
                Err(error) => (None, error),
            };
            match error {
                // Half of a commit of another process is no damage.
                QueryError::View(ViewError::Unusable { .. })
                    if overtaken < OVERTAKEN_MAX && self.drop_if_stale(stale) =>
                {
                    overtaken += 1;
                }
                QueryError::View(ViewError::Unusable { view, why }) if !tried => {
                    tried = true;
                    self.replace_unusable(used, view, &why)?;
                }
                // The process that writes the views may be stopped, or slow. Views in memory say the same.
                QueryError::View(ViewError::Busy) if !tried => {
                    tried = true;
                    if self.drop_used(used.as_ref()) {
                        let views = Views::in_memory(&self.log, &mut |_| {})?;
                        self.snapshots.locked().put_stand_in(views);
                    }
                }
                QueryError::View(error) => {
                    self.drop_used(used.as_ref());
                    return Err(error.into());
                }
                QueryError::Service(error) => return Err(error),
            }
        }
    }

    /// Drops the newest snapshot if it is stale: the log was rewritten, or another process has written its files since
    /// it was made. Returns `true` if it did. The pages that a commit leaves behind stay until the next commit, and a
    /// snapshot of this process holds off only commits of this process.
    fn drop_if_stale(&self, stale: Stale) -> bool {
        let newest = self.snapshots.newest();
        // No lock is held meanwhile: the check looks at every file.
        let Some(newest) = newest.filter(|newest| stale(newest, &self.log)) else {
            return false;
        };
        let mut state = self.snapshots.locked();
        // Files that this process writes or has written have changed, but the open ones are whole.
        let is_newest = state.newest().is_some_and(|now| Arc::ptr_eq(now, &newest));
        let is_stale = is_newest && (!state.is_written || newest.is_rewritten(&self.log));
        if is_stale {
            state.put(None);
        }
        is_stale
    }

    /// Drops the newest snapshot if it is the one that was used. Returns `false` if another has taken its place.
    fn drop_used(&self, used: Option<&Arc<Views>>) -> bool {
        let mut state = self.snapshots.locked();
        let is_used = match (used, state.newest()) {
            (Some(used), Some(newest)) => Arc::ptr_eq(used, newest),
            _ => true,
        };
        if is_used {
            state.put(None);
        }
        is_used
    }

    /// Rebuilds views that were used and are damaged, unless another thread of this process has done so.
    fn replace_unusable(&self, used: Option<Arc<Views>>, view: &str, why: &str) -> Result<()> {
        let finished = self.resume_redaction()?;
        let _one_at_a_time = self.snapshots.write();
        // The used views are dropped, whether or not the rebuild succeeds.
        if !self.drop_used(used.as_ref()) {
            return Ok(());
        }
        let views = match finished {
            true => self.rebuilt(view, why)?,
            false => Views::in_memory(&self.log, &mut |_| {})?,
        };
        self.snapshots.put(Some(views));
        Ok(())
    }

    /// Returns the snapshot of every event up to the last refresh of the log. The first question after an event folds
    /// it. Views are opened anew if `stale` says so of the newest snapshot.
    pub(crate) fn newest_snapshot(&self, stale: Stale) -> QueryResult<Arc<Views>> {
        self.drop_if_stale(stale);
        let mut state = self.snapshots.locked();
        if state.stood_in().is_some_and(|time| time > bounds::PROCESS) {
            state.put(None);
        }
        if state.newest().is_none() {
            // Resuming waits for the lock of the log, so the state is unlocked.
            drop(state);
            let finished = self.resume_redaction()?;
            state = self.snapshots.locked();
            if state.newest().is_none() {
                let views = match finished {
                    true => self.open_views()?,
                    false => Views::in_memory(&self.log, &mut |_| {})?,
                };
                state.put(Some(views));
            }
        }
        let has_seen = |views: &&Arc<Views>| views.has_seen(&self.log);
        if let Some(views) = state.newest().filter(has_seen) {
            return Ok(Arc::clone(views));
        }
        let followed = state.newest_mut().expect("just filled").follow(&self.log);
        if followed.is_err() {
            // The views may have seen a part of the events.
            state.put(None);
        }
        match followed {
            Ok(()) => Ok(Arc::clone(state.newest().expect("just followed"))),
            Err(ViewError::Log(LogError::StaleCursor { .. })) => {
                Err(QueryError::View(ViewError::Unusable {
                    view: "table",
                    why: "the log no longer holds its checkpoint".to_owned(),
                }))
            }
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn open_views(&self) -> QueryResult<Views> {
        let dir = self.views_dir();
        let events = self.log.tip().map_or(0, |tip| tip.position.0);
        if !Views::were_built(&dir) {
            if events <= TAIL_MAX {
                return Ok(Views::empty(&self.log)?);
            }
            return Ok(self.first_views()?);
        }
        if let Some(odd) = store_folder::odd_file_below(&dir) {
            let odd = odd.strip_prefix(&dir).unwrap_or(&odd);
            return Err(QueryError::View(ViewError::Unusable {
                view: "table",
                why: format!("{} is not a regular file", odd.display()),
            }));
        }
        Ok(Views::open(&dir, &self.log)?)
    }

    /// Builds views, on disk if that can be written, else in memory. Returns the reason for the latter.
    pub(crate) fn build(&self) -> std::result::Result<(Views, Option<String>), ViewError> {
        let in_memory = |why: String| {
            let views = Views::in_memory(&self.log, &mut |_| {})?;
            Ok((views, Some(why)))
        };
        // Views on disk may hold events that a damaged log no longer gives: they stay.
        if matches!(self.log.refusal(), Some(Refusal::Damaged { .. })) {
            return in_memory("the log is damaged".to_owned());
        }
        if self.options.read_only {
            return in_memory("the store was opened read-only".to_owned());
        }
        let rebuild = || {
            Ok(Views::rebuild(
                &self.views_dir(),
                &self.log,
                VIEWS_WAIT,
                &mut |_| {},
            )?)
        };
        match catching_panics(rebuild) {
            Ok(views) => Ok((views, None)),
            Err(QueryError::View(ViewError::Io { path, source, .. })) => {
                let why = plain(source);
                in_memory(format!("{} cannot be written: {why}", path.display()))
            }
            Err(QueryError::View(ViewError::Busy)) => {
                in_memory("another process is writing those on disk".to_owned())
            }
            Err(QueryError::View(ViewError::Stopped { why })) => {
                in_memory(format!("the log is damaged: {why}"))
            }
            Err(QueryError::View(ViewError::Unusable { why, .. })) => {
                in_memory(format!("building them on disk failed: {why}"))
            }
            Err(QueryError::View(error)) => Err(error),
            Err(QueryError::Service(error)) => in_memory(error.to_string()),
        }
    }

    /// Builds views in place of unusable ones, and tells the user so in one line.
    pub(crate) fn rebuilt(&self, view: &str, why: &str) -> Result<Views> {
        let (views, in_memory) = self.build()?;
        self.notice(match in_memory {
            None => format!("the {view} view was rebuilt from the log: {}", plain(why)),
            // If only the disk is in the way, one reason is enough.
            Some(reason) if why.contains(" (os error ") => {
                format!("the views are kept in memory for this run: {reason}")
            }
            Some(reason) => format!(
                "the {view} view on disk is not used ({}); the views are kept in memory for this \
                 run: {reason}",
                plain(why)
            ),
        });
        Ok(views)
    }

    /// Builds the first views of a store that has none on disk.
    pub(crate) fn first_views(&self) -> Result<Views> {
        let (views, in_memory) = self.build()?;
        self.notice(match in_memory {
            None => "there were no views: they were built from the log".to_owned(),
            Some(reason) => format!("the views are kept in memory for this run: {reason}"),
        });
        Ok(views)
    }
}
