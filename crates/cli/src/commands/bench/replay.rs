//! `icm bench replay`

use clap::Args;
use icm_api::{Agreement, Recalled, ReplayBenchReport};
use icm_bench::bench_replay;

use super::setting::SettingParser;
use crate::app::App;
use crate::columns::{self, Cell};
use crate::error::{CliError, Outcome};
use crate::progress::Bar;
use crate::text;
use crate::ui::{BOLD, DIM, Ui};
use crate::values::how_many;

/// Ask the recorded recalls of the store again, with other settings
///
/// Each recorded recall is asked again as of the moment of its answer: with today's settings, and with those of
/// `--set`. The differences are shown, so you can try a setting on your own questions before you write it into the
/// config file. Nothing is recorded or changed. Another model first embeds the memories that have no vector of it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm bench replay
  icm bench replay --set ranking.neighbours=0.1 --set ranking.floor=0.3
  icm bench replay --set embedding.model=all-MiniLM-L6-v2 --last 200")]
pub(crate) struct BenchReplayArgs {
    /// A setting to try, as in the config file
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = SettingParser, hide_possible_values = true)]
    settings: Vec<String>,
    /// Only the newest N recalls
    #[arg(long, value_name = "N", value_parser = how_many)]
    last: Option<u32>,
    /// Changed recalls to show
    #[arg(long, value_name = "N", default_value = "10")]
    show: usize,
}

pub(crate) fn run(args: BenchReplayArgs, app: &App) -> Result<Outcome, CliError> {
    let other = match args.settings.is_empty() {
        true => None,
        false => Some(app.service_with(&args.settings)?),
    };
    let most = args.last.map_or(usize::MAX, |last| last as usize);
    let bar = Bar::new(&app.ui);
    let report = bench_replay(app.service()?, other.as_ref(), most, &bar)?;
    drop(bar);
    if let Some(other) = &other {
        app.pass_on_notices(other);
    }
    if app.ui.json {
        app.ui.json(&report)?;
    } else {
        print(&app.ui, &report, &args)?;
    }
    Ok(match report.recalls {
        0 => Outcome::No,
        _ => Outcome::Fine,
    })
}

fn print(ui: &Ui, report: &ReplayBenchReport, args: &BenchReplayArgs) -> Result<(), CliError> {
    if report.recalls > 0 {
        table(ui, report, &args.settings.join(", "))?;
        for recall in report.changed.iter().take(args.show) {
            ui.line(format_args!(""))?;
            ui.line(format_args!(
                "{} {}",
                ui.paint(DIM, &format!("@{}", recall.position)),
                text::one_line(&recall.query)
            ))?;
            for (sign, results) in [("+", &recall.came), ("-", &recall.went)] {
                for result in results {
                    ui.line(format_args!("  {sign} {}", said(result)))?;
                }
            }
            if let Some(first) = &recall.first {
                ui.line(format_args!("  first: {}", said(first)))?;
            }
        }
    }
    let more = report.changed.len().saturating_sub(args.show);
    if more > 0 {
        let more = text::count(more as u64, "more recall", "more recalls");
        ui.remark(format_args!(
            "{more} with another answer: see `--show` and `--json`"
        ));
    }
    ui.remark(format_args!(
        "{} asked again{}",
        text::count(report.recalls, "recall", "recalls"),
        match report.withheld {
            0 => String::new(),
            n => format!("; {n} left out, whose question is withheld"),
        }
    ));
    Ok(())
}

fn said(result: &Recalled) -> String {
    match &result.content {
        Some(content) => format!("{} {}", result.id, text::one_line(content)),
        None => result.id.clone(),
    }
}

fn table(ui: &Ui, report: &ReplayBenchReport, settings: &str) -> Result<(), CliError> {
    let mut columns = vec![("then and now".to_owned(), &report.since)];
    if let Some(other) = &report.other {
        columns.push((format!("now and with {settings}"), other));
    }
    let row = |name: &str, of: &dyn Fn(&Agreement) -> String| {
        let cells = columns
            .iter()
            .map(|(_, agreement)| Cell::new(of(agreement)).right());
        std::iter::once(Cell::new(name))
            .chain(cells)
            .collect::<Vec<_>>()
    };
    let share = |count: u64, of: u64| format!("{:.1} %", count as f64 * 100.0 / of.max(1) as f64);
    let heads = columns
        .iter()
        .map(|(name, _)| Cell::new(name).style(BOLD).right());
    let head = std::iter::once(Cell::new("")).chain(heads).collect();
    columns::print(
        ui,
        &[
            head,
            row("same results, same order", &|a| share(a.same, a.of)),
            row("same results", &|a| share(a.same_set, a.of)),
            row("same first result", &|a| share(a.same_first, a.of)),
            row("results in common", &|a| {
                format!("{:.1} %", a.overlap * 100.0)
            }),
        ],
    )
}
