//! How many versions of a topic hold now.

use tantivy::Term;
use tantivy::schema::IndexRecordOption;

use super::collect::{postings, seek};
use super::error::{Doing, TextError};
use super::index::TextIndex;
use super::schema::{fields, topic_is};
use super::tail::Tail;

impl TextIndex {
    /// The versions of exactly this topic that hold now, in the index and in the tail. Costs a
    /// posting list a segment, and a seek in it for each document that stands there no longer holding.
    pub fn living_in(&self, tail: &Tail, topic: &str) -> Result<u64, TextError> {
        let filter = topic_is(topic);
        let term = Term::from_field_text(fields().filter, &filter);
        let live = self.live_searcher();
        let [deleted, _] = self.deleted();
        let mut living = 0;
        for (segment, reader) in live.segment_readers().iter().enumerate() {
            let list = postings(reader, fields().filter, &term, IndexRecordOption::Basic);
            let Some(mut list) = list.doing("counting a topic")? else {
                continue;
            };
            living += u64::from(list.doc_freq());
            let mut gone = deleted[segment].clone();
            let closed = tail.closed_in_index().iter();
            gone.extend(closed.filter(|at| at.segment == segment).map(|at| at.doc));
            gone.sort_unstable();
            gone.dedup();
            living -= gone
                .iter()
                .filter(|&&doc| seek(&mut list, doc) == doc)
                .count() as u64;
        }
        Ok(living + tail.open_with(&filter))
    }
}
