//! `icm backup`

use std::path::PathBuf;

use clap::Args;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::progress::Bar;
use crate::text::{bytes, count};
use crate::ui::BOLD;

/// Write the whole store into one file, while others use it
///
/// The file has every event from before the start. At the end icm reads it back and verifies it; this needs as much
/// free space as the unpacked log. After a failure, no file is left. The file contains all memories and the secret key
/// of the store's hashes: only its owner may read it (0600), so keep it as private as the store. Views are left out,
/// because they can be computed again. `icm restore` makes a store of the file.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm backup \"/mnt/usb/icm-$(date +%F).tar.zst\"
  icm backup --force ~/backups/icm.tar.zst    # replaces the file")]
pub(crate) struct BackupArgs {
    /// The file to write; outside the store
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace an existing file, once the new one is complete
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: BackupArgs, app: &App) -> Result<Outcome, CliError> {
    let bar = Bar::new(&app.ui);
    let receipt = app
        .service_read_only()?
        .backup(&args.file, args.force, &bar)?;
    drop(bar);

    if app.ui.json {
        app.ui.json(&receipt)?;
    } else {
        app.ui.line(format_args!(
            "{} {} up to @{} to {}, {}",
            app.ui.paint(BOLD, "backed up"),
            count(receipt.events, "event", "events"),
            receipt.position,
            crate::text::one_line(&receipt.file),
            bytes(receipt.bytes),
        ))?;
    }
    Ok(Outcome::Fine)
}
