//! A place that all machines reach.

use std::fs::File;
use std::io::Read;

use icm_api::error::Result;

/// How the name of a file begins that is not all there yet: whoever was stopped may have left one.
pub(crate) const UNFINISHED: &str = ".icm-";

/// Folders of small names with files in them, no deeper.
pub trait Target {
    /// What to call it.
    fn name(&self) -> String;

    /// The folders.
    ///
    /// # Errors
    /// Where it cannot be read, or is not there.
    fn folders(&self) -> Result<Vec<String>>;

    /// The files of a folder, and how long each is, in bytes; none for one that is not there.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn files(&self, folder: &str) -> Result<Vec<(String, u64)>>;

    /// What is in a file; `None` for one that is not there.
    ///
    /// # Errors
    /// Where it cannot be read.
    fn open(&self, folder: &str, file: &str) -> Result<Option<Box<dyn Read>>>;

    /// Puts a file there, from its start, in the place of any other: whole, or not at all.
    ///
    /// # Errors
    /// Where it cannot be written.
    fn put(&self, folder: &str, file: &str, content: &mut File) -> Result<()>;

    /// Takes a file away, if it is there.
    ///
    /// # Errors
    /// Where it cannot be written.
    fn remove(&self, folder: &str, file: &str) -> Result<()>;
}
