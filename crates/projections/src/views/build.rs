//! Builds views from nothing.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use icm_log::{Log, Position, Waypoint};
use redb::Database;

use super::files::{ROWS_FILE, TABLE_FILE, TEXT_DIR, create_private};
use super::generations::Home;
use super::manifest::Manifest;
use super::meaning::Sink;
use super::parts::each_part;
use super::steps::Filed;
use super::tail::Tail;
use super::walk::each_filed;
use super::waypoints::Both;
use super::{Checkpoint, Place, VERSIONS, ViewFiles, Views, table_error};
use crate::error::{Result, ViewError};
use crate::fold::{Closed, Folder, Tally};
use crate::forward::{Forward, ForwardSink, ForwardWriter};
use crate::passages::Passages;
use crate::rows::{self, OPEN, Row, Rows};
use crate::table::{self, Table};
use icm_text::{Analysed, Map, Signature, TextIndex};

/// A callback for the progress of a rebuild, in events.
pub type Progress<'a> = &'a mut dyn FnMut(u64);

/// The fold takes about a fifth of a rebuild; the rest is indexing text. A larger value assigns less of the progress to
/// it.
const FOLD_SHARE: u64 = 5;
/// Versions indexed between two reports of progress: 10,000. A larger value reports less often.
const PROGRESS_VERSIONS: u64 = 10_000;
/// Events folded before they are written to the files of a new generation: 16,384. A larger value takes memory, 1 to 2
/// KB an event; a smaller one takes time, because each chunk rewrites many pages of the table.
const CHUNK_EVENTS: u64 = 16_384;
/// Bytes of records in a chunk, at most: 8 MiB, because memories may be long. A larger value takes memory.
const CHUNK_LEN: u64 = 8 * 1_024 * 1_024;
/// Bytes of redb's cache during a build: 24 MiB, of which up to half are pages to be written. A larger value takes
/// memory.
const BUILD_CACHE_LEN: usize = 24 * 1_024 * 1_024;

impl Views {
    /// Builds a new generation below `dir` from the log alone, and makes it current.
    ///
    /// # Errors
    /// `Busy` if another process writes views for longer than `wait`; `Io` if the folder cannot be written.
    pub fn rebuild(dir: &Path, log: &Log, wait: Duration, progress: Progress<'_>) -> Result<Views> {
        Views::rebuild_in_chunks(dir, log, wait, CHUNK_EVENTS, progress)
    }

    /// As [`Views::rebuild`], in chunks of `chunk_events`. The views are the same for every number.
    ///
    /// # Errors
    /// As [`Views::rebuild`].
    #[doc(hidden)]
    pub fn rebuild_in_chunks(
        dir: &Path,
        log: &Log,
        wait: Duration,
        chunk_events: u64,
        progress: Progress<'_>,
    ) -> Result<Views> {
        let rewritten = log.rewritten();
        create_private(dir)?;
        let home = Home::new(dir);
        let mut begun = home.begin(wait)?;
        let generation = begun.dir.clone();
        let path = generation.join(TABLE_FILE);
        let mut db = build_builder().create(&path).map_err(table_error)?;
        let mut text = TextIndex::create(&generation.join(TEXT_DIR))?;
        let rows_path = generation.join(ROWS_FILE);
        rows::write(&rows_path, 0, &[], &Default::default())?;
        let Filled {
            mut base,
            stopped,
            waypoints,
        } = fill(
            log,
            (&db, chunk_events),
            &mut |events| progress(events / FOLD_SHARE),
            &mut |next, opened, closed| rows::write(&rows_path, next, opened, closed),
        )?;
        if let Some(why) = stopped {
            // The files may hold more than can still be read from the log.
            return Err(ViewError::Stopped { why });
        }
        let rows = Rows::open(&rows_path, base.tally.next_ordinal)?;
        let mut forward = ForwardWriter::create(&generation)?;
        let table = Table::of(&db)?;
        let mut indexed = Indexed {
            text: &mut text,
            vectors: Sink::create(&generation)?,
            forward: ForwardSink::File(&mut forward),
        };
        let passages = indexed.add_all(&table, &rows, &mut base, progress)?;
        let vectors = indexed.vectors.end()?;
        forward.flush()?;
        passages.write(&generation, 0)?;
        let forward = Forward::open(&generation, base.passages)?;
        drop(table);
        // A build leaves unused pages behind, often more than used ones.
        db.compact().map_err(table_error)?;
        db.close().map_err(table_error)?;
        waypoints.write(&generation, Position(0))?;
        let manifest = Manifest::take(&generation, None, VERSIONS)?;
        manifest.write(&generation)?;
        home.turn(&mut begun, wait)?;
        let waypoints = Both::open(&generation);
        let place = Place::Disk {
            home,
            generation,
            manifest,
        };
        Ok(Views::of(ViewFiles {
            place,
            table: OnceLock::new(),
            rows,
            passages,
            forward,
            text,
            vectors,
            steps: Filed::default(),
            waypoints,
            base,
            rewritten,
        }))
    }

    /// Builds table and rows into `dir`, without text: to measure their cost.
    pub fn build_table(dir: &Path, log: &Log, progress: Progress<'_>) -> Result<Tally> {
        create_private(dir)?;
        let path = dir.join(TABLE_FILE);
        let db = build_builder().create(&path).map_err(table_error)?;
        let rows_path = dir.join(ROWS_FILE);
        rows::write(&rows_path, 0, &[], &Default::default())?;
        let Filled { base, stopped, .. } = fill(
            log,
            (&db, CHUNK_EVENTS),
            progress,
            &mut |next, opened, closed| rows::write(&rows_path, next, opened, closed),
        )?;
        match stopped {
            Some(why) => Err(ViewError::Stopped { why }),
            None => Ok(base.tally),
        }
    }

    /// Returns views without files, for a store so small that files would not pay.
    pub fn empty(log: &Log) -> Result<Views> {
        let backend = redb::backends::InMemoryBackend::new();
        let db = build_builder()
            .create_with_backend(backend)
            .map_err(table_error)?;
        let base = Checkpoint::start();
        Ok(Views::of(ViewFiles {
            place: Place::Memory { db: Box::new(db) },
            table: OnceLock::new(),
            rows: Rows::empty(),
            passages: Passages::default(),
            forward: Forward::in_memory(),
            text: TextIndex::in_memory()?,
            vectors: Sink::in_memory().end()?,
            steps: Filed::default(),
            waypoints: Both::default().kept(),
            base,
            rewritten: log.rewritten(),
        }))
    }

    /// Builds views in memory, for a store that cannot be written.
    pub fn in_memory(log: &Log, progress: Progress<'_>) -> Result<Views> {
        let rewritten = log.rewritten();
        let backend = redb::backends::InMemoryBackend::new();
        let db = build_builder()
            .create_with_backend(backend)
            .map_err(table_error)?;
        let mut text = TextIndex::in_memory()?;
        let mut rows = Rows::empty();
        let Filled {
            mut base,
            stopped,
            waypoints,
        } = fill(
            log,
            (&db, CHUNK_EVENTS),
            &mut |events| progress(events / FOLD_SHARE),
            &mut |_, opened, closed| {
                rows.absorb(opened, closed);
                Ok(())
            },
        )?;
        let table = Table::of(&db)?;
        let mut forward = Forward::in_memory();
        let mut indexed = Indexed {
            text: &mut text,
            vectors: Sink::in_memory(),
            forward: ForwardSink::Memory(&mut forward),
        };
        let passages = indexed.add_all(&table, &rows, &mut base, progress)?;
        let vectors = indexed.vectors;
        drop(table);
        let vectors = vectors.end()?;
        let waypoints = waypoints.kept();
        let place = Place::Memory { db: Box::new(db) };
        let mut views = Views::of(ViewFiles {
            place,
            table: OnceLock::new(),
            rows,
            passages,
            forward,
            text,
            vectors,
            steps: Filed::default(),
            waypoints,
            base,
            rewritten,
        });
        views.tail.stopped = stopped;
        Ok(views)
    }
}

fn build_builder() -> redb::Builder {
    let mut builder = redb::Builder::new();
    builder.set_cache_size(BUILD_CACHE_LEN);
    builder
}

type RowSink<'a> = &'a mut dyn FnMut(u64, &[(u64, Row)], &Map<u64, Closed>) -> Result<()>;

/// Returns an overlay's changes of the row facts: new records (closed if the version no longer holds), and older
/// records to close.
///
/// `signature` returns the known signature of an ordinal.
pub(super) fn row_changes(
    folder: &Folder,
    signature: &dyn Fn(u64) -> Option<Signature>,
) -> (Vec<(u64, Row)>, Map<u64, Closed>) {
    let overlay = &folder.kept;
    let mut closed = overlay.closed.clone();
    let opened = overlay
        .opened
        .iter()
        .map(|(ordinal, entity, from)| {
            let to = closed.remove(ordinal).map_or(OPEN, |end| end.at.0);
            let version = overlay
                .version_from(*entity, *from)
                .expect("every ordinal given belongs to a version of the overlay");
            let row = Row {
                to,
                ..Row::of(*entity, version, signature(*ordinal))
            };
            (*ordinal, row)
        })
        .collect();
    (opened, closed)
}

/// The result of folding the log into empty views.
struct Filled {
    base: Checkpoint,
    /// The reason why the log could not be read to its end.
    stopped: Option<String>,
    waypoints: Both<Vec<Waypoint>>,
}

/// Folds the whole log, chunk by chunk, into an empty table and empty rows. A chunk may end within an imported range.
fn fill(
    log: &Log,
    (db, chunk_events): (&Database, u64),
    progress: Progress<'_>,
    rows: RowSink<'_>,
) -> Result<Filled> {
    let mut waypoints = Both::<Vec<Waypoint>>::default();
    let mut tail = Tail::new(&Checkpoint::start(), &Passages::default());
    let mut next = 0;
    loop {
        let table = Table::of(db)?;
        let before = tail.folder.tally.events;
        let mut full = false;
        let mut len = 0;
        tail.fold(&table, log, &waypoints, &mut |folder, event| {
            len += event.place.len as u64;
            full = folder.tally.events - before >= chunk_events || len >= CHUNK_LEN;
            full
        })?;
        progress(tail.folder.tally.events);
        let (opened, closed) = row_changes(&tail.folder, &|_| None);
        rows(next, &opened, &closed)?;
        waypoints.append(&mut tail.waypoints);
        let folded = tail.folder.hand_over();
        next = folded.tally.next_ordinal;
        let cursor = tail.cursor();
        if full {
            let mut reached = cursor;
            reached.position = folded.tally.position;
            table::flush(db, &folded, &reached)?;
            continue;
        }
        table::flush(db, &folded, &cursor)?;
        return Ok(Filled {
            base: Checkpoint {
                cursor,
                tally: folded.tally,
                // Passages are counted when they are indexed.
                passages: 0,
            },
            stopped: tail.stopped,
            waypoints,
        });
    }
}

/// The views of texts during a build.
struct Indexed<'a> {
    text: &'a mut TextIndex,
    vectors: Sink,
    forward: ForwardSink<'a>,
}

impl Indexed<'_> {
    /// Indexes and embeds every version, and returns their passages. By now it is known which versions hold, so each is
    /// written to its tier once.
    fn add_all(
        &mut self,
        table: &Table,
        rows: &Rows,
        base: &mut Checkpoint,
        progress: Progress<'_>,
    ) -> Result<Passages> {
        let mut passages = Passages::default();
        let mut writer = self.text.build_writer()?;
        each_filed(
            table,
            rows,
            0..rows.count(),
            &mut |ordinal, row, version| {
                let first = passages.of(ordinal).start;
                let count = each_part(first, &version, &mut |doc, meaning| {
                    self.vectors.add(doc.ordinal, meaning)?;
                    let doc = Analysed::of(doc);
                    match row.to {
                        OPEN => writer.add_live_analysed(&doc),
                        _ => writer.add_closed_analysed(&doc),
                    }
                    self.forward.add(&doc)
                })?;
                passages.note(ordinal, count);
                if ordinal.is_multiple_of(PROGRESS_VERSIONS) {
                    let folded = base.tally.events / FOLD_SHARE;
                    progress(folded + row.from.0.saturating_sub(row.from.0 / FOLD_SHARE));
                }
                Ok(())
            },
        )?;
        progress(base.tally.events);
        base.passages = passages.of(rows.count()).start;
        writer.commit(&base.to_text())?;
        self.text.reload()?;
        Ok(passages)
    }
}
