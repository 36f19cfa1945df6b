//! `config.toml`: where it is, what may stand in it, what it says.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use directories::{BaseDirs, ProjectDirs};
use icm_embedders::MAX_DIM;
use icm_embedders::{Choice, Endpoint};
use icm_server::Ranking;
use icm_server::api::{Dedup, OnSimilar};
use icm_server::secrets::{Action, Policy};
use toml::Value;

use crate::error::CliError;

/// Every key, in the order in which they are shown.
pub(crate) const KEYS: [&str; 26] = [
    "db",
    "recall.limit",
    "recall.record",
    "ranking.text",
    "ranking.coverage",
    "ranking.meaning",
    "ranking.centred",
    "ranking.neighbours",
    "ranking.speaker",
    "ranking.identifier",
    "ranking.importance",
    "ranking.recency",
    "ranking.floor",
    "ranking.candidates",
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
    "output.color",
];

/// Most candidates, and most that are expanded.
const COUNT_MAX: usize = 10_000;

/// How long a request to an endpoint may take where nobody says.
pub(crate) const TIMEOUT_S: f64 = 10.0;

/// The file that `icm config init` writes.
pub(crate) const TEMPLATE: &str = "\
# Configuration of icm. Flags and environment variables go before what stands here.
# `icm config show` prints the values in force and where each comes from.

# The store's folder. `~/` is the home folder; a relative path starts at this file's folder.
# db = \"~/memory\"

[recall]
# Results shown unless `-l` is given, 1 to 1000.
# limit = 10

# Recalls are events of the log, unless this is false or `--no-record` is given.
# record = true

[ranking]
# What counts how much in a recall; 0 switches it off. The values here are the measured ones:
# `icm bench recall` measures others. Words in common, and nearness of meaning:
# text = 0.5
# meaning = 0.5

# How much of what a text could have that has every word of the query, 0 to 1, counts in full.
# coverage = 0.3

# Whether what all texts of the store have in common is taken off the meaning.
# centred = true

# The share of their own score, 0 to 1, that the memories next to one in its topic lend it.
# neighbours = 0.3

# Where the query names who speaks in a text (`Ada: …`), and where a text has a rare identifier of
# the query (`E0382`, `src/main.rs`).
# speaker = 0.15
# identifier = 1.0

# What a critical memory gets (a high one half of it; a low one loses half), and what the newest of
# those found gets, an older one less.
# importance = 0.05
# recency = 0.0

# How near, 0 to 1, the meaning of a memory has to be that has no word of the query in it.
# floor = 0.12

# How many memories words and meaning each bring to be looked at closely, and how many of the best of
# those bring the ones next to them in their topic. More find a little more and take longer.
# candidates = 64
# expand = 32

[embedding]
# What turns texts into vectors: \"static\" (in the program, for English), \"none\", \"endpoint\" (a server,
# see below), the name of an installed model, or a model's folder. `icm model list` shows them, and
# `icm model use` writes this.
# model = \"static\"

# A server that speaks OpenAI's /v1/embeddings, and what it calls the model.
# url = \"http://localhost:11434\"
# endpoint_model = \"nomic-embed-text\"

# The environment variable that holds the server's key; none is sent unless it is named.
# key_env = \"ICM_EMBEDDING_KEY\"

# Numbers in each of its vectors; `icm model use endpoint` asks and writes it.
# dim = 768

# How long a request may take, 0.1 to 600 seconds; a question is given up after 3.
# timeout_s = 10

[secrets]
# What to do with a text that holds a password, a token or a key: refuse it, warn and store it,
# mask the secret in it, or off. Names are refused where a text is masked.
# action = \"refuse\"

# Regular expressions of what is no secret, tried on what was found.
# allow = []

[dedup]
# How alike two texts of a topic are, 0 to 1, for the newer one to be called similar. 0: only the
# very same text is looked for.
# similar = 0.85

# What to do then: link the newer one to the older, update the older one, or off.
# on_similar = \"link\"

[output]
# When to use colours: auto, always or never.
# color = \"auto\"
";

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
        match self.ranking.text + self.ranking.meaning == 0.0 {
            true => Err(CliError::invalid(format!(
                "config {}: `ranking.text` and `ranking.meaning` are both 0: nothing would be found",
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
                self.db = Some(resolve(text.ok_or_else(|| wrong("a path"))?, path));
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
            _ if key.starts_with("ranking.") && KEYS.contains(&key) => {
                let number = (value.as_float()).or(value.as_integer().map(|whole| whole as f64));
                let share = |most: f64| number.filter(|number| (0.0..=most).contains(number));
                let part = || share(1.0).ok_or_else(|| wrong("a number from 0 to 1"));
                let count = |least: usize| {
                    let whole = value.as_integer().and_then(|n| usize::try_from(n).ok());
                    let count = whole.filter(|n| (least..=COUNT_MAX).contains(n));
                    count.ok_or_else(|| wrong(&format!("a number from {least} to {COUNT_MAX}")))
                };
                let weight = || share(10.0).ok_or_else(|| wrong("a number from 0 to 10"));
                let ranking = &mut self.ranking;
                match key.trim_start_matches("ranking.") {
                    "text" => ranking.text = weight()?,
                    "coverage" => ranking.coverage = part()?,
                    "meaning" => ranking.meaning = weight()?,
                    "speaker" => ranking.speaker = weight()?,
                    "identifier" => ranking.identifier = weight()?,
                    "importance" => ranking.importance = weight()?,
                    "recency" => ranking.recency = weight()?,
                    "neighbours" => ranking.neighbours = part()?,
                    "floor" => ranking.floor = part()? as f32,
                    "candidates" => ranking.candidates = count(1)?,
                    "expand" => ranking.expand = count(0)?,
                    _ => ranking.centred = value.as_bool().ok_or_else(|| wrong("true or false"))?,
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

/// Where the config file is, unless the user says otherwise.
pub(crate) fn default_path() -> Option<PathBuf> {
    project_dirs().map(|dirs| dirs.config_dir().join("config.toml"))
}

/// Where the store is, unless the user says otherwise.
pub(crate) fn default_db() -> Option<PathBuf> {
    project_dirs().map(|dirs| dirs.data_local_dir().to_path_buf())
}

fn project_dirs() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "icm")
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, CliError> {
        Config::parse(text, Path::new("/etc/icm/config.toml"))
    }

    #[test]
    fn the_template_says_nothing() {
        assert_eq!(parse(TEMPLATE).unwrap(), Config::default());
    }

    #[test]
    fn the_template_with_its_values_is_valid_and_names_every_key() {
        let text = TEMPLATE
            .lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(setting) if setting.contains(" = ") => setting,
                _ => line,
            })
            .collect::<Vec<_>>()
            .join("\n");
        let config = parse(&text).unwrap();
        assert!(config.db.is_some());
        assert_eq!(config.recall_limit, Some(10));
        assert_eq!(config.recall_record, Some(true));
        assert_eq!(config.secrets_action, Some(Action::Refuse));
        assert_eq!(config.secrets_allow, Some(Vec::new()));
        assert_eq!(config.dedup_similar, Some(0.85));
        assert_eq!(config.dedup_on_similar, Some(OnSimilar::Link));
        assert_eq!(config.dedup(), Dedup::default());
        assert_eq!(config.ranking, Ranking::default());
        assert_eq!(config.ranking_given.len(), 12);
        assert_eq!(config.output_color, Some(ColorWhen::Auto));
        assert_eq!(config.embedding_model, Some(ModelName::Static));
        assert_eq!(config.embedding_timeout_s, Some(TIMEOUT_S));
        let endpoint = config.endpoint().unwrap();
        assert!(
            endpoint.dim.is_some() && endpoint.key_env.is_some(),
            "{endpoint:?}"
        );
    }

    #[test]
    fn the_embedder_is_read() {
        let choice = |text: &str| parse(&format!("[embedding]\n{text}")).unwrap().embedding();
        assert_eq!(choice("").unwrap(), Choice::BuiltIn);
        assert_eq!(choice("model = 'static'").unwrap(), Choice::BuiltIn);
        assert_eq!(choice("model = 'none'").unwrap(), Choice::None);
        let installed = choice("model = 'all-MiniLM-L6-v2'").unwrap();
        assert_eq!(installed, Choice::Installed("all-MiniLM-L6-v2".into()));
        let folder = |path: &str| Choice::Folder(path.into());
        assert_eq!(choice("model = '/m/x'").unwrap(), folder("/m/x"));
        assert_eq!(choice("model = './x'").unwrap(), folder("/etc/icm/./x"));
        let error = choice("model = 'endpoint'").unwrap_err().said();
        assert!(error.contains("`embedding.url`"), "{error}");
        let error = choice("model = 'endpoint'\nurl = 'http://h'")
            .unwrap_err()
            .said();
        assert!(error.contains("`embedding.endpoint_model`"), "{error}");
        let text =
            "model = 'endpoint'\nurl = 'http://h'\nendpoint_model = 'm'\ntimeout_s = 0.5\ndim = 3";
        let Ok(Choice::Endpoint(endpoint)) = choice(text) else {
            panic!("no endpoint");
        };
        assert_eq!(endpoint.timeout, Duration::from_millis(500));
        assert_eq!((endpoint.dim, endpoint.key_env), (Some(3), None));
    }

    #[test]
    fn a_key_in_the_place_of_its_variable_is_refused_and_not_shown() {
        let text = "[embedding]\nkey_env = 'sk-12345'";
        let error = parse(text).unwrap_err().said();
        assert!(
            error.contains("the name of an environment variable"),
            "{error}"
        );
        assert!(!error.contains("12345"), "{error}");
    }

    #[test]
    fn unknown_keys_and_wrong_values_are_errors() {
        for text in [
            "dbs = 'x'",
            "[recal]\nlimit = 3",
            "[recall]\nlimits = 3",
            "[recall]\nlimit = 0",
            "[recall]\nlimit = '3'",
            "[output]\ncolor = 'blue'",
            "[secrets]\naction = 'no'",
            "[secrets]\nallow = 'x'",
            "[secrets]\nallow = ['(']",
            "[dedup]\nsimilar = 1.1",
            "[dedup]\nsimilar = -0.1",
            "[dedup]\nsimilar = nan",
            "[dedup]\nsimilar = '0.5'",
            "[dedup]\non_similar = 'drop'",
            "[dedup]\non_similar = true",
            "dedup = 'off'",
            "[ranking]\ntext = 11",
            "[ranking]\nneighbours = 1.5",
            "[ranking]\nfloor = '0.1'",
            "[ranking]\ncentred = 1",
            "[ranking]\nwords = 1",
            "[ranking]\ntext = 0\nmeaning = 0",
            "[embedding]\nmodel = ''",
            "[embedding]\nmodel = 3",
            "[embedding]\nurl = ''",
            "[embedding]\ndim = 0",
            "[embedding]\ndim = 'x'",
            "[embedding]\ntimeout_s = 0",
            "[embedding]\ntimeout_s = inf",
            "[embedding]\nkey_env = 'a b'",
            "[embedding]\nkey = 'x'",
            "recall = 3",
            "db = ",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn dedup_is_read() {
        for (text, similar_ppm, on_similar) in [
            ("", 850_000, OnSimilar::Link),
            ("[dedup]\nsimilar = 0", 0, OnSimilar::Link),
            ("[dedup]\nsimilar = 1", 1_000_000, OnSimilar::Link),
            (
                "[dedup]\nsimilar = 0.7\non_similar = 'update'",
                700_000,
                OnSimilar::Update,
            ),
            ("[dedup]\non_similar = 'off'", 850_000, OnSimilar::Off),
        ] {
            let wanted = Dedup {
                similar_ppm,
                on_similar,
            };
            assert_eq!(parse(text).unwrap().dedup(), wanted, "{text}");
        }
    }

    #[test]
    fn a_relative_store_lies_beside_the_file() {
        let config = parse("db = 'store'").unwrap();
        assert_eq!(config.db, Some(PathBuf::from("/etc/icm/store")));
    }
}
