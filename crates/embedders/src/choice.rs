//! The user's choice of an embedder, and how it is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use icm_vectors::embed::{EmbedError, Embedder};

use crate::endpoint::{Endpoint, EndpointEmbedder};
use crate::onnx::FastEmbedder;
use crate::store::Store;

/// The embedder chosen for a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Choice {
    /// The table in the binary.
    #[default]
    BuiltIn,
    /// None: a recall searches by words only.
    None,
    /// A model in the store's folder `models/`.
    Installed(String),
    /// A model in a folder of the user.
    Folder(PathBuf),
    /// A server.
    Endpoint(Endpoint),
}

/// An opened choice. The built-in embedder is not made here, because the views have their own.
pub enum Opened {
    /// The table in the binary.
    BuiltIn,
    /// Nothing is embedded.
    None,
    /// This embedder.
    Model(Arc<dyn Embedder>),
}

/// Opens a choice at little cost: no model is loaded and no server is asked.
///
/// # Errors
/// A model that is missing or incomplete, or settings that cannot work. Other errors (no ONNX Runtime, a server that is
/// down) appear when texts are embedded.
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
