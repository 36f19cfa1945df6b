//! `icm log verify`

use std::path::PathBuf;

use clap::Args;

use crate::app::App;
use crate::commands::verify;
use crate::error::{CliError, Outcome};
use crate::input::heads;
use crate::progress::Bar;

/// Check every event of the log and every link of its chains
///
/// Changes nothing. Exits with 3 for damage, or if the log no longer contains the events of `--expect`. `icm verify`
/// checks the views, too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm log verify
  icm log verify --expect heads.txt    # a file of `icm log heads`")]
pub(crate) struct LogVerifyArgs {
    /// A file with earlier output of `icm log heads`; `-` for stdin
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
}

pub(crate) fn run(args: LogVerifyArgs, app: &App) -> Result<Outcome, CliError> {
    let expect = args.expect.as_deref().map(heads).transpose()?;

    let bar = Bar::new(&app.ui);
    let report = app.service()?.log_verify(expect.as_deref(), &bar)?;
    drop(bar);

    verify::print(&app.ui, &report)
}
