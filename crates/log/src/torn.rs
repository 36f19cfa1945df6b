//! Setting a torn tail aside.

use std::path::PathBuf;

use crate::chain;
use crate::disk::{self, OpenMode};
use crate::error::{Result, at};
use crate::log::{Log, State, TORN_DIR};
use crate::recover::Trouble;

impl Log {
    /// Moves what follows the last whole batch to `torn/`.
    pub(crate) fn set_aside(&self, state: &mut State, trouble: &Trouble) -> Result<()> {
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
            state.notices.push(format!(
                "set {} unacknowledged bytes aside in {} ({}: {})",
                bytes.len(),
                chain::relative(&self.dir, &torn).display(),
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
