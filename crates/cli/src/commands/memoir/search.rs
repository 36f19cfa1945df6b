//! `icm memoir search` and `search-all`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_server::api::ConceptSearchRequest;

use super::print_concept;
use crate::app::App;
use crate::args::Results;
use crate::error::{CliError, Outcome};
use crate::ui::BOLD;
use crate::when;

/// Search the concepts of one memoir
///
/// By words and by meaning, as `icm recall` does, and by label. A search is not recorded.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir search -m system 'payment records'
  icm memoir search -m system -L kind:data")]
pub(crate) struct SearchArgs {
    /// The memoir: name or id
    #[arg(short, long, value_parser = NonEmptyStringValueParser::new())]
    memoir: String,
    #[command(flatten)]
    what: WhatArgs,
}

/// Search the concepts of all memoirs
#[derive(Debug, Args)]
pub(crate) struct SearchAllArgs {
    #[command(flatten)]
    what: WhatArgs,
}

#[derive(Debug, Args)]
struct WhatArgs {
    /// What to look for; may be left out where a label is given
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Only concepts with this label
    #[arg(short = 'L', long)]
    label: Option<String>,
    /// How many at most, 1 to 1000 [default: 10]
    #[arg(short, long, value_name = "N")]
    limit: Option<Results>,
    /// The next page of the same search: what the page before said (`next` in JSON)
    #[arg(long, value_name = "PLACE", conflicts_with = "at")]
    after: Option<String>,
    /// As of a moment
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

pub(crate) fn in_one(args: SearchArgs, app: &App) -> Result<Outcome, CliError> {
    search(Some(args.memoir), args.what, app)
}

pub(crate) fn in_all(args: SearchAllArgs, app: &App) -> Result<Outcome, CliError> {
    search(None, args.what, app)
}

fn search(memoir: Option<String>, what: WhatArgs, app: &App) -> Result<Outcome, CliError> {
    let all = memoir.is_none();
    if what.label.is_none() && what.query.iter().all(|word| word.trim().is_empty()) {
        return Err(CliError::invalid("the query is empty")
            .with_hint("give words to look for, or a label with `-L LABEL`"));
    }
    let found = app.service()?.concept_search(&ConceptSearchRequest {
        query: what.query.join(" "),
        memoir,
        label: what.label,
        limit: what.limit.map(|limit| limit.within(&app.ui)),
        floor: None,
        after: what.after,
        at: what.at,
    })?;

    let ui = &app.ui;
    let outcome = match found.results.is_empty() {
        true => Outcome::No,
        false => Outcome::Fine,
    };
    if ui.json {
        ui.json(&found)?;
        return Ok(outcome);
    }
    for hit in &found.results {
        print_concept(ui, &hit.concept, all)?;
    }
    if let Some(note) = &found.note {
        ui.note(note);
    }
    let more = match &found.next {
        Some(next) => format!(", there are more: `--after {next}`"),
        None => String::new(),
    };
    ui.remark(format_args!(
        "{} found{more} as of {} ({})",
        found.offset + found.results.len(),
        ui.paint(BOLD, &format!("@{}", found.basis.position)),
        when::ago(ui.now, &found.basis.at),
    ));
    Ok(outcome)
}
