//! The plan of a copy of a live store: the length of each file, so that the copy ends with a whole, durable batch.
//! Others may append meanwhile.
//!
//! The order of steps is: read `acked`, list the folders, examine the chain's end. So every event that the copy calls
//! acknowledged is in it, and a chain that is minted meanwhile is not half in it. Segments only grow, so bytes that are
//! copied later are the bytes that were planned.

use std::path::{Path, PathBuf};

use crate::acked;
use crate::chain;
use crate::disk::{self, OpenMode};
use crate::error::{LogError, Result, at};
use crate::layout::{self, ACKED_FILE, STORE_FILE, TORN_DIR};
use crate::log::Log;
use crate::recover::{Tip, TipPlace};
use crate::store_file::StoreFile;
use icm_event::id::OriginId;
use icm_event::segment::SegmentName;

/// The `fingerprint` in `store.toml` of a copy. No machine and folder have this one, so the next write to the copy
/// mints an origin, in any folder.
const NO_FINGERPRINT: &str = "00000000000000000000000000000000";

/// A file of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyFile {
    /// Path below the store, with `/` between folder and file.
    pub name: String,
    /// Contents of the file.
    pub content: CopyContent,
}

/// The contents of a file of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopyContent {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The first `len` bytes of a file.
    Start {
        /// Path of the file.
        path: PathBuf,
        /// Number of bytes.
        len: u64,
    },
}

/// The files of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyPlan {
    /// The newest event of the walk; it is durable.
    pub tip: Tip,
    /// All files, `store.toml` first.
    pub files: Vec<CopyFile>,
}

impl Log {
    /// Returns the plan of a copy with everything that was acknowledged before the call. `None` if nothing was ever
    /// written. Takes no lock and changes nothing.
    ///
    /// # Errors
    /// `Damaged`, `NewerFormat` or `NotWritable` if the log is not in order.
    pub fn plan_copy(&self) -> Result<Option<CopyPlan>> {
        let acked_path = self.dir.join(ACKED_FILE);
        let acked = disk::read_all(&*self.disk, &acked_path, 64 * 1_024).ok();
        let listed = chain::origins(&*self.disk, &self.dir)?;
        let (store, tip, mut origins) = {
            self.refresh()?;
            let state = self.lock_state();
            if let Some(refusal) = &state.refusal {
                return Err(refusal.to_error(&self.dir));
            }
            let (Some(store), Some(tip)) = (state.store.clone(), state.tip.clone()) else {
                return Ok(None);
            };
            let walked: Vec<OriginId> = state.parts.iter().map(|part| part.origin).collect();
            (store, tip, walked)
        };
        origins.extend(listed);
        origins.sort_unstable();
        origins.dedup();
        let mut files = vec![bytes_of(STORE_FILE, unbound(&store).into_bytes())];
        files.extend(acked.map(|bytes| bytes_of(ACKED_FILE, bytes)));
        for origin in origins {
            let end = match origin == tip.tip.origin {
                true => Some(tip.clone()),
                false => self.end_of(origin)?,
            };
            if let Some(end) = end {
                self.plan_chain(origin, &end, &mut files)?;
            }
        }
        self.plan_torn(&mut files)?;
        Ok(Some(CopyPlan {
            tip: tip.tip,
            files,
        }))
    }

    /// Returns the place at which the last whole batch of a chain ends.
    fn end_of(&self, origin: OriginId) -> Result<Option<TipPlace>> {
        let slot = acked::read(&*self.disk, &self.dir)?.filter(|slot| slot.origin == origin);
        Ok(self.examined(origin, slot.as_ref())?.tip)
    }

    fn plan_chain(
        &self,
        origin: OriginId,
        end: &TipPlace,
        files: &mut Vec<CopyFile>,
    ) -> Result<()> {
        for segment in chain::segments(&*self.disk, &self.dir, origin)? {
            if segment.name.first_seq > end.segment.name.first_seq {
                break; // begun since the end was looked at
            }
            let path = &segment.path;
            let file = self.disk.open(path, OpenMode::Read);
            let file = file.map_err(at("opening", path))?;
            let len = match segment.name == end.segment.name {
                true => {
                    // Made durable before the copy exists: after a power cut the copy must not know more than this
                    // store.
                    file.sync().map_err(at("syncing", path))?;
                    end.end
                }
                false => file.len().map_err(at("reading", path))?,
            };
            files.push(self.start_of(&segment.path, len));
        }
        Ok(())
    }

    fn plan_torn(&self, files: &mut Vec<CopyFile>) -> Result<()> {
        let dir = self.dir.join(TORN_DIR);
        let Ok(mut entries) = self.disk.read_dir(&dir) else {
            return Ok(()); // not there
        };
        entries.sort_unstable();
        for entry in entries {
            let path = dir.join(&entry.name);
            if entry.is_dir || !is_copy_file(&format!("{TORN_DIR}/{}", entry.name)) {
                continue;
            }
            let file = self.disk.open(&path, OpenMode::Read);
            let len = file.and_then(|file| file.len());
            files.push(self.start_of(&path, len.map_err(at("reading", &path))?));
        }
        Ok(())
    }

    fn start_of(&self, path: &Path, len: u64) -> CopyFile {
        let below = layout::relative(&self.dir, path);
        let names: Vec<_> = below
            .iter()
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        CopyFile {
            name: names.join("/"),
            content: CopyContent::Start {
                path: path.to_owned(),
                len,
            },
        }
    }
}

fn bytes_of(name: &str, bytes: Vec<u8>) -> CopyFile {
    CopyFile {
        name: name.to_owned(),
        content: CopyContent::Bytes(bytes),
    }
}

/// Returns the text of `store.toml` for a copy: the same origin and secret, bound to no folder.
fn unbound(store: &StoreFile) -> String {
    let copy = StoreFile {
        fingerprint: NO_FINGERPRINT.to_owned(),
        ..store.clone()
    };
    copy.to_text()
}

/// Returns `true` if this is the `store.toml` of a copy that nothing was written to yet.
pub fn is_unbound(store_file: &[u8]) -> bool {
    StoreFile::read(store_file, Path::new(""))
        .is_ok_and(|store| store.fingerprint == NO_FINGERPRINT)
}

/// Returns `true` if a copy may hold a file of this name: `store.toml`, `acked`, a segment, torn bytes.
pub fn is_copy_file(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    match parts[..] {
        [STORE_FILE | ACKED_FILE] => true,
        [layout::LOG_DIR, origin, segment] => {
            layout::origin_of(origin).is_some() && SegmentName::parse(segment).is_some()
        }
        [TORN_DIR, torn] => {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            torn.strip_suffix(".torn")
                .is_some_and(|stem| !stem.is_empty() && stem.bytes().all(plain))
        }
        _ => false,
    }
}

/// Checks a restored copy before it is used.
///
/// # Errors
/// `NotAStore` if `store.toml` is bound to a folder: a write would continue under the origin of that folder.
pub fn check_unbound(dir: &Path, store_file: &[u8]) -> Result<()> {
    match is_unbound(store_file) {
        true => Ok(()),
        false => Err(LogError::NotAStore {
            path: dir.join(STORE_FILE),
            why: "it is not the one of a copy".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_a_store_are_files_of_a_copy() {
        let origin = "0123456789abcdef0123456789abcdef";
        let segment = format!("log/{origin}/00000000000000000001-0123456789abcdef.icmlog");
        for name in ["store.toml", "acked", &segment, "torn/ab-1-2-3.torn"] {
            assert!(is_copy_file(name), "{name}");
        }
        for name in [
            "",
            "/store.toml",
            "./store.toml",
            "../store.toml",
            "views/current",
            "lock",
            "log",
            "log/../acked",
            "log//acked",
            "torn/../x.torn",
            "torn/.torn",
            "torn/a/b.torn",
            "torn/a\\b.torn",
            &segment.replace("log/0", "log/A"),
            &segment.replace(origin, ".."),
            &format!("{segment}/x"),
            &format!("/{segment}"),
        ] {
            assert!(!is_copy_file(name), "{name}");
        }
    }
}
