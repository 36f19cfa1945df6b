//! Strays: files and folders below `log/` that are neither a chain nor a segment, such as conflict copies of sync
//! tools, or copies that somebody made. Normal operation does not read them.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::{DirEntry, Disk};
use crate::error::{Result, at};
use crate::layout;
use icm_event::segment::SegmentName;

/// A stray file or folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stray {
    pub(crate) path: PathBuf,
    pub(crate) is_dir: bool,
    /// `true` for a stray in `log/` itself, or a file in a folder there.
    pub(crate) is_near: bool,
}

/// Returns all strays, sorted. Does not follow symbolic links.
pub(crate) fn strays(disk: &dyn Disk, store: &Path) -> Result<Vec<Stray>> {
    let log_dir = store.join(layout::LOG_DIR);
    let mut strays = Vec::new();
    for entry in entries(disk, &log_dir)? {
        let path = log_dir.join(&entry.name);
        if entry.is_dir && layout::origin_of(&entry.name).is_some() {
            for entry in entries(disk, &path)? {
                if entry.is_dir || SegmentName::parse(&entry.name).is_none() {
                    let is_dir = entry.is_dir && !entry.is_link;
                    collect(disk, path.join(entry.name), is_dir, true, &mut strays);
                }
            }
        } else {
            let is_dir = entry.is_dir && !entry.is_link;
            collect(disk, path, is_dir, true, &mut strays);
        }
    }
    strays.sort();
    Ok(strays)
}

/// Adds a path and, for a folder, everything in it.
fn collect(disk: &dyn Disk, path: PathBuf, is_dir: bool, is_near: bool, strays: &mut Vec<Stray>) {
    if is_dir {
        // A folder that cannot be read stands for its contents.
        for entry in disk.read_dir(&path).unwrap_or_default() {
            let of_log = path
                .parent()
                .is_some_and(|dir| dir.ends_with(layout::LOG_DIR));
            let is_near = is_near && of_log && !entry.is_dir;
            let is_dir = entry.is_dir && !entry.is_link;
            collect(disk, path.join(entry.name), is_dir, is_near, strays);
        }
    }
    strays.push(Stray {
        path,
        is_dir,
        is_near,
    });
}

fn entries(disk: &dyn Disk, dir: &Path) -> Result<Vec<DirEntry>> {
    match disk.read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other.map_err(at("reading", dir)),
    }
}
