//! `icm import`

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use icm_api::{Caller, ImportReport, NoProgress, Progress};
use icm_log::bundle::BUNDLE_MAGIC;
use icm_service::{STDIN, Service};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::input::is_markdown;
use crate::progress::Bar;
use crate::text;

/// Import memories from files
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm import jsonl memories.jsonl
  icm import markdown notes    # every `.md` file of the folder")]
pub(crate) struct ImportArgs {
    #[command(subcommand)]
    command: ImportCommand,
}

#[derive(Debug, Subcommand)]
enum ImportCommand {
    Jsonl(JsonlArgs),
    Markdown(MarkdownArgs),
}

/// Import JSON lines, one memory a line
///
/// A line has `topic` and `content`. It may have `key`, `importance`, `keywords`, `raw_excerpt`, `occurred_at`,
/// `scope`, `trust` (default: `external`), `source`, `metadata`, and the `id`, `created_at` and `updated_at` of `icm
/// export`. Both times are only for display; decay begins with the import. In a line without such an `id`, `created_at`
/// is used as `occurred_at`, unless the line has one. A line with a new text for a known topic and key, or for an `id`
/// of this store, is an update. Importing the same file again changes nothing. If there are bad lines, they are named,
/// the good lines are kept, and the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm import jsonl memories.jsonl
  icm export jsonl --db ~/old | icm import jsonl -")]
struct JsonlArgs {
    /// Files; `-` for stdin
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Import lines even if they look like they contain a secret
    #[arg(long)]
    allow_secret: bool,
}

/// Import Markdown, as `icm export markdown` writes it
///
/// A file begins with front matter that names the topic: a line `---`, a line `topic: NAME`, a line `---`. A memory is
/// a comment `<!-- icm`, its fields as `name: value` (YAML; the fields of `icm import jsonl`), `-->`, and its text
/// below. A line `***` begins a memory without fields. Empty lines around a text are ignored. A new text for a memory
/// with a key, or with an `id` of this store, is an update; other changes of known memories have no effect. A memory
/// that is missing in a file is not forgotten. Importing the same file again changes nothing. If there are bad parts,
/// they are named, the good parts are kept, and the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "\
A new memory at the end of a file:

  ***

  Prices are integer cents

Examples:
  icm import markdown notes
  icm export markdown -o notes; $EDITOR notes/decisions.md; icm import markdown notes")]
struct MarkdownArgs {
    /// Files, or folders with `.md` files at any depth; `-` for stdin
    #[arg(required = true, value_name = "FILE|FOLDER")]
    files: Vec<PathBuf>,
    /// Import memories even if they look like they contain a secret
    #[arg(long)]
    allow_secret: bool,
}

pub(crate) fn run(args: ImportArgs, app: &App) -> Result<Outcome, CliError> {
    let (paths, allow_secret, import): (_, _, Import) = match args.command {
        ImportCommand::Jsonl(args) => (
            args.files,
            args.allow_secret,
            Service::import_jsonl as Import,
        ),
        ImportCommand::Markdown(args) => {
            let files = markdown_files(args.files)?;
            (files, args.allow_secret, Service::import_markdown)
        }
    };
    let mut files = Vec::new();
    // The total is known only if every length is known.
    let mut total_bytes = Some(0);
    for path in &paths {
        let (mut input, len) = open(path)?;
        refuse_events(&mut *input, path)?;
        total_bytes = total_bytes.zip(len).map(|(sum, len)| sum + len);
        files.push((name_of(path), input));
    }

    let service = app.service()?;
    let caller = app.caller()?;
    let bar = Arc::new(Bar::new(&app.ui));
    let report = match total_bytes {
        None => import(service, &caller, files, allow_secret, &*bar)?,
        Some(total) => {
            bar.start_bytes("importing", total);
            let counted = files.into_iter().map(|(name, input)| {
                let bar = Arc::clone(&bar);
                (name, Box::new(Counted { input, bar }) as Box<dyn BufRead>)
            });
            import(
                service,
                &caller,
                counted.collect(),
                allow_secret,
                &NoProgress,
            )?
        }
    };
    bar.finish();

    print(&report, app)
}

/// An import of the service, such as [`Service::import_jsonl`].
type Import = fn(
    &Service,
    &Caller,
    Vec<(String, Box<dyn BufRead>)>,
    bool,
    &dyn Progress,
) -> icm_api::error::Result<ImportReport>;

/// Returns the files; a folder is replaced by its Markdown files, sorted by name, without hidden ones.
fn markdown_files(paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path);
            continue;
        }
        let before = files.len();
        below(&path, &mut files)?;
        if files.len() == before {
            let name = path.display();
            return Err(
                CliError::invalid(format!("{name} has no Markdown file in it"))
                    .with_hint("name a folder with files that end in `.md`"),
            );
        }
    }
    Ok(files)
}

fn below(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let failed = |e| CliError::io(format!("cannot read {}", folder.display()), &e);
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let mut entries = entries.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, hidden) = (
            entry.path(),
            entry.file_name().as_encoded_bytes().starts_with(b"."),
        );
        // Links to folders are not followed: they may form a circle.
        let is_folder = entry.file_type().map_err(failed)?.is_dir();
        match (hidden, is_folder) {
            (true, _) => {}
            (false, true) => below(&path, files)?,
            (false, false) if is_markdown(&path) && path.is_file() => files.push(path),
            (false, false) => {}
        }
    }
    Ok(())
}

fn name_of(path: &Path) -> String {
    match path == Path::new("-") {
        true => STDIN.to_owned(),
        false => path.display().to_string(),
    }
}

/// Opens a file, and returns its length if known.
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

/// Refuses a file of `icm log export`, which holds events. An error in reading is left to the import.
fn refuse_events(input: &mut dyn BufRead, path: &Path) -> Result<(), CliError> {
    let start = input.fill_buf().unwrap_or_default();
    if !start.starts_with(&BUNDLE_MAGIC) {
        return Ok(());
    }
    let name = name_of(path);
    Err(
        CliError::invalid(format!("{name} holds events of a log, not memories")).with_hint(
            format!("take them in with `icm log import {}`", path.display()),
        ),
    )
}

/// An input whose bytes are counted as they are read.
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
