//! `icm log heads`

use clap::Args;

use crate::app::App;
use crate::error::{CliError, Outcome};

/// Print the newest event of every chain, to keep elsewhere
///
/// `icm log verify --expect FILE` proves later that the log still contains these events.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm log heads > heads.txt
  icm log verify --expect heads.txt    # later")]
pub(crate) struct HeadsArgs {}

pub(crate) fn run(_: HeadsArgs, app: &App) -> Result<Outcome, CliError> {
    let heads = app.service()?.heads()?;

    if app.ui.json {
        app.ui.json(&heads)?;
        return Ok(Outcome::Fine);
    }
    // The output is also a file format: no colours, no alignment, nothing left out.
    for head in &heads {
        app.ui
            .line(format_args!("{} {} {}", head.origin, head.seq, head.head))?;
    }
    if heads.is_empty() {
        app.ui.remark(format_args!("no events"));
    }
    Ok(Outcome::Fine)
}
