//! The service: typed commands in, receipts out; typed queries in, answers with a basis out. It owns
//! the log and the views of one store and is used in-process by every front.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use icm_log::disk::{Disk, RealDisk};
use icm_log::env::Env;
use icm_log::{Log, LogError, Refusal, RequestKey, Unknown};
use icm_projections::ranking::Ranking;
use icm_projections::{GraphJob, ViewError, Views};
use icm_vectors::GRAPH_ROWS_MIN;
use jiff::tz::TimeZone;
use serde::de::DeserializeOwned;
use tokio::sync::Notify;

use crate::embedding::{Cache, Model};
use crate::integrity::store_folder;
use crate::memory::store::OwnWay;
use crate::peer::{Forwarded, NoPeer, Peer, PeerParams, fill_in};
use crate::system::SystemEnv;
use icm_api::Summarizer;
pub(crate) use icm_api::error::VIEWS_WAIT;
use icm_api::error::{Result, ServiceError, plain};
use icm_api::ids::NewIds;
use icm_api::{Caller, DecayPolicy, Dedup};
use icm_guard::secrets::Policy;

/// Events that may lie between the views' files and the log before a server takes them in: it holds
/// them in memory, and a commit costs what fifty stores cost. A store of no more needs no files.
pub(crate) const TAIL_MAX: u64 = 500;
/// The same when a process ends: the next one reads, folds and indexes what lies there before it
/// answers, which costs 50 µs an event.
pub(crate) const TAIL_LEFT_MAX: u64 = 64;

/// How long views in memory stand in for those on disk that somebody else was writing.
const STAND_IN_TIME: Duration = Duration::from_secs(5);

/// Living memories of a topic beyond which receipts say how many they are, where nobody says.
pub(crate) const HINT_OVER: u64 = 7;

/// How to open a store.
#[derive(Clone)]
pub struct OpenOptions {
    /// The store's folder; need not exist.
    pub dir: PathBuf,
    /// How long to wait for another writer.
    pub lock_wait: Duration,
    /// Never write anything.
    pub read_only: bool,
}

/// What the service stands on; tests bring their own.
#[derive(Clone)]
pub struct Ground {
    /// The disk of the log.
    pub disk: Arc<dyn Disk>,
    /// Clock and randomness.
    pub env: Arc<dyn Env>,
    /// The user's time zone; asked for when a date has to be read.
    pub zone: fn() -> TimeZone,
}

impl Ground {
    /// This machine.
    pub fn system() -> Ground {
        Ground {
            disk: Arc::new(RealDisk),
            env: Arc::new(SystemEnv),
            zone: TimeZone::system,
        }
    }
}

/// One store, open.
pub struct Service {
    pub(crate) options: OpenOptions,
    pub(crate) ground: Ground,
    pub(crate) log: Log,
    pub(crate) views: Mutex<Option<Views>>,
    pub(crate) notices: Mutex<Vec<String>>,
    pub(crate) pending: Mutex<Vec<crate::recall::query::Pending>>,
    pub(crate) new_ids: NewIds,
    /// Memories are searched by a graph, if somebody makes one, from so many versions on.
    pub(crate) graph_rows_min: u64,
    /// The graph that could not be made: it is not tried again before there are more vectors.
    pub(crate) graphless: Mutex<Option<GraphJob>>,
    /// When the views were taken further last beside those that it answers from, and how long that took.
    pub(crate) settled: Mutex<Option<(Instant, Duration)>>,
    /// This process writes the views' files beside those that it answers from.
    pub(crate) settling: AtomicBool,
    /// Since when the views are in memory because somebody else was writing those on disk.
    pub(crate) stand_in: Mutex<Option<Instant>>,
    /// What is wrong with the log, as the user was told it.
    pub(crate) told: Mutex<Option<String>>,
    /// The first write may go into a folder that holds other files.
    pub(crate) any_folder: bool,
    /// What is done about secrets.
    pub(crate) secrets: Policy,
    /// How stores treat what is there already.
    pub(crate) dedup: Dedup,
    /// How memories fade.
    pub(crate) decay: DecayPolicy,
    /// Living memories of a topic beyond which receipts say how many they are.
    pub(crate) hint_over: u64,
    /// What makes summaries where nothing else is said.
    pub(crate) summarizer: Option<Summarizer>,
    /// What counts how much when memories are ranked.
    pub(crate) ranking: Ranking,
    /// Whether links have a say in recalls.
    pub(crate) links: bool,
    /// What embeds.
    pub(crate) model: Model,
    /// That it could not be used.
    pub(crate) failed: Mutex<crate::upkeep::embed::Failed>,
    /// Vectors that need not be made again, where this process has them.
    pub(crate) cache: Mutex<Option<Cache>>,
    /// A command of this process was written.
    pub(crate) wrote: AtomicBool,
    /// Told after each command that wrote here.
    pub(crate) written: Notify,
    /// Thousands of memories were written, or written about.
    pub(crate) wrote_wide: AtomicBool,
    /// An undo was written.
    pub(crate) wrote_undo: AtomicBool,
    /// The requests by which earlier processes had begun to redact what this one has finished.
    pub(crate) begun: Mutex<Vec<RequestKey>>,
    /// The process that may be asked instead.
    pub(crate) peer: Arc<dyn Peer>,
    /// Set once this process is the owner.
    pub(crate) own_way: Mutex<Option<OwnWay>>,
    /// What requests to it say they go by.
    pub(crate) terms: OnceLock<String>,
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic left behind is caught by the checks of the views themselves.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Service {
    /// Opens a store on this machine. An absent folder is an empty store until the first write.
    pub fn open(options: OpenOptions) -> Result<Service> {
        Service::open_on(options, Ground::system())
    }

    /// Opens a store on the given ground.
    pub fn open_on(options: OpenOptions, ground: Ground) -> Result<Service> {
        let service = Service::unread(options, ground)?;
        service.log.refresh()?;
        Ok(service)
    }

    /// Opens a store on this machine as another machine knew it, from what is held here of that one's chain; nothing is
    /// ever written. `origin`: its id, or how that begins.
    ///
    /// # Errors
    /// `NotFound` and `Ambiguous` for an origin that no chain here has, or several.
    pub fn open_as(options: OpenOptions, origin: &str) -> Result<Service> {
        let options = OpenOptions {
            read_only: true,
            ..options
        };
        let mut service = Service::open(options)?;
        let origin = service.find_origin(origin)?;
        service.log =
            (service.log.as_known_by(origin)).map_err(|error| service.explained(error))?;
        let known_by = service.log.known_by();
        let end = service.log.tip().map_or(0, |tip| tip.position.0);
        let next = match known_by.and_then(|other| other.until) {
            None => "",
            Some((_, Unknown::NotHeld)) => "; it learned something next that is not here",
            Some((_, Unknown::Branches)) => {
                "; from there on a copy of it wrote under the same origin, too"
            }
        };
        service.notice(format!(
            "of the machine {origin} this store has what it knew up to its @{end}{next}"
        ));
        Ok(service)
    }

    /// Opens a store on this machine, for one store, update or recall: as long as its owner answers, nothing is read.
    pub fn open_to_ask(options: OpenOptions) -> Result<Service> {
        Service::unread(options, Ground::system())
    }

    pub(crate) fn unread(options: OpenOptions, ground: Ground) -> Result<Service> {
        store_folder::check(&options.dir)?;
        let log = Log::unread(ground.disk.clone(), &options.dir);
        Ok(Service {
            options,
            ground,
            log,
            views: Mutex::new(None),
            notices: Mutex::new(Vec::new()),
            pending: Mutex::new(Vec::new()),
            new_ids: NewIds::default(),
            graph_rows_min: if cfg!(feature = "graph") {
                GRAPH_ROWS_MIN
            } else {
                u64::MAX
            },
            graphless: Mutex::new(None),
            settled: Mutex::new(None),
            settling: AtomicBool::new(false),
            stand_in: Mutex::new(None),
            told: Mutex::new(None),
            any_folder: false,
            secrets: Policy::default(),
            dedup: Dedup::default(),
            decay: DecayPolicy::default(),
            hint_over: HINT_OVER,
            summarizer: None,
            ranking: Ranking::default(),
            links: true,
            model: Model::default(),
            failed: Mutex::default(),
            cache: Mutex::new(None),
            wrote: AtomicBool::new(false),
            written: Notify::new(),
            wrote_wide: AtomicBool::new(false),
            wrote_undo: AtomicBool::new(false),
            begun: Mutex::new(Vec::new()),
            peer: Arc::new(NoPeer),
            own_way: Mutex::default(),
            terms: OnceLock::new(),
        })
    }

    /// Reads the log, if that was not done when it was opened.
    pub(crate) fn read_log(&self) -> Result<()> {
        match self.log.tip() {
            Some(_) => Ok(()),
            None => Ok(self.log.refresh()?),
        }
    }

    /// Whether a command changed something here, whatever became of its answer.
    pub fn has_written(&self) -> bool {
        self.wrote.load(Ordering::Relaxed)
    }

    /// Lets the first write go into a folder that already holds files which are not icm's; else
    /// that is refused, so that a store is not strewn over somebody's folder by mistake.
    pub fn in_any_folder(mut self) -> Service {
        self.any_folder = true;
        self
    }

    /// What is done about secrets; unless it is said here they are refused.
    pub fn with_secrets(mut self, policy: Policy) -> Service {
        self.secrets = policy;
        self
    }

    /// Which other process may answer; unless it is said here none is asked. A read-only service asks none either.
    #[must_use]
    pub fn asking(mut self, peer: Arc<dyn Peer>) -> Service {
        if !self.options.read_only {
            self.peer = peer;
        }
        self
    }

    /// Who waits for it hears of the next command that writes here.
    pub fn written(&self) -> &Notify {
        &self.written
    }

    /// The store's folder.
    pub fn dir(&self) -> &Path {
        &self.options.dir
    }

    /// What the answers of two processes depend on beside the store: the program and what its user has set. Only
    /// on the same terms does one answer for the other.
    pub fn terms(&self) -> String {
        let terms = || {
            // Thirty numbers in words take a command longer than all else here: most have the usual ones.
            let ranking = (self.ranking != Ranking::default()).then_some(&self.ranking);
            let settings = (
                (
                    env!("CARGO_PKG_VERSION"),
                    &self.secrets,
                    &self.dedup,
                    &self.decay,
                ),
                (self.hint_over, ranking, self.links, &self.model),
                std::env::var_os("TZ"),
            );
            blake3::hash(format!("{settings:?}").as_bytes()).to_hex()[..32].to_owned()
        };
        self.terms.get_or_init(terms).clone()
    }

    /// Has the writes of this process done by a queue, as long as that does them.
    pub fn queue_own_writes(&self, way: OwnWay) {
        *locked(&self.own_way) = Some(way);
    }

    /// What the owner answers, where there is one that does.
    pub(crate) fn ask_owner<R: Forwarded, A: DeserializeOwned>(
        &self,
        caller: &Caller,
        request: &mut R,
    ) -> Option<A> {
        if !self.peer.is_for(R::WRITES) {
            return None;
        }
        let answer = self.peer.ask(R::METHOD, &mut || {
            fill_in(request)?;
            let params = PeerParams {
                terms: self.terms(),
                caller: caller.clone(),
                request: &*request,
            };
            serde_json::value::to_raw_value(&params).ok()
        });
        let answer = answer.and_then(|answer| serde_json::from_str(answer.get()).ok());
        if answer.is_some() && R::WRITES {
            self.wrote.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Whether links have a say in recalls; unless it is said here they have.
    #[must_use]
    pub fn with_links(mut self, links: bool) -> Service {
        self.links = links;
        self
    }

    /// From how many versions on [`Service::tend_graph`] makes a graph of their vectors; by default as many as make
    /// it worth its while.
    pub fn with_graph_rows_min(mut self, rows: u64) -> Service {
        self.graph_rows_min = rows;
        self
    }

    /// Lines to tell the user on stderr (a view was rebuilt, a torn tail set aside); empties the
    /// list.
    pub fn take_notices(&self) -> Vec<String> {
        let mut notices = std::mem::take(&mut *locked(&self.notices));
        notices.extend(self.log.take_notices());
        notices
    }

    /// The log below.
    pub fn log_handle(&self) -> &Log {
        &self.log
    }

    pub(crate) fn notice(&self, line: String) {
        locked(&self.notices).push(line);
    }

    pub(crate) fn views_dir(&self) -> PathBuf {
        match self.log.known_by() {
            None => self.options.dir.join("views"),
            // Those are of what this machine knows; of another one there never are any on disk.
            Some(other) => self
                .options
                .dir
                .join("views")
                .join(other.origin.to_string()),
        }
    }

    /// What can be deleted, and is dear to make again.
    pub(crate) fn cache_dir(&self) -> PathBuf {
        self.options.dir.join("cache")
    }

    pub(crate) fn disk(&self) -> &dyn Disk {
        &*self.ground.disk
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.ground.env.now_ms()
    }

    /// The user's time zone.
    pub fn zone(&self) -> TimeZone {
        (self.ground.zone)()
    }

    /// Returns the day of an RFC 3339 time in the user's zone.
    pub fn day(&self, time: &str) -> String {
        icm_api::when::day(time, &self.zone())
    }

    /// Returns the name of the user's zone.
    pub fn zone_name(&self) -> String {
        icm_api::when::zone_name(&self.zone(), self.now_ms())
    }

    /// Runs a question on views that have seen the whole log. A view that turns out to be damaged
    /// is dropped, rebuilt from the log, and asked again.
    pub(crate) fn with_views<T>(
        &self,
        ask: impl Fn(&Views) -> std::result::Result<T, Ask>,
    ) -> Result<T> {
        let read = || {
            let mut held = locked(&self.views);
            self.log.refresh()?;
            let answer = self.with_held_views(&mut held, Views::are_stale, &ask)?;
            Ok((answer, self.damage_in(held.as_ref()).is_some()))
        };
        let answer = self.steady(read, |(_, damaged)| *damaged);
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

    /// What whoever reads has to know of a log that is not in order.
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

    /// What is damaged of the log, as far as answers have met it: they are of what lies before.
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
        ask: impl Fn(&Views) -> std::result::Result<T, Ask>,
    ) -> Result<T> {
        let mut tried = false;
        loop {
            let result = guarded(|| self.current_views(held, stale).and_then(&ask));
            match result {
                Ok(answer) => return Ok(answer),
                Err(Ask::View(ViewError::Unusable { view, why })) if !tried => {
                    tried = true;
                    // Nothing of them is used again, whatever becomes of the rebuild.
                    *held = None;
                    *held = Some(match self.resume_redaction(held)? {
                        true => self.rebuilt(view, &why)?,
                        false => Views::in_memory(&self.log, &mut |_| {})?,
                    });
                }
                // Whoever writes them may be stopped, or slow: the log says the same.
                Err(Ask::View(ViewError::Busy)) if !tried => {
                    tried = true;
                    *held = Some(Views::in_memory(&self.log, &mut |_| {})?);
                    *locked(&self.stand_in) = Some(Instant::now());
                }
                Err(Ask::View(error)) => {
                    *held = None;
                    return Err(error.into());
                }
                Err(Ask::Service(error)) => return Err(error),
            }
        }
    }

    /// Views that have seen every event as of the last refresh of the log; opened anew when `stale`
    /// says so of those that are held.
    pub(crate) fn current_views<'v>(
        &self,
        held: &'v mut Option<Views>,
        stale: fn(&Views, &Log) -> bool,
    ) -> std::result::Result<&'v Views, Ask> {
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
                Err(Ask::View(ViewError::Unusable {
                    view: "table",
                    why: "the log no longer holds its checkpoint".to_owned(),
                }))
            }
            Err(error) => Err(error.into()),
            Ok(()) => Ok(views),
        }
    }

    pub(crate) fn open_views(&self) -> std::result::Result<Views, Ask> {
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
            return Err(Ask::View(ViewError::Unusable {
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
        match guarded(rebuild) {
            Ok(views) => Ok((views, None)),
            Err(Ask::View(ViewError::Io { path, source, .. })) => {
                let why = plain(source);
                in_memory(format!("{} cannot be written: {why}", path.display()))
            }
            Err(Ask::View(ViewError::Busy)) => {
                in_memory("another process is writing those on disk".to_owned())
            }
            Err(Ask::View(ViewError::Stopped { why })) => {
                in_memory(format!("the log is damaged: {why}"))
            }
            Err(Ask::View(ViewError::Unusable { why, .. })) => {
                in_memory(format!("building them on disk failed: {why}"))
            }
            Err(Ask::View(error)) => Err(error),
            Err(Ask::Service(error)) => in_memory(error.to_string()),
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

/// Runs what reads views. A panic while a view is read is a view that is not usable.
pub(crate) fn guarded<T>(
    run: impl FnOnce() -> std::result::Result<T, Ask>,
) -> std::result::Result<T, Ask> {
    let run = std::panic::AssertUnwindSafe(run);
    std::panic::catch_unwind(run).unwrap_or_else(|_| {
        let why = "reading it failed".to_owned();
        Err(Ask::View(ViewError::Unusable { view: "table", why }))
    })
}

/// Why a question to the views had no answer.
pub(crate) enum Ask {
    View(ViewError),
    Service(ServiceError),
}

impl From<ViewError> for Ask {
    fn from(error: ViewError) -> Ask {
        Ask::View(error)
    }
}

impl From<ServiceError> for Ask {
    fn from(error: ServiceError) -> Ask {
        Ask::Service(error)
    }
}

impl From<LogError> for Ask {
    fn from(error: LogError) -> Ask {
        Ask::Service(error.into())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::command::RequestKeyOf;
    use icm_api::{Caller, ListRequest, StoreRequest};

    pub(crate) fn service(dir: &std::path::Path) -> Service {
        let options = OpenOptions {
            dir: dir.to_owned(),
            lock_wait: Duration::from_secs(5),
            read_only: false,
        };
        Service::open(options).expect("it opens")
    }

    pub(crate) fn store(service: &Service, content: &str) {
        let request = StoreRequest {
            topic: "t".to_owned(),
            content: content.to_owned(),
            ..StoreRequest::default()
        };
        service
            .store(&Caller::default(), request)
            .expect("it stores");
    }

    /// A damaged table makes redb panic wherever a command happens to read it.
    #[test]
    pub(crate) fn a_panic_while_a_command_decides_costs_the_views_and_not_the_command() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        store(&service, "one");
        let asked = Cell::new(0);
        let answer = service.command(&Caller::default(), None, RequestKeyOf(None), |_, views| {
            asked.set(asked.get() + 1);
            assert!(asked.get() > 1, "a page of the table cannot be read");
            Ok(views.tally().memories)
        });
        assert_eq!(answer.expect("it succeeds"), 1);
        assert_eq!(asked.get(), 2);
        let notices = service.take_notices();
        assert_eq!(
            notices,
            ["the table view was rebuilt from the log: reading it failed"]
        );
        store(&service, "two");
        let list = service.list(&ListRequest::default()).expect("it lists");
        assert_eq!(list.len(), 2);
        // One that never ends well is an error, and nobody waits for its lock.
        let answer = service.command::<()>(&Caller::default(), None, RequestKeyOf(None), |_, _| {
            panic!("again")
        });
        assert!(answer.is_err());
        store(&service, "three");
    }

    /// It would wait for the lock that it holds.
    #[test]
    pub(crate) fn who_had_to_wait_while_a_redaction_was_begun_finishes_that_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let before = service(folder.path());
        store(&before, "one");
        let marker = folder.path().join("redacting");
        // Several times: one in which the waiting begins late shows nothing.
        for n in 0..5 {
            let waiting = service(folder.path());
            let held = before.begin(Duration::ZERO).expect("it is free");
            std::thread::scope(|scope| {
                let storing = scope.spawn(|| store(&waiting, &format!("of round {n}")));
                std::thread::sleep(Duration::from_millis(10));
                std::fs::write(&marker, "").expect("it is written");
                drop(held);
                storing.join().expect("it stores");
            });
            assert!(!marker.exists());
            let told = waiting.take_notices();
            assert!(told.iter().all(|line| !line.contains("waits")), "{told:?}");
        }
    }

    /// A command that was written is not decided a second time.
    #[test]
    pub(crate) fn a_panic_after_the_append_writes_nothing_twice() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        store(&service, "one");
        let request = StoreRequest {
            topic: "t".to_owned(),
            content: "two".to_owned(),
            ..StoreRequest::default()
        };
        let caller = Caller::default();
        let checked = service.check_store(&caller, &request).expect("it is fine");
        let answer = service.command::<()>(&caller, None, RequestKeyOf(None), |command, views| {
            crate::command::store_in(command, views, &checked)?;
            panic!("too late")
        });
        assert!(answer.is_err());
        let list = service.list(&ListRequest::default()).expect("it lists");
        assert!(list.len() <= 2, "{list:?}");
    }
}
