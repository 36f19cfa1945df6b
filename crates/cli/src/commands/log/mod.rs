//! `icm log`

mod export;
mod follow;
mod heads;
mod import;
mod injected;
mod repair;
mod show;
mod verify;

use clap::{Args, Subcommand};
use icm_api::ids::ID_LEN;
use icm_api::{LogEntry, LogRequest};
use icm_log::kind::verb_of;

use crate::app::App;
use crate::columns::{self, Cell, Step};
use crate::error::{CliError, Outcome};
use crate::limit_args::tell_rest;
use crate::memory_view::{short_event, short_id_len};
use crate::text::one_line;
use crate::ui::{BOLD, DIM, PLAIN, Ui, WARN};
use crate::values::how_many;
use crate::when;

const LIMIT_ON_TERMINAL: usize = 50;

/// Show the events of the log, newest first
///
/// Shows the newest 50 on a terminal, and all in a pipe, unless `-l` or `--all` is given. With `--json` one object a
/// line.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm log --kind memory.updated --since yesterday
  icm log --follow --topic deploys/
  icm log --json | jq -r .kind | sort | uniq -c")]
pub(crate) struct LogArgs {
    #[command(subcommand)]
    command: Option<LogCommand>,
    #[command(flatten)]
    filters: Filters,
}

#[derive(Debug, Subcommand)]
enum LogCommand {
    Show(show::ShowArgs),
    Verify(verify::LogVerifyArgs),
    Heads(heads::HeadsArgs),
    Export(export::LogExportArgs),
    Import(import::LogImportArgs),
    Repair(repair::RepairArgs),
}

#[derive(Debug, Default, PartialEq, Args)]
struct Filters {
    /// Only this kind (`memory.stored`) or family (`memory`)
    #[arg(long)]
    kind: Option<String>,
    /// Only events about this memory, memoir or concept
    #[arg(long)]
    id: Option<String>,
    /// Only events about memories that are or were in this topic
    #[arg(short, long)]
    topic: Option<String>,
    /// Only events about this memoir, its concepts and links: name or id
    #[arg(long, value_name = "NAME")]
    memoir: Option<String>,
    /// Only events by this actor: `agent:codex`, or only `codex`
    #[arg(long)]
    actor: Option<String>,
    /// Only events of this session
    #[arg(long)]
    session: Option<String>,
    /// Memories that hooks and wake-up packs showed to agents, and alerts that were shown
    #[arg(long, conflicts_with_all = ["kind", "follow"])]
    injected: bool,
    /// Not before this time
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Not after this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// At most N [default: 50 on a terminal, else all]
    #[arg(short, long, value_name = "N", value_parser = how_many)]
    limit: Option<u32>,
    /// Show all
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Oldest first
    #[arg(long)]
    reverse: bool,
    /// Show the newest ten (or `-l N`), then each new event of any process
    #[arg(short, long, conflicts_with_all = ["all", "until", "reverse"])]
    follow: bool,
}

pub(crate) fn run(args: LogArgs, app: &App) -> Result<Outcome, CliError> {
    // Clap's `args_conflicts_with_subcommands` would take `--json` for a filter.
    if args.command.is_some() && args.filters != Filters::default() {
        return Err(
            CliError::invalid("filters belong to `icm log`, not to its subcommands")
                .with_hint("leave them out, or leave the subcommand out"),
        );
    }
    match args.command {
        Some(LogCommand::Show(args)) => show::run(args, app),
        Some(LogCommand::Verify(args)) => verify::run(args, app),
        Some(LogCommand::Heads(args)) => heads::run(args, app),
        Some(LogCommand::Export(args)) => export::run(args, app),
        Some(LogCommand::Import(args)) => import::run(args, app),
        Some(LogCommand::Repair(args)) => repair::run(args, app),
        None => list(args.filters, app),
    }
}

fn list(filters: Filters, app: &App) -> Result<Outcome, CliError> {
    let limit = match filters.limit {
        None if filters.follow => None,
        Some(limit) => Some(limit as usize),
        None if app.ui.is_terminal() && !filters.all => Some(LIMIT_ON_TERMINAL),
        None => None,
    };
    let request = LogRequest {
        kind: filters.kind,
        id: filters.id,
        topic: filters.topic,
        memoir: filters.memoir,
        actor: filters.actor,
        session: filters.session,
        since: filters.since,
        until: filters.until,
        oldest_first: filters.reverse,
        limit,
        cursor: None,
    };

    if filters.follow {
        return follow::run(request, app);
    }
    if filters.injected {
        return injected::run(&request, app);
    }

    let mut written = Ok(());
    let mut waiting = Vec::new();
    let events = app.service()?.log(&request, &mut |entry| {
        written = if app.ui.json {
            app.ui.json_line(&entry)
        } else if app.ui.is_terminal() {
            waiting.push(entry);
            match waiting.len() {
                TERMINAL_ROWS => print(app, &mut waiting),
                _ => Ok(()),
            }
        } else {
            columns::print_row(&app.ui, &row(&app.ui, &entry, ID_LEN), &WIDTHS)
        };
        // The reader has closed the pipe, so reading the log stops.
        written.is_ok()
    });
    written?;
    print(app, &mut waiting)?;
    let events = events?;

    if events == 0 {
        let unknown = match &request.actor {
            Some(actor) => app.service()?.unknown_actor(actor)?,
            None => None,
        };
        let why = unknown.map_or(String::new(), |why| format!(": {}", one_line(&why)));
        app.ui.remark(format_args!("no events{why}"));
    } else if filters.limit.is_none() && Some(events) == limit.map(|limit| limit as u64) {
        tell_rest(&app.ui, &format!("first {events}"));
    }
    Ok(Outcome::Fine)
}

/// Rows whose columns are aligned together. Raised, the first rows appear later.
const TERMINAL_ROWS: usize = 200;
/// Steps that make room for the summary. The position names an event as well as its id.
const STEPS: [Step; 6] = [
    Step::Drop(1),
    Step::Cut(4, 16),
    Step::Short(2),
    Step::Cut(4, 10),
    Step::Drop(4),
    Step::Drop(3),
];

fn print(app: &App, entries: &mut Vec<LogEntry>) -> Result<(), CliError> {
    let ids: Vec<&str> = entries
        .iter()
        .filter_map(|e| e.subject.as_deref())
        .collect();
    let id_len = short_id_len(app, &ids)?;
    let mut rows: Vec<_> = (entries.iter().map(|entry| row(&app.ui, entry, id_len))).collect();
    columns::fit(&app.ui, &mut rows, &STEPS);
    columns::print(&app.ui, &rows)?;
    entries.clear();
    Ok(())
}

/// Column widths in a pipe, where rows come one by one: those of nearly all rows.
const WIDTHS: [usize; 6] = [6, 12, 16, 12, 12, 0];

fn row(ui: &Ui, entry: &LogEntry, id_len: usize) -> Vec<Cell> {
    let style = if entry.body == "present" { PLAIN } else { WARN };
    // The summary of a stored memory names it; other events need the memory's id.
    let withheld = entry.summary == "(withheld)";
    let about = match entry.subject.as_deref() {
        Some(id) if withheld || entry.kind != "memory.stored" => {
            let id = id.get(..id_len).unwrap_or(id);
            match withheld {
                true => id.to_owned(),
                false => format!("{id} {}", entry.summary),
            }
        }
        _ => entry.summary.clone(),
    };
    let summary = if entry.body == "present" {
        about
    } else {
        format!("({}) {about}", entry.body)
    };
    // A narrow terminal shows `stored` for `memory.stored`.
    vec![
        Cell::new(format!("@{}", entry.position)).style(BOLD),
        Cell::new(short_event(&entry.event)).style(DIM),
        Cell::new(&entry.kind).or_short(verb_of(&entry.kind)),
        Cell::new(when::ago(ui.now, &entry.at)).style(DIM),
        Cell::new(&entry.actor).style(DIM),
        Cell::new(summary).style(style),
    ]
}
