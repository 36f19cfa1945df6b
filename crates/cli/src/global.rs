//! The flags that every command knows.

use std::path::PathBuf;

use clap::{ArgAction, Args};

/// Accepted by every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// The store's folder (or ICM_DB; default: the platform's data folder)
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) db: Option<PathBuf>,
    /// The config file (or ICM_CONFIG; default: in the platform's config folder)
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Only data and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Log to stderr; twice for more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Do not ask
    #[arg(long, global = true)]
    pub(crate) yes: bool,
    /// Set by commands that must work whatever the config file says.
    #[arg(skip)]
    pub(crate) ignores_config: bool,
    /// Set by commands that say nothing at their end of a store that is not there.
    #[arg(skip)]
    pub(crate) tolerates_absence: bool,
    /// Set by commands that go on without a config file that cannot be read, and say so.
    #[arg(skip)]
    pub(crate) tolerates_config: bool,
}
