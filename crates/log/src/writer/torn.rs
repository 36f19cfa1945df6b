//! Sets a torn tail aside.

use std::io;
use std::path::PathBuf;

use super::Writer;
use crate::disk::{self, OpenMode};
use crate::error::{Result, at};
use crate::layout::{self, TORN_DIR};
use crate::log::{Log, State};
use crate::recover::Trouble;

impl Log {
    /// Moves the bytes after the last whole batch to `torn/`.
    pub(super) fn set_aside(&self, state: &mut State, trouble: &Trouble) -> Result<()> {
        let path = self.dir.join(&trouble.file);
        let torn_dir = self.dir.join(TORN_DIR);
        self.disk
            .create_dir_all(&torn_dir)
            .map_err(at("creating", &torn_dir))?;
        let bytes = disk::read_all(&*self.disk, &path, u64::MAX).map_err(at("reading", &path))?;
        let bytes = bytes.get(trouble.cut as usize..).unwrap_or_default();
        let torn = self.unused_torn_name(&torn_dir, &path, trouble)?;
        if !bytes.is_empty() {
            disk::replace(&*self.disk, &torn, bytes).map_err(at("writing", &torn))?;
            self.disk
                .sync_dir(&self.dir)
                .map_err(at("syncing", &self.dir))?;
        }
        if trouble.cut == 0 {
            self.disk
                .remove_file(&path)
                .map_err(at("removing", &path))?;
            let dir = path.parent().unwrap_or(&self.dir);
            self.disk.sync_dir(dir).map_err(at("syncing", dir))?;
        } else {
            let file = self
                .disk
                .open(&path, OpenMode::Write)
                .map_err(at("opening", &path))?;
            file.truncate(trouble.cut)
                .map_err(at("truncating", &path))?;
            file.sync().map_err(at("syncing", &path))?;
        }
        state.hold.file = None;
        if !bytes.is_empty() {
            // Zeros at the end are not counted: an earlier version may have written them ahead. The file in `torn/`
            // keeps them, since a record may end with zeros.
            let last = bytes.iter().rposition(|byte| *byte != 0);
            state.notices.push(format!(
                "set {} unacknowledged bytes aside in {} ({}: {})",
                last.map_or(0, |last| last + 1),
                layout::relative(&self.dir, &torn).display(),
                trouble.case.name(),
                trouble.what,
            ));
        }
        Ok(())
    }

    fn unused_torn_name(
        &self,
        torn_dir: &std::path::Path,
        path: &std::path::Path,
        trouble: &Trouble,
    ) -> Result<PathBuf> {
        let origin = path
            .parent()
            .and_then(|dir| dir.file_name())
            .unwrap_or_default();
        let taken: Vec<String> = match self.disk.read_dir(torn_dir) {
            Ok(entries) => entries.into_iter().map(|entry| entry.name).collect(),
            Err(error) => return Err(at("reading", torn_dir)(error)),
        };
        let stem = format!(
            "{}-{:020}-{}",
            origin.to_string_lossy(),
            trouble.seq.0,
            trouble.cut
        );
        let name = (1..)
            .map(|n| format!("{stem}-{n}.torn"))
            .find(|name| !taken.contains(name));
        Ok(torn_dir.join(name.expect("names do not run out")))
    }
}

impl Log {
    /// Returns the paths of files whose bytes `fits` accepts, relative to the store and sorted. These are files of
    /// `torn/`, and the segment with a torn tail that the next writer will move there.
    pub fn torn_with(&self, fits: &dyn Fn(&[u8]) -> bool) -> Result<Vec<PathBuf>> {
        let dir = self.dir.join(TORN_DIR);
        let entries = match self.disk.read_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            entries => entries.map_err(at("reading", &dir))?,
        };
        let mut found = Vec::new();
        let trouble = self.lock_state().trouble.clone();
        if let Some(Trouble { file, cut, .. }) = trouble {
            let path = self.dir.join(&file);
            let bytes =
                disk::read_all(&*self.disk, &path, u64::MAX).map_err(at("reading", &path))?;
            if fits(bytes.get(cut as usize..).unwrap_or_default()) {
                found.push(file);
            }
        }
        for entry in entries.iter().filter(|entry| !entry.is_dir) {
            let path = dir.join(&entry.name);
            // A file that cannot be read is not known to match; a redaction reports it.
            let bytes = disk::read_all(&*self.disk, &path, u64::MAX);
            if bytes.is_ok_and(|bytes| fits(&bytes)) {
                found.push(layout::relative(&self.dir, &path));
            }
        }
        found.sort();
        Ok(found)
    }
}

impl Writer<'_> {
    /// Removes files of `torn/`, named relative to the store. A missing file is no error. Durable when it returns.
    pub fn remove_torn(&mut self, files: &[PathBuf]) -> Result<()> {
        let (disk, dir) = (&*self.log.disk, &self.log.dir);
        for file in files {
            let path = dir.join(file);
            match disk.remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(at("removing", &path)(error));
                }
                _ => {}
            }
        }
        match files.is_empty() {
            true => Ok(()),
            false => {
                let torn = dir.join(TORN_DIR);
                disk.sync_dir(&torn).map_err(at("syncing", &torn))
            }
        }
    }
}
