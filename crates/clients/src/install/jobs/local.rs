//! Entries for one folder alone, which Claude Code keeps in the user's file (`claude mcp add` without a scope).

use serde_json::Value;

use super::super::node::{Edit, Seg};
use super::super::table::Server;
use super::server;

/// The key of the folders.
const PROJECTS: &str = "projects";

/// Returns the entries called `icm`: the folder, the way to the entry, and what it says.
pub(in crate::install) fn entries<'a>(
    server: &Server,
    value: &'a Value,
) -> Vec<(&'a str, Vec<Seg>, &'a Value)> {
    let projects = value.get(PROJECTS).and_then(Value::as_object);
    let found = projects.into_iter().flatten().filter_map(|(folder, of)| {
        let (within, entry) = server::entry(server, of)?;
        let path = Seg::keys(&[PROJECTS, folder]).into_iter().chain(within);
        Some((folder.as_str(), path.collect(), entry))
    });
    found.collect()
}

/// Returns the edits that take out the entries that run icm. Claude Code itself leaves an empty list of servers.
pub(super) fn take(server: &Server, value: &Value) -> Vec<Edit> {
    let ours = entries(server, value).into_iter();
    ours.filter(|(_, _, entry)| server::is_ours(&server.shape, entry))
        .map(|(_, path, _)| Edit::Remove(path))
        .collect()
}
