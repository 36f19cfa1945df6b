//! `icm fact`

mod get;
mod history;
mod list;
mod set;

use clap::{Args, Subcommand};
use icm_api::{Fact, FactState};

use crate::app::App;
use crate::columns::{Cell, Step};
use crate::error::{CliError, ErrorKind, Outcome};
use crate::ui::{DIM, TOPIC, WARN};
use crate::{memory_view, when};

/// Keep one current value: who is on call, which version is deployed
///
/// A fact has a subject, an attribute and a value, for instance `deploy`, `version`, `2.1`. Setting it again gives it
/// another value; the earlier ones are kept, each with the time in which it was valid. A fact is a memory in the topic
/// `facts/SUBJECT` with the key ATTRIBUTE: `recall` finds it, `forget`, `undo` and `redact` take its id.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm fact set deploy version 2.1
  icm fact get deploy version --valid-at 2026-03-01
  icm fact history deploy version")]
pub(crate) struct FactArgs {
    #[command(subcommand)]
    command: FactCommand,
}

#[derive(Debug, Subcommand)]
enum FactCommand {
    Set(set::SetArgs),
    Get(get::GetArgs),
    List(list::ListArgs),
    History(history::HistoryArgs),
}

pub(crate) fn run(args: FactArgs, app: &App) -> Result<Outcome, CliError> {
    match args.command {
        FactCommand::Set(args) => set::run(args, app),
        FactCommand::Get(args) => get::run(args, app),
        FactCommand::List(args) => list::run(args, app),
        FactCommand::History(args) => history::run(args, app),
    }
}

/// Returns the answer. If there is none, `empty` is printed with `--json`, before the error.
fn found<T>(
    answer: icm_api::error::Result<T>,
    empty: &serde_json::Value,
    app: &App,
) -> Result<T, CliError> {
    let answer = answer.map_err(CliError::from);
    if let Err(error) = &answer
        && app.ui.json
        && error.kind == ErrorKind::NotFound
    {
        app.ui.json(empty)?;
    }
    answer
}

/// Steps that make room for the value in a list: subject, attribute, then scope and age.
const STEPS: [Step; 5] = [
    Step::Cut(1, 20),
    Step::Cut(2, 20),
    Step::Drop(3),
    Step::Drop(4),
    Step::Cut(2, 12),
];

/// Returns the rows of a list: id, subject, attribute, scope, first moment and value. A planned value after it has a row of
/// its own.
fn rows(app: &App, facts: &[Fact]) -> Result<Vec<Vec<Cell>>, CliError> {
    let ids: Vec<&str> = facts.iter().map(|fact| fact.id.as_str()).collect();
    let id_len = memory_view::short_id_len(app, &ids)?;
    let planned = |word: &str, from: &str, value: &Option<String>| {
        let value = value.as_deref().unwrap_or("(withheld)");
        Cell::new(format!("{word} from {}: {value}", when::local(from))).style(DIM)
    };
    let row = |fact: &Fact| {
        vec![
            Cell::new(fact.id.get(..id_len).unwrap_or(&fact.id)).style(DIM),
            Cell::new(&fact.subject).style(TOPIC).at_most(32),
            Cell::new(&fact.attribute).at_most(32),
            Cell::new(&fact.scope).style(DIM).at_most(32),
            Cell::new(when::ago(app.ui.now, &fact.valid_from)).style(DIM),
            match fact.state {
                FactState::Planned => planned("planned", &fact.valid_from, &fact.value),
                _ => value(fact),
            },
        ]
    };
    let mut rows = Vec::with_capacity(facts.len());
    for fact in facts {
        rows.push(row(fact));
        if let Some(next) = &fact.next {
            let mut of_next: Vec<Cell> = (0..5).map(|_| Cell::new("")).collect();
            of_next.push(planned("next", &next.valid_from, &next.value));
            rows.push(of_next);
        }
    }
    Ok(rows)
}

/// Returns a local time, with its age if it is not long ago.
fn moment(now: jiff::Timestamp, at: &str) -> String {
    let (local, ago) = (when::local(at), when::ago(now, at));
    match ago == when::day(at) {
        true => local,
        false => format!("{local} ({ago})"),
    }
}

/// Returns the value on one line.
fn value(fact: &Fact) -> Cell {
    match &fact.value {
        Some(value) => Cell::new(value),
        None => Cell::new("(withheld)").style(WARN),
    }
}
