//! `icm extract`

mod by_command;
pub(crate) mod keep;
mod material;

use std::path::{Path, PathBuf};

use clap::Args;
use icm_api::limits;
use icm_extract::read_offsets::{FILE_NAME, ReadOffsets};
use icm_extract::{Found, Progress, Rules};
use serde::Serialize;

use self::keep::{By, Candidate, Destination, Fate, Judged, Run};
use self::material::Material;
use crate::app::App;
use crate::columns::{self, Cell};
use crate::error::{CliError, Outcome};
use crate::text::{self, count};
use crate::ui::{BAD, DIM, GOOD, PLAIN};
use crate::values::how_many;

/// Find the sentences of a text that are worth keeping, and store them
///
/// Rules find decisions, causes of errors, conventions and facts about how things are built, sentence by sentence.
/// Questions, guesses, code and reports of progress are left out. A stored sentence has trust `external` and importance
/// `medium` at most, until `icm review` keeps it. A sentence is skipped if a memory of any topic, seen from the scope,
/// says the same. No existing memory is changed. `icm undo --last 1` takes a run back.
///
/// A file may be plain text, Markdown, a transcript of Claude Code, Codex, Gemini CLI, Qwen Code or Copilot CLI, or the
/// `conversations.json` of ChatGPT's export. A run reads only the part of a transcript that is new since the last run.
/// Text that a memory server injected is skipped.
#[derive(Debug, Args)]
#[command(after_help = "\
With `[extractor] command` in the config file a program finds the memories instead of the rules. It
gets the text on stdin, framed as data, and writes JSON lines:
{\"text\": …, \"importance\": \"low\"|\"medium\", \"topic\": …, \"keywords\": […]}

Examples:
  icm extract -t notes meeting.md --dry-run
  git log -20 --format=%B | icm extract -t commits
  icm extract -t sessions ~/.claude/projects/-work-app/6f1c.jsonl --scope project")]
pub(crate) struct ExtractArgs {
    /// The text; `-` or no file for stdin
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The topic of the new memories
    #[arg(short, long)]
    topic: String,
    /// The scope: `global`, `project:ID` or `session:ID`; `project` and `session` alone stand for your own [default:
    /// global]
    #[arg(long)]
    scope: Option<String>,
    /// Only show what would be stored, with scores and reasons
    #[arg(long)]
    dry_run: bool,
    /// Least score of a sentence; a higher one finds fewer, surer sentences
    #[arg(long, value_name = "N", default_value_t = Rules::default().threshold,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    min_score: u32,
    /// At most N sentences, the best ones [default: 50]
    #[arg(short, long, value_name = "N", value_parser = how_many)]
    limit: Option<u32>,
    /// Also read the output of tools
    #[arg(long)]
    tool_output: bool,
    /// Read a transcript from its beginning, not from the end of the last run
    #[arg(long)]
    again: bool,
    /// Use rules, even with a configured command
    #[arg(long)]
    rules: bool,
}

/// The forms of conversations that are known, for messages.
const KNOWN_FORMS: &str = "transcripts of Claude Code, Codex, Gemini CLI, Qwen Code and Copilot CLI, ChatGPT's \
                           conversations.json, text with `User:` and `Assistant:`";

/// The answer as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    topic: &'a str,
    from: &'a str,
    by: &'static str,
    dry_run: bool,
    stored: usize,
    skipped: usize,
    rejected: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<Read>,
    found: &'a [Judged],
}

/// The part of a transcript that was read.
#[derive(Serialize, Clone, Copy)]
struct Read {
    first_line: u64,
    lines: u64,
    messages: u64,
    not_understood: u64,
    /// `true` if a part is left for the next run.
    more: bool,
}

pub(crate) fn run(args: ExtractArgs, app: &App) -> Result<Outcome, CliError> {
    let topic = limits::topic(&args.topic)?;
    let destination = Destination {
        topic,
        scope: app.scope(args.scope.clone())?,
    };
    let rules = Rules {
        threshold: args.min_score,
        max: args
            .limit
            .map_or(Rules::default().max, |limit| limit as usize),
        tool_output: args.tool_output,
    };
    let command = app.config.extractor().filter(|_| !args.rules);
    let path = args.file.as_deref().filter(|path| *path != Path::new("-"));
    let offsets = app.db()?.0.join("cache").join(FILE_NAME);
    let material = Material::open(path, app)?;
    let known = path.and_then(|path| read_before(&offsets, path, args.again));

    let (candidates, by, progress, more) = match &command {
        None => {
            let (found, progress) = material.found(known.clone(), &rules)?;
            let candidate = |found: Found| Ok(Candidate::by_rules(found, &destination.topic));
            let candidates = found.into_iter().map(candidate).collect();
            (candidates, By::Rules, progress, false)
        }
        Some(command) => {
            let (passages, progress, more) = material.passages(known.clone(), &rules)?;
            let candidates =
                by_command::candidates(command, &passages, &destination.topic, rules.max)?;
            (candidates, By::Command, progress, more)
        }
    };
    let read = progress
        .as_ref()
        .map(|now| read_since(known.as_ref(), now, more));

    let unknown = match &progress {
        Some(progress) => progress.messages == 0,
        None => by == By::Rules && candidates.is_empty() && material.is_json_text(),
    };

    let service = app.service()?;
    let run = Run {
        service,
        caller: &app.caller()?,
        destination: &destination,
        from: &material.name,
        by,
        secrets: &app.config.secrets()?,
    };
    let judged = keep::keep(&run, candidates, args.dry_run)?;
    if let (Some(path), Some(progress), false) = (path, progress, args.dry_run)
        && service.is_there()
        && let Ok(path) = path.canonicalize()
    {
        // Without this note the transcript is read again, and known sentences are skipped.
        if let Err(error) = ReadOffsets::note(&offsets, &path, progress) {
            app.ui
                .note(&format!("cannot write {}: {error}", offsets.display()));
        }
    }
    print(&judged, &args, &run, (read, unknown), app)
}

/// Returns the progress of earlier runs on a transcript.
fn read_before(offsets: &Path, path: &Path, again: bool) -> Option<Progress> {
    let path = path.canonicalize().ok().filter(|_| !again)?;
    ReadOffsets::read(offsets).get(&path).cloned()
}

/// Returns the part of a transcript that this run read.
fn read_since(before: Option<&Progress>, now: &Progress, more: bool) -> Read {
    // A file that was written anew has fewer bytes or messages than before.
    let before =
        before.filter(|before| before.offset <= now.offset && before.messages <= now.messages);
    let since = |of: fn(&Progress) -> u64| of(now).saturating_sub(before.map_or(0, of));
    Read {
        first_line: before.map_or(0, |before| before.lines) + 1,
        lines: since(|it| it.lines),
        messages: since(|it| it.messages),
        not_understood: since(|it| it.skipped),
        more,
    }
}

fn print(
    judged: &[Judged],
    args: &ExtractArgs,
    run: &Run<'_>,
    (read, unknown): (Option<Read>, bool),
    app: &App,
) -> Result<Outcome, CliError> {
    let from = run.from;
    let of = |fate: Fate| judged.iter().filter(|it| it.fate == fate).count();
    let (stored, skipped, rejected) = (of(Fate::Stored), of(Fate::Skipped), of(Fate::Rejected));
    if app.ui.json {
        app.ui.json(&Answer {
            topic: &run.destination.topic,
            from: run.from,
            by: run.by.name(),
            dry_run: args.dry_run,
            stored,
            skipped,
            rejected,
            read,
            found: judged,
        })?;
    } else {
        print_table(judged, args.dry_run, app)?;
        let would = if args.dry_run {
            "would be stored"
        } else {
            "stored"
        };
        app.ui.line(format_args!(
            "{stored} {would}, {skipped} skipped, {rejected} rejected"
        ))?;
        if stored > 0 && !args.dry_run {
            app.ui.remark(format_args!(
                "{}",
                app.ui
                    .paint(DIM, "`icm review` goes through the stored memories")
            ));
        }
    }
    if unknown {
        app.ui.note(&format!(
            "{from} has no message in a form that icm knows; known are {KNOWN_FORMS}"
        ));
    } else if let Some(read) = read.filter(|read| read.not_understood > 0) {
        let lines = count(read.not_understood, "line", "lines");
        app.ui.note(&format!(
            "skipped {lines} of {from} of a form that icm does not know"
        ));
    }
    let nothing_new = |read: &Read| read.lines == 0 && read.messages == 0 && !unknown;
    if let Some(read) = read.filter(nothing_new) {
        // A document has no lines.
        let since = match read.first_line {
            1 => "the last run".to_owned(),
            line => format!("line {}", line - 1),
        };
        app.ui.note(&format!(
            "nothing new in {from} since {since}; `--again` reads it from the start"
        ));
    }
    if read.is_some_and(|read| read.more) {
        app.ui
            .note(&format!("more of {from} is left: run this again"));
    }
    for warning in judged
        .iter()
        .filter(|it| it.fate == Fate::Stored)
        .filter_map(|it| it.why.as_ref())
    {
        app.ui.note(warning);
    }
    Ok(match rejected > 0 || unknown {
        true => Outcome::No,
        false => Outcome::Fine,
    })
}

/// Prints a row for each sentence, and below it the reason why it is not stored.
fn print_table(judged: &[Judged], dry_run: bool, app: &App) -> Result<(), CliError> {
    let ui = &app.ui;
    let mut rows: Vec<Vec<Cell>> = judged
        .iter()
        .map(|it| {
            let (word, style) = match it.fate {
                Fate::Stored if dry_run => ("store", GOOD),
                Fate::Stored => ("stored", GOOD),
                Fate::Skipped => ("skipped", DIM),
                Fate::Rejected => ("rejected", BAD),
            };
            let line = it.line.map_or(String::new(), |line| format!("line {line}"));
            let score = it.score.map_or(String::new(), |score| score.to_string());
            vec![
                Cell::new(word).style(style),
                Cell::new(score).right(),
                Cell::new(it.importance.name()).style(DIM),
                Cell::new(line).style(DIM),
                Cell::new(it.signals.join(" ")).style(DIM).at_most(40),
                Cell::new(&it.text).style(if it.fate == Fate::Skipped { DIM } else { PLAIN }),
            ]
        })
        .collect();
    columns::fit(
        ui,
        &mut rows,
        &[
            columns::Step::Drop(2),
            columns::Step::Cut(4, 20),
            columns::Step::Drop(4),
            columns::Step::Drop(3),
        ],
    );
    let mut widths: Vec<usize> = Vec::new();
    for row in &rows {
        for (at, cell) in row.iter().enumerate() {
            match widths.get_mut(at) {
                Some(wide) => *wide = cell.width().max(*wide),
                None => widths.push(cell.width()),
            }
        }
    }
    for (row, it) in rows.iter().zip(judged) {
        columns::print_row(ui, row, &widths)?;
        if let Some(why) = it.why.as_ref().filter(|_| it.fate != Fate::Stored) {
            ui.line(format_args!("  {}", ui.paint(DIM, &text::one_line(why))))?;
        }
    }
    Ok(())
}
