//! `icm rebuild`

use clap::Args;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::progress::Bar;
use crate::text::count;

/// Compute every view again from the log
///
/// The log is only read. Views can be deleted at any time; this command restores them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm rebuild
  icm rebuild && icm verify    # compares the new views with the log")]
pub(crate) struct RebuildArgs {}

pub(crate) fn run(_: RebuildArgs, app: &App) -> Result<Outcome, CliError> {
    let bar = Bar::new(&app.ui);
    let report = app.service()?.rebuild(&bar)?;
    drop(bar);

    if app.ui.json {
        app.ui.json(&report)?;
    } else {
        app.ui.line(format_args!(
            "rebuilt {} from {} in {:.2} s",
            count(report.memories, "memory", "memories"),
            count(report.events, "event", "events"),
            report.seconds
        ))?;
        app.ui
            .line(format_args!("state hash {}", report.state_hash))?;
    }
    Ok(Outcome::Fine)
}
