//! `icm import`

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use icm_server::api::ImportReport;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::progress::Bar;
use crate::text;

/// Import memories from files
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    #[command(subcommand)]
    command: ImportCommand,
}

#[derive(Debug, Subcommand)]
enum ImportCommand {
    Jsonl(JsonlArgs),
}

/// Import JSON lines, one memory a line
///
/// A line has `topic` and `content`, and may have `key`, `importance`, `keywords`, `raw_excerpt`,
/// `occurred_at`, `scope`, `source` and `metadata`. The same topic and key with other content is
/// an update. Importing the same file again adds nothing. Bad lines are named, the good ones are
/// kept, and the exit code is 1.
#[derive(Debug, Args)]
struct JsonlArgs {
    /// Files; `-` for stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

pub(crate) fn run(args: ImportArgs, app: &App) -> Result<Outcome, CliError> {
    let ImportCommand::Jsonl(args) = args.command;
    let mut files = Vec::new();
    for path in &args.files {
        files.push((path.display().to_string(), open(path)?));
    }

    let bar = Bar::new(&app.ui);
    let report = app.service()?.import_jsonl(&app.caller()?, files, &bar)?;
    drop(bar);

    print(&report, app)
}

fn open(path: &Path) -> Result<Box<dyn BufRead>, CliError> {
    if path == Path::new("-") {
        return Ok(Box::new(std::io::stdin().lock()));
    }
    let name = path.display();
    let file = File::open(path).map_err(|e| CliError::io(format!("cannot read {name}"), &e))?;
    if file.metadata().is_ok_and(|m| m.is_dir()) {
        return Err(
            CliError::invalid(format!("{name} is a folder")).with_hint("name the files in it")
        );
    }
    Ok(Box::new(BufReader::with_capacity(64 * 1024, file)))
}

fn print(report: &ImportReport, app: &App) -> Result<Outcome, CliError> {
    if app.ui.json {
        app.ui.json(report)?;
    } else {
        for line in &report.rejected {
            app.ui.say(format_args!(
                "rejected {}:{}: {}",
                text::one_line(&line.file),
                line.line,
                text::one_line(&line.why)
            ));
        }
        app.ui.line(format_args!(
            "{} added, {} updated, {} unchanged, {} rejected",
            report.added,
            report.updated,
            report.unchanged,
            report.rejected.len()
        ))?;
    }
    Ok(if report.rejected.is_empty() {
        Outcome::Fine
    } else {
        Outcome::No
    })
}
