//! `icm doctor --clients`

use std::path::{Path, PathBuf};

use icm_api::{Check, CheckStatus};
use icm_clients::install::{
    self, Entry, InstallError, Machine, Outcome, Plan, Request, Step, What,
};
use icm_clients::names::Client;
use icm_wait::bounds;

use crate::app::App;
use crate::commands::clients;
use crate::error::CliError;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns a check for each entry, for unreadable files, and for running servers of another version.
pub(super) fn checks(app: &App) -> Result<Vec<Check>, CliError> {
    let machine = clients::machine()?;
    let folder = std::env::current_dir().ok();
    let folder = folder.filter(|folder| *folder != machine.home);
    let store = app.db().ok().map(|(dir, _)| dir);
    let icm = clients::program(&machine)?;
    let mut checks = Vec::new();
    let entries = install::entries(folder.as_deref(), &machine);
    let readers: Vec<(Client, PathBuf)> = (entries.iter())
        .map(|(client, file, _)| (*client, file.clone()))
        .collect();
    for (client, file, entry) in entries {
        if !is_told(client, &file, &readers, &machine) {
            continue;
        }
        let name = client.name();
        let is_other = entry.as_ref().is_ok_and(|entry| !entry.is_icm());
        checks.push(match entry {
            Err(error) => check(
                name,
                CheckStatus::Problem,
                format!("{}: {error}", file.display()),
                None,
            ),
            Ok(entry) if is_other => {
                let command = entry.command.join(" ");
                let message = format!(
                    "{}: another server is called icm (`{command}`)",
                    place(&entry)
                );
                let mend = match entry.is_local {
                    true => mend(&entry),
                    false => format!("{} --force", mend(&entry)),
                };
                check(name, CheckStatus::Warning, message, Some(mend))
            }
            Ok(entry) if !entry.may_be_started(&icm) => {
                let message = format!(
                    "{}: not started, because another user may have written it: `{}`",
                    place(&entry),
                    entry.command.join(" ")
                );
                let mend = format!("icm init --client {name} --project");
                check(name, CheckStatus::Warning, message, Some(mend))
            }
            Ok(entry) => one(&entry, &machine, store.as_deref()),
        });
    }
    if checks.is_empty() {
        let message = "no client has an entry of icm".to_owned();
        checks.push(check(
            "clients",
            CheckStatus::Warning,
            message,
            Some("icm init".to_owned()),
        ));
    }
    for hook in hooks(app, &machine)? {
        // Servers and hooks may share a file.
        let is_told = |known: &Check| (&known.name, &known.message) == (&hook.name, &hook.message);
        if !checks.iter().any(is_told) {
            checks.push(hook);
        }
    }
    if !app.config.hooks.enabled {
        checks.push(check(
            "hooks",
            CheckStatus::Warning,
            "hooks are off for this user: agents get no memories unasked".to_owned(),
            Some("icm hook on".to_owned()),
        ));
    }
    for server in install::running(Path::new("/proc"), bounds::PROCESS) {
        let Some(version) = server.version.filter(|version| version != VERSION) else {
            continue;
        };
        let message = format!(
            "process {} is `icm serve` of version {version}, and this is {VERSION}: restart its client",
            server.pid
        );
        checks.push(check(
            "servers",
            CheckStatus::Warning,
            message,
            Some(format!("kill {}", server.pid)),
        ));
    }
    Ok(checks)
}

/// Returns `true` if a file is reported under this client. For a file of a project with several clients, those that are
/// not installed are left out, unless none is.
fn is_told(client: Client, file: &Path, readers: &[(Client, PathBuf)], machine: &Machine) -> bool {
    let is_found = |client| install::found(client, machine).is_some();
    let of_file = || (readers.iter()).filter_map(|(client, of)| (of == file).then_some(*client));
    is_found(client) || (!of_file().any(is_found) && of_file().next() == Some(client))
}

fn one(entry: &Entry, machine: &Machine, store: Option<&Path>) -> Check {
    let name = entry.client.name();
    let file = place(entry);
    let mend = || Some(mend(entry));
    // Clients wait for 5 to 60 seconds; a slower server is a problem by itself.
    let answer = match install::probe(entry, machine, bounds::PROCESS) {
        Ok(answer) => answer,
        Err(error) => {
            return check(
                name,
                CheckStatus::Problem,
                format!("{file}: {error}"),
                mend(),
            );
        }
    };
    let mut message = format!("{file}: {} {}", answer.name, answer.version);
    if let Some(theirs) = &answer.store {
        message.push_str(&format!(", store {}", theirs.display()));
    }
    if let (Some(theirs), Some(ours)) = (&answer.store, store)
        && !is_same(theirs, ours)
    {
        message.push_str(&format!(", but this shell's store is {}", ours.display()));
        return check(name, CheckStatus::Warning, message, mend());
    }
    if answer.version != VERSION {
        message.push_str(&format!(", and this icm is {VERSION}"));
        return check(name, CheckStatus::Warning, message, mend());
    }
    check(name, CheckStatus::Ok, message, None)
}

/// Returns the file of an entry, and the folder that the entry is for.
fn place(entry: &Entry) -> String {
    let file = entry.file.display();
    match entry.is_local {
        true => format!("{file}, for {} alone", entry.folder.display()),
        false => file.to_string(),
    }
}

/// Returns the command that repairs an entry. An entry for one folder overrides the user's, so that command removes the
/// entry.
fn mend(entry: &Entry) -> String {
    match entry.is_local {
        true => format!(
            "cd '{}' && claude mcp remove --scope local icm",
            entry.folder.display()
        ),
        false if entry.is_of_project => {
            format!("icm init --client {} --project", entry.client.name())
        }
        false => format!("icm init --client {}", entry.client.name()),
    }
}

/// Returns a check for each client with hooks of icm: the hooks must run this icm with this store, as `init` would
/// write them.
fn hooks(app: &App, machine: &Machine) -> Result<Vec<Check>, CliError> {
    let request = Request {
        clients: Client::ALL.to_vec(),
        what: vec![What::Hooks],
        env: clients::env(app)?,
        ..Request::new(clients::program(machine)?)
    };
    let plan = Plan::install(&request, machine, &clients::list()?)?;
    let mut checks: Vec<Check> = Vec::new();
    for step in &plan.steps {
        if let Some(error) = step.refused() {
            checks.extend(unreadable(step, error));
            continue;
        }
        let is = |wanted: fn(&Outcome) -> bool| {
            let mut pieces = step.pieces.iter();
            pieces.find(|piece| wanted(&piece.outcome))
        };
        let old = is(|outcome| matches!(outcome, Outcome::Updated));
        let Some(piece) = old.or_else(|| is(|outcome| matches!(outcome, Outcome::Same))) else {
            continue;
        };
        let (client, file) = (piece.client.name(), step.file.display());
        let new = match old {
            Some(_) => check(
                client,
                CheckStatus::Warning,
                format!("{file}: the hooks run another icm, or lead to another store"),
                Some(format!("icm init --client {client} --mode hook")),
            ),
            None => check(
                client,
                CheckStatus::Ok,
                format!("{file}: the hooks run this icm"),
                None,
            ),
        };
        // A client with a file for each hook is reported once, problems first.
        match checks.iter_mut().find(|known| known.name == client) {
            None => checks.push(new),
            Some(known) if known.status == CheckStatus::Ok => *known = new,
            Some(_) => {}
        }
    }
    Ok(checks)
}

/// Returns a check for a file that its client cannot parse either. Other reasons that stop `init` are no problem here.
fn unreadable(step: &Step, error: &InstallError) -> Option<Check> {
    let is_broken = matches!(
        error,
        InstallError::DoesNotParse { .. }
            | InstallError::DuplicateKey { .. }
            | InstallError::NotUtf8 { .. }
    );
    let piece = step.pieces.first().filter(|_| is_broken)?;
    let message = format!("{}: {error}", step.file.display());
    let name = piece.client.name();
    Some(check(name, CheckStatus::Problem, message, None))
}

fn is_same(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| -> PathBuf {
        path.canonicalize()
            .or_else(|_| std::path::absolute(path))
            .unwrap_or_else(|_| path.to_path_buf())
    };
    real(a) == real(b)
}

fn check(name: &str, status: CheckStatus, message: String, command: Option<String>) -> Check {
    Check {
        name: name.to_owned(),
        status,
        message,
        command,
    }
}
