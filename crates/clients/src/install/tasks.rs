//! The pieces and files of a client on a machine.

use std::path::{Path, PathBuf};

use super::command::Icm;
use super::jobs::{Job, OWN_MARK, server};
use super::machine::{Machine, Os};
use super::table::{Hooks, Pair, Row, Server, Style, row};
use super::{Scope, What};
use crate::names::Client;

const RULES: &str = include_str!("texts/rules.md");
/// The skill of the plugins, the same for every kind of installation.
const SKILL: &str = include_str!("../../../../plugins/icm/skills/icm/SKILL.md");
const MODULE: &str = include_str!("texts/module.js");

/// Variables that lead icm to its folders, for clients that drop the environment.
const FOLDERS: [&str; 3] = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"];

/// A piece and its file.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) client: Client,
    pub(super) what: What,
    pub(super) file: PathBuf,
    pub(super) job: Job,
}

/// The values that all tasks of a run share.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    pub(super) machine: &'a Machine,
    pub(super) scope: &'a Scope,
    pub(super) icm: &'a Icm,
    /// Variables for every entry.
    pub(super) env: &'a [(String, String)],
    /// `true` to name every file that may hold a piece, `false` for the files to write.
    pub(super) everywhere: bool,
}

/// Returns the folder, file or program that shows that a client is installed.
pub(super) fn found(client: Client, machine: &Machine) -> Option<PathBuf> {
    let row = row(client);
    let folders = row.seen.iter().flat_map(|place| machine.paths(place));
    let programs = row.programs.iter().filter_map(|name| machine.program(name));
    folders.filter(|path| path.exists()).chain(programs).next()
}

/// Returns the tasks of a client for a kind of piece; empty if the client does not support it in this scope.
pub(super) fn of(client: Client, what: What, setting: &Setting<'_>) -> Vec<Task> {
    let row = row(client);
    let task = |file, job| Task {
        client,
        what,
        file,
        job,
    };
    match what {
        What::Server => servers(row, setting),
        What::Hooks => row
            .hooks
            .as_ref()
            .map_or_else(Vec::new, |hooks| hooks_of(client, hooks, setting)),
        What::Rules => {
            let file = setting.place(row.rules);
            file.map(|file| task(file, Job::Block(RULES)))
                .into_iter()
                .collect()
        }
        What::Skill => {
            let folder = setting.place(row.skills);
            let own = |folder: PathBuf| {
                let text = SKILL.replacen(
                    "\n# ",
                    &format!("\n<!-- {OWN_MARK}; `icm uninstall` takes it out. -->\n\n# "),
                    1,
                );
                task(folder.join("icm").join("SKILL.md"), Job::Own(text, false))
            };
            folder.map(own).into_iter().collect()
        }
    }
}

/// Returns the reason why a client has no piece of this kind in this scope.
pub(super) fn lacks(client: Client, what: What, scope: &Scope) -> String {
    let row = row(client);
    let (elsewhere, thing) = match what {
        What::Server => (!row.servers.is_empty(), "MCP servers"),
        What::Hooks => (row.hooks.is_some(), "hooks"),
        What::Rules => (
            !row.rules.user.is_empty() || !row.rules.project.is_empty(),
            "a file of rules",
        ),
        What::Skill => (!row.skills.user.is_empty(), "a folder of skills"),
    };
    match (elsewhere, scope) {
        (true, Scope::User) => format!(
            "{} has {thing} in projects only: give --project",
            client.title()
        ),
        (true, Scope::Project(_)) => format!(
            "{} has {thing} for the user only: leave --project out",
            client.title()
        ),
        (false, _) => {
            let mut text = format!(
                "{} has no {}",
                client.title(),
                thing.trim_start_matches("a ")
            );
            if what == What::Server {
                let name = client.name();
                text.push_str(&format!(
                    ": `icm init --client {name} --mode rules` tells its agent of the command"
                ));
            }
            text
        }
    }
}

impl Setting<'_> {
    fn place(&self, pair: Pair) -> Option<PathBuf> {
        let place = match self.scope {
            Scope::User => pair.user,
            Scope::Project(_) => pair.project,
        };
        (!place.is_empty())
            .then(|| self.paths(place))
            .and_then(|paths| paths.into_iter().next())
    }

    fn paths(&self, place: &str) -> Vec<PathBuf> {
        match self.scope {
            Scope::User => self.machine.paths(place),
            Scope::Project(root) => vec![
                place
                    .split('/')
                    .fold(root.clone(), |path, part| path.join(part)),
            ],
        }
    }

    fn choices(
        &self,
        user: &'static [&'static str],
        project: &'static [&'static str],
    ) -> &'static [&'static str] {
        match self.scope {
            Scope::User => user,
            Scope::Project(_) => project,
        }
    }

    /// Returns the first existing file, or else the first; all with `everywhere`.
    fn choose(&self, paths: Vec<PathBuf>) -> Vec<PathBuf> {
        if self.everywhere {
            return paths;
        }
        let there = paths.iter().position(|path| path.exists()).unwrap_or(0);
        paths.into_iter().nth(there).into_iter().collect()
    }
}

fn servers(row: &'static Row, setting: &Setting<'_>) -> Vec<Task> {
    let mut tasks = Vec::new();
    for server in row.servers {
        let choices = setting.choices(server.user, server.project);
        let many = choices.iter().any(|place| place.starts_with("{editor}"));
        let files: Vec<PathBuf> = match (many, choices.first()) {
            (_, None) => continue,
            (true, Some(place)) => setting.paths(place),
            (false, Some(_)) => {
                let all = choices.iter().flat_map(|place| setting.paths(place));
                setting.choose(all.collect())
            }
        };
        for (at, file) in files.into_iter().enumerate() {
            if setting.everywhere || is_seen(server, at, &file, setting) {
                tasks.push(server_task(row, server, file, setting));
            }
        }
    }
    if row.has_local && setting.everywhere && matches!(setting.scope, Scope::User) {
        let locals = tasks.iter().filter_map(|task| match task.job {
            Job::Server(server, _) => Some((server, task.file.clone())),
            _ => None,
        });
        let locals = locals.map(|(server, file)| Task {
            client: row.client,
            what: What::Server,
            file,
            job: Job::Local(server),
        });
        tasks.extend(locals.collect::<Vec<_>>());
    }
    if tasks.is_empty()
        && let Some(server) = row
            .servers
            .iter()
            .find(|server| !setting.choices(server.user, server.project).is_empty())
    {
        let places = setting.choices(server.user, server.project).iter();
        let file = setting.choose(places.flat_map(|place| setting.paths(place)).collect());
        tasks.extend(
            file.into_iter()
                .take(1)
                .map(|file| server_task(row, server, file, setting)),
        );
    }
    tasks
}

/// Returns `true` if this installation among several exists.
fn is_seen(server: &Server, at: usize, file: &Path, setting: &Setting<'_>) -> bool {
    if matches!(setting.scope, Scope::Project(_)) || file.exists() {
        return true;
    }
    let mut seen = server
        .seen
        .iter()
        .filter_map(|place| setting.machine.paths(place).into_iter().nth(at));
    seen.any(|path| path.exists())
}

fn server_task(row: &Row, server: &'static Server, file: PathBuf, setting: &Setting<'_>) -> Task {
    let mut env = setting.env.to_vec();
    if row.drops_env && matches!(setting.scope, Scope::User) {
        let folders = FOLDERS.iter().filter_map(|name| {
            let value = setting.machine.env.get(*name)?;
            Some(((*name).to_owned(), value.clone()))
        });
        env.extend(folders);
    }
    let node = server::node(
        &server.shape,
        &setting.icm.program,
        &["serve".to_owned()],
        &env,
    );
    Task {
        client: row.client,
        what: What::Server,
        file,
        job: Job::Server(server, node),
    }
}

fn hooks_of(client: Client, hooks: &'static Hooks, setting: &Setting<'_>) -> Vec<Task> {
    let choices = setting.choices(hooks.user, hooks.project);
    let files = setting.choose(
        choices
            .iter()
            .flat_map(|place| setting.paths(place))
            .collect(),
    );
    let mut tasks = Vec::new();
    for file in files {
        let task = |file, job| Task {
            client,
            what: What::Hooks,
            file,
            job,
        };
        match hooks.style {
            Style::Scripts => {
                for event in crate::hooks::defaults(client) {
                    let (name, text) = script(client, event, setting.icm);
                    tasks.push(task(file.join(name), Job::Own(text, true)));
                }
            }
            Style::Module => tasks.push(task(file, Job::Own(module(client, setting.icm), false))),
            _ => tasks.push(task(file, Job::Hooks(hooks, client, setting.icm.clone()))),
        }
    }
    tasks
}

/// Returns name and text of a hook script. Without icm the script does nothing.
fn script(client: Client, event: &str, icm: &Icm) -> (String, String) {
    let mark = format!("# {OWN_MARK}; `icm uninstall` takes it out.");
    if icm.os == Os::Windows {
        let command = icm.hook_of_powershell(client.name(), event);
        return (
            format!("{event}.ps1"),
            format!("{mark}\n$input | {command}\nexit 0\n"),
        );
    }
    let command = icm.hook(client.name(), event);
    (
        event.to_owned(),
        format!("#!/bin/sh\n{mark}\n{command} || exit 0\n"),
    )
}

fn module(client: Client, icm: &Icm) -> String {
    let json = |value: serde_json::Value| value.to_string();
    MODULE
        .replace("%COMMAND%", &json(icm.program.as_str().into()))
        .replace("%MORE%", &json(icm.flags.as_slice().into()))
        .replace("%CLIENT%", &json(client.name().into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::defaults;

    /// The plugin file of OpenCode and Kilo names its own events.
    #[test]
    fn the_module_runs_the_events_of_the_table() {
        let mut events = 0;
        for client in [Client::OpenCode, Client::Kilo] {
            for event in defaults(client) {
                assert!(MODULE.contains(&format!("\"{event}\"")), "{event}");
                events += 1;
            }
        }
        assert_eq!(events, 12);
    }
}
