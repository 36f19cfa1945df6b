//! Counts the versions of a topic that hold now.

use tantivy::Term;

use super::collect::filtered;
use super::error::{Doing, TextError};
use super::index::TextIndex;
use super::schema::{AnyOf, Home, fields, further_of, scope_is, topic_is};
use super::tail::Tail;

impl TextIndex {
    /// Returns the number of versions (not passages) that hold now in exactly this topic, and in exactly this scope if
    /// one is given, in the index and in the tail. Costs a walk of the shorter posting list of each segment, unless the
    /// segment was counted before and has lost no document since.
    pub fn living_in(
        &self,
        tail: &Tail,
        topic: &str,
        scope: Option<&str>,
    ) -> Result<u64, TextError> {
        let home = Home::of(topic, scope);
        let terms = |first: String| -> Vec<AnyOf<Term>> {
            let filters = std::iter::once(first).chain(scope.map(scope_is));
            let term = |filter: String| AnyOf::one(Term::from_field_text(fields().filter, &filter));
            filters.map(term).collect()
        };
        let live = self.live_searcher();
        let mut parts = self.parts();
        let mut living = 0;
        for (segment, reader) in live.segment_readers().iter().enumerate() {
            let closed = tail.closed_in_index().iter();
            let closed = closed.filter(|at| at.segment == segment).map(|at| at.doc);
            let closed: Vec<u32> = closed.collect();
            let count = || -> tantivy::Result<u64> {
                let [deleted, _] = self.deleted();
                let mut gone = [&deleted[segment][..], &closed].concat();
                gone.sort_unstable();
                gone.dedup();
                let of = |first: String| -> tantivy::Result<usize> {
                    let docs = filtered(reader, &terms(first))?;
                    Ok(match docs {
                        Some(docs) => {
                            let is_gone = |doc: &&u32| docs.binary_search(doc).is_ok();
                            docs.len() - gone.iter().filter(is_gone).count()
                        }
                        None => reader.max_doc() as usize - gone.len(),
                    })
                };
                let living = of(topic_is(topic))? - of(further_of(topic))?;
                Ok(living as u64)
            };
            let counted = match closed.is_empty() {
                true => parts
                    .of(reader)
                    .and_then(|part| part.living(home, reader.num_deleted_docs(), count)),
                false => count(),
            };
            living += counted.doing("counting a topic")?;
        }
        Ok(living + tail.open_in(home))
    }
}
