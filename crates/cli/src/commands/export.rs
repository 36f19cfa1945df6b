//! `icm export`

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use icm_service::Service;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::input::is_markdown;
use crate::output::{Readers, TerminalLines, outside_store, write_file};
use crate::text;

/// Export memories
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm export jsonl -o memories.jsonl
  icm export markdown -o notes    # a file for each topic")]
pub(crate) struct ExportArgs {
    #[command(subcommand)]
    command: ExportCommand,
}

#[derive(Debug, Subcommand)]
enum ExportCommand {
    Jsonl(JsonlArgs),
    Markdown(MarkdownArgs),
}

/// Write JSON lines, one memory a line, oldest first
///
/// `icm import jsonl` reads the lines into this or another store, with every field except the id: each store gives its
/// own. `created_at` and `updated_at` are kept for display; decay begins with the import. Memories with withheld text,
/// links, history and memoirs are left out: `icm log export` writes everything.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm export jsonl -o memories.jsonl
  icm export jsonl --at yesterday | jq -r .topic | sort | uniq -c")]
struct JsonlArgs {
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Write to this file instead of stdout; replaced only when complete
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Write Markdown to read and edit: a file for each topic, or one document
///
/// `icm import markdown` reads it again. A file begins with front matter that names the topic. Each memory has its
/// fields in a comment, `<!-- icm … -->`, and its text below. Without `-o` one document goes to stdout.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm export markdown -o notes                      # a file for each topic
  icm export markdown --at 2026-03-01 -o then.md    # one document")]
struct MarkdownArgs {
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// A folder for the files, made if absent; or, for one document, a name that ends in `.md`. Existing files of the
    /// same names are replaced
    #[arg(short, long, value_name = "FOLDER|FILE.md")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Jsonl,
    Markdown,
}

/// The destination of an export.
enum Target {
    Stdout,
    File(PathBuf),
    Folder(PathBuf),
}

pub(crate) fn run(args: ExportArgs, app: &App) -> Result<Outcome, CliError> {
    let (format, at, output) = match args.command {
        ExportCommand::Jsonl(args) => (Format::Jsonl, args.at, args.output),
        ExportCommand::Markdown(args) => (Format::Markdown, args.at, args.output),
    };
    let target = match (output, format) {
        (None, _) => Target::Stdout,
        (Some(path), _) if path == Path::new("-") => Target::Stdout,
        (Some(path), Format::Markdown) if is_for_folder(&path) => Target::Folder(path),
        (Some(path), Format::Markdown) if path.is_file() && !is_markdown(&path) => {
            return Err(
                CliError::invalid(format!("{} is a file of another kind", path.display()))
                    .with_hint("name a folder, or a file whose name ends in `.md`"),
            );
        }
        (Some(path), _) => Target::File(path),
    };
    if app.ui.json && matches!((&target, format), (Target::Stdout, Format::Markdown)) {
        return Err(CliError::invalid("Markdown cannot be printed as JSON")
            .with_hint("leave `--json` out, write with `-o FOLDER`, or use `icm export jsonl`"));
    }
    let service = app.service()?;
    let at = at.as_deref();

    let memories = match &target {
        Target::Folder(folder) => {
            let written = write_folder(service, folder, at, app)?;
            if app.ui.json {
                app.ui.json(&serde_json::json!({
                    "memories": written.memories,
                    "folder": folder.to_string_lossy(),
                    "files": written.files.len(),
                    "others": written.others,
                }))?;
            }
            if written.others > 0 {
                app.ui.remark(format_args!(
                    "{} in {} are not of this export",
                    text::count(
                        written.others,
                        "other Markdown file",
                        "other Markdown files"
                    ),
                    folder.display()
                ));
            }
            written.memories
        }
        Target::File(path) => {
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
        Target::Stdout if app.ui.is_terminal() => app.ui.with_writer(|out| {
            let mut shown = TerminalLines::new(out, format == Format::Jsonl);
            let memories = export(service, format, &mut shown, at)?;
            shown.flush().map_err(|e| CliError::output(&e))?;
            Ok::<_, CliError>(memories)
        })?,
        Target::Stdout => app.ui.with_writer(|out| export(service, format, out, at))?,
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

/// Returns `true` if a path is meant for a folder: an existing folder, or an absent name that does not end like a
/// Markdown file.
fn is_for_folder(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(there) => there.is_dir(),
        Err(_) => !is_markdown(path),
    }
}

struct WrittenFolder {
    memories: u64,
    files: BTreeSet<PathBuf>,
    /// Markdown files in the folder that this export did not write: of old topics, or not of icm.
    others: u64,
}

fn write_folder(
    service: &Service,
    folder: &Path,
    at: Option<&str>,
    app: &App,
) -> Result<WrittenFolder, CliError> {
    // The nearest existing folder of the path is checked; the rest will be made.
    let there = folder.ancestors().find(|path| path.is_dir());
    outside_store(&there.unwrap_or(Path::new(".")).join("x"), &app.db()?.0)?;
    let failed = |e| CliError::io(format!("cannot write {}", folder.display()), &e);
    let mut files = BTreeSet::new();
    let memories = service.export_markdown_files(at, &mut |name, write| {
        if files.is_empty() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let path = folder.join(name);
        write_file(&path, Readers::Usual, |out| Ok(write(out)?))?;
        files.insert(path);
        Ok::<_, CliError>(())
    })?;
    let mut others = 0;
    if let Ok(entries) = std::fs::read_dir(folder) {
        let paths = entries.flatten().map(|entry| entry.path());
        others = paths
            .filter(|path| is_markdown(path) && !files.contains(path))
            .count() as u64;
    }
    Ok(WrittenFolder {
        memories,
        files,
        others,
    })
}
