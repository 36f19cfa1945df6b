//! `icm sessions`

use std::collections::BTreeMap;

use clap::Args;
use icm_agents::sessions::{Session, SessionsRequest, Tree, sessions};
use icm_service::Service;

use crate::app::App;
use crate::columns::{self, Cell, Step};
use crate::error::{CliError, Outcome};
use crate::text::one_line;
use crate::ui::{BOLD, DIM, PLAIN, Ui};
use crate::values::how_many;
use crate::when;

const LIMIT_ON_TERMINAL: u32 = 20;

/// Show the sessions of agents, with the work of each
///
/// Shows the actor, time and place of each session, and the numbers of stored and shown memories. Sessions that work
/// for another session, such as sub-agents, stand below it. With an id or a name only that session and those below it
/// are shown. `icm log --session ID` shows its events, `icm undo --session ID` takes its changes back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm sessions
  icm sessions 3f2a
  icm sessions --project widgets --since yesterday")]
pub(crate) struct SessionsArgs {
    /// A session's name, its id, or the beginning of the id
    #[arg(value_name = "ID")]
    session: Option<String>,
    /// Only sessions of this project
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Only activity since this time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// At most N [default: 20 on a terminal, else all]
    #[arg(short, long, value_name = "N", value_parser = how_many)]
    limit: Option<u32>,
}

pub(crate) fn run(args: SessionsArgs, app: &App) -> Result<Outcome, CliError> {
    let limit = match args.limit {
        None if app.ui.is_terminal() => Some(LIMIT_ON_TERMINAL),
        limit => limit,
    };
    let request = SessionsRequest {
        session: args.session,
        project: args.project,
        since: args.since,
        limit: limit.map(|limit| limit as usize),
        ..SessionsRequest::default()
    };

    let found = sessions(app.service()?, &request)?;

    if app.ui.json {
        app.ui.json(&found)?;
    } else {
        print(&app.ui, &found)?;
    }
    match found.is_empty() {
        true => {
            app.ui.remark(format_args!("no sessions in the log"));
            Ok(Outcome::No)
        }
        false => Ok(Outcome::Fine),
    }
}

/// The names of sessions, by id. A session without a name is shown by its id.
#[derive(Default)]
pub(super) struct Names(BTreeMap<String, String>);

impl Names {
    /// Reads the names from the heads of the log.
    ///
    /// # Errors
    /// As [`sessions`].
    pub(super) fn read(service: &Service) -> Result<Names, CliError> {
        let all = sessions(service, &SessionsRequest::default())?;
        let named = all
            .into_iter()
            .filter_map(|session| Some((session.id, session.name?)));
        Ok(Names(named.collect()))
    }

    /// Returns the name of a session, or its id.
    pub(super) fn of<'a>(&'a self, id: &'a str) -> &'a str {
        self.0.get(id).map_or(id, String::as_str)
    }
}

fn print(ui: &Ui, sessions: &[Session]) -> Result<(), CliError> {
    let tree = Tree::of(sessions);
    let sessions = tree.below(tree.roots(), usize::MAX);
    let mut rows: Vec<Vec<Cell>> = (sessions.iter())
        .map(|(session, depth)| row(ui, session, *depth))
        .collect();
    columns::fit(
        ui,
        &mut rows,
        &[
            Step::Cut(5, 40),
            Step::Cut(0, 24),
            Step::Drop(3),
            Step::Cut(5, 12),
        ],
    );
    columns::print(ui, &rows)
}

fn row(ui: &Ui, session: &Session, depth: usize) -> Vec<Cell> {
    let name = one_line(&session.title());
    let name = match depth {
        0 => name,
        depth => format!("{}└ {name}", "  ".repeat(depth - 1)),
    };
    vec![
        Cell::new(name).style(if depth == 0 { BOLD } else { PLAIN }),
        Cell::new(one_line(&session.client_and_agent())),
        Cell::new(when::ago(ui.now, &session.last_at)).style(DIM),
        Cell::new(session.state()).style(DIM),
        Cell::new(one_line(session.project.as_deref().unwrap_or("–"))),
        Cell::new(session.work()),
    ]
}
