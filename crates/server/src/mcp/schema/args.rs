//! The checked arguments of a call, read by name.

use serde_json::{Map, Value};

use super::{Param, is_added_by_a_client};

/// Arguments that match their parameters.
#[derive(Default)]
pub(crate) struct Args {
    pub(super) given: Map<String, Value>,
    /// A line for each argument whose value was changed to fit.
    notes: Vec<String>,
}

impl Args {
    /// Checks `given`.
    ///
    /// # Errors
    /// One line that says what to change.
    pub(crate) fn check(params: &[Param], mut given: Map<String, Value>) -> Result<Args, String> {
        given.retain(|_, value| !value.is_null());
        let known = |name: &str| params.iter().any(|param| param.name == name);
        given.retain(|name, _| known(name) || !is_added_by_a_client(name));
        if let Some(name) = given.keys().find(|name| !known(name)) {
            let name = &name[..name.floor_char_boundary(64)];
            return Err(match params {
                [] => format!("unknown argument `{name}`: this tool takes none"),
                _ => {
                    let names: Vec<_> = params.iter().map(|p| p.name).collect();
                    format!("unknown argument `{name}`: give only {}", names.join(", "))
                }
            });
        }
        let mut notes = Vec::new();
        for param in params {
            let empty = |value: &Value| !param.required && param.is_empty(value);
            if given.get(param.name).is_some_and(empty) {
                given.remove(param.name);
            }
            match given.get_mut(param.name) {
                Some(value) => notes.extend(param.read(value)?),
                None if param.required => {
                    let Param { name, about, .. } = param;
                    return Err(format!("missing argument `{name}`: {about}"));
                }
                None => {}
            }
        }
        Ok(Args { given, notes })
    }

    /// Takes the lines about arguments whose values were changed to fit.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Takes a text.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        match self.given.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Takes a required text.
    pub(crate) fn required_text(&mut self, name: &str) -> String {
        self.text(name).unwrap_or_default()
    }

    /// Takes a list of texts, trimmed and without empty ones.
    pub(crate) fn texts(&mut self, name: &str) -> Option<Vec<String>> {
        match self.given.remove(name) {
            Some(Value::Array(texts)) => Some(
                texts
                    .into_iter()
                    .filter_map(|text| match text {
                        Value::String(text) => Some(text),
                        _ => None,
                    })
                    .collect(),
            ),
            _ => None,
        }
    }

    /// Returns a flag; `false` if it was not given.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.given
            .get(name)
            .and_then(Value::as_bool)
            .unwrap_or(false)
    }

    /// Returns a whole number.
    pub(crate) fn whole(&self, name: &str) -> Option<u64> {
        self.given.get(name).and_then(Value::as_u64)
    }

    /// Returns a number from 0 to 1.
    pub(crate) fn share(&self, name: &str) -> Option<f64> {
        self.given.get(name).and_then(Value::as_f64)
    }

    /// Takes one of the values of an enum, as the service's type.
    pub(crate) fn one_of<T: serde::de::DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        self.given
            .remove(name)
            .and_then(|value| serde_json::from_value(value).ok())
    }
}
