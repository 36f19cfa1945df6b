//! Changes keys of one section in the config file, and keeps everything else.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, Table, Value};

use crate::app::App;
use crate::config::{Config, template};
use crate::error::CliError;
use crate::output::{self, Readers};

/// The new values of a section's keys, in the given order; `None` removes a key.
pub(crate) struct Changes {
    section: &'static str,
    keys: Vec<(&'static str, Option<Value>)>,
}

impl Changes {
    /// Returns an empty set of changes for this section.
    pub(crate) fn of(section: &'static str) -> Changes {
        Changes {
            section,
            keys: Vec::new(),
        }
    }

    pub(crate) fn set(&mut self, key: &'static str, value: impl Into<Value>) {
        self.keys.push((key, Some(value.into())));
    }

    pub(crate) fn remove(&mut self, key: &'static str) {
        self.keys.push((key, None));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the configuration with these changes, without writing it.
    pub(crate) fn preview(&self, app: &App) -> Result<Config, CliError> {
        let path = path(app)?;
        Config::parse(&self.applied(&path)?, &path)
    }

    /// Writes the file, which is made if absent, and returns its path.
    pub(crate) fn write(&self, app: &App) -> Result<PathBuf, CliError> {
        let path = path(app)?;
        let text = self.applied(&path)?;
        Config::parse(&text, &path)?;
        let failed =
            |e: std::io::Error| CliError::io(format!("cannot write {}", path.display()), &e);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        output::write_file(&path, readers(&path), |out| {
            out.write_all(text.as_bytes()).map_err(failed)
        })?;
        Ok(path)
    }

    fn applied(&self, path: &Path) -> Result<String, CliError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == ErrorKind::NotFound => template(),
            Err(e) => return Err(CliError::io(format!("cannot read {}", path.display()), &e)),
        };
        self.apply(&text).ok_or_else(|| {
            CliError::failed(format!("config {} cannot be changed", path.display()))
                .with_hint(format!("set `{}` by hand", self.names()))
        })
    }

    /// Returns the full names of the keys.
    fn names(&self) -> String {
        let names = self
            .keys
            .iter()
            .map(|(key, _)| format!("{}.{key}", self.section));
        names.collect::<Vec<_>>().join(", ")
    }

    fn apply(&self, text: &str) -> Option<String> {
        let mut document: DocumentMut = text.parse().ok()?;
        let section = document
            .entry(self.section)
            .or_insert(Item::Table(Table::new()));
        let section = section.as_table_like_mut()?;
        for (key, value) in &self.keys {
            match (value, section.get_mut(key).and_then(Item::as_value_mut)) {
                (Some(value), Some(there)) => {
                    // A comment at the end of the line is kept.
                    let decor = there.decor().clone();
                    *there = value.clone();
                    *there.decor_mut() = decor;
                }
                (Some(value), None) => {
                    section.insert(key, Item::Value(value.clone()));
                }
                (None, _) => {
                    section.remove(key);
                }
            }
        }
        Some(document.to_string())
    }
}

fn path(app: &App) -> Result<PathBuf, CliError> {
    app.config_path().map(|(path, _)| path).ok_or_else(|| {
        CliError::failed("no home folder to keep the config file in")
            .with_hint("say where it is with `--config FILE` or `ICM_CONFIG`")
    })
}

/// Returns the present readers of the file.
fn readers(path: &Path) -> Readers {
    #[cfg(unix)]
    if let Ok(there) = std::fs::metadata(path) {
        use std::os::unix::fs::PermissionsExt;
        if there.permissions().mode() & 0o077 == 0 {
            return Readers::Owner;
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Readers::Usual
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(name: &str) -> Changes {
        let mut changes = Changes::of("embedding");
        changes.set("model", name);
        changes
    }

    #[test]
    fn everything_else_stays() {
        let text = "# mine\ndb = 'x' # here\n\n[embedding] # vectors\n# of old\nmodel = 'a' # why\n\
                    dim = 3\n\n[recall]\nlimit = 3\n";
        let wanted = text.replace("'a'", "\"b\"");
        assert_eq!(model("b").apply(text).unwrap(), wanted);
        let mut changes = model("b");
        changes.remove("dim");
        changes.set("url", "http://h");
        let wanted = wanted.replace("dim = 3\n", "url = \"http://h\"\n");
        assert_eq!(changes.apply(text).unwrap(), wanted);
    }

    #[test]
    fn the_section_is_made_where_there_is_none() {
        assert_eq!(
            model("b").apply("").unwrap(),
            "[embedding]\nmodel = \"b\"\n"
        );
        let text = "[recall]\nlimit = 3\n";
        let changed = model("b").apply(text).unwrap();
        assert!(
            changed.starts_with(text) && changed.contains("[embedding]\nmodel"),
            "{changed}"
        );
        let inline = model("b").apply("embedding = { model = 'a' }\n").unwrap();
        assert_eq!(inline, "embedding = { model = \"b\" }\n");
        assert!(model("b").apply("embedding = 3").is_none());
    }

    #[test]
    fn the_template_takes_it_below_its_heading() {
        let changed = model("b").apply(&template()).unwrap();
        assert!(
            changed.contains("[embedding]\nmodel = \"b\"\n"),
            "{changed}"
        );
        assert_eq!(changed.replace("model = \"b\"\n", ""), template());
    }
}
