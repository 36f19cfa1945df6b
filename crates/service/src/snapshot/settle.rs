//! Commits of the tail to the views' files: when a process ends, and between two answers of a server.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use icm_projections::{GraphJob, ViewError, Views};

use super::{QueryError, TAIL_LEFT_MAX, TAIL_MAX, catching_panics};
use crate::embedding::Model;
use crate::holder::is_building;
use crate::service::store_folder;
use crate::service::{Service, locked};

/// Bytes of the tail above which it is committed. Raised, the tail takes more memory; lowered, commits are more
/// frequent.
const TAIL_LEN_MAX: u64 = 1_024 * 1_024;
/// Events, and bytes of them, that an import leaves in the tail before it commits. Raised, it costs memory, some 10 KB
/// an event during the commit; lowered, time, as each commit rewrites many pages of the table.
const IMPORT_TAIL_MAX: u64 = 4_096;
const IMPORT_TAIL_LEN_MAX: u64 = 4 * TAIL_LEN_MAX;
/// Events of a bundle from which on the views are rebuilt: folded in one piece they would fill the memory, some 5 KB
/// each.
const REBUILD_EVENTS: u64 = 20_000;
/// A bundle is also a reason to rebuild only if it is at least an eighth of the store. So it costs at most eight times
/// its own indexing.
const REBUILD_PART: u64 = 8;
/// Row versions in the tail that a command commits before it ends: about half a second. Raised, commands end later.
const MUCH_LEFT_ROWS: u64 = 10_000;
/// Pause of a server between two commits, as a multiple of the last one's duration: indexing takes at most a fifth of
/// the time. Raised, the tail grows longer; lowered, commits take more of the time.
const PAUSES: u32 = 4;
/// Growth of the tail during that pause, as a multiple of its usual limit. A burst is committed in larger parts, and
/// folding the tail anew takes 8,000 events at most. Raised, that takes longer.
const TAILS_MAX: u64 = 16;
/// Longest wait for a process that writes the views, 10 ms; then this process need not write them. Raised, the work
/// after an answer holds its thread longer; lowered, it is put off more often.
const SETTLE_WAIT: Duration = Duration::from_millis(10);

/// The size of the tail that is left to commit once the answers are out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TailLeft {
    /// [`Service::settle`] commits it at once.
    Little,
    /// A commit takes seconds.
    Much,
    /// A commit takes seconds, and another process is at it.
    ToAnother,
}

/// Niceness of the thread that writes views: threads that answer go first, and it still gets a third of the time that
/// another thread gets.
#[cfg(target_os = "linux")]
const GIVES_WAY: i32 = 5;

/// Runs work on a thread of its own with low priority, which the threads it starts inherit. A thread cannot raise it
/// again.
fn behind<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let given_way = || {
        #[cfg(target_os = "linux")]
        if let Err(error) =
            rustix::process::setpriority_process(Some(rustix::thread::gettid()), GIVES_WAY)
        {
            tracing::debug!(%error, "views are written as fast as answers");
        }
        work()
    };
    let done = std::thread::scope(|scope| scope.spawn(given_way).join());
    done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Service {
    /// Commits the tail to the views' files, if it would make the next process slow. For a process whose answers are
    /// out.
    pub fn settle(&self) {
        let events = match self.embedding.model {
            // The vectors of another model are dear, and are kept with the commit.
            Model::Other(_) => 0,
            _ => TAIL_LEFT_MAX,
        };
        self.settle_to(events, TAIL_LEN_MAX);
    }

    /// Commits the tail to the views' files if an import made it so long that it would fill the memory. Returns `true`
    /// if something was written.
    pub(crate) fn settle_import(&self) -> bool {
        let times = match self.snapshots.locked().settled.is_some() {
            // A server commits in the background; this process commits only if the server is left far behind.
            true => 4,
            false => 1,
        };
        self.settle_to(IMPORT_TAIL_MAX * times, IMPORT_TAIL_LEN_MAX * times)
    }

    /// Rebuilds the views, in bounded memory, after an import of so many events that are a large part of the store. If
    /// that fails, the next question folds the events.
    pub(crate) fn rebuild_after_import(&self, events: u64) {
        if events < REBUILD_EVENTS || events < self.newest_seen() / REBUILD_PART {
            return;
        }
        let dir = self.views_dir();
        let _one_at_a_time = self.snapshots.write();
        // The state stays locked: a question would fold the imported events in one piece.
        let mut state = self.snapshots.locked();
        state.put(None);
        match catching_panics(|| Ok(Views::rebuild(&dir, &self.log, SETTLE_WAIT, &mut |_| {})?)) {
            Ok(views) => drop(state.put(Some(views))),
            Err(error) => tell_not_further(&error),
        }
    }

    /// Returns how much is left to commit. For a process whose answers are out: it need not stay for thousands of rows
    /// that another process can commit meanwhile.
    pub fn left(&self) -> TailLeft {
        let wide = self.wrote_wide.load(Ordering::Relaxed);
        // An undo may reach thousands of rows, and is not folded yet.
        let undone = self.wrote_undo.load(Ordering::Relaxed);
        if undone && !wide && self.with_views(|_| Ok(())).is_err() {
            return TailLeft::Little;
        }
        let rows = match self.snapshots.newest() {
            Some(views) if views.are_on_disk() && !self.options.read_only => views.tail_rows(),
            _ => return TailLeft::Little,
        };
        if !wide && rows <= MUCH_LEFT_ROWS {
            return TailLeft::Little;
        }
        match self.peer.leave_views() || is_building(&self.views_dir()) {
            true => TailLeft::ToAnother,
            false => TailLeft::Much,
        }
    }

    /// Commits the tail between two answers of a server, which goes on answering. Returns `true` if something was
    /// written.
    pub fn settle_between(&self) -> bool {
        let most = match self.snapshots.locked().settled {
            Some((at, took)) if at.elapsed() < took * PAUSES => TAILS_MAX,
            _ => 1,
        };
        // Events of other processes count, too: they may leave them to this one. Most answers leave few events, and the
        // next call looks at the rest.
        let is_short = |views: &Views| self.is_short(views, TAIL_MAX * most, TAIL_LEN_MAX * most);
        let seen = self.log.refresh().map_err(QueryError::from);
        if seen.is_ok() && self.snapshots.newest().as_deref().is_some_and(is_short) {
            return false;
        }
        let seen = seen.and_then(|()| self.newest_snapshot(Views::are_stale_for_commands));
        let seen = seen.inspect_err(tell_not_further);
        let views = seen.ok().or_else(|| self.snapshots.newest());
        if views.is_none_or(|views| is_short(&views)) || self.peer.leave_views() {
            return false;
        }
        let begun = Instant::now();
        let written = behind(|| self.take_further(true));
        if written {
            let took = begun.elapsed();
            self.snapshots.locked().settled = Some((Instant::now(), took));
            tracing::debug!(?took, "the views were taken further");
        }
        written
    }

    /// Does a small step of the work that a first recall needs. Returns `true` if more is left.
    pub fn makes_ready(&self) -> bool {
        let mut state = self.snapshots.locked();
        if !state
            .newest()
            .is_some_and(|views| views.is_analysis_left(true))
        {
            return false;
        }
        let views = state.newest_mut();
        views.is_some_and(|views| views.analyse_ahead(true))
    }

    /// Returns the newest position that this process has seen; 0 for an empty log.
    pub(crate) fn newest_seen(&self) -> u64 {
        self.log.tip().map_or(0, |tip| tip.position.0)
    }

    /// Folds the newest events, so that the next command need not. Then does work of commits and recalls on them ahead,
    /// as long as `go_on` returns `true`; with `all`, also the work of a first recall. An error is left to the next
    /// command.
    pub fn fold_ahead(&self, all: bool, go_on: &dyn Fn() -> bool) {
        // The lock is held for a small step at a time, so that questions get the snapshot in between.
        let ahead = || {
            let mut state = self.snapshots.locked();
            let is_left =
                |views: &Arc<Views>| !views.has_seen(&self.log) || views.is_analysis_left(all);
            if !state.newest().is_some_and(is_left) {
                return Ok(false);
            }
            let Some(views) = state.newest_mut() else {
                return Ok(false);
            };
            let step = catching_panics(|| {
                views.follow(&self.log)?;
                Ok(views.analyse_ahead(all))
            });
            if step.is_err() {
                state.put(None);
            }
            step
        };
        while ahead().unwrap_or(false) && go_on() {}
    }

    /// Commits the tail of the newest snapshot to the files, or builds files if there are none, and puts the result in
    /// its place. Nobody waits for that. Returns `true` if files were written, here or by another process. With
    /// `goes_on`, the data that the next commands need is prepared, too.
    fn take_further(&self, goes_on: bool) -> bool {
        if self.options.read_only {
            return false;
        }
        let Some(_one_at_a_time) = self.snapshots.try_write() else {
            return false;
        };
        let Some(views) = self.begin_to_write() else {
            return false;
        };
        let next = catching_panics(|| Ok(self.further(&views, goes_on)?));
        let mut state = self.snapshots.locked();
        state.is_written = false;
        let next = next.and_then(|next| {
            let Some(mut next) = next else {
                return Ok(None);
            };
            self.log.refresh()?;
            // A redaction or a rebuild has removed the commit.
            if next.are_stale(&self.log) {
                return Ok(None);
            }
            next.follow(&self.log)?;
            if let Some(newest) = state.newest() {
                next.share(newest);
            }
            Ok(Some(next))
        });
        match next {
            Ok(None) | Err(QueryError::View(ViewError::Busy | ViewError::Io { .. })) => false,
            Ok(Some(next)) => {
                let old = state.put(Some(next));
                drop(state);
                // Old views are dropped after the lock is free again.
                drop((old, views));
                true
            }
            // The next question finds the error and tells the user.
            Err(error) => {
                state.put(None);
                tell_not_further(&error);
                false
            }
        }
    }

    /// Returns the newest snapshot with all events, if its tail may be written now. `None` if there is no snapshot, or
    /// a question reads pages that a commit would reuse.
    fn begin_to_write(&self) -> Option<Arc<Views>> {
        let mut state = self.snapshots.locked();
        if state.are_older_read() {
            return None;
        }
        if !state.newest()?.has_seen(&self.log) {
            let views = state.newest_mut()?;
            if catching_panics(|| Ok(views.follow(&self.log)?)).is_err() {
                state.put(None);
                return None;
            }
        }
        let views = Arc::clone(state.newest()?);
        state.is_written = true;
        Some(views)
    }

    /// Returns views on disk whose files hold more than these; `None` if there is nothing to commit.
    fn further(
        &self,
        views: &Views,
        goes_on: bool,
    ) -> std::result::Result<Option<Views>, ViewError> {
        let dir = self.views_dir();
        let next = match views.are_on_disk() {
            true => views.commit(&dir, &self.log, SETTLE_WAIT)?,
            false => match self.built_by_another(&dir)? {
                None => Some(Views::rebuild(&dir, &self.log, SETTLE_WAIT, &mut |_| {})?),
                there => there,
            },
        };
        let Some(mut next) = next else {
            return Ok(None);
        };
        if goes_on {
            // This folds most of the events that came meanwhile, while nobody waits.
            next.follow(&self.log)?;
            next.inherit(views)?;
        }
        Ok(Some(next))
    }

    /// Returns the views on disk, for a process that has its own in memory because another was writing them, or has
    /// built them since. `None` if none can be used; `Busy` also while a redaction or a repair is not finished.
    fn built_by_another(&self, dir: &Path) -> std::result::Result<Option<Views>, ViewError> {
        if self.log.redaction_pending() {
            return Err(ViewError::Busy);
        }
        if !Views::were_built(dir) || store_folder::odd_file_below(dir).is_some() {
            return Ok(None);
        }
        let there = Views::open_within(dir, &self.log, SETTLE_WAIT).and_then(|mut there| {
            there.follow(&self.log)?;
            Ok(there)
        });
        match there {
            Err(ViewError::Unusable { .. }) => Ok(None),
            other => other.map(Some),
        }
    }

    /// Returns `true` if the tail is within these numbers of events and bytes, so that it may stay in memory.
    fn is_short(&self, views: &Views, tail_max: u64, len_max: u64) -> bool {
        let newest = self.newest_seen();
        let events = newest - views.base_position().0.min(newest);
        let is_few = events.max(views.tail_rows()) <= tail_max;
        is_few && views.tail_bytes() <= len_max
    }

    fn settle_to(&self, tail_max: u64, len_max: u64) -> bool {
        if self.options.read_only {
            return false;
        }
        let Some(views) = self.snapshots.newest() else {
            return false;
        };
        let left_to_others = || tail_max != TAIL_MAX && self.peer.leave_views();
        if self.is_short(&views, tail_max, len_max)
            || left_to_others()
            || self.log.refresh().is_err()
        {
            return false;
        }
        drop(views);
        let written = self.take_further(false);
        // Another process may have written a part of it.
        let is_short = |views: &Arc<Views>| self.is_short(views, tail_max, len_max);
        if written
            && self
                .snapshots
                .newest()
                .is_some_and(|views| !is_short(&views))
        {
            self.take_further(false);
        }
        written
    }

    /// Reads the graph of the vectors, or makes one, so that recalls of many memories are fast. Holds no lock
    /// meanwhile, and stops when `go_on` returns `false`. For a thread of a process that goes on answering. Returns
    /// `true` if there is a new graph.
    pub fn tend_graph(&self, go_on: &dyn Fn() -> bool) -> bool {
        let job = (self.snapshots.newest())
            .and_then(|views| views.graph_job(self.settings.graph_rows_min));
        let Some(job) = job.filter(|job| locked(&self.graphless).as_ref() != Some(job)) else {
            return false;
        };
        if self.options.read_only {
            return false;
        }
        self.graph_of(&job, go_on).unwrap_or_else(|error| {
            tracing::debug!(%error, "recalls go without a graph");
            *locked(&self.graphless) = Some(job);
            false
        })
    }

    fn graph_of(
        &self,
        job: &GraphJob,
        go_on: &dyn Fn() -> bool,
    ) -> std::result::Result<bool, ViewError> {
        let Some(graph) = job.run(go_on)? else {
            return Ok(false);
        };
        let rows = match self.snapshots.newest() {
            Some(views) => views.filed_vectors()?,
            None => return Ok(false),
        };
        // The check looks at all rows, while recalls go on.
        if !graph.fits(&rows) {
            return Ok(false);
        }
        match self.snapshots.locked().newest_mut() {
            Some(views) => views.take_graph(graph, &rows),
            None => Ok(false),
        }
    }
}

fn tell_not_further(error: &QueryError) {
    let error: &dyn std::fmt::Display = match error {
        QueryError::View(error) => error,
        QueryError::Service(error) => error,
    };
    tracing::debug!(%error, "the views were not taken further");
}

#[cfg(test)]
mod tests;
