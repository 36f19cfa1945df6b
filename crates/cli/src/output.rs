//! Writes answers into files.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use icm_guard::sanitize::escape_json;

use crate::error::CliError;
use crate::text;

/// The readers of a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Readers {
    /// The default for new files of the user.
    Usual,
    /// Only the owner.
    Owner,
}

/// Writes a file beside the path and renames it, so that a failure keeps the old file. An existing device or pipe is
/// written to directly.
pub(crate) fn write_file<T>(
    path: &Path,
    readers: Readers,
    work: impl FnOnce(&mut dyn Write) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let failed = |e: io::Error| CliError::io(format!("cannot write {}", path.display()), &e);
    let target = match std::fs::metadata(path) {
        Ok(there) if there.is_dir() => {
            return Err(CliError::failed(format!(
                "cannot write {}: it is a folder",
                path.display()
            ))
            .with_hint("name a file in it"));
        }
        Ok(there) if !there.is_file() => {
            let mut out = BufWriter::new(File::options().write(true).open(path).map_err(failed)?);
            let done = work(&mut out)?;
            out.flush().map_err(failed)?;
            return Ok(done);
        }
        // A link is followed, not replaced.
        Ok(_) => path.canonicalize().map_err(failed)?,
        Err(_) => path.to_path_buf(),
    };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if !folder.is_dir() {
        return Err(CliError::failed(format!(
            "cannot write {}: there is no folder {}",
            path.display(),
            folder.display()
        ))
        .with_hint("make it first, or name another file"));
    }
    let name = target.file_name().unwrap_or_default();
    clear_abandoned(folder, name);
    let part = folder.join(part_name(name, std::process::id()));
    let written = (|| {
        let mut out = BufWriter::new(create(&part, readers).map_err(failed)?);
        let done = work(&mut out)?;
        out.flush().map_err(failed)?;
        out.get_ref().sync_all().map_err(failed)?;
        std::fs::rename(&part, &target).map_err(failed)?;
        sync_folder(folder).map_err(failed)?;
        Ok(done)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    written
}

/// Returns the name of an incomplete file: `NAME.PID.part`.
fn part_name(name: &OsStr, process: u32) -> OsString {
    let mut part = name.to_os_string();
    part.push(format!(".{process}.part"));
    part
}

/// Removes incomplete files of killed processes: those that no process holds locked.
fn clear_abandoned(folder: &Path, name: &OsStr) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let part = entry.file_name();
        let process = (part.as_encoded_bytes())
            .strip_prefix(name.as_encoded_bytes())
            .and_then(|rest| rest.strip_prefix(b"."))
            .and_then(|rest| rest.strip_suffix(b".part"));
        let is_ours = process
            .is_some_and(|process| !process.is_empty() && process.iter().all(u8::is_ascii_digit));
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_ours || !is_file {
            continue;
        }
        // The file is locked while it is removed. A process that makes one checks after locking that its file still
        // exists.
        if let Ok(file) = File::options().write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Makes a rename durable by a sync of its folder. Does nothing outside Unix, where folders cannot be opened.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Refuses a file in the store's folder: a redaction would not reach it.
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

/// Lines for a terminal: control characters are removed from text and escaped in JSON.
pub(crate) struct TerminalLines<'a> {
    out: &'a mut dyn Write,
    json: bool,
    line: Vec<u8>,
}

impl<'a> TerminalLines<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, json: bool) -> Self {
        TerminalLines {
            out,
            json,
            line: Vec::new(),
        }
    }

    fn write_line(&mut self) -> io::Result<()> {
        let line = String::from_utf8_lossy(&self.line);
        if self.json {
            self.out.write_all(escape_json(&line).as_bytes())?;
            self.line.clear();
            return Ok(());
        }
        for line in text::wrap(&line, None) {
            writeln!(self.out, "{line}")?;
        }
        self.line.clear();
        Ok(())
    }
}

impl Write for TerminalLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.write_line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_line()
    }
}

/// Makes a new file, and locks it while it is open if the file system has locks.
fn create(path: &Path, readers: Readers) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(not(unix))]
    let _ = readers;
    #[cfg(unix)]
    if readers == Readers::Owner {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    loop {
        let file = options.open(path)?;
        let _ = file.lock();
        if path.exists() {
            return Ok(file);
        }
    }
}
