//! Object stores and WebDAV as targets of `icm sync`: S3 and compatible stores, Google Cloud Storage, Azure, and
//! folders of a web server.
//!
//! Credentials come from the environment variables that the tools of each provider read, never from a file of icm.
//!
//! ```no_run
//! # fn example() -> icm_api::error::Result<()> {
//! let target = icm_objects::Objects::open("s3://bucket/icm")?;
//! # let _: &dyn icm_sync::Target = &target;
//! # Ok(())
//! # }
//! ```
//!
//! This crate knows objects by name. It must never know their content, nor the terminal.

mod body;
mod place;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Arc;

use icm_api::error::{Result, ServiceError};
use icm_sync::Target;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload};
use tokio::runtime::{Builder, Runtime};

pub use place::SCHEMES;

/// A place in an object store or on a web server.
#[derive(Debug)]
pub struct Objects {
    /// The URL without its password.
    name: String,
    store: Box<dyn ObjectStore>,
    /// The common beginning of the names of all objects in this place.
    prefix: Path,
    runtime: Arc<Runtime>,
}

impl Objects {
    /// Returns the place of a URL. No request is made yet.
    ///
    /// # Errors
    /// `Invalid` if the text is no URL of a target, or if a setting is missing in the environment.
    pub fn open(url: &str) -> Result<Objects> {
        let place = place::parse(url)?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(failed("starting to ask", &place.name))?;
        Ok(Objects {
            name: place.name,
            store: place.store,
            prefix: place.prefix,
            runtime: Arc::new(runtime),
        })
    }

    fn failed(&self, doing: &str, path: &Path) -> impl FnOnce(object_store::Error) -> ServiceError {
        let doing = format!("{doing} {path} of {}", self.name);
        move |error| {
            let why = place::one_line(&error);
            // `object_store` has no error kind of its own for some of these refusals.
            let is_refusal = ["401 Unauthorized", "403 Forbidden"];
            match is_refusal.iter().any(|status| why.contains(status)) {
                true => ServiceError::Invalid {
                    message: format!("{doing} is not allowed: {why}"),
                    hint: Some("give credentials that may: `icm sync --help`".to_owned()),
                },
                false => ServiceError::Io {
                    doing,
                    source: io::Error::other(why),
                },
            }
        }
    }
}

fn failed(doing: &str, name: &str) -> impl FnOnce(io::Error) -> ServiceError {
    let doing = format!("{doing} {name}");
    move |source| ServiceError::Io { doing, source }
}

/// Returns the last part of a path; `None` for an empty path.
fn last(path: &Path) -> Option<String> {
    path.filename().map(str::to_owned)
}

impl Target for Objects {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn folders(&self) -> Result<Vec<String>> {
        let listed = self.store.list_with_delimiter(Some(&self.prefix));
        let listed = self.runtime.block_on(listed);
        let listed = listed.map_err(self.failed("listing", &self.prefix))?;
        Ok(listed.common_prefixes.iter().filter_map(last).collect())
    }

    fn files(&self, folder: &str) -> Result<Vec<(String, u64)>> {
        let path = self.prefix.clone().join(folder);
        let listed = self
            .runtime
            .block_on(self.store.list_with_delimiter(Some(&path)));
        let listed = match listed {
            Err(object_store::Error::NotFound { .. }) => return Ok(Vec::new()),
            other => other.map_err(self.failed("listing", &path))?,
        };
        let files = listed.objects.iter();
        Ok(files
            .filter_map(|file| Some((last(&file.location)?, file.size)))
            .collect())
    }

    fn open(&self, folder: &str, file: &str) -> Result<Option<Box<dyn Read>>> {
        let path = self.prefix.clone().join(folder).join(file);
        match self.runtime.block_on(self.store.get(&path)) {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed("reading", &path)(error)),
            Ok(found) => Ok(Some(Box::new(body::Body::new(
                found.into_stream(),
                Arc::clone(&self.runtime),
            )))),
        }
    }

    fn put(&self, folder: &str, file: &str, content: &mut File) -> Result<()> {
        let path = self.prefix.clone().join(folder).join(file);
        // One request writes the whole object or nothing. The files of a sync are short enough to be held in memory.
        let mut bytes = Vec::new();
        let read = content
            .rewind()
            .and_then(|()| content.read_to_end(&mut bytes));
        read.map_err(failed("reading a temporary file for", &self.name))?;
        let put = self.store.put(&path, PutPayload::from(bytes));
        let put = self.runtime.block_on(put);
        put.map(drop).map_err(self.failed("writing", &path))
    }

    fn remove(&self, folder: &str, file: &str) -> Result<()> {
        let path = self.prefix.clone().join(folder).join(file);
        match self.runtime.block_on(self.store.delete(&path)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed("removing", &path)(error)),
        }
    }
}
