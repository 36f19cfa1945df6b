//! `icm recall-context`

use clap::{Args, ValueEnum};
use icm_api::{ContextRequest, RecallRequest};

use crate::app::App;
use crate::commands::recall;
use crate::error::{CliError, Outcome};
use crate::tag_args::TagArgs;
use crate::text;
use crate::values::{ImportanceArg, Results, share};

/// Recall memories as part of a prompt
///
/// Prints the results of a recall, best first, within a budget of tokens, between tags that mark them as stored data.
/// Superseded memories are left out; contradicting ones stand together. The recall is recorded with the shown memories.
/// Exits with 1 if nothing is found or nothing fits.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm recall-context how do we deploy
  icm recall-context how do we deploy -t ops/ --budget 400 --format markdown")]
pub(crate) struct RecallContextArgs {
    /// Words to search for; no quotes needed
    #[arg(required = true)]
    query: Vec<String>,
    /// Budget in tokens, 50 to 1000000; four bytes count as one token
    #[arg(long, value_name = "TOKENS", default_value_t = 1_000)]
    budget: usize,
    /// Format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Only this topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: Option<String>,
    #[command(flatten)]
    tags: TagArgs,
    /// Only memories of at least this importance
    #[arg(short, long, value_name = "IMPORTANCE", ignore_case = true)]
    importance: Option<ImportanceArg>,
    /// Memories seen from this scope; `all` for every scope [default: as for `icm recall`]
    #[arg(long)]
    scope: Option<String>,
    /// At most N memories, 1 to 1000 [default: 20]
    #[arg(short, long, value_name = "N")]
    limit: Option<Results>,
    /// As this machine knew at that time; also a position (`@123`) or an event id
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Least fit of a result, 0 to 1; 0 shows all [default: `ranking.floor` of the config file, else 0.2]
    #[arg(long, value_name = "FIT", value_parser = share, allow_negative_numbers = true)]
    floor: Option<f64>,
    /// Ignore links: neither reorder results nor add linked memories
    #[arg(long)]
    no_links: bool,
    /// Do not record this recall
    #[arg(long)]
    no_record: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// One line for each memory
    Text,
    /// A Markdown list
    Markdown,
}

pub(crate) fn run(args: RecallContextArgs, app: &App) -> Result<Outcome, CliError> {
    let caller = app.caller_here()?;
    let request = ContextRequest {
        recall: RecallRequest {
            query: recall::query(&args.query)?,
            topic: recall::given(args.topic),
            tags: args.tags.filter(),
            importance: args.importance.map(Into::into),
            scope: caller.scope(recall::given(args.scope))?,
            limit: args.limit.map(|limit| limit.within(&app.ui)),
            at: args.at,
            floor: args.floor,
            record: !args.no_record && app.config.recall.record,
            no_links: args.no_links,
            ..RecallRequest::default()
        },
        budget: args.budget,
        markdown: matches!(args.format, Format::Markdown),
    };

    let context = app.service()?.recall_context(&caller, &request)?;

    if let Some(note) = &context.note {
        app.ui.note(note);
    }
    if app.ui.json {
        app.ui.json(&context)?;
    } else if !context.text.is_empty() {
        app.ui.line(format_args!("{}", context.text))?;
    }
    if let Some(nearest) = &context.nearest {
        recall::remark(&app.ui, &recall::nothing_fits(nearest));
        return Ok(Outcome::No);
    }
    let shown = text::count(context.results.len() as u64, "memory", "memories");
    let scopes = recall::scopes(&context.scope);
    let left_out = match context.left_out {
        0 => String::new(),
        more => format!(", {more} more did not fit"),
    };
    let (tokens, budget) = (context.tokens, context.budget);
    let line = format!("{shown} in {tokens} of {budget} tokens, from {scopes}{left_out}");
    recall::remark(&app.ui, &line);
    Ok(match context.results.is_empty() {
        true => Outcome::No,
        false => Outcome::Fine,
    })
}
