//! `icm man`

use std::path::{Path, PathBuf};

use clap::{Args, Command};

use crate::app::App;
use crate::error::{CliError, Outcome};

/// Print the manual page, or write one for every command
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm man | man -l -
  icm man --dir ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// Write `icm.1`, `icm-store.1` and so on into this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints the page of the whole program, or writes all pages.
pub(crate) fn run(args: ManArgs, whole: Command, app: &App) -> Result<Outcome, CliError> {
    match args.dir {
        Some(dir) => write_all(&dir, whole, app)?,
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(whole)
                .render(&mut page)
                .and_then(|()| app.ui.with_writer(|out| out.write_all(&page)))
                .map_err(|e| CliError::output(&e))?;
        }
    }
    Ok(Outcome::Fine)
}

fn write_all(dir: &Path, whole: Command, app: &App) -> Result<(), CliError> {
    std::fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(whole, dir))
        .map_err(|e| CliError::io(format!("cannot write into {}", dir.display()), &e))?;
    app.ui
        .remark(format_args!("wrote the manual pages to {}", dir.display()));
    Ok(())
}
