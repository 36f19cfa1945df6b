//! `icm restore`

use std::path::PathBuf;

use clap::Args;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::progress::Bar;
use crate::text::count;
use crate::ui::BOLD;

/// Make a store of a backup, in a folder that is absent or empty
///
/// The folder is the store's (`--db`, `ICM_DB`, …). Nothing is overwritten; where the very store is
/// there already, and nothing was written to it since, that is said and nothing is done. The backup is checked as
/// `icm log verify` checks a log before the store gets its name, in one step. The next write goes on
/// under a new origin, because the store that was backed up may still be written to.
/// Exits with 3 when the backup is cut or damaged.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm restore icm-2026-03-01.tar.zst --db ~/memory
  icm log verify --db ~/memory")]
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
