//! YAML.

use std::fmt::Write as _;
use std::str::FromStr;

use serde_json::Value;
use yaml_edit::{Document, Mapping, Sequence, YamlNode};

use super::super::error::InstallError;
use super::super::node::{Edit, Node, Seg};
use super::Format;

pub(super) fn parse(text: &str) -> Result<Value, InstallError> {
    serde_saphyr::from_str(text).map_err(|error| Format::Yaml.broken(error))
}

/// Edits entries, which stand at most two keys deep, and their members.
pub(super) fn edit(text: &str, edit: &Edit) -> Option<String> {
    let is_empty = parse(text).ok()?.is_null();
    let (Seg::Key(top), rest) = edit.path().split_first()? else {
        return None;
    };
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => "",
        _ => "\n",
    };
    if is_empty {
        return Some(format!("{text}{gap}{}", written(top, rest, edit)?));
    }
    let document = Document::from_str(text).ok()?;
    let map = document.as_mapping()?;
    let is_there = parse(text).ok()?.get(top).is_some_and(|value| match value {
        Value::Null => false,
        Value::Object(map) => !map.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => true,
    });
    match (edit, rest) {
        (Edit::Merge(_, members), _) => {
            let map = reach(map, edit.path())?;
            for (key, node) in members {
                match node {
                    Some(node) => map.set(key.as_str(), member(node)?),
                    None => drop(map.remove(key.as_str())),
                }
            }
        }
        (Edit::Remove(_), []) => drop(map.remove(top.as_str())?),
        (Edit::Remove(_), [Seg::Key(key)]) => {
            drop(map.get_mapping(top.as_str())?.remove(key.as_str())?)
        }
        (Edit::Remove(_), [Seg::At(at)]) => drop(map.get_sequence(top.as_str())?.remove(*at)?),
        _ if !is_there && map.get(top.as_str()).is_none() => {
            return Some(format!("{text}{gap}{}", written(top, rest, edit)?));
        }
        _ if !is_there => {
            let whole = Document::from_str(&written(top, rest, edit)?).ok()?;
            let whole = whole.as_mapping()?;
            match whole.get_sequence(top.as_str()) {
                Some(list) => map.set(top.as_str(), list),
                None => map.set(top.as_str(), whole.get_mapping(top.as_str())?),
            }
        }
        (Edit::Set(_, node), [Seg::Key(key)]) => map
            .get_mapping(top.as_str())?
            .set(key.as_str(), mapping(node)?),
        (Edit::Set(_, node), [Seg::At(at)]) => {
            let list: Sequence = map.get_sequence(top.as_str())?;
            if !list.set(*at, mapping(node)?) {
                return None;
            }
        }
        (Edit::Push(_, node), []) => {
            let list = map.get_sequence(top.as_str())?;
            match node {
                Node::Text(text) => list.push(text.as_str()),
                _ => list.push(mapping(node)?),
            }
        }
        _ => return None,
    }
    Some(document.to_string())
}

fn reach(top: Mapping, way: &[Seg]) -> Option<Mapping> {
    let mut here = YamlNode::Mapping(top);
    for seg in way {
        here = match (seg, here) {
            (Seg::Key(key), YamlNode::Mapping(map)) => map.get(key.as_str())?,
            (Seg::At(at), YamlNode::Sequence(list)) => list.get(*at)?,
            _ => return None,
        };
    }
    match here {
        YamlNode::Mapping(map) => Some(map),
        _ => None,
    }
}

/// Returns a value in the form of a member.
fn member(node: &Node) -> Option<YamlNode> {
    let mut out = String::new();
    write(&mut out, &Node::map([("member", node.clone())]), 0);
    Document::from_str(&out).ok()?.as_mapping()?.get("member")
}

/// Returns the text of a top-level key with nothing but the edit's value.
fn written(top: &str, rest: &[Seg], edit: &Edit) -> Option<String> {
    let node = match (edit, rest) {
        (Edit::Set(_, node), [Seg::Key(key)]) => Node::map([(key.as_str(), node.clone())]),
        (Edit::Push(_, node), []) => Node::List(vec![node.clone()]),
        _ => return None,
    };
    let mut out = String::new();
    write(&mut out, &Node::map([(top, node)]), 0);
    Some(out)
}

fn mapping(node: &Node) -> Option<Mapping> {
    let mut out = String::new();
    write(&mut out, node, 0);
    Document::from_str(&out).ok()?.as_mapping()
}

/// Writes the members of a map as lines, each `indent` spaces in.
fn write(out: &mut String, node: &Node, indent: usize) {
    let Node::Map(pairs) = node else { return };
    for (key, node) in pairs {
        let _ = write!(out, "{:indent$}{key}:", "");
        match node {
            Node::Map(inner) if !inner.is_empty() => {
                out.push('\n');
                write(out, node, indent + 2);
            }
            Node::List(nodes) if !nodes.is_empty() => {
                out.push('\n');
                for node in nodes {
                    element(out, node, indent + 2);
                }
            }
            _ => {
                let _ = writeln!(out, " {}", scalar(node));
            }
        }
    }
}

fn element(out: &mut String, node: &Node, indent: usize) {
    let Node::Map(_) = node else {
        let _ = writeln!(out, "{:indent$}- {}", "", scalar(node));
        return;
    };
    let mut inner = String::new();
    write(&mut inner, node, indent + 2);
    let _ = write!(out, "{:indent$}- {}", "", inner.trim_start());
}

/// Returns a value on one line. JSON is valid YAML.
fn scalar(node: &Node) -> String {
    match node {
        Node::Text(text) if is_plain(text) => text.clone(),
        _ => node.value().to_string(),
    }
}

/// Returns `true` if YAML reads the text without quotes as a string.
fn is_plain(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    let is_word = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "yes" | "no" | "on" | "off" | "null" | "y" | "n"
    );
    starts && !is_word && text.chars().all(fits)
}
