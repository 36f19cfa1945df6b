//! `icm replay`

use clap::Args;
use icm_api::{Basis, ListRequest, Memory, RecallRequest};
use serde::Serialize;

use crate::app::App;
use crate::commands::recall;
use crate::error::{CliError, Outcome};
use crate::ui::{BOLD, TOPIC};
use crate::values::{Results, share};
use crate::{memory_view, text, when};

/// Go back in time: known memories, or the results of a recall
///
/// With a query, shows the answer of that moment; this recall is not recorded. Without a query, shows the memories of
/// that moment, by topic; with `--scope`, only memories of the scope.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm replay --at @120
  icm replay --at '2h ago' where do invoices live")]
pub(crate) struct ReplayArgs {
    /// The moment: a time, a position (`@123`) or the beginning of an event id
    #[arg(long, value_name = "TIME", required = true)]
    at: String,
    /// Words to search for
    query: Vec<String>,
    /// Only this topic; `a/` for `a` and everything below it
    #[arg(short, long)]
    topic: Option<String>,
    /// As seen from this scope, or `all` [default: with a query your own scopes, else all]
    #[arg(long)]
    scope: Option<String>,
    /// With a query: least fit of a result, 0 to 1; 0 shows all [default: `ranking.floor` of the config file, else 0.2]
    #[arg(
        long,
        value_name = "FIT",
        value_parser = share,
        allow_negative_numbers = true,
        requires = "query"
    )]
    floor: Option<f64>,
    /// At most N [default: 10 with a query, else all]
    #[arg(short, long, value_name = "N")]
    limit: Option<Results>,
}

/// The memories as of the moment.
#[derive(Serialize)]
struct Standing {
    basis: Basis,
    memories: Vec<Memory>,
}

pub(crate) fn run(args: ReplayArgs, app: &App) -> Result<Outcome, CliError> {
    let service = app.service()?;
    let limit = args.limit.map(|limit| limit.within(&app.ui));
    let scope = app.scope(args.scope)?;
    if !args.query.is_empty() {
        let request = RecallRequest {
            query: recall::query(&args.query)?,
            topic: args.topic,
            scope,
            limit: limit.or(Some(app.config.recall.limit)),
            at: Some(args.at),
            floor: args.floor,
            record: false,
            ..RecallRequest::default()
        };
        let answer = service.recall(&app.caller_here()?, &request)?;
        return recall::print(&app.ui, &answer, false);
    }

    // The moment is resolved once: `2h ago` would be another moment the second time.
    let basis = service.basis(Some(&args.at))?;
    let mut memories = service.list(&ListRequest {
        topic: args.topic,
        scope,
        at: Some(format!("@{}", basis.position)),
        limit,
        ..ListRequest::default()
    })?;
    memories
        .sort_by(|a, b| (&a.topic, &a.created_at, &a.id).cmp(&(&b.topic, &b.created_at, &b.id)));

    let standing = Standing { basis, memories };
    if app.ui.json {
        app.ui.json(&standing)?;
    } else {
        print(app, &standing)?;
    }
    Ok(Outcome::Fine)
}

fn print(app: &App, standing: &Standing) -> Result<(), CliError> {
    let ui = &app.ui;
    for (i, group) in standing
        .memories
        .chunk_by(|a, b| a.topic == b.topic)
        .enumerate()
    {
        if i > 0 {
            ui.line(format_args!(""))?;
        }
        let topic = group.first().map_or("", |memory| memory.topic.as_str());
        let topic = text::one_line(topic);
        ui.line(format_args!("{}", ui.paint(TOPIC.bold(), &topic)))?;
        memory_view::print_list(app, group, false)?;
    }
    let basis = &standing.basis;
    ui.remark(format_args!(
        "{} as of {} ({})",
        text::count(standing.memories.len() as u64, "memory", "memories"),
        ui.paint(BOLD, &format!("@{}", basis.position)),
        when::ago(ui.now, &basis.at),
    ));
    Ok(())
}
