//! The choice of the model that embeds texts.

use std::sync::Arc;

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
    Other(Arc<dyn Embedder>),
    /// A model that is missing or incomplete. The user is told when the model is needed; memories are then found by
    /// their words.
    Unusable(Arc<EmbedError>),
}

impl Serialize for Model {
    /// Serializes the model by its name: two processes with models of one name give the same answers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Model::BuiltIn => serializer.serialize_str("built-in"),
            Model::None => serializer.serialize_str("none"),
            Model::Other(embedder) => ("other", embedder.model()).serialize(serializer),
            Model::Unusable(error) => ("unusable", error.to_string()).serialize(serializer),
        }
    }
}
