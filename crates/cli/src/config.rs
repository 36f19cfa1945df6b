//! The config file, `config.toml`: its keys as types, and their meaning for the program.
//!
//! Each key is a field here, with its default, and a row of [`KEYS`], with its bounds and its description. A test
//! compares fields and rows. `config show`, the template, the reference page, completions and errors are made from
//! both.

mod folders;
mod keys;
mod model_name;
#[cfg(test)]
mod page;
mod ppm;
mod read;
mod table;
mod template;
#[cfg(all(test, feature = "bench", feature = "models"))]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use icm_api::Summarizer;
use icm_api::{DecayPolicy, Dedup, OnSimilar};
#[cfg(feature = "models")]
use icm_embedders::{Choice, Endpoint};
use icm_guard::secrets::{Action, Policy};
#[cfg(feature = "models")]
use icm_projections::Embeds;
use icm_projections::ranking::Ranking;
use serde::{Deserialize, Serialize, Serializer};
use toml::Table;

use crate::error::CliError;

pub(crate) use folders::{default_db, default_path};
pub(crate) use model_name::ModelName;
pub(crate) use table::KEYS;
pub(crate) use template::template;

/// The settings in force: those of the config file, and defaults for the rest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(serialize_with = "lossy")]
    pub(crate) db: Option<PathBuf>,
    pub(crate) recall: Recall,
    pub(crate) ranking: Ranking,
    pub(crate) embedding: Embedding,
    pub(crate) secrets: Secrets,
    #[serde(with = "DedupSection")]
    pub(crate) dedup: Dedup,
    #[serde(with = "DecaySection")]
    pub(crate) decay: DecayPolicy,
    pub(crate) consolidate: Consolidate,
    pub(crate) summarizer: SummarizerSection,
    pub(crate) judge: JudgeSection,
    pub(crate) extractor: ExtractorSection,
    pub(crate) hooks: Hooks,
    pub(crate) mcp: Mcp,
    pub(crate) output: Output,
    /// The file as it was parsed.
    #[serde(skip)]
    given: Table,
}

/// `[recall]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Recall {
    pub(crate) limit: usize,
    pub(crate) record: bool,
    pub(crate) links: bool,
}

impl Default for Recall {
    fn default() -> Self {
        Recall {
            limit: 10,
            record: true,
            links: true,
        }
    }
}

/// `[hooks]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Hooks {
    pub(crate) enabled: bool,
    pub(crate) record: bool,
    pub(crate) floor: f64,
    pub(crate) budget: usize,
    pub(crate) wake_up_budget: usize,
    pub(crate) learn: bool,
    pub(crate) tool_output: bool,
}

impl Default for Hooks {
    fn default() -> Self {
        Hooks {
            enabled: true,
            record: true,
            floor: 0.3,
            budget: 600,
            wake_up_budget: icm_agents::wake_up::BUDGET,
            learn: true,
            tool_output: false,
        }
    }
}

/// `[mcp]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Mcp {
    pub(crate) nudge_after: u64,
}

impl Default for Mcp {
    fn default() -> Self {
        Mcp { nudge_after: 10 }
    }
}

/// `[embedding]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Embedding {
    pub(crate) model: ModelName,
    pub(crate) url: Option<String>,
    pub(crate) endpoint_model: Option<String>,
    pub(crate) key_env: Option<String>,
    pub(crate) dim: Option<usize>,
    pub(crate) timeout_s: f64,
    pub(crate) passages: bool,
}

impl Default for Embedding {
    fn default() -> Self {
        Embedding {
            model: ModelName::Static,
            url: None,
            endpoint_model: None,
            key_env: None,
            dim: None,
            timeout_s: 10.0,
            passages: true,
        }
    }
}

/// `[secrets]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Secrets {
    pub(crate) action: Action,
    pub(crate) allow: Vec<String>,
}

/// `[dedup]`: the fields of [`Dedup`] in the form of the file.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Dedup", default = "Dedup::default", deny_unknown_fields)]
struct DedupSection {
    #[serde(rename = "similar", with = "ppm")]
    similar_ppm: u32,
    on_similar: OnSimilar,
}

/// `[decay]`: the fields of [`DecayPolicy`] in the form of the file.
#[derive(Serialize, Deserialize)]
#[serde(
    remote = "DecayPolicy",
    default = "DecayPolicy::default",
    deny_unknown_fields
)]
struct DecaySection {
    auto: bool,
    #[serde(rename = "rate", with = "ppm")]
    rate_ppm: u32,
    #[serde(rename = "critical", with = "ppm")]
    critical_ppm: u32,
    #[serde(rename = "high", with = "ppm")]
    high_ppm: u32,
    #[serde(rename = "medium", with = "ppm")]
    medium_ppm: u32,
    #[serde(rename = "low", with = "ppm")]
    low_ppm: u32,
    #[serde(rename = "prune_threshold", with = "ppm")]
    prune_threshold_ppm: u32,
}

/// `[consolidate]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Consolidate {
    pub(crate) hint_over: u64,
}

impl Default for Consolidate {
    fn default() -> Self {
        Consolidate { hint_over: 7 }
    }
}

/// `[summarizer]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SummarizerSection {
    pub(crate) command: Option<String>,
    pub(crate) timeout_s: f64,
}

impl Default for SummarizerSection {
    fn default() -> Self {
        SummarizerSection {
            command: None,
            timeout_s: Summarizer::TIMEOUT.as_secs_f64(),
        }
    }
}

/// `[judge]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct JudgeSection {
    pub(crate) command: Option<String>,
    pub(crate) timeout_s: f64,
}

impl Default for JudgeSection {
    fn default() -> Self {
        JudgeSection {
            command: None,
            timeout_s: Summarizer::TIMEOUT.as_secs_f64(),
        }
    }
}

/// `[extractor]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ExtractorSection {
    pub(crate) command: Option<String>,
    pub(crate) timeout_s: f64,
}

impl Default for ExtractorSection {
    fn default() -> Self {
        ExtractorSection {
            command: None,
            timeout_s: Summarizer::TIMEOUT.as_secs_f64(),
        }
    }
}

/// `[output]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Output {
    pub(crate) color: ColorWhen,
}

/// The rule for colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Also in a pipe.
    Always,
    /// Never.
    Never,
}

impl Config {
    /// Returns `true` if the file has this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        table::named_values(&self.given).any(|(name, _)| name == key)
    }

    /// Returns every key with its value, `null` for a key without one.
    pub(crate) fn values(&self) -> impl Iterator<Item = (&'static keys::Key, serde_json::Value)> {
        let sections = serde_json::to_value(self).expect("every field is a JSON value");
        KEYS.iter().map(move |key| match key.split() {
            ("", field) => (key, sections[field].clone()),
            (section, field) => (key, sections[section][field].clone()),
        })
    }

    /// Returns the choice of a model for recall.
    #[cfg(feature = "models")]
    pub(crate) fn embedding(&self) -> Result<Choice, CliError> {
        Ok(match self.embedding.model.clone() {
            ModelName::Static => Choice::BuiltIn,
            ModelName::None => Choice::None,
            ModelName::Endpoint => Choice::Endpoint(self.endpoint()?),
            ModelName::Installed(name) => Choice::Installed(name),
            ModelName::Folder(folder) => Choice::Folder(folder),
        })
    }

    /// Returns the texts that another model than the built-in one embeds.
    #[cfg(feature = "models")]
    pub(crate) fn embeds(&self) -> Embeds {
        match self.embedding.passages {
            true => Embeds::Passages,
            false => Embeds::Texts,
        }
    }

    /// Returns the server of `[embedding]`.
    #[cfg(feature = "models")]
    pub(crate) fn endpoint(&self) -> Result<Endpoint, CliError> {
        let embedding = &self.embedding;
        let needed = |value: &Option<String>, key: &str, example: &str| {
            value.clone().ok_or_else(|| {
                CliError::invalid(format!("the model `endpoint` needs `embedding.{key}`"))
                    .with_hint(format!("for instance `{key} = \"{example}\"`"))
            })
        };
        Ok(Endpoint {
            url: needed(&embedding.url, "url", "http://localhost:11434")?,
            model: needed(
                &embedding.endpoint_model,
                "endpoint_model",
                "nomic-embed-text",
            )?,
            key_env: embedding.key_env.clone(),
            dim: embedding.dim,
            timeout: Duration::from_secs_f64(embedding.timeout_s),
        })
    }

    /// Returns the policy for secrets.
    pub(crate) fn secrets(&self) -> Result<Policy, CliError> {
        Policy::new(self.secrets.action, &self.secrets.allow).map_err(|why| {
            CliError::invalid(format!(
                "`secrets.allow` must be a list of regular expressions: {why}"
            ))
        })
    }

    /// Returns the command that makes summaries, if one is configured.
    pub(crate) fn summarizer(&self) -> Option<Summarizer> {
        Some(Summarizer {
            command: self.summarizer.command.clone()?,
            timeout: self.summarizer_timeout(),
        })
    }

    /// Returns the command that decides whether one memory replaces another, if one is configured.
    pub(crate) fn judge(&self) -> Option<Summarizer> {
        Some(Summarizer {
            command: self.judge.command.clone()?,
            timeout: Duration::from_secs_f64(self.judge.timeout_s),
        })
    }

    /// Returns the command that extracts memories, if one is configured.
    pub(crate) fn extractor(&self) -> Option<Summarizer> {
        Some(Summarizer {
            command: self.extractor.command.clone()?,
            timeout: Duration::from_secs_f64(self.extractor.timeout_s),
        })
    }

    /// Returns the longest time of a command that makes a summary.
    pub(crate) fn summarizer_timeout(&self) -> Duration {
        Duration::from_secs_f64(self.summarizer.timeout_s)
    }
}

fn lossy<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    let text = path.as_ref().map(|path| path.to_string_lossy());
    text.serialize(serializer)
}
