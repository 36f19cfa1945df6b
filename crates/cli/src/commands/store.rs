//! `icm store`

use clap::Args;
use icm_api::{Source, StoreRequest, Trust};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::values::{ImportanceArg, words};
use crate::{input, memory_view};

/// Store a memory
///
/// The same topic and key again update the memory instead of adding one; the same content under
/// them changes nothing.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm store -t decisions -c 'Invoices live in PostgreSQL' -i high -k billing,database
  git log -1 --format=%B | icm store -t commits --key head -c -")]
pub(crate) struct StoreArgs {
    /// The topic it belongs to, for instance `decisions` or `api/errors`
    #[arg(short, long)]
    topic: String,
    /// The text, at most 64 KiB; `-` for stdin, which is also read when this is missing and
    /// something is piped in. One line end at the end of stdin is cut off
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,
    /// How much it matters [default: medium]
    #[arg(short, long, value_name = "IMPORTANCE", ignore_case = true)]
    importance: Option<ImportanceArg>,
    /// Keywords, with commas or repeated
    #[arg(short, long, value_name = "WORDS", value_delimiter = ',')]
    keywords: Vec<String>,
    /// Verbatim text that the content was made from
    #[arg(short, long, value_name = "TEXT")]
    raw: Option<String>,
    /// Who may see it: `global`, `project:ID` or `session:PARENT/CHILD`; `project` and `session` alone
    /// stand for those that you are in [default: global]
    #[arg(long)]
    scope: Option<String>,
    /// Your own stable id for it within the topic
    #[arg(long)]
    key: Option<String>,
    /// When it happened, if not now
    #[arg(long, value_name = "TIME")]
    occurred_at: Option<String>,
    /// The agent it comes from, for instance `claude-code`
    #[arg(long, value_name = "AGENT")]
    source: Option<String>,
    /// A JSON object to keep with it
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// Makes a retry safe: the same id and content are stored once
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// Store it even if it looks like it holds a secret
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
        trust: if by_agent { Trust::Agent } else { Trust::User },
        request_id: args.request_id,
        allow_secret: args.allow_secret,
    };

    let receipt = app.service_to_ask()?.store(&caller, request)?;

    if app.ui.json {
        app.ui.json(&receipt)?;
    } else {
        memory_view::print_receipt(&app.ui, &receipt)?;
    }
    Ok(Outcome::Fine)
}

fn json_object(text: &str) -> Result<serde_json::Value, CliError> {
    let value = icm_guard::json::parse(text)
        .map_err(|why| CliError::invalid(format!("`--metadata`: {why}")))?;
    if !value.is_object() {
        return Err(CliError::invalid("`--metadata` is not a JSON object")
            .with_hint("for example `--metadata '{\"ticket\": 17}'`"));
    }
    Ok(value)
}
