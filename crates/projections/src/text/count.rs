//! How many versions of a topic hold now.

use tantivy::Term;

use super::collect::filtered;
use super::error::{Doing, TextError};
use super::index::TextIndex;
use super::schema::{fields, scope_is, topic_is};
use super::tail::Tail;

impl TextIndex {
    /// The versions of exactly this topic, and of exactly this scope where one is given, that hold
    /// now, in the index and in the tail. Costs a walk of the shorter posting list of each segment.
    pub fn living_in(
        &self,
        tail: &Tail,
        topic: &str,
        scope: Option<&str>,
    ) -> Result<u64, TextError> {
        let filters: Vec<String> = std::iter::once(topic_is(topic))
            .chain(scope.map(scope_is))
            .collect();
        let term = |filter: &String| vec![Term::from_field_text(fields().filter, filter)];
        let terms: Vec<Vec<Term>> = filters.iter().map(term).collect();
        let live = self.live_searcher();
        let [deleted, _] = self.deleted();
        let mut living = 0;
        for (segment, reader) in live.segment_readers().iter().enumerate() {
            let docs = filtered(reader, &terms).doing("counting a topic")?;
            let mut gone = deleted[segment].clone();
            let closed = tail.closed_in_index().iter();
            gone.extend(closed.filter(|at| at.segment == segment).map(|at| at.doc));
            gone.sort_unstable();
            gone.dedup();
            living += match docs {
                Some(docs) => {
                    gone.retain(|doc| docs.binary_search(doc).is_ok());
                    docs.len() - gone.len()
                }
                None => reader.max_doc() as usize - gone.len(),
            };
        }
        Ok(living as u64 + tail.open_with(&filters))
    }
}
