//! The embedders of icm that are not inside the binary: ONNX models that run on this machine, and servers with OpenAI's
//! `/v1/embeddings`.
//!
//! [`open`] turns the user's choice into an embedder. It costs little: it reads a short record, loads neither a model
//! nor ONNX Runtime, and asks no server. The first embedded text does that. A [`Store`] of models is two folders below
//! an icm store: `models/NAME/` and `lib/` for ONNX Runtime; [`install()`] fills them.
//!
//! This crate knows texts, models and vectors. It must never know events, ranking, views, the config file or the
//! terminal. Unlike other crates it reads its surroundings: `ORT_DYLIB_PATH`, the variable of the key, `python3`, and,
//! while installing, the network. It also keeps deadlines.
//!
//! ```
//! use icm_embedders::{Choice, Opened, open};
//!
//! let store = tempfile::tempdir()?;
//! assert!(matches!(open(&Choice::BuiltIn, store.path())?, Opened::BuiltIn));
//! let error = open(&Choice::Installed("all-MiniLM-L6-v2".into()), store.path()).err().expect("not there");
//! assert!(error.to_string().contains("it is not installed"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// A test that meets `None` has failed, and the line number says where.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod catalogue;
mod choice;
mod endpoint;
mod error;
mod install;
mod onnx;
mod store;
mod unit;

pub use catalogue::{KNOWN, Known, known};
pub use choice::{Choice, Opened, open};
pub use endpoint::{Endpoint, EndpointEmbedder};
pub use error::ModelError;
pub use icm_vectors::MAX_DIM;
pub use icm_vectors::embed::{EmbedError, Embedder, StaticEmbedder};
pub use install::{DEFAULT_MODEL, Installed, Source, Watch, install};
pub use onnx::{FastEmbedder, Pooling, Record};
pub use store::{Entry, Store};
