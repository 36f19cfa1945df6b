//! `icm fact get`

use clap::Args;
use icm_api::{Fact, FactQuery, FactState};
use serde_json::json;

use super::{STEPS, found, moment, rows};
use crate::app::App;
use crate::columns;
use crate::error::{CliError, Outcome};
use crate::text::one_line;
use crate::ui::{DIM, TOPIC};
use crate::{memory_view, when};

/// Show the current value of a fact, or every fact of a subject
///
/// Of several scopes the nearest counts: your session, your project, then `global`. A planned value is named, too. Exits with
/// 1 if there is no value.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm fact get deploy version
  icm fact get billing --valid-at 2026-03-01              # valid then, as is known now
  icm fact get deploy version --at yesterday              # as was known then")]
pub(crate) struct GetArgs {
    /// The subject
    subject: String,
    /// The attribute [default: all]
    attribute: Option<String>,
    /// Only this scope: `global`, `project:ID` or `session:ID`
    #[arg(long)]
    scope: Option<String>,
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// The value that was or will be valid at that time [default: the time of `--at`, or now]
    #[arg(long, value_name = "TIME")]
    valid_at: Option<String>,
}

pub(super) fn run(args: GetArgs, app: &App) -> Result<Outcome, CliError> {
    let is_one = args.attribute.is_some();
    let query = FactQuery {
        subject: args.subject,
        attribute: args.attribute,
        scope: app.scope(args.scope)?,
        at: args.at,
        valid_at: args.valid_at,
    };
    let empty = match is_one {
        true => json!(null),
        false => json!([]),
    };

    let facts = app.service()?.facts(&app.caller_here()?, &query);
    let facts = found(facts, &empty, app)?;

    match facts.first().filter(|_| is_one) {
        Some(fact) if app.ui.json => app.ui.json(fact)?,
        Some(fact) => print(app, fact)?,
        None if app.ui.json => app.ui.json(&facts)?,
        None => {
            let mut rows = rows(app, &facts)?;
            columns::fit(&app.ui, &mut rows, &STEPS);
            columns::print(&app.ui, &rows)?;
        }
    }
    Ok(Outcome::Fine)
}

fn print(app: &App, fact: &Fact) -> Result<(), CliError> {
    let ui = &app.ui;
    let word = match fact.state {
        FactState::Planned => "planned from",
        _ => "since",
    };
    let mut about = format!("{word} {}", moment(ui.now, &fact.valid_from));
    if let Some(until) = &fact.valid_until {
        about.push_str(&format!(", until {}", moment(ui.now, until)));
    }
    ui.line(format_args!(
        "{}  {}  {}  {}",
        ui.paint(DIM, &one_line(&fact.id)),
        ui.paint(TOPIC, &one_line(&fact.subject)),
        one_line(&fact.attribute),
        ui.paint(DIM, &format!("{about}  {}", one_line(&fact.scope))),
    ))?;
    memory_view::print_content(ui, fact.value.as_deref())?;
    if let Some(next) = &fact.next {
        let value = next.value.as_deref().unwrap_or("(withheld)");
        ui.line(format_args!(
            "{} {}",
            ui.paint(
                DIM,
                &format!("next from {}:", when::local(&next.valid_from))
            ),
            one_line(value),
        ))?;
    }
    Ok(())
}
