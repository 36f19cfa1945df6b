//! Reads and writes whole folders of the real disk, for tests that copy, compare and damage stores.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files below a folder, by relative path; folders without files are left out.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Returns every file below `dir`, sorted; empty if `dir` does not exist.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(dir) else {
        return found;
    };
    for entry in entries {
        let entry = entry.expect("the folder is read");
        let kind = entry
            .file_type()
            .expect("the folder says what its entries are");
        if kind.is_dir() {
            found.extend(files(&entry.path()));
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

/// Returns all files below a folder.
pub fn read(dir: &Path) -> Files {
    let relative = |path: PathBuf| path.strip_prefix(dir).expect("it is below").to_owned();
    let contents = |path: &PathBuf| fs::read(path).expect("the file is read");
    files(dir)
        .into_iter()
        .map(|path| (relative(path.clone()), contents(&path)))
        .collect()
}

/// Returns all files below a folder that another process may be changing, once two reads in a row are equal.
pub fn read_at_rest(dir: &Path) -> Files {
    let try_read = || -> Option<Files> {
        let contents = |path: PathBuf| {
            let bytes = fs::read(&path).ok()?;
            let relative = path.strip_prefix(dir).expect("it is below").to_owned();
            Some((relative, bytes))
        };
        files(dir).into_iter().map(contents).collect()
    };
    let mut before = try_read();
    loop {
        let now = try_read();
        match now {
            Some(files) if before.as_ref() == Some(&files) => return files,
            other => before = other,
        }
    }
}

/// Makes a folder hold exactly these files. The folder itself stays.
pub fn write(dir: &Path, files: &Files) {
    fs::create_dir_all(dir).expect("the folder is created");
    for entry in fs::read_dir(dir).expect("the folder is read") {
        let path = entry.expect("the folder is read").path();
        if path.is_dir() {
            remove(&path)
        } else {
            fs::remove_file(&path).expect("removed")
        }
    }
    for (path, bytes) in files {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().expect("it is below")).expect("the folder is created");
        fs::write(&path, bytes).expect("the file is written");
    }
}

/// Removes a folder and everything below it, if it exists.
pub fn remove(dir: &Path) {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            panic!("{}: {error}", dir.display())
        }
        _ => {}
    }
}
