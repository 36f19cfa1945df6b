//! `icm memoir search` and `search-all`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::{ConceptHit, ConceptSearchRequest};

use super::print_concept;
use crate::app::App;
use crate::commands::recall;
use crate::error::{CliError, Outcome};
use crate::ui::BOLD;
use crate::values::{Results, share};
use crate::{text, when};

/// Search the concepts of one memoir
///
/// Searches by words and meaning, as `icm recall`, and by label. A search is not recorded.
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
#[command(after_help = "\
Examples:
  icm memoir search-all 'payment records'
  icm memoir search-all -L kind:data    # every concept with this label")]
pub(crate) struct SearchAllArgs {
    #[command(flatten)]
    what: WhatArgs,
}

#[derive(Debug, Args)]
struct WhatArgs {
    /// Words to search for; may be left out with a label
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Only concepts with this label
    #[arg(short = 'L', long)]
    label: Option<String>,
    /// At most N, 1 to 1000 [default: 10]
    #[arg(short, long, value_name = "N")]
    limit: Option<Results>,
    /// Least fit of a concept, 0 to 1 [default: 0, which shows all]
    #[arg(long, value_name = "FIT", value_parser = share, allow_negative_numbers = true)]
    floor: Option<f64>,
    /// The next page of the same search: the place that the previous page named (`next` in JSON)
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
    let by_label = what.query.iter().all(|word| word.trim().is_empty());
    if what.label.is_none() && by_label {
        return Err(CliError::invalid("the query is empty")
            .with_hint("give words to look for, or a label with `-L LABEL`"));
    }
    let found = app.service()?.concept_search(&ConceptSearchRequest {
        query: what.query.join(" "),
        memoir,
        label: what.label,
        limit: what.limit.map(|limit| limit.within(&app.ui)),
        floor: what.floor,
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
        print_concept(ui, &hit.concept, all, &found_by(hit, by_label))?;
    }
    if let Some(note) = &found.note {
        ui.note(note);
    }
    if let Some(nearest) = &found.nearest {
        let name = text::one_line(&nearest.name);
        let fit = nearest.fit;
        ui.remark(format_args!(
            "nothing fits; nearest: {name} (fit {fit:.2}), --floor 0 shows it"
        ));
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

/// Returns how the search found a concept, and its fit; empty for a search by label.
fn found_by(hit: &ConceptHit, by_label: bool) -> String {
    if by_label {
        return String::new();
    }
    let found = recall::by_words_or_meaning(&hit.matched);
    format!("{found}, fit {:.2}", hit.fit)
}
