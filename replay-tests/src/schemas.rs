//! The checked-in JSON Schemas of events, held against the types.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Where they lie.
pub fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../schemas")
}

/// File names and texts as they should be.
pub fn current() -> BTreeMap<String, String> {
    let all = icm_log::schema::all().into_iter();
    all.map(|(name, schema)| (name, crate::golden::pretty(&schema)))
        .collect()
}

/// Names of files that differ, are missing, or should not be there.
///
/// # Errors
/// When the folder cannot be read.
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
