//! Commits the tail to the files of a generation.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use icm_log::{Log, Position};

use super::build::row_changes;
use super::files::{ROWS_FILE, TABLE_FILE, TEXT_DIR};
use super::generations::{Home, HomeLock};
use super::manifest::{Manifest, Part};
use super::parts::each_part;
use super::steps::Filed;
use super::tail::Tail;
use super::walk::missing;
use super::waypoints::Both;
use super::{
    Checkpoint, Place, VERSIONS, ViewFiles, Views, WRITER_CACHE_LEN, guarded, interrupted_commit,
    redb_builder, table_error,
};
use crate::error::{Result, ViewError};
use crate::forward::{Forward, ForwardWriter};
use crate::rows::{self, Rows};
use crate::table::{self, Table};
use icm_text::{Analysed, TextIndex, TextWriter};

/// A callback for each finished step of a commit, used by tests that look at the files then.
type Steps<'a> = &'a mut dyn FnMut(&'static str);

impl Views {
    /// Commits the tail to the files and returns views of these; `None` if the tail has nothing to commit. If another
    /// process has committed meanwhile, writes nothing and returns views of those files. These views go on answering;
    /// the next commit needs their files out of use, see [`FilesMark`](super::FilesMark).
    ///
    /// # Errors
    /// `Busy` if another process writes the views for longer than `wait`; `Unusable` if the views turn out to be
    /// damaged.
    pub fn commit(&self, dir: &Path, log: &Log, wait: Duration) -> Result<Option<Views>> {
        self.commit_in_steps(dir, log, wait, &mut |_| {})
    }

    /// As [`Views::commit`]; `done` is called after each step.
    ///
    /// # Errors
    /// As [`Views::commit`].
    #[doc(hidden)]
    pub fn commit_in_steps(
        &self,
        dir: &Path,
        log: &Log,
        wait: Duration,
        done: Steps<'_>,
    ) -> Result<Option<Views>> {
        if !self.can_commit() {
            return Ok(None);
        }
        // Both are opened before the lock is taken: mending a changed file takes a while and needs the lock. Readers of
        // these views need them opened before the files are written.
        self.table()?;
        self.base_vectors()?;
        let home = Home::new(dir);
        let lock = home.lock(wait)?;
        if self.look_same(Part::All) {
            return self.write_tail((home, lock), done).map(Some);
        }
        drop(lock);
        let mut fresh = Views::open(dir, log)?;
        fresh.follow(log)?;
        Ok(Some(fresh))
    }

    fn can_commit(&self) -> bool {
        self.tail_len() > 0 && self.tail.is_whole() && !self.tail.failed && self.are_on_disk()
    }

    fn write_tail(&self, (home, _lock): (Home, HomeLock), done: Steps<'_>) -> Result<Views> {
        home.remove_unused();
        let Place::Disk {
            generation,
            manifest,
            ..
        } = &self.files.place
        else {
            return Err(ViewError::Busy);
        };
        let checkpoint = Checkpoint {
            cursor: self.tail.cursor(),
            tally: self.tail.folder.tally.clone(),
            passages: self.tail.next_passage(),
        };
        let folder = &self.tail.folder;
        let next = self.files.base.tally.next_ordinal;
        let (opened, closed) = row_changes(folder, &|ordinal| self.tail.signature(ordinal));
        interrupted_commit::begin(generation)?;
        done("begun");
        rows::write(&generation.join(ROWS_FILE), next, &opened, &closed)?;
        done("rows");
        let waypoints = &self.tail.waypoints;
        waypoints.write(generation, self.base_position())?;
        let known = self.files.base.passages;
        let passages = (&folder.kept, &self.tail.passages);
        self.tail.vectors.flush(passages, generation, known)?;
        done("vectors");
        self.tail.flush_forward(generation, known)?;
        self.tail.passages.write(generation, next)?;
        done("forward");
        guarded("text", || {
            let docs = checkpoint.passages - known;
            let docs = usize::try_from(docs).unwrap_or(usize::MAX);
            let mut writer = (self.files.text).writer_of(docs, self.tail.len_bytes)?;
            // The table as it is before this commit writes to it.
            let older = self.table()?;
            let db = redb_builder()
                .set_cache_size(WRITER_CACHE_LEN)
                .open(generation.join(TABLE_FILE))
                .map_err(table_error)?;
            done("table opened");
            table::flush_keeping_last(&db, folder, &checkpoint.cursor)?;
            done("table");
            db.close().map_err(table_error)?;
            done("table closed");
            // Not in a second thread: two busy threads would take both cores from the clients of this server.
            index(&mut writer, &self.tail, next, older)?;
            Ok(writer.commit_in_steps(&checkpoint.to_text(), done)?)
        })?;
        done("text");
        let manifest = Manifest::take(generation, Some(manifest), VERSIONS)?;
        manifest.write(generation)?;
        done("manifest");
        interrupted_commit::end(generation)?;
        let (count, passages) = (checkpoint.tally.next_ordinal, checkpoint.passages);
        let mut views = Views::of(ViewFiles {
            table: OnceLock::new(),
            rows: Rows::open(&generation.join(ROWS_FILE), count)?,
            passages: self.tail.passages.clone(),
            forward: Forward::open(generation, passages)?,
            text: guarded("text", || Ok(TextIndex::open(&generation.join(TEXT_DIR))?))?,
            vectors: OnceLock::new(),
            steps: Filed::default(),
            waypoints: Both::open(generation),
            base: checkpoint,
            rewritten: self.files.rewritten.clone(),
            place: Place::Disk {
                home,
                generation: generation.clone(),
                manifest,
            },
        });
        views.graph.clone_from(&self.graph);
        views.models = Arc::clone(&self.models);
        views.write_held_vectors();
        Ok(views)
    }
}

impl Tail {
    /// Appends the opened versions to the forward index of a generation that has the first `count` entries.
    fn flush_forward(&self, generation: &Path, count: u64) -> Result<()> {
        let mut writer = ForwardWriter::open(generation, count)?;
        for (ordinal, _, _) in &self.folder.kept.opened {
            self.each_analysed(*ordinal, &mut |doc| writer.add(doc))?;
        }
        writer.flush()
    }

    /// Gives the passages of a version that the tail opened to `each`.
    fn each_analysed(
        &self,
        ordinal: u64,
        each: &mut dyn FnMut(&Analysed) -> Result<()>,
    ) -> Result<()> {
        for passage in self.passages.of(ordinal) {
            let doc = self.text.analysed(passage);
            each(doc.ok_or_else(|| missing(ordinal, "text"))?)?;
        }
        Ok(())
    }
}

/// Indexes the changes of a tail. `next` is its first new ordinal.
fn index(writer: &mut TextWriter, tail: &Tail, next: u64, older: &Table) -> Result<()> {
    let overlay = &tail.folder.kept;
    let mut closed: Vec<_> = overlay.closed.iter().filter(|(o, _)| **o < next).collect();
    closed.sort_unstable_by_key(|(ordinal, _)| **ordinal);
    for (ordinal, end) in closed {
        let before = older.version_at(end.entity, Position(end.at.0 - 1))?;
        let version = before.ok_or_else(|| missing(*ordinal, "table"))?;
        let first = tail.passages.of(*ordinal).start;
        each_part(first, &version, &mut |doc, _| {
            writer.close(doc);
            Ok(())
        })?;
    }
    for (ordinal, _, _) in &overlay.opened {
        tail.each_analysed(*ordinal, &mut |doc| {
            match overlay.closed.contains_key(ordinal) {
                true => writer.add_closed_analysed(doc),
                false => writer.add_live_analysed(doc),
            }
            Ok(())
        })?;
    }
    Ok(())
}
