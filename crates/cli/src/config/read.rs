//! Reads a [`Config`] from the text of a config file, or from `--set KEY=VALUE`.

use std::io::ErrorKind;
use std::path::Path;

use toml::Table;
#[cfg(feature = "bench")]
use toml::Value;
use toml::de::DeTable;

use super::{Config, folders, table};
use crate::error::CliError;

impl Config {
    /// Reads the file. An absent file gives the defaults, unless it was `named` explicitly.
    pub(crate) fn read(path: &Path, named: bool) -> Result<Config, CliError> {
        // Opening a pipe would wait for a writer.
        if is_pipe(path) {
            let problem = format!("config {} is a pipe", path.display());
            return Err(CliError::invalid(problem).with_hint("name another one with `--config`"));
        }
        let error = match std::fs::read_to_string(path) {
            Ok(text) => return Config::parse(&text, path),
            Err(error) => error,
        };
        let is_absent = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
        if is_absent && !named {
            return Ok(Config::default());
        }
        let failed = CliError::io(format!("cannot read config {}", path.display()), &error);
        Err(match error.kind() {
            ErrorKind::NotFound => failed.with_hint("write one with `icm config init`"),
            _ => failed,
        })
    }

    /// Parses the text of the file at `path`, where relative paths start.
    pub(crate) fn parse(text: &str, path: &Path) -> Result<Config, CliError> {
        let named = |line: Option<usize>| {
            let line = line.map_or_else(String::new, |line| format!(", line {line}"));
            format!("config {}{line}", path.display())
        };
        let table: Table = text.parse().map_err(|e: toml::de::Error| {
            let line = e.span().map(|span| line_at(text, span.start));
            CliError::invalid(format!("{} is not TOML: {}", named(line), e.message()))
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Config::of(table, folder, &|name| named(line_of(text, name)))
    }

    /// Returns this configuration with other settings, `key=value` each. A value that is not TOML counts as a text; a
    /// relative path starts at the working folder.
    #[cfg(feature = "bench")]
    pub(crate) fn with(&self, settings: &[String]) -> Result<Config, CliError> {
        let mut table = self.given.clone();
        let mut sets_model = false;
        for setting in settings {
            let (name, value) = setting.split_once('=').ok_or_else(|| {
                CliError::invalid(format!("`--set {setting}` is not a setting"))
                    .with_hint("write `--set ranking.neighbours=0.2`")
            })?;
            let (name, value) = (name.trim(), value.trim());
            let key = table::find(name).map_err(|error| error.at("config --set"))?;
            if !key.changes_results() {
                return Err(CliError::invalid(format!(
                    "`{name}` does not change the results of a recall"
                ))
                .with_hint("`--set` takes keys of `ranking` and `embedding`"));
            }
            let value = value
                .parse()
                .unwrap_or_else(|_| Value::String(value.to_owned()));
            let (section, field) = key.split();
            if let Value::Table(section) = table.entry(section).or_insert(Table::new().into()) {
                section.insert(field.to_owned(), value);
            }
            sets_model |= name == "embedding.model";
        }
        let mut config = Config::of(table, Path::new(""), &|_| "config --set".to_owned())?;
        // Paths of the file start at the folder of the file.
        config.db.clone_from(&self.db);
        if !sets_model {
            config.embedding.model.clone_from(&self.embedding.model);
        }
        Ok(config)
    }

    /// Checks each key of a table, then reads all keys. `place` returns the file and line of a key or section.
    fn of(table: Table, folder: &Path, place: &dyn Fn(&str) -> String) -> Result<Config, CliError> {
        for (name, value) in table::named_values(&table) {
            table::find(&name)
                .and_then(|key| key.check(value))
                .map_err(|error| error.at(&place(&name)))?;
        }
        let read: Result<Config, _> = table.clone().try_into();
        let mut config = read.map_err(|e| CliError::invalid(e.message()).at(&place("")))?;
        config.given = table;
        config.embedding.model = config.embedding.model.within(folder);
        config.db = config
            .db
            .map(|db| folders::store(&db, folder))
            .transpose()?;

        let ranking = &config.ranking;
        if ranking.text + ranking.notes_text + ranking.meaning == 0.0 {
            return Err(CliError::invalid(
                "`ranking.text`, `ranking.notes_text` and `ranking.meaning` are all 0: nothing would be found",
            )
            .with_hint("leave one of them out: it has its usual value then")
            .at(&place("ranking")));
        }
        let secrets = config
            .secrets()
            .map_err(|error| error.at(&place("secrets.allow")));
        secrets.map(|_| config)
    }
}

#[cfg(unix)]
fn is_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    path.metadata().is_ok_and(|it| it.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_: &Path) -> bool {
    false
}

/// Returns the line of a key or section in a TOML text, from 1.
fn line_of(text: &str, name: &str) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let (section, field) = name.split_once('.').unwrap_or((name, ""));
    let section = table.get_ref().get(section)?;
    let field = section.get_ref().get(field);
    Some(line_at(text, field.unwrap_or(section).span().start))
}

fn line_at(text: &str, offset: usize) -> usize {
    1 + text[..offset].matches('\n').count()
}
