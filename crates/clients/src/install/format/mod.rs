//! Settings files in JSON (also with comments), TOML and YAML, edited without losing comments, order or layout.
//!
//! An editor proposes a text. The text is parsed and compared with the wanted value, so a layout that the editor does
//! not understand is refused and never damaged.

mod json;
mod toml;
mod yaml;

use serde_json::Value;

use super::error::InstallError;
use super::node::{Edit, Seg, find};

/// Most characters of a parser's message; some messages quote the line. Raised, error messages get longer.
const WHY_CHARS_MAX: usize = 240;

/// The format of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// JSON; comments and trailing commas are kept if the client allows them.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Format::Json => "JSON",
            Format::Toml => "TOML",
            Format::Yaml => "YAML",
        }
    }

    fn broken(self, why: impl ToString) -> InstallError {
        let why = why.to_string();
        let why = why.lines().map(str::trim).filter(|line| !line.is_empty());
        let why = why.collect::<Vec<_>>().join(" ");
        InstallError::DoesNotParse {
            format: self.name(),
            why: why.chars().take(WHY_CHARS_MAX).collect(),
        }
    }

    /// Parses a text; a text of spaces and comments is an empty map.
    ///
    /// # Errors
    /// [`InstallError::DoesNotParse`], [`InstallError::DuplicateKey`], and [`InstallError::OtherShape`] for a file whose
    /// value is no map.
    pub(super) fn parse(self, text: &str) -> Result<Value, InstallError> {
        let value = match self {
            Format::Json => json::parse(text),
            Format::Toml => toml::parse(text),
            Format::Yaml => yaml::parse(text),
        }?;
        match value {
            Value::Null => Ok(Value::Object(serde_json::Map::new())),
            Value::Object(_) => Ok(value),
            _ => Err(InstallError::OtherShape {
                path: "the file".into(),
                expected: "an object",
            }),
        }
    }

    /// Applies the changes in order and returns the new text.
    ///
    /// # Errors
    /// As [`Format::parse`]. [`InstallError::OtherShape`] if a value on the path has another type, and
    /// [`InstallError::Layout`] if no edited text has the wanted content.
    pub(super) fn edit(self, text: &str, edits: &[Edit]) -> Result<String, InstallError> {
        let mut wanted = self.parse(text)?;
        let mut text = text.to_owned();
        for edit in edits {
            if matches!(edit, Edit::Remove(_)) && find(&wanted, edit.path()).is_none() {
                continue;
            }
            edit.apply(&mut wanted)
                .ok_or_else(|| other_shape(edit.path()))?;
            let edited = match self {
                Format::Json => json::edit(&text, edit),
                Format::Toml => toml::edit(&text, edit),
                Format::Yaml => yaml::edit(&text, edit),
            };
            text = edited.ok_or(InstallError::Layout)?;
            let made = self.parse(&text).map_err(|_| InstallError::Layout)?;
            if made != wanted && self == Format::Toml {
                prune(&mut wanted, edit.path());
            }
            if made != wanted {
                return Err(InstallError::Layout);
            }
        }
        Ok(text)
    }
}

/// Removes empty values on the way to `path`: TOML keeps an empty table only with a header of its own.
fn prune(value: &mut Value, path: &[Seg]) {
    for len in (1..path.len()).rev() {
        let is_empty = find(value, &path[..len]).is_some_and(|found| match found {
            Value::Object(map) => map.is_empty(),
            Value::Array(list) => list.is_empty(),
            _ => false,
        });
        if !is_empty {
            return;
        }
        let _ = Edit::Remove(path[..len].to_vec()).apply(value);
    }
}

fn other_shape(path: &[Seg]) -> InstallError {
    let words = path.iter().map(|seg| match seg {
        Seg::Key(key) => key.clone(),
        Seg::At(at) => at.to_string(),
    });
    InstallError::OtherShape {
        path: words.collect::<Vec<_>>().join("."),
        expected: "where an entry can stand",
    }
}

#[cfg(test)]
mod tests;
