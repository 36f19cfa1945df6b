//! The list of files that icm wrote, with their bytes from before.
//!
//! `ledger.json` names the files. `before/HASH` has the bytes of a file before icm changed it, readable only by the
//! user, because settings of clients hold tokens.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::InstallError;
use super::file;

/// The newest version of the list's format.
const VERSION: u32 = 1;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Written {
    version: u32,
    files: BTreeMap<PathBuf, Entry>,
}

/// A file that icm wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The hash of the bytes that icm wrote.
    pub(super) hash: String,
    /// The hash of the bytes from before; `None` if the file did not exist.
    pub(super) before: Option<String>,
    /// Folders that were made for the file, outermost first.
    #[serde(default)]
    pub(super) folders: Vec<PathBuf>,
    /// The project that the file belongs to; `None` for files of the user.
    #[serde(default)]
    pub(super) project: Option<PathBuf>,
    /// The clients and kinds of pieces: `codex server`.
    pub(super) parts: Vec<String>,
    /// The program that the entries start.
    pub(super) icm: String,
}

/// The list, in a folder of icm's own.
#[derive(Debug)]
pub(super) struct Ledger {
    folder: PathBuf,
    written: Written,
}

impl Ledger {
    /// Reads the list; a missing folder gives an empty list.
    ///
    /// # Errors
    /// [`InstallError::Ledger`], [`InstallError::Io`].
    pub(super) fn read(folder: &Path) -> Result<Ledger, InstallError> {
        let path = folder.join("ledger.json");
        let broken = |why: String| InstallError::Ledger {
            path: path.clone(),
            why,
        };
        let written = match file::read(&path)? {
            None => Written::default(),
            Some(bytes) => {
                serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?
            }
        };
        if written.version > VERSION {
            return Err(broken(format!(
                "a newer icm wrote it (version {})",
                written.version
            )));
        }
        Ok(Ledger {
            folder: folder.to_path_buf(),
            written,
        })
    }

    /// Returns the note about a file, if there is one.
    pub(super) fn get(&self, file: &Path) -> Option<&Entry> {
        self.written.files.get(file)
    }

    /// Returns every file with its note.
    pub(super) fn files(&self) -> impl Iterator<Item = (&PathBuf, &Entry)> {
        self.written.files.iter()
    }

    /// Returns the bytes from before; `None` if the file did not exist.
    ///
    /// # Errors
    /// [`InstallError::Io`], and [`InstallError::Changed`] if the kept bytes have another hash.
    pub(super) fn before(&self, entry: &Entry) -> Result<Option<Vec<u8>>, InstallError> {
        let Some(hash) = &entry.before else {
            return Ok(None);
        };
        let path = self.folder.join("before").join(hash);
        let bytes = fs::read(&path).map_err(InstallError::io("read", &path))?;
        match self::hash(&bytes) == *hash {
            true => Ok(Some(bytes)),
            false => Err(InstallError::Changed),
        }
    }

    /// Keeps the bytes from before and returns their hash.
    ///
    /// # Errors
    /// [`InstallError::Io`].
    pub(super) fn keep(&self, bytes: &[u8]) -> Result<String, InstallError> {
        let hash = hash(bytes);
        let path = self.folder.join("before").join(&hash);
        if !path.exists() {
            self.make_private()?;
            file::write(&path, bytes, false)?;
        }
        Ok(hash)
    }

    /// Adds or removes the note of a file, and writes the list.
    ///
    /// # Errors
    /// [`InstallError::Io`].
    pub(super) fn set(&mut self, file: &Path, entry: Option<Entry>) -> Result<(), InstallError> {
        match entry {
            Some(entry) => drop(self.written.files.insert(file.to_path_buf(), entry)),
            None => drop(self.written.files.remove(file)),
        }
        self.written.version = VERSION;
        if self.written.files.is_empty() {
            return self.clear();
        }
        let path = self.folder.join("ledger.json");
        // Paths that are not UTF-8 cannot be written as JSON.
        let bytes =
            serde_json::to_vec_pretty(&self.written).map_err(|error| InstallError::Ledger {
                path: path.clone(),
                why: error.to_string(),
            })?;
        self.make_private()?;
        file::write(&path, &bytes, false)?;
        self.drop_unused();
        Ok(())
    }

    /// Removes the list, which is empty.
    fn clear(&self) -> Result<(), InstallError> {
        self.drop_unused();
        let path = self.folder.join("ledger.json");
        if path.exists() {
            file::remove(&path)?;
        }
        file::remove_folders(&[self.folder.clone(), self.folder.join("before")]);
        Ok(())
    }

    /// Removes kept bytes that no note names.
    fn drop_unused(&self) {
        let used: Vec<&String> = self
            .written
            .files
            .values()
            .filter_map(|entry| entry.before.as_ref())
            .collect();
        for kept in fs::read_dir(self.folder.join("before"))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = kept.file_name();
            let is_used = used.iter().any(|used| name == used.as_str());
            if !is_used {
                // A file that cannot be removed now is tried again the next time.
                let _ = fs::remove_file(kept.path());
            }
        }
    }

    /// Makes the folder, accessible only to the user.
    fn make_private(&self) -> Result<(), InstallError> {
        let before = self.folder.join("before");
        fs::create_dir_all(&before).map_err(InstallError::io("make", &before))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let private = fs::Permissions::from_mode(0o700);
            fs::set_permissions(&self.folder, private)
                .map_err(InstallError::io("make", &self.folder))?;
        }
        Ok(())
    }
}

/// Returns the hash by which bytes are recognised.
pub(super) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
