//! `icm import`

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use icm_api::{Caller, ImportReport, NoProgress, Progress};
use icm_service::{STDIN, Service};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::input::is_markdown;
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
    Markdown(MarkdownArgs),
}

/// Import JSON lines, one memory a line
///
/// A line has `topic` and `content`, and may have `key`, `importance`, `keywords`, `raw_excerpt`,
/// `occurred_at`, `scope`, `trust` (`external` where there is none), `source`, `metadata`, and the `id`, `created_at`
/// and `updated_at` that `icm export` wrote: those times are shown, while decay begins with the import. A `created_at`
/// without such an `id` becomes `occurred_at` where that is not given. The same topic and key with other content is an update, as is other content of a memory whose
/// `id` this store has. Importing the same file again adds nothing. Bad lines are named, the good ones are
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

/// Import Markdown, as `icm export markdown` writes it
///
/// A file begins with front matter that names the topic: a line `---`, a line `topic: NAME`, a line `---`. A memory is
/// a comment `<!-- icm`, its fields as `name: value` (YAML; those of `icm import jsonl`), `-->`, and its text below;
/// `***` alone on a line begins one without fields. Empty lines around a text are none of it. Other content of a memory with a key, or whose `id`
/// this store has, is an update; nothing else that was edited changes what is there, and what is gone from a file is not
/// forgotten. Importing the same again adds nothing. Bad parts are named, the good ones are kept, and the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm export markdown -o notes; $EDITOR notes/decisions.md; icm import markdown notes

A new memory at the end of a file:

  ***

  Prices are integer cents")]
struct MarkdownArgs {
    /// Files, or folders, of which every `.md` file is read, also further down; `-` for stdin
    #[arg(required = true, value_name = "FILE|FOLDER")]
    files: Vec<PathBuf>,
    /// Take memories even if they look like they hold a secret
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
    // Known where every file says how long it is.
    let mut total_bytes = Some(0);
    for path in &paths {
        let (input, len) = open(path)?;
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

/// [`Service::import_jsonl`] or another one.
type Import = fn(
    &Service,
    &Caller,
    Vec<(String, Box<dyn BufRead>)>,
    bool,
    &dyn Progress,
) -> icm_api::error::Result<ImportReport>;

/// The files, and in place of a folder its Markdown files, by name; nothing hidden.
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
        // A link to a folder may lead in a circle.
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
