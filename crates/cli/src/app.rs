//! The parts that every command shares: flags, configuration, store and output.

use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use icm_api::error::ServiceError;
use icm_api::{Caller, expiry};
use icm_server::AskOwner;
use icm_service::{Delivery, OpenOptions, Service, TailLeft};
use icm_wait::bounds;
use jiff::tz::TimeZone;

use crate::background;
use crate::caller;
use crate::config::{self, Config};
use crate::error::{CliError, ErrorKind, Outcome};
use crate::global::GlobalArgs;
use crate::project;
use crate::ui::Ui;

/// A constructor of [`Service`].
type Open = fn(OpenOptions) -> Result<Service, ServiceError>;

/// One run of the program.
pub(crate) struct App {
    pub(crate) ui: Ui,
    pub(crate) global: GlobalArgs,
    pub(crate) config: Config,
    /// The error of the config file, for commands that run without a valid one.
    pub(crate) config_problem: Option<CliError>,
    service: OnceCell<Arc<Service>>,
    /// The delivery of the alerts in the answer.
    delivery: RefCell<Option<Delivery>>,
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A flag of this run.
    Flag(&'static str),
    /// An environment variable.
    Env(&'static str),
    /// The config file.
    File,
    /// The working folder.
    Folder,
    /// The built-in default.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag(flag) => f.write_str(flag),
            Origin::Env(name) => f.write_str(name),
            Origin::File => f.write_str("config file"),
            Origin::Folder => f.write_str("working folder"),
            Origin::Default => f.write_str("default"),
        }
    }
}

impl App {
    /// Asks for confirmation of a preview. Returns `false` after a no, and an error without a terminal.
    pub(crate) fn agreed(&self, question: &str, unconfirmed: &str) -> Result<bool, CliError> {
        self.ui.confirm(question).ok_or_else(|| {
            CliError::invalid(format!("{unconfirmed} has to be confirmed"))
                .with_hint("give `--yes`, or `--dry-run` to only look")
        })
    }

    /// Reads the configuration. The store is opened only when a command asks for it.
    pub(crate) fn new(global: GlobalArgs) -> Result<App, CliError> {
        let read = match config_path(&global) {
            // A file that the command writes may be absent or invalid.
            Ok(Some(_)) if global.ignores_config => Ok(Config::default()),
            Ok(Some((path, origin))) => Config::read(&path, origin != Origin::Default),
            Ok(None) => Ok(Config::default()),
            Err(error) => Err(error),
        };
        let (config, config_problem) = match read {
            Err(error) if global.tolerates_config => (Config::default(), Some(error)),
            other => (other?, None),
        };
        Ok(App {
            ui: Ui::new(global.json, global.quiet, config.output.color),
            global,
            config,
            config_problem,
            service: OnceCell::new(),
            delivery: RefCell::default(),
        })
    }

    /// Returns the store's folder and the source of its path.
    pub(crate) fn db(&self) -> Result<(PathBuf, Origin), CliError> {
        if let Some(dir) = &self.global.db {
            return Ok((dir.clone(), Origin::Flag("--db")));
        }
        if let Some(dir) = path_variable("ICM_DB") {
            return Ok((dir, Origin::Env("ICM_DB")));
        }
        if let Some(dir) = &self.config.db {
            return Ok((dir.clone(), Origin::File));
        }
        match config::default_db()? {
            Some(dir) => Ok((dir, Origin::Default)),
            None => Err(CliError::failed("no home folder to keep the store in")
                .with_hint("say where it is with `--db DIR` or `ICM_DB`")),
        }
    }

    /// Returns the config file and the source of its path; `None` if no absolute home folder is known.
    pub(crate) fn config_path(&self) -> Option<(PathBuf, Origin)> {
        config_path(&self.global).ok().flatten()
    }

    /// Returns the store, opened at the first call.
    pub(crate) fn service(&self) -> Result<&Arc<Service>, CliError> {
        self.open(Service::open, false, AskOwner::All)
    }

    /// As [`App::service`], for a command that is one store, update or recall.
    pub(crate) fn service_to_ask(&self) -> Result<&Arc<Service>, CliError> {
        self.open(Service::open_to_ask, false, AskOwner::All)
    }

    /// As [`App::service`], for a long-lived process with views of its own.
    pub(crate) fn service_to_serve(&self) -> Result<&Arc<Service>, CliError> {
        self.open(Service::open, false, AskOwner::Writes)
    }

    /// As [`App::service`], for a hook: waits only a moment for the store's lock, because a client waits for the hook.
    pub(crate) fn service_for_hook(&self) -> Result<&Arc<Service>, CliError> {
        let open = |options| {
            Service::open(OpenOptions {
                lock_wait: bounds::MOMENT,
                ..options
            })
        };
        self.open(open, false, AskOwner::All)
    }

    /// As [`App::service`], but never writes.
    pub(crate) fn service_read_only(&self) -> Result<&Arc<Service>, CliError> {
        self.open(Service::open, true, AskOwner::Nothing)
    }

    /// Returns the store as another machine knew it.
    pub(crate) fn service_as(&self, origin: &str) -> Result<Service, CliError> {
        let open = |options| Service::open_as(options, origin);
        let service = self.service_of(open, self.db()?.0, &self.config, true)?;
        self.pass_on_notices(&service);
        Ok(service)
    }

    fn open(&self, open: Open, read_only: bool, asks: AskOwner) -> Result<&Arc<Service>, CliError> {
        if let Some(service) = self.service.get() {
            return Ok(service);
        }
        let (dir, origin) = self.db()?;
        if dir.is_file() {
            return Err(not_a_folder(&dir, &origin));
        }
        let peer = icm_server::owner::peer(&dir, asks);
        let mut service = (self.service_of(open, dir, &self.config, read_only)?).asking(peer);
        if origin == Origin::Default {
            // The default folder belongs to icm by its name, so files of the platform in it are no reason to refuse.
            service = service.in_any_folder();
        }
        Ok(self.service.get_or_init(|| Arc::new(service)))
    }

    /// Returns the same store, opened a second time with other settings (`key=value` each).
    #[cfg(feature = "bench")]
    pub(crate) fn service_with(&self, settings: &[String]) -> Result<Service, CliError> {
        let config = self.config.with(settings)?;
        self.service_of(Service::open, self.db()?.0, &config, false)
    }

    fn service_of(
        &self,
        open: impl FnOnce(OpenOptions) -> icm_api::error::Result<Service>,
        dir: PathBuf,
        config: &Config,
        read_only: bool,
    ) -> Result<Service, CliError> {
        let service = open(OpenOptions {
            dir,
            lock_wait: bounds::PROCESS,
            read_only,
        })?;
        Ok(service
            .with_secrets(config.secrets()?)
            .with_dedup(config.dedup)
            .with_decay(config.decay)
            .with_summarizer(config.summarizer())
            .with_judge(config.judge())
            .with_hint_over(config.consolidate.hint_over)
            .with_ranking(config.ranking)
            .with_links(config.recall.links)
            .with_model(self.model(config)?))
    }

    /// Returns the caller.
    pub(crate) fn caller(&self) -> Result<Caller, CliError> {
        caller::from_environment()
    }

    /// Returns the caller, with the project of the working folder.
    pub(crate) fn caller_here(&self) -> Result<Caller, CliError> {
        let folder = std::env::current_dir().ok();
        self.caller_in(folder.as_deref())
    }

    /// Returns the caller, with the project of this folder.
    pub(crate) fn caller_in(&self, folder: Option<&Path>) -> Result<Caller, CliError> {
        let cache = self.db().ok().map(|(dir, _)| dir.join("cache"));
        let project_id = folder.and_then(|folder| project::id_of(folder, cache.as_deref()));
        Ok(Caller {
            shallow: project_id.is_none() && folder.is_some_and(project::is_shallow),
            project_id,
            folder: folder.map(Path::to_owned),
            ..self.caller()?
        })
    }

    /// Returns a scope, with `project` and `session` replaced by the caller's own.
    pub(crate) fn scope(&self, given: Option<String>) -> Result<Option<String>, CliError> {
        match given.as_deref().map(str::trim) {
            Some("project") => Ok(self.caller_here()?.scope(given)?),
            Some("session") => Ok(self.caller()?.scope(given)?),
            _ => Ok(given),
        }
    }

    /// Returns a condition to expire as another process understands it: with an absolute path, and a named time zone.
    pub(crate) fn condition(&self, given: Option<String>) -> Result<Option<String>, CliError> {
        let folder = std::env::current_dir().unwrap_or_default();
        let zone = TimeZone::system();
        Ok(given.map(|text| expiry::settled(&text, &folder, &zone)))
    }

    /// Keeps the delivery of the alerts in the answer. [`App::close`] records it once the answer is flushed.
    pub(crate) fn deliver_later(&self, delivery: Option<Delivery>) {
        self.delivery.replace(delivery);
    }

    /// Flushes the answer, then lets the store do its work after an answer, then prints the store's notices.
    pub(crate) fn close(self, result: Result<Outcome, CliError>) -> Result<Outcome, CliError> {
        let flushed = self.ui.flush();
        let mut delivered = Ok(());
        if let Some(service) = self.service.get() {
            // An alert counts as shown once the answer is out.
            let shown = self.delivery.take();
            if let Some(shown) = shown.filter(|_| result.is_ok() && flushed.is_ok()) {
                delivered = service.record_delivery(shown);
            }
            service.record_recalls();
            // A long rebuild runs in another process, so that the prompt comes back at once.
            match service.left() {
                TailLeft::ToAnother => {}
                TailLeft::Much if self.rebuild_behind() => {}
                TailLeft::Much | TailLeft::Little => service.settle(),
            }
            service.embed_last();
            self.pass_on_notices(service);
            // "Not found" is an answer, too: the path of the store may be mistyped.
            let answered = match &result {
                Ok(_) => true,
                Err(error) => error.kind == ErrorKind::NotFound,
            };
            if answered && !service.is_there() && !self.global.tolerates_absence {
                let (dir, origin) = self.db()?;
                self.ui.note(&format!(
                    "there is no store at {} (from {origin}); the first write makes one",
                    dir.display()
                ));
            }
        }
        let damaged = self
            .service
            .get()
            .is_some_and(|service| service.damage().is_some());
        let outcome = result.map_err(|error| match error.kind {
            // The damage may hide the memory.
            ErrorKind::NotFound if damaged => error.of_kind(ErrorKind::Damage),
            _ => error,
        })?;
        flushed.map_err(|error| match self.service.get() {
            // A second try would make the change twice.
            Some(service) if service.has_written() => {
                error.with_hint("only the answer is lost: the change was made, see `icm log -l 1`")
            }
            _ => error,
        })?;
        delivered.map_err(|error| {
            CliError::from(error)
                .at("the alerts are shown again: that they were shown was not written")
        })?;
        // The answer comes from a part of the log. The exit code says so, because scripts read nothing else.
        Ok(if damaged { Outcome::Damage } else { outcome })
    }

    /// Starts a rebuild of the views in another process. Returns `true` if the process was started.
    fn rebuild_behind(&self) -> bool {
        let Ok((dir, _)) = self.db() else {
            return false;
        };
        let config = self.config_path();
        let config = config.filter(|(_, origin)| *origin != Origin::Default);
        background::rebuild(&dir, config.as_ref().map(|(path, _)| path.as_path()))
    }

    /// Prints the store's notices as notes on stderr.
    pub(crate) fn pass_on_notices(&self, service: &Service) {
        for notice in service.take_notices() {
            self.ui.note(&notice);
        }
    }
}

fn config_path(global: &GlobalArgs) -> Result<Option<(PathBuf, Origin)>, CliError> {
    if let Some(path) = &global.config {
        return Ok(Some((path.clone(), Origin::Flag("--config"))));
    }
    if let Some(path) = path_variable("ICM_CONFIG") {
        return Ok(Some((path, Origin::Env("ICM_CONFIG"))));
    }
    Ok(config::default_path()?.map(|path| (path, Origin::Default)))
}

fn path_variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

fn not_a_folder(dir: &Path, origin: &Origin) -> CliError {
    CliError::invalid(format!(
        "the store {} (from {origin}) is a file, not a folder",
        dir.display()
    ))
    .with_hint("name a folder; it is created by the first write")
}
