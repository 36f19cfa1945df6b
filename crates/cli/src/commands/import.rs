//! `icm import`

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use icm_server::STDIN;
use icm_server::api::{ImportReport, NoProgress, Progress as _};

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
    /// Take lines even if they look like they hold a secret
    #[arg(long)]
    allow_secret: bool,
}

pub(crate) fn run(args: ImportArgs, app: &App) -> Result<Outcome, CliError> {
    let ImportCommand::Jsonl(args) = args.command;
    let mut files = Vec::new();
    // Known where every file says how long it is.
    let mut total_bytes = Some(0);
    for path in &args.files {
        let (input, len) = open(path)?;
        total_bytes = total_bytes.zip(len).map(|(sum, len)| sum + len);
        files.push((name_of(path), input));
    }

    let service = app.service()?;
    let caller = app.caller()?;
    let bar = Arc::new(Bar::new(&app.ui));
    let report = match total_bytes {
        None => service.import_jsonl(&caller, files, args.allow_secret, &*bar)?,
        Some(total) => {
            bar.start_bytes("importing", total);
            let counted = files.into_iter().map(|(name, input)| {
                let bar = Arc::clone(&bar);
                (name, Box::new(Counted { input, bar }) as Box<dyn BufRead>)
            });
            service.import_jsonl(&caller, counted.collect(), args.allow_secret, &NoProgress)?
        }
    };
    bar.finish();

    print(&report, app)
}

fn name_of(path: &Path) -> String {
    match path == Path::new("-") {
        true => STDIN.to_owned(),
        false => path.display().to_string(),
    }
}

/// A file to read, and its length where that is known.
fn open(path: &Path) -> Result<(Box<dyn BufRead>, Option<u64>), CliError> {
    if path == Path::new("-") {
        return Ok((Box::new(std::io::stdin().lock()), None));
    }
    let name = path.display();
    let failed = |e| CliError::io(format!("cannot read {name}"), &e);
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(
            CliError::invalid(format!("{name} is a folder")).with_hint("name the files in it")
        );
    }
    let len = metadata.is_file().then_some(metadata.len());
    Ok((Box::new(BufReader::with_capacity(64 * 1024, file)), len))
}

/// A file whose bytes are counted as they are read.
struct Counted {
    input: Box<dyn BufRead>,
    bar: Arc<Bar>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.bar.advance(read as u64);
        Ok(read)
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.bar.advance(bytes as u64);
        self.input.consume(bytes);
    }
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
        for warning in &report.warnings {
            app.ui.note(warning);
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
