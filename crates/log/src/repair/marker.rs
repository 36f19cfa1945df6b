//! The marker of a repair. It remembers the knowledge that only removed bytes held, for a repair that was interrupted.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use crate::disk::{self, Disk};
use crate::error::{Result, at};
use crate::layout::REPAIRING_FILE;
use icm_event::id::{EventId, OriginId, Seq};

const LEN_MAX: u64 = 64 * 1_024 * 1_024;

/// The contents of the marker. Unknown lines are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Marker {
    /// Chains that had more events than are left, each with its newest seq.
    pub(super) ends: Vec<(OriginId, Seq)>,
    /// Events with a damaged payload.
    pub(super) payloads: BTreeSet<EventId>,
    /// Chains that continue in spares, so that a new origin must continue them.
    pub(super) further: BTreeSet<OriginId>,
}

impl Marker {
    pub(super) fn read(disk: &dyn Disk, store: &Path) -> Result<Option<Marker>> {
        let path = store.join(REPAIRING_FILE);
        let bytes = match disk::read_all(disk, &path, LEN_MAX) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(at("reading", &path))?,
        };
        let mut marker = Marker::default();
        for line in String::from_utf8_lossy(&bytes).lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["end", origin, seq] => {
                    let origin = OriginId::parse_hex(origin);
                    let end = origin.zip(seq.parse().ok().map(Seq));
                    marker.ends.extend(end);
                }
                ["further", origin] => marker.further.extend(OriginId::parse_hex(origin)),
                ["payload", event] => marker.payloads.extend(EventId::parse_hex(event)),
                _ => {}
            }
        }
        Ok(Some(marker))
    }

    pub(super) fn write(&self, disk: &dyn Disk, store: &Path) -> Result<()> {
        let mut text = "# A repair was begun here: `icm log repair` finishes it.\n".to_owned();
        for (origin, seq) in &self.ends {
            text.push_str(&format!("end {origin} {seq}\n"));
        }
        for origin in &self.further {
            text.push_str(&format!("further {origin}\n"));
        }
        for event in &self.payloads {
            text.push_str(&format!("payload {event}\n"));
        }
        let path = store.join(REPAIRING_FILE);
        disk::replace(disk, &path, text.as_bytes()).map_err(at("writing", &path))
    }

    pub(super) fn end_of(&self, origin: OriginId) -> Option<Seq> {
        let of_chain = self.ends.iter().filter(|end| end.0 == origin);
        of_chain.map(|end| end.1).max()
    }
}

/// Removes the marker; durable when it returns.
pub(super) fn remove(disk: &dyn Disk, store: &Path) -> Result<()> {
    let path = store.join(REPAIRING_FILE);
    match disk.remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(at("removing", &path)(error));
        }
        _ => {}
    }
    disk.sync_dir(store).map_err(at("syncing", store))
}
