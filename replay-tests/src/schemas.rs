//! Compares the checked-in JSON Schemas of events with the types.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Returns the folder of the schemas.
pub fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas")
}

/// Returns the file names and texts of today's schemas.
pub fn current() -> BTreeMap<String, String> {
    let all = icm_log::schema::all().into_iter();
    all.map(|(name, schema)| (name, crate::golden::pretty(&schema)))
        .collect()
}

/// Returns the names of files that differ, are missing, or should not be there.
///
/// # Errors
/// If the folder cannot be read.
pub fn stale() -> io::Result<Vec<String>> {
    let mut wanted = current();
    let mut stale = Vec::new();
    for entry in fs::read_dir(dir())? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".schema.json") {
            continue;
        }
        if wanted.remove(&name) != Some(fs::read_to_string(dir().join(&name))?) {
            stale.push(name);
        }
    }
    stale.extend(wanted.into_keys());
    stale.sort();
    Ok(stale)
}
