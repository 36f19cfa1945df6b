//! `icm tui`

use clap::Args;

use crate::app::App;
use crate::error::{CliError, Outcome};

/// Look at the store in the terminal: memories, log, any moment
///
/// Shows the pages of `icm explore` that fit a terminal, from 80 columns and 24 lines on. `?` lists the keys, `q` ends.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  icm tui
  icm tui --read-only")]
pub(crate) struct TuiArgs {
    /// Offer no change
    #[arg(long)]
    read_only: bool,
}

#[cfg(feature = "tui")]
pub(crate) fn run(args: TuiArgs, app: &App) -> Result<Outcome, CliError> {
    if !app.ui.is_terminal() {
        return Err(CliError::invalid("stdout is no terminal")
            .with_hint("start it in a terminal; `icm list` and `icm log` print lines"));
    }
    let service = match args.read_only {
        true => app.service_read_only()?,
        false => app.service_to_serve()?,
    };
    service.check_folder()?;
    let caller = app.caller_in(None)?;
    icm_tui::run(service, &caller, args.read_only)?;
    Ok(Outcome::Fine)
}

/// A build without the terminal view accepts the command, and its error says how to get it.
#[cfg(not(feature = "tui"))]
pub(crate) fn run(_: TuiArgs, _: &App) -> Result<Outcome, CliError> {
    Err(crate::error::not_in_this_build("terminal view"))
}
