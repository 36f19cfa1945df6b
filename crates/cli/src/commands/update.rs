//! `icm update`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::UpdateRequest;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::values::{ImportanceArg, words};
use crate::{input, memory_view};

/// Change a memory; fields that are not named are kept
///
/// The earlier text stays in the log: see `icm history`. A new value for a field in conflict (`icm conflicts`) settles
/// the conflict.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm update 01J9X4 -c 'Invoices live in PostgreSQL 17'
  icm update 01J9X4 --expires 'time 30d'
  icm update 01J9X4 -t payments/db -i high    # another topic and importance")]
pub(crate) struct UpdateArgs {
    /// Id or its beginning
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// The new text; `-` for stdin
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,
    /// New importance
    #[arg(short, long, value_name = "IMPORTANCE", ignore_case = true)]
    importance: Option<ImportanceArg>,
    /// New keywords, with commas or repeated; `-k ''` for none
    #[arg(
        short,
        long,
        visible_alias = "tag",
        value_name = "WORDS",
        value_delimiter = ','
    )]
    keywords: Option<Vec<String>>,
    /// Move it to this topic
    #[arg(short, long)]
    topic: Option<String>,
    /// Move it to this scope: `global`, `project:ID` or `session:ID`
    #[arg(long)]
    scope: Option<String>,
    /// New condition under which the memory expires, as for `icm store`
    #[arg(long, value_name = "CONDITION")]
    expires: Option<String>,
    /// Take the condition away
    #[arg(long, conflicts_with = "expires")]
    no_expires: bool,
    /// Makes a retry safe: the same id and change are written once
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// Write the text even if it looks like it contains a secret
    #[arg(long)]
    allow_secret: bool,
}

pub(crate) fn run(args: UpdateArgs, app: &App) -> Result<Outcome, CliError> {
    let named = args.content.is_some()
        || args.importance.is_some()
        || args.keywords.is_some()
        || args.topic.is_some()
        || args.scope.is_some()
        || args.expires.is_some()
        || args.no_expires;
    if !named {
        return Err(CliError::invalid("nothing to change is named")
            .with_hint("give at least one of `-c`, `-i`, `-k`, `-t`, `--scope` and `--expires`"));
    }
    let content = match args.content.as_deref() {
        Some(text) => Some(input::text_or_stdin(Some(text), "-c")?),
        None => None,
    };
    let request = UpdateRequest {
        id: args.id,
        content,
        importance: args.importance.map(Into::into),
        keywords: args.keywords.map(words),
        topic: args.topic,
        scope: app.scope(args.scope)?,
        trust: None,
        expires: match args.no_expires {
            true => Some(String::new()),
            false => app.condition(args.expires)?,
        },
        if_updated_at: None,
        request_id: args.request_id,
        allow_secret: args.allow_secret,
    };

    let receipt = app.service_to_ask()?.update(&app.caller()?, request)?;

    if app.ui.json {
        app.ui.json(&receipt)?;
    } else {
        memory_view::print_receipt(&app.ui, &receipt)?;
    }
    Ok(Outcome::Fine)
}
