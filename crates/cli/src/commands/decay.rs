//! `icm decay`

use clap::Args;
use icm_api::{DecayAction, DecayReceipt, DecayRequest, TickAhead};

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::memory_view::short_event;
use crate::text::count;
use crate::ui::{BOLD, DIM};
use crate::values::share;

/// Let memories fade up to today
///
/// A memory that nobody recalls loses a share of its weight each day: a high one half of it, a low one
/// twice as much, a critical one nothing. Recalls slow that down. Days count, not runs: a second run on
/// one day changes nothing, and a month without any is made up for by the next one. A recall does
/// this on its way, once a day, unless `[decay] auto = false` stands in the config file.
///
/// Nothing is forgotten by it; `icm prune` forgets what has faded, and `icm undo` takes either back.
#[derive(Debug, Args)]
pub(crate) struct DecayArgs {
    /// What a memory of medium importance loses a day, 0 to 1 [default: `decay.rate`, 0.05]
    #[arg(short, long, value_name = "R", value_parser = share)]
    rate: Option<f64>,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: DecayArgs, app: &App) -> Result<Outcome, CliError> {
    let request = DecayRequest {
        rate: args.rate,
        dry_run: args.dry_run,
    };
    let receipt = app.service()?.decay(&app.caller()?, &request)?;
    if let Some(warning) = ahead(&receipt.ahead) {
        app.ui.note(&warning);
    }
    match app.ui.json {
        true => app.ui.json(&receipt)?,
        false => print(app, &receipt)?,
    }
    Ok(Outcome::Fine)
}

fn print(app: &App, receipt: &DecayReceipt) -> Result<(), CliError> {
    let DecayReceipt { day, rate, .. } = receipt;
    let percent = (rate * 1e8).round() / 1e6;
    if receipt.action == DecayAction::Unchanged {
        let why = match receipt.memories {
            0 => "no memory fades".to_owned(),
            _ => format!("memories fade at {percent} % a day up to {day} already"),
        };
        return app
            .ui
            .line(format_args!("{} {why}", app.ui.paint(BOLD, "unchanged")));
    }
    let deed = match receipt.dry_run {
        true => "would decay",
        false => "decayed",
    };
    let what = match receipt.memories {
        1 => "1 memory can fade".to_owned(),
        memories => format!("{} can fade", count(memories, "memory", "memories")),
    };
    let event = receipt.event.as_deref().map_or("", short_event);
    let undo = receipt.position.map(|position| {
        let line = format!("  @{position}  (`icm undo {event}` takes it back)");
        app.ui.paint(DIM, &line)
    });
    let instead = receipt.replaces_rate.map_or_else(String::new, |before| {
        format!(", no longer at {} %", (before * 1e8).round() / 1e6)
    });
    app.ui.line(format_args!(
        "{} to {day}: {what} at {percent} % a day{instead}{}",
        app.ui.paint(BOLD, deed),
        undo.unwrap_or_default()
    ))
}

/// What to know of ticks for days that have not come.
pub(crate) fn ahead(ticks: &[TickAhead]) -> Option<String> {
    let last = ticks.iter().map(|tick| &tick.day).max()?;
    let events = ticks.iter().map(|tick| short_event(&tick.event));
    let events = events.collect::<Vec<_>>().join(" ");
    Some(format!(
        "memories fade up to {last}, which has not come: a clock was wrong; `icm undo {events}` takes that back"
    ))
}
