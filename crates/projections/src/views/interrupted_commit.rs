//! Mends a generation after an interrupted commit: its process was killed, or failed, in the middle.
//!
//! A mark lies in the generation from before the first file changes until the manifest describes the new files. If a
//! reader finds the mark and no process writes, all files are taken back to the checkpoint of the text view. The table
//! goes back to its state before the commit if it is further, and later entries are removed from the other files. So a
//! killed process costs no rebuild, with one exception: it died between the commits of the two tiers of the text, and
//! tantivy had removed files of the closed tier.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use icm_log::Waypoint;

use super::files::{MARK, ROWS_FILE, TABLE_FILE, TEXT_DIR, replace};
use super::generations::Home;
use super::manifest::Manifest;
use super::waypoints::Both;
use super::{Checkpoint, VERSIONS, guarded, meaning, redb_builder, table_error};
use crate::error::{Result, io};
use crate::forward::Forward;
use crate::passages::Passages;
use crate::{rows, table};
use icm_text::{CLOSED_META, TextError, TextIndex};

/// Writes the mark.
pub(super) fn begin(generation: &Path) -> Result<()> {
    let closed = closed_meta(generation);
    let before = fs::read(&closed).map_err(io("reading", &closed))?;
    replace(&generation.join(MARK), &before)
}

/// Removes the mark.
pub(super) fn end(generation: &Path) -> Result<()> {
    let mark = generation.join(MARK);
    fs::remove_file(&mark).map_err(io("removing", &mark))
}

/// Returns `true` if a commit was begun and not ended. This is normal while another process writes.
pub(super) fn is_cut(generation: &Path) -> bool {
    generation.join(MARK).symlink_metadata().is_ok()
}

/// Takes the files of the current generation to one checkpoint if a commit was interrupted.
///
/// # Errors
/// `Busy` if another process writes the files for longer than `wait`. After any other error, rebuild.
pub(super) fn mend(home: &Home, wait: Duration) -> Result<()> {
    let _lock = home.lock(wait)?;
    let Some(generation) = home.current().filter(|generation| is_cut(generation)) else {
        return Ok(());
    };
    let before = Manifest::read(&generation, VERSIONS)?;
    let text = guarded("text", || opened_text(&generation))?;
    let is_new = |name: &str| !before.file_looks_same(&generation, &format!("{TEXT_DIR}/{name}"));
    guarded("text", || Ok(text.validate_those(&is_new).map(|_| ())?))?;
    let base = Checkpoint::parse(text.checkpoint().unwrap_or_default())?;
    guarded("table", || {
        let path = generation.join(TABLE_FILE);
        let db = redb_builder().open(&path).map_err(table_error)?;
        table::go_back(&db, &base.cursor)?;
        db.close().map_err(table_error)
    })?;
    let (count, position) = (base.tally.next_ordinal, base.cursor.position);
    rows::go_back(&generation.join(ROWS_FILE), count, position)?;
    Both::<Vec<Waypoint>>::default().write(&generation, position)?;
    Passages::open(&generation, count, base.passages)?.write(&generation, count)?;
    Forward::open(&generation, base.passages)?.check()?;
    meaning::keep_whole(&generation, base.passages);
    Manifest::take(&generation, Some(&before), VERSIONS)?.write(&generation)?;
    end(&generation)?;
    tracing::debug!(position = position.0, "a commit of the views had been cut");
    Ok(())
}

/// Opens the index as of the last commit of both tiers.
fn opened_text(generation: &Path) -> Result<TextIndex> {
    let dir = generation.join(TEXT_DIR);
    match TextIndex::open_unwritten(&dir) {
        Err(TextError::Torn) => {
            let mark = generation.join(MARK);
            let before = fs::read(&mark).map_err(io("reading", &mark))?;
            replace(&closed_meta(generation), &before)?;
            Ok(TextIndex::open_unwritten(&dir)?)
        }
        other => Ok(other?),
    }
}

fn closed_meta(generation: &Path) -> PathBuf {
    generation.join(TEXT_DIR).join(CLOSED_META)
}
