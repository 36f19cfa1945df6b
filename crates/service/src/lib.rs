//! The service of icm: commands and queries on one store.
//!
//! [`Service`] turns requests (the types of `icm-api`) into events of the log, and answers queries from the views. Its
//! folders are named after what a person does: alerts, memory, recall, history, memoir, feedback, upkeep, portable and
//! integrity. They
//! stand on three others: `service` (the open store and its parts), `snapshot` (the views in use) and `command` (every
//! write passes it). Modules use one another in one direction only; a test refuses circles.
//!
//! This crate knows no socket, no protocol and no terminal. Another process that answers for the same store is a
//! [`peer::Peer`]. The clock, randomness and the disk come in as [`Ground`].
//!
//! ```
//! use std::time::Duration;
//!
//! use icm_api::{Caller, RecallRequest, StoreRequest};
//! use icm_service::{OpenOptions, Service};
//!
//! # let folder = tempfile::tempdir()?;
//! # let dir = folder.path().join("store");
//! let options = OpenOptions { dir, lock_wait: Duration::from_secs(1), read_only: false };
//! let service = Service::open(options)?;
//! let caller = Caller::default();
//! let request = StoreRequest {
//!     topic: "decisions".to_owned(),
//!     content: "Invoices live in PostgreSQL".to_owned(),
//!     ..Default::default()
//! };
//! let stored = service.store(&caller, request)?;
//! let question = RecallRequest { query: "where do invoices live".to_owned(), ..Default::default() };
//! let answer = service.recall(&caller, &question)?;
//! assert_eq!(answer.results[0].memory.id, stored.id);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alerts;
mod command;
mod embedding;
mod feedback;
mod history;
pub mod holder;
mod integrity;
mod memoir;
mod memory;
pub mod peer;
mod portable;
mod recall;
mod service;
mod snapshot;
mod summarizer;
mod system;
mod upkeep;

pub use embedding::{ChosenModel, Model};
pub use history::diff::shown_difference;
pub use history::range::EventRange;
pub use memory::store::Prepared;
pub use portable::backup::restore;
pub use portable::exchange::ExportFile;
pub use portable::import::{STDIN, next_line};
pub use recall::recorded_recalls::RecordedRecall;
pub use recall::repeats::Comparable;
pub use recall::unasked::StandOutConditions;
pub use service::{Delivery, Ground, OpenOptions, OwnQueue, Service, Write};
pub use snapshot::settle::TailLeft;
pub use summarizer::run_called;
pub use system::SystemEnv;
