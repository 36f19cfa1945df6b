//! `icm init`

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use icm_clients::install::{self, Plan, Request, Scope, What};
use icm_clients::names::Client;
use serde_json::json;

use super::clients::{self, Words};
use crate::app::App;
use crate::columns::{self, Cell};
use crate::error::{CliError, Outcome};
use crate::text::count;
use crate::ui::DIM;

/// Write icm into the settings of the agent clients on this machine
///
/// Finds the installed clients, shows a line for each file to write, asks once, and writes. Comments, order and
/// everything else in a file are kept. Running this command again changes nothing. `icm uninstall` removes what this
/// command wrote.
///
/// Each entry starts this icm. If `--db`, `ICM_DB` or the config file names a store, the entry names it, too, so that
/// all clients share one store. A file that does not parse is named and left alone; the exit code is then 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm init --dry-run    # only shows the changes
  icm init --client codex cursor
  icm init --mode all --yes")]
pub(crate) struct InitArgs {
    /// Pieces to write [default: mcp, and hooks where the client has them]
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<Mode>,
    /// Only these clients, installed or not; `--list` names them
    #[arg(long = "client", value_name = "NAME", num_args = 1.., value_parser = names(), hide_possible_values = true)]
    clients: Vec<String>,
    /// Write into files of the working folder, which others may share
    #[arg(long)]
    project: bool,
    /// Only list the clients, with those found and their pieces
    #[arg(long, conflicts_with_all = ["mode", "clients", "project", "dry_run", "force"])]
    list: bool,
    /// Show the changes as a diff of each file
    #[arg(long)]
    dry_run: bool,
    /// Replace servers named icm and files of other tools
    #[arg(long)]
    force: bool,
}

/// The kinds of pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// The MCP server
    Mcp,
    /// Hooks, which recall and store without being asked
    Hook,
    /// A skill that tells agents when to recall and to store
    Skill,
    /// The same in a few lines of the client's rules file
    Rules,
    /// All pieces that a client supports
    All,
}

fn names() -> PossibleValuesParser {
    let values = Client::ALL
        .iter()
        .map(|client| PossibleValue::new(client.name()).aliases(client.aliases()));
    PossibleValuesParser::new(values)
}

pub(crate) fn run(args: InitArgs, app: &App) -> Result<Outcome, CliError> {
    if args.list {
        return list(app);
    }
    let machine = clients::machine()?;
    let mut what = match args.mode {
        None => vec![What::Server, What::Hooks],
        Some(Mode::Mcp) => vec![What::Server],
        Some(Mode::Hook) => vec![What::Hooks],
        Some(Mode::Skill) => vec![What::Skill],
        Some(Mode::Rules) => vec![What::Rules],
        Some(Mode::All) => What::ALL.to_vec(),
    };
    what.sort_unstable();
    let folder = std::env::current_dir()
        .map_err(|error| CliError::io("cannot find the working folder", &error))?;
    let request = Request {
        clients: args
            .clients
            .iter()
            .filter_map(|name| Client::named(name))
            .collect(),
        what,
        is_default: matches!(args.mode, None | Some(Mode::All)),
        scope: if args.project {
            Scope::Project(folder)
        } else {
            Scope::User
        },
        icm: clients::program(&machine)?,
        env: clients::env(app)?,
        force: args.force,
    };
    let plan = Plan::install(&request, &machine, &clients::list()?)?;
    if plan.clients.is_empty() {
        if app.ui.json {
            app.ui
                .json(&json!({"done": false, "steps": [], "notes": [], "clients": []}))?;
        }
        app.ui.remark(format_args!(
            "no agent client was found; name one with `--client NAME` (`icm init --list` shows the names)"
        ));
        return Ok(Outcome::No);
    }
    if args.clients.is_empty() {
        let found = count(plan.clients.len() as u64, "agent client", "agent clients");
        app.ui.remark(format_args!("found {found}"));
    }
    let words = Words {
        verb: "write",
        doing: "writing",
        done: "wrote",
        refused: "nothing was written",
        idle: "all files are up to date",
    };
    let went = clients::go(&plan, &words, args.dry_run, app)?;
    if went.wrote {
        app.ui.remark(format_args!(
            "restart running clients; `icm doctor --clients` checks their entries"
        ));
        let written = |client: &&Client| is_written(&plan, **client);
        for client in plan.clients.iter().filter(written) {
            app.ui.remark(format_args!(
                "check {}: {}",
                client.title(),
                install::check(*client)
            ));
        }
    }
    Ok(went.outcome)
}

/// Returns `true` if a written piece can be seen in the client's own check, which lists neither rules nor skills.
fn is_written(plan: &Plan, client: Client) -> bool {
    let is_listed =
        |what| matches!(what, What::Server | What::Hooks) || !install::has(client, What::Server);
    let written = plan.steps.iter().filter(|step| step.changes());
    written
        .flat_map(|step| &step.pieces)
        .any(|piece| piece.client == client && is_listed(piece.what))
}

fn list(app: &App) -> Result<Outcome, CliError> {
    let machine = clients::machine()?;
    let mut rows = Vec::new();
    let mut objects = Vec::new();
    for client in Client::ALL {
        let found = install::found(*client, &machine);
        let takes: Vec<&str> = What::ALL
            .iter()
            .filter(|what| install::has(*client, **what))
            .map(|what| what.name())
            .collect();
        objects.push(json!({
            "client": client.name(),
            "title": client.title(),
            "found": found,
            "takes": takes,
            "check": install::check(*client),
        }));
        let place = found.map_or_else(|| "not found".to_owned(), |path| path.display().to_string());
        rows.push(vec![
            Cell::new(client.name()),
            Cell::new(client.title()).style(DIM),
            Cell::new(takes.join(", ")),
            Cell::new(place).style(DIM),
        ]);
    }
    match app.ui.json {
        true => app.ui.json(&objects)?,
        false => columns::print(&app.ui, &rows)?,
    }
    Ok(Outcome::Fine)
}
