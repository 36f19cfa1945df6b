//! Opens the target of a sync.

use std::path::{Path, PathBuf};

use icm_sync::{Address, Folder, Target};

use crate::error::CliError;

/// The scheme of local URLs.
const FILE: &str = "file:";

/// The target of a sync.
pub(super) enum SyncTarget {
    /// Files in a place that every machine reaches.
    Files {
        target: Box<dyn Target>,
        /// The path, if the place is a folder.
        folder: Option<PathBuf>,
    },
    /// The store of another machine.
    Store {
        address: Address,
        /// The command that runs icm there.
        icm: String,
    },
}

impl SyncTarget {
    /// Opens a target; `store` is the folder of this machine's store.
    pub(super) fn open(target: &str, icm: &str, store: &Path) -> Result<SyncTarget, CliError> {
        let local;
        let path = match target.get(..FILE.len()) {
            Some(scheme) if scheme.eq_ignore_ascii_case(FILE) => {
                local = of_url(target)?;
                &*local
            }
            _ => target,
        };
        if path.is_empty() {
            return Err(CliError::invalid("the target has no name")
                .with_hint("name a folder or a URL: `icm sync --help` lists them"));
        }
        if path == "-" {
            return Err(CliError::invalid("`-` is no target")
                .with_hint("`icm log export -` and `icm log import -` are for pipes"));
        }
        if let Some(address) = Address::parse(target) {
            return Ok(SyncTarget::Store {
                address: address?,
                icm: icm.to_owned(),
            });
        }
        if icm != "icm" {
            return Err(
                CliError::invalid("`--icm` is for `ssh://` alone").with_hint("leave it out")
            );
        }
        match path.split_once("://") {
            #[cfg(feature = "objects")]
            Some((scheme, _)) if icm_objects::SCHEMES.contains(&scheme) => Ok(SyncTarget::Files {
                target: Box::new(icm_objects::Objects::open(path)?),
                folder: None,
            }),
            #[cfg(not(feature = "objects"))]
            Some(("az" | "gs" | "http" | "https" | "s3", _)) => {
                Err(crate::error::not_in_this_build("object stores"))
            }
            Some((scheme, _)) if !Path::new(path).exists() => Err(CliError::invalid(format!(
                "`{scheme}://` is no target that icm knows"
            ))
            .with_hint("name a folder or a URL: `icm sync --help` lists them")),
            _ => Ok(SyncTarget::Files {
                target: Box::new(Folder::open(path.as_ref(), store)?),
                folder: Some(path.into()),
            }),
        }
    }
}

/// Returns the folder that a `file:` URL names.
fn of_url(url: &str) -> Result<String, CliError> {
    let path = url::Url::parse(url).ok();
    let path = path
        .filter(|_| url.contains(":/"))
        .and_then(|url| url.to_file_path().ok());
    let path = path.and_then(|path| path.into_os_string().into_string().ok());
    path.ok_or_else(|| {
        CliError::invalid(format!("`{url}` names no folder of this machine"))
            .with_hint("write `file:///PATH` with the whole path, or the path alone")
    })
}
