//! Sessions of agents: memories that they are shown unasked, and the events that they leave.
//!
//! [`wake_up`](wake_up::wake_up) chooses the memories for a session that starts. [`hook`] answers the hooks of clients.
//! [`alerts`] puts due alerts first. [`sessions`] lists the sessions of a store, and [`shown`] the memories that they were shown unasked.
//!
//! This crate asks a [`Service`](icm_service::Service), never the files of a store. It never knows sockets, MCP, the
//! terminal or the files of clients.
//!
//! ```
//! use icm_agents::wake_up::{WakeUpRequest, wake_up};
//! use icm_api::{Caller, Importance, StoreRequest};
//! use icm_service::{OpenOptions, Service};
//!
//! # let folder = tempfile::tempdir()?;
//! let dir = folder.path().join("store");
//! let service = Service::open(OpenOptions { dir, lock_wait: Default::default(), read_only: false })?;
//! let caller = Caller::default();
//! let rule = StoreRequest {
//!     topic: "decisions".to_owned(),
//!     content: "Invoices live in PostgreSQL".to_owned(),
//!     importance: Some(Importance::Critical),
//!     ..Default::default()
//! };
//! service.store(&caller, rule)?;
//! let pack = wake_up(&service, &caller, &WakeUpRequest::default())?;
//! assert!(pack.text.contains("Invoices live in PostgreSQL"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod alerts;
pub mod hook;
pub mod sessions;
pub mod shown;
pub mod wake_up;
