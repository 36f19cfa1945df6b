//! `icm restore`

use std::path::PathBuf;

use clap::Args;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::progress::Bar;
use crate::text::count;
use crate::ui::BOLD;

/// Make a store from a backup, in an absent or empty folder
///
/// The store goes into its usual folder (`--db`, `ICM_DB`, …). Existing data is never overwritten, and restoring the
/// same backup twice changes nothing. The backup is checked as by `icm log verify`; only then the folder gets its name,
/// in one step. The next write starts a new origin, because the old store may still be in use. Exits with 3 if the
/// backup is cut or damaged.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm restore icm-2026-03-01.tar.zst --db ~/memory
  icm restore icm-2026-03-01.tar.zst && icm log verify")]
pub(crate) struct RestoreArgs {
    /// A file that `icm backup` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(crate) fn run(args: RestoreArgs, app: &App) -> Result<Outcome, CliError> {
    let (dir, _) = app.db()?;
    let bar = Bar::new(&app.ui);
    let receipt = icm_service::restore(&args.file, &dir, &bar)?;
    drop(bar);

    if app.ui.json {
        app.ui.json(&receipt)?;
    } else {
        let store = crate::text::one_line(&receipt.store);
        let events = count(receipt.events, "event", "events");
        let position = receipt.position;
        match receipt.unchanged {
            true => app.ui.line(format_args!(
                "{store} is this backup already ({events} up to @{position}): nothing was restored"
            ))?,
            false => app.ui.line(format_args!(
                "{} {events} up to @{position} in {store}",
                app.ui.paint(BOLD, "restored"),
            ))?,
        }
    }
    Ok(Outcome::Fine)
}
