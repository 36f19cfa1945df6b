//! A chain on disk: the folder of one origin and its segments.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::Disk;
use crate::error::{Result, at};
use crate::layout::{LOG_DIR, dir_of, origin_of};
use icm_event::id::{OriginId, Seq};
use icm_event::segment::SegmentName;

/// A segment file of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentFile {
    pub(crate) name: SegmentName,
    pub(crate) path: PathBuf,
}

/// Returns the origins that have a folder, sorted.
pub(crate) fn origins(disk: &dyn Disk, store: &Path) -> Result<Vec<OriginId>> {
    let dir = store.join(LOG_DIR);
    let entries = match disk.read_dir(&dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(at("reading", &dir))?,
    };
    let mut origins: Vec<_> = entries
        .iter()
        .filter(|entry| entry.is_dir)
        .filter_map(|entry| origin_of(&entry.name))
        .collect();
    origins.sort_unstable();
    Ok(origins)
}

/// Returns the segments of a chain, oldest first; an empty list if the folder is absent. Files with other names are not
/// segments.
pub(crate) fn segments(
    disk: &dyn Disk,
    store: &Path,
    origin: OriginId,
) -> Result<Vec<SegmentFile>> {
    let dir = dir_of(store, origin);
    let entries = match disk.read_dir(&dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(at("reading", &dir))?,
    };
    let mut segments: Vec<_> = entries
        .iter()
        .filter(|entry| !entry.is_dir)
        .filter_map(|entry| {
            let name = SegmentName::parse(&entry.name)?;
            Some(SegmentFile {
                name,
                path: dir.join(&entry.name),
            })
        })
        .collect();
    segments.sort_unstable_by_key(|segment| segment.name);
    Ok(segments)
}

/// Returns `true` if a chain branches.
pub(crate) fn branches(segments: &[SegmentFile]) -> bool {
    first_branches(segments).is_some()
}

/// Returns the seq at which a chain first branches: two of its segments start with an event of that seq.
pub(crate) fn first_branches(segments: &[SegmentFile]) -> Option<Seq> {
    let firsts = |pair: &[SegmentFile]| [pair[0].name.first_seq, pair[1].name.first_seq];
    let mut pairs = segments.windows(2).map(firsts);
    pairs.find(|[one, other]| one == other).map(|[seq, _]| seq)
}

/// Returns the index of the segment that would hold `seq`, or `None` if every segment starts after it.
pub(crate) fn holding(segments: &[SegmentFile], seq: Seq) -> Option<usize> {
    segments
        .partition_point(|segment| segment.name.first_seq <= seq)
        .checked_sub(1)
}
