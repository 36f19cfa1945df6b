//! The two tantivy indexes, which are opened, written and committed together.

mod commit;
mod tier;
mod writer;

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::{MutexGuard, OnceLock};
use std::time::Duration;

use icm_wait::{Deadline, bounds};
use tantivy::directory::RamDirectory;
use tantivy::{Directory, DocId, Searcher};

use super::error::{Doing, TextError};
use super::folder::Folder;
use super::parts::{Kept, Parts};
use super::schema::ORDINAL;
use super::segment::{Location, deleted_docs, find};
use super::tokens::Tokens;

use commit::{Commit, parse_payload};
use tier::Tier;

pub use writer::TextWriter;

/// The file that names the closed tier's commit; it is replaced in one step.
pub const CLOSED_META: &str = "closed/meta.json";

/// The full-text view: live versions in one index, closed ones in another.
pub struct TextIndex {
    live: Tier,
    closed: Tier,
    commit: Commit,
    /// See [`TextIndex::deleted`].
    deleted: OnceLock<[Vec<Vec<DocId>>; 2]>,
    parts: Parts,
}

impl TextIndex {
    /// Creates an empty index in a folder that is absent or empty.
    pub fn create(dir: &Path) -> Result<Self, TextError> {
        let tier = |name: &str| {
            let dir = dir.join(name);
            std::fs::create_dir_all(&dir).map_err(|source| TextError::Io {
                doing: "making the folder",
                source,
            })?;
            Tier::create(Folder::open(&dir).doing("opening the folder")?)
        };
        Self::of(tier("live")?, tier("closed")?, bounds::MOMENT)
    }

    /// Opens an index, without making a thread or a file.
    ///
    /// After any error, delete the folder and rebuild. A writer that commits at this moment is waited for, up to
    /// [`bounds::MOMENT`].
    pub fn open(dir: &Path) -> Result<Self, TextError> {
        Self::open_waiting(dir, bounds::MOMENT)
    }

    /// As [`TextIndex::open`], for a caller who knows that nobody writes: tiers of different commits are `Torn` at
    /// once.
    pub fn open_unwritten(dir: &Path) -> Result<Self, TextError> {
        Self::open_waiting(dir, Duration::ZERO)
    }

    fn open_waiting(dir: &Path, wait: Duration) -> Result<Self, TextError> {
        let tier =
            |name: &str| Tier::open(Folder::open(&dir.join(name)).doing("opening the folder")?);
        let mut tries = 0;
        loop {
            // Without a lock, a file can vanish between the reading of its name and its opening. A folder without
            // `meta.json` stays unreadable.
            match tier("live").and_then(|live| Self::of(live, tier("closed")?, wait)) {
                Err(TextError::Index { .. })
                    if tries < 3 && dir.join("live").join("meta.json").exists() =>
                {
                    tries += 1;
                }
                answer => return answer,
            }
        }
    }

    /// Returns an empty index in memory, for a store whose views cannot be written.
    pub fn in_memory() -> Result<Self, TextError> {
        Self::of(
            Tier::create(RamDirectory::create())?,
            Tier::create(RamDirectory::create())?,
            bounds::MOMENT,
        )
    }

    fn of(live: Tier, closed: Tier, wait: Duration) -> Result<Self, TextError> {
        let mut index = Self {
            live,
            closed,
            commit: Commit::default(),
            deleted: OnceLock::new(),
            parts: Parts::default(),
        };
        index.reload_within(wait)?;
        Ok(index)
    }

    /// Returns the checkpoint string of the commit that this index is at.
    pub fn checkpoint(&self) -> Option<&str> {
        self.commit.checkpoint.as_deref()
    }

    /// Moves on to the newest commit, of this process or of another.
    pub fn reload(&mut self) -> Result<(), TextError> {
        self.reload_within(bounds::MOMENT)
    }

    fn reload_within(&mut self, wait: Duration) -> Result<(), TextError> {
        let mut commit = self.read_commit(wait)?;
        self.deleted = OnceLock::new();
        loop {
            self.live
                .reader
                .reload()
                .doing("reading the living versions")?;
            self.closed
                .reader
                .reload()
                .doing("reading the older versions")?;
            let after = self.read_commit(wait)?;
            if after == commit {
                self.commit = commit;
                self.parts.keep(self.live_searcher().segment_readers());
                return Ok(());
            }
            commit = after;
        }
    }

    /// Reads both tiers' commits; waits for a writer that is between the two.
    fn read_commit(&self, wait: Duration) -> Result<Commit, TextError> {
        let read = icm_wait::until(Deadline::after(wait), || self.whole_commit().transpose());
        read.unwrap_or(Err(TextError::Torn))
    }

    /// Returns the commit of both tiers; `None` if one tier is further than the other.
    fn whole_commit(&self) -> Result<Option<Commit>, TextError> {
        let closed = self
            .closed
            .index
            .load_metas()
            .doing("reading the older versions")?;
        let live = self
            .live
            .index
            .load_metas()
            .doing("reading the living versions")?;
        let commit = match &live.payload {
            None => Commit {
                live_opstamp: live.opstamp,
                ..Commit::default()
            },
            Some(payload) => parse_payload(live.opstamp, payload)?,
        };
        Ok((commit.closed_opstamp == closed.opstamp).then_some(commit))
    }

    /// Returns the remembered facts about the segments of the live tier.
    pub(super) fn parts(&self) -> MutexGuard<'_, Kept> {
        self.parts.locked()
    }

    /// Takes over the remembered facts about the segments that both indexes have.
    pub fn inherit(&self, before: &TextIndex) {
        self.parts.inherit(&before.parts);
        self.parts.keep(self.live_searcher().segment_readers());
    }

    /// Returns the place of a version's document in the live tier.
    pub(crate) fn find_live(&self, ordinal: u64) -> Result<Option<Location>, TextError> {
        find(&self.live_searcher(), ordinal)
    }

    /// Returns the tokens of the documents in the live tier, and in the closed one.
    pub(crate) fn tokens(&self) -> [Tokens; 2] {
        self.commit.tokens
    }

    /// Returns the documents that were deleted but still stand in the files of the live tier, and of the closed one: by
    /// segment, ascending.
    pub(crate) fn deleted(&self) -> &[Vec<Vec<DocId>>; 2] {
        self.deleted.get_or_init(|| {
            [self.live_searcher(), self.closed_searcher()]
                .map(|tier| tier.segment_readers().iter().map(deleted_docs).collect())
        })
    }

    /// Checks the checksum of every segment file of both tiers, and returns the number of files.
    pub fn validate(&self) -> Result<u64, TextError> {
        self.validate_those(&|_| true)
    }

    /// As [`TextIndex::validate`], for the files whose name (`live/…` or `closed/…`) `which` accepts.
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
                    // A file too short for a checksum is an error.
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

    /// Returns the number of live versions.
    pub fn live_docs(&self) -> u64 {
        self.live_searcher().num_docs()
    }

    /// Returns the number of closed versions.
    pub fn closed_docs(&self) -> u64 {
        self.closed_searcher().num_docs()
    }

    /// Returns the ordinals of the live and of the closed versions. Reads every document.
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

/// Returns `true` for files that tantivy lists for every segment and writes for some.
fn is_optional(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "del" || extension == "pos" || extension == "temp")
}
