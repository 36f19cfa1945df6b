//! `config.toml`: where it is, what may stand in it, what it says.

mod template;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use directories::{BaseDirs, ProjectDirs};
use icm_api::Summarizer;
use icm_api::{DecayPolicy, Dedup, OnSimilar};
use icm_embedders::MAX_DIM;
use icm_embedders::{Choice, Endpoint};
use icm_guard::secrets::{Action, Policy};
use icm_projections::ranking::Ranking;
use toml::Value;

use crate::error::CliError;

pub(crate) use template::TEMPLATE;

/// Every key, in the order in which they are shown.
pub(crate) const KEYS: [&str; 45] = [
    "db",
    "recall.limit",
    "recall.record",
    "recall.links",
    "ranking.text",
    "ranking.notes_text",
    "ranking.coverage",
    "ranking.meaning",
    "ranking.window",
    "ranking.notes_window",
    "ranking.neighbours",
    "ranking.answers",
    "ranking.speaker",
    "ranking.asks",
    "ranking.length",
    "ranking.when",
    "ranking.identifier",
    "ranking.importance",
    "ranking.scope",
    "ranking.confirmed",
    "ranking.floor",
    "ranking.candidates",
    "ranking.nearest",
    "ranking.expand",
    "embedding.model",
    "embedding.url",
    "embedding.endpoint_model",
    "embedding.key_env",
    "embedding.dim",
    "embedding.timeout_s",
    "secrets.action",
    "secrets.allow",
    "dedup.similar",
    "dedup.on_similar",
    "decay.auto",
    "decay.rate",
    "decay.critical",
    "decay.high",
    "decay.medium",
    "decay.low",
    "decay.prune_threshold",
    "consolidate.hint_over",
    "summarizer.command",
    "summarizer.timeout_s",
    "output.color",
];

/// How many times as fast as the rate says memories may fade.
const FACTOR_MAX: f64 = 100.0;

/// Most candidates, and most that are expanded.
const COUNT_MAX: usize = 10_000;

/// How long a request to an endpoint may take where nobody says.
pub(crate) const TIMEOUT_S: f64 = 10.0;

/// When to use colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ColorWhen {
    /// On a terminal, and `NO_COLOR` is not set.
    #[default]
    Auto,
    /// In a pipe too.
    Always,
    /// Not at all.
    Never,
}

impl ColorWhen {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ColorWhen::Auto => "auto",
            ColorWhen::Always => "always",
            ColorWhen::Never => "never",
        }
    }
}

/// What `embedding.model` says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum ModelName {
    /// The one in the program.
    #[default]
    Static,
    /// None.
    None,
    /// A server.
    Endpoint,
    /// An installed one.
    Installed(String),
    /// A folder.
    Folder(PathBuf),
}

impl ModelName {
    /// As somebody writes it in the file at `config`; a path is absolute or relative to the file.
    pub(crate) fn parse(text: &str, config: &Path) -> Option<ModelName> {
        Some(match text.to_ascii_lowercase().as_str() {
            "" => return None,
            "static" => ModelName::Static,
            "none" => ModelName::None,
            "endpoint" => ModelName::Endpoint,
            _ if is_path(text) => ModelName::Folder(resolve(text, config)),
            _ => ModelName::Installed(text.to_owned()),
        })
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ModelName::Static => f.write_str("static"),
            ModelName::None => f.write_str("none"),
            ModelName::Endpoint => f.write_str("endpoint"),
            ModelName::Installed(name) => f.write_str(name),
            ModelName::Folder(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Whether what stands for a model is a path: no name of a model looks like one.
pub(crate) fn is_path(text: &str) -> bool {
    text.contains(['/', '\\']) || text.starts_with(['.', '~'])
}

/// What a config file says; `None` where it says nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Config {
    pub(crate) db: Option<PathBuf>,
    pub(crate) recall_limit: Option<usize>,
    pub(crate) recall_record: Option<bool>,
    pub(crate) recall_links: Option<bool>,
    pub(crate) ranking: Ranking,
    /// The keys of `ranking` that the file has.
    pub(crate) ranking_given: BTreeSet<String>,
    pub(crate) embedding_model: Option<ModelName>,
    pub(crate) embedding_url: Option<String>,
    pub(crate) embedding_endpoint_model: Option<String>,
    pub(crate) embedding_key_env: Option<String>,
    pub(crate) embedding_dim: Option<usize>,
    pub(crate) embedding_timeout_s: Option<f64>,
    pub(crate) secrets_action: Option<Action>,
    pub(crate) secrets_allow: Option<Vec<String>>,
    pub(crate) dedup_similar: Option<f64>,
    pub(crate) dedup_on_similar: Option<OnSimilar>,
    pub(crate) decay: DecayPolicy,
    /// The keys of `decay` that the file has.
    pub(crate) decay_given: BTreeSet<String>,
    pub(crate) consolidate_hint_over: Option<u64>,
    pub(crate) summarizer_command: Option<String>,
    pub(crate) summarizer_timeout_s: Option<f64>,
    pub(crate) output_color: Option<ColorWhen>,
}

impl Config {
    /// Reads the file. One that is not there says nothing, unless it was `named` explicitly.
    pub(crate) fn read(path: &Path, named: bool) -> Result<Config, CliError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Config::parse(&text, path),
            Err(e)
                if !named
                    && matches!(
                        e.kind(),
                        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
                    ) =>
            {
                Ok(Config::default())
            }
            Err(e) => {
                let error = CliError::io(format!("cannot read config {}", path.display()), &e);
                Err(match e.kind() {
                    std::io::ErrorKind::NotFound => {
                        error.with_hint("write one with `icm config init`")
                    }
                    _ => error,
                })
            }
        }
    }

    /// Which embedder a store is to be recalled with.
    pub(crate) fn embedding(&self) -> Result<Choice, CliError> {
        Ok(match self.embedding_model.clone().unwrap_or_default() {
            ModelName::Static => Choice::BuiltIn,
            ModelName::None => Choice::None,
            ModelName::Endpoint => Choice::Endpoint(self.endpoint()?),
            ModelName::Installed(name) => Choice::Installed(name),
            ModelName::Folder(folder) => Choice::Folder(folder),
        })
    }

    /// The server of `embedding.*`.
    pub(crate) fn endpoint(&self) -> Result<Endpoint, CliError> {
        let needed = |value: &Option<String>, key: &str, example: &str| {
            value.clone().ok_or_else(|| {
                CliError::invalid(format!("the model `endpoint` needs `embedding.{key}`"))
                    .with_hint(format!("for instance `{key} = \"{example}\"`"))
            })
        };
        Ok(Endpoint {
            url: needed(&self.embedding_url, "url", "http://localhost:11434")?,
            model: needed(
                &self.embedding_endpoint_model,
                "endpoint_model",
                "nomic-embed-text",
            )?,
            key_env: self.embedding_key_env.clone(),
            dim: self.embedding_dim,
            timeout: Duration::from_secs_f64(self.embedding_timeout_s.unwrap_or(TIMEOUT_S)),
        })
    }

    /// What is done about secrets.
    pub(crate) fn secrets(&self) -> Result<Policy, CliError> {
        let allow = self.secrets_allow.as_deref().unwrap_or_default();
        Policy::new(self.secrets_action.unwrap_or_default(), allow)
            .map_err(|why| CliError::invalid(format!("`secrets.allow`: {why}")))
    }

    /// How stores treat what is there already.
    pub(crate) fn dedup(&self) -> Dedup {
        let default = Dedup::default();
        Dedup {
            similar_ppm: (self.dedup_similar)
                .map_or(default.similar_ppm, |part| (part * 1e6).round() as u32),
            on_similar: self.dedup_on_similar.unwrap_or(default.on_similar),
        }
    }

    /// What makes summaries, if anything does.
    pub(crate) fn summarizer(&self) -> Option<Summarizer> {
        let command = self.summarizer_command.clone()?;
        Some(Summarizer {
            command,
            timeout: self.summarizer_timeout(),
        })
    }

    /// How long a command may take that makes a summary.
    pub(crate) fn summarizer_timeout(&self) -> Duration {
        let seconds = self.summarizer_timeout_s;
        seconds.map_or(Summarizer::TIMEOUT, Duration::from_secs_f64)
    }

    /// What a file of this text says.
    pub(crate) fn parse(text: &str, path: &Path) -> Result<Config, CliError> {
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| {
            let line = e
                .span()
                .map(|span| 1 + text[..span.start].matches('\n').count());
            let place = line.map_or_else(String::new, |line| format!(", line {line}"));
            CliError::invalid(format!(
                "config {}{place} is not TOML: {}",
                path.display(),
                e.message()
            ))
        })?;
        let mut config = Config::default();
        for (key, value) in &table {
            match value {
                Value::Table(section) if is_section(key) => {
                    for (name, value) in section {
                        config.set(&format!("{key}.{name}"), value, path)?;
                    }
                }
                _ => config.set(key, value, path)?,
            }
        }
        config.check(path)?;
        Ok(config)
    }

    /// With other settings, `key=value` each; a value that is no TOML is a text.
    pub(crate) fn with(&self, settings: &[String]) -> Result<Config, CliError> {
        let path = Path::new("--set");
        let mut config = self.clone();
        for setting in settings {
            let (key, value) = setting.split_once('=').ok_or_else(|| {
                CliError::invalid(format!("`--set {setting}` is no setting"))
                    .with_hint("write `--set ranking.neighbours=0.2`")
            })?;
            let (key, value) = (key.trim(), value.trim());
            if KEYS.contains(&key)
                && !["ranking.", "embedding."]
                    .iter()
                    .any(|s| key.starts_with(s))
            {
                return Err(
                    CliError::invalid(format!("`{key}` changes nothing of what is found"))
                        .with_hint("`--set` takes keys of `ranking` and `embedding`"),
                );
            }
            let parsed = value.parse::<Value>();
            let value = parsed.unwrap_or_else(|_| Value::String(value.to_owned()));
            config.set(key, &value, path)?;
        }
        config.check(path)?;
        Ok(config)
    }

    fn check(&self, path: &Path) -> Result<(), CliError> {
        match self.ranking.text + self.ranking.notes_text + self.ranking.meaning == 0.0 {
            true => Err(CliError::invalid(format!(
                "config {}: `ranking.text`, `ranking.notes_text` and `ranking.meaning` are all 0: nothing would be found",
                path.display()
            ))),
            false => Ok(()),
        }
    }

    fn set(&mut self, key: &str, value: &Value, path: &Path) -> Result<(), CliError> {
        let wrong = |wanted: &str| {
            CliError::invalid(format!(
                "config {}: `{key}` must be {wanted}",
                path.display()
            ))
        };
        match key {
            "db" => {
                let text = value.as_str().filter(|t| !t.is_empty());
                let text = text.ok_or_else(|| wrong("a path"))?;
                if text.starts_with("~/")
                    && let Some(error) = relative("HOME")
                {
                    return Err(error.with_hint("set it to an absolute path"));
                }
                self.db = Some(resolve(text, path));
            }
            "recall.limit" => {
                let limit = value
                    .as_integer()
                    .and_then(|limit| usize::try_from(limit).ok());
                let limit = limit.filter(|limit| (1..=1000).contains(limit));
                self.recall_limit = Some(limit.ok_or_else(|| wrong("a number from 1 to 1000"))?);
            }
            "recall.record" => {
                self.recall_record = Some(value.as_bool().ok_or_else(|| wrong("true or false"))?);
            }
            "recall.links" => {
                self.recall_links = Some(value.as_bool().ok_or_else(|| wrong("true or false"))?);
            }
            _ if key.starts_with("ranking.") && KEYS.contains(&key) => {
                let number = (value.as_float()).or(value.as_integer().map(|whole| whole as f64));
                let share = |most: f64| number.filter(|number| (0.0..=most).contains(number));
                let part = || share(1.0).ok_or_else(|| wrong("a number from 0 to 1"));
                let count = |least: usize| {
                    let whole = value.as_integer().and_then(|n| usize::try_from(n).ok());
                    let count = whole.filter(|n| (least..=COUNT_MAX).contains(n));
                    count.ok_or_else(|| wrong(&format!("a number from {least} to {COUNT_MAX}")))
                };
                let weight = || share(100.0).ok_or_else(|| wrong("a number from 0 to 100"));
                let ranking = &mut self.ranking;
                match key.trim_start_matches("ranking.") {
                    "text" => ranking.text = weight()?,
                    "notes_text" => ranking.notes_text = weight()?,
                    "coverage" => ranking.coverage = weight()?,
                    "meaning" => ranking.meaning = weight()?,
                    "window" => ranking.window = weight()?,
                    "notes_window" => ranking.notes_window = weight()?,
                    "neighbours" => ranking.neighbours = weight()?,
                    "answers" => ranking.answers = weight()?,
                    "speaker" => ranking.speaker = weight()?,
                    "asks" => ranking.asks = weight()?,
                    "length" => ranking.length = weight()?,
                    "when" => ranking.when = weight()?,
                    "identifier" => ranking.identifier = weight()?,
                    "importance" => ranking.importance = weight()?,
                    "scope" => ranking.scope = weight()?,
                    "confirmed" => ranking.confirmed = weight()?,
                    "floor" => ranking.floor = part()?,
                    "candidates" => ranking.candidates = count(1)?,
                    "nearest" => ranking.nearest = count(0)?,
                    "expand" => ranking.expand = count(0)?,
                    _ => unreachable!("the key is one of those of the ranking"),
                }
                self.ranking_given.insert(key.to_owned());
            }
            "embedding.model" => {
                let name = value.as_str().and_then(|text| ModelName::parse(text, path));
                let wanted = || {
                    wrong(
                        "\"static\", \"none\", \"endpoint\", the name of an installed model or a \
                         folder; see `icm model list`",
                    )
                };
                self.embedding_model = Some(name.ok_or_else(wanted)?);
            }
            "embedding.url" | "embedding.endpoint_model" => {
                let text = value.as_str().filter(|text| !text.is_empty());
                let (place, wanted) = match key {
                    "embedding.url" => (&mut self.embedding_url, "the address of a server"),
                    _ => (
                        &mut self.embedding_endpoint_model,
                        "what the server calls the model",
                    ),
                };
                *place = Some(text.ok_or_else(|| wrong(wanted))?.to_owned());
            }
            "embedding.key_env" => {
                // Whoever writes the key itself there should learn it, and not see it again.
                let is_name = |name: &&str| {
                    let mut bytes = name.bytes();
                    bytes
                        .next()
                        .is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
                        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
                };
                let name = value.as_str().filter(is_name);
                let wanted = || wrong("the name of an environment variable, not the key");
                self.embedding_key_env = Some(name.ok_or_else(wanted)?.to_owned());
            }
            "embedding.dim" => {
                let dim = value.as_integer().and_then(|dim| usize::try_from(dim).ok());
                let dim = dim.filter(|dim| (1..=MAX_DIM).contains(dim));
                self.embedding_dim = Some(dim.ok_or_else(|| wrong("a number from 1 to 4096"))?);
            }
            "embedding.timeout_s" => {
                let time = (value.as_float()).or(value.as_integer().map(|whole| whole as f64));
                let time = time.filter(|time| (0.1..=600.0).contains(time));
                let wanted = || wrong("a number from 0.1 to 600");
                self.embedding_timeout_s = Some(time.ok_or_else(wanted)?);
            }
            "secrets.action" => {
                let action = value.as_str();
                let action = (Action::ALL.into_iter()).find(|a| Some(a.name()) == action);
                let wanted = || wrong("\"refuse\", \"warn\", \"mask\" or \"off\"");
                self.secrets_action = Some(action.ok_or_else(wanted)?);
            }
            "secrets.allow" => {
                let wanted = || wrong("a list of regular expressions");
                let patterns = value.as_array().ok_or_else(wanted)?.iter();
                let patterns: Option<Vec<String>> =
                    patterns.map(|p| p.as_str().map(str::to_owned)).collect();
                let patterns = patterns.ok_or_else(wanted)?;
                Policy::new(Action::default(), &patterns)
                    .map_err(|why| wrong(&format!("a list of regular expressions: {why}")))?;
                self.secrets_allow = Some(patterns);
            }
            "dedup.similar" => {
                let part = (value.as_float()).or(value.as_integer().map(|whole| whole as f64));
                let part = part.filter(|part| (0.0..=1.0).contains(part));
                self.dedup_similar = Some(part.ok_or_else(|| wrong("a number from 0 to 1"))?);
            }
            "dedup.on_similar" => {
                let name = value.as_str();
                let on_similar = (OnSimilar::ALL.into_iter()).find(|o| Some(o.name()) == name);
                let wanted = || wrong("\"link\", \"update\" or \"off\"");
                self.dedup_on_similar = Some(on_similar.ok_or_else(wanted)?);
            }
            _ if key.starts_with("decay.") && KEYS.contains(&key) => {
                let number = (value.as_float()).or(value.as_integer().map(|whole| whole as f64));
                let ppm = |most: f64| {
                    let number = number.filter(|number| (0.0..=most).contains(number));
                    let number = number.ok_or_else(|| wrong(&format!("a number from 0 to {most}")));
                    number.map(|number| (number * 1e6).round() as u32)
                };
                let decay = &mut self.decay;
                match key.trim_start_matches("decay.") {
                    "rate" => decay.rate_ppm = ppm(1.0)?,
                    "critical" => decay.critical_ppm = ppm(FACTOR_MAX)?,
                    "high" => decay.high_ppm = ppm(FACTOR_MAX)?,
                    "medium" => decay.medium_ppm = ppm(FACTOR_MAX)?,
                    "low" => decay.low_ppm = ppm(FACTOR_MAX)?,
                    "prune_threshold" => decay.prune_threshold_ppm = ppm(1.0)?,
                    _ => decay.auto = value.as_bool().ok_or_else(|| wrong("true or false"))?,
                }
                self.decay_given.insert(key.to_owned());
            }
            "consolidate.hint_over" => {
                let memories = value.as_integer().and_then(|n| u64::try_from(n).ok());
                let wanted = || wrong("a number of memories, 0 for no hint");
                self.consolidate_hint_over = Some(memories.ok_or_else(wanted)?);
            }
            "summarizer.command" => {
                let command = value.as_str().filter(|text| !text.trim().is_empty());
                let wanted = || wrong("a command line that reads stdin");
                self.summarizer_command = Some(command.ok_or_else(wanted)?.to_owned());
            }
            "summarizer.timeout_s" => {
                let time = (value.as_float()).or(value.as_integer().map(|whole| whole as f64));
                let time = time.filter(|time| (0.1..=3_600.0).contains(time));
                let wanted = || wrong("a number from 0.1 to 3600");
                self.summarizer_timeout_s = Some(time.ok_or_else(wanted)?);
            }
            "output.color" => {
                self.output_color = Some(match value.as_str() {
                    Some("auto") => ColorWhen::Auto,
                    Some("always") => ColorWhen::Always,
                    Some("never") => ColorWhen::Never,
                    _ => return Err(wrong("\"auto\", \"always\" or \"never\"")),
                });
            }
            _ => {
                let known = KEYS.map(|k| format!("`{k}`")).join(", ");
                return Err(CliError::invalid(format!(
                    "config {}: unknown key `{key}`",
                    path.display()
                ))
                .with_hint(format!("known keys: {known}")));
            }
        }
        Ok(())
    }
}

/// Returns where the config file is, unless the user says otherwise; `None` without a home folder.
///
/// # Errors
/// A relative path of a folder in the environment, which would be another folder in every working folder.
pub(crate) fn default_path() -> Result<Option<PathBuf>, CliError> {
    let folder = usual("XDG_CONFIG_HOME", ProjectDirs::config_dir);
    let folder = folder.map_err(|error| {
        error.with_hint(
            "set it to an absolute path, or name the config file with `--config` or `ICM_CONFIG`",
        )
    })?;
    Ok(folder.map(|folder| folder.join("config.toml")))
}

/// Returns where the store is, unless the user says otherwise; `None` without a home folder.
///
/// # Errors
/// As [`default_path`].
pub(crate) fn default_db() -> Result<Option<PathBuf>, CliError> {
    usual("XDG_DATA_HOME", ProjectDirs::data_local_dir).map_err(|error| {
        error.with_hint("set it to an absolute path, or name the store with `--db` or `ICM_DB`")
    })
}

/// A folder of this user, which the variable `xdg` may name.
fn usual(xdg: &str, of: fn(&ProjectDirs) -> &Path) -> Result<Option<PathBuf>, CliError> {
    let reads_xdg = cfg!(all(unix, not(target_os = "macos")));
    if reads_xdg && let Some(error) = relative(xdg) {
        return Err(error);
    }
    let folder = ProjectDirs::from("", "", "icm").map(|dirs| of(&dirs).to_path_buf());
    match folder.as_deref().is_some_and(Path::is_relative) {
        true => Err(relative("HOME").unwrap_or_else(|| CliError::failed("no home folder"))),
        false => Ok(folder),
    }
}

/// Refuses a variable that names a folder by a relative path.
fn relative(variable: &str) -> Option<CliError> {
    let value = PathBuf::from(std::env::var_os(variable)?);
    let is_one = !value.as_os_str().is_empty() && value.is_relative();
    is_one.then(|| {
        CliError::failed(format!(
            "`{variable}` is `{}`, which is no absolute path",
            value.display()
        ))
    })
}

fn is_section(key: &str) -> bool {
    KEYS.iter()
        .filter_map(|known| known.split_once('.'))
        .any(|(section, _)| section == key)
}

/// A path in the file: below the home folder, or beside the file.
fn resolve(text: &str, config: &Path) -> PathBuf {
    if let Some(rest) = text.strip_prefix("~/")
        && let Some(dirs) = BaseDirs::new()
    {
        return dirs.home_dir().join(rest);
    }
    match config.parent() {
        Some(folder) => folder.join(text),
        None => PathBuf::from(text),
    }
}
