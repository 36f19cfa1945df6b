//! The state of a file that a condition is about: looked at when the condition is set, and when its memory would be
//! shown.

use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::time::UNIX_EPOCH;

use icm_log::facts::Condition;
use icm_projections::fold::Expiry;

/// Bytes up to which a file is hashed: 64 MiB. Raised, an answer waits longer for the hash of a file whose time changed.
const HASHED_LEN_MAX: u64 = 64 * 1_024 * 1_024;

/// The state of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileState {
    pub(crate) len: Option<u64>,
    /// Time of the last change, in milliseconds since the epoch.
    pub(crate) modified_ms: Option<i64>,
    /// BLAKE3 of the bytes; `None` for a file of more than 64 MiB.
    pub(crate) hash: Option<String>,
}

impl FileState {
    /// Returns the state of a file. Reads the file if it has 64 MiB or less.
    pub(super) fn of(path: &Path) -> Result<FileState> {
        let metadata = std::fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(Error::other("it is no file"));
        }
        Ok(FileState {
            len: Some(metadata.len()),
            modified_ms: modified_ms(&metadata),
            hash: match metadata.len() <= HASHED_LEN_MAX {
                true => Some(hash_of(path)?),
                false => None,
            },
        })
    }
}

/// Returns `true` if the condition of a file came true: the file is gone, or it must not change and did. A file that
/// cannot be looked at counts as it was.
///
/// Costs a look at the file's metadata. The file is read if only its time differs.
pub(crate) fn came_true(expiry: &Expiry) -> bool {
    let Some(path) = expiry.path.as_deref().map(Path::new) else {
        return false;
    };
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => return is_gone(&error),
    };
    if expiry.facts.condition != Condition::FILE_PRISTINE {
        return false;
    }
    if !metadata.is_file() || expiry.len != Some(metadata.len()) {
        return true;
    }
    if expiry.modified_ms.is_some() && expiry.modified_ms == modified_ms(&metadata) {
        return false;
    }
    match &expiry.hash {
        Some(hash) => hash_of(path).is_ok_and(|now| now != *hash),
        None => true,
    }
}

fn is_gone(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn modified_ms(metadata: &Metadata) -> Option<i64> {
    let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

fn hash_of(path: &Path) -> Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use icm_log::EventId;
    use icm_log::facts;

    use super::*;

    fn expiry(path: &Path, condition: Condition) -> Expiry {
        let state = match condition {
            Condition::FILE_PRISTINE => FileState::of(path).expect("a file"),
            _ => FileState::default(),
        };
        Expiry {
            facts: facts::Expiry::of(condition, 0, 0),
            set_by: EventId::ZERO,
            path: path.to_str().map(str::to_owned),
            zone: None,
            len: state.len,
            modified_ms: state.modified_ms,
            hash: state.hash,
        }
    }

    #[test]
    fn a_file_is_changed_if_its_bytes_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        std::fs::write(&path, "one").expect("written");
        let pristine = expiry(&path, Condition::FILE_PRISTINE);
        let exists = expiry(&path, Condition::FILE_EXISTS);
        assert!(!came_true(&pristine) && !came_true(&exists));
        let touched = Expiry {
            modified_ms: Some(7),
            ..pristine.clone()
        };
        assert!(!came_true(&touched), "only its time differs");
        let too_long_to_hash = Expiry {
            hash: None,
            ..touched.clone()
        };
        assert!(came_true(&too_long_to_hash));
        std::fs::write(&path, "two").expect("written");
        assert!(came_true(&touched), "the same length, other bytes");
        std::fs::write(&path, "longer").expect("written");
        assert!(came_true(&pristine) && !came_true(&exists));
        std::fs::remove_file(&path).expect("removed");
        assert!(came_true(&pristine) && came_true(&exists));
        let withheld = Expiry {
            path: None,
            ..exists
        };
        assert!(!came_true(&withheld));
    }
}
