//! `icm recall-context`

use clap::{Args, ValueEnum};
use icm_api::{ContextRequest, RecallRequest};

use crate::app::App;
use crate::commands::recall;
use crate::error::{CliError, Outcome};
use crate::text;
use crate::values::{ImportanceArg, Results, share};

/// Recall memories as part of a prompt
///
/// Prints what a recall finds, best first, within a budget of tokens, between tags that mark it as
/// stored data. What is superseded is left out; what contradicts one another stands together. The recall
/// is recorded with what is shown. Exits with 1 when there is nothing to show, or nothing fits.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm recall-context how do we deploy
  icm recall-context how do we deploy -t ops/ --budget 400 --format markdown")]
pub(crate) struct RecallContextArgs {
    /// Words to look for; quotes are not needed
    #[arg(required = true)]
    query: Vec<String>,
    /// Tokens that the text may have, 50 to 1000000; four bytes are counted as one
    #[arg(long, value_name = "TOKENS", default_value_t = 1_000)]
    budget: usize,
    /// How the memories are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Only this topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: Option<String>,
    /// Only memories with this keyword
    #[arg(short, long, value_name = "WORD")]
    keyword: Option<String>,
    /// Only memories at least so important
    #[arg(short, long, value_name = "IMPORTANCE", ignore_case = true)]
    importance: Option<ImportanceArg>,
    /// What is seen from this scope, `all` for everything [default: what is seen from here]
    #[arg(long)]
    scope: Option<String>,
    /// How many memories at most, 1 to 1000 [default: 20]
    #[arg(short, long, value_name = "N")]
    limit: Option<Results>,
    /// As this machine knew at that time; also a position (`@123`) or an event id
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Least fit of a result, 0 to 1; 0 shows everything [default: `ranking.floor` of the config file, else 0.2]
    #[arg(long, value_name = "FIT", value_parser = share, allow_negative_numbers = true)]
    floor: Option<f64>,
    /// Leave links alone: neither order by them nor add what they lead to
    #[arg(long)]
    no_links: bool,
    /// Leave no trace of this recall in the log
    #[arg(long)]
    no_record: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// A line each
    Text,
    /// A list
    Markdown,
}

pub(crate) fn run(args: RecallContextArgs, app: &App) -> Result<Outcome, CliError> {
    let caller = app.caller_here()?;
    let request = ContextRequest {
        recall: RecallRequest {
            query: recall::query(&args.query)?,
            topic: recall::given(args.topic),
            keyword: recall::given(args.keyword),
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
