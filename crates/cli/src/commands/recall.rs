//! `icm recall`

use clap::Args;
use icm_server::api::{RecallAnswer, RecallRequest};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::ui::{DIM, Ui};
use crate::{memory_view, text, when};

/// Search the memories, best match first
///
/// The recall itself is recorded in the log: what was asked and what was shown. Exits with 1 when
/// nothing is found.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm recall where do invoices live
  icm recall retry policy -t payments/ --at yesterday")]
pub(crate) struct RecallArgs {
    /// Words to look for; quotes are not needed
    #[arg(required = true)]
    query: Vec<String>,
    /// Only this topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: Option<String>,
    /// Only memories with this keyword
    #[arg(short, long, value_name = "WORD")]
    keyword: Option<String>,
    /// Only this scope: `global`, `project:ID` or `session:ID`
    #[arg(long)]
    scope: Option<String>,
    /// How many results, 1 to 1000 [default: 10]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: Option<u16>,
    /// As this machine knew at that time; also a position (`@123`) or an event id
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Only what was recorded by that time, among all that is known
    #[arg(long, value_name = "TIME")]
    happened_by: Option<String>,
    /// As another machine knew (not before sync)
    #[arg(long = "as", value_name = "ORIGIN")]
    as_origin: Option<String>,
    /// Say how each result came to its place
    #[arg(long)]
    explain: bool,
    /// Leave no trace of this recall in the log
    #[arg(long)]
    no_record: bool,
}

pub(crate) fn run(args: RecallArgs, app: &App) -> Result<Outcome, CliError> {
    if args.as_origin.is_some() {
        return Err(CliError::invalid("`--as` is not supported before sync")
            .with_hint("leave it out to ask what this machine knows"));
    }
    let limit = args.limit.map(usize::from).or(app.config.recall_limit);
    let request = RecallRequest {
        query: query(&args.query)?,
        topic: args.topic,
        keyword: args.keyword,
        scope: args.scope,
        limit,
        at: args.at,
        happened_by: args.happened_by,
        record: !args.no_record && app.config.recall_record.unwrap_or(true),
        explain: args.explain,
    };

    let answer = app.service()?.recall(&app.caller()?, &request)?;

    print(&app.ui, &answer)
}

/// The words as one query.
pub(crate) fn query(words: &[String]) -> Result<String, CliError> {
    let query = words.join(" ");
    if query.trim().is_empty() {
        return Err(CliError::invalid("the query is empty")
            .with_hint("name some words, or see everything with `icm list`"));
    }
    Ok(query)
}

/// Writes the answer; one without results is a no.
pub(crate) fn print(ui: &Ui, answer: &RecallAnswer) -> Result<Outcome, CliError> {
    let outcome = if answer.results.is_empty() {
        Outcome::No
    } else {
        Outcome::Fine
    };
    if ui.json {
        ui.json(answer)?;
        return Ok(outcome);
    }
    for (i, hit) in answer.results.iter().enumerate() {
        if i > 0 {
            ui.line(format_args!(""))?;
        }
        let extra = if hit.matched.is_empty() {
            String::new()
        } else {
            let words = text::one_line(&hit.matched.join(", "));
            format!("matched {words}")
        };
        memory_view::print(ui, &hit.memory, &extra)?;
    }
    if let Some(explain) = &answer.explain {
        print_explain(ui, explain)?;
    }
    if answer.results.is_empty() {
        ui.remark(format_args!("nothing found {}", basis(ui, answer)));
    } else {
        ui.remark(format_args!(
            "{} found {}",
            answer.results.len(),
            basis(ui, answer)
        ));
    }
    Ok(outcome)
}

fn basis(ui: &Ui, answer: &RecallAnswer) -> String {
    let basis = &answer.basis;
    if basis.position == 0 {
        return "in an empty store".into();
    }
    ui.paint(
        DIM,
        &format!(
            "as of @{} ({})",
            basis.position,
            when::ago(ui.now, &basis.at)
        ),
    )
}

fn print_explain(ui: &Ui, explain: &serde_json::Value) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(explain).unwrap_or_default();
    ui.line(format_args!(""))?;
    for line in text::wrap(&text, None) {
        ui.line(format_args!("{}", ui.paint(DIM, &line)))?;
    }
    Ok(())
}
