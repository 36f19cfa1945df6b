#![doc = include_str!("lib.md")]

pub mod acked;
pub mod bundle;
pub mod cases;
mod chain;
pub mod copy;
pub mod disk;
pub mod env;
mod error;
mod holes;
mod layout;
pub mod learn;
mod log;
mod recover;
pub mod redact;
pub mod redacted;
pub mod repair;
mod rewritten;
mod runs;
mod scan;
mod store_file;
mod strays;
pub mod verify;
mod walk;
mod writer;
mod zero_tail;

pub use icm_event::*;
pub use icm_event::{facts, hash, head, id, kind, payload, record, schema, segment};

pub use error::{Gap, LogError, Result};
pub use layout::{ACKED_FILE, LOCK_FILE, LOG_DIR, STORE_FILE, TORN_DIR};
pub use log::{KnownBy, Log, Refusal, Unknown};
pub use recover::Tip;
pub use rewritten::Rewritten;
pub use store_file::StoreFile;
pub use walk::{Cursor, Event, Place, Waypoint, Waypoints};
pub use writer::{
    Appended, BATCH_EVENTS_MAX, BATCH_LEN_MAX, Batch, Durability, LAZY_MAX, NewEvent, SKEW_MAX_MS,
    Writer, actor_named,
};
