//! Writing to both tiers, and committing them together.

use std::collections::BTreeSet;
use std::fmt;

use tantivy::directory::error::LockError;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{Index, IndexWriter, Searcher, TantivyError, Term};

use super::commit::payload;
use icm_wait::bounds;

use super::TextIndex;
use crate::Doc;
use crate::error::{Doing, TextError};
use crate::schema::{Analysed, ORDINAL, fields};
use crate::segment::{find, norm_ids};
use crate::tokens::Tokens;

/// Bytes that a writer buffers before it writes a segment: 15 MB, the least that tantivy accepts. A larger value makes
/// fewer segments and costs memory.
const WRITER_HEAP_BYTES: usize = 15_000_000;
/// A writer of many documents buffers this much for each document (6,000 bytes), or for each byte that the documents
/// have in the log (10 bytes), so that the documents become one segment. Several segments would soon be merged. A
/// larger value costs memory.
const HEAP_BYTES_A_DOC: usize = 6_000;
const HEAP_BYTES_A_BYTE: u64 = 10;
/// The largest buffer, used by a rebuild: 30 MB. Few large segments make every later search cheaper. There may be two
/// such writers at a time, and merging segments needs memory beside them.
const HEAP_BYTES_MAX: usize = 30_000_000;

/// Writes to both tiers; nothing is visible or durable before `commit`.
///
/// A version may be given once only, and new versions in the order of their ordinals.
///
/// An addition reports no error at once, because tantivy indexes on a thread of its own; `commit` returns the error.
/// Dropping a writer discards all its additions.
pub struct TextWriter {
    live: IndexWriter,
    closed: LazyWriter,
    /// Both tiers before this write.
    before: [Searcher; 2],
    tokens: [Tokens; 2],
    /// Every ordinal in the index is smaller, so new versions from here on need not be looked up.
    first_new: u64,
    next_new: u64,
    /// The smaller ordinals that were given.
    replaced: BTreeSet<u64>,
    error: Option<TextError>,
}

/// The writer of the closed tier, which most commits leave unchanged.
struct LazyWriter {
    index: Index,
    heap_bytes: usize,
    writer: Option<IndexWriter>,
}

impl TextIndex {
    /// Starts writing. There is one writer at a time; a second one gets `Busy`.
    pub fn writer(&self) -> Result<TextWriter, TextError> {
        self.writer_with(WRITER_HEAP_BYTES)
    }

    /// As [`TextIndex::writer`], for a rebuild.
    pub fn build_writer(&self) -> Result<TextWriter, TextError> {
        self.writer_with(HEAP_BYTES_MAX)
    }

    /// As [`TextIndex::writer`], for about `docs` documents, from `len_bytes` bytes of the log.
    pub fn writer_of(&self, docs: usize, len_bytes: u64) -> Result<TextWriter, TextError> {
        let by_len = usize::try_from(len_bytes.saturating_mul(HEAP_BYTES_A_BYTE));
        let by_docs = docs.saturating_mul(HEAP_BYTES_A_DOC);
        let heap_bytes = by_docs.max(by_len.unwrap_or(usize::MAX));
        self.writer_with(heap_bytes.clamp(WRITER_HEAP_BYTES, HEAP_BYTES_MAX))
    }

    fn writer_with(&self, heap_bytes: usize) -> Result<TextWriter, TextError> {
        let live = open_writer(&self.live.index, heap_bytes)?;
        if self.read_commit(bounds::MOMENT)? != self.commit {
            return Err(TextError::Busy);
        }
        let mut unseen_from = 0;
        for searcher in [self.live_searcher(), self.closed_searcher()] {
            for segment in searcher.segment_readers() {
                let ordinals = segment
                    .fast_fields()
                    .u64(ORDINAL)
                    .doing("reading ordinals")?;
                unseen_from = unseen_from.max(ordinals.max_value() + 1);
            }
        }
        Ok(TextWriter {
            live,
            closed: LazyWriter {
                index: self.closed.index.clone(),
                heap_bytes,
                writer: None,
            },
            before: [self.live_searcher(), self.closed_searcher()],
            tokens: self.commit.tokens,
            first_new: unseen_from,
            next_new: unseen_from,
            replaced: BTreeSet::new(),
            error: None,
        })
    }
}

impl TextWriter {
    /// Adds a version that holds now; it replaces the document of the same ordinal.
    pub fn add_live(&mut self, doc: &Doc<'_>) {
        self.add_live_analysed(&Analysed::of(doc));
    }

    /// As `add_live`.
    pub fn add_live_analysed(&mut self, doc: &Analysed) {
        if let Err(error) = self.try_add_live(doc) {
            self.error.get_or_insert(error);
        }
    }

    /// Adds a version that no longer holds; it replaces the document of the same ordinal.
    pub fn add_closed(&mut self, doc: &Doc<'_>) {
        self.add_closed_analysed(&Analysed::of(doc));
    }

    /// As `add_closed`.
    pub fn add_closed_analysed(&mut self, doc: &Analysed) {
        if let Err(error) = self.try_add_closed(doc) {
            self.error.get_or_insert(error);
        }
    }

    /// Moves a version from the live tier to the closed one, after a newer version replaced it or its memory was
    /// forgotten.
    pub fn close(&mut self, doc: &Doc<'_>) {
        self.add_closed(doc);
    }

    /// Removes a version from both tiers, as after a redaction.
    ///
    /// Its words stay in the files until their segment is merged. If the bytes must go, delete the view and rebuild it.
    pub fn remove(&mut self, ordinal: u64) {
        if let Err(error) = self.try_remove(ordinal) {
            self.error.get_or_insert(error);
        }
    }

    fn try_add_live(&mut self, doc: &Analysed) -> Result<(), TextError> {
        self.try_remove(doc.ordinal)?;
        self.tokens[0].add(doc.norm_ids());
        self.live
            .add_document(doc.document())
            .doing("adding a document")?;
        Ok(())
    }

    fn try_add_closed(&mut self, doc: &Analysed) -> Result<(), TextError> {
        self.try_remove(doc.ordinal)?;
        self.tokens[1].add(doc.norm_ids());
        let closed = self.closed.get()?;
        closed
            .add_document(doc.document())
            .doing("adding a document")?;
        Ok(())
    }

    fn try_remove(&mut self, ordinal: u64) -> Result<(), TextError> {
        if ordinal >= self.first_new {
            if ordinal < self.next_new {
                return Err(TextError::OutOfTurn { ordinal });
            }
            self.next_new = ordinal.saturating_add(1);
            return Ok(());
        }
        if !self.replaced.insert(ordinal) {
            return Err(TextError::OutOfTurn { ordinal });
        }
        for tier in [0, 1] {
            let Some(at) = find(&self.before[tier], ordinal)? else {
                continue;
            };
            let segment = &self.before[tier].segment_readers()[at.segment];
            self.tokens[tier].remove(norm_ids(segment, at.doc).doing("reading lengths")?);
            let writer = match tier {
                0 => &mut self.live,
                _ => self.closed.get()?,
            };
            writer.delete_term(Term::from_field_u64(fields().ordinal, ordinal));
        }
        Ok(())
    }

    /// Makes all additions durable and visible to readers that reload, with a string that names the checkpoint. Waits
    /// for merges, so no thread is left afterwards.
    ///
    /// The closed tier is committed first. A crash before the live tier follows leaves an index that `open` refuses
    /// until [`CLOSED_META`] is put back.
    pub fn commit(self, checkpoint: &str) -> Result<(), TextError> {
        self.commit_in_steps(checkpoint, &mut |_| {})
    }

    /// As [`TextWriter::commit`]; `done` is called with a name after each step.
    pub fn commit_in_steps(
        mut self,
        checkpoint: &str,
        done: &mut dyn FnMut(&'static str),
    ) -> Result<(), TextError> {
        // Both tiers are flushed before either is published, to keep the time between the two short. Flushing also
        // returns the error of an indexing thread that died.
        let live = self
            .live
            .prepare_commit()
            .doing("writing the living versions");
        let mut live = live?;
        if let Some(error) = self.error {
            return Err(error);
        }
        done("text flushed");
        let closed_opstamp = match &mut self.closed.writer {
            None => {
                let metas = self.closed.index.load_metas();
                metas.doing("reading the older versions")?.opstamp
            }
            Some(closed) => {
                let closed = closed
                    .prepare_commit()
                    .doing("writing the older versions")?;
                closed.commit().doing("writing the older versions")?
            }
        };
        done("closed tier");
        live.set_payload(&payload(closed_opstamp, self.tokens, checkpoint));
        live.commit().doing("writing the living versions")?;
        done("live tier");
        for writer in [Some(self.live), self.closed.writer].into_iter().flatten() {
            writer.wait_merging_threads().doing("merging")?;
        }
        Ok(())
    }
}

impl fmt::Debug for TextWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextWriter")
            .field("next_new", &self.next_new)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl LazyWriter {
    fn get(&mut self) -> Result<&mut IndexWriter, TextError> {
        match &mut self.writer {
            Some(writer) => Ok(writer),
            empty => Ok(empty.insert(open_writer(&self.index, self.heap_bytes)?)),
        }
    }
}

fn open_writer(index: &Index, heap_bytes: usize) -> Result<IndexWriter, TextError> {
    let options = IndexWriterOptions::builder()
        .num_worker_threads(1)
        .memory_budget_per_thread(heap_bytes)
        .num_merge_threads(1)
        .build();
    let writer = index.writer_with_options(options);
    let writer: IndexWriter = match writer {
        Err(TantivyError::LockFailure(LockError::LockBusy, _)) => return Err(TextError::Busy),
        answer => answer.doing("starting to write")?,
    };
    // Commits are small, so segments are merged early. Deleted documents leave the live tier once they are a tenth of a
    // segment, so that a search of today hardly pays for history.
    let mut merges = LogMergePolicy::default();
    merges.set_min_num_segments(6);
    merges.set_min_layer_size(1_000);
    merges.set_del_docs_ratio_before_merge(0.1);
    writer.set_merge_policy(Box::new(merges));
    Ok(writer)
}
