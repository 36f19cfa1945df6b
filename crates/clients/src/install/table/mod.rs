//! The table of clients: where each keeps servers, hooks, rules and skills, and in which shape.
//!
//! A client is a row of data. A new client needs no code unless its entries have a shape that no other client has.

mod common;
mod editors;
mod terminal;

use super::format::Format;
use crate::names::Client;

/// A client and its files.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) client: Client,
    /// Folders and files of which one shows that the client is installed.
    pub(super) seen: &'static [&'static str],
    /// Programs of which one in `PATH` shows that the client is installed.
    pub(super) programs: &'static [&'static str],
    /// True if the client starts a server with a handful of variables only, so that the entry has to name the others.
    pub(super) drops_env: bool,
    /// True if the user's file has servers for one folder alone, too.
    pub(super) has_local: bool,
    /// One for each place where the client can be installed.
    pub(super) servers: &'static [Server],
    pub(super) hooks: Option<Hooks>,
    pub(super) rules: Pair,
    /// The folders that hold skills.
    pub(super) skills: Pair,
    /// How a person checks the entry.
    pub(super) check: &'static str,
}

/// A place of the user and one of a project; an empty one does not exist.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) user: &'static str,
    pub(super) project: &'static str,
}

/// A file with servers.
#[derive(Debug)]
pub(super) struct Server {
    /// Places of the user's file, of which the first that exists is written, else the first one.
    pub(super) user: &'static [&'static str],
    /// The same in a project.
    pub(super) project: &'static [&'static str],
    /// Folders and files that show this installation of several; empty for the only one.
    pub(super) seen: &'static [&'static str],
    pub(super) format: Format,
    /// The way to the servers.
    pub(super) keys: &'static [&'static str],
    pub(super) shape: Shape,
}

/// The members of an entry, in their order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Members that stand first.
    pub(super) before: &'static [Member],
    /// The name of the program's member.
    pub(super) command: &'static str,
    /// The name of the member for arguments; `None` if the program's member is a list with them.
    pub(super) args: Option<&'static str>,
    /// The name of the member for the environment.
    pub(super) env: &'static str,
    /// Members that stand last.
    pub(super) after: &'static [Member],
    /// True if servers are a list and each has a member `name`.
    pub(super) in_list: bool,
}

/// A member that is the same on every machine.
#[derive(Debug, Clone, Copy)]
pub(super) enum Member {
    Text(&'static str, &'static str),
    Texts(&'static str, &'static [&'static str]),
    Yes(&'static str),
    Number(&'static str, u32),
}

/// The files of a client's hooks. The events are those of [`crate::hooks::defaults`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Hooks {
    /// Places of the user's file or folder, of which the first that exists is written, else the first one.
    pub(super) user: &'static [&'static str],
    /// The same in a project; empty if there is none.
    pub(super) project: &'static [&'static str],
    pub(super) style: Style,
    /// Units of time in a second: 1 or 1000.
    pub(super) per_second: u32,
    /// Seconds that an event may take at most, where the client has a limit.
    pub(super) limit: Option<(&'static str, u32)>,
}

/// How hooks are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `hooks.EVENT[].hooks[]`, as Claude Code has it.
    Groups,
    /// `hooks.EVENT[]` with a command for each shell, as Copilot has it.
    Shells,
    /// `hooks.EVENT[]`, as Cursor has it.
    Flat,
    /// `hooks.EVENT[]` without a limit of time, as Windsurf has it.
    Quiet,
    /// `[[hooks]]` of TOML.
    Tables,
    /// A script for each event in a folder.
    Scripts,
    /// A module of JavaScript in a folder.
    Module,
}

/// Returns the row of a client.
pub(super) fn row(client: Client) -> &'static Row {
    let mut rows = terminal::ROWS.iter().chain(editors::ROWS);
    let row = rows.find(|row| row.client == client);
    row.expect("every client has a row")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_one_row_with_something_in_it() {
        assert_eq!(
            terminal::ROWS.len() + editors::ROWS.len(),
            Client::ALL.len()
        );
        for client in Client::ALL {
            let row = row(*client);
            assert!(!row.check.is_empty() && !row.seen.is_empty(), "{client:?}");
            assert!(
                !row.servers.is_empty() || !row.rules.user.is_empty(),
                "{client:?}"
            );
        }
    }

    /// A client with hooks and without a file for them needs a reason.
    #[test]
    fn a_file_of_hooks_belongs_to_a_client_that_has_events() {
        let mut without = Vec::new();
        for client in Client::ALL {
            let has_events = crate::hooks::defaults(*client).next().is_some();
            match row(*client).hooks {
                Some(_) => assert!(has_events, "{client:?}"),
                None if has_events => without.push(*client),
                None => {}
            }
        }
        // Antigravity's file still changes from version to version. VS Code runs the hooks of Claude Code and Copilot
        // CLI, by the agent that is chosen. Kiro has hooks within one agent of its user's alone.
        assert_eq!(without, [Client::Antigravity, Client::VsCode, Client::Kiro]);
    }
}
