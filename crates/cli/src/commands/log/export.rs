//! `icm log export`

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use icm_api::{ExportSince, LogExported};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::input;
use crate::output::{Readers, TerminalLines, outside_store, write_file};
use crate::progress::Bar;
use crate::text::{self, bytes, count};
use crate::ui::BOLD;

/// Write every event into a file, to carry it to another machine
///
/// `icm log import` reads the file on the other machine and skips known events. You can repeat this in both directions:
/// at the end, every machine has the same memories. If the store does not exist, the file has no events. Redacted
/// events have no text. The file contains all memories, but not the secret key of the store's hashes: keep the file as
/// private as the store.
///
/// `--format cloudevents` writes the events as JSON lines for people and other programs. Each line is a CloudEvent
/// (1.0), in the order of positions. icm cannot import these lines.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm log export laptop.icmx
  icm log export - | ssh desk icm log import -
  icm log export --since desk.txt news.icmx    # `icm log heads` of `desk` wrote desk.txt")]
pub(crate) struct LogExportArgs {
    /// The file to write, or `-` for stdout; replaced only when complete
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Leave out events that the other machine has. Give a file with the output of `icm log heads` there, or the moment
    /// up to which the other machine has all events of this store
    #[arg(long, value_name = "HEADS|AT")]
    since: Option<String>,
    /// Format
    #[arg(long, value_enum, default_value_t = Format::Bundle)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For `icm log import`
    Bundle,
    /// CloudEvents, one a line: to be read, not imported
    Cloudevents,
}

pub(crate) fn run(args: LogExportArgs, app: &App) -> Result<Outcome, CliError> {
    let to_stdout = args.file == Path::new("-");
    if to_stdout && app.ui.json {
        return Err(
            CliError::invalid("`--json` cannot be combined with an export on stdout")
                .with_hint("leave `--json` out, or name a file"),
        );
    }
    if to_stdout && args.format == Format::Bundle && io::stdout().is_terminal() {
        return Err(
            CliError::invalid("an export is binary and cannot go to a terminal")
                .with_hint("name a file, or pipe it into another program"),
        );
    }
    let service = app.service()?;
    if !to_stdout {
        outside_store(&args.file, &app.db()?.0)?;
    }
    let since = since(args.since)?;
    let bar = Bar::new(&app.ui);
    let export = |out: &mut dyn Write| -> Result<LogExported, CliError> {
        Ok(match args.format {
            Format::Bundle => service.export_log(&since, out, &bar)?,
            Format::Cloudevents => service.export_cloudevents(&since, out, &bar)?,
        })
    };
    let exported = match to_stdout {
        true if app.ui.is_terminal() => app.ui.with_writer(|out| {
            let mut shown = TerminalLines::new(out, true);
            let exported = export(&mut shown)?;
            shown.flush().map_err(|e| CliError::output(&e))?;
            Ok::<_, CliError>(exported)
        })?,
        true => app.ui.with_writer(export)?,
        false => write_file(&args.file, Readers::Owner, export)?,
    };
    drop(bar);
    let file = (!to_stdout).then(|| args.file.to_string_lossy().into_owned());
    let exported = LogExported { file, ..exported };

    let outcome = match exported.incomplete.is_empty() {
        true => Outcome::Fine,
        false => Outcome::Damage,
    };
    if app.ui.json {
        app.ui.json(&exported)?;
        return Ok(outcome);
    }
    let line = format!(
        "{} {} of {}{}, {}",
        app.ui.paint(BOLD, "exported"),
        count(exported.events, "event", "events"),
        count(exported.origins, "origin", "origins"),
        match exported.withheld {
            0 => String::new(),
            withheld => format!(", {withheld} without their text"),
        },
        bytes(exported.bytes),
    );
    match &exported.file {
        Some(file) => app
            .ui
            .line(format_args!("{line} to {}", text::one_line(file)))?,
        None => app.ui.remark(format_args!("{line}")),
    }
    if !exported.incomplete.is_empty() {
        app.ui.remark(format_args!(
            "left out: the events of {} after damaged or missing ones: see \
             `icm log verify` and `icm log repair`",
            exported.incomplete.join(", "),
        ));
    }
    Ok(outcome)
}

/// Returns the events to leave out: from an existing file of heads, or else from a moment.
fn since(given: Option<String>) -> Result<ExportSince, CliError> {
    let Some(given) = given else {
        return Ok(ExportSince::Start);
    };
    let path = Path::new(&given);
    match given == "-" || path.exists() {
        true => input::heads(path).map(ExportSince::Heads),
        false if given.contains(std::path::is_separator) => {
            Err(CliError::invalid(format!("there is no file {given}"))
                .with_hint("name a file of `icm log heads`, or a moment as for `--at`"))
        }
        false => Ok(ExportSince::Moment(given)),
    }
}
