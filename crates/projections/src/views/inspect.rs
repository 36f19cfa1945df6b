//! Inspects the folder of the views without changing, building or waiting for anything.

use std::path::Path;
use std::time::Duration;

use icm_log::{Log, Position};

use super::files::{ROWS_FILE, TABLE_FILE, TEXT_DIR};
use super::generations::Home;
use super::manifest::{Look, Manifest};
use super::{Checkpoint, VERSIONS, guarded, interrupted_commit, meaning, open_read_only};
use crate::error::{Result, ViewError};
use crate::fold::Tally;
use crate::forward::Forward;
use crate::passages::Passages;
use crate::rows::Rows;
use crate::table::Table;
use icm_text::TextIndex;

/// The result of an inspection.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspected {
    /// The state of the current generation.
    pub state: ViewsState,
    /// Generations that are no longer read.
    pub left_over: Vec<String>,
}

/// The state of the current generation.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewsState {
    /// There is no generation.
    None,
    /// A process writes it now.
    Busy,
    /// A process was stopped while it wrote the generation, which is going to be mended.
    Cut,
    /// The generation is going to be rebuilt, for this reason.
    Unusable(String),
    /// The generation can be used.
    Usable {
        /// The position that it has reached.
        position: Position,
        /// The tally at that position.
        tally: Box<Tally>,
    },
}

/// Inspects the views below `dir`; with `whole` every byte that a reader may use.
pub fn inspect(dir: &Path, log: &Log, whole: bool) -> Inspected {
    let home = Home::new(dir);
    let current = home.current();
    let name = current.as_deref().and_then(Path::file_name);
    let mut left_over = home.generations();
    left_over.retain(|generation| Some(generation.as_ref()) != name);
    left_over.sort();
    let state = match &current {
        None if home.exists() => ViewsState::Unusable("`current` names no generation".to_owned()),
        None => ViewsState::None,
        Some(generation) => match look(&home, generation, log, whole) {
            Err(error) if interrupted_commit::is_cut(generation) => match error {
                ViewError::Busy => ViewsState::Busy,
                _ => ViewsState::Cut,
            },
            Ok(checkpoint) => ViewsState::Usable {
                position: checkpoint.cursor.position,
                tally: Box::new(checkpoint.tally),
            },
            Err(ViewError::Busy) => ViewsState::Busy,
            Err(ViewError::Unusable { why, .. }) => ViewsState::Unusable(why),
            Err(error) => ViewsState::Unusable(error.to_string()),
        },
    };
    Inspected { state, left_over }
}

fn look(home: &Home, generation: &Path, log: &Log, whole: bool) -> Result<Checkpoint> {
    let _shared = home.lock_shared(Duration::ZERO)?;
    let manifest = Manifest::read(generation, VERSIONS)?;
    let touched = match manifest.look(generation, whole)? {
        Look::Same => false,
        Look::Touched(_) => true,
    };
    let text = guarded("text", || Ok(TextIndex::open(&generation.join(TEXT_DIR))?))?;
    let base = Checkpoint::parse(text.checkpoint().unwrap_or_default())?;
    if !log.holds(&base.cursor)? {
        return Err(ViewError::Unusable {
            view: "text",
            why: "the log no longer holds its checkpoint".to_owned(),
        });
    }
    let rows = Rows::open(&generation.join(ROWS_FILE), base.tally.next_ordinal)?;
    Passages::open(generation, base.tally.next_ordinal, base.passages)?;
    let forward = Forward::open(generation, base.passages)?;
    meaning::inspect(generation, base.passages, whole)?;
    let table = guarded("table", || {
        Table::of_read_only(&open_read_only(&generation.join(TABLE_FILE))?)
    })?;
    if table.checkpoint != base.cursor || table.tally != base.tally {
        return Err(ViewError::Unusable {
            view: "table",
            why: "table and text are not at the same place".to_owned(),
        });
    }
    if touched {
        rows.check()?;
    }
    if touched || whole {
        forward.check()?;
    }
    if whole {
        guarded("text", || Ok(text.validate().map(|_| ())?))?;
    }
    Ok(base)
}
