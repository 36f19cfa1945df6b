//! Checks of a folder: may it hold a store, and which of its files are icm's?

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};

use icm_log::Refusal;

use crate::service::Service;
use icm_api::error::{Result, ServiceError, plain};

/// Names that icm puts into a store's folder, or keeps beside it if a platform has one folder for both, and names that
/// operating systems leave in any folder. Other files belong to the user.
const OURS: [&str; 23] = [
    "store.toml",
    "store.new",
    "acked",
    "redacting",
    "redacting.new",
    "repairing",
    "repairing.new",
    "rewritten",
    "rewritten.new",
    "log",
    "torn",
    "lock",
    "sync.lock",
    "alerts.lock",
    "usage.lock",
    "views",
    "cache",
    "models",
    "lib",
    "sock",
    "config.toml",
    ".DS_Store",
    "lost+found",
];

/// Returns `true` if a file of this name belongs into a store's folder.
pub(crate) fn is_name_of_ours(name: &str) -> bool {
    OURS.contains(&name)
}

/// Returns the entries of a store's folder that are not files of the store, relative to the folder.
pub(crate) fn not_ours(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let names = entries.map(|entry| PathBuf::from(entry.file_name()));
    let is_ours = |name: &PathBuf| name.to_str().is_some_and(is_name_of_ours);
    let mut others: Vec<PathBuf> = names.filter(|name| !is_ours(name)).collect();
    others.sort();
    others
}

/// Refuses a path that cannot be a store's folder.
pub(crate) fn check(dir: &Path) -> Result<()> {
    if let Err(error) = dir.metadata() {
        if let Ok(target) = dir.read_link() {
            return Err(ServiceError::invalid_with(
                format!(
                    "{} is a symbolic link to {}, which cannot be reached: {}",
                    dir.display(),
                    target.display(),
                    plain(error)
                ),
                "make that folder, or give another one with `--db` or `ICM_DB`",
            ));
        }
        if error.kind() == io::ErrorKind::NotADirectory {
            return Err(ServiceError::invalid_with(
                format!("{} lies below a file", dir.display()),
                "give the store's folder with `--db` or `ICM_DB`",
            ));
        }
        return Ok(());
    }
    if !dir.is_dir() {
        return Err(ServiceError::invalid_with(
            format!("{} is a file, not a store", dir.display()),
            "give the store's folder with `--db` or `ICM_DB`",
        ));
    }
    let log = dir.join("log");
    if log.exists() && !log.is_dir() {
        return Err(ServiceError::invalid_with(
            format!(
                "{} is no store: its `log` is a file, not a folder of events",
                dir.display()
            ),
            "give another folder with `--db` or `ICM_DB`",
        ));
    }
    Ok(())
}

/// Returns a pipe, socket or device below a folder, if there is one. Opening such a file may wait for ever.
pub(crate) fn odd_file_below(dir: &Path) -> Option<PathBuf> {
    for entry in std::fs::read_dir(dir).ok()?.flatten() {
        let path = entry.path();
        let kind = entry.file_type().ok()?;
        if kind.is_dir() {
            if let Some(odd) = odd_file_below(&path) {
                return Some(odd);
            }
        } else if kind.is_symlink() {
            // A link to a folder is not followed, as it may lead back here.
            let odd = |target: &Metadata| !target.is_file() && !target.is_dir();
            if path.metadata().is_ok_and(|target| odd(&target)) {
                return Some(path);
            }
        } else if !kind.is_file() {
            return Some(path);
        }
    }
    None
}

impl Service {
    /// Refuses a folder that cannot be a store, or that holds other files. It is called before a model is put into a
    /// store that does not exist yet.
    ///
    /// # Errors
    /// The same errors as the first write.
    pub fn check_folder(&self) -> Result<()> {
        check(&self.options.dir)?;
        self.refuse_foreign_folder()
    }

    /// Returns `true` if the folder holds a store, or what is left of one.
    pub fn is_there(&self) -> bool {
        ["store.toml", "log"]
            .iter()
            .any(|name| self.options.dir.join(name).exists())
    }

    /// Returns `true` while nothing was ever stored here.
    pub(crate) fn is_empty(&self) -> Result<bool> {
        if self.log.tip().is_some() {
            return Ok(false); // events stay in the log
        }
        self.log.refresh()?;
        Ok(self.log.tip().is_none() && self.log.origin().is_none() && self.log.refusal().is_none())
    }

    /// Refuses to make a store of a folder that holds other files.
    pub(crate) fn refuse_foreign_folder(&self) -> Result<()> {
        if self.settings.any_folder || !self.is_empty()? {
            return Ok(());
        }
        let dir = &self.options.dir;
        let Ok(entries) = self.ground.disk.read_dir(dir) else {
            return Ok(());
        };
        let foreign = entries
            .iter()
            .map(|entry| entry.name.as_str())
            .filter(|name| !self.is_ours(name))
            .min();
        match foreign {
            None => Ok(()),
            Some(name) => Err(ServiceError::invalid_with(
                format!(
                    "{} is not a store and not empty (it holds `{}`): nothing is written into it",
                    dir.display(),
                    icm_guard::sanitize::clean_line(name)
                ),
                format!(
                    "give a folder of its own, for instance `--db {}`",
                    dir.join("icm").display()
                ),
            )),
        }
    }

    /// Returns `true` if icm makes files of this name in a store's folder, and the contents look like icm's.
    fn is_ours(&self, name: &str) -> bool {
        let path = self.options.dir.join(name);
        let below = |fits: &dyn Fn(&str) -> bool| {
            let entries = self.ground.disk.read_dir(&path);
            entries.is_ok_and(|entries| entries.iter().all(|entry| fits(&entry.name)))
        };
        match name {
            "log" => below(&|chain| {
                chain.len() == 32 && chain.bytes().all(|byte| byte.is_ascii_hexdigit())
            }),
            "views" => below(&icm_projections::is_version_file),
            // Other programs use the names `models` and `lib`, too.
            "models" => below(&|model| {
                model.starts_with('.') || path.join(model).join("model.toml").is_file()
            }),
            "lib" => below(&|file| file.contains("onnxruntime")),
            "torn" => below(&|bytes| bytes.ends_with(".torn") || bytes.ends_with(".new")),
            _ => is_name_of_ours(name),
        }
    }

    /// Returns the error of a write, explained if `store.toml` keeps the store from being written.
    pub(crate) fn explained(&self, error: icm_log::LogError) -> ServiceError {
        let Some(Refusal::NoStoreFile { why }) = self.log.refusal() else {
            return error.into();
        };
        let dir = &self.options.dir;
        let hint = match self.log.tip() {
            Some(_) => "put it back from a backup; or have a new one made: `icm log repair`",
            None => "put it back from a backup; if nothing was ever stored here, remove it",
        };
        let why = why.replace("its store.toml", "store.toml");
        ServiceError::invalid_with(
            format!("the store {} cannot be written: {why}", dir.display()),
            hint,
        )
    }
}
