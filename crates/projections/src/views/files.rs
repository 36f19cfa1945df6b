//! The names of the files of a generation, and the creation of files and folders there.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::error::{Result, io};

pub(super) const TABLE_FILE: &str = "table.redb";
pub(super) const ROWS_FILE: &str = "rows";
pub(super) const TEXT_DIR: &str = "text";
/// Folder within a generation: one file for each model.
pub(super) const VECTORS_DIR: &str = "vectors";
/// Folder within a generation: three files for each model.
pub(super) const MODELS_DIR: &str = "models";
/// File name within a generation: encoded waypoints, one after the other.
pub(super) const WAYPOINTS_FILE: &str = "waypoints";
/// The same file for imported events.
pub(super) const IMPORTED_FILE: &str = "waypoints-imported";
/// File name within a generation.
pub(super) const MANIFEST: &str = "manifest";
/// The mark of a commit. It holds the former `meta.json` of the closed tier, which is published just before the live
/// one.
pub(super) const MARK: &str = "committing";

pub(super) fn create_private(dir: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir).map_err(io("creating", dir))
}

/// Replaces a file in one step by a new one. It never writes through a link or into a pipe at that path.
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
