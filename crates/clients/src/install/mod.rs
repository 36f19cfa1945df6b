//! Entries of icm in the files of clients.

mod error;
mod format;
mod node;
mod text;

pub use error::InstallError;
pub use format::Format;
