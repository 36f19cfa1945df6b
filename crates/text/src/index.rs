//! The two tantivy indexes and how they are opened, written and committed together.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::{MutexGuard, OnceLock};
use std::thread;
use std::time::Duration;

use tantivy::directory::RamDirectory;
use tantivy::directory::error::LockError;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tantivy::{
    Directory, DocId, Index, IndexReader, IndexSettings, IndexWriter, ReloadPolicy, Searcher,
    TantivyError, Term,
};

use super::Doc;
use super::error::{Doing, TextError};
use super::folder::Folder;
use super::parts::{Kept, Parts};
use super::schema::{Analysed, ORDINAL, VERSION, fields, tokenizers};
use super::segment::{Location, deleted_docs, find, norm_ids};
use super::tokens::Tokens;

/// What a writer holds in memory before it writes a segment: the least that tantivy takes.
const WRITER_HEAP_BYTES: usize = 15_000_000;
/// A writer of so many documents that they fill more holds so much for each, or for each byte that the log has of them, so
/// that they become one segment: several would be merged soon.
const HEAP_BYTES_A_DOC: usize = 6_000;
const HEAP_BYTES_A_BYTE: u64 = 10;
/// The most, as a build from nothing needs: few large segments make every later search cheaper.
const HEAP_BYTES_MAX: usize = 100_000_000;
/// What says how far the closed tier goes; it is replaced in one step.
pub const CLOSED_META: &str = "closed/meta.json";
/// A hit decompresses one block of stored fields, so they are small.
const STORE_BLOCK_BYTES: usize = 4_096;
/// Blocks of stored fields kept decompressed, for each segment.
const STORE_CACHE_BLOCKS: usize = 4;
/// A reader that meets a writer between its two commits waits this often and this long.
const OPEN_TRIES_MAX: u32 = 30;
const OPEN_WAIT: Duration = Duration::from_millis(10);

/// The full-text view: live versions in one index, closed ones in another.
pub struct TextIndex {
    live: Tier,
    closed: Tier,
    commit: Commit,
    /// See [`TextIndex::deleted`].
    deleted: OnceLock<[Vec<Vec<DocId>>; 2]>,
    parts: Parts,
}

/// One index. Its reader is reloaded by hand, and has no thread.
struct Tier {
    index: Index,
    reader: IndexReader,
}

/// What the two `meta.json` say: the tiers belong together when the live one names the
/// commit that the closed one is at.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Commit {
    live_opstamp: u64,
    closed_opstamp: u64,
    /// Of the documents of the live tier, and of the closed one.
    tokens: [Tokens; 2],
    checkpoint: Option<String>,
}

impl TextIndex {
    /// Makes an empty index in a folder that is absent or empty.
    pub fn create(dir: &Path) -> Result<Self, TextError> {
        let tier = |name: &str| {
            let dir = dir.join(name);
            std::fs::create_dir_all(&dir).map_err(|source| TextError::Io {
                doing: "making the folder",
                source,
            })?;
            Tier::create(Folder::open(&dir).doing("opening the folder")?)
        };
        Self::of(tier("live")?, tier("closed")?, OPEN_TRIES_MAX)
    }

    /// Opens an index, without making any thread or file.
    ///
    /// Any error means: drop the folder and rebuild. A writer that commits at this moment
    /// is waited for, up to 300 ms.
    pub fn open(dir: &Path) -> Result<Self, TextError> {
        Self::open_waiting(dir, OPEN_TRIES_MAX)
    }

    /// The same for who knows that nobody writes: tiers that do not belong together are `Torn` at once.
    pub fn open_unwritten(dir: &Path) -> Result<Self, TextError> {
        Self::open_waiting(dir, 1)
    }

    fn open_waiting(dir: &Path, commit_tries: u32) -> Result<Self, TextError> {
        let tier =
            |name: &str| Tier::open(Folder::open(&dir.join(name)).doing("opening the folder")?);
        let mut tries = 0;
        loop {
            // A file can vanish between the reading of its name and its opening, where no
            // lock can be taken; a folder without `meta.json` stays unreadable.
            match tier("live").and_then(|live| Self::of(live, tier("closed")?, commit_tries)) {
                Err(TextError::Index { .. })
                    if tries < 3 && dir.join("live").join("meta.json").exists() =>
                {
                    tries += 1;
                }
                answer => return answer,
            }
        }
    }

    /// An empty index in memory, for a store whose views cannot be written.
    pub fn in_memory() -> Result<Self, TextError> {
        Self::of(
            Tier::create(RamDirectory::create())?,
            Tier::create(RamDirectory::create())?,
            OPEN_TRIES_MAX,
        )
    }

    fn of(live: Tier, closed: Tier, tries: u32) -> Result<Self, TextError> {
        let mut index = Self {
            live,
            closed,
            commit: Commit::default(),
            deleted: OnceLock::new(),
            parts: Parts::default(),
        };
        index.reload_within(tries)?;
        Ok(index)
    }

    /// The string given to the commit that this index is at.
    pub fn checkpoint(&self) -> Option<&str> {
        self.commit.checkpoint.as_deref()
    }

    /// Moves on to the last commit, of this process or of another.
    pub fn reload(&mut self) -> Result<(), TextError> {
        self.reload_within(OPEN_TRIES_MAX)
    }

    fn reload_within(&mut self, tries: u32) -> Result<(), TextError> {
        let mut commit = self.read_commit(tries)?;
        self.deleted = OnceLock::new();
        loop {
            self.live.reader.reload().doing("reading the live tier")?;
            self.closed
                .reader
                .reload()
                .doing("reading the closed tier")?;
            let after = self.read_commit(tries)?;
            if after == commit {
                self.commit = commit;
                self.parts.keep(self.live_searcher().segment_readers());
                return Ok(());
            }
            commit = after;
        }
    }

    /// Reads both tiers' commits, waiting for a writer that is between them.
    fn read_commit(&self, tries: u32) -> Result<Commit, TextError> {
        for left in (0..tries).rev() {
            let closed = self
                .closed
                .index
                .load_metas()
                .doing("reading the closed tier")?;
            let live = self
                .live
                .index
                .load_metas()
                .doing("reading the live tier")?;
            let commit = match &live.payload {
                None => Commit {
                    live_opstamp: live.opstamp,
                    ..Commit::default()
                },
                Some(payload) => parse_payload(live.opstamp, payload)?,
            };
            if commit.closed_opstamp == closed.opstamp {
                return Ok(commit);
            }
            if left > 0 {
                thread::sleep(OPEN_WAIT);
            }
        }
        Err(TextError::Torn)
    }

    /// Starts writing. There is one writer at a time; a second one is `Busy`.
    pub fn writer(&self) -> Result<TextWriter, TextError> {
        self.writer_with(WRITER_HEAP_BYTES)
    }

    /// The same for a build from nothing.
    pub fn build_writer(&self) -> Result<TextWriter, TextError> {
        self.writer_with(HEAP_BYTES_MAX)
    }

    /// The same for about so many documents, from so many bytes of the log.
    pub fn writer_of(&self, docs: usize, len_bytes: u64) -> Result<TextWriter, TextError> {
        let by_len = usize::try_from(len_bytes.saturating_mul(HEAP_BYTES_A_BYTE));
        let by_docs = docs.saturating_mul(HEAP_BYTES_A_DOC);
        let heap_bytes = by_docs.max(by_len.unwrap_or(usize::MAX));
        self.writer_with(heap_bytes.clamp(WRITER_HEAP_BYTES, HEAP_BYTES_MAX))
    }

    fn writer_with(&self, heap_bytes: usize) -> Result<TextWriter, TextError> {
        let live = open_writer(&self.live.index, heap_bytes)?;
        if self.read_commit(OPEN_TRIES_MAX)? != self.commit {
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

    /// What is kept of the segments of the live tier.
    pub(super) fn parts(&self) -> MutexGuard<'_, Kept> {
        self.parts.locked()
    }

    /// Takes what another one has kept of its segments: those that both have need not be asked again.
    pub fn inherit(&mut self, before: &mut TextIndex) {
        self.parts.inherit(&before.parts);
        self.parts.keep(self.live_searcher().segment_readers());
    }

    /// Takes over what another one knows of the homes of its segments' documents.
    pub fn share_homes(&self, other: &TextIndex) {
        self.parts.share_homes(&other.parts);
    }

    /// Gets ready what stores ask for, so that none has to wait for it.
    pub fn sort_homes(&self) -> Result<(), TextError> {
        let live = self.live_searcher();
        (self.parts.sort_homes(live.segment_readers())).doing("sorting documents")
    }

    /// Where the document of a version is in the live tier.
    pub(crate) fn find_live(&self, ordinal: u64) -> Result<Option<Location>, TextError> {
        find(&self.live_searcher(), ordinal)
    }

    /// The tokens of the documents of the live tier, and of the closed one.
    pub(crate) fn tokens(&self) -> [Tokens; 2] {
        self.commit.tokens
    }

    /// Documents that still stand in the files of the live tier, and of the closed one,
    /// though they were taken out: by segment, ascending.
    pub(crate) fn deleted(&self) -> &[Vec<Vec<DocId>>; 2] {
        self.deleted.get_or_init(|| {
            [self.live_searcher(), self.closed_searcher()]
                .map(|tier| tier.segment_readers().iter().map(deleted_docs).collect())
        })
    }

    /// Checks the checksum of every segment file of both tiers, and says how many it read.
    pub fn validate(&self) -> Result<u64, TextError> {
        self.validate_those(&|_| true)
    }

    /// The same of those files whose name, with the tier before it, is one of those that are asked for.
    pub fn validate_those(&self, which: &dyn Fn(&str) -> bool) -> Result<u64, TextError> {
        let mut checked = 0;
        let mut files = Vec::new();
        for (name, tier) in [("live", &self.live), ("closed", &self.closed)] {
            let directory = tier.index.directory();
            let metas = tier.index.load_metas().doing("reading the segments")?;
            for path in metas.list_segment_files() {
                if !which(&format!("{name}/{}", path.display())) {
                    continue;
                }
                let sound = match directory.exists(&path) {
                    Ok(false) if is_optional(&path) => continue,
                    // A file too short to have a checksum is an error.
                    Ok(true) => matches!(directory.validate_checksum(&path), Ok(true)),
                    _ => false,
                };
                checked += 1;
                if !sound {
                    files.push(format!("{name}/{}", path.display()));
                }
            }
        }
        if files.is_empty() {
            Ok(checked)
        } else {
            files.sort();
            Err(TextError::Damaged { files })
        }
    }

    /// The number of live versions.
    pub fn live_docs(&self) -> u64 {
        self.live_searcher().num_docs()
    }

    /// The number of closed versions.
    pub fn closed_docs(&self) -> u64 {
        self.closed_searcher().num_docs()
    }

    /// The ordinals of the live and of the closed versions. Reads every document.
    pub fn ordinals(&self) -> Result<(BTreeSet<u64>, BTreeSet<u64>), TextError> {
        let of = |searcher: Searcher| -> Result<BTreeSet<u64>, TextError> {
            let mut all = BTreeSet::new();
            for segment in searcher.segment_readers() {
                let ordinals = segment
                    .fast_fields()
                    .u64(ORDINAL)
                    .doing("reading ordinals")?;
                all.extend(
                    segment
                        .doc_ids_alive()
                        .filter_map(|doc| ordinals.first(doc)),
                );
            }
            Ok(all)
        };
        Ok((of(self.live_searcher())?, of(self.closed_searcher())?))
    }

    pub(crate) fn live_searcher(&self) -> Searcher {
        self.live.reader.searcher()
    }

    pub(crate) fn closed_searcher(&self) -> Searcher {
        self.closed.reader.searcher()
    }
}

impl fmt::Debug for TextIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextIndex")
            .field("commit", &self.commit)
            .field("live_docs", &self.live_docs())
            .field("closed_docs", &self.closed_docs())
            .finish()
    }
}

impl Tier {
    fn create(directory: impl Into<Box<dyn Directory>>) -> Result<Self, TextError> {
        let settings = IndexSettings {
            docstore_compress_dedicated_thread: false,
            docstore_blocksize: STORE_BLOCK_BYTES,
            ..IndexSettings::default()
        };
        let directory = directory.into();
        if Index::exists(&*directory).doing("looking for an index")? {
            return Err(TantivyError::IndexAlreadyExists).doing("making the index");
        }
        let index = Index::create(directory, fields().schema.clone(), settings);
        Self::of(index.doing("making the index")?)
    }

    fn open(directory: impl Into<Box<dyn Directory>>) -> Result<Self, TextError> {
        let index = Index::open(directory).doing("opening the index")?;
        if index.schema() != fields().schema {
            return Err(TextError::Format {
                found: "other fields".to_owned(),
            });
        }
        Self::of(index)
    }

    fn of(mut index: Index) -> Result<Self, TextError> {
        index.set_tokenizers(tokenizers());
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .doc_store_cache_num_blocks(STORE_CACHE_BLOCKS)
            .try_into()
            .doing("opening the index")?;
        Ok(Self { index, reader })
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
    // Commits are small, so segments are merged early; what was closed leaves the live
    // tier once it is a tenth of a segment, so that recall now hardly pays for history.
    let mut merges = LogMergePolicy::default();
    merges.set_min_num_segments(6);
    merges.set_min_layer_size(1_000);
    merges.set_del_docs_ratio_before_merge(0.1);
    writer.set_merge_policy(Box::new(merges));
    Ok(writer)
}

/// Writes to both tiers; nothing is seen, nor kept, before `commit`.
///
/// A version is given at most once, and new ones in the order of their ordinals.
///
/// Additions cannot fail at once: tantivy indexes them on a thread of its own. What went
/// wrong is told by `commit`. Dropping a writer forgets all it was given.
pub struct TextWriter {
    live: IndexWriter,
    closed: LazyWriter,
    /// Both tiers as they are without what is being written.
    before: [Searcher; 2],
    tokens: [Tokens; 2],
    /// Every ordinal in the index is below this one, so others need not be looked for.
    first_new: u64,
    next_new: u64,
    /// The others that were given.
    replaced: BTreeSet<u64>,
    error: Option<TextError>,
}

/// The writer of a tier that most commits leave alone.
struct LazyWriter {
    index: Index,
    heap_bytes: usize,
    writer: Option<IndexWriter>,
}

impl TextWriter {
    /// Adds a version that holds now, in place of any document of this ordinal.
    pub fn add_live(&mut self, doc: &Doc<'_>) {
        self.add_live_analysed(&Analysed::of(doc));
    }

    /// As `add_live`.
    pub fn add_live_analysed(&mut self, doc: &Analysed) {
        if let Err(error) = self.try_add_live(doc) {
            self.error.get_or_insert(error);
        }
    }

    /// Adds a version that no longer holds, in place of any document of this ordinal.
    pub fn add_closed(&mut self, doc: &Doc<'_>) {
        self.add_closed_analysed(&Analysed::of(doc));
    }

    /// As `add_closed`.
    pub fn add_closed_analysed(&mut self, doc: &Analysed) {
        if let Err(error) = self.try_add_closed(doc) {
            self.error.get_or_insert(error);
        }
    }

    /// Moves a version from the live tier to the closed one: a newer version has taken its
    /// place, or its memory is forgotten.
    pub fn close(&mut self, doc: &Doc<'_>) {
        self.add_closed(doc);
    }

    /// Takes a version out of both tiers, as after a redaction.
    ///
    /// Its words stay in the files until their segment is merged: where the bytes must go,
    /// drop the view and rebuild.
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

    /// Makes all of it durable and visible to whoever reloads, with a string that says how
    /// far it goes. Waits for merges, so no thread is left when it returns.
    ///
    /// The closed tier goes first. A crash before the live one follows leaves an index that
    /// `open` refuses until [`CLOSED_META`] is put back.
    pub fn commit(self, checkpoint: &str) -> Result<(), TextError> {
        self.commit_in_steps(checkpoint, &mut |_| {})
    }

    /// The same, with a word between its steps.
    pub fn commit_in_steps(
        mut self,
        checkpoint: &str,
        done: &mut dyn FnMut(&'static str),
    ) -> Result<(), TextError> {
        // Both are flushed before either is published, to keep that moment short. Flushing
        // also tells why the indexing thread died, if it did.
        let live = self.live.prepare_commit().doing("flushing the live tier");
        let mut live = live?;
        if let Some(error) = self.error {
            return Err(error);
        }
        done("text flushed");
        let closed_opstamp = match &mut self.closed.writer {
            None => {
                let metas = self.closed.index.load_metas();
                metas.doing("reading the closed tier")?.opstamp
            }
            Some(closed) => {
                let closed = closed.prepare_commit().doing("flushing the closed tier")?;
                closed.commit().doing("committing the closed tier")?
            }
        };
        done("closed tier");
        live.set_payload(&payload(closed_opstamp, self.tokens, checkpoint));
        live.commit().doing("committing the live tier")?;
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

/// Files that tantivy lists for every segment and writes for some.
fn is_optional(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "del" || extension == "pos" || extension == "temp")
}

fn prefix() -> String {
    format!("icm-text {VERSION} closed ")
}

/// What a live commit carries: the closed tier's commit, the tokens of both, the checkpoint.
fn payload(closed_opstamp: u64, tokens: [Tokens; 2], checkpoint: &str) -> String {
    let [Tokens([a, b]), Tokens([c, d])] = tokens;
    let prefix = prefix();
    format!("{prefix}{closed_opstamp} tokens {a} {b} {c} {d}\n{checkpoint}")
}

fn parse_payload(live_opstamp: u64, payload: &str) -> Result<Commit, TextError> {
    let parse = || {
        let (first, checkpoint) = payload.strip_prefix(&prefix())?.split_once('\n')?;
        let (closed_opstamp, tokens) = first.split_once(" tokens ")?;
        let counts: Result<Vec<u64>, _> = tokens.split(' ').map(str::parse).collect();
        let counts: [u64; 4] = counts.ok()?.try_into().ok()?;
        let [a, b, c, d] = counts;
        Some(Commit {
            live_opstamp,
            closed_opstamp: closed_opstamp.parse().ok()?,
            tokens: [Tokens([a, b]), Tokens([c, d])],
            checkpoint: Some(checkpoint.to_owned()),
        })
    };
    parse().ok_or_else(|| TextError::Format {
        found: payload.lines().next().unwrap_or_default().to_owned(),
    })
}
