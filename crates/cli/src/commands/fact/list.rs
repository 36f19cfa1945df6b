//! `icm fact list`

use clap::Args;
use icm_api::FactListRequest;

use super::{STEPS, rows};
use crate::app::App;
use crate::columns;
use crate::error::{CliError, Outcome};
use crate::limit_args::LimitArgs;

/// List facts with their current and next planned values, by subject and attribute
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm fact list
  icm fact list --scope project --valid-at 2026-03-01")]
pub(crate) struct ListArgs {
    /// Only this scope; for a session also those below it
    #[arg(long)]
    scope: Option<String>,
    #[command(flatten)]
    limit: LimitArgs,
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// The values that were or will be valid at that time [default: the time of `--at`, or now]
    #[arg(long, value_name = "TIME")]
    valid_at: Option<String>,
}

pub(super) fn run(args: ListArgs, app: &App) -> Result<Outcome, CliError> {
    let request = FactListRequest {
        scope: app.scope(args.scope)?,
        at: args.at,
        valid_at: args.valid_at,
        limit: args.limit.asked(),
    };

    let mut facts = app.service()?.list_facts(&request)?;

    let is_cut = args.limit.cut(&mut facts);
    if app.ui.json {
        app.ui.json(&facts)?;
    } else {
        let mut rows = rows(app, &facts)?;
        columns::fit(&app.ui, &mut rows, &STEPS);
        columns::print(&app.ui, &rows)?;
        if facts.is_empty() {
            app.ui.remark(format_args!("no facts"));
        }
    }
    let shown = format!("first {}", facts.len());
    args.limit.tell_left_out(&app.ui, is_cut, &shown);
    Ok(Outcome::Fine)
}
