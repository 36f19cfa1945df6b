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
/// Everything stored before is in it. The file is read back and verified before this succeeds, which
/// takes the room of the unpacked log beside it for a while; a failure leaves nothing behind.
/// The file holds all memories and the store's secret, so only its owner may read it (0600): keep it
/// as private as the store. Views are left out: they are computed anew. `icm restore` takes it back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm backup ~/backups/icm-$(date +%F).tar.zst
  icm backup --force /mnt/usb/icm.tar.zst --json")]
pub(crate) struct BackupArgs {
    /// The file to write; outside the store
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace the file if it is there; only once the new one is whole
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
