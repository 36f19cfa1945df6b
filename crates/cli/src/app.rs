//! What every command has at hand: the flags, the configuration, the store and the way out.

use std::cell::OnceCell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use icm_api::Caller;
use icm_api::error::ServiceError;
use icm_server::AskOwner;
use icm_service::{Left, OpenOptions, Service};
use icm_wait::bounds;

use crate::background;
use crate::caller;
use crate::config::{self, Config};
use crate::error::{CliError, ErrorKind, Outcome};
use crate::global::GlobalArgs;
use crate::project;
use crate::ui::Ui;

/// How a store is opened.
type Open = fn(OpenOptions) -> Result<Service, ServiceError>;

/// One run of the program.
pub(crate) struct App {
    pub(crate) ui: Ui,
    pub(crate) global: GlobalArgs,
    pub(crate) config: Config,
    /// Why the config file says nothing, in a command that goes on without it.
    pub(crate) config_problem: Option<CliError>,
    service: OnceCell<Arc<Service>>,
}

/// Where a value comes from.
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
    /// Nobody said anything.
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
    /// Asks whether to go on with what was shown; without a terminal that is an error.
    pub(crate) fn agreed(&self, question: &str, unconfirmed: &str) -> Result<bool, CliError> {
        self.ui.confirm(question).ok_or_else(|| {
            CliError::invalid(format!("{unconfirmed} has to be confirmed"))
                .with_hint("give `--yes`, or `--dry-run` to only look")
        })
    }

    /// Reads the configuration; the store stays closed until a command asks for it.
    pub(crate) fn new(global: GlobalArgs) -> Result<App, CliError> {
        let read = match config_path(&global) {
            // A file that is about to be written need not exist yet, nor be right.
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
        })
    }

    /// The store's folder and who chose it.
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

    /// The config file and who chose it; `None` without a home folder that is known by an absolute path.
    pub(crate) fn config_path(&self) -> Option<(PathBuf, Origin)> {
        config_path(&self.global).ok().flatten()
    }

    /// The store, opened at the first call.
    pub(crate) fn service(&self) -> Result<&Arc<Service>, CliError> {
        self.open(Service::open, false, AskOwner::All)
    }

    /// As [`App::service`], for one store, update or recall.
    pub(crate) fn service_to_ask(&self) -> Result<&Arc<Service>, CliError> {
        self.open(Service::open_to_ask, false, AskOwner::All)
    }

    /// As [`App::service`], for a process that goes on and has views of its own.
    pub(crate) fn service_to_serve(&self) -> Result<&Arc<Service>, CliError> {
        self.open(Service::open, false, AskOwner::Writes)
    }

    /// As [`App::service`], for a hook, which waits for nobody long: a client waits for it.
    pub(crate) fn service_for_hook(&self) -> Result<&Arc<Service>, CliError> {
        let open = |options| {
            Service::open(OpenOptions {
                lock_wait: bounds::MOMENT,
                ..options
            })
        };
        self.open(open, false, AskOwner::All)
    }

    /// As [`App::service`], but nothing is ever written.
    pub(crate) fn service_read_only(&self) -> Result<&Arc<Service>, CliError> {
        self.open(Service::open, true, AskOwner::Nothing)
    }

    /// The store as another machine knew it.
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
            // A folder that is icm's by name, whatever else a platform keeps in it.
            service = service.in_any_folder();
        }
        Ok(self.service.get_or_init(|| Arc::new(service)))
    }

    /// The same store with other settings, `key=value` each, beside the one that is open.
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

    /// Who is calling.
    pub(crate) fn caller(&self) -> Result<Caller, CliError> {
        caller::from_environment()
    }

    /// Who is calling, with the project that the working folder is in.
    pub(crate) fn caller_here(&self) -> Result<Caller, CliError> {
        let folder = std::env::current_dir().ok();
        self.caller_in(folder.as_deref())
    }

    /// The same, in this folder.
    pub(crate) fn caller_in(&self, folder: Option<&Path>) -> Result<Caller, CliError> {
        let cache = self.db().ok().map(|(dir, _)| dir.join("cache"));
        let project_id = folder.and_then(|folder| project::id_of(folder, cache.as_deref()));
        Ok(Caller {
            shallow: project_id.is_none() && folder.is_some_and(project::is_shallow),
            project_id,
            ..self.caller()?
        })
    }

    /// A scope as it was given, where `project` and `session` stand for those that one is in.
    pub(crate) fn scope(&self, given: Option<String>) -> Result<Option<String>, CliError> {
        match given.as_deref().map(str::trim) {
            Some("project") => Ok(self.caller_here()?.scope(given)?),
            Some("session") => Ok(self.caller()?.scope(given)?),
            _ => Ok(given),
        }
    }

    /// Brings the answer out, then lets the store do what may follow an answer, then passes on
    /// what it has to say.
    pub(crate) fn close(self, result: Result<Outcome, CliError>) -> Result<Outcome, CliError> {
        let flushed = self.ui.flush();
        if let Some(service) = self.service.get() {
            service.record_recalls();
            // Who waits for the prompt need not wait for thousands of rows.
            match service.left() {
                Left::ToAnother => {}
                Left::Much if self.rebuild_behind() => {}
                Left::Much | Left::Little => service.settle(),
            }
            service.embed_last();
            self.pass_on_notices(service);
            // Nothing there is an answer of its own: the path may be mistyped.
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
            // It may be there, behind the damage.
            ErrorKind::NotFound if damaged => error.of_kind(ErrorKind::Damage),
            _ => error,
        })?;
        flushed.map_err(|error| match self.service.get() {
            // Whoever tries again should not do it twice.
            Some(service) if service.has_written() => {
                error.with_hint("only the answer is lost: the change was made, see `icm log -l 1`")
            }
            _ => error,
        })?;
        // The answer was of a part of the log: whoever reads only the exit code has to know.
        Ok(if damaged { Outcome::Damage } else { outcome })
    }

    /// Begins to build the views anew in another process. Whether that was begun.
    fn rebuild_behind(&self) -> bool {
        let Ok((dir, _)) = self.db() else {
            return false;
        };
        let config = self.config_path();
        let config = config.filter(|(_, origin)| *origin != Origin::Default);
        background::rebuild(&dir, config.as_ref().map(|(path, _)| path.as_path()))
    }

    /// What the store has to tell the user, as notes on stderr.
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
