//! The choice of the model that embeds texts.

use std::sync::Arc;

use icm_projections::{Embeds, ModelId};
use icm_vectors::embed::{EmbedError, Embedder};
use serde::{Serialize, Serializer};

/// The model that says which texts mean alike.
#[derive(Clone, Default)]
pub enum Model {
    /// The model in the binary.
    #[default]
    BuiltIn,
    /// No model: memories are found by their words.
    None,
    /// Another model. It embeds in the background; the built-in one stands in for it meanwhile.
    Other(ChosenModel),
    /// A model that is missing or incomplete. The user is told when the model is needed; memories are then found by
    /// their words.
    Unusable(Arc<EmbedError>),
}

/// A model that is not built in, and the texts that it embeds.
#[derive(Clone)]
pub struct ChosenModel {
    pub(crate) embedder: Arc<dyn Embedder>,
    embeds: Embeds,
    name: String,
}

impl ChosenModel {
    /// Returns a model with the texts that it is to embed.
    pub fn new(embedder: Arc<dyn Embedder>, embeds: Embeds) -> ChosenModel {
        let model = embedder.model();
        let name = match embeds {
            Embeds::Passages => model.to_owned(),
            Embeds::Texts => format!("{model} (whole texts)"),
        };
        ChosenModel {
            embedder,
            embeds,
            name,
        }
    }

    /// Returns the name of the model's vectors. Vectors of passages and of whole texts have two names and are never mixed.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn id(&self) -> ModelId<'_> {
        ModelId {
            name: &self.name,
            dim: self.embedder.dim(),
            embeds: self.embeds,
        }
    }
}

impl Serialize for Model {
    /// Serializes the model by its name: two processes with models of one name give the same answers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Model::BuiltIn => serializer.serialize_str("built-in"),
            Model::None => serializer.serialize_str("none"),
            Model::Other(model) => ("other", model.name()).serialize(serializer),
            Model::Unusable(error) => ("unusable", error.to_string()).serialize(serializer),
        }
    }
}
