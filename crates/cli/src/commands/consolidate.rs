//! `icm consolidate`

use clap::Args;
use icm_server::api::{ConsolidateRequest, Trust};

use crate::app::App;
use crate::args::{ImportanceArg, words};
use crate::error::{CliError, Outcome};
use crate::text::count;
use crate::ui::DIM;
use crate::{input, memory_view};

/// Store one summary in place of the memories of a topic
///
/// The originals are no longer recalled, but nothing is lost: they stay in history, are recalled
/// `--at` any moment before, and `icm undo --last 1` or `icm revive` brings them back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm consolidate -t standup --summary 'The team meets on Tuesdays at ten'
  icm list -t standup --all | my-summarizer | icm consolidate -t standup --summary -")]
pub(crate) struct ConsolidateArgs {
    /// The topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: String,
    /// The summary, at most 64 KiB; `-` for stdin
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    summary: String,
    /// Only memories of this scope, which is the summary's then: `global`, `project:ID`, `session:ID`
    #[arg(long)]
    scope: Option<String>,
    /// How much it matters [default: the highest of the originals]
    #[arg(short, long, value_name = "IMPORTANCE")]
    importance: Option<ImportanceArg>,
    /// Keywords, with commas or repeated [default: those of the originals]
    #[arg(short, long, value_name = "WORDS", value_delimiter = ',')]
    keywords: Vec<String>,
    /// Leave the originals as they are
    #[arg(long)]
    keep_originals: bool,
    /// Store it even if something in it looks like a secret
    #[arg(long)]
    allow_secret: bool,
}

pub(crate) fn run(args: ConsolidateArgs, app: &App) -> Result<Outcome, CliError> {
    let caller = app.caller()?;
    let by_agent = caller.actor.starts_with("agent:");
    let request = ConsolidateRequest {
        topic: args.topic,
        summary: input::text_or_stdin(Some(&args.summary), "--summary")?,
        importance: args.importance.map(Into::into),
        keywords: words(args.keywords),
        scope: args.scope,
        keep_originals: args.keep_originals,
        allow_secret: args.allow_secret,
        trust: if by_agent { Trust::Agent } else { Trust::User },
        request_id: None,
    };
    let done = app.service()?.consolidate(&caller, &request)?;
    if app.ui.json {
        app.ui.json(&done)?;
        return Ok(Outcome::Fine);
    }
    memory_view::print_receipt(&app.ui, &done.receipt)?;
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
