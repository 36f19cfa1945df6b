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
/// Each day a memory of medium importance loses a share of its weight: the rate. A memory of high importance loses half
/// of the rate, one of low importance twice the rate, a critical one nothing. Recalls slow the loss down. A second run
/// on the same day changes nothing, and one run after a month counts all days of the month. The first recall of a day
/// does the same, unless the config file says `[decay] auto = false`.
///
/// Nothing is forgotten. `icm prune` forgets faded memories, and `icm undo` takes back either command.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm decay --dry-run
  icm decay --rate 0.1")]
pub(crate) struct DecayArgs {
    /// Daily loss of a memory of medium importance, 0 to 1 [default: `decay.rate`, 0.05]
    #[arg(short, long, value_name = "R", value_parser = share)]
    rate: Option<f64>,
    /// Only show the effect
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

/// Returns a warning about ticks of days in the future; `None` if there are none.
pub(crate) fn ahead(ticks: &[TickAhead]) -> Option<String> {
    let last = ticks.iter().map(|tick| &tick.day).max()?;
    let events = ticks.iter().map(|tick| short_event(&tick.event));
    let events = events.collect::<Vec<_>>().join(" ");
    Some(format!(
        "memories fade up to {last}, which has not come: a clock was wrong; `icm undo {events}` takes that back"
    ))
}
