//! Feedback: corrections of predictions, and the judgement of memories.
//!
//! A correction is a row beside memories (see `crates/projections/src/fold/feedback.rs`): a search finds it, and a recall
//! shows it if its context fits. A judgement of a memory (a mark) changes the memory's rank, see
//! [`Ranking::for_marks`](icm_projections::ranking::Ranking::for_marks).

mod list;
mod record;
pub(crate) mod row;
mod search;
mod stats;
