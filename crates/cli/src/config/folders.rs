//! Default folders of the config file and the store, and relative paths in the file.

use std::path::{Path, PathBuf};

use directories::{BaseDirs, ProjectDirs};

use crate::error::CliError;

/// Returns the default path of the config file; `None` without a home folder.
///
/// # Errors
/// A relative path of a folder in the environment, which would be another folder in every working folder.
pub(crate) fn default_path() -> Result<Option<PathBuf>, CliError> {
    let folder = usual("XDG_CONFIG_HOME", ProjectDirs::config_dir);
    let folder = folder.map_err(|error| {
        error.with_hint(
            "set it to an absolute path, or name the config file with `--config` or `ICM_CONFIG`",
        )
    })?;
    Ok(folder.map(|folder| folder.join("config.toml")))
}

/// Returns the default folder of the store; `None` without a home folder.
///
/// # Errors
/// As [`default_path`].
pub(crate) fn default_db() -> Result<Option<PathBuf>, CliError> {
    usual("XDG_DATA_HOME", ProjectDirs::data_local_dir).map_err(|error| {
        error.with_hint("set it to an absolute path, or name the store with `--db` or `ICM_DB`")
    })
}

/// Returns the store's folder for the value of `db` in a config file in `folder`.
///
/// # Errors
/// A home folder that the environment names by a relative path.
pub(super) fn store(db: &Path, folder: &Path) -> Result<PathBuf, CliError> {
    match below_home(db).and_then(|_| relative("HOME")) {
        Some(error) => Err(error.with_hint("set it to an absolute path")),
        None => Ok(resolve(db, folder)),
    }
}

/// Returns a path of a config file in `folder`: below the home folder after `~/`, else relative to `folder`.
pub(super) fn resolve(path: &Path, folder: &Path) -> PathBuf {
    match (below_home(path), BaseDirs::new()) {
        (Some(rest), Some(dirs)) => dirs.home_dir().join(rest),
        _ => folder.join(path),
    }
}

fn below_home(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix("~/")
}

/// Returns a folder of this user; the variable `xdg` can name another one.
fn usual(xdg: &str, of: fn(&ProjectDirs) -> &Path) -> Result<Option<PathBuf>, CliError> {
    let reads_xdg = cfg!(all(unix, not(target_os = "macos")));
    if reads_xdg && let Some(error) = relative(xdg) {
        return Err(error);
    }
    let folder = ProjectDirs::from("", "", "icm").map(|dirs| of(&dirs).to_path_buf());
    if folder.as_deref().is_some_and(Path::is_relative) {
        return Err(relative("HOME")
            .unwrap_or_else(|| CliError::failed("no home folder").with_hint("set `HOME`")));
    }
    Ok(folder)
}

/// Returns an error if a variable names a folder by a relative path.
fn relative(variable: &str) -> Option<CliError> {
    let value = PathBuf::from(std::env::var_os(variable)?);
    let is_one = !value.as_os_str().is_empty() && value.is_relative();
    is_one.then(|| {
        CliError::failed(format!(
            "`{variable}` is `{}`, which is no absolute path",
            value.display()
        ))
        .with_hint("give a path from the root, or unset the variable")
    })
}
