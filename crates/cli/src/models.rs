//! Opens the model that the settings of `[embedding]` choose.

#[cfg(feature = "models")]
use std::path::PathBuf;
use std::sync::Arc;

#[cfg(feature = "models")]
use icm_embedders::{Choice, Opened, Store};
#[cfg(feature = "models")]
use icm_service::ChosenModel;
use icm_service::Model;
use icm_vectors::embed::EmbedError;

use crate::app::App;
use crate::config::Config;
#[cfg(not(feature = "models"))]
use crate::config::ModelName;
#[cfg(feature = "models")]
use crate::config::default_db;
use crate::error::CliError;

#[cfg(feature = "models")]
impl App {
    /// Returns the model of a configuration. A model that cannot be used causes no error before it is needed. If this
    /// store does not have the model, the default store may have it.
    pub(crate) fn model(&self, config: &Config) -> Result<Model, CliError> {
        let choice = match config.embedding() {
            Ok(choice) => choice,
            Err(error) => {
                let error = EmbedError::Unavailable {
                    model: "endpoint".to_owned(),
                    why: error.said(),
                    hint: Some(
                        "or go back to the built-in one with `icm model use static`".to_owned(),
                    ),
                };
                return Ok(Model::Unusable(Arc::new(error)));
            }
        };
        let opened = icm_embedders::open(&choice, &self.models_of(&choice)?);
        Ok(match opened {
            Ok(Opened::BuiltIn) => Model::BuiltIn,
            Ok(Opened::None) => Model::None,
            Ok(Opened::Model(embedder)) => {
                Model::Other(ChosenModel::new(embedder, config.embeds()))
            }
            Err(error) => Model::Unusable(Arc::new(error)),
        })
    }

    /// Returns the store with the models of a choice: this store, or the default store if only that one has the model.
    pub(crate) fn models_of(&self, choice: &Choice) -> Result<PathBuf, CliError> {
        let here = self.db()?.0;
        let Choice::Installed(name) = choice else {
            return Ok(here);
        };
        let has = |dir: &PathBuf| Store::of(dir).name_of(name).is_some();
        let usual = default_db().ok().flatten();
        let usual = usual.filter(|usual| !has(&here) && has(usual));
        Ok(usual.unwrap_or(here))
    }
}

/// A build without other models has only the built-in one.
#[cfg(not(feature = "models"))]
impl App {
    /// Returns the model of a configuration. A model that this build lacks causes no error before it is needed.
    pub(crate) fn model(&self, config: &Config) -> Result<Model, CliError> {
        Ok(match config.embedding.model.clone() {
            ModelName::Static => Model::BuiltIn,
            ModelName::None => Model::None,
            other => Model::Unusable(Arc::new(EmbedError::Unavailable {
                model: other.to_string(),
                why: crate::error::not_in_this_build("other models").said(),
                hint: Some("install icm with its default features, or take `embedding.model` out of the config file".to_owned()),
            })),
        })
    }
}
