//! The stamps of the log's files, which tell whether anybody changed the log since the last read.

use std::path::Path;
use std::sync::Arc;

use super::{FileStamps, Log, State};
use crate::disk::{OpenMode, Stamp};
use crate::error::{LogError, Result};
use crate::layout::{self, STORE_FILE};
use crate::recover::TipPlace;
use crate::zero_tail;

impl Log {
    /// Reads the log again if its files changed. Returns `true` if they did.
    pub(crate) fn refresh_state(&self, state: &mut State) -> Result<bool> {
        // Taken before the files are read, so that a change in between shows the next time.
        self.look_whether_rewritten(state)?;
        let stamps = self.stamps(state);
        if stamps.is_some() && stamps == state.stamps {
            return Ok(false);
        }
        self.check_that_it_is_there(state)?;
        let before = state.stamps.take();
        let tip = state.tip.clone();
        state.hold.acked = None;
        self.read_state(state)?;
        let place = |tip: &Option<TipPlace>| {
            let place = tip.as_ref()?;
            Some((place.segment.clone(), place.tip.event, place.end))
        };
        let segment = |tip: &Option<TipPlace>| tip.as_ref().map(|place| place.segment.clone());
        let unmoved = place(&state.tip) == place(&tip);
        let same_file = before.is_some_and(|before| {
            let of = |stamps: &FileStamps| (stamps.segment.identity, stamps.chain);
            stamps.as_ref().map(of) == Some(of(&before))
        });
        if !(unmoved && same_file) {
            // This process cannot vouch for the appends of others. The next sync opens the segment again and rewrites
            // the records that may not be durable.
            state.hold.file = None;
        }
        if segment(&state.tip) == segment(&tip)
            && state.trouble.is_none()
            && state.refusal.is_none()
        {
            state.stamps = stamps;
        }
        Ok(true)
    }

    /// Returns an error if a store that was read before is gone: it was moved or removed, and nothing may be written in
    /// its place.
    pub(crate) fn check_that_it_is_there(&self, state: &State) -> Result<()> {
        if state.store.is_none() || state.tip.is_none() {
            return Ok(());
        }
        let is_there = |name: &str| matches!(self.disk.stamp(&self.dir.join(name)), Ok(Some(_)));
        match is_there(STORE_FILE) || is_there(layout::LOG_DIR) {
            true => Ok(()),
            false => Err(LogError::Io {
                doing: "reading",
                path: self.dir.clone(),
                source: std::io::Error::new(
                    std::io::ErrorKind::NotFound,
                    "the store was moved or removed while it was open; start again with its new place",
                ),
            }),
        }
    }

    /// Returns the stamps of the files. `None` if they tell nothing: there is no own event yet, or a change is so young
    /// that another could get the same stamp.
    pub(crate) fn stamps(&self, state: &State) -> Option<FileStamps> {
        let own = state.store.as_ref()?.origin;
        let place = state.tip.as_ref().filter(|place| place.tip.origin == own)?;
        let stamp = |path: &Path| self.disk.stamp(path).ok().flatten();
        let (chain, settled) = stamp(&layout::dir_of(&self.dir, own))?;
        // A new segment changes the folder's time, an append changes the segment's length. Slots are only hints.
        Some(FileStamps {
            store: stamp(&self.dir.join(STORE_FILE))?.0,
            chain,
            segment: self.look_at_segment(state, place)?,
            path: place.segment.path.clone(),
        })
        .filter(|_| settled)
    }

    /// Returns the stamp of the tip's segment; `None` if something follows the tip.
    fn look_at_segment(&self, state: &State, place: &TipPlace) -> Option<Stamp> {
        let path = &place.segment.path;
        let open = state.hold.file.as_ref();
        let stamp = match open {
            Some(file) => file.stamp().ok()?,
            None => self.disk.stamp(path).ok()??.0,
        };
        if stamp.len > place.end {
            let file = match open {
                Some(file) => Arc::clone(file),
                None => self.disk.open(path, OpenMode::Read).ok()?,
            };
            zero_tail::starts_at(&*file, place.end).then_some(())?;
        }
        Some(stamp)
    }

    /// Returns the stamps of the files after this process wrote to the log. Nobody else can have written.
    pub(crate) fn stamps_after_writing(
        &self,
        state: &State,
        before: Option<FileStamps>,
    ) -> Option<FileStamps> {
        let place = state.tip.as_ref()?;
        let same =
            |stamps: &FileStamps| state.segments.is_some() && stamps.path == place.segment.path;
        let Some(before) = before.filter(same) else {
            return self.stamps(state);
        };
        Some(FileStamps {
            segment: self.look_at_segment(state, place)?,
            ..before
        })
    }
}
