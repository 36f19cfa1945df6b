//! The segment that is appended to: opens, writes and syncs it, and begins the next one.

use std::io;
use std::path::Path;
use std::sync::{Arc, MutexGuard};

use super::commit::sync_failed;
use crate::chain;
use crate::disk::{DiskFile, OpenMode};
use crate::error::{Result, at};
use crate::layout;
use crate::log::{Log, State};
use crate::recover::{Tip, TipPlace};
use crate::zero_tail;
use icm_event::head::FORMAT;
use icm_event::id::{EventId, Seq};
use icm_event::segment::{HEADER_LEN, SEGMENT_LEN_TARGET, SegmentHeader, SegmentName};

impl Log {
    /// Writes encoded records after the tip, or into a new segment.
    pub(super) fn write(
        &self,
        state: &mut State,
        bytes: &[u8],
        tip: Tip,
        last_offset: usize,
        first: (Seq, EventId),
    ) -> Result<()> {
        let place = state
            .tip
            .as_ref()
            .filter(|place| place.tip.origin == tip.origin);
        let goes_on = match place {
            Some(place) if place.end + bytes.len() as u64 <= SEGMENT_LEN_TARGET => {
                state.hold.file.is_some() || self.is_of_this_format(&place.segment.path)?
            }
            _ => false,
        };
        let (segment, offset) = match place {
            Some(place) if goes_on => {
                let (segment, offset) = (place.segment.clone(), place.end);
                self.write_after(state, &segment.path, bytes, offset)?;
                (segment, offset)
            }
            _ => {
                if let Some(place) = place {
                    let path = place.segment.path.clone();
                    let end = place.end;
                    let file = self.open_segment(state, &path, end)?;
                    zero_tail::cut(&*file, end).map_err(at("truncating", &path))?;
                    if let Err(why) = self.sync_segment(&*file) {
                        state.hold.poisoned = Some(Arc::clone(&why));
                        return Err(sync_failed(&path, &why));
                    }
                    state.hold.durable = state.tip.as_ref().map_or(Seq(0), |place| place.tip.seq);
                }
                let segment = self.create_segment(state, bytes, tip, first)?;
                (segment, HEADER_LEN as u64)
            }
        };
        let synced = state.hold.durable;
        state.tip = Some(TipPlace {
            tip,
            segment,
            offset: offset + last_offset as u64,
            end: offset + bytes.len() as u64,
            synced,
        });
        Ok(())
    }

    /// Returns `true` if this version may append to a segment. It may be able to read a segment of a newer format, but
    /// must not append to it.
    fn is_of_this_format(&self, path: &Path) -> Result<bool> {
        let file = self
            .disk
            .open(path, OpenMode::Read)
            .map_err(at("reading", path))?;
        let mut bytes = [0; HEADER_LEN];
        let read = file.read_at(&mut bytes, 0).map_err(at("reading", path))?;
        Ok(SegmentHeader::parse(&bytes[..read]).is_ok_and(|header| header.format <= FORMAT))
    }

    /// Opens the segment that holds the tip. Records there that are not known to be durable are written again, since a
    /// sync that failed elsewhere may have lost them unseen.
    pub(crate) fn open_segment(
        &self,
        state: &mut State,
        path: &Path,
        end: u64,
    ) -> Result<Arc<dyn DiskFile>> {
        if let Some(file) = &state.hold.file {
            return Ok(Arc::clone(file));
        }
        let file = self
            .disk
            .open(path, OpenMode::Write)
            .map_err(at("opening", path))?;
        let unsure = state
            .tip
            .as_ref()
            .filter(|place| place.tip.seq > state.hold.durable);
        if let Some(place) = unsure {
            let from = match &state.slot {
                Some(slot)
                    if slot.origin == place.tip.origin
                        && slot.segment == place.segment.name.first_seq
                        && (HEADER_LEN as u64..end).contains(&slot.offset) =>
                {
                    slot.offset
                }
                _ => 0,
            };
            let mut bytes = vec![0; (end - from) as usize];
            let read = file
                .read_at(&mut bytes, from)
                .map_err(at("reading", path))?;
            file.write_at(&bytes[..read], from)
                .map_err(at("writing", path))?;
            let first_seq = place.segment.name.first_seq;
            if state.hold.durable < first_seq {
                // The process that created the segment may have died before its name was durable.
                let dir = layout::dir_of(&self.dir, place.tip.origin);
                self.sync_names(&dir, first_seq)
                    .map_err(at("syncing", &dir))?;
            }
        }
        state.hold.file = Some(Arc::clone(&file));
        Ok(file)
    }

    pub(super) fn gate(&self) -> MutexGuard<'_, Option<Arc<str>>> {
        self.sync_gate
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Syncs a segment, unless a sync failed since the log was last read.
    pub(crate) fn sync_segment(&self, file: &dyn DiskFile) -> std::result::Result<(), Arc<str>> {
        let mut gate = self.gate();
        if let Some(why) = &*gate {
            return Err(Arc::clone(why));
        }
        file.sync().map_err(|error| {
            let why: Arc<str> = error.to_string().into();
            *gate = Some(Arc::clone(&why));
            why
        })
    }

    fn write_after(&self, state: &mut State, path: &Path, bytes: &[u8], offset: u64) -> Result<()> {
        let file = self.open_segment(state, path, offset)?;
        zero_tail::cut(&*file, offset).map_err(at("truncating", path))?;
        let Err(error) = file.write_at(bytes, offset) else {
            return Ok(());
        };
        // A failed append leaves nothing. If the cut fails, too, the next writer sets the tail aside.
        if file.truncate(offset).is_err() {
            state.hold.file = None;
        }
        Err(at("writing", path)(error))
    }

    fn create_segment(
        &self,
        state: &mut State,
        bytes: &[u8],
        tip: Tip,
        first: (Seq, EventId),
    ) -> Result<chain::SegmentFile> {
        let dir = layout::dir_of(&self.dir, tip.origin);
        self.disk
            .create_dir_all(&dir)
            .map_err(at("creating", &dir))?;
        let name = SegmentName::new(first.0, first.1);
        let path = dir.join(name.to_string());
        let file = self
            .disk
            .open(&path, OpenMode::CreateNew)
            .map_err(at("creating", &path))?;
        let mut contents = SegmentHeader::new(tip.origin, first.0).encode().to_vec();
        contents.extend_from_slice(bytes);
        let made = (|| {
            file.write_at(&contents, 0)?;
            file.sync()?;
            self.sync_names(&dir, first.0)
        })();
        if let Err(error) = made {
            // Not acknowledged. If the file cannot be removed, the next writer finds a torn creation.
            let _ = self.disk.remove_file(&path);
            return Err(at("creating", &path)(error));
        }
        state.hold.file = Some(file);
        state.hold.durable = tip.seq;
        state.segments = None;
        Ok(chain::SegmentFile { name, path })
    }

    /// Makes the name of a segment durable, and the names of the folders that it lies in.
    pub(crate) fn sync_names(&self, chain_dir: &Path, first_seq: Seq) -> io::Result<()> {
        self.disk.sync_dir(chain_dir)?;
        self.disk.sync_dir(&self.dir.join(layout::LOG_DIR))?;
        self.disk.sync_dir(&self.dir)?;
        match first_seq {
            Seq(1) => self.sync_above(),
            _ => Ok(()),
        }
    }

    /// Makes the folders above the store durable: their creator may have died before doing so.
    fn sync_above(&self) -> io::Result<()> {
        for above in self.dir.ancestors().skip(1) {
            let above = match above.as_os_str().is_empty() {
                true => Path::new("."),
                false => above,
            };
            match self.disk.sync_dir(above) {
                // A folder that cannot be opened or synced is not this store's to make durable.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::PermissionDenied
                            | io::ErrorKind::NotFound
                            | io::ErrorKind::InvalidInput
                            | io::ErrorKind::Unsupported
                            | io::ErrorKind::ReadOnlyFilesystem
                    ) => {}
                other => other?,
            }
        }
        Ok(())
    }
}
