//! The pieces of icm in files of clients: a server, hooks, a block of rules, a file of icm's own.

mod block;
mod hooks;
pub(super) mod local;
pub(super) mod server;

use std::path::Path;

use serde_json::Value;

use super::command::Icm;
use super::error::InstallError;
use super::format::Format;
use super::node::{Edit, Node, Seg, find};
use super::table::{Hooks, Server, Style};
use crate::hooks::defaults;
use crate::names::Client;

/// The first words of every file of icm's own, behind comment signs.
pub(super) const OWN_MARK: &str = "Written by `icm init`";

/// A piece in a file.
#[derive(Debug, Clone)]
pub(super) enum Job {
    /// An entry of a server.
    Server(&'static Server, Node),
    /// Server entries for one folder. They are removed and never added.
    Local(&'static Server),
    /// The hooks of a client.
    Hooks(&'static Hooks, Client, Icm),
    /// A block between marks.
    Block(&'static str),
    /// A whole file, executable or not.
    Own(String, bool),
}

/// A file before icm changed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base<'a> {
    /// Its old content is not known.
    Unknown,
    /// The file did not exist.
    Absent,
    /// The file had this text.
    Text(&'a str),
}

/// The result of adding or removing a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Made {
    /// Nothing changed: the piece was there in this form, or was not there to be removed.
    Same,
    /// The new text, with the piece added or removed.
    New(String),
    /// The new text, with the piece in a new form.
    Updated(String),
}

/// The marks by which icm knows its own pieces.
pub(super) struct Own<'a> {
    /// The program of this icm.
    pub(super) program: &'a str,
    /// The program behind the bare name `icm`; `None` if `PATH` was not searched or has none.
    pub(super) in_path: Option<&'a Path>,
    /// `true` if icm wrote a piece of this kind into the file, by the list of written files.
    pub(super) known: bool,
    /// `true` to replace the pieces of other programs, too.
    pub(super) force: bool,
}

impl Own<'_> {
    /// Returns `true` if a command's program is this icm: its path, another path to the same file, or the bare name
    /// unless `PATH` leads to another program.
    fn runs(&self, program: &str) -> bool {
        let is_same = |path: &Path| {
            let real = |path: &Path| path.canonicalize().ok();
            path == Path::new(self.program)
                || real(path).is_some_and(|path| real(Path::new(self.program)) == Some(path))
        };
        match program.contains(['/', '\\']) {
            true => is_same(Path::new(program)),
            false => self.in_path.is_none_or(is_same),
        }
    }
}

impl Job {
    fn format(&self) -> Option<Format> {
        match self {
            Job::Server(server, _) | Job::Local(server) => Some(server.format),
            Job::Hooks(hooks, ..) if hooks.style == Style::Tables => Some(Format::Toml),
            Job::Hooks(..) => Some(Format::Json),
            Job::Block(_) | Job::Own(..) => None,
        }
    }

    /// Puts the piece into a text; `None` is a file that does not exist.
    ///
    /// # Errors
    /// [`InstallError`]; the text is then unchanged.
    pub(super) fn put(&self, text: Option<&str>, own: &Own<'_>) -> Result<Made, InstallError> {
        let plain = text.unwrap_or_default();
        let value = self
            .format()
            .map(|format| format.parse(plain))
            .transpose()?
            .unwrap_or_default();
        let (edits, is_update) = match self {
            Job::Server(server, node) => server::put(server, &value, node, own)?,
            Job::Hooks(hooks, client, icm) => hooks::put(hooks, &value, *client, icm)?,
            Job::Local(_) => return Ok(Made::Same),
            Job::Block(body) => return block::put(plain, body),
            Job::Own(whole, _) => {
                return match text {
                    None => Ok(Made::New(whole.clone())),
                    Some(text) if text == whole => Ok(Made::Same),
                    Some(text) if own.force || text.contains(OWN_MARK) => {
                        Ok(Made::Updated(whole.clone()))
                    }
                    Some(_) => Err(InstallError::AnotherFile),
                };
            }
        };
        let Some(format) = self.format().filter(|_| !edits.is_empty()) else {
            return Ok(Made::Same);
        };
        let edited = format.edit(plain, &edits)?;
        Ok(match is_update {
            true => Made::Updated(edited),
            false => Made::New(edited),
        })
    }

    /// Removes the piece from a text, with the containers that become empty unless they were there before. An empty
    /// result means that nothing is left.
    ///
    /// # Errors
    /// [`InstallError`]; the text is then unchanged.
    pub(super) fn take(
        &self,
        plain: &str,
        base: Base<'_>,
        own: &Own<'_>,
    ) -> Result<Made, InstallError> {
        let Some(format) = self.format() else {
            return match self {
                Job::Own(..) if plain.contains(OWN_MARK) => Ok(Made::New(match base {
                    Base::Text(text) => text.to_owned(),
                    Base::Absent | Base::Unknown => String::new(),
                })),
                Job::Block(_) => block::take(plain),
                _ => Ok(Made::Same),
            };
        };
        let value = format.parse(plain)?;
        let mut edits = match self {
            Job::Server(server, _) => server::take(server, &value, own),
            Job::Local(server) => local::take(server, &value, own),
            Job::Hooks(hooks, client, _) => hooks::take(hooks, &value, *client),
            Job::Block(_) | Job::Own(..) => Vec::new(),
        };
        if edits.is_empty() {
            return Ok(Made::Same);
        }
        let mut rest = value;
        for edit in &edits {
            let _ = edit.apply(&mut rest);
        }
        let before = match base {
            Base::Text(text) => Some(format.parse(text).unwrap_or_default()),
            Base::Absent => Some(Value::Null),
            Base::Unknown => None,
        };
        for path in self.shells() {
            let was_there = match &before {
                Some(before) => find(before, &path).is_some(),
                None => matches!(self, Job::Server(..)),
            };
            if !was_there && find(&rest, &path).is_some_and(is_empty) {
                let edit = Edit::Remove(path);
                let _ = edit.apply(&mut rest);
                edits.push(edit);
            }
        }
        if self.has_version()
            && matches!(&before, Some(Value::Object(before)) if !before.contains_key("version"))
        {
            edits.push(Edit::Remove(Seg::keys(&["version"])));
        }
        let is_bare = match rest.as_object() {
            Some(map) => {
                map.is_empty()
                    || (map.len() == 1 && map.get("version").is_some_and(|version| version == 1))
            }
            None => false,
        };
        if is_bare && base == Base::Absent {
            return Ok(Made::New(String::new()));
        }
        format.edit(plain, &edits).map(Made::New)
    }

    /// Returns the commands of servers called `icm` that [`Job::take`] leaves in a text, because they run another
    /// program. Programs that are no icm count if the list of written files has the file (`is_listed`). Empty if the
    /// text does not parse.
    pub(super) fn others(&self, plain: &str, own: &Own<'_>, is_listed: bool) -> Vec<String> {
        let parsed = self.format().map(|format| format.parse(plain));
        let Some(Ok(value)) = parsed else {
            return Vec::new();
        };
        match self {
            Job::Server(server, _) => server::others(server, &value, own, is_listed),
            Job::Local(server) => local::others(server, &value, own),
            Job::Hooks(..) | Job::Block(_) | Job::Own(..) => Vec::new(),
        }
    }

    /// Returns `true` if the file names the version of its hooks.
    fn has_version(&self) -> bool {
        matches!(self, Job::Hooks(hooks, ..) if matches!(hooks.style, Style::Shells | Style::Flat))
    }

    /// Returns the paths of containers that may become empty, innermost first.
    fn shells(&self) -> Vec<Vec<Seg>> {
        match self {
            Job::Server(server, _) => vec![Seg::keys(server.keys)],
            Job::Hooks(_, client, _) => {
                let events = defaults(*client).map(|event| Seg::keys(&["hooks", event]));
                events.chain([Seg::keys(&["hooks"])]).collect()
            }
            Job::Local(_) | Job::Block(_) | Job::Own(..) => Vec::new(),
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}
