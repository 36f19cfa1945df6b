//! The views of one store: table, rows, text and vectors at a checkpoint, and the tail of events since, folded in
//! memory. Every answer covers both, so a store costs one append and no index commit.

mod beside;
mod build;
mod commit;
mod embedded;
mod files;
mod generations;
mod graph;
mod inspect;
mod interrupted_commit;
mod living;
mod manifest;
mod meaning;
mod parts;
mod past;
mod query;
mod recall;
mod recalls;
mod steps;
mod tail;
mod walk;
mod waypoints;
mod weight;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use icm_log::{Cursor, Log, Position, Rewritten};
use redb::{Builder, ConcurrencyMode, Database, ReadOnlyDatabase};
use serde::{Deserialize, Serialize};

use crate::error::{Result, ViewError, io};
use crate::fold::{EntityId, FOLD_VERSION, Folder, Tally, Version};
use crate::forward::{FORWARD_FILE, FORWARD_INDEX, Forward};
use crate::passages::{PASSAGES_FILE, Passages};
use crate::rows::Rows;
use crate::table::Table;
use icm_text::{PASSAGES_VERSION, TextIndex};
use icm_vectors::{Graph, Matrix};
use icm_wait::bounds;

use files::{ROWS_FILE, TABLE_FILE, TEXT_DIR, VECTORS_DIR};
use generations::Home;
use manifest::{Look, Manifest, Part};

pub use beside::FilesMark;
pub use build::Progress;
pub use embedded::{Embedded, Embeds, ModelId, Unembedded};
pub use generations::{is_version_file, version_dir};
pub use graph::GraphJob;
pub use inspect::{Inspected, ViewsState, inspect};
pub use query::{ALL_IDS, topic_fits};
pub use recall::{ModelVector, RecallHit, RecallQuery, Recalled, TagQuery};
pub use walk::StandsOut;

/// Version of the views' files; it rises when they change their meaning. The lowest eight bits are the version of the
/// passages.
const VIEWS_VERSION: u32 = (22 << 8) | PASSAGES_VERSION;
const VERSIONS: (u32, u32) = (FOLD_VERSION, VIEWS_VERSION);
/// 20 µs: wait for views that another process writes, for each event in them. Building them in memory takes about as
/// long, so the wait at most doubles the cost. Raised, more processes wait in vain; lowered, more build in vain.
const BUILD_TIME_PER_EVENT: Duration = Duration::from_micros(20);
/// Documents that are analysed at once, ahead of a recall: 4, some 0.1 ms. A larger value makes each step longer.
const AHEAD: usize = 4;
/// Bytes of redb's cache in a reader (2 MiB) and in a writer (32 MiB), of which up to half are pages to be written. A
/// smaller cache than a commit changes makes it write pages repeatedly; a larger one takes memory.
const CACHE_LEN: usize = 2 * 1_024 * 1_024;
const WRITER_CACHE_LEN: usize = 32 * 1_024 * 1_024;

/// The checkpoint of a set of views, which is written with the text view's commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    pub(crate) cursor: Cursor,
    pub(crate) tally: Tally,
    /// The number of passages of the versions up to there.
    pub(crate) passages: u64,
}

impl Checkpoint {
    fn start() -> Checkpoint {
        Checkpoint {
            cursor: Cursor::START,
            tally: Tally::default(),
            passages: 0,
        }
    }

    fn to_text(&self) -> String {
        serde_json::to_string(self).expect("plain values encode")
    }

    fn parse(text: &str) -> Result<Checkpoint> {
        serde_json::from_str(text).map_err(|error| ViewError::Unusable {
            view: "text",
            why: format!("its checkpoint is unreadable ({error})"),
        })
    }
}

/// The storage of the views.
enum Place {
    /// In a generation on disk.
    Disk {
        home: Home,
        generation: PathBuf,
        manifest: Manifest,
    },
    /// In memory, for a store that cannot be written.
    Memory { db: Box<Database> },
}

/// The files of the views at a checkpoint, and the parts read of them. They never change: a commit opens new ones.
struct ViewFiles {
    place: Place,
    /// Opened at first use: a recall does not need it if the tail only stores.
    table: OnceLock<Table>,
    rows: Rows,
    passages: Passages,
    forward: Forward,
    text: TextIndex,
    /// Opened at first use: only a recall or a commit needs them.
    vectors: OnceLock<Arc<Matrix>>,
    /// The topics asked for so far, in their order.
    steps: steps::Filed,
    waypoints: waypoints::Both<waypoints::Kept>,
    base: Checkpoint,
    /// The log's mark of rewriting, from before the views were read.
    rewritten: Rewritten,
}

/// A snapshot of the views of one store: files at a checkpoint, and the events since. Any number of threads may query
/// it through `&self`; [`Views::follow`] turns it into the next snapshot. A clone shares all equal parts.
#[derive(Clone)]
pub struct Views {
    files: Arc<ViewFiles>,
    /// The graph of the first vectors, if one was passed in; see `graph.rs`.
    graph: Option<Arc<Graph>>,
    /// Vectors of a model that is not built in.
    models: Arc<embedded::Models>,
    tail: tail::Tail,
}

fn redb_builder() -> Builder {
    let mut builder = Builder::new();
    builder
        .set_cache_size(CACHE_LEN)
        .set_concurrency_mode(ConcurrencyMode::SingleWriter);
    builder
}

fn table_error(error: impl std::error::Error) -> ViewError {
    ViewError::Unusable {
        view: "table",
        why: error.to_string(),
    }
}

impl Views {
    /// Opens the current generation below `dir`.
    ///
    /// # Errors
    /// `Unusable` if there is no generation, it is damaged, another version wrote it, or the log no longer holds its
    /// checkpoint: then rebuild. `Busy` if another process writes it for longer than building in memory takes: about 20
    /// µs an event, 0.1 to 10 s.
    pub fn open(dir: &Path, log: &Log) -> Result<Views> {
        let wait = open_wait(log.tip().map_or(0, |tip| tip.position.0));
        Views::open_within(dir, log, wait)
    }

    /// As [`Views::open`], but `Busy` after `wait`.
    ///
    /// # Errors
    /// As [`Views::open`].
    pub fn open_within(dir: &Path, log: &Log, wait: Duration) -> Result<Views> {
        Views::open_files(dir, log, wait).map_err(|error| match error {
            // A missing or unreadable file makes the view unusable.
            ViewError::Io {
                doing,
                path,
                source,
            } => {
                let name = path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                ViewError::Unusable {
                    view: "table",
                    why: format!("{doing} {name}: {source}"),
                }
            }
            other => other,
        })
    }

    fn open_files(dir: &Path, log: &Log, wait: Duration) -> Result<Views> {
        let rewritten = log.rewritten();
        let home = Home::new(dir);
        let mut shared = home.lock_shared(wait)?;
        if home
            .current()
            .is_some_and(|found| interrupted_commit::is_cut(&found))
        {
            drop(shared);
            interrupted_commit::mend(&home, wait)?;
            shared = home.lock_shared(wait)?;
        }
        let Some(mut generation) = home.current() else {
            return Err(ViewError::Unusable {
                view: "manifest",
                why: "there is none".into(),
            });
        };
        let mut manifest = Manifest::read(&generation, VERSIONS)?;
        if let Look::Touched(_) = manifest.look(&generation, false)? {
            // The hashes fit. The other files are checked under the lock, and their new stamps are then noted.
            drop(shared);
            let _lock = match home.lock(wait) {
                Err(ViewError::Io { .. }) => None,
                other => Some(other?),
            };
            generation = home.current().unwrap_or(generation);
            manifest = Manifest::read(&generation, VERSIONS)?;
            if let Look::Touched(files) = manifest.look(&generation, false)? {
                check_touched(&generation, &files)?;
                manifest = Manifest::take(&generation, Some(&manifest), VERSIONS)?;
                if let Err(error) = manifest.write(&generation) {
                    tracing::debug!(%error, "the manifest of touched views was not written");
                }
            }
        }
        let text = guarded("text", || Ok(TextIndex::open(&generation.join(TEXT_DIR))?))?;
        let base = Checkpoint::parse(text.checkpoint().unwrap_or_default())?;
        let mut holds = log.holds(&base.cursor)?;
        if !holds {
            // Another process may have appended and committed since the log was read.
            log.refresh()?;
            holds = log.holds(&base.cursor)?;
        }
        if !holds {
            return Err(ViewError::Unusable {
                view: "text",
                why: "the log no longer holds its checkpoint".into(),
            });
        }
        let rows = Rows::open(&generation.join(ROWS_FILE), base.tally.next_ordinal)?;
        let passages = Passages::open(&generation, base.tally.next_ordinal, base.passages)?;
        let forward = Forward::open(&generation, base.passages)?;
        let waypoints = waypoints::Both::open(&generation);
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
            vectors: OnceLock::new(),
            steps: steps::Filed::default(),
            waypoints,
            base,
            rewritten,
        }))
    }

    /// Returns views of files with an empty tail.
    fn of(files: ViewFiles) -> Views {
        Views {
            tail: tail::Tail::new(&files.base, &files.passages),
            files: Arc::new(files),
            graph: None,
            models: Arc::default(),
        }
    }

    /// Removes the views of every version below `dir` completely. Files that another process has open stay readable to it.
    ///
    /// # Errors
    /// `Busy` if another process writes views for longer than `wait`; `Io` if a file cannot be removed.
    pub fn wipe(dir: &Path, wait: Duration) -> Result<()> {
        match dir.symlink_metadata() {
            Err(_) => Ok(()),
            Ok(found) if !found.is_dir() => std::fs::remove_file(dir).map_err(io("removing", dir)),
            Ok(_) => Home::new(dir).wipe(wait),
        }
    }

    /// Returns `true` if `dir` ever held views of this version. If not, building them needs no notice.
    pub fn were_built(dir: &Path) -> bool {
        Home::new(dir).exists()
    }

    /// Returns `true` if another process has written or replaced the open views, a file for answers about now was
    /// touched, or the log was rewritten, as of its last refresh. Costs a stat a file.
    pub fn are_stale(&self, log: &Log) -> bool {
        self.is_rewritten(log) || !self.look_same(Part::Now)
    }

    /// Returns `true` if the log was rewritten since these views read it, as of its last refresh.
    pub fn is_rewritten(&self, log: &Log) -> bool {
        self.files.rewritten != log.rewritten()
    }

    /// Returns `true` if every event is folded, as of the last refresh of the log.
    pub fn has_seen(&self, log: &Log) -> bool {
        self.tail.has_seen(log)
    }

    /// As [`Views::are_stale`], for the files that a command decides by. The text view, in which a command finds near
    /// texts, is left out: the command checks them by the table.
    pub fn are_stale_for_commands(&self, log: &Log) -> bool {
        self.is_rewritten(log) || !self.look_same(Part::Table)
    }

    fn look_same(&self, part: Part) -> bool {
        match &self.files.place {
            Place::Memory { .. } => true,
            Place::Disk {
                home,
                generation,
                manifest,
            } => home.is_current(generation) && manifest.looks_same(generation, part),
        }
    }

    /// Checks the files that only answers about earlier moments need. `are_stale` leaves them out because there may be
    /// many.
    fn check_history(&self) -> Result<()> {
        let Place::Disk {
            home,
            generation,
            manifest,
        } = &self.files.place
        else {
            return Ok(());
        };
        if manifest.looks_same(generation, Part::History) {
            return Ok(());
        }
        // Either a file was touched, or a process has committed; then the files that are open here are whole.
        let _lock = match home.lock_shared(open_wait(self.base_position().0)) {
            Err(ViewError::Io { .. }) => None,
            other => Some(other?),
        };
        if !self.look_same(Part::Now) {
            return Ok(());
        }
        manifest.look(generation, false).map(|_| ())
    }

    /// Returns `true` if the views are on disk.
    pub fn are_on_disk(&self) -> bool {
        matches!(self.files.place, Place::Disk { .. })
    }

    /// Returns the table; opens it at first use.
    pub fn table(&self) -> Result<&Table> {
        if let Some(table) = self.files.table.get() {
            return Ok(table);
        }
        let table = match &self.files.place {
            Place::Memory { db } => Table::of(db)?,
            Place::Disk { generation, .. } => {
                let path = generation.join(TABLE_FILE);
                guarded("table", || Table::of_read_only(&open_read_only(&path)?))?
            }
        };
        if table.checkpoint != self.files.base.cursor || table.tally != self.files.base.tally {
            return Err(ViewError::Unusable {
                view: "table",
                why: "table and text are not at the same place".into(),
            });
        }
        Ok(self.files.table.get_or_init(|| table))
    }

    /// Returns the tally of the newest folded state.
    pub fn tally(&self) -> &Tally {
        &self.tail.folder.tally
    }

    /// Returns the position that the files have reached.
    pub fn base_position(&self) -> Position {
        self.files.base.cursor.position
    }

    /// Returns the number of events in the tail.
    pub fn tail_len(&self) -> u64 {
        self.tail.folder.tally.events - self.files.base.tally.events
    }

    /// Returns the larger number of versions that the tail opened or closed: one event may change many.
    pub fn tail_rows(&self) -> u64 {
        let overlay = &self.tail.folder.kept;
        overlay.opened.len().max(overlay.closed.len()) as u64
    }

    /// Returns the bytes of the tail's records.
    pub fn tail_bytes(&self) -> u64 {
        self.tail.len_bytes
    }

    /// Folds the events appended since the last call. Cheap if there are none.
    pub fn follow(&mut self, log: &Log) -> Result<()> {
        // An event that was folded only in part, before an error or a panic, is folded again.
        let anew = tail::Tail::new(&self.files.base, &self.files.passages);
        let mut tail = std::mem::replace(&mut self.tail, anew);
        let result = tail.follow(self, log);
        if !tail.failed {
            self.tail = tail;
        }
        result
    }

    /// Returns a snapshot for the answers at one basis, in which these versions take the place of those that hold then.
    /// Each has the first position and the ordinal of the version that it replaces. Only queries may use the snapshot: it
    /// is neither followed nor committed.
    ///
    /// # Errors
    /// If the text view cannot be read.
    pub fn with_versions(&self, versions: Vec<(EntityId, Version)>) -> Result<Views> {
        let mut views = self.clone();
        // Numbers of passages beyond this snapshot's are given again by the next one.
        views.models = Arc::new(self.models.copied());
        for (entity, version) in versions {
            (views.tail).put_instead(&self.files.text, entity, version)?;
        }
        Ok(views)
    }

    /// Does a part of the work of the next commit on the folded events, and of the next recall if there were recalls or
    /// `all` is set. Returns `true` if more is left to do.
    pub fn analyse_ahead(&mut self, all: bool) -> bool {
        self.tail.text.analyse_ahead(AHEAD, all)
    }

    /// Returns `true` if [`Views::analyse_ahead`] has something to do.
    pub fn is_analysis_left(&self, all: bool) -> bool {
        self.tail.text.is_analysis_left(all)
    }

    /// Returns the reason why the log cannot be read beyond the folded events, if it cannot.
    pub fn stopped(&self) -> Option<&str> {
        self.tail.stopped.as_deref()
    }

    /// Returns the fold of all events up to the last [`Views::follow`].
    pub fn folder(&self) -> &Folder {
        &self.tail.folder
    }

    /// Returns the bytes on disk of the table (with rows), the text (with the forward index) and the vectors.
    pub fn sizes(&self) -> (u64, u64, u64) {
        let Place::Disk { generation, .. } = &self.files.place else {
            return (0, 0, 0);
        };
        let len = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let table = len(&generation.join(TABLE_FILE)) + len(&generation.join(ROWS_FILE));
        let [text, vectors] = [TEXT_DIR, VECTORS_DIR].map(|dir| folder_len(&generation.join(dir)));
        let forward =
            [FORWARD_FILE, FORWARD_INDEX, PASSAGES_FILE].map(|name| len(&generation.join(name)));
        (table, text + forward.iter().sum::<u64>(), vectors)
    }

    /// Checks every byte of the views' files.
    ///
    /// # Errors
    /// `Unusable` names the damaged view.
    pub fn check(&self) -> Result<()> {
        let Place::Disk {
            home,
            generation,
            manifest,
        } = &self.files.place
        else {
            return Ok(());
        };
        let shared = home.lock_shared(bounds::PEER)?;
        let look = manifest.look(generation, true)?;
        self.files.rows.check()?;
        self.files.forward.check()?;
        meaning::check(generation, manifest, self.files.base.passages)?;
        guarded("text", || Ok(self.files.text.validate().map(|_| ())?))?;
        drop(shared);
        // redb checks its file only as its writer.
        let _lock = match home.lock(bounds::PEER) {
            Err(ViewError::Io { .. }) => None,
            other => Some(other?),
        };
        match look {
            Look::Touched(files) => check_touched(generation, &files),
            Look::Same => Ok(()),
        }
    }
}

fn open_wait(events: u64) -> Duration {
    let build = BUILD_TIME_PER_EVENT.saturating_mul(u32::try_from(events).unwrap_or(u32::MAX));
    build.clamp(bounds::LOOK_EVERY, bounds::PEER)
}

fn open_read_only(path: &Path) -> Result<ReadOnlyDatabase> {
    redb_builder().open_read_only(path).map_err(table_error)
}

/// Checks touched files that have checks of their own.
fn check_touched(generation: &Path, files: &[String]) -> Result<()> {
    for file in files {
        if file == TABLE_FILE {
            let path = generation.join(TABLE_FILE);
            guarded("table", || {
                let mut db = redb_builder().open(&path).map_err(table_error)?;
                match db.check_integrity().map_err(table_error)? {
                    true => Ok(()),
                    false => Err(ViewError::Unusable {
                        view: "table",
                        why: format!("{TABLE_FILE} was changed or damaged"),
                    }),
                }
            })?;
        }
        if file == ROWS_FILE {
            let path = generation.join(ROWS_FILE);
            let len = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
            Rows::open(&path, Rows::count_in(len))?.check()?;
        }
    }
    Ok(())
}

fn folder_len(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return 0;
    };
    entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let metadata = entry.metadata().ok()?;
            Some(if metadata.is_dir() {
                folder_len(&entry.path())
            } else {
                metadata.len()
            })
        })
        .sum()
}

/// Runs code that reads a view's files; a panic inside means a damaged view.
pub(crate) fn guarded<T>(view: &'static str, run: impl FnOnce() -> Result<T>) -> Result<T> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
        Ok(result) => result,
        Err(_) => Err(ViewError::Unusable {
            view,
            why: "reading it failed".into(),
        }),
    }
}
