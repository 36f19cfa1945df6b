//! `icm fact history`

use clap::Args;
use icm_api::{Fact, FactQuery, FactState};
use serde_json::json;

use super::{found, value};
use crate::app::App;
use crate::columns::{self, Cell, Step};
use crate::error::{CliError, Outcome};
use crate::text::one_line;
use crate::ui::{DIM, GOOD, TOPIC, WARN};
use crate::{memory_view, when};

/// Show every value of a fact: when it was valid, when it was learnt, and from whom
///
/// The values are in the order of their validity. A value is valid until the next one is; a corrected one never was.
/// Exits with 1 if there is no such fact.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm fact history deploy version
  icm fact history billing 'on call' --at yesterday    # as was known then")]
pub(crate) struct HistoryArgs {
    /// The subject
    subject: String,
    /// The attribute
    attribute: String,
    /// Only this scope: `global`, `project:ID` or `session:ID`
    #[arg(long)]
    scope: Option<String>,
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

pub(super) fn run(args: HistoryArgs, app: &App) -> Result<Outcome, CliError> {
    let query = FactQuery {
        subject: args.subject,
        attribute: Some(args.attribute),
        scope: app.scope(args.scope)?,
        at: args.at,
        valid_at: None,
    };

    let values = app.service()?.fact_history(&app.caller_here()?, &query);
    let values = found(values, &json!([]), app)?;

    if app.ui.json {
        app.ui.json(&values)?;
    } else {
        print(app, &values)?;
    }
    Ok(Outcome::Fine)
}

fn print(app: &App, values: &[Fact]) -> Result<(), CliError> {
    let ui = &app.ui;
    if let Some(fact) = values.first() {
        ui.line(format_args!(
            "{}  {}  {}  {}",
            ui.paint(DIM, &one_line(&fact.id)),
            ui.paint(TOPIC, &one_line(&fact.subject)),
            one_line(&fact.attribute),
            ui.paint(DIM, &one_line(&fact.scope)),
        ))?;
    }
    let row = |fact: &Fact| {
        let until = match (&fact.corrected_by, &fact.valid_until) {
            (Some(_), _) => Cell::new("corrected").style(WARN),
            (None, Some(until)) => Cell::new(format!("until {}", when::local(until))),
            (None, None) => Cell::new(""),
        };
        vec![
            Cell::new(format!("from {}", when::local(&fact.valid_from))),
            until,
            Cell::new(match fact.state {
                FactState::Current => "current",
                FactState::Planned => "planned",
                FactState::Earlier | FactState::Corrected => "",
            })
            .style(GOOD),
            Cell::new(format!("learnt {}", when::ago(ui.now, &fact.learned_at))).style(DIM),
            Cell::new(&fact.actor).style(DIM).at_most(24),
            Cell::new(memory_view::short_event(&fact.event)).style(DIM),
            value(fact),
        ]
    };
    let mut rows: Vec<_> = values.iter().map(row).collect();
    columns::fit(
        ui,
        &mut rows,
        &[Step::Drop(5), Step::Drop(4), Step::Drop(3)],
    );
    columns::print(ui, &rows)
}
