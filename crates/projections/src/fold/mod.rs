//! The fold: from events to row versions. A pure function of the events; it reads no clock and
//! knows nothing of files, indexes or ranking.

mod apply;
mod memory;
mod record;
mod state_hash;

pub use apply::{
    Access, Applied, Base, Closed, Folder, NoBase, Overlay, Request, Tally, TopicChange,
    fold_afresh,
};
pub use record::{EntityId, Keyword, Source, Stamp, Version, Writer, changed};
pub use state_hash::{StateHash, StateSum};

/// Rises whenever a fold gives another row for the same events; views of another version are
/// dropped and rebuilt.
pub const FOLD_VERSION: u32 = 1;
