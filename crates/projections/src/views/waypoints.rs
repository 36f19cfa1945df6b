//! Waypoints of the log: the place of every so many-th event, so that a position is found without reading a segment
//! from its start. Waypoints are hints, each with a check, and compared with the log before use: a damaged file costs
//! time, never a wrong answer.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

use icm_log::{Event, Position, Waypoint, Waypoints};

use super::files::{IMPORTED_FILE, WAYPOINTS_FILE};
use crate::error::{Result, io};

const LEN: u64 = Waypoint::LEN as u64;

/// Waypoints of own events, and of imported ones.
#[derive(Default, Clone)]
pub(super) struct Both<T> {
    pub(super) own: T,
    pub(super) imported: T,
}

impl Both<Vec<Waypoint>> {
    /// Adds the waypoint at an event, if the event is due to have one.
    pub(super) fn note(&mut self, event: &Event<'_>) {
        let list = match event.own {
            true => &mut self.own,
            false => &mut self.imported,
        };
        // A range that was not read to its end is read again.
        let is_known = |last: &Waypoint| event.position <= last.cursor.position;
        if !list.as_slice().last().is_some_and(is_known) {
            list.extend(Waypoint::at(event));
        }
    }

    pub(super) fn append(&mut self, newer: &mut Both<Vec<Waypoint>>) {
        self.own.append(&mut newer.own);
        self.imported.append(&mut newer.imported);
    }

    pub(super) fn kept(self) -> Both<Kept> {
        Both {
            own: Kept::Memory(self.own),
            imported: Kept::Memory(self.imported),
        }
    }

    /// Appends them to the files of a generation, after the waypoints up to `base`.
    pub(super) fn write(&self, generation: &Path, base: Position) -> Result<()> {
        write(&generation.join(WAYPOINTS_FILE), base, &self.own)?;
        write(&generation.join(IMPORTED_FILE), base, &self.imported)
    }
}

impl Both<Kept> {
    /// Opens the waypoints of a generation; returns empty ones if they cannot be opened.
    pub(super) fn open(generation: &Path) -> Both<Kept> {
        Both {
            own: Kept::open(&generation.join(WAYPOINTS_FILE)),
            imported: Kept::open(&generation.join(IMPORTED_FILE)),
        }
    }
}

impl<T: Waypoints> Waypoints for Both<T> {
    fn last(&self, before: &dyn Fn(&Waypoint) -> bool) -> Option<Waypoint> {
        self.own.last(before)
    }

    fn last_imported(&self, position: Position) -> Option<Waypoint> {
        (self.imported).last(&|waypoint| waypoint.cursor.position <= position)
    }
}

/// The waypoints up to the checkpoint of the views.
pub(super) enum Kept {
    Memory(Vec<Waypoint>),
    File(Mutex<File>),
}

impl Kept {
    fn open(path: &Path) -> Kept {
        // Reading something other than a file could wait for ever.
        let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
        match is_file.then(|| File::open(path)) {
            Some(Ok(file)) => Kept::File(Mutex::new(file)),
            _ => Kept::Memory(Vec::new()),
        }
    }
}

impl Waypoints for Kept {
    fn last(&self, before: &dyn Fn(&Waypoint) -> bool) -> Option<Waypoint> {
        match self {
            Kept::Memory(waypoints) => waypoints.last(before),
            Kept::File(file) => {
                let mut file = file.lock().ok()?;
                let count = file.metadata().ok()?.len() / LEN;
                let index = partition_point(count, |index| Some(before(&read(&mut file, index)?)))?;
                read(&mut file, index.checked_sub(1)?)
            }
        }
    }
}

/// Returns the number of indices below `count` for which `before` holds, which are the first ones. `None` if `before`
/// cannot tell.
fn partition_point(count: u64, mut before: impl FnMut(u64) -> Option<bool>) -> Option<u64> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        match before(middle)? {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    Some(low)
}

fn read(file: &mut File, index: u64) -> Option<Waypoint> {
    let mut bytes = [0; Waypoint::LEN];
    file.seek(SeekFrom::Start(index * LEN)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    Waypoint::parse(&bytes)
}

/// Writes the waypoints after `base`; overwrites later ones in the file.
fn write(path: &Path, base: Position, waypoints: &[Waypoint]) -> Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(io("opening", path))?;
    let count = file.metadata().map_err(io("reading", path))?.len() / LEN;
    let known = |file: &mut File, index| Some(read(file, index)?.cursor.position <= base);
    // After a damaged waypoint the file begins anew.
    let kept = partition_point(count, |index| known(&mut file, index)).unwrap_or(0);
    let bytes: Vec<u8> = waypoints.iter().flat_map(Waypoint::encode).collect();
    let mut put = || {
        file.set_len(kept * LEN)?;
        file.seek(SeekFrom::Start(kept * LEN))?;
        file.write_all(&bytes)
    };
    put().map_err(io("writing", path))
}

impl Waypoints for super::Views {
    fn last(&self, before: &dyn Fn(&Waypoint) -> bool) -> Option<Waypoint> {
        Waypoints::last(&self.tail.waypoints, before).or_else(|| self.files.waypoints.last(before))
    }

    fn last_imported(&self, position: Position) -> Option<Waypoint> {
        let newer = self.tail.waypoints.last_imported(position);
        newer.or_else(|| self.files.waypoints.last_imported(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves() {
        for count in 0..20 {
            for first in 0..=count {
                assert_eq!(
                    partition_point(count, |index| Some(index < first)),
                    Some(first)
                );
            }
        }
        assert_eq!(partition_point(3, |_| None), None);
    }
}
