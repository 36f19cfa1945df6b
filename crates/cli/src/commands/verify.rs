//! `icm verify`

use clap::Args;
use icm_api::{OriginHead, VerifyReport};

use crate::app::App;
use crate::columns::{self, Cell, Step};
use crate::error::{CliError, Outcome};
use crate::memory_view::short_event;
use crate::progress::Bar;
use crate::text;
use crate::ui::{BAD, DIM, GOOD, Ui, WARN};

/// Check the log and the views, and that both agree
///
/// Reads every event, follows every chain, folds the log again and compares the result with the views. Never changes
/// the log; wrong views are rebuilt. Exits with 3 for damage.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm verify
  icm verify --db ~/memory")]
pub(crate) struct VerifyArgs {}

pub(crate) fn run(_: VerifyArgs, app: &App) -> Result<Outcome, CliError> {
    let bar = Bar::new(&app.ui);
    let report = app.service()?.verify(&bar)?;
    drop(bar);

    print(&app.ui, &report)
}

/// Prints the report. Returns [`Outcome::Damage`] unless everything is right.
pub(crate) fn print(ui: &Ui, report: &VerifyReport) -> Result<Outcome, CliError> {
    let outcome = if report.ok {
        Outcome::Fine
    } else {
        Outcome::Damage
    };
    if ui.json {
        ui.json(report)?;
        return Ok(outcome);
    }
    for finding in &report.findings {
        let notice = finding.severity == "notice";
        let style = if notice { WARN } else { BAD };
        let mut place = finding.code.replace('_', " ");
        if let Some(file) = finding.file.as_ref().filter(|file| !file.is_empty()) {
            place.push_str(&format!(", {file}"));
        }
        if let Some(seq) = finding.seq {
            place.push_str(&format!(", seq {seq}"));
        }
        ui.line(format_args!(
            "{} {} {}",
            ui.paint(style, &format!("{}:", text::one_line(&finding.severity))),
            text::one_line(&finding.message),
            ui.paint(DIM, &format!("[{}]", text::one_line(&place))),
        ))?;
    }
    let verdict = if report.ok {
        ui.paint(GOOD, "ok")
    } else {
        ui.paint(BAD, "not ok")
    };
    ui.line(format_args!(
        "{verdict}: {}, newest position @{}{}",
        text::count(report.events, "event", "events"),
        report.positions,
        match report.missing_bodies {
            0 => String::new(),
            n => format!(", {n} without a body"),
        }
    ))?;
    print_heads(ui, &report.origins)?;
    if let Some(hash) = &report.state_hash {
        ui.line(format_args!("state hash {hash}"))?;
    }
    Ok(outcome)
}

fn print_heads(ui: &Ui, heads: &[OriginHead]) -> Result<(), CliError> {
    let mut rows: Vec<_> = heads
        .iter()
        .map(|head| {
            vec![
                Cell::new("origin").style(DIM),
                Cell::new(&head.origin).or_short(short_event(&head.origin)),
                Cell::new(format!("seq {}", head.seq)).style(DIM),
                Cell::new(&head.head).or_short(short_event(&head.head)),
                Cell::new(if head.own { "this machine" } else { "" }).style(DIM),
            ]
        })
        .collect();
    columns::fit(ui, &mut rows, &[Step::Short(3), Step::Short(1)]);
    columns::print(ui, &rows)
}
