//! TOML.

use serde_json::Value;
use toml_edit::{
    Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value as Toml,
};

use super::super::error::InstallError;
use super::super::node::{Edit, Node, Seg};
use super::Format;

pub(super) fn parse(text: &str) -> Result<Value, InstallError> {
    let value = toml::from_str::<toml::Table>(text);
    let value = value.map_err(|error| Format::Toml.broken(error))?;
    // JSON lacks dates and infinite numbers; as texts they compare as well.
    Ok(plain(toml::Value::Table(value)))
}

fn plain(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::from(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Boolean(yes) => Value::from(yes),
        toml::Value::Array(values) => values.into_iter().map(plain).collect(),
        toml::Value::Table(table) => table
            .into_iter()
            .map(|(key, value)| (key, plain(value)))
            .collect(),
        other => Value::from(other.to_string()),
    }
}

pub(super) fn edit(text: &str, edit: &Edit) -> Option<String> {
    if let Edit::Remove(path) = edit
        && let Some(text) = cut(text, path)
    {
        return Some(text);
    }
    let mut document: DocumentMut = text.parse().ok()?;
    if let Edit::Merge(path, members) = edit {
        merge(reach(document.as_table_mut(), path)?, members)?;
        return Some(document.to_string());
    }
    let (last, way) = edit.path().split_last()?;
    let Seg::Key(key) = last else {
        let Seg::Key(list) = way.last()? else {
            return None;
        };
        let Seg::At(at) = last else { return None };
        return edit_element(&mut document, list, *at, edit);
    };
    let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
    let table = reach(document.as_table_mut(), way)?;
    let made = match edit {
        Edit::Set(_, node) => set(table, key, node)?,
        Edit::Push(_, node) => push(table, key, node)?,
        Edit::Remove(_) => {
            table.remove(key)?;
            false
        }
        Edit::Merge(..) => return None,
    };
    // A comment at the end of the file stays before a table that is added there.
    if made && let Some(added) = added(document.as_table_mut(), edit.path()) {
        let gap = if text.trim().is_empty() { "" } else { "\n" };
        added.set_position(Some(isize::MAX));
        added.decor_mut().set_prefix(format!("{trailing}{gap}"));
        document.set_trailing("");
    }
    Some(document.to_string())
}

/// Sets a member. Returns `true` if a table was added.
fn set(table: &mut dyn TableLike, key: &str, node: &Node) -> Option<bool> {
    let Node::Map(pairs) = node else {
        table.insert(key, Item::Value(value(node)));
        return Some(false);
    };
    if let Some(old) = table.get_mut(key) {
        let old = old.as_table_like_mut()?;
        let gone: Vec<String> = old.iter().map(|(key, _)| key.to_owned()).collect();
        for key in gone
            .iter()
            .filter(|key| !pairs.iter().any(|(new, _)| new == *key))
        {
            old.remove(key);
        }
        for (key, node) in pairs {
            match node {
                Node::Map(_) => drop(set(old, key, node)?),
                _ => drop(old.insert(key, Item::Value(value(node)))),
            }
        }
        return Some(false);
    }
    // Tables with dotted keys have no header to add to.
    if table.is_dotted() {
        table.insert(key, Item::Value(value(node)));
        return Some(false);
    }
    table.insert(key, Item::Table(block(pairs)));
    Some(true)
}

/// Sets and removes members; a comment behind a value stays.
fn merge(table: &mut dyn TableLike, members: &[(String, Option<Node>)]) -> Option<()> {
    for (key, node) in members {
        let old = table.get_mut(key).and_then(Item::as_value_mut);
        match (node, old) {
            (None, _) => drop(table.remove(key)),
            (Some(node), Some(old)) => {
                let decor = old.decor().clone();
                *old = value(node);
                *old.decor_mut() = decor;
            }
            (Some(node), None) => drop(set(table, key, node)?),
        }
    }
    Some(())
}

/// Adds an element. Returns `true` if a table was added.
fn push(table: &mut dyn TableLike, key: &str, node: &Node) -> Option<bool> {
    let Node::Map(pairs) = node else { return None };
    match table.get_mut(key) {
        None => {
            let mut list = ArrayOfTables::new();
            list.push(block(pairs));
            table.insert(key, Item::ArrayOfTables(list));
        }
        Some(Item::ArrayOfTables(list)) => list.push(block(pairs)),
        Some(item) => {
            item.as_array_mut()?.push(value(node));
            return Some(false);
        }
    }
    Some(true)
}

fn edit_element(document: &mut DocumentMut, list: &str, at: usize, edit: &Edit) -> Option<String> {
    let item = document.get_mut(list)?;
    match (edit, item) {
        (Edit::Remove(_), Item::ArrayOfTables(tables)) => drop(tables.remove(at)),
        (Edit::Remove(_), Item::Value(Toml::Array(values))) => drop(values.remove(at)),
        (Edit::Set(_, Node::Map(pairs)), Item::ArrayOfTables(tables)) => {
            let table = tables.get_mut(at)?;
            for (key, node) in pairs {
                table.insert(key, Item::Value(value(node)));
            }
        }
        (Edit::Set(_, node), Item::Value(Toml::Array(values))) => {
            drop(values.replace(at, value(node)))
        }
        _ => return None,
    }
    Some(document.to_string())
}

fn reach<'a>(top: &'a mut Table, way: &[Seg]) -> Option<&'a mut dyn TableLike> {
    let mut here: &mut dyn TableLike = top;
    for seg in way {
        let Seg::Key(key) = seg else { return None };
        if here.get(key).is_none() {
            let mut table = Table::new();
            table.set_implicit(true);
            here.insert(key, Item::Table(table));
        }
        here = here.get_mut(key)?.as_table_like_mut()?;
    }
    Some(here)
}

/// Returns the table that was added at the end of `path`.
fn added<'a>(top: &'a mut Table, path: &[Seg]) -> Option<&'a mut Table> {
    let mut item: &mut Item = top.get_mut(match path.first()? {
        Seg::Key(key) => key,
        Seg::At(_) => return None,
    })?;
    for seg in &path[1..] {
        let Seg::Key(key) = seg else { return None };
        item = item.get_mut(key)?;
    }
    match item {
        Item::Table(table) => Some(table),
        Item::ArrayOfTables(list) => list.iter_mut().last(),
        _ => None,
    }
}

fn block(pairs: &[(String, Node)]) -> Table {
    let mut table = Table::new();
    for (key, node) in pairs {
        let item = match node {
            Node::Map(inner) if inner.is_empty() => continue,
            Node::Map(inner) => Item::Table(block(inner)),
            _ => Item::Value(value(node)),
        };
        table.insert(key, item);
    }
    table
}

fn value(node: &Node) -> Toml {
    match node {
        Node::Bool(yes) => Toml::from(*yes),
        Node::Number(number) => Toml::from(i64::from(*number)),
        Node::Text(text) => Toml::from(text.as_str()),
        Node::List(nodes) => Toml::Array(nodes.iter().map(value).collect::<Array>()),
        Node::Map(pairs) => {
            let pairs = pairs.iter().map(|(key, node)| (key.as_str(), value(node)));
            Toml::InlineTable(pairs.collect::<InlineTable>())
        }
    }
}

/// Removes the lines of a table, from its header to the next header of another table. Blank lines and comments above
/// that header stay. `None` if the table has no header.
fn cut(text: &str, path: &[Seg]) -> Option<String> {
    let (name, at) = match path {
        [Seg::Key(list), Seg::At(at)] => (format!("[[{list}]]"), *at),
        _ => {
            let keys = path.iter().map(|seg| match seg {
                Seg::Key(key) => Some(key.as_str()),
                Seg::At(_) => None,
            });
            (
                format!("[{}]", keys.collect::<Option<Vec<_>>>()?.join(".")),
                0,
            )
        }
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let header = |line: &str| line.trim_start().starts_with('[');
    let mut headers = lines.iter().enumerate();
    let (from, _) = headers
        .by_ref()
        .filter(|(_, line)| line.trim() == name)
        .nth(at)?;
    let below = format!("{}.", name.trim_end_matches(']'));
    let next = headers.find(|(_, line)| header(line) && !line.trim().starts_with(&below));
    let to = next.map_or(lines.len(), |(next, _)| next);
    let rest = lines[from..to].iter().rev();
    let kept = rest.take_while(|line| line.trim().is_empty() || line.trim_start().starts_with('#'));
    let to = to - kept.count();
    // The blank line above belongs to the table.
    let blank = from > 0 && lines[from - 1].trim().is_empty();
    let from = from - usize::from(blank);
    Some([&lines[..from], &lines[to..]].concat().concat())
}
