//! The table of clients: the places and shapes of their servers, hooks, rules and skills.
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
    /// Folders and files; one of them shows that the client is installed.
    pub(super) seen: &'static [&'static str],
    /// Programs; one of them in `PATH` shows that the client is installed.
    pub(super) programs: &'static [&'static str],
    /// `true` if the client starts a server with only a few variables, so the entry must name the others.
    pub(super) drops_env: bool,
    /// `true` if the user's file also has servers for single folders.
    pub(super) has_local: bool,
    /// One per place where the client can be installed.
    pub(super) servers: &'static [Server],
    pub(super) hooks: Option<Hooks>,
    pub(super) rules: Pair,
    /// The folders that hold skills.
    pub(super) skills: Pair,
    /// Instruction for a person to check the entry.
    pub(super) check: &'static str,
}

/// A place for the user and one for a project; an empty place does not exist.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) user: &'static str,
    pub(super) project: &'static str,
}

/// A file with servers.
#[derive(Debug)]
pub(super) struct Server {
    /// Places of the user's file. The first existing one is written, or else the first.
    pub(super) user: &'static [&'static str],
    /// Places in a project.
    pub(super) project: &'static [&'static str],
    /// Folders and files that show this installation among several; empty if there is only one.
    pub(super) seen: &'static [&'static str],
    pub(super) format: Format,
    /// Path of keys to the servers.
    pub(super) keys: &'static [&'static str],
    pub(super) shape: Shape,
}

/// The members of an entry, in their order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// Members at the start.
    pub(super) before: &'static [Member],
    /// The name of the program's member.
    pub(super) command: &'static str,
    /// The name of the member for arguments; `None` if the program's member is a list with them.
    pub(super) args: Option<&'static str>,
    /// The name of the member for the environment.
    pub(super) env: &'static str,
    /// Members at the end.
    pub(super) after: &'static [Member],
    /// `true` if servers are a list, and each has a member `name`.
    pub(super) in_list: bool,
}

/// A member with the same value on every machine.
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
    /// Places of the user's file or folder. The first existing one is written, or else the first.
    pub(super) user: &'static [&'static str],
    /// Places in a project; empty if there are none.
    pub(super) project: &'static [&'static str],
    pub(super) style: Style,
    /// Time units per second: 1 or 1000.
    pub(super) per_second: u32,
    /// An event with a limit of the client, and its most seconds.
    pub(super) limit: Option<(&'static str, u32)>,
}

/// A form of writing hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `hooks.EVENT[].hooks[]`, as in Claude Code.
    Groups,
    /// `hooks.EVENT[]` with a command per shell, as in Copilot.
    Shells,
    /// `hooks.EVENT[]`, as in Cursor.
    Flat,
    /// `hooks.EVENT[]` without a timeout, as in Windsurf.
    Quiet,
    /// `[[hooks]]` in TOML.
    Tables,
    /// One script per event, in a folder.
    Scripts,
    /// A JavaScript module, in a folder.
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

    /// A client with hooks but without a file for them needs a reason.
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
        // The file of Antigravity still changes between versions. VS Code runs the hooks of Claude Code and Copilot
        // CLI, depending on the chosen agent. Kiro has hooks only within a single agent of its user.
        assert_eq!(without, [Client::Antigravity, Client::VsCode, Client::Kiro]);
    }
}
