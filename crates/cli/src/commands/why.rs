//! `icm why`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use icm_api::{Why, WhyEvent, WhyRecall};
use icm_log::kind::verb_of;

use super::sessions::Names;
use crate::app::App;
use crate::columns::{self, Cell, Step};
use crate::error::{CliError, ErrorKind, Outcome};
use crate::memory_view::{self, short_event};
use crate::ui::{BOLD, DIM, Ui, WARN};
use crate::values::how_many;
use crate::{text, when};

const RECALLS: usize = 20;

/// Show the origin of a memory, its changes, and the recalls that showed it
///
/// Shows the newest 20 recalls, unless `-l` or `--all` is given. Exits with 1 if there is no memory with this id.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm why 01J9X4
  icm why 01J9X4 --all    # with every recall")]
pub(crate) struct WhyArgs {
    /// Id or its beginning
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
    /// At most N recalls [default: 20]
    #[arg(short, long, value_name = "N", value_parser = how_many)]
    limit: Option<u32>,
    /// Show all
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

pub(crate) fn run(args: WhyArgs, app: &App) -> Result<Outcome, CliError> {
    let recalls = match args.limit {
        _ if args.all => usize::MAX,
        limit => limit.map_or(RECALLS, |limit| limit as usize),
    };
    let why = match app
        .service()?
        .why(&args.id, recalls)
        .map_err(CliError::from)
    {
        Ok(why) => why,
        Err(error) => {
            if app.ui.json && error.kind == ErrorKind::NotFound {
                app.ui.json(&None::<Why>)?;
            }
            return Err(error);
        }
    };

    if app.ui.json {
        app.ui.json(&why)?;
    } else {
        let mut shown = why.recalls.iter().chain(&why.injections);
        let names = match shown.any(|recall| recall.session.is_some()) {
            true => Names::read(app.service()?)?,
            false => Names::default(),
        };
        print(&app.ui, &why, &names)?;
    }
    Ok(Outcome::Fine)
}

fn print(ui: &Ui, why: &Why, names: &Names) -> Result<(), CliError> {
    memory_view::print(ui, &why.memory, "")?;

    ui.line(format_args!("{}", ui.paint(BOLD, "from")))?;
    let source = &why.from.source;
    let mut pairs = match memory_view::authors(ui, &why.memory) {
        (Some(text), Some(made)) => vec![("  text by", text), ("  made by", made)],
        _ => vec![("  actor", why.from.actor.clone())],
    };
    for (name, value) in [
        ("  agent", &source.agent),
        ("  client", &source.client),
        ("  session", &source.session),
        ("  project", &source.project),
        ("  file", &source.file),
    ] {
        pairs.extend(value.clone().map(|value| (name, value)));
    }
    let originals = &why.from.consolidated_from;
    if !originals.is_empty() {
        let count = text::count(originals.len() as u64, "memory", "memories");
        let some: Vec<_> = originals.iter().take(10).map(String::as_str).collect();
        pairs.push(("  consolidated", format!("{count}: {}", some.join(" "))));
    }
    if let Some(summary) = &why.covered_by {
        pairs.push(("  covered by", summary.clone()));
    }
    columns::print_pairs(ui, &pairs)?;

    ui.line(format_args!("{}", ui.paint(BOLD, "events")))?;
    let mut rows: Vec<_> = why
        .events
        .iter()
        .map(|event| event_row(ui, event))
        .collect();
    columns::fit(
        ui,
        &mut rows,
        &[Step::Drop(1), Step::Cut(4, 16), Step::Short(2)],
    );
    columns::print(ui, &rows)?;

    if why.recalls_total == 0 {
        ui.line(format_args!("{}", ui.paint(DIM, "no recall has shown it")))?;
    } else {
        print_shown(
            ui,
            "shown by",
            &why.recalls,
            names,
            (why.recalls_total, ["recall", "recalls"]),
        )?;
    }
    match why.injections_total {
        0 => Ok(()),
        total => print_shown(
            ui,
            "shown unasked",
            &why.injections,
            names,
            (total, ["time", "times"]),
        ),
    }
}

fn print_shown(
    ui: &Ui,
    title: &str,
    recalls: &[WhyRecall],
    names: &Names,
    (total, [one, many]): (u64, [&str; 2]),
) -> Result<(), CliError> {
    let shown = recalls.len() as u64;
    ui.line(format_args!("{}", ui.paint(BOLD, title)))?;
    let mut rows: Vec<_> = recalls
        .iter()
        .map(|recall| recall_row(ui, recall, names))
        .collect();
    columns::fit(
        ui,
        &mut rows,
        &[
            Step::Drop(1),
            Step::Short(4),
            Step::Cut(3, 16),
            Step::Drop(4),
        ],
    );
    columns::print(ui, &rows)?;
    if shown < total {
        ui.remark(format_args!(
            "the newest {shown} of {} are shown; see the rest with `--all` or `-l N`",
            text::count(total, one, many)
        ));
    }
    Ok(())
}

fn event_row(ui: &Ui, event: &WhyEvent) -> Vec<Cell> {
    vec![
        Cell::new(format!("@{}", event.position))
            .style(BOLD)
            .indented(),
        Cell::new(short_event(&event.event)).style(DIM),
        Cell::new(&event.kind).or_short(verb_of(&event.kind)),
        Cell::new(when::ago(ui.now, &event.at)).style(DIM),
        Cell::new(&event.actor).style(DIM),
        Cell::new(event.changed.join(", ")),
    ]
}

fn recall_row(ui: &Ui, recall: &WhyRecall, names: &Names) -> Vec<Cell> {
    let id = recall.session.as_deref();
    let session = id.map_or("no session", |id| names.of(id));
    let short = match id {
        Some(id) if id == session => short_event(session),
        _ => session,
    };
    let query = match &recall.query {
        Some(_) if recall.front.as_deref() == Some("wake-up") => {
            Cell::new("at the start").style(DIM)
        }
        Some(query) => Cell::new(format!("\"{query}\"")),
        None => Cell::new("(withheld)").style(WARN),
    };
    vec![
        Cell::new(format!("@{}", recall.position))
            .style(BOLD)
            .indented(),
        Cell::new(when::ago(ui.now, &recall.at)).style(DIM),
        Cell::new(format!("rank {}", recall.rank)),
        Cell::new(&recall.actor).style(DIM),
        Cell::new(session).or_short(short).style(DIM),
        query,
    ]
}
