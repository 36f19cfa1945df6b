//! The views of icm: the state that the log of events folds to, and its search.
//!
//! Every view can be deleted, and a rebuild makes it the same from the log. Only [`fold`] reads events; rows, text and
//! vectors follow row versions. [`ranking`] orders the results of a recall.
//!
//! This crate decides nothing and writes no event. It never knows MCP, sockets or the clock.
//!
//! ```
//! use std::sync::Arc;
//!
//! use icm_log::{Log, disk::RealDisk};
//! use icm_projections::fold::fold_afresh;
//!
//! let folder = tempfile::tempdir()?;
//! let log = Log::open(Arc::new(RealDisk), folder.path())?;
//! let tally = fold_afresh(&log, &mut |_events| {})?;
//! assert_eq!(tally.memories, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod file;
pub mod fold;
mod forward;
mod moment;
mod passages;
pub mod ranking;
mod rows;
mod table;
mod views;

pub use error::{Result, ViewError};
pub use moment::{LooksCloser, Moment};
pub use rows::{FactFilter, HomeTag, Row, RowFacts, Rows, TopicTag};
pub use table::{Table, TopicCount};
pub use views::{
    ALL_IDS, Embedded, Embeds, FilesMark, GraphJob, Inspected, ModelId, ModelVector, Progress,
    RecallHit, RecallQuery, Recalled, StandsOut, TagQuery, Unembedded, Views, ViewsState, inspect,
    is_version_file, topic_fits, version_dir,
};
