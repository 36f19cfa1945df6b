//! The entries of icm that are in clients' files, as the clients read them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::command::{Icm, is_icm};
use super::error::InstallError;
use super::file;
use super::jobs::{Job, server};
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
    /// The program and its arguments; empty for a server that is not started, such as one over HTTP.
    pub command: Vec<String>,
    /// The variables that the entry adds.
    pub env: BTreeMap<String, String>,
    /// The folder that the client starts it in.
    pub folder: PathBuf,
    /// True if the client passes a handful of variables on and no others.
    pub drops_env: bool,
}

impl Entry {
    /// Returns whether the program is an icm by its name.
    pub fn is_icm(&self) -> bool {
        self.command.first().is_some_and(|program| is_icm(program))
    }

    /// Returns the environment that the client starts the program with.
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

/// The variables that Codex passes on, and those without which no program starts on Windows.
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

/// Returns the entries called `icm` in the user's files and in those of `project`, and the files that cannot be read.
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
                let Job::Server(server, _) = task.job else {
                    continue;
                };
                if found
                    .iter()
                    .any(|(known, file, _)| (*known, file) == (*client, &task.file))
                {
                    continue;
                }
                match read(server, *client, &task.file, &folder) {
                    Ok(None) => {}
                    Ok(Some(entry)) => found.push((*client, task.file, Ok(entry))),
                    Err(error) => found.push((*client, task.file, Err(error))),
                }
            }
        }
    }
    found
}

fn read(
    server: &table::Server,
    client: Client,
    path: &Path,
    folder: &Path,
) -> Result<Option<Entry>, InstallError> {
    let Some(bytes) = file::read(path)? else {
        return Ok(None);
    };
    let text = Text::new(Some(&bytes))?;
    let value = server.format.parse(&text.plain)?;
    let Some((_, entry)) = server::entry(server, &value) else {
        return Ok(None);
    };
    let env = entry.get(server.shape.env).and_then(Value::as_object);
    let env = env.into_iter().flatten().filter_map(|(name, value)| {
        let value = value.as_str()?.to_owned();
        Some((name.clone(), value))
    });
    Ok(Some(Entry {
        client,
        file: path.to_path_buf(),
        command: server::command(&server.shape, entry).unwrap_or_default(),
        env: env.collect(),
        folder: folder.to_path_buf(),
        drops_env: table::row(client).drops_env,
    }))
}
