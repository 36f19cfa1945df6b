//! Taking the views further: what a process leaves behind, and what a server does between two answers.

use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use icm_projections::{GraphJob, ViewError, Views};

use super::{QueryError, QueryResult, TAIL_LEFT_MAX, TAIL_MAX, catching_panics};
use crate::embedding::Model;
use crate::holder::is_building;
use crate::service::store_folder as place;
use crate::service::{Service, locked};
use icm_api::error::ServiceError;

/// Bytes of new events beyond which they are taken into the views' files.
const TAIL_LEN_MAX: u64 = 1_024 * 1_024;
/// The most versions that came and went which a command takes into the views before it ends: about half a second.
const MUCH_LEFT_ROWS: u64 = 10_000;
/// A server that took its views further lets that many times as long pass before it does so again: what is new takes a
/// part of its time, however much is written.
const PAUSES: u32 = 4;
/// While that pause lasts the tail may grow to so many times of what is taken in at once else, and no further: a burst is
/// taken in larger parts, and who has to fold the tail anew waits for 8,000 events at the most.
const TAILS_MAX: u64 = 16;
/// How long somebody else who writes the views is waited for: then they need not be written here.
const SETTLE_WAIT: Duration = Duration::from_millis(10);

/// What is left to take into the views when the answers are out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// [`Service::settle`] does it at once.
    Little,
    /// That takes seconds.
    Much,
    /// As much, and another process is at it.
    ToAnother,
}

/// What the thread that writes views beside those in use gives way by: who waits for an answer goes before it, and it still
/// gets a third of what another gets.
#[cfg(target_os = "linux")]
const GIVES_WAY: i32 = 5;

/// Does work on a thread of its own that gives way to others, as do the threads that it starts. A thread cannot take that back.
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
    /// What a process leaves behind when it ends, after its answers are out: takes the events since
    /// the views' checkpoint into their files, if the next process would be slow with them.
    pub fn settle(&self) {
        self.settle_to(match self.embedding.model {
            // Their vectors, which are dear, are kept with them.
            Model::Other(_) => 0,
            _ => TAIL_LEFT_MAX,
        });
    }

    /// How much is left to take into the views. For a process with its answers out: it should not be kept for
    /// thousands of rows, which another can build anew meanwhile.
    pub fn left(&self) -> Left {
        let wide = self.wrote_wide.load(Ordering::Relaxed);
        // An undo may reach thousands, and is not folded yet.
        let undone = self.wrote_undo.load(Ordering::Relaxed);
        if undone && !wide && self.with_views(|_| Ok(())).is_err() {
            return Left::Little;
        }
        let rows = match locked(&self.views).as_ref() {
            Some(views) if views.are_on_disk() && !self.options.read_only => views.tail_rows(),
            _ => return Left::Little,
        };
        if !wide && rows <= MUCH_LEFT_ROWS {
            return Left::Little;
        }
        match self.peer.leave_views() || is_building(&self.views_dir()) {
            true => Left::ToAnother,
            false => Left::Much,
        }
    }

    /// The same between two answers of a server, which goes on answering meanwhile. Whether something was
    /// written.
    pub fn settle_between(&self) -> bool {
        let most = match *locked(&self.settled) {
            Some((at, took)) if at.elapsed() < took * PAUSES => TAILS_MAX,
            _ => 1,
        };
        // What other processes wrote counts, too: they may leave it to this one.
        let mut held = locked(&self.views);
        let seen = self.log.refresh().map_err(ServiceError::from);
        // Most answers leave little: the next command looks at the rest.
        if seen.is_ok() && (held.as_ref()).is_some_and(|views| self.is_short(views, TAIL_MAX, most))
        {
            return false;
        }
        let stale = Views::are_stale_for_commands;
        let seen = seen.and_then(|_| self.with_held_views(&mut held, stale, |_| Ok(())));
        if let Err(error) = seen {
            tracing::debug!(%error, "the log is not read now");
        }
        let much = (held.as_ref())
            .filter(|views| !self.is_short(views, TAIL_MAX, most) && !self.options.read_only)
            .map(Views::are_on_disk);
        drop(held);
        let Some(are_on_disk) = much.filter(|_| !self.peer.leave_views()) else {
            return false;
        };
        let begun = Instant::now();
        match behind(|| self.settle_beside(are_on_disk)) {
            Ok(Some(written)) => {
                let took = begun.elapsed();
                *locked(&self.settled) = Some((Instant::now(), took));
                tracing::debug!(written, ?took, "the views were taken further");
                written
            }
            Ok(None) => self.settle_to(TAIL_MAX),
            Err(QueryError::View(error)) => not_further(&error),
            Err(QueryError::Service(error)) => not_further(&error),
        }
    }

    /// Does a little of what a first recall needs. Returns whether more is left.
    pub fn makes_ready(&self) -> bool {
        let held = locked(&self.views);
        held.as_ref().is_some_and(|views| views.analyse_ahead(true))
    }

    /// The newest position that this process has seen; 0 where there is none.
    pub(crate) fn newest_seen(&self) -> u64 {
        self.log.tip().map_or(0, |tip| tip.position.0)
    }

    /// Folds what was appended here, so that the next command need not, and does some of what commits and recalls ask of it
    /// as long as `go_on` says so: with `all`, what a first recall would. What is wrong with it the next command finds, too.
    pub fn fold_ahead(&self, all: bool, go_on: &dyn Fn() -> bool) {
        let mut held = locked(&self.views);
        let Some(views) = held.as_mut() else {
            return;
        };
        let ahead = || {
            views.follow(&self.log)?;
            while go_on() && views.analyse_ahead(all) {}
            Ok(())
        };
        if catching_panics(ahead).is_err() {
            *held = None;
        }
    }

    /// Takes the views further in a second set of them, or builds one where there are none on disk, and puts it in
    /// the place of the first. `None` where that cannot be: they are at another place.
    fn settle_beside(&self, are_on_disk: bool) -> QueryResult<Option<bool>> {
        let dir = self.views_dir();
        let second = match are_on_disk {
            false => None,
            true => match self.second_set(&dir)? {
                None => return Ok(None),
                second => second,
            },
        };
        let done = catching_panics(|| {
            let mut beside = match second {
                Some(mut second) => {
                    second.commit(&dir, &self.log, SETTLE_WAIT)?;
                    second
                }
                None => match self.built_by_another(&dir)? {
                    Some(there) => there,
                    None => Views::rebuild(&dir, &self.log, SETTLE_WAIT, &mut |_| {})?,
                },
            };
            // Most of what came meanwhile; nobody has to wait for it.
            beside.follow(&self.log)?;
            if let Some(views) = locked(&self.views).as_ref() {
                beside.share_texts(views);
            }
            beside.get_ready()?;
            Ok(beside)
        });
        let mut held = locked(&self.views);
        self.settling.store(false, Ordering::Relaxed);
        let mut beside = match done {
            Err(QueryError::View(ViewError::Busy | ViewError::Io { .. })) => {
                return Ok(Some(false));
            }
            other => other?,
        };
        self.log.refresh()?;
        // A redaction, or a rebuild, has removed what was committed.
        if beside.are_stale(&self.log) {
            return Ok(Some(false));
        }
        beside.follow(&self.log)?;
        let mut before = held.take();
        if let Some(before) = before.as_mut() {
            beside.inherit(before);
        }
        *held = Some(beside);
        // What it held is given back while others go on.
        drop(held);
        drop(before);
        Ok(Some(true))
    }

    /// Those on disk, where this process has its own in memory: another has built some since, or was writing them. `None`
    /// where there are none that can be used; `Busy` also while a redaction or a repair is not finished.
    fn built_by_another(&self, dir: &Path) -> std::result::Result<Option<Views>, ViewError> {
        if self.log.redaction_pending() {
            return Err(ViewError::Busy);
        }
        if !Views::were_built(dir) || place::odd_file_below(dir).is_some() {
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

    /// The views a second time, with the tail of those that are asked; these do not mind from now on that their files
    /// change. `None` where the two are not at one place.
    fn second_set(&self, dir: &Path) -> QueryResult<Option<Views>> {
        let mut second = Views::open(dir, &self.log)?;
        let held = locked(&self.views);
        let Some(views) = held.as_ref().filter(|views| views.are_on_disk()) else {
            return Ok(None);
        };
        let is_copied = views.copy_tail(&mut second)?;
        self.settling.store(is_copied, Ordering::Relaxed);
        Ok(is_copied.then_some(second))
    }

    /// Whether so little is new that it may stay in memory: `times` that number of events, or bytes.
    fn is_short(&self, views: &Views, tail_max: u64, times: u64) -> bool {
        let newest = self.newest_seen();
        let events = newest - views.base_position().0.min(newest);
        let is_few = events.max(views.tail_rows()) <= tail_max * times;
        is_few && views.tail_bytes() <= TAIL_LEN_MAX * times
    }

    fn settle_to(&self, tail_max: u64) -> bool {
        if self.options.read_only {
            return false;
        }
        let mut held = locked(&self.views);
        let Some(views) = held.as_ref() else {
            return false;
        };
        let left_to_others = || tail_max != TAIL_MAX && self.peer.leave_views();
        if self.is_short(views, tail_max, 1) || left_to_others() || self.log.refresh().is_err() {
            return false;
        }
        // The next command finds out what is wrong, and says so.
        match catching_panics(|| Ok(self.settle_held(&mut held, tail_max)?)) {
            Ok(written) => written,
            Err(error) => {
                *held = None;
                match error {
                    QueryError::View(error) => not_further(&error),
                    QueryError::Service(error) => not_further(&error),
                }
            }
        }
    }

    /// Sees to it that recalls of many memories are fast: reads the graph of their vectors, or makes one. Holds
    /// nothing meanwhile, and stops when `go_on` says no; for a thread of a process that goes on answering.
    /// Whether there is a new one.
    pub fn tend_graph(&self, go_on: &(dyn Fn() -> bool + Sync)) -> bool {
        let job = locked(&self.views)
            .as_ref()
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
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> std::result::Result<bool, ViewError> {
        let Some(graph) = job.run(go_on)? else {
            return Ok(false);
        };
        let rows = match locked(&self.views).as_ref() {
            Some(views) => views.filed_vectors()?,
            None => return Ok(false),
        };
        // It looks at all rows: recalls go on meanwhile.
        if !graph.fits(&rows) {
            return Ok(false);
        }
        match locked(&self.views).as_mut() {
            Some(views) => views.take_graph(graph, &rows),
            None => Ok(false),
        }
    }

    fn settle_held(
        &self,
        held: &mut Option<Views>,
        tail_max: u64,
    ) -> std::result::Result<bool, ViewError> {
        let Some(views) = held.as_mut() else {
            return Ok(false);
        };
        if !views.are_on_disk() {
            match self.built_by_another(&self.views_dir()) {
                Err(ViewError::Busy | ViewError::Io { .. }) => return Ok(false),
                there => {
                    if let Some(there) = there? {
                        *views = there;
                    }
                }
            }
        }
        views.follow(&self.log)?;
        let tail = views.tail_len().max(views.tail_rows());
        if tail <= tail_max && views.tail_bytes() <= TAIL_LEN_MAX {
            return Ok(false);
        }
        let result = match views.are_on_disk() {
            true => views.commit(&self.views_dir(), &self.log, SETTLE_WAIT),
            false => Views::rebuild(&self.views_dir(), &self.log, SETTLE_WAIT, &mut |_| {})
                .map(|rebuilt| *views = rebuilt),
        };
        match result {
            Err(ViewError::Busy | ViewError::Io { .. }) => Ok(false),
            other => other.map(|()| true),
        }
    }
}

fn not_further(error: &dyn std::fmt::Display) -> bool {
    tracing::debug!(%error, "the views were not taken further");
    false
}
