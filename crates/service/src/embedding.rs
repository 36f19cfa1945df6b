//! Which model embeds, and the vectors that it need not make again.

use std::sync::Arc;

use icm_vectors::embed::{EmbedError, Embedder};
use serde::{Serialize, Serializer};

/// What says which texts mean alike.
#[derive(Clone, Default)]
pub enum Model {
    /// The one in the binary.
    #[default]
    BuiltIn,
    /// Nothing: memories are found by their words.
    None,
    /// Another one. It is asked behind the answers; the built-in one stands in for it meanwhile.
    Other(Arc<dyn Embedder>),
    /// One that is not there or not whole: told when it is needed, and done without.
    Unusable(Arc<EmbedError>),
}

impl Serialize for Model {
    /// By its name: two processes with models of one name give the same answers.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Model::BuiltIn => serializer.serialize_str("built-in"),
            Model::None => serializer.serialize_str("none"),
            Model::Other(embedder) => ("other", embedder.model()).serialize(serializer),
            Model::Unusable(error) => ("unusable", error.to_string()).serialize(serializer),
        }
    }
}
