//! A file of a model, as the record of the model describes it.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// Name, length and hash of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileNote {
    /// Path below the folder, with `/`.
    pub(crate) name: String,
    pub(crate) len_bytes: u64,
    pub(crate) blake3: String,
}

impl FileNote {
    pub(crate) fn of(folder: &Path, name: &str) -> io::Result<FileNote> {
        let mut hasher = blake3::Hasher::new();
        let mut file = fs::File::open(folder.join(name))?;
        let len_bytes = io::copy(&mut file, &mut hasher)?;
        Ok(FileNote {
            name: name.to_owned(),
            len_bytes,
            blake3: hasher.finalize().to_hex().to_string(),
        })
    }

    pub(super) fn check_len(&self, folder: &Path) -> Result<(), String> {
        match fs::metadata(folder.join(&self.name)) {
            Ok(there) if there.len() == self.len_bytes && there.is_file() => Ok(()),
            Ok(there) => Err(format!(
                "{} has {} bytes, not {}",
                self.name,
                there.len(),
                self.len_bytes
            )),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(format!("{} is missing", self.name))
            }
            Err(error) => Err(format!("{} cannot be read: {error}", self.name)),
        }
    }

    /// Reads the file, and checks its length and hash.
    pub(crate) fn read(&self, folder: &Path) -> Result<Vec<u8>, String> {
        self.check_len(folder)?;
        let bytes = fs::read(folder.join(&self.name))
            .map_err(|error| format!("{} cannot be read: {error}", self.name))?;
        if blake3::hash(&bytes).to_hex().as_str() != self.blake3 {
            return Err(format!("{} was changed", self.name));
        }
        Ok(bytes)
    }
}
