//! A folder: on a stick, a network disk, or one that another program keeps the same on several machines.

use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Read, Seek};
use std::path::{Path, PathBuf};

use icm_api::error::{Result, ServiceError};

use crate::target::{Target, UNFINISHED};

/// A folder that is there.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A folder outside the store. One that is missing is made, if the folder that it is to lie in is there: a disk
    /// that is not mounted is no empty target.
    ///
    /// # Errors
    /// `Invalid` for what is no folder, or within the store; `Io` where it cannot be made.
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
            // It is made when something is put there.
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
    /// Nothing is read, written or removed behind a link.
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

/// Whether one path lies within another, or is it, whether or not they are there yet.
fn is_within(path: &Path, folder: &Path) -> bool {
    match (real(path), real(folder)) {
        (Ok(path), Ok(folder)) => path.starts_with(folder),
        _ => false,
    }
}

/// A path without links, as far as it is there.
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

/// Makes a folder for this user alone, if it is not there.
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

/// The names in a folder; none where it is not there.
fn names(path: &Path) -> Result<Vec<(String, fs::Metadata)>> {
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(failed("reading", path))?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed("reading", path))?;
        // What is gone meanwhile, or has a name that none of ours has, is not ours.
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
        // A pipe would never answer.
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
        // It is there before anything names it, or what it stands for is removed.
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
