//! The models of one store, in `models/NAME/`, and ONNX Runtime in `lib/`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use icm_vectors::embed::EmbedError;

use crate::catalogue::KNOWN;
use crate::error::ModelError;
use crate::onnx::{FastEmbedder, Record, library, plain_name};

/// Prefix of staging folders; no name of a model begins so.
pub(crate) const STAGING: &str = ".new-";
/// Names with another meaning in the config file.
const RESERVED: [&str; 3] = ["static", "none", "endpoint"];

/// The folders for the models of a store; they may be missing.
#[derive(Debug, Clone)]
pub struct Store {
    models: PathBuf,
    lib: PathBuf,
}

/// An installed model.
#[derive(Debug)]
pub struct Entry {
    /// Name of its folder.
    pub name: String,
    /// Its record, or the reason why it cannot be used.
    pub record: Result<Record, EmbedError>,
}

impl Store {
    /// Returns the models of the icm store in this folder.
    pub fn of(dir: &Path) -> Store {
        Store {
            models: dir.join("models"),
            lib: dir.join("lib"),
        }
    }

    /// Returns the folder that holds a folder for each model.
    pub fn models_dir(&self) -> &Path {
        &self.models
    }

    /// Returns the folder of ONNX Runtime.
    pub fn lib_dir(&self) -> &Path {
        &self.lib
    }

    /// Returns the library of ONNX Runtime, in the store or elsewhere on the machine; may run Python.
    ///
    /// # Errors
    /// The reason why there is none, in one line.
    pub fn library(&self) -> Result<PathBuf, String> {
        library::find(&self.lib).map_err(|why| why.to_string())
    }

    /// Returns the installed models, sorted by name. Files are checked for their lengths, not read.
    pub fn installed(&self) -> Vec<Entry> {
        let entries = fs::read_dir(&self.models).into_iter().flatten().flatten();
        let names = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| is_name(name));
        let mut found: Vec<Entry> = names
            .map(|name| Entry {
                record: self.record(&name),
                name,
            })
            .collect();
        found.sort_by(|a, b| a.name.cmp(&b.name));
        found
    }

    /// Returns the installed model of this name; upper and lower case are equal.
    ///
    /// # Errors
    /// There is no such model, or it is incomplete.
    pub fn embedder(&self, name: &str) -> Result<FastEmbedder, EmbedError> {
        let name = self.name_of(name).ok_or_else(|| self.not_installed(name))?;
        let record = self.record(&name)?;
        Ok(FastEmbedder::of(record, &self.models.join(name), &self.lib))
    }

    /// Returns the name of an installed model as its folder spells it.
    pub fn name_of(&self, name: &str) -> Option<String> {
        let mut installed = self.installed().into_iter().map(|entry| entry.name);
        installed.find(|there| there.eq_ignore_ascii_case(name))
    }

    /// Removes an installed model, and returns its size in bytes.
    ///
    /// # Errors
    /// There is no such model, or the folder cannot be removed.
    pub fn remove(&self, name: &str) -> Result<u64, ModelError> {
        let _lock = match self.models.is_dir() {
            true => Some(lock(&self.models)?),
            false => None,
        };
        let name = self.name_of(name).ok_or_else(|| self.unknown(name))?;
        let path = self.models.join(&name);
        let doing = || ModelError::io("removing", &path);
        // The folder is renamed first, so that no process meets a half removed model.
        let staging = tempfile::Builder::new()
            .prefix(STAGING)
            .tempdir_in(&self.models);
        let staging = staging.map_err(doing())?;
        let gone = staging.path().join("gone");
        fs::rename(&path, &gone).map_err(doing())?;
        let bytes = size_below(&gone);
        staging.close().map_err(doing())?;
        Ok(bytes)
    }

    /// Returns the error for an unknown name.
    pub fn unknown(&self, name: &str) -> ModelError {
        let known: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        let known = known.join(", ");
        let hint = match self.names().as_slice() {
            [] => format!("none is installed; known are {known}"),
            names => format!("installed: {}; known are {known}", names.join(", ")),
        };
        ModelError::Unknown {
            name: name.to_owned(),
            hint,
        }
    }

    /// Returns the record of an installed model. A folder without a record is an incomplete installation.
    fn record(&self, name: &str) -> Result<Record, EmbedError> {
        let folder = self.models.join(name);
        if !crate::onnx::path_in(&folder).is_file() {
            return Err(EmbedError::Unavailable {
                model: name.to_owned(),
                why: "its folder has no model.toml".into(),
                hint: Some(format!("`icm model remove {name}`, then install it again")),
            });
        }
        Record::of_folder(&folder)
    }

    fn not_installed(&self, name: &str) -> EmbedError {
        let what = match self.names().as_slice() {
            [] => "none is".to_owned(),
            names => format!("installed are {}", names.join(", ")),
        };
        EmbedError::Unavailable {
            model: name.to_owned(),
            why: format!("it is not installed ({what})"),
            hint: Some("see `icm model list`, and `icm model install`".to_owned()),
        }
    }

    fn names(&self) -> Vec<String> {
        self.installed()
            .into_iter()
            .map(|entry| entry.name)
            .collect()
    }
}

/// Locks the models of a store: one process at a time changes them.
pub(crate) fn lock(models: &Path) -> Result<File, ModelError> {
    let path = models.join(".lock");
    let mut options = File::options();
    let file = options.write(true).create(true).truncate(false).open(&path);
    let file = file.map_err(ModelError::io("opening", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(ModelError::Refused {
            what: "another process is installing or removing a model here".into(),
            hint: "try again once it is done".into(),
        }),
        // Without locks in the file system, the last process wins.
        Err(fs::TryLockError::Error(_)) => Ok(file),
    }
}

/// Returns `true` if a model may have this name: it suits a file, and has no other meaning in the config file.
pub(crate) fn is_name(name: &str) -> bool {
    !RESERVED.iter().any(|word| word.eq_ignore_ascii_case(name))
        && !name.is_empty()
        && plain_name(name) == name
}

/// Creates a folder for this user only, with its parents.
pub(crate) fn make_private(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Returns the total length of all files below a folder, in bytes.
pub(crate) fn size_below(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(there) if there.is_dir() => size_below(&entry.path()),
        Ok(there) => there.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}
