//! The names of the files of a generation, and how files and folders are made there.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::error::{Result, io};

pub(super) const TABLE_FILE: &str = "table.redb";
pub(super) const ROWS_FILE: &str = "rows";
pub(super) const TEXT_DIR: &str = "text";
/// Folder within a generation: a file a model.
pub(super) const VECTORS_DIR: &str = "vectors";
/// Folder within a generation: three files a model.
pub(super) const MODELS_DIR: &str = "models";
/// File name within a generation: encoded waypoints, one after the other.
pub(super) const WAYPOINTS_FILE: &str = "waypoints";
/// The same of imported events.
pub(super) const IMPORTED_FILE: &str = "waypoints-imported";
/// File name within a generation.
pub(super) const MANIFEST: &str = "manifest";
/// The mark; it holds how the closed tier was, which is published a moment before the live one.
pub(super) const MARK: &str = "committing";

pub(super) fn create_private(dir: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(io("creating", dir))
}

/// Replaces a file in one step, by one beside it that is new: nothing is written through a link or
/// into a pipe that lies there.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = path.with_extension("tmp");
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            return Err(io("removing", &beside)(error));
        }
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&beside).map_err(io("creating", &beside))?;
    file.write_all(bytes).map_err(io("writing", &beside))?;
    fs::rename(&beside, path).map_err(io("renaming", &beside))
}
