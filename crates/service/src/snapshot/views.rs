//! Views that have seen the log: opened, followed, and built anew where those on disk cannot be used.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use icm_log::{Log, LogError, Refusal};
use icm_projections::{ViewError, Views};

use super::{QueryError, QueryResult, TAIL_MAX, catching_panics};
use crate::service::{Service, locked, store_folder};
use icm_api::error::VIEWS_WAIT;
use icm_api::error::{Result, plain};

/// How long views in memory stand in for those on disk that somebody else was writing.
const STAND_IN_TIME: Duration = Duration::from_secs(5);

impl Service {
    /// Runs a question on views that have seen the whole log. A view that turns out to be damaged
    /// is dropped, rebuilt from the log, and asked again.
    pub(crate) fn with_views<T>(&self, ask: impl Fn(&Views) -> QueryResult<T>) -> Result<T> {
        let read = || {
            let mut held = locked(&self.views);
            self.log.refresh()?;
            let answer = self.with_held_views(&mut held, Views::are_stale, &ask)?;
            Ok((answer, self.damage_in(held.as_ref()).is_some()))
        };
        let answer = self.retry_while_rewritten(read, |(_, damaged)| *damaged);
        let answer = answer.map(|(answer, _)| answer);
        let held = locked(&self.views);
        if let Some(remark) = self.remark_on_the_log(held.as_ref()) {
            let mut told = locked(&self.told);
            if told.as_ref() != Some(&remark) {
                self.notice(remark.clone());
                *told = Some(remark);
            }
        }
        answer
    }

    /// Returns a line for the user about a log that is not in order.
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

    /// Returns the damage that answers have met in the log; they are of the events before it.
    pub fn damage(&self) -> Option<String> {
        self.damage_in(locked(&self.views).as_ref())
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

    pub(crate) fn with_held_views<T>(
        &self,
        held: &mut Option<Views>,
        stale: fn(&Views, &Log) -> bool,
        ask: impl Fn(&Views) -> QueryResult<T>,
    ) -> Result<T> {
        let mut tried = false;
        loop {
            let result = catching_panics(|| self.current_views(held, stale).and_then(&ask));
            match result {
                Ok(answer) => return Ok(answer),
                Err(QueryError::View(ViewError::Unusable { view, why })) if !tried => {
                    tried = true;
                    // Nothing of them is used again, whatever becomes of the rebuild.
                    *held = None;
                    *held = Some(match self.resume_redaction(held)? {
                        true => self.rebuilt(view, &why)?,
                        false => Views::in_memory(&self.log, &mut |_| {})?,
                    });
                }
                // Whoever writes them may be stopped, or slow: the log says the same.
                Err(QueryError::View(ViewError::Busy)) if !tried => {
                    tried = true;
                    *held = Some(Views::in_memory(&self.log, &mut |_| {})?);
                    *locked(&self.stand_in) = Some(Instant::now());
                }
                Err(QueryError::View(error)) => {
                    *held = None;
                    return Err(error.into());
                }
                Err(QueryError::Service(error)) => return Err(error),
            }
        }
    }

    /// Views that have seen every event as of the last refresh of the log; opened anew when `stale`
    /// says so of those that are held.
    pub(crate) fn current_views<'v>(
        &self,
        held: &'v mut Option<Views>,
        stale: fn(&Views, &Log) -> bool,
    ) -> QueryResult<&'v Views> {
        let stood_in = || {
            let mut since = locked(&self.stand_in);
            let is_over = since.is_some_and(|since| since.elapsed() > STAND_IN_TIME);
            is_over && since.take().is_some()
        };
        // Files that this process is writing have changed, and what is open of them is whole.
        let is_stale =
            |views: &Views| stale(views, &self.log) && !self.settling.load(Ordering::Relaxed);
        if held.as_ref().is_some_and(is_stale) || stood_in() {
            *held = None;
        }
        if held.is_none() {
            *held = Some(match self.resume_redaction(held)? {
                true => self.open_views()?,
                false => Views::in_memory(&self.log, &mut |_| {})?,
            });
        }
        let views = held.as_mut().expect("just filled");
        match views.follow(&self.log) {
            Err(ViewError::Log(LogError::StaleCursor { .. })) => {
                Err(QueryError::View(ViewError::Unusable {
                    view: "table",
                    why: "the log no longer holds its checkpoint".to_owned(),
                }))
            }
            Err(error) => Err(error.into()),
            Ok(()) => Ok(views),
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

    /// Builds views: on disk where that can be written, else in memory, and then says why.
    pub(crate) fn build(&self) -> std::result::Result<(Views, Option<String>), ViewError> {
        let in_memory = |why: String| {
            let views = Views::in_memory(&self.log, &mut |_| {})?;
            Ok((views, Some(why)))
        };
        // Views on disk may hold what can no longer be read of a damaged log: they stay.
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

    /// Views in the place of some that could not be used; the user is told in one line.
    pub(crate) fn rebuilt(&self, view: &str, why: &str) -> Result<Views> {
        let (views, in_memory) = self.build()?;
        self.notice(match in_memory {
            None => format!("the {view} view was rebuilt from the log: {}", plain(why)),
            // One reason is enough where the disk alone is in the way.
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

    /// The first views of a store that has none on disk.
    pub(crate) fn first_views(&self) -> Result<Views> {
        let (views, in_memory) = self.build()?;
        self.notice(match in_memory {
            None => "there were no views: they were built from the log".to_owned(),
            Some(reason) => format!("the views are kept in memory for this run: {reason}"),
        });
        Ok(views)
    }
}
