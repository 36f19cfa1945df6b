//! The entry of icm's MCP server.

use serde_json::Value;

use super::super::command::is_icm;
use super::super::error::InstallError;
use super::super::node::{Edit, Node, Seg, find};
use super::super::table::{Member, Server, Shape};
use super::Own;

/// The name of the entry in every client.
pub(in crate::install) const NAME: &str = "icm";

/// Variables of an entry that icm manages; icm removes those that are no longer wanted. Other variables belong to the
/// person.
const OWN_VARIABLES: [&str; 5] = [
    "ICM_DB",
    "ICM_CONFIG",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

/// The member around the command in an entry of Cline, one level deeper than in other clients.
const TRANSPORT: &str = "transport";

/// Returns the entry in a client's shape.
pub(in crate::install) fn node(
    shape: &Shape,
    program: &str,
    args: &[String],
    env: &[(String, String)],
) -> Node {
    let words =
        |words: &mut dyn Iterator<Item = &String>| Node::List(words.map(Node::text).collect());
    let member = |member: &Member| match *member {
        Member::Text(key, text) => (key.to_owned(), Node::text(text)),
        Member::Texts(key, texts) => {
            let texts = texts.iter().map(|text| Node::text(*text));
            (key.to_owned(), Node::List(texts.collect()))
        }
        Member::Yes(key) => (key.to_owned(), Node::Bool(true)),
        Member::Number(key, number) => (key.to_owned(), Node::Number(number)),
    };
    let mut pairs: Vec<(String, Node)> = Vec::new();
    if shape.in_list {
        pairs.push(("name".to_owned(), Node::text(NAME)));
    }
    pairs.extend(shape.before.iter().map(member));
    let program = program.to_owned();
    match shape.args {
        Some(key) => {
            pairs.push((shape.command.to_owned(), Node::text(program)));
            pairs.push((key.to_owned(), words(&mut args.iter())));
        }
        None => {
            let mut all = std::iter::once(&program).chain(args);
            pairs.push((shape.command.to_owned(), words(&mut all)));
        }
    }
    if !env.is_empty() {
        let env = env
            .iter()
            .map(|(key, value)| (key.clone(), Node::text(value)));
        pairs.push((shape.env.to_owned(), Node::map(env)));
    }
    pairs.extend(shape.after.iter().map(member));
    Node::Map(pairs)
}

/// Returns the part of an entry with its command and variables.
pub(in crate::install) fn inner<'a>(shape: &Shape, entry: &'a Value) -> &'a Value {
    entry
        .get(TRANSPORT)
        .filter(|inner| inner.get(shape.command).is_some())
        .unwrap_or(entry)
}

/// Returns the command of an entry: the program and its arguments.
pub(in crate::install) fn command(shape: &Shape, entry: &Value) -> Option<Vec<String>> {
    let entry = inner(shape, entry);
    let texts = |value: &Value| -> Vec<String> {
        let list = value.as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let command = entry.get(shape.command)?;
    if command.is_array() {
        return Some(texts(command));
    }
    let mut words = vec![command.as_str()?.to_owned()];
    let args = shape.args.and_then(|key| entry.get(key));
    words.extend(args.map(texts).unwrap_or_default());
    Some(words)
}

/// Returns path and value of the entry called `icm`.
pub(in crate::install) fn entry<'a>(
    server: &Server,
    value: &'a Value,
) -> Option<(Vec<Seg>, &'a Value)> {
    let mut path = Seg::keys(server.keys);
    let servers = find(value, &path)?;
    if server.shape.in_list {
        let is_named = |entry: &Value| entry.get("name").and_then(Value::as_str) == Some(NAME);
        let at = servers.as_array()?.iter().position(is_named)?;
        path.push(Seg::At(at));
    } else {
        path.push(Seg::Key(NAME.to_owned()));
    }
    let found = find(value, &path)?;
    Some((path, found))
}

/// Returns `true` if an entry runs an icm as a server.
pub(super) fn is_ours(shape: &Shape, entry: &Value) -> bool {
    command(shape, entry).is_some_and(|words| {
        let serves = words.iter().skip(1).any(|word| word == "serve");
        words.first().is_some_and(|program| is_icm(program)) && serves
    })
}

/// Returns `true` if an entry may be updated or removed: it runs this icm, or icm wrote it before. Another program can
/// have the same name.
fn is_this(shape: &Shape, entry: &Value, own: &Own<'_>) -> bool {
    own.known || runs_this(shape, entry, own)
}

/// Returns `true` if an entry runs this icm.
pub(super) fn runs_this(shape: &Shape, entry: &Value, own: &Own<'_>) -> bool {
    let program = command(shape, entry).and_then(|words| words.into_iter().next());
    program.is_some_and(|program| own.runs(&program))
}

pub(super) fn put(
    server: &Server,
    value: &Value,
    node: &Node,
    own: &Own<'_>,
) -> Result<(Vec<Edit>, bool), InstallError> {
    let servers = find(value, &Seg::keys(server.keys));
    let fits = servers.is_none_or(|servers| match server.shape.in_list {
        true => servers.is_array() || servers.is_null(),
        false => servers.is_object() || servers.is_null(),
    });
    if !fits {
        return Err(InstallError::OtherShape {
            path: server.keys.join("."),
            expected: if server.shape.in_list {
                "a list"
            } else {
                "an object"
            },
        });
    }
    let Some((path, found)) = entry(server, value) else {
        let mut path = Seg::keys(server.keys);
        return Ok(match server.shape.in_list {
            true => (vec![Edit::Push(path, node.clone())], false),
            false => {
                path.push(Seg::Key(NAME.to_owned()));
                (vec![Edit::Set(path, node.clone())], false)
            }
        });
    };
    if !is_ours(&server.shape, found) || !is_this(&server.shape, found, own) {
        if !own.force {
            let command = command(&server.shape, found).map(|words| words.join(" "));
            let command = command.unwrap_or_else(|| "no command".to_owned());
            return Err(InstallError::AnotherServer { command });
        }
        return Ok((vec![Edit::Set(path, node.clone())], true));
    }
    let edits = update(&server.shape, path, found, node);
    let is_update = !edits.is_empty();
    Ok((edits, is_update))
}

/// Returns the edits of icm's own members. Members that a person added (`timeout`, `disabled`, `alwaysLoad`) and a
/// person's variables stay.
fn update(shape: &Shape, mut path: Vec<Seg>, found: &Value, node: &Node) -> Vec<Edit> {
    let Node::Map(pairs) = node else {
        return Vec::new();
    };
    let there = inner(shape, found);
    if !std::ptr::eq(there, found) {
        path.push(Seg::Key(TRANSPORT.to_owned()));
    }
    let own = [Some(shape.command), shape.args];
    let differs = |(key, node): &&(String, Node)| {
        own.contains(&Some(key.as_str())) && there.get(key) != Some(&node.value())
    };
    let members = pairs.iter().filter(differs);
    let mut members: Vec<_> = members
        .map(|(key, node)| (key.clone(), Some(node.clone())))
        .collect();
    let wanted = pairs.iter().find(|(key, _)| *key == shape.env);
    let variables = variables(there.get(shape.env), wanted.map(|(_, node)| node));
    let mut edits = Vec::new();
    match there.get(shape.env).and_then(Value::as_object) {
        Some(old) if !old.is_empty() => {
            let is_gone = |key: &String| variables.contains(&(key.clone(), None));
            if old.keys().all(is_gone) && wanted.is_none() {
                members.push((shape.env.to_owned(), None));
            } else if !variables.is_empty() {
                let key = Seg::Key(shape.env.to_owned());
                let path = path.iter().cloned().chain([key]);
                edits.push(Edit::Merge(path.collect(), variables));
            }
        }
        _ => members.extend(wanted.map(|(key, node)| (key.clone(), Some(node.clone())))),
    }
    if !members.is_empty() {
        edits.insert(0, Edit::Merge(path, members));
    }
    edits
}

/// Returns the variables of icm that differ from the wanted ones.
fn variables(there: Option<&Value>, wanted: Option<&Node>) -> Vec<(String, Option<Node>)> {
    let wanted = match wanted {
        Some(Node::Map(wanted)) => wanted.as_slice(),
        _ => &[],
    };
    let there = |name: &str| there.and_then(|there| there.get(name));
    let set = wanted
        .iter()
        .filter(|(name, node)| there(name) != Some(&node.value()));
    let set = set.map(|(name, node)| (name.clone(), Some(node.clone())));
    let is_wanted = |name: &str| wanted.iter().any(|(wanted, _)| wanted == name);
    let gone = OWN_VARIABLES
        .iter()
        .filter(|name| there(name).is_some() && !is_wanted(name));
    let gone = gone.map(|name| ((*name).to_owned(), None));
    set.chain(gone).collect()
}

/// Returns the command of an entry that is called `icm` and runs a server, but not this icm. A program that is no icm
/// counts if icm wrote into the file (`is_listed`).
pub(super) fn others(
    server: &Server,
    value: &Value,
    own: &Own<'_>,
    is_listed: bool,
) -> Vec<String> {
    let shape = &server.shape;
    let found = entry(server, value).filter(|(_, entry)| match is_ours(shape, entry) {
        true => !is_this(shape, entry, own),
        false => is_listed,
    });
    let words = found.and_then(|(_, entry)| command(&server.shape, entry));
    words.map(|words| words.join(" ")).into_iter().collect()
}

pub(super) fn take(server: &Server, value: &Value, own: &Own<'_>) -> Vec<Edit> {
    let found = entry(server, value)
        .filter(|(_, entry)| is_ours(&server.shape, entry) && is_this(&server.shape, entry, own));
    found
        .map(|(path, _)| Edit::Remove(path))
        .into_iter()
        .collect()
}
