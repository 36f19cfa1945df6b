//! Hooks in a client's settings file.

use serde_json::Value;

use super::super::command::{Icm, is_hook};
use super::super::error::InstallError;
use super::super::node::{Edit, Node, Seg, find};
use super::super::table::{Hooks, Style};
use crate::hooks::defaults;
use crate::names::Client;

/// Most seconds of a hook before the client goes on without it. icm answers in a fraction of a second. Raised, people
/// wait longer for a disk that hangs.
const TIMEOUT_S: u32 = 10;

pub(super) fn put(
    hooks: &Hooks,
    value: &Value,
    client: Client,
    icm: &Icm,
) -> Result<(Vec<Edit>, bool), InstallError> {
    let expects = |path: &[&str], fits: fn(&Value) -> bool, expected| {
        let found = find(value, &Seg::keys(path));
        match found.is_none_or(|found| found.is_null() || fits(found)) {
            true => Ok(()),
            false => Err(InstallError::OtherShape {
                path: path.join("."),
                expected,
            }),
        }
    };
    if hooks.style == Style::Tables {
        expects(&["hooks"], Value::is_array, "a list")?;
        return Ok(put_tables(hooks, value, client, icm));
    }
    expects(&["hooks"], Value::is_object, "an object")?;
    let mut edits = Vec::new();
    let mut is_update = false;
    if matches!(hooks.style, Style::Shells | Style::Flat) && value.get("version").is_none() {
        edits.push(Edit::Set(Seg::keys(&["version"]), Node::Number(1)));
    }
    for event in defaults(client) {
        expects(&["hooks", event], Value::is_array, "a list")?;
        let list = Seg::keys(&["hooks", event]);
        let wanted = node(hooks, client, event, icm);
        let found = ours(hooks, value, &list, client);
        match found.first() {
            None => edits.push(Edit::Push(list, wanted)),
            Some(path) => {
                // A person may have changed the timeout or added a matcher, so only the command is compared.
                let wanted = inner(hooks, wanted).value();
                let keys: &[&str] = if hooks.style == Style::Shells {
                    &["bash", "powershell"]
                } else {
                    &["command"]
                };
                let there = find(value, path);
                let differs =
                    |key: &&&str| there.and_then(|there| there.get(key)) != wanted.get(key);
                let commands = keys.iter().filter(differs).map(|key| {
                    let command = wanted.get(key).and_then(Value::as_str);
                    ((*key).to_owned(), command.map(Node::text))
                });
                let commands: Vec<_> = commands.collect();
                if !commands.is_empty() {
                    is_update = true;
                    edits.push(Edit::Merge(path.clone(), commands));
                }
            }
        }
        is_update |= found.len() > 1;
        edits.extend(found.into_iter().skip(1).rev().map(Edit::Remove));
    }
    Ok((edits, is_update))
}

fn put_tables(hooks: &Hooks, value: &Value, client: Client, icm: &Icm) -> (Vec<Edit>, bool) {
    let mut edits = Vec::new();
    let mut is_update = false;
    for event in defaults(client) {
        let wanted = node(hooks, client, event, icm);
        let list = value
            .get("hooks")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let found = list.enumerate().find(|(_, hook)| {
            hook.get("event").and_then(Value::as_str) == Some(event) && is_ours(hooks, hook, client)
        });
        match found {
            None => edits.push(Edit::Push(Seg::keys(&["hooks"]), wanted)),
            Some((at, hook)) if hook.get("command") != wanted.value().get("command") => {
                is_update = true;
                let path = vec![Seg::Key("hooks".into()), Seg::At(at)];
                edits.push(Edit::Set(path, wanted));
            }
            Some(_) => {}
        }
    }
    (edits, is_update)
}

/// Returns the edits that remove all hooks of icm for this client, of any event.
pub(super) fn take(hooks: &Hooks, value: &Value, client: Client) -> Vec<Edit> {
    if hooks.style == Style::Tables {
        let list = value
            .get("hooks")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        let found = list
            .enumerate()
            .filter(|(_, hook)| is_ours(hooks, hook, client));
        let paths = found.map(|(at, _)| Edit::Remove(vec![Seg::Key("hooks".into()), Seg::At(at)]));
        return reversed(paths.collect());
    }
    let mut edits = Vec::new();
    let events = value
        .get("hooks")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    for (event, groups) in events {
        let list = Seg::keys(&["hooks", event]);
        let found = ours(hooks, value, &list, client);
        // A group with only hooks of icm is removed whole.
        let mut paths: Vec<Vec<Seg>> = Vec::new();
        for (at, group) in groups.as_array().into_iter().flatten().enumerate() {
            let mut path = list.clone();
            path.push(Seg::At(at));
            let within: Vec<_> = found
                .iter()
                .filter(|found| found.starts_with(&path))
                .cloned()
                .collect();
            let handlers = group
                .get("hooks")
                .and_then(Value::as_array)
                .map_or(1, Vec::len);
            match within.len() {
                0 => {}
                some if some == handlers => paths.push(path),
                _ => paths.extend(within),
            }
        }
        edits.extend(reversed(paths.into_iter().map(Edit::Remove).collect()));
    }
    edits
}

fn reversed(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.reverse();
    edits
}

/// Returns the paths of icm's handlers in the list of an event.
fn ours(hooks: &Hooks, value: &Value, list: &[Seg], client: Client) -> Vec<Vec<Seg>> {
    let mut found = Vec::new();
    for (at, element) in find(value, list)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let mut path = list.to_vec();
        path.push(Seg::At(at));
        if hooks.style != Style::Groups {
            if is_ours(hooks, element, client) {
                found.push(path);
            }
            continue;
        }
        let handlers = element
            .get("hooks")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        for (inner, handler) in handlers.enumerate() {
            if is_ours(hooks, handler, client) {
                let rest = [Seg::Key("hooks".into()), Seg::At(inner)];
                found.push(path.iter().cloned().chain(rest).collect());
            }
        }
    }
    found
}

fn is_ours(hooks: &Hooks, handler: &Value, client: Client) -> bool {
    let key = if hooks.style == Style::Shells {
        "bash"
    } else {
        "command"
    };
    let command = handler.get(key).and_then(Value::as_str).unwrap_or_default();
    is_hook(command) && command.contains(&format!(" hook {} ", client.name()))
}

/// Returns the element for the list of an event.
fn node(hooks: &Hooks, client: Client, event: &str, icm: &Icm) -> Node {
    let limit = hooks
        .limit
        .filter(|(limited, _)| *limited == event)
        .map(|(_, limit)| limit);
    let timeout = Node::Number(limit.unwrap_or(TIMEOUT_S) * hooks.per_second);
    let command = Node::text(icm.hook(client.name(), event));
    match hooks.style {
        Style::Groups => {
            let handler = Node::map([
                ("type", Node::text("command")),
                ("command", command),
                ("timeout", timeout),
            ]);
            Node::map([("hooks", Node::List(vec![handler]))])
        }
        Style::Shells => Node::map([
            ("type", Node::text("command")),
            ("bash", command),
            (
                "powershell",
                Node::text(icm.hook_of_powershell(client.name(), event)),
            ),
            ("timeoutSec", timeout),
        ]),
        Style::Tables => Node::map([
            ("event", Node::text(event)),
            ("command", command),
            ("timeout", timeout),
        ]),
        Style::Quiet => Node::map([("command", command), ("show_output", Node::Bool(false))]),
        Style::Flat | Style::Scripts | Style::Module => {
            Node::map([("command", command), ("timeout", timeout)])
        }
    }
}

/// Returns the handler inside an element.
fn inner(hooks: &Hooks, node: Node) -> Node {
    if hooks.style != Style::Groups {
        return node;
    }
    match node {
        Node::Map(mut pairs) => match pairs.pop() {
            Some((_, Node::List(mut handlers))) if handlers.len() == 1 => handlers.remove(0),
            _ => Node::Map(pairs),
        },
        other => other,
    }
}
