//! The manifest: the stamps of a generation's files after their last write. A look at the stamps shows whether a file
//! was touched, and the hashes tell whether it changed.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::files::{IMPORTED_FILE, MANIFEST, MARK, MODELS_DIR, WAYPOINTS_FILE, replace};
use crate::error::{Result, ViewError, io};

/// The facts that tell a file from a changed one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    len: u64,
    modified_ns: i128,
    changed_ns: i128,
    inode: u64,
}

impl Stamp {
    /// Returns `true` if a replaced file certainly has another stamp. `false` on systems without inode numbers.
    pub(super) fn tells_files_apart(&self) -> bool {
        self.inode != 0
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    stamp: Stamp,
    /// `None` for files that have checks of their own.
    hash: Option<String>,
}

/// The stamp of a file outside of the manifest, after its last write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    stamp: Stamp,
    /// The number of rows in the file.
    count: u64,
}

impl Note {
    /// Returns the number of rows of a file, if the file has the noted stamp.
    pub(crate) fn read(note: &Path, of: &Path) -> Option<u64> {
        let note: Note = rmp_serde::from_slice(sealed(&fs::read(note).ok()?)?).ok()?;
        (stamp_of(&fs::metadata(of).ok()?) == note.stamp).then_some(note.count)
    }

    /// Writes the present stamp of a file.
    pub(crate) fn write(note: &Path, of: &Path, count: u64) -> Result<()> {
        let stamp = stamp_of(&fs::metadata(of).map_err(io("reading", of))?);
        replace(note, &seal(&Note { stamp, count }))
    }
}

/// Returns a value's bytes behind their hash.
fn seal(value: &impl Serialize) -> Vec<u8> {
    let body = rmp_serde::to_vec_named(value).expect("plain values encode");
    let mut bytes = blake3::hash(&body).as_bytes().to_vec();
    bytes.extend_from_slice(&body);
    bytes
}

/// Returns the bytes of a value, if their hash fits.
fn sealed(bytes: &[u8]) -> Option<&[u8]> {
    let (hash, body) = bytes.split_at_checked(blake3::OUT_LEN)?;
    (blake3::hash(body).as_bytes() == hash).then_some(body)
}

/// The files of a generation, with their stamps and hashes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    fold_version: u32,
    views_version: u32,
    files: BTreeMap<String, Entry>,
}

#[cfg(unix)]
pub(super) fn stamp_of(metadata: &Metadata) -> Stamp {
    use std::os::unix::fs::MetadataExt;
    let ns = |s: i64, ns: i64| i128::from(s) * 1_000_000_000 + i128::from(ns);
    Stamp {
        len: metadata.len(),
        modified_ns: ns(metadata.mtime(), metadata.mtime_nsec()),
        changed_ns: ns(metadata.ctime(), metadata.ctime_nsec()),
        inode: metadata.ino(),
    }
}

#[cfg(not(unix))]
pub(super) fn stamp_of(metadata: &Metadata) -> Stamp {
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    Stamp {
        len: metadata.len(),
        modified_ns: since.map_or(0, |since| since.as_nanos() as i128),
        changed_ns: 0,
        inode: 0,
    }
}

fn hash_of(path: &Path) -> Result<String> {
    let mut file = crate::file::open(path).map_err(io("opening", path))?;
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 256 * 1_024];
    loop {
        match file.read(&mut buffer).map_err(io("reading", path))? {
            0 => return Ok(hasher.finalize().to_hex().to_string()),
            read => {
                hasher.update(&buffer[..read]);
            }
        }
    }
}

/// Returns `true` if a file belongs to the text view.
fn is_text(name: &str) -> bool {
    name.starts_with("text/")
}

/// Returns `true` if a file belongs to the vectors. They are a view of their own: damage to them is no reason to drop
/// the other views.
fn is_vectors(name: &str) -> bool {
    name.starts_with("vectors/")
}

/// Returns `true` if a file's contents are hashed: table, rows and vectors have checks of their own.
fn is_hashed(name: &str) -> bool {
    is_text(name) || [WAYPOINTS_FILE, IMPORTED_FILE].contains(&name)
}

/// Returns `true` for files outside of the manifest: lock files and the like, vectors of models, which have notes of
/// their own, and graphs, which name their vectors.
fn is_ignored(name: &str) -> bool {
    let is_model = (name.strip_prefix(MODELS_DIR)).is_some_and(|rest| rest.starts_with('/'));
    let is_graph = is_vectors(name) && name.ends_with(".graph");
    let is_aside = name.ends_with(".lock") || name.ends_with(".tmp");
    [MANIFEST, MARK].contains(&name) || is_aside || is_model || is_graph
}

fn walk(root: &Path, below: &Path, files: &mut Vec<(String, PathBuf, Stamp)>) -> Result<()> {
    for entry in fs::read_dir(below).map_err(io("reading", below))? {
        let entry = entry.map_err(io("reading", below))?;
        let path = entry.path();
        let metadata = match entry.metadata() {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            other => other.map_err(io("reading", &path))?,
        };
        if metadata.is_dir() {
            walk(root, &path, files)?;
            continue;
        }
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .to_string_lossy()
            .replace('\\', "/");
        if !is_ignored(&name) {
            files.push((name, path, stamp_of(&metadata)));
        }
    }
    Ok(())
}

/// The files to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// All files.
    All,
    /// The files that answers about now are read from. A commit changes some of them.
    Now,
    /// The closed tier, which only answers about earlier moments are read from.
    History,
    /// All files except text and vectors: the files that a command decides by. A store also compares near texts, where
    /// a touched text does no harm. A commit changes some of them.
    Table,
}

/// Files of the closed tier.
const HISTORY: &str = "text/closed/";

/// The result of a look at the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Look {
    /// No file was touched.
    Same,
    /// These files were touched; as far as their hashes tell, they are unchanged.
    Touched(Vec<String>),
}

impl Manifest {
    /// Returns the manifest of the files in `dir`; hashes the new and changed ones.
    pub(crate) fn take(
        dir: &Path,
        before: Option<&Manifest>,
        versions: (u32, u32),
    ) -> Result<Manifest> {
        let mut found = Vec::new();
        walk(dir, dir, &mut found)?;
        let mut files = BTreeMap::new();
        for (name, path, stamp) in found {
            let known = before.and_then(|before| before.files.get(&name));
            let hash = match known {
                _ if !is_hashed(&name) => None,
                Some(entry) if entry.stamp == stamp => entry.hash.clone(),
                _ => Some(hash_of(&path)?),
            };
            files.insert(name, Entry { stamp, hash });
        }
        Ok(Manifest {
            fold_version: versions.0,
            views_version: versions.1,
            files,
        })
    }

    /// Writes the manifest in one step.
    pub(crate) fn write(&self, dir: &Path) -> Result<()> {
        let path = dir.join(MANIFEST);
        replace(&path, &seal(self))
    }

    /// Reads the manifest.
    pub(crate) fn read(dir: &Path, versions: (u32, u32)) -> Result<Manifest> {
        let path = dir.join(MANIFEST);
        let bytes = fs::read(&path).map_err(io("reading", &path))?;
        let bad = |why: &str| ViewError::Unusable {
            view: "manifest",
            why: why.to_owned(),
        };
        let body = sealed(&bytes).ok_or_else(|| bad("its hash does not fit"))?;
        let manifest: Manifest = rmp_serde::from_slice(body).map_err(|_| bad("unreadable"))?;
        if (manifest.fold_version, manifest.views_version) != versions {
            return Err(bad("another version of icm wrote the views"));
        }
        Ok(manifest)
    }

    /// Returns `true` if the files of a part have their noted stamps. Costs a stat a file.
    pub(crate) fn looks_same(&self, dir: &Path, part: Part) -> bool {
        let mut files = self.files.iter().filter(|(name, _)| {
            let is_history = name.starts_with(HISTORY);
            match part {
                Part::All => true,
                Part::Now => !is_history,
                Part::History => is_history,
                Part::Table => !is_text(name) && !is_vectors(name),
            }
        });
        files.all(|(name, entry)| {
            fs::metadata(dir.join(name)).is_ok_and(|found| stamp_of(&found) == entry.stamp)
        })
    }

    /// Returns `true` if a file exists and has its noted stamp.
    pub(crate) fn file_looks_same(&self, dir: &Path, name: &str) -> bool {
        let Some(entry) = self.files.get(name) else {
            return false;
        };
        fs::metadata(dir.join(name)).is_ok_and(|found| stamp_of(&found) == entry.stamp)
    }

    /// Notes the present stamp of a file that has checks of its own.
    pub(crate) fn note(&mut self, dir: &Path, name: &str) -> Result<()> {
        let path = dir.join(name);
        let metadata = fs::metadata(&path).map_err(io("reading", &path))?;
        let stamp = stamp_of(&metadata);
        self.files
            .insert(name.to_owned(), Entry { stamp, hash: None });
        Ok(())
    }

    /// Compares all files except the vectors with their notes. Costs a stat a file, and a hash if the stamp differs.
    ///
    /// # Errors
    /// `Unusable` for a file that is missing or has other contents.
    pub(crate) fn look(&self, dir: &Path, hash_all: bool) -> Result<Look> {
        let mut touched = Vec::new();
        for (name, entry) in &self.files {
            if is_vectors(name) {
                continue;
            }
            let path = dir.join(name);
            let bad = |why: &str| ViewError::Unusable {
                view: if is_text(name) { "text" } else { "table" },
                why: format!("{name} {why}"),
            };
            let metadata = fs::metadata(&path).map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => bad("is missing"),
                _ => bad("cannot be read"),
            })?;
            if !metadata.is_file() {
                return Err(bad("is no file"));
            }
            // A file of another length need not be read.
            if entry.hash.is_some() && metadata.len() != entry.stamp.len {
                return Err(bad("was changed or damaged"));
            }
            let same = stamp_of(&metadata) == entry.stamp;
            if same && !hash_all {
                continue;
            }
            match &entry.hash {
                Some(hash) if hash_of(&path)? == *hash => {}
                Some(_) => return Err(bad("was changed or damaged")),
                None => {}
            }
            if !same || hash_all {
                touched.push(name.clone());
            }
        }
        Ok(if touched.is_empty() {
            Look::Same
        } else {
            Look::Touched(touched)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_sees_what_is_its_own() {
        let dir = tempfile::tempdir().expect("a folder");
        let files = ["rows", "text/live/a.idx", "text/closed/b.idx"];
        for name in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("made");
            fs::write(path, "whole").expect("written");
        }
        let manifest = Manifest::take(dir.path(), None, (1, 1)).expect("it reads");
        let seen = |part| manifest.looks_same(dir.path(), part);
        let parts = [Part::All, Part::Now, Part::History, Part::Table];
        assert!(parts.into_iter().all(seen));
        fs::write(dir.path().join("text/closed/b.idx"), "other length").expect("written");
        assert!(!seen(Part::All) && seen(Part::Now) && !seen(Part::History));
        fs::write(dir.path().join("text/closed/b.idx"), "whole").expect("written");
        fs::remove_file(dir.path().join("text/live/a.idx")).expect("removed");
        assert!(!seen(Part::All) && !seen(Part::Now) && seen(Part::Table));
        fs::write(dir.path().join("rows"), "other length").expect("written");
        assert!(!seen(Part::Table));
    }
}
