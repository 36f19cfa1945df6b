//! `icm log verify`

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::app::App;
use crate::commands::verify;
use crate::error::{CliError, Outcome};
use crate::progress::Bar;

/// A file of heads has a short line for each machine; more than this is another file.
const EXPECT_MAX_BYTES: u64 = 1024 * 1024;

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
    let expect = args.expect.as_deref().map(read_heads).transpose()?;

    let bar = Bar::new(&app.ui);
    let report = app.service()?.log_verify(expect.as_deref(), &bar)?;
    drop(bar);

    verify::print(&app.ui, &report)
}

fn read_heads(path: &Path) -> Result<String, CliError> {
    let failed = |e| CliError::io(format!("cannot read {}", path.display()), &e);
    let reader: Box<dyn Read> = if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(failed)?)
    };
    let mut text = String::new();
    let read = reader
        .take(EXPECT_MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if read as u64 > EXPECT_MAX_BYTES {
        return Err(
            CliError::invalid(format!("{} is too long to be heads", path.display()))
                .with_hint("name a file written with `icm log heads > FILE`"),
        );
    }
    Ok(text)
}
