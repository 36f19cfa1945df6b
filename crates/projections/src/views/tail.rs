//! The tail: the events since the checkpoint, folded in memory.

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
use crate::fold::{Base, Closed, EntityId, Folder, Schedule, Version};
use crate::passages::Passages;
use icm_text::{Signature, TextIndex};
use icm_vectors::Matrix;

/// The events since the checkpoint, folded. A clone shares all equal parts.
#[derive(Default, Clone)]
pub(super) struct Tail {
    pub(super) folder: Folder,
    pub(super) cursor: Option<Cursor>,
    pub(super) text: icm_text::Tail,
    pub(super) vectors: TailVectors,
    /// The topics asked for so far, in their order.
    pub(super) steps: Newer,
    pub(super) waypoints: Both<Vec<Waypoint>>,
    /// The present schedule of decay, once it was asked for.
    pub(super) schedule: OnceLock<Arc<Schedule>>,
    /// Bytes of the folded records.
    pub(super) len_bytes: u64,
    /// Passages of the versions in the files and in the tail.
    pub(super) passages: Passages,
    /// Numbers of entries of `folder.kept.opened` and of `folder.kept.closed` that the text tail has.
    text_has: usize,
    text_closed: usize,
    /// `true` if a redaction came after other events: the folded texts have to go.
    redacted: bool,
    /// `true` if an event could not be folded to its end.
    pub(super) failed: bool,
    /// The reason why the log cannot be read beyond the folded events.
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

    /// Returns `true` if the tail ends between two own events. An imported range can only be continued from its start,
    /// and its rest is worked out at its end.
    pub(super) fn is_whole(&self) -> bool {
        self.cursor().position == self.folder.tally.position
    }

    /// Folds new events until `enough` returns true for the last one. Within an imported range the next call reads the
    /// range from its start, and skips folded events.
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
            // Events before the damage are answered from; callers see `stopped`.
            Some(error @ LogError::Damaged { .. }) => {
                self.stopped = Some(error.to_string());
                Ok(())
            }
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Returns `true` if the tail reaches the end of the log, as of its last refresh.
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

    /// Puts a version in place of the one that holds from the same position; see [`Views::with_versions`].
    pub(super) fn put_instead(
        &mut self,
        index: &TextIndex,
        entity: EntityId,
        mut version: Version,
    ) -> Result<()> {
        let at = version.from;
        let folder = &mut self.folder;
        if let Some(before) = version.ordinal {
            folder.kept.closed.insert(before, Closed { entity, at });
            for passage in self.passages.of(before) {
                self.text.close(index, passage)?;
            }
        }
        let ordinal = folder.tally.next_ordinal;
        folder.tally.next_ordinal += 1;
        version.ordinal = Some(ordinal);
        let first = self.passages.of(ordinal).start;
        let count = each_part(first, &version, &mut |doc, _| {
            self.text.add(doc);
            Ok(())
        })?;
        self.passages.note(ordinal, count);
        folder.kept.opened.push_back((ordinal, entity, at));
        folder.kept.put_instead(entity, version);
        Ok(())
    }

    /// Returns the vectors of the tail's passages.
    pub(super) fn rows_of_vectors(&self) -> &[Arc<Matrix>] {
        self.vectors.of(&self.folder.kept, &self.passages)
    }

    /// Returns the number of the next passage.
    pub(super) fn next_passage(&self) -> u64 {
        self.passages.of(self.folder.tally.next_ordinal).start
    }

    /// Returns the signature of the text of a version that the tail opened.
    pub(super) fn signature(&self, ordinal: u64) -> Option<Signature> {
        self.text.signature(self.passages.of(ordinal).start)
    }
}
