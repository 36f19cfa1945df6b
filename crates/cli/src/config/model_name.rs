//! The value of `embedding.model`.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::folders::resolve;

/// A model in the notation of the config file and `icm model use`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub(crate) enum ModelName {
    /// The model in the program.
    #[default]
    Static,
    /// No model: recall by words alone.
    None,
    /// The server of `embedding.url`.
    Endpoint,
    /// An installed model, by its name.
    Installed(String),
    /// The folder of a model.
    Folder(PathBuf),
}

impl ModelName {
    /// Returns the same name; a path relative to `folder` or to the home folder becomes absolute.
    pub(crate) fn within(self, folder: &Path) -> ModelName {
        match self {
            ModelName::Folder(path) => ModelName::Folder(resolve(&path, folder)),
            other => other,
        }
    }
}

impl From<String> for ModelName {
    fn from(text: String) -> ModelName {
        match text.to_ascii_lowercase().as_str() {
            "static" => ModelName::Static,
            "none" => ModelName::None,
            "endpoint" => ModelName::Endpoint,
            _ if is_path(&text) => ModelName::Folder(text.into()),
            _ => ModelName::Installed(text),
        }
    }
}

impl From<ModelName> for String {
    fn from(name: ModelName) -> String {
        name.to_string()
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

/// Returns `true` if a model is named by a path, which no model's name looks like.
fn is_path(text: &str) -> bool {
    text.contains(['/', '\\']) || text.starts_with(['.', '~'])
}
