//! What the user chose, and the embedder that it stands for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use icm_vectors::embed::{EmbedError, Embedder};

use crate::endpoint::{Endpoint, EndpointEmbedder};
use crate::onnx::FastEmbedder;
use crate::store::Store;

/// Which embedder a store is recalled with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Choice {
    /// The table in the binary.
    #[default]
    BuiltIn,
    /// None: recall goes by words alone.
    None,
    /// A model below the store's `models/`.
    Installed(String),
    /// A model in a folder of the user's.
    Folder(PathBuf),
    /// A server.
    Endpoint(Endpoint),
}

/// What a choice comes to. The built-in embedder is not made here: the views have their own.
pub enum Opened {
    /// The table in the binary.
    BuiltIn,
    /// Nothing is embedded.
    None,
    /// This one.
    Model(Arc<dyn Embedder>),
}

/// Opens what was chosen, cheaply: nothing is loaded and nobody is asked.
///
/// # Errors
/// Where the choice cannot work: a model that is not there or not whole, settings that make no
/// sense. What only shows when texts are embedded (no ONNX Runtime, a server that is down) is told
/// then.
pub fn open(choice: &Choice, store: &Path) -> Result<Opened, EmbedError> {
    let store = Store::of(store);
    let model: Arc<dyn Embedder> = match choice {
        Choice::BuiltIn => return Ok(Opened::BuiltIn),
        Choice::None => return Ok(Opened::None),
        Choice::Installed(name) => Arc::new(store.embedder(name)?),
        Choice::Folder(folder) => Arc::new(FastEmbedder::open(folder, store.lib_dir())?),
        Choice::Endpoint(endpoint) => Arc::new(EndpointEmbedder::new(endpoint)?),
    };
    Ok(Opened::Model(model))
}
