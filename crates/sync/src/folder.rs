//! A folder as a target: on a stick, on a network disk, or kept the same on several machines by another program.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};

use icm_api::error::{Result, ServiceError};

use crate::target::{Target, UNFINISHED};

/// A target that is a folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Opens a folder outside the store. The folder may be missing if its parent exists; then the first `put` creates
    /// it. A missing parent is an error, because an unmounted disk is not an empty target.
    ///
    /// # Errors
    /// `Invalid` if the path is not a folder, or if it lies within the store or around it; `Io` if it cannot be read.
    pub fn open(path: &Path, store: &Path) -> Result<Folder> {
        if is_within(path, store) || is_within(store, path) {
            return Err(invalid(
                format!("{} is not apart from the store", path.display()),
                "name a folder elsewhere: the store itself must not be synchronised",
            ));
        }
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => {
                return Err(invalid(
                    format!("{} is no folder", path.display()),
                    "name a folder that all your machines reach",
                ));
            }
            // The folder is created by the first `put`.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
                if !parent.is_none_or(Path::is_dir) {
                    return Err(invalid(
                        format!("there is no folder for {} to lie in", path.display()),
                        "make it, or mount the disk that it is on",
                    ));
                }
            }
            Err(error) => return Err(failed("reading", path)(error)),
        }
        Ok(Folder {
            path: path.to_owned(),
        })
    }
}

impl Folder {
    /// Refuses a link or a file in the place of `folder`: nothing is read, written or removed behind a link.
    fn plain(&self, folder: &str) -> Result<()> {
        let path = self.path.join(folder);
        match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_dir() => Err(invalid(
                format!("{} is no folder", path.display()),
                "remove it",
            )),
            _ => Ok(()),
        }
    }
}

fn invalid(message: String, hint: &str) -> ServiceError {
    ServiceError::Invalid {
        message,
        hint: Some(hint.to_owned()),
    }
}

fn failed(doing: &str, path: &Path) -> impl FnOnce(io::Error) -> ServiceError {
    let doing = format!("{doing} {}", path.display());
    move |source| ServiceError::Io { doing, source }
}

/// Returns `true` if `path` is `folder` or lies within it. Either may not exist yet.
fn is_within(path: &Path, folder: &Path) -> bool {
    match (real(path), real(folder)) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// Returns a path with its existing part free of links.
fn real(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let mut there = path.as_path();
    loop {
        match (there.canonicalize(), there.parent()) {
            (Ok(real), _) => return Ok(real.join(path.strip_prefix(there).unwrap_or(&path))),
            (Err(_), Some(parent)) => there = parent,
            (Err(error), None) => return Err(error),
        }
    }
}

/// Creates a folder for this user only, unless it exists.
fn make(path: &Path) -> Result<()> {
    #[cfg_attr(not(unix), allow(unused_mut))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other.map_err(failed("making the folder", path)),
    }
}

/// Returns the names in a folder, sorted; empty if the folder does not exist.
fn names(path: &Path) -> Result<Vec<(String, fs::Metadata)>> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(failed("reading", path))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed("reading", path))?;
        // An entry without a UTF-8 name was not written by icm; one without metadata was just removed.
        if let (Ok(name), Ok(metadata)) = (entry.file_name().into_string(), entry.metadata()) {
            found.push((name, metadata));
        }
    }
    found.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok(found)
}

impl Target for Folder {
    fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn folders(&self) -> Result<Vec<String>> {
        let folders = names(&self.path)?.into_iter();
        let folders = folders.filter(|(_, metadata)| metadata.is_dir());
        Ok(folders.map(|(name, _)| name).collect())
    }

    fn files(&self, folder: &str) -> Result<Vec<(String, u64)>> {
        self.plain(folder)?;
        let files = names(&self.path.join(folder))?.into_iter();
        let files = files.filter(|(_, metadata)| metadata.is_file());
        Ok(files.map(|(name, found)| (name, found.len())).collect())
    }

    fn open(&self, folder: &str, file: &str) -> Result<Option<Box<dyn Read>>> {
        let path = self.path.join(folder).join(file);
        // Opening a pipe would block.
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() => {}
            Ok(_) => {
                return Err(invalid(
                    format!("{} is no regular file", path.display()),
                    "remove it",
                ));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed("reading", &path)(error)),
        }
        match File::open(&path) {
            Ok(file) => Ok(Some(Box::new(file))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("reading", &path)(error)),
        }
    }

    fn put(&self, folder: &str, file: &str, content: &mut File) -> Result<()> {
        self.plain(folder)?;
        let folder = self.path.join(folder);
        make(&self.path)?;
        make(&folder)?;
        let path = folder.join(file);
        let failed = || failed("writing", &path);
        content.rewind().map_err(failed())?;
        let mut beside = tempfile::Builder::new()
            .prefix(UNFINISHED)
            .tempfile_in(&folder)
            .map_err(failed())?;
        io::copy(content, beside.as_file_mut()).map_err(failed())?;
        beside.as_file().sync_all().map_err(failed())?;
        beside
            .persist(&path)
            .map_err(|error| failed()(error.error))?;
        // The file must be durable before an index names it, or the files that it replaces are removed.
        #[cfg(unix)]
        (File::open(&folder).and_then(|folder| folder.sync_all())).map_err(failed())?;
        Ok(())
    }

    fn remove(&self, folder: &str, file: &str) -> Result<()> {
        self.plain(folder)?;
        let path = self.path.join(folder).join(file);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(failed("removing", &path)(error))
            }
            _ => Ok(()),
        }
    }
}
