//! Which model embeds, and the vectors that it need not make again.

mod cache;

use std::fmt;
use std::sync::Arc;

use icm_vectors::embed::{EmbedError, Embedder};

pub(crate) use cache::Cache;

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

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Model::BuiltIn => f.write_str("BuiltIn"),
            Model::None => f.write_str("None"),
            Model::Unusable(error) => f.debug_tuple("Unusable").field(error).finish(),
            Model::Other(embedder) => f.debug_tuple("Other").field(&embedder.model()).finish(),
        }
    }
}
