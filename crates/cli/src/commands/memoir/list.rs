//! `icm memoir list`

use clap::Args;

use crate::app::App;
use crate::columns::{self, Cell};
use crate::error::{CliError, Outcome};
use crate::ui::{DIM, TOPIC};
use crate::when;

/// List the memoirs with their numbers of concepts
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm memoir list
  icm memoir list --at 2026-03-01")]
pub(crate) struct ListArgs {
    /// As of a moment
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

pub(crate) fn run(args: ListArgs, app: &App) -> Result<Outcome, CliError> {
    let list = app.service()?.memoir_list(args.at.as_deref())?;

    if app.ui.json {
        app.ui.json(&list)?;
        return Ok(Outcome::Fine);
    }
    let row = |memoir: &icm_api::Memoir| {
        vec![
            Cell::new(&memoir.name).style(TOPIC),
            Cell::new(memoir.concepts.to_string()).right(),
            Cell::new(when::ago(app.ui.now, &memoir.updated_at)).style(DIM),
            Cell::new(memoir.description.as_deref().unwrap_or("(withheld)")),
        ]
    };
    let rows: Vec<_> = list.memoirs.iter().map(row).collect();
    columns::print(&app.ui, &rows)?;
    if rows.is_empty() {
        app.ui.remark(format_args!("no memoirs"));
    }
    Ok(Outcome::Fine)
}
