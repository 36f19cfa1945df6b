//! `icm consolidate`

use clap::Args;
use icm_api::Summarizer;
use icm_api::{ConsolidatePreview, ConsolidateRequest, MadeSummary, Summary, SummaryBy, Trust};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::text::{self, count};
use crate::ui::{DIM, TOPIC};
use crate::values::{ImportanceArg, words};
use crate::{input, memory_view};

/// Store one summary in place of the memories of a topic
///
/// The originals are no longer recalled, but nothing is lost: they stay in history, and a recall `--at` an earlier
/// moment finds them. `icm undo --last 1` or `icm revive` brings them back.
///
/// Without `--summary` the command of `[summarizer]` in the config file makes the summary, or rules do. Rules keep
/// whole sentences of the memories, up to 4 KiB, the most important and oldest first. They leave out repeated sentences
/// and superseded memories.
#[derive(Debug, Args)]
#[command(after_help = "\
A command reads the memories on stdin, framed as data, and writes the summary to stdout, at most
64 KiB. It runs in the platform's shell.

Examples:
  icm consolidate -t standup --summary 'The team meets on Tuesdays at ten'
  icm consolidate -t standup --rules --dry-run    # only shows the summary
  icm consolidate -t standup --command 'ollama run llama3.2'")]
pub(crate) struct ConsolidateArgs {
    /// The topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: String,
    /// The summary, at most 64 KiB; `-` for stdin
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    summary: Option<String>,
    /// Make the summary by rules, even with a configured command
    #[arg(long, conflicts_with = "summary")]
    rules: bool,
    /// Make the summary by this command
    #[arg(long, value_name = "CMD", conflicts_with_all = ["summary", "rules"])]
    command: Option<String>,
    /// Only memories of this scope, also the summary's scope: `global`, `project:ID`, `session:ID`
    #[arg(long)]
    scope: Option<String>,
    /// Importance [default: the highest of the originals]
    #[arg(short, long, value_name = "IMPORTANCE", ignore_case = true)]
    importance: Option<ImportanceArg>,
    /// Keywords, with commas or repeated [default: those of the originals]
    #[arg(
        short,
        long,
        visible_alias = "tag",
        value_name = "WORDS",
        value_delimiter = ','
    )]
    keywords: Vec<String>,
    /// Keep the originals as memories
    #[arg(long)]
    keep_originals: bool,
    /// Only show the summary and the number of its memories
    #[arg(long)]
    dry_run: bool,
    /// Store the summary even if it looks like it contains a secret
    #[arg(long)]
    allow_secret: bool,
}

pub(crate) fn run(args: ConsolidateArgs, app: &App) -> Result<Outcome, CliError> {
    let caller = app.caller()?;
    let by_agent = caller.actor.starts_with("agent:");
    let summary = match (&args.summary, args.command) {
        (Some(text), _) => input::text_or_stdin(Some(text), "--summary")?.into(),
        (None, Some(command)) if command.trim().is_empty() => {
            return Err(CliError::invalid("`--command` is empty")
                .with_hint("name a program that reads stdin, or give `--rules`"));
        }
        (None, Some(command)) => Summary::Command(Summarizer {
            command,
            timeout: app.config.summarizer_timeout(),
        }),
        (None, None) if args.rules => Summary::Rules,
        (None, None) => Summary::Configured,
    };
    let request = ConsolidateRequest {
        topic: args.topic,
        summary,
        importance: args.importance.map(Into::into),
        keywords: words(args.keywords),
        scope: app.scope(args.scope)?,
        keep_originals: args.keep_originals,
        allow_secret: args.allow_secret,
        trust: if by_agent { Trust::Agent } else { Trust::User },
        request_id: None,
    };
    if args.dry_run {
        let preview = app.service()?.consolidate_preview(&caller, &request)?;
        match app.ui.json {
            true => app.ui.json(&preview)?,
            false => print_preview(&preview, app)?,
        }
        return Ok(Outcome::Fine);
    }
    let done = app.service()?.consolidate(&caller, &request)?;
    if app.ui.json {
        app.ui.json(&done)?;
        return Ok(Outcome::Fine);
    }
    memory_view::print_receipt(&app.ui, &done.receipt)?;
    if let Some(made) = done.summary.filter(|made| made.by != SummaryBy::Given) {
        print_made(&made, app)?;
    }
    let originals = count(done.originals.len() as u64, "memory", "memories");
    let event = memory_view::short_event(&done.receipt.event);
    let fate = match request.keep_originals {
        true => "stay as they are".to_owned(),
        false => format!("are covered by it; `icm undo {event}` brings them back"),
    };
    app.ui.line(format_args!(
        "{}",
        app.ui.paint(DIM, &format!("{originals} {fate}"))
    ))?;
    Ok(Outcome::Fine)
}

fn print_preview(preview: &ConsolidatePreview, app: &App) -> Result<(), CliError> {
    app.ui.line(format_args!(
        "would stand for {} of {}:",
        count(preview.originals.len() as u64, "memory", "memories"),
        app.ui.paint(TOPIC, &text::one_line(&preview.topic)),
    ))?;
    print_made(&preview.summary, app)
}

/// Prints the summary and counts of the parts that were left out.
fn print_made(made: &MadeSummary, app: &App) -> Result<(), CliError> {
    for line in text::cleaned(&made.text).lines() {
        app.ui.line(format_args!("  {line}"))?;
    }
    let left_out = [
        (made.superseded, "superseded memory", "superseded memories"),
        (made.withheld, "withheld memory", "withheld memories"),
        (made.repeated, "repeated sentence", "repeated sentences"),
        (
            made.no_room,
            "sentence for which there was no room",
            "sentences for which there was no room",
        ),
    ];
    let left_out: Vec<String> = (left_out.into_iter())
        .filter(|(n, ..)| *n > 0)
        .map(|(n, one, many)| count(n, one, many))
        .collect();
    if !left_out.is_empty() {
        let said = format!("not in it: {}", left_out.join(", "));
        app.ui.line(format_args!("{}", app.ui.paint(DIM, &said)))?;
    }
    Ok(())
}
