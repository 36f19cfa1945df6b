//! Waypoints of the log: where every so many-th event lies, so that a moment is found without
//! reading a segment from its start. Hints, each with a check of its own and held against the log
//! before it is used: a damaged file costs time, never a wrong answer.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;

use icm_log::{Position, Waypoint, Waypoints};

use crate::error::{Result, io};

/// File name within a generation: encoded waypoints, one after the other.
pub(super) const WAYPOINTS_FILE: &str = "waypoints";

const LEN: u64 = Waypoint::LEN as u64;

/// The waypoints up to the checkpoint of the views.
pub(super) enum Kept {
    Memory(Vec<Waypoint>),
    File(Mutex<File>),
}

impl Kept {
    /// Those of a generation; none when they cannot be opened.
    pub(super) fn open(generation: &Path) -> Kept {
        let path = generation.join(WAYPOINTS_FILE);
        // Whatever is no file there may never answer.
        let is_file = std::fs::metadata(&path).is_ok_and(|found| found.is_file());
        match is_file.then(|| File::open(&path)) {
            Some(Ok(file)) => Kept::File(Mutex::new(file)),
            _ => Kept::Memory(Vec::new()),
        }
    }
}

/// Waypoints in memory.
pub(super) struct Known<'a>(pub(super) &'a [Waypoint]);

impl Waypoints for Known<'_> {
    fn last(&self, before: &dyn Fn(&Waypoint) -> bool) -> Option<Waypoint> {
        last_of(self.0, before)
    }
}

impl Waypoints for Kept {
    fn last(&self, before: &dyn Fn(&Waypoint) -> bool) -> Option<Waypoint> {
        match self {
            Kept::Memory(waypoints) => last_of(waypoints, before),
            Kept::File(file) => {
                let mut file = file.lock().ok()?;
                let count = file.metadata().ok()?.len() / LEN;
                let index = partition_point(count, |index| Some(before(&read(&mut file, index)?)))?;
                read(&mut file, index.checked_sub(1)?)
            }
        }
    }
}

pub(super) fn last_of(
    waypoints: &[Waypoint],
    before: &dyn Fn(&Waypoint) -> bool,
) -> Option<Waypoint> {
    let index = waypoints.partition_point(before);
    Some(waypoints[index.checked_sub(1)?])
}

/// The number of indices below `count` for which `before` holds; it holds for the first ones.
/// `None` when `before` cannot tell.
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

/// Writes the waypoints after `base` over whatever lies there beyond it.
pub(super) fn write(generation: &Path, base: Position, waypoints: &[Waypoint]) -> Result<()> {
    let path = generation.join(WAYPOINTS_FILE);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&path).map_err(io("opening", &path))?;
    let count = file.metadata().map_err(io("reading", &path))?.len() / LEN;
    let known = |file: &mut File, index| Some(read(file, index)?.cursor.position <= base);
    // Where one is damaged the hints begin anew.
    let kept = partition_point(count, |index| known(&mut file, index)).unwrap_or(0);
    let bytes: Vec<u8> = waypoints.iter().flat_map(Waypoint::encode).collect();
    let mut put = || {
        file.set_len(kept * LEN)?;
        file.seek(SeekFrom::Start(kept * LEN))?;
        file.write_all(&bytes)
    };
    put().map_err(io("writing", &path))
}

impl Waypoints for super::Views {
    fn last(&self, before: &dyn Fn(&Waypoint) -> bool) -> Option<Waypoint> {
        last_of(&self.tail.waypoints, before).or_else(|| self.waypoints.last(before))
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
