//! Redaction in the files: takes the bodies of events out. The heads stay, so ids, chains and positions keep their
//! meaning.
//!
//! A redaction is first an event; removing the bodies from the files follows from it. A marker in the store names the
//! unfinished work, from before the event until the last file is clean. After a crash, the next writer that opens the
//! store finishes the work.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::chain;
use crate::disk;
use crate::error::{LogError, Result, at};
use crate::layout::{self, REDACTING_FILE, TORN_DIR};
use crate::log::Log;
use crate::scan::{SegmentScan, Step};
use crate::strays;
use crate::writer::Writer;
use icm_event::hash;
use icm_event::id::{EventId, OriginId, RequestKey, Seq};
use icm_event::record::{self, Body, Parsed, Record};
use icm_event::segment::{HEADER_LEN, SegmentHeader};

const REQUEST_LINE: &str = "request ";
const MARKER: &str = "A redaction was begun here. Whoever opens the store finishes it.\n";
/// Marker of a rewrite after which views must be dropped. No body is to be removed.
const REWRITE_MARKER: &[u8] =
    b"Log files are written anew. Whoever opens the store drops its views.\n";

/// Events of each chain.
pub type Redacted = BTreeMap<OriginId, HashSet<EventId>>;

/// Counts of a removal of bodies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Blanked {
    /// Number of events whose body was removed.
    pub events: u64,
    /// Number of bodies removed from copies of segments below `log/`.
    pub copies: u64,
    /// Number of segments that were rewritten.
    pub segments: u64,
    /// Number of files of `torn/` that were removed.
    pub torn: u64,
    /// `true` if copies and `torn/` were cleaned, too.
    pub looked_everywhere: bool,
    /// Files of `torn/`, and files below `log/` that are not segments, of which it is unknown whether they hold such a
    /// body. Relative to the store.
    pub unknown: Vec<PathBuf>,
}

impl Log {
    /// Returns `true` if a redaction was begun and is not known to be finished.
    pub fn redaction_pending(&self) -> bool {
        let path = self.dir.join(REDACTING_FILE);
        matches!(self.disk.stamp(&path), Ok(Some(_)))
    }

    /// Returns the request of a redaction that is not known to be finished, if the marker names one.
    pub fn redaction_request(&self) -> Option<RequestKey> {
        let path = self.dir.join(REDACTING_FILE);
        let marker = disk::read_all(&*self.disk, &path, 1_024).ok()?;
        let marker = String::from_utf8(marker).ok()?;
        let mut lines = marker.lines();
        lines.find_map(|line| RequestKey::parse_hex(line.strip_prefix(REQUEST_LINE)?))
    }
}

impl Log {
    /// Returns the ids of all events in readable segments.
    fn event_ids(&self) -> Result<HashSet<EventId>> {
        let mut held = HashSet::new();
        for origin in chain::origins(&*self.disk, &self.dir)? {
            for segment in chain::segments(&*self.disk, &self.dir, origin)? {
                let start = HEADER_LEN as u64;
                let mut scan = SegmentScan::open(&*self.disk, &segment.path, start, u64::MAX)?;
                while let Step::Record { record, .. } = scan.step()? {
                    held.insert(hash::event_id(record.head));
                }
            }
        }
        Ok(held)
    }
}

impl Writer<'_> {
    /// Marks a redaction as begun, by the given `request`. Durable when it returns.
    pub fn begin_redaction(&self, request: Option<RequestKey>) -> Result<()> {
        let path = self.log.dir.join(REDACTING_FILE);
        let mut marker = MARKER.to_owned();
        if let Some(request) = request {
            marker.push_str(&format!("{REQUEST_LINE}{request}\n"));
        }
        disk::replace(&*self.log.disk, &path, marker.as_bytes()).map_err(at("writing", &path))
    }

    /// Marks a rewrite of log files as begun, after which views are dropped. Files in `torn/` stay. Durable when it
    /// returns.
    pub fn begin_rewrite(&self) -> Result<()> {
        if self.log.redaction_pending() {
            return Ok(()); // which asks for more
        }
        let path = self.log.dir.join(REDACTING_FILE);
        disk::replace(&*self.log.disk, &path, REWRITE_MARKER).map_err(at("writing", &path))
    }

    /// Returns `true` if redacted bodies must be removed from copies and `torn/`, too. `false` during a rewrite only.
    fn is_redaction(&self) -> Result<bool> {
        let path = self.log.dir.join(REDACTING_FILE);
        match disk::read_all(&*self.log.disk, &path, 1_024) {
            Ok(marker) => Ok(marker != REWRITE_MARKER),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(at("reading", &path)(error)),
        }
    }

    /// Marks the work as finished and log files as rewritten, so that every process drops the state it read from them.
    /// Durable when it returns.
    pub fn end_redaction(&self) -> Result<()> {
        self.mark_rewritten()?;
        let path = self.log.dir.join(REDACTING_FILE);
        match self.log.disk.remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(at("removing", &path)(error));
            }
            _ => {}
        }
        self.log
            .disk
            .sync_dir(&self.log.dir)
            .map_err(at("syncing", &self.log.dir))
    }

    /// Removes the bodies of these events from every segment and every copy below `log/`, and removes files of `torn/`
    /// that may hold one. During a mere rewrite only segments are cleaned. Durable when it returns; doing it again
    /// changes nothing.
    ///
    /// # Errors
    /// `Damaged` if a segment cannot be read to its end. That segment is left as it was; the others are clean.
    pub fn blank(&mut self, events: &Redacted) -> Result<Blanked> {
        let mut blanked = Blanked::default();
        let mut failed = None;
        let (disk, dir) = (&*self.log.disk, &self.log.dir);
        let origins = match events.is_empty() {
            true => Vec::new(),
            false => chain::origins(disk, dir)?,
        };
        for origin in origins {
            for segment in chain::segments(disk, dir, origin)? {
                let done = self.blank_segment(&segment, events, &mut blanked);
                failed = failed.or(done.err());
            }
        }
        if self.is_redaction()? {
            blanked.looked_everywhere = true;
            let strays = strays::strays(disk, dir)?;
            let mut strays = strays.iter().filter(|stray| !stray.is_dir).peekable();
            let held = match strays.peek() {
                Some(_) => self.log.event_ids()?,
                None => HashSet::new(),
            };
            for stray in strays {
                let done = self.blank_stray(&stray.path, events, &held, &mut blanked);
                failed = failed.or(done.err());
            }
            self.clean_torn(events, &mut blanked)?;
        }
        if blanked.segments > 0 {
            self.mark_rewritten()?;
            // Records have moved, and the open file is no longer the one of that name.
            let mut state = self.log.lock_state();
            state.hold.file = None;
            state.stamps = None;
            self.log.refresh_state(&mut state)?;
        }
        match failed {
            None => Ok(blanked),
            Some(error) => Err(error),
        }
    }

    /// Removes the bodies from a file that is not a segment by its name: a conflict copy, or a copy in a folder beside.
    fn blank_stray(
        &self,
        path: &Path,
        events: &Redacted,
        held: &HashSet<EventId>,
        blanked: &mut Blanked,
    ) -> Result<()> {
        let disk = &*self.log.disk;
        // A file that cannot be read is not known to be clean.
        let bytes = disk::read_all(disk, path, u64::MAX).unwrap_or_else(|_| vec![u8::MAX]);
        let start = match SegmentHeader::parse(&bytes) {
            Ok(_) => HEADER_LEN,
            Err(_) => 0,
        };
        let (mut out, mut found) = (bytes[..start].to_vec(), 0);
        let mut rest = &bytes[start..];
        let mut is_unknown = false;
        while let Parsed::Record(shape) = record::parse(rest) {
            let record = shape.view(rest);
            if is_named(&record, events) {
                record::encode(&mut out, record.synced, record.head, None);
                found += 1;
            } else {
                out.extend_from_slice(record.bytes);
                // The event belongs to no chain of this store, so it is unknown whether it is redacted.
                is_unknown |=
                    record.body != Body::Withheld && !held.contains(&hash::event_id(record.head));
            }
            rest = &rest[shape.record_len()..];
        }
        if is_unknown || rest.iter().any(|byte| *byte != 0) {
            blanked.unknown.push(layout::relative(&self.log.dir, path));
        }
        if found > 0 {
            out.extend_from_slice(rest);
            disk::replace(disk, path, &out).map_err(at("writing", path))?;
            blanked.copies += found;
        }
        Ok(())
    }

    fn blank_segment(
        &self,
        segment: &chain::SegmentFile,
        events: &Redacted,
        blanked: &mut Blanked,
    ) -> Result<()> {
        let disk = &*self.log.disk;
        let damaged = |offset_bytes, seq| LogError::Damaged {
            case: crate::cases::Case::C,
            file: layout::relative(&self.log.dir, &segment.path),
            seq,
            offset_bytes,
            what: "bytes that are no record".to_owned(),
        };
        let bytes =
            disk::read_all(disk, &segment.path, u64::MAX).map_err(at("reading", &segment.path))?;
        let mut out = bytes.get(..HEADER_LEN).unwrap_or_default().to_vec();
        let (mut found, mut next) = (0, segment.name.first_seq);
        let mut scan = SegmentScan::open(disk, &segment.path, HEADER_LEN as u64, u64::MAX)?;
        loop {
            match scan.step()? {
                Step::Record { record, .. } => {
                    // An event is redacted in any folder, even one of another chain.
                    if is_named(&record, events) {
                        record::encode(&mut out, record.synced, record.head, None);
                        found += 1;
                    } else {
                        out.extend_from_slice(record.bytes);
                    }
                    next = Seq(record.seq().0 + 1);
                }
                Step::End => break,
                Step::Bad { offset } | Step::Newer { offset } => return Err(damaged(offset, next)),
            }
        }
        if found == 0 {
            return Ok(());
        }
        disk::replace(disk, &segment.path, &out).map_err(at("writing", &segment.path))?;
        blanked.events += found;
        blanked.segments += 1;
        Ok(())
    }

    /// Removes files that recovery set aside, unless all their records are whole and none is to be redacted.
    fn clean_torn(&self, events: &Redacted, blanked: &mut Blanked) -> Result<()> {
        let (disk, dir) = (&*self.log.disk, self.log.dir.join(TORN_DIR));
        let entries = match disk.read_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(at("reading", &dir))?,
        };
        for entry in &entries {
            let path = dir.join(&entry.name);
            if entry.is_dir {
                blanked.unknown.push(layout::relative(&self.log.dir, &path));
                continue;
            }
            let Ok(bytes) = disk::read_all(disk, &path, u64::MAX) else {
                blanked.unknown.push(layout::relative(&self.log.dir, &path));
                continue;
            };
            if is_accounted_for(&bytes, events) {
                // The file holds events of no chain of this store, so it is unknown whether they are redacted.
                blanked.unknown.push(layout::relative(&self.log.dir, &path));
            } else {
                disk.remove_file(&path).map_err(at("removing", &path))?;
                blanked.torn += 1;
            }
        }
        if blanked.torn > 0 {
            disk.sync_dir(&dir).map_err(at("syncing", &dir))?;
        }
        Ok(())
    }
}

/// Returns `true` if bytes are whole records, and none is one of these events with its body.
fn is_accounted_for(bytes: &[u8], events: &Redacted) -> bool {
    let mut rest = bytes;
    while !rest.is_empty() {
        let Parsed::Record(shape) = record::parse(rest) else {
            return false;
        };
        if is_named(&shape.view(rest), events) {
            return false;
        }
        rest = &rest[shape.record_len()..];
    }
    true
}

/// Returns `true` if a record is one of these events and has its body.
fn is_named(record: &Record<'_>, events: &Redacted) -> bool {
    let named = events.get(&record.common().origin);
    record.body != Body::Withheld
        && named.is_some_and(|ids| ids.contains(&hash::event_id(record.head)))
}
