//! Entries for one folder in the user's file of Claude Code (`claude mcp add` without a scope).

use serde_json::Value;

use super::super::node::{Edit, Seg};
use super::super::table::Server;
use super::{Own, server};

/// The key of the folders.
const PROJECTS: &str = "projects";

/// Returns the entries called `icm`: folder, path and value.
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

/// Returns the edits that remove the entries which run this icm. Claude Code itself leaves an empty list of servers.
///
/// `init` writes no such entry, so the list of written files does not tell about them.
pub(super) fn take(server: &Server, value: &Value, own: &Own<'_>) -> Vec<Edit> {
    let ours =
        served(server, value).filter(|(_, entry)| server::runs_this(&server.shape, entry, own));
    ours.map(|(path, _)| Edit::Remove(path)).collect()
}

/// Returns the commands of the entries that run another icm.
pub(super) fn others(server: &Server, value: &Value, own: &Own<'_>) -> Vec<String> {
    let others =
        served(server, value).filter(|(_, entry)| !server::runs_this(&server.shape, entry, own));
    let commands = others.filter_map(|(_, entry)| server::command(&server.shape, entry));
    commands.map(|words| words.join(" ")).collect()
}

/// Returns the entries called `icm` that run a server: path and value.
fn served<'a>(server: &'a Server, value: &'a Value) -> impl Iterator<Item = (Vec<Seg>, &'a Value)> {
    let all = entries(server, value).into_iter();
    all.filter(|(_, _, entry)| server::is_ours(&server.shape, entry))
        .map(|(_, path, entry)| (path, entry))
}
