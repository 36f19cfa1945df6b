//! The entry of a server.

use serde_json::Value;

use super::super::command::is_icm;
use super::super::error::InstallError;
use super::super::node::{Edit, Node, Seg, find};
use super::super::table::{Member, Server, Shape};

/// The name of the entry in every client.
pub(in crate::install) const NAME: &str = "icm";

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

/// Returns the command of an entry: the program and its arguments.
pub(in crate::install) fn command(shape: &Shape, entry: &Value) -> Option<Vec<String>> {
    // Cline writes the command one level deeper than it reads.
    let entry = entry
        .get("transport")
        .filter(|inner| inner.get(shape.command).is_some())
        .unwrap_or(entry);
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

/// Returns where the entry called `icm` is, and what it says.
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

/// Returns whether an entry runs an icm as a server.
pub(super) fn is_ours(shape: &Shape, entry: &Value) -> bool {
    command(shape, entry).is_some_and(|words| {
        let serves = words.iter().skip(1).any(|word| word == "serve");
        words.first().is_some_and(|program| is_icm(program)) && serves
    })
}

pub(super) fn put(
    server: &Server,
    value: &Value,
    node: &Node,
    force: bool,
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
    if !is_ours(&server.shape, found) {
        if !force {
            let command = command(&server.shape, found).map(|words| words.join(" "));
            let command = command.unwrap_or_else(|| "no command".to_owned());
            return Err(InstallError::AnotherServer { command });
        }
        return Ok((vec![Edit::Set(path, node.clone())], true));
    }
    // Members that a person set beside (`timeout`, `disabled`, `alwaysLoad`) stay.
    let wanted = node.value();
    let own = [
        Some(server.shape.command),
        server.shape.args,
        Some(server.shape.env),
    ];
    let same = own
        .into_iter()
        .flatten()
        .all(|key| found.get(key) == wanted.get(key));
    if same {
        return Ok((Vec::new(), false));
    }
    let Node::Map(pairs) = node else {
        return Ok((Vec::new(), false));
    };
    let mut merged = pairs.clone();
    for (key, value) in found.as_object().into_iter().flatten() {
        let is_own = own.contains(&Some(key.as_str())) || key == "transport";
        match merged.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) if !is_own => *known = from_value(value),
            Some(_) => {}
            None if !is_own => merged.push((key.clone(), from_value(value))),
            None => {}
        }
    }
    Ok((vec![Edit::Set(path, Node::Map(merged))], true))
}

fn from_value(value: &Value) -> Node {
    match value {
        Value::Bool(yes) => Node::Bool(*yes),
        Value::Number(number) => match number
            .as_u64()
            .and_then(|number| u32::try_from(number).ok())
        {
            Some(number) => Node::Number(number),
            None => Node::text(number.to_string()),
        },
        Value::String(text) => Node::text(text),
        Value::Array(list) => Node::List(list.iter().map(from_value).collect()),
        Value::Object(map) => Node::map(map.iter().map(|(key, value)| (key, from_value(value)))),
        Value::Null => Node::text(""),
    }
}

pub(super) fn take(server: &Server, value: &Value) -> Vec<Edit> {
    let found = entry(server, value).filter(|(_, entry)| is_ours(&server.shape, entry));
    found
        .map(|(path, _)| Edit::Remove(path))
        .into_iter()
        .collect()
}
