//! The service: typed commands in, receipts out; typed queries in, answers with a basis out. It owns
//! the log and the views of one store and is used in-process by every front.

mod basis;
mod events;
mod export;
mod import;
mod maintain;
mod read;
mod recall;
mod show;
mod write;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use icm_log::disk::{Disk, RealDisk};
use icm_log::env::Env;
use icm_log::{Log, LogError, Refusal};
use icm_projections::{ViewError, Views};
use jiff::tz::TimeZone;

use crate::error::{Result, ServiceError};
use crate::ids::NewIds;
use crate::system::SystemEnv;

/// Events that may lie between the views' files and the log before somebody takes them in.
const TAIL_MAX: u64 = 500;
/// How long an answer waits for the views' files while another process writes them.
const VIEWS_WAIT: Duration = Duration::from_secs(10);

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
    options: OpenOptions,
    ground: Ground,
    log: Log,
    views: Mutex<Option<Views>>,
    notices: Mutex<Vec<String>>,
    pending: Mutex<Vec<recall::Pending>>,
    new_ids: NewIds,
    /// The damage that the user was told of.
    told_damage: Mutex<Option<String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
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
        if options.dir.exists() && !options.dir.is_dir() {
            return Err(ServiceError::invalid_with(
                format!("{} is a file, not a store", options.dir.display()),
                "give the store's folder with `--db` or `ICM_DB`",
            ));
        }
        let log = Log::open(ground.disk.clone(), &options.dir)?;
        Ok(Service {
            options,
            ground,
            log,
            views: Mutex::new(None),
            notices: Mutex::new(Vec::new()),
            pending: Mutex::new(Vec::new()),
            new_ids: NewIds::default(),
            told_damage: Mutex::new(None),
        })
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

    fn notice(&self, line: String) {
        locked(&self.notices).push(line);
    }

    fn views_dir(&self) -> PathBuf {
        self.options.dir.join("views")
    }

    fn now_ms(&self) -> u64 {
        self.ground.env.now_ms()
    }

    fn zone(&self) -> TimeZone {
        (self.ground.zone)()
    }

    /// Runs a question on views that have seen the whole log. A view that turns out to be damaged
    /// is dropped, rebuilt from the log, and asked again.
    fn with_views<T>(&self, ask: impl Fn(&Views) -> std::result::Result<T, Ask>) -> Result<T> {
        self.log.refresh()?;
        let mut held = locked(&self.views);
        let answer = self.with_held_views(&mut held, |views| {
            // A panic while a view is read is a view that is not usable.
            let asked = std::panic::AssertUnwindSafe(|| ask(views));
            std::panic::catch_unwind(asked).unwrap_or_else(|_| {
                let why = "reading it failed".to_owned();
                Err(Ask::View(ViewError::Unusable { view: "table", why }))
            })
        })?;
        if let Some(damage) = self.damage_in(held.as_ref()) {
            let mut told = locked(&self.told_damage);
            if told.as_ref() != Some(&damage) {
                self.notice(format!(
                    "{damage}; the answer is of what lies before: see `icm log verify`"
                ));
                *told = Some(damage);
            }
        }
        Ok(answer)
    }

    /// What is damaged of the log, as far as answers have met it: they are of what lies before.
    pub fn damage(&self) -> Option<String> {
        self.damage_in(locked(&self.views).as_ref())
    }

    fn damage_in(&self, views: Option<&Views>) -> Option<String> {
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

    fn with_held_views<T>(
        &self,
        held: &mut Option<Views>,
        ask: impl Fn(&Views) -> std::result::Result<T, Ask>,
    ) -> Result<T> {
        let mut tried = false;
        loop {
            let result = self.current_views(held).and_then(&ask);
            match result {
                Ok(answer) => return Ok(answer),
                Err(Ask::View(ViewError::Unusable { view, why })) if !tried => {
                    tried = true;
                    *held = Some(self.rebuilt(view, &why)?);
                }
                Err(Ask::View(error)) => return Err(error.into()),
                Err(Ask::Service(error)) => return Err(error),
            }
        }
    }

    /// Views that have seen every event as of the last refresh of the log.
    fn current_views<'v>(
        &self,
        held: &'v mut Option<Views>,
    ) -> std::result::Result<&'v Views, Ask> {
        if held.as_ref().is_some_and(Views::are_stale) {
            *held = None;
        }
        if held.is_none() {
            *held = Some(self.open_views()?);
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

    fn open_views(&self) -> std::result::Result<Views, Ask> {
        let dir = self.views_dir();
        let events = self.log.tip().map_or(0, |tip| tip.position.0);
        if !Views::were_built(&dir) {
            if events <= TAIL_MAX {
                return Ok(Views::empty()?);
            }
            return Ok(self.rebuilt("table and text", "there was none")?);
        }
        Ok(Views::open(&dir, &self.log)?)
    }

    /// Builds views: on disk where that can be written, else in memory.
    fn build(&self) -> std::result::Result<Views, ViewError> {
        // Views on disk may hold what can no longer be read of a damaged log: they stay.
        let damaged = matches!(self.log.refusal(), Some(Refusal::Damaged { .. }));
        if self.options.read_only || damaged {
            return Views::in_memory(&self.log, u64::MAX, &mut |_| {});
        }
        match Views::rebuild(&self.views_dir(), &self.log, VIEWS_WAIT, &mut |_| {}) {
            Err(ViewError::Io { .. } | ViewError::Busy | ViewError::Stopped { .. }) => {
                Views::in_memory(&self.log, u64::MAX, &mut |_| {})
            }
            other => other,
        }
    }

    fn rebuilt(&self, view: &str, why: &str) -> Result<Views> {
        let views = self.build()?;
        let place = if views.are_on_disk() {
            "rebuilt"
        } else {
            "rebuilt in memory"
        };
        self.notice(format!("the {view} view was {place} from the log: {why}"));
        Ok(views)
    }

    /// Work that may follow a command after its answer is out: takes the events since the views'
    /// checkpoint into their files when there are many.
    pub fn settle(&self) {
        if self.options.read_only {
            return;
        }
        let mut held = locked(&self.views);
        let Some(views) = held.as_ref() else { return };
        let newest = self.log.tip().map_or(0, |tip| tip.position.0);
        if newest - views.base_position().0.min(newest) <= TAIL_MAX || self.log.refresh().is_err() {
            return;
        }
        if let Err(error) = self.settle_held(&mut held) {
            // The next command finds out and says so.
            tracing::debug!(%error, "the views were not taken further");
            *held = None;
        }
    }

    fn settle_held(&self, held: &mut Option<Views>) -> std::result::Result<(), ViewError> {
        let Some(views) = held.as_mut() else {
            return Ok(());
        };
        views.follow(&self.log)?;
        if views.tail_len() <= TAIL_MAX {
            return Ok(());
        }
        let wait = Duration::from_millis(10);
        let result = match views.are_on_disk() {
            true => views.commit(&self.views_dir(), &self.log, wait),
            false => Views::rebuild(&self.views_dir(), &self.log, wait, &mut |_| {})
                .map(|rebuilt| *views = rebuilt),
        };
        match result {
            Err(ViewError::Busy | ViewError::Io { .. }) => Ok(()),
            other => other,
        }
    }
}

/// Why a question to the views had no answer.
enum Ask {
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

impl From<LogError> for ServiceError {
    fn from(error: LogError) -> ServiceError {
        match error {
            LogError::Busy { waited_ms } => ServiceError::Busy { waited_ms },
            LogError::NewerFormat { what } => ServiceError::NewerFormat { what },
            LogError::NoSpace { .. } => ServiceError::NoSpace {
                why: error.to_string(),
            },
            LogError::NotWritable { .. } => ServiceError::ReadOnly {
                why: error.to_string(),
            },
            LogError::Io {
                doing,
                path,
                source,
            } => ServiceError::Io {
                doing: format!("{doing} {}", path.display()),
                source,
            },
            LogError::TooLarge { .. } | LogError::NotAStore { .. } => {
                ServiceError::invalid(error.to_string())
            }
            LogError::StaleCursor { .. } => ServiceError::Internal(error.to_string()),
            LogError::Damaged { .. } => ServiceError::Damaged {
                what: error.to_string(),
            },
            other => ServiceError::Internal(other.to_string()),
        }
    }
}

impl From<ViewError> for ServiceError {
    fn from(error: ViewError) -> ServiceError {
        match error {
            ViewError::Log(error) => error.into(),
            ViewError::Stopped { why } => ServiceError::Damaged { what: why },
            ViewError::Io {
                doing,
                path,
                source,
            } => ServiceError::Io {
                doing: format!("{doing} {}", path.display()),
                source,
            },
            other => ServiceError::Internal(other.to_string()),
        }
    }
}
