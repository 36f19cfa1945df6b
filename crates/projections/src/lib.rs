//! The views of icm: what the log of events folds to, and how it is searched.
//!
//! Everything here can be deleted and comes back the same from the log. Only [`fold`] reads events;
//! rows, text and vectors follow row versions. This crate never knows MCP, sockets or the clock.

mod error;
mod file;
pub mod fold;
mod forward;
pub mod ranking;
mod rows;
mod table;
mod views;

pub use error::{Result, ViewError};
pub use rows::{FactFilter, Facts, Row, Rows};
pub use table::{Table, TopicCount};
pub use views::{
    ALL_IDS, AskedModel, Embedded, GraphJob, Inspected, ModelId, Progress, RecallHit, RecallQuery,
    Recalled, TopicTag, Unembedded, Views, ViewsState, inspect, topic_fits,
};
