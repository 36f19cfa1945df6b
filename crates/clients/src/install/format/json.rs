//! JSON, with the comments and trailing commas that some clients allow.

use std::collections::BTreeSet;

use jsonc_parser::cst::{CstContainerNode, CstInputValue, CstNode, CstObject, CstRootNode};
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use serde_json::Value;

use super::super::error::InstallError;
use super::super::node::{Edit, Node, Seg};
use super::Format;

/// Only extensions that a client reads: words, quotes and numbers of JSON5 are errors.
fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

pub(super) fn parse(text: &str) -> Result<Value, InstallError> {
    let tree = parse_to_ast(text, &CollectOptions::default(), &options());
    let tree = tree.map_err(|error| Format::Json.broken(error))?;
    if let Some(key) = tree.value.as_ref().and_then(twice) {
        return Err(InstallError::DuplicateKey { key });
    }
    let root = CstRootNode::parse(text, &options());
    let root = root.map_err(|error| Format::Json.broken(error))?;
    Ok(root.to_serde_value().unwrap_or(Value::Null))
}

/// Returns a key that an object has twice, if there is one.
fn twice(value: &ast::Value<'_>) -> Option<String> {
    match value {
        ast::Value::Object(object) => {
            let mut seen = BTreeSet::new();
            object.properties.iter().find_map(|property| {
                let key = property.name.as_str();
                match seen.insert(key) {
                    true => twice(&property.value),
                    false => Some(key.to_owned()),
                }
            })
        }
        ast::Value::Array(array) => array.elements.iter().find_map(twice),
        _ => None,
    }
}

pub(super) fn edit(text: &str, edit: &Edit) -> Option<String> {
    let root = CstRootNode::parse(text, &options()).ok()?;
    let top = root.object_value_or_create()?;
    match edit {
        Edit::Set(path, node) => {
            let (last, way) = path.split_last()?;
            match (last, reach(&top, way)?) {
                (Seg::Key(key), CstContainerNode::Object(object)) => match object.get(key) {
                    Some(property) => property.set_value(input(node)),
                    None => drop(object.append(key, input(node))),
                },
                (Seg::At(at), CstContainerNode::Array(array)) => {
                    replace(array.elements().get(*at)?, input(node));
                }
                _ => return None,
            }
        }
        Edit::Merge(path, members) => {
            let CstContainerNode::Object(object) = reach(&top, path)? else {
                return None;
            };
            for (key, node) in members {
                match (object.get(key), node) {
                    (Some(property), Some(node)) => property.set_value(input(node)),
                    (Some(property), None) => property.remove(),
                    (None, Some(node)) => drop(object.append(key, input(node))),
                    (None, None) => {}
                }
            }
        }
        Edit::Push(path, node) => {
            let (last, way) = path.split_last()?;
            let (Seg::Key(key), CstContainerNode::Object(object)) = (last, reach(&top, way)?)
            else {
                return None;
            };
            fill(&object, key, CstInputValue::Array(Vec::new()));
            object.array_value_or_create(key)?.append(input(node));
        }
        Edit::Remove(path) => {
            let (last, way) = path.split_last()?;
            match (last, reach(&top, way)?) {
                (Seg::Key(key), CstContainerNode::Object(object)) => object.get(key)?.remove(),
                (Seg::At(at), CstContainerNode::Array(array)) => {
                    array.elements().get(*at)?.clone().remove();
                }
                _ => return None,
            }
        }
    }
    Some(root.to_string())
}

fn replace(old: &CstNode, new: CstInputValue) {
    if let Some(object) = old.as_object() {
        object.replace_with(new);
    } else if let Some(array) = old.as_array() {
        array.replace_with(new);
    } else if let Some(text) = old.as_string_lit() {
        text.replace_with(new);
    }
}

fn reach(top: &CstObject, way: &[Seg]) -> Option<CstContainerNode> {
    let mut here = CstContainerNode::Object(top.clone());
    for seg in way {
        here = match (seg, here) {
            (Seg::Key(key), CstContainerNode::Object(object)) => {
                if let Some(array) = object.array_value(key) {
                    CstContainerNode::Array(array)
                } else {
                    fill(&object, key, CstInputValue::Object(Vec::new()));
                    CstContainerNode::Object(object.object_value_or_create(key)?)
                }
            }
            (Seg::At(at), CstContainerNode::Array(array)) => {
                let element = array.elements().get(*at)?.clone();
                let object = element.as_object().map(CstContainerNode::Object);
                object.or_else(|| element.as_array().map(CstContainerNode::Array))?
            }
            _ => return None,
        };
    }
    Some(here)
}

/// Replaces `null` by an empty value, because clients read `null` as an absent member.
fn fill(object: &CstObject, key: &str, empty: CstInputValue) {
    if let Some(property) = object.get(key)
        && property
            .value()
            .is_some_and(|value| value.as_null_keyword().is_some())
    {
        property.set_value(empty);
    }
}

fn input(node: &Node) -> CstInputValue {
    match node {
        Node::Bool(yes) => CstInputValue::Bool(*yes),
        Node::Number(number) => CstInputValue::Number(number.to_string()),
        Node::Text(text) => CstInputValue::String(text.clone()),
        Node::List(nodes) => CstInputValue::Array(nodes.iter().map(input).collect()),
        Node::Map(pairs) => {
            let pairs = pairs.iter().map(|(key, node)| (key.clone(), input(node)));
            CstInputValue::Object(pairs.collect())
        }
    }
}
