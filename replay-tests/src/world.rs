//! Machines that learn from each other. What a person does on a machine is a line of the script language, in which `$12`
//! is the 12th memory and `%12` the 12th position, both counted round.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use icm_api::error::{Result, ServiceError};
use icm_api::{Caller, ExportSince, ListRequest, Memory, NoProgress, VerifyReport};
use icm_log::Log;
use icm_log::disk::RealDisk;
use icm_service::{ExportFile, Service};

use crate::script::{Command, Run};

/// A machine with a store.
pub struct Machine {
    /// The store, its clock and its randomness.
    pub run: Run,
    exports: usize,
    folder: tempfile::TempDir,
}

/// Accepts the errors of a command that has nothing to do, and no others.
///
/// # Panics
/// If the error is another one.
pub fn may_refuse<T>(done: Result<T>) -> Option<T> {
    let refused = |error: &ServiceError| {
        matches!(
            error,
            ServiceError::Invalid { .. }
                | ServiceError::NotFound { .. }
                | ServiceError::Nothing { .. }
        )
    };
    match done {
        Err(error) if !refused(&error) => panic!("{error}"),
        done => done.ok(),
    }
}

impl Machine {
    /// Makes a machine with an empty store.
    pub fn new(seed: usize) -> Machine {
        Machine {
            run: Run::new(seed as u64),
            exports: 0,
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    /// Runs a line of the script language, which may have nothing to do. Only changes of memories that the line picks
    /// may be refused.
    ///
    /// # Panics
    /// If the line has a mistake, or the command fails.
    pub fn act(&mut self, line: &str) {
        let command: Command = line.parse().unwrap_or_else(|why| panic!("{why}: {line}"));
        let done = self.run.try_step(&command);
        let needs_none = ["store", "recall", "decay", "prune", "rebuild", "drop-views"];
        if needs_none.contains(&line.split(' ').next().unwrap_or_default()) {
            done.unwrap_or_else(|error| panic!("{error}: {line}"));
        } else {
            may_refuse(done);
        }
    }

    /// Returns the folder of the store.
    pub fn dir(&self) -> PathBuf {
        self.run.dir()
    }

    /// Returns the open store.
    pub fn service(&self) -> &Service {
        self.run.service()
    }

    /// Returns the log of the store.
    pub fn log(&self) -> Log {
        Log::open(Arc::new(RealDisk), &self.dir()).expect("it opens")
    }

    /// Returns all memories, also forgotten ones.
    pub fn rows(&self) -> Vec<Memory> {
        let request = ListRequest {
            forgotten: true,
            ..ListRequest::default()
        };
        self.service().list(&request).expect("it lists")
    }

    /// Returns the newest position.
    pub fn end(&self) -> u64 {
        self.run.basis().position
    }

    /// Verifies the store.
    pub fn verified(&self) -> VerifyReport {
        self.service().verify(&NoProgress).expect("it verifies")
    }

    /// Writes an export; `None` if a moment or heads are asked for that this store does not have.
    pub fn export(&mut self, since: &ExportSince) -> Option<PathBuf> {
        self.exports += 1;
        let path = self.folder.path().join(format!("export-{}", self.exports));
        let mut file = std::fs::File::create(&path).expect("created");
        match self.service().export_log(since, &mut file, &NoProgress) {
            Ok(_) => Some(path),
            Err(ServiceError::Invalid { .. }) if !matches!(since, ExportSince::Start) => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// Imports an export. Returns `true` if any of it was new.
    pub fn take(&mut self, export: &Path) -> bool {
        self.run.env().advance_ms(1_000);
        let file = ExportFile::open(export).expect("it is there");
        let service = self.service();
        let taken = service.import_log(&Caller::default(), &file, false, &NoProgress);
        taken.expect("imported").added > 0
    }
}

/// Lets machine `to` import everything that machine `from` knows. Returns `true` if any of it was new.
pub fn carry(machines: &mut [Machine], from: usize, to: usize) -> bool {
    let export = machines[from].export(&ExportSince::Start);
    machines[to].take(&export.expect("it exports"))
}

/// Lets all machines exchange until nothing is new.
pub fn meet(machines: &mut [Machine]) {
    let mut new = true;
    while std::mem::take(&mut new) {
        for from in 0..machines.len() {
            for to in (0..machines.len()).filter(|to| *to != from) {
                new |= carry(machines, from, to);
            }
        }
    }
}
