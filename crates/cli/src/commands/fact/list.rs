//! `icm fact list`

use clap::Args;
use icm_api::FactListRequest;

use super::{STEPS, rows};
use crate::app::App;
use crate::columns;
use crate::error::{CliError, Outcome};
use crate::values::how_many;

const LIMIT_DEFAULT: usize = 50;

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
    /// At most N [default: 50]
    #[arg(short, long, value_name = "N", value_parser = how_many)]
    limit: Option<u32>,
    /// Show all
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// As this machine knew at that time
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// The values that were or will be valid at that time [default: the time of `--at`, or now]
    #[arg(long, value_name = "TIME")]
    valid_at: Option<String>,
}

pub(super) fn run(args: ListArgs, app: &App) -> Result<Outcome, CliError> {
    let limit = args.limit.map_or(LIMIT_DEFAULT, |limit| limit as usize);
    let request = FactListRequest {
        scope: app.scope(args.scope)?,
        at: args.at,
        valid_at: args.valid_at,
        // One more than shown, to notice that some are left out.
        limit: (!args.all).then(|| limit.saturating_add(1)),
    };

    let mut facts = app.service()?.list_facts(&request)?;

    let cut = !args.all && facts.len() > limit;
    if cut {
        facts.truncate(limit);
    }
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
    if cut && args.limit.is_none() {
        app.ui.note(&format!(
            "only the first {limit} are shown; see the rest with `--all` or `-l N`"
        ));
    }
    Ok(Outcome::Fine)
}
