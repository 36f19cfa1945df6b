//! The flags of every command.

use std::path::PathBuf;

use clap::{ArgAction, Args};

/// Flags that every command accepts.
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
    /// Print only data and errors
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Log to stderr; twice for more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Answer yes to every question
    #[arg(long, global = true)]
    pub(crate) yes: bool,
    /// `true` for commands that must work with any config file.
    #[arg(skip)]
    pub(crate) ignores_config: bool,
    /// `true` for commands that do not report a missing store at their end.
    #[arg(skip)]
    pub(crate) tolerates_absence: bool,
    /// `true` for commands that report an unreadable config file and continue without it.
    #[arg(skip)]
    pub(crate) tolerates_config: bool,
}
