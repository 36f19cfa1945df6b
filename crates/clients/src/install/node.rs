//! Values that keep the order of their keys, because people read entries.

use serde_json::{Map, Value};

/// A value of an entry.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Bool(bool),
    Number(u32),
    Text(String),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

impl Node {
    /// Returns a text.
    pub(super) fn text(text: impl Into<String>) -> Node {
        Node::Text(text.into())
    }

    /// Returns a map with its keys in this order.
    pub(super) fn map<K: Into<String>>(pairs: impl IntoIterator<Item = (K, Node)>) -> Node {
        Node::Map(pairs.into_iter().map(|(k, v)| (k.into(), v)).collect())
    }

    /// Returns the value without the order of its keys.
    pub(super) fn value(&self) -> Value {
        match self {
            Node::Bool(yes) => Value::Bool(*yes),
            Node::Number(number) => Value::from(*number),
            Node::Text(text) => Value::from(text.as_str()),
            Node::List(nodes) => nodes.iter().map(Node::value).collect(),
            Node::Map(pairs) => {
                let pairs = pairs.iter().map(|(key, node)| (key.clone(), node.value()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }
}

/// A step on the path to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seg {
    Key(String),
    At(usize),
}

impl Seg {
    /// Returns the path along these keys.
    pub(super) fn keys(keys: &[&str]) -> Vec<Seg> {
        keys.iter().map(|key| Seg::Key((*key).to_owned())).collect()
    }
}

/// A change of a parsed file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Edit {
    /// Sets a member or an element; makes missing maps on the path.
    Set(Vec<Seg>, Node),
    /// Sets these members of the map, removes those without a value, and leaves the others as they are.
    Merge(Vec<Seg>, Vec<(String, Option<Node>)>),
    /// Adds an element to the list; makes missing maps on the path, and the list.
    Push(Vec<Seg>, Node),
    /// Removes a member or an element.
    Remove(Vec<Seg>),
}

impl Edit {
    /// Returns the path of the change.
    pub(super) fn path(&self) -> &[Seg] {
        match self {
            Edit::Set(path, _)
            | Edit::Merge(path, _)
            | Edit::Push(path, _)
            | Edit::Remove(path) => path,
        }
    }

    /// Applies the change to a value; `None` if a value on the path has another shape.
    pub(super) fn apply(&self, value: &mut Value) -> Option<()> {
        match self {
            Edit::Set(path, node) => *reach(value, path)? = node.value(),
            Edit::Merge(path, members) => {
                let map = reach(value, path)?.as_object_mut()?;
                for (key, node) in members {
                    match node {
                        Some(node) => drop(map.insert(key.clone(), node.value())),
                        None => drop(map.remove(key)),
                    }
                }
            }
            Edit::Push(path, node) => {
                let list = reach(value, path)?;
                if list.is_null() {
                    *list = Value::Array(Vec::new());
                }
                list.as_array_mut()?.push(node.value());
            }
            Edit::Remove(path) => {
                let (last, way) = path.split_last()?;
                match (last, reach(value, way)?) {
                    (Seg::Key(key), Value::Object(map)) => drop(map.remove(key)?),
                    (Seg::At(at), Value::Array(list)) if *at < list.len() => drop(list.remove(*at)),
                    _ => return None,
                }
            }
        }
        Some(())
    }
}

/// Returns the value at `path`; makes missing members.
fn reach<'a>(mut value: &'a mut Value, path: &[Seg]) -> Option<&'a mut Value> {
    for seg in path {
        if value.is_null() {
            *value = Value::Object(Map::new());
        }
        value = match seg {
            Seg::Key(key) => value.as_object_mut()?.entry(key).or_insert(Value::Null),
            Seg::At(at) => value.as_array_mut()?.get_mut(*at)?,
        };
    }
    Some(value)
}

/// Returns the value at `path`, if there is one.
pub(super) fn find<'a>(mut value: &'a Value, path: &[Seg]) -> Option<&'a Value> {
    for seg in path {
        value = match seg {
            Seg::Key(key) => value.as_object()?.get(key)?,
            Seg::At(at) => value.as_array()?.get(*at)?,
        };
    }
    Some(value)
}
