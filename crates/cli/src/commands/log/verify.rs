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
/// Changes nothing. Exits with 3 when damage is found, or when the log no longer contains what
/// `--expect` names. `icm verify` checks the views too.
#[derive(Debug, Args)]
pub(crate) struct LogVerifyArgs {
    /// A file that `icm log heads` printed earlier; `-` for stdin
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
