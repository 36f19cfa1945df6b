//! The doctor: a look at everything a store stands on, with advice about each finding.
//!
//! The doctor never writes, never waits, and never needs the store to open. Each check looks for itself; a check that
//! cannot look says why.

mod disk;
mod files;
mod locks;
mod log;

use std::path::Path;

use icm_log::Log;
use icm_log::disk::Disk;
use icm_log::env::Env;
use icm_projections::fold::fold_afresh;
use icm_projections::{ViewError, Views, ViewsState, inspect};

use crate::peer::PeerWatch;
use crate::service::store_folder;
use crate::service::{Ground, Service};
use crate::snapshot::{QueryError, TAIL_MAX, catching_panics};
use icm_api::error::{ServiceError, plain};
use icm_api::{Check, CheckStatus, Checkup, Progress};
use icm_guard::shell;

/// The checks so far.
struct Checks {
    list: Vec<Check>,
    damaged: bool,
}

/// The store that is looked at.
struct Patient<'a> {
    dir: &'a Path,
    whole: bool,
    disk: &'a dyn Disk,
    env: &'a dyn Env,
    progress: &'a dyn Progress,
    peers: &'a dyn PeerWatch,
}

impl Patient<'_> {
    /// Returns a command line about this store.
    fn icm(&self, command: &str) -> String {
        format!("icm {command} --db {}", quoted(self.dir))
    }
}

impl Service {
    /// Looks at the store in `dir` without opening it for use. With `whole` every event and every byte of the views is
    /// read; else the ends of the log and the state of the files.
    pub fn doctor(
        dir: &Path,
        whole: bool,
        ground: &Ground,
        peers: &dyn PeerWatch,
        progress: &dyn Progress,
    ) -> Checkup {
        let patient = Patient {
            dir,
            whole,
            disk: &*ground.disk,
            env: &*ground.env,
            progress,
            peers,
        };
        let mut checks = Checks {
            list: Vec::new(),
            damaged: false,
        };
        if files::store(&patient, &mut checks) {
            checks.guarded("permissions", |checks| files::permissions(&patient, checks));
            checks.guarded("files", |checks| files::plain_files(&patient, checks));
            checks.guarded("log", |checks| log_and_views(&patient, ground, checks));
            checks.guarded("locks", |checks| locks::locks(&patient, checks));
            checks.guarded("server", |checks| locks::server(&patient, checks));
        }
        checks.guarded("space", |checks| disk::space(&patient, checks));
        checks.guarded("place", |checks| disk::place(&patient, checks));
        let problem = |check: &Check| check.status == CheckStatus::Problem;
        Checkup {
            ok: !checks.list.iter().any(problem),
            checks: checks.list,
            damaged: checks.damaged,
        }
    }
}

fn log_and_views(patient: &Patient<'_>, ground: &Ground, checks: &mut Checks) {
    let opened = Log::open(ground.disk.clone(), patient.dir);
    let log = match opened {
        Ok(log) => log,
        Err(error) => return checks.failed("log", &error.into()),
    };
    log::log(patient, &log, checks);
    log::clock(patient, &log, checks);
    views(patient, &log, checks);
}

fn views(patient: &Patient<'_>, log: &Log, checks: &mut Checks) {
    let rebuild = || Some(patient.icm("rebuild"));
    let dir = patient.dir.join("views");
    if let Some(odd) = store_folder::odd_file_below(&dir) {
        let odd = odd.strip_prefix(patient.dir).unwrap_or(&odd);
        let why = format!(
            "{} is not a regular file: they cannot be used",
            odd.display()
        );
        return checks.warning("views", why, rebuild());
    }
    let newest = log.tip().map_or(0, |tip| tip.position.0);
    let found = inspect(&dir, log, patient.whole);
    match &found.state {
        ViewsState::None if newest <= TAIL_MAX => {
            checks.ok("views", "none on disk: so small a store needs none");
        }
        ViewsState::None => {
            let why = "there are none on disk: the next answer builds them".to_owned();
            checks.warning("views", why, rebuild());
        }
        ViewsState::Busy => checks.ok("views", "a process is writing them now"),
        ViewsState::Cut => {
            let why = "a process was stopped while it wrote them: the next answer puts them right";
            checks.warning("views", why.to_owned(), None);
        }
        ViewsState::Unusable(why) => {
            let why = format!("not usable, the next answer rebuilds them: {}", plain(why));
            checks.warning("views", why, rebuild());
        }
        ViewsState::Usable { position, tally } => {
            let behind = newest.saturating_sub(position.0);
            if let Some(newer) = &tally.newer {
                let why = format!("an event that this version does not understand: {newer}");
                checks.warning("views", format!("{why}; update icm"), None);
            } else if let Some(why) = patient.whole.then(|| wrong(patient, &dir, log)).flatten() {
                checks.warning("views", why, rebuild());
            } else if behind > TAIL_MAX {
                let why = format!("at @{position}, {behind} events behind: answers are slower");
                checks.warning("views", why, rebuild());
            } else {
                checks.ok("views", format!("at @{position}, {behind} events behind"));
            }
        }
    }
    if !found.left_over.is_empty() {
        let names = found.left_over.join(", ");
        let why = format!("left over from an earlier build: {names}");
        checks.warning("views", why, rebuild());
    }
}

/// Returns the trouble with the views, followed in memory to the end of the log: an unusable file, or a difference from
/// a fresh fold of the log.
fn wrong(patient: &Patient<'_>, dir: &Path, log: &Log) -> Option<String> {
    patient.progress.start("folding the log afresh", None);
    let compared = catching_panics(|| {
        let mut views = Views::open(dir, log)?;
        views.follow(log)?;
        let fresh = fold_afresh(log, &mut |_| {})?;
        // Another process may append meanwhile; a log that stops is a finding of its own.
        let same_place = views.tally().position == fresh.position;
        Ok(same_place && *views.tally() != fresh)
    });
    patient.progress.finish();
    match compared {
        Ok(false) => None,
        Ok(true) => Some("they say something else than a fresh fold of the log".to_owned()),
        // The log has its own findings, or a process writes the views now.
        Err(QueryError::Service(_)) => None,
        Err(QueryError::View(error))
            if !matches!(error, ViewError::Unusable { .. } | ViewError::Io { .. }) =>
        {
            None
        }
        Err(QueryError::View(error)) => Some(format!(
            "not usable, the next answer rebuilds them: {}",
            plain(error.to_string())
        )),
    }
}

impl Checks {
    fn ok(&mut self, name: &'static str, message: impl Into<String>) {
        self.push(name, CheckStatus::Ok, message.into(), None);
    }

    fn warning(&mut self, name: &'static str, message: String, command: Option<String>) {
        self.push(name, CheckStatus::Warning, message, command);
    }

    fn problem(&mut self, name: &'static str, message: String, command: Option<String>) {
        self.push(name, CheckStatus::Problem, message, command);
    }

    fn push(
        &mut self,
        name: &'static str,
        status: CheckStatus,
        message: String,
        command: Option<String>,
    ) {
        self.list.push(Check {
            name: name.to_owned(),
            status,
            message,
            command,
        });
    }

    /// Adds the problem of a check that could not look.
    fn failed(&mut self, name: &'static str, error: &ServiceError) {
        self.damaged |= matches!(error, ServiceError::Damaged { .. });
        let message = match error.hint() {
            Some(hint) => format!("{}; {hint}", plain(error)),
            None => plain(error),
        };
        self.problem(name, message, None);
    }

    /// Runs a check. If it panics, that is a bug of ours, and the other checks still run.
    fn guarded(&mut self, name: &'static str, make: impl FnOnce(&mut Checks)) {
        let make = std::panic::AssertUnwindSafe(|| make(self));
        if std::panic::catch_unwind(make).is_err() {
            let why = "it could not be looked at: a bug in icm, please report".to_owned();
            self.problem(name, why, None);
        }
    }
}

/// Returns a path in the form that a shell takes.
fn quoted(path: &Path) -> String {
    shell::word(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::peer::NoPeer;
    use crate::service::OpenOptions;
    use crate::system::SystemEnv;
    use icm_api::{Caller, NoProgress, StoreRequest};

    /// A clock that runs behind.
    struct Behind(u64);

    impl Env for Behind {
        fn now_ms(&self) -> u64 {
            SystemEnv.now_ms() - self.0
        }

        fn fill_random(&self, bytes: &mut [u8]) {
            SystemEnv.fill_random(bytes);
        }

        fn machine_id(&self) -> Option<String> {
            SystemEnv.machine_id()
        }
    }

    #[test]
    fn a_clock_behind_the_newest_event_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = OpenOptions {
            dir: folder.path().join("store"),
            lock_wait: std::time::Duration::from_secs(5),
            read_only: false,
        };
        let dir = options.dir.clone();
        let request = StoreRequest::new("t", "c");
        let service = Service::open(options).expect("it opens");
        service
            .store(&Caller::default(), request)
            .expect("it stores");
        drop(service);
        for (minutes, status, words) in [
            (0, CheckStatus::Ok, "not behind"),
            (2, CheckStatus::Warning, ": set it"),
            (25 * 60, CheckStatus::Warning, "or a new chain begins"),
        ] {
            let ground = Ground {
                env: Arc::new(Behind(minutes * 60_000)),
                ..Ground::system()
            };
            let checkup = Service::doctor(&dir, false, &ground, &NoPeer, &NoProgress);
            let clock = checkup.checks.iter().find(|check| check.name == "clock");
            let clock = clock.expect("it was looked at");
            assert_eq!(clock.status, status, "{clock:?}");
            assert!(clock.message.ends_with(words) || minutes == 0, "{clock:?}");
            assert!(checkup.ok && !checkup.damaged, "{checkup:?}");
        }
    }
}
