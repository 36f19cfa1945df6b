//! The trait of a target: a place for files that all machines reach.

use std::fs::File;
use std::io::Read;

use icm_api::error::Result;

/// Prefix of the names of files that are being written. An interrupted writer may leave one.
pub(crate) const UNFINISHED: &str = ".icm-";

/// Named folders that hold files, one level deep.
pub trait Target {
    /// Returns the name of the target, for answers and errors.
    fn name(&self) -> String;

    /// Returns the names of the folders.
    ///
    /// # Errors
    /// The target cannot be read, or does not exist.
    fn folders(&self) -> Result<Vec<String>>;

    /// Returns the files of a folder with their lengths in bytes; empty if the folder does not exist.
    ///
    /// # Errors
    /// The target cannot be read.
    fn files(&self, folder: &str) -> Result<Vec<(String, u64)>>;

    /// Opens a file for reading; `None` if it does not exist.
    ///
    /// # Errors
    /// The target cannot be read.
    fn open(&self, folder: &str, file: &str) -> Result<Option<Box<dyn Read>>>;

    /// Writes all of `content` from its start as a file, which appears whole or not at all. An existing file is
    /// replaced.
    ///
    /// # Errors
    /// The target cannot be written.
    fn put(&self, folder: &str, file: &str, content: &mut File) -> Result<()>;

    /// Removes a file, if it exists.
    ///
    /// # Errors
    /// The target cannot be written.
    fn remove(&self, folder: &str, file: &str) -> Result<()>;
}
