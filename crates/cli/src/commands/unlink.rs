//! `icm unlink`

use clap::Args;

use super::link::{EndsArgs, report};
use crate::app::App;
use crate::error::{CliError, Outcome};

/// Remove a link between two memories
///
/// The link stays in the log and is shown `--at` earlier moments; `icm undo --last 1` brings it back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm unlink 01M808CE1S 01M80WZ9B2 -r supersedes
  icm unlink 01M808CE1S 01M80WZ9B2 -r related --reason 'different customers'")]
pub(crate) struct UnlinkArgs {
    #[command(flatten)]
    ends: EndsArgs,
}

pub(crate) fn run(args: UnlinkArgs, app: &App) -> Result<Outcome, CliError> {
    let receipt = app.service()?.unlink(&app.caller()?, &args.ends.into())?;
    report(&receipt, "unlinked", app)
}
