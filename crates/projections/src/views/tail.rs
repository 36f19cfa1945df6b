//! The tail: what was appended since the checkpoint, folded in memory.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use icm_log::{Cursor, Event, EventId, Kind, Log, LogError, Waypoint, Waypoints};

use super::meaning::TailVectors;
use super::parts::each_part;
use super::past::LogPast;
use super::steps::Newer;
use super::waypoints::Both;
use super::{Checkpoint, Views};
use crate::error::{Result, ViewError};
use crate::fold::{Base, Folder, Schedule};
use crate::passages::Passages;
use icm_text::Signature;
use icm_vectors::Matrix;

/// Events since the checkpoint.
/// A clone shares all that is the same.
#[derive(Default, Clone)]
pub(super) struct Tail {
    pub(super) folder: Folder,
    pub(super) cursor: Option<Cursor>,
    pub(super) text: icm_text::Tail,
    pub(super) vectors: TailVectors,
    /// Its topics in their order, as far as they were asked for.
    pub(super) steps: Newer,
    pub(super) waypoints: Both<Vec<Waypoint>>,
    /// How memories fade now, once that was asked for.
    pub(super) schedule: OnceLock<Arc<Schedule>>,
    /// Bytes of the records that were folded.
    pub(super) len_bytes: u64,
    /// Passages of the versions of the files, and of its own.
    pub(super) passages: Passages,
    /// Ordinals in `folder.kept.opened` that the text tail already has, and those in `folder.kept.closed`.
    text_has: usize,
    text_closed: usize,
    /// A redaction was met after other events: texts that were folded are to go.
    redacted: bool,
    /// An event could not be folded to its end.
    pub(super) failed: bool,
    /// Why the log cannot be read beyond what is folded.
    pub(super) stopped: Option<String>,
}

impl Tail {
    pub(super) fn new(base: &Checkpoint, passages: &Passages) -> Tail {
        Tail {
            folder: Folder::new(base.tally.clone()),
            cursor: Some(base.cursor),
            text: icm_text::Tail::new(),
            vectors: TailVectors::default(),
            steps: Newer::default(),
            waypoints: Both::default(),
            schedule: OnceLock::new(),
            len_bytes: 0,
            passages: passages.clone(),
            text_has: 0,
            text_closed: 0,
            redacted: false,
            failed: false,
            stopped: None,
        }
    }

    pub(super) fn cursor(&self) -> Cursor {
        self.cursor.unwrap_or(Cursor::START)
    }

    /// Whether it ends between two own events. Within an imported range there is no place to go on
    /// from, and what the import brought is not worked out yet.
    pub(super) fn is_whole(&self) -> bool {
        self.cursor().position == self.folder.tally.position
    }

    /// Folds what is new, until `enough` says so of the event folded last. Within an imported range the next call reads the
    /// range from its start, and passes over what is folded.
    pub(super) fn fold(
        &mut self,
        base: &dyn Base,
        log: &Log,
        older: &dyn Waypoints,
        enough: &mut dyn FnMut(&Folder, &Event<'_>) -> bool,
    ) -> Result<()> {
        let mut failed = None;
        let (folder, waypoints) = (&mut self.folder, &mut self.waypoints);
        let (len_bytes, redacted) = (&mut self.len_bytes, &mut self.redacted);
        let (cursor, stopped) =
            log.scan_whole(&self.cursor.unwrap_or(Cursor::START), &mut |event| {
                if event.position <= folder.tally.position {
                    return ControlFlow::Continue(());
                }
                let past = LogPast {
                    log,
                    older,
                    newer: waypoints,
                };
                if let Err(error) = folder.apply_next(base, &past, event) {
                    failed = Some(error);
                    return ControlFlow::Break(());
                }
                *redacted |= event.head.kind() == Kind::LOG_REDACTED;
                waypoints.note(event);
                *len_bytes += event.place.len as u64;
                match enough(folder, event) {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            });
        if let Some(error) = failed {
            self.failed = true;
            return Err(error);
        }
        self.cursor = Some(cursor);
        self.stopped = None;
        match stopped {
            // What lies before the damage is answered from; whoever asks is told.
            Some(error @ LogError::Damaged { .. }) => {
                self.stopped = Some(error.to_string());
                Ok(())
            }
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Whether it reaches the end of the log, as of its last refresh.
    pub(super) fn has_seen(&self, log: &Log) -> bool {
        let end = log.end();
        let event = self.folder.tally.event.unwrap_or(EventId::ZERO);
        end.position == self.folder.tally.position && end.event == event
    }

    pub(super) fn follow(&mut self, views: &Views, log: &Log) -> Result<()> {
        if self.has_seen(log) {
            return Ok(());
        }
        let goes_on = self.folder.tally.position.0 > 0;
        self.redacted = false;
        self.schedule = OnceLock::new();
        self.vectors.go_on();
        self.steps.go_on();
        self.fold(views, log, &views.files.waypoints, &mut |_, _| false)?;
        if self.redacted && goes_on {
            self.failed = true;
            return Err(ViewError::Unusable {
                view: "text",
                why: "a redaction took texts out of the log".to_owned(),
            });
        }
        let overlay = &self.folder.kept;
        for (ordinal, entity, from) in overlay.opened.focus().narrow(self.text_has..) {
            if let Some(version) = overlay.version_from(*entity, *from) {
                let text = &mut self.text;
                let first = self.passages.of(*ordinal).start;
                let count = each_part(first, version, &mut |doc, _| {
                    text.add(doc);
                    Ok(())
                })?;
                self.passages.note(*ordinal, count);
            }
        }
        self.text_has = overlay.opened.len();
        if overlay.closed.len() > self.text_closed {
            for passage in overlay.closed.keys().flat_map(|it| self.passages.of(*it)) {
                let closed = self.text.close(&views.files.text, passage);
                closed.inspect_err(|_| self.failed = true)?;
            }
            self.text_closed = overlay.closed.len();
        }
        Ok(())
    }

    /// The vectors of its passages.
    pub(super) fn rows_of_vectors(&self) -> &[Arc<Matrix>] {
        self.vectors.of(&self.folder.kept, &self.passages)
    }

    /// The number of the first passage that is not there yet.
    pub(super) fn next_passage(&self) -> u64 {
        self.passages.of(self.folder.tally.next_ordinal).start
    }

    /// The signature of the text of a version that it opened.
    pub(super) fn signature(&self, ordinal: u64) -> Option<Signature> {
        self.text.signature(self.passages.of(ordinal).start)
    }
}
