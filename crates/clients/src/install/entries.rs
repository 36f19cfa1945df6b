//! Reads the entries of icm in the files of clients.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::command::{Icm, is_icm};
use super::error::InstallError;
use super::file;
use super::jobs::{Job, local, server};
use super::machine::Machine;
use super::table;
use super::tasks::{self, Setting};
use super::text::Text;
use super::{Scope, What};
use crate::names::Client;

/// An entry called `icm` in a client's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The client that reads it.
    pub client: Client,
    /// The file.
    pub file: PathBuf,
    /// The program and its arguments; empty for a server that is not started, such as an HTTP server.
    pub command: Vec<String>,
    /// Variables that the entry adds.
    pub env: BTreeMap<String, String>,
    /// The folder in which the client starts the program.
    pub folder: PathBuf,
    /// `true` if the entry is in the user's file but counts in `folder` only.
    pub is_local: bool,
    /// `true` if the entry is in a file of a project, which may have another author.
    pub is_of_project: bool,
    /// `true` if the client passes only a few variables on.
    pub drops_env: bool,
}

impl Entry {
    /// Returns `true` if the program has the name of icm.
    pub fn is_icm(&self) -> bool {
        self.command.first().is_some_and(|program| is_icm(program))
    }

    /// Returns `true` if the entry may be started to see its answer. An entry of a project may name any program, or
    /// variables that change what a program does. It is started only if it is `icm` in `PATH` or this program, `icm`,
    /// run as a server.
    pub fn may_be_started(&self, icm: &Path) -> bool {
        let Some((program, words)) = self.command.split_first() else {
            return true;
        };
        let real = |path: &Path| path.canonicalize().ok();
        let is_known = program == "icm"
            || real(Path::new(program)).is_some_and(|path| Some(path) == real(icm));
        let serves = words.first().is_some_and(|word| word == "serve");
        let is_plain = self.env.keys().all(|name| name.starts_with("ICM_"));
        !self.is_of_project || (is_known && serves && is_plain)
    }

    fn of(
        server: &table::Server,
        client: Client,
        file: &Path,
        folder: &Path,
        entry: &Value,
    ) -> Entry {
        let inner = server::inner(&server.shape, entry);
        let env = inner.get(server.shape.env).and_then(Value::as_object);
        let env = env.into_iter().flatten().filter_map(|(name, value)| {
            let value = value.as_str()?.to_owned();
            Some((name.clone(), value))
        });
        Entry {
            client,
            file: file.to_path_buf(),
            command: server::command(&server.shape, entry).unwrap_or_default(),
            env: env.collect(),
            folder: folder.to_path_buf(),
            is_local: false,
            is_of_project: false,
            drops_env: table::row(client).drops_env,
        }
    }

    /// Returns the environment in which the client starts the program.
    pub(super) fn environment(&self, machine: &Machine) -> BTreeMap<String, String> {
        let is_kept = |name: &str| !self.drops_env || KEPT.contains(&name);
        let kept = machine.env.iter().filter(|(name, _)| is_kept(name));
        let mut env: BTreeMap<String, String> = kept
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        env.extend(self.env.clone());
        env
    }
}

/// Variables that Codex passes on, and variables that every program on Windows needs.
const KEPT: [&str; 15] = [
    "HOME",
    "LANG",
    "PATH",
    "PWD",
    "TERM",
    "USER",
    "LOGNAME",
    "SHELL",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "SYSTEMROOT",
    "SystemRoot",
    "TEMP",
    "TMP",
];

/// Returns the entries called `icm` in the user's files and in those of `project`, with the files that cannot be read.
pub fn entries(
    project: Option<&Path>,
    machine: &Machine,
) -> Vec<(Client, PathBuf, Result<Entry, InstallError>)> {
    let icm = Icm {
        program: "icm".to_owned(),
        flags: Vec::new(),
        os: machine.os,
    };
    let scopes = [Scope::User]
        .into_iter()
        .chain(project.map(|root| Scope::Project(root.to_path_buf())));
    let mut found: Vec<(Client, PathBuf, Result<Entry, InstallError>)> = Vec::new();
    for scope in scopes {
        let setting = Setting {
            machine,
            scope: &scope,
            icm: &icm,
            env: &[],
            everywhere: true,
        };
        let folder = match &scope {
            Scope::User => machine.home.clone(),
            Scope::Project(root) => root.clone(),
        };
        for client in Client::ALL {
            for task in tasks::of(*client, What::Server, &setting) {
                let read = match task.job {
                    Job::Server(server, _) => read(server, *client, &task.file, &folder),
                    Job::Local(server) => read_local(server, *client, &task.file),
                    _ => continue,
                };
                let file = task.file;
                match read {
                    Ok(mut entries) => {
                        for entry in &mut entries {
                            entry.is_of_project = matches!(scope, Scope::Project(_));
                        }
                        let new = entries.into_iter().filter(|entry| !is_known(&found, entry));
                        let new: Vec<_> = new.collect();
                        found.extend(new.into_iter().map(|it| (*client, file.clone(), Ok(it))));
                    }
                    // A file with two readers has the same error twice.
                    Err(_) if found.iter().any(|it| (it.0, &it.1) == (*client, &file)) => {}
                    Err(error) => found.push((*client, file, Err(error))),
                }
            }
        }
    }
    found
}

/// Returns `true` if the entry was found before: two places of the table may be one file.
fn is_known(found: &[(Client, PathBuf, Result<Entry, InstallError>)], entry: &Entry) -> bool {
    let mut known = found.iter().filter_map(|(_, _, known)| known.as_ref().ok());
    known.any(|known| {
        (known.client, &known.file, known.is_local) == (entry.client, &entry.file, entry.is_local)
            && (!entry.is_local || known.folder == entry.folder)
    })
}

fn parse(server: &table::Server, path: &Path) -> Result<Option<Value>, InstallError> {
    let Some(bytes) = file::read(path)? else {
        return Ok(None);
    };
    let text = Text::new(Some(&bytes))?;
    server.format.parse(&text.plain).map(Some)
}

fn read(
    server: &table::Server,
    client: Client,
    path: &Path,
    folder: &Path,
) -> Result<Vec<Entry>, InstallError> {
    let value = parse(server, path)?.unwrap_or_default();
    let found = server::entry(server, &value).into_iter();
    Ok(found
        .map(|(_, entry)| Entry::of(server, client, path, folder, entry))
        .collect())
}

fn read_local(
    server: &table::Server,
    client: Client,
    path: &Path,
) -> Result<Vec<Entry>, InstallError> {
    let value = parse(server, path)?.unwrap_or_default();
    let found = local::entries(server, &value).into_iter();
    Ok(found
        .map(|(folder, _, entry)| Entry {
            is_local: true,
            ..Entry::of(server, client, path, Path::new(folder), entry)
        })
        .collect())
}
