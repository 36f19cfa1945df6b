//! Answers that go into a file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::error::CliError;

/// Who may read a file that is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// Whoever may read new files of the user.
    Usual,
    /// Only its owner.
    Owner,
}

/// Writes beside the file and renames, so that a failure leaves the old one. What is there and no
/// regular file (a device, a pipe) is written into.
pub(crate) fn write_file<T>(
    path: &Path,
    readers: Readers,
    work: impl FnOnce(&mut dyn Write) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let failed = |e: io::Error| CliError::io(format!("cannot write {}", path.display()), &e);
    let target = match std::fs::metadata(path) {
        Ok(there) if !there.is_file() => {
            let mut out = BufWriter::new(File::options().write(true).open(path).map_err(failed)?);
            let done = work(&mut out)?;
            out.flush().map_err(failed)?;
            return Ok(done);
        }
        // Through a link, not over it.
        Ok(_) => path.canonicalize().map_err(failed)?,
        Err(_) => path.to_path_buf(),
    };
    let mut name = target.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = target.with_file_name(name);
    let written = (|| {
        let mut out = BufWriter::new(create(&part, readers).map_err(failed)?);
        let done = work(&mut out)?;
        out.flush().map_err(failed)?;
        out.get_ref().sync_all().map_err(failed)?;
        std::fs::rename(&part, &target).map_err(failed)?;
        Ok(done)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}

/// Refuses a file within the store: nothing else belongs there, and a redaction does not reach it.
pub(crate) fn outside_store(path: &Path, store: &Path) -> Result<(), CliError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match (folder.canonicalize(), store.canonicalize()) {
        (Ok(folder), Ok(store)) if folder.starts_with(&store) => Err(CliError::invalid(format!(
            "{} lies in the store itself",
            path.display()
        ))
        .with_hint("write it elsewhere")),
        _ => Ok(()),
    }
}

fn create(path: &Path, readers: Readers) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}
