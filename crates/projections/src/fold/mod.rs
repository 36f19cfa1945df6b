//! The fold: from events to row versions. A pure function of the events; it reads no clock and knows nothing of files,
//! indexes or ranking.

mod afresh;
mod alerts;
mod apply;
mod base;
mod branches;
mod canonical;
mod decay;
mod expiry;
mod feedback;
mod graph;
mod keep;
mod links;
mod memory;
mod overlay;
mod packed;
mod record;
mod state_hash;
mod stretches;
mod tally;
mod texts;
mod undo;
mod undos;

pub use afresh::fold_afresh;
pub use alerts::{Alerts, PendingAlert};
pub use apply::{Applied, Folder};
pub use base::{Access, Base, Learned, NoBase, Request};
pub use canonical::canonical_order;
pub use decay::{Rates, Schedule, Tick, day_of};
pub use expiry::NEVER_MS;
pub use keep::{Ended, Keep, Row};
pub use links::Link;
pub use memory::{as_written, written_by};
pub use overlay::{Closed, MARKED, MEMOIRS, Overlay, PLANNED, TopicChange, concepts_of};
pub use record::{
    Carried, EntityId, Expiry, FACTS, FEEDBACK, Family, FeedbackRow, GraphRow, Keyword, Source,
    Stamp, Version, Writer, changed,
};
pub use state_hash::{StateHash, StateSum};
pub use stretches::Stretches;
pub use tally::Tally;
pub use texts::{Owned, Texts};
pub use undo::{Change, Past, difference};
pub use undos::{InChain, Undo, Undos};

/// Version of the fold; it rises when the fold gives other rows for the same events. Views of another version are
/// dropped and rebuilt.
pub const FOLD_VERSION: u32 = 6;
