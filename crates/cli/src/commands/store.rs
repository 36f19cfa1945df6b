//! `icm store`

use clap::Args;
use icm_api::{Source, StoreRequest, Trust};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::values::{ImportanceArg, words};
use crate::{input, memory_view};

/// Store a memory
///
/// If a memory with this topic and key exists, it gets the new text; the same text changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm store -t decisions -c 'Invoices live in PostgreSQL' -i high -k billing,database
  icm store -t meetings -c 'The demo is on Thursday' --expires 'time 7d'
  git log -1 --format=%B | icm store -t commits --key head -c -")]
pub(crate) struct StoreArgs {
    /// The topic, for instance `decisions` or `api/errors`
    #[arg(short, long)]
    topic: String,
    /// The text, at most 64 KiB; `-` reads stdin. Without this option, a pipe on stdin is read. One line end at the end
    /// of stdin is removed
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,
    /// Importance [default: medium]
    #[arg(short, long, value_name = "IMPORTANCE", ignore_case = true)]
    importance: Option<ImportanceArg>,
    /// Keywords, with commas or repeated
    #[arg(
        short,
        long,
        visible_alias = "tag",
        value_name = "WORDS",
        value_delimiter = ','
    )]
    keywords: Vec<String>,
    /// Verbatim text behind the content
    #[arg(short, long, value_name = "TEXT")]
    raw: Option<String>,
    /// Scope that sees the memory: `global`, `project:ID` or `session:PARENT/CHILD`; `project` and `session` alone mean
    /// your own [default: global]
    #[arg(long)]
    scope: Option<String>,
    /// Your own id of the memory within the topic
    #[arg(long)]
    key: Option<String>,
    /// Show the memory only for `time 30d`, or until `time tomorrow 9:00` or `time 2026-12-24`; for `usage 3` recalls;
    /// while a file is there (`file-exists PATH`) or unchanged (`file-pristine PATH`); in a
    /// `period 2026-01-01..2026-02-01`, or `period mon-fri 09:00-17:00`
    #[arg(long, value_name = "CONDITION")]
    expires: Option<String>,
    /// Time of the event, if not now
    #[arg(long, value_name = "TIME")]
    occurred_at: Option<String>,
    /// The agent that it comes from, for instance `claude-code`
    #[arg(long, value_name = "AGENT")]
    source: Option<String>,
    /// A JSON object to keep with the memory
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// Makes a retry safe: the same id and content are stored once
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// Store the text even if it looks like it contains a secret
    #[arg(long)]
    allow_secret: bool,
}

pub(crate) fn run(args: StoreArgs, app: &App) -> Result<Outcome, CliError> {
    let caller = app.caller()?;
    let metadata = args.metadata.as_deref().map(json_object).transpose()?;
    let by_agent = args.source.is_some() || caller.actor.starts_with("agent:");
    let request = StoreRequest {
        content: input::text_or_stdin(args.content.as_deref(), "-c")?,
        topic: args.topic,
        importance: args.importance.map(Into::into),
        keywords: words(args.keywords),
        raw_excerpt: args.raw,
        key: args.key,
        occurred_at: args.occurred_at,
        source: Source {
            agent: args.source,
            ..Source::default()
        },
        metadata,
        scope: app.scope(args.scope)?,
        expires: app.condition(args.expires)?,
        trust: if by_agent { Trust::Agent } else { Trust::User },
        request_id: args.request_id,
        allow_secret: args.allow_secret,
    };

    let content = request.content.clone();
    let receipt = app.service_to_ask()?.store(&caller, request)?;

    if app.ui.json {
        app.ui.json(&receipt)?;
    } else {
        memory_view::print_stored(&app.ui, &receipt, &content)?;
    }
    Ok(Outcome::Fine)
}

/// A metadata object, for the hints of errors.
const EXAMPLE: &str = "for example `--metadata '{\"ticket\": 17}'`";

fn json_object(text: &str) -> Result<serde_json::Value, CliError> {
    let value = icm_guard::json::parse(text)
        .map_err(|why| CliError::invalid(format!("`--metadata`: {why}")).with_hint(EXAMPLE))?;
    if !value.is_object() {
        return Err(CliError::invalid("`--metadata` is not a JSON object").with_hint(EXAMPLE));
    }
    Ok(value)
}
