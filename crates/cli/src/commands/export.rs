//! `icm export`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use icm_server::Service;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::output::{Readers, outside_store, write_file};
use crate::text;

/// Export memories
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(subcommand)]
    command: ExportCommand,
}

#[derive(Debug, Subcommand)]
enum ExportCommand {
    /// Write JSON lines that `icm import jsonl` takes back, oldest first
    Jsonl(FormatArgs),
    /// Write Markdown, a section a topic
    Markdown(FormatArgs),
}

#[derive(Debug, Args)]
struct FormatArgs {
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Write to this file instead of stdout; it is replaced only when everything is written
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy)]
enum Format {
    Jsonl,
    Markdown,
}

pub(crate) fn run(args: ExportArgs, app: &App) -> Result<Outcome, CliError> {
    let (format, args) = match args.command {
        ExportCommand::Jsonl(args) => (Format::Jsonl, args),
        ExportCommand::Markdown(args) => (Format::Markdown, args),
    };
    let to_stdout = args
        .output
        .as_deref()
        .is_none_or(|path| path == Path::new("-"));
    if app.ui.json && to_stdout && matches!(format, Format::Markdown) {
        return Err(CliError::invalid("Markdown cannot be printed as JSON")
            .with_hint("leave `--json` out, write with `-o FILE`, or use `icm export jsonl`"));
    }
    let service = app.service()?;
    let at = args.at.as_deref();

    let memories = match args.output.as_deref() {
        Some(path) if path != Path::new("-") => {
            outside_store(path, &app.db()?.0)?;
            let memories =
                write_file(path, Readers::Usual, |out| export(service, format, out, at))?;
            if app.ui.json {
                app.ui.json(
                    &serde_json::json!({ "memories": memories, "file": path.to_string_lossy() }),
                )?;
            }
            memories
        }
        _ if app.ui.is_terminal() => app.ui.with_writer(|out| {
            let mut clean = CleanLines::new(out);
            let memories = export(service, format, &mut clean, at)?;
            clean.flush().map_err(|e| CliError::output(&e))?;
            Ok::<_, CliError>(memories)
        })?,
        _ => app.ui.with_writer(|out| export(service, format, out, at))?,
    };
    app.ui.remark(format_args!(
        "{} exported",
        text::count(memories, "memory", "memories")
    ));
    Ok(Outcome::Fine)
}

fn export(
    service: &Service,
    format: Format,
    out: &mut dyn Write,
    at: Option<&str>,
) -> Result<u64, CliError> {
    Ok(match format {
        Format::Jsonl => service.export_jsonl(out, at)?,
        Format::Markdown => service.export_markdown(out, at)?,
    })
}

/// Lines for a terminal: without characters that could steer it.
struct CleanLines<'a> {
    out: &'a mut dyn Write,
    line: Vec<u8>,
}

impl<'a> CleanLines<'a> {
    fn new(out: &'a mut dyn Write) -> Self {
        CleanLines {
            out,
            line: Vec::new(),
        }
    }

    fn write_line(&mut self) -> io::Result<()> {
        let line = String::from_utf8_lossy(&self.line);
        for line in text::wrap(&line, None) {
            writeln!(self.out, "{line}")?;
        }
        self.line.clear();
        Ok(())
    }
}

impl Write for CleanLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.write_line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_line()
    }
}
