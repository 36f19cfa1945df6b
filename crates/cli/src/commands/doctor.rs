//! `icm doctor`

mod clients;

use clap::Args;
use icm_api::{Check, CheckStatus, Checkup};
use icm_server::owner::Owners;
use icm_service::{Ground, Model, Service};

use super::hook::journal::failures;
use crate::app::App;
use crate::columns::{self, Cell};
use crate::error::{CliError, Outcome};
use crate::progress::Bar;
use crate::text;
use crate::ui::{BAD, BOLD, DIM, GOOD, Ui, WARN};

/// Check the store and its surroundings, and say what to do
///
/// Checks the log, the views, locks, free space, permissions, the clock, the config file and the place of the store.
/// Changes nothing, and works even if the store cannot be opened. Exits with 3 for damage, with 1 for other problems,
/// with 0 for warnings.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm doctor
  icm doctor --full
  icm doctor --clients    # starts the entry of each agent client")]
pub(crate) struct DoctorArgs {
    /// Read every event of a log over 32 MiB, not only its ends, and every byte of the views
    #[arg(long)]
    full: bool,
    /// Start the entry of each agent client as the client would, and show its store
    ///
    /// Checks only the files that `icm init` writes, for the user and the working folder. Names running servers of
    /// another version (on Linux).
    #[arg(long, conflicts_with = "full")]
    clients: bool,
}

pub(crate) fn run(args: DoctorArgs, app: &App) -> Result<Outcome, CliError> {
    if args.clients {
        let mut checks = clients::checks(app)?;
        checks.extend(hooks(app));
        return finish(checks, false, app);
    }
    let mut checks = vec![config(app), model(app)];
    let mut damaged = false;
    match app.db() {
        Ok((dir, _)) => {
            let bar = Bar::new(&app.ui);
            let checkup = Service::doctor(&dir, args.full, &Ground::system(), &Owners, &bar);
            drop(bar);
            damaged = checkup.damaged;
            checks.extend(checkup.checks);
        }
        Err(error) => checks.push(problem("store", &error)),
    }
    checks.extend(hooks(app));
    finish(checks, damaged, app)
}

/// Returns a warning if hooks failed in the last day, because their clients do not show such failures.
fn hooks(app: &App) -> Option<Check> {
    let (store, _) = app.db().ok()?;
    let failures = failures(&store, app.ui.now)?;
    let count = text::count(failures.count, "hook", "hooks");
    Some(Check {
        name: "hooks".into(),
        status: CheckStatus::Warning,
        message: format!(
            "{count} failed in the last day, the newest: {}; see {}",
            failures.newest,
            failures.file.display()
        ),
        command: None,
    })
}

fn finish(checks: Vec<Check>, damaged: bool, app: &App) -> Result<Outcome, CliError> {
    let checkup = Checkup {
        ok: checks
            .iter()
            .all(|check| check.status != CheckStatus::Problem),
        checks,
        damaged,
    };

    if app.ui.json {
        app.ui.json(&checkup)?;
    } else {
        print(&app.ui, &checkup)?;
    }
    Ok(match checkup.ok {
        _ if checkup.damaged => Outcome::Damage,
        true => Outcome::Fine,
        false => Outcome::No,
    })
}

fn config(app: &App) -> Check {
    if let Some(error) = &app.config_problem {
        return problem("config", error);
    }
    let path = app.config_path().map(|(path, _)| path);
    let message = match path.filter(|path| path.exists()) {
        Some(path) => path.display().to_string(),
        None => "no file, the defaults are in force".into(),
    };
    Check {
        name: "config".into(),
        status: CheckStatus::Ok,
        message,
        command: None,
    }
}

/// Returns a check of the chosen model. Nothing is loaded, and no server is asked.
fn model(app: &App) -> Check {
    let (status, message, command) = match app.model(&app.config) {
        Err(error) => return problem("model", &error),
        Ok(Model::BuiltIn) => (CheckStatus::Ok, "the built-in model".to_owned(), None),
        Ok(Model::None) => (
            CheckStatus::Ok,
            "none: recall by words alone".to_owned(),
            None,
        ),
        Ok(Model::Other(model)) => (CheckStatus::Ok, model.name().to_owned(), None),
        Ok(Model::Unusable(error)) => (
            CheckStatus::Problem,
            icm_api::error::plain(error),
            Some("icm model use static".to_owned()),
        ),
    };
    Check {
        name: "model".into(),
        status,
        message,
        command,
    }
}

fn problem(name: &str, error: &CliError) -> Check {
    Check {
        name: name.into(),
        status: CheckStatus::Problem,
        message: error.said(),
        command: None,
    }
}

fn print(ui: &Ui, checkup: &Checkup) -> Result<(), CliError> {
    let names = checkup.checks.iter().map(|check| text::width(&check.name));
    let widths = [names.max().unwrap_or(0), "problem".len(), 0];
    for check in &checkup.checks {
        let (word, style) = match check.status {
            CheckStatus::Ok => ("ok", GOOD),
            CheckStatus::Warning => ("warning", WARN),
            CheckStatus::Problem => ("problem", BAD),
        };
        let command = check.command.as_ref();
        let command = command.map_or_else(String::new, |command| format!(" — `{command}`"));
        let message = text::one_line(&format!("{}{command}", check.message));
        let indent = widths[0] + widths[1] + 4;
        let room = ui.columns.map(|columns| columns.saturating_sub(indent));
        // The advice must not be cut off.
        let mut lines = text::wrap(&message, room).into_iter();
        let row = [
            Cell::new(&check.name).style(DIM),
            Cell::new(word).style(style),
            Cell::new(lines.next().unwrap_or_default()),
        ];
        columns::print_row(ui, &row, &widths)?;
        for line in lines {
            ui.line(format_args!("{}{line}", " ".repeat(indent)))?;
        }
    }
    let count = |status| {
        let checks = checkup.checks.iter();
        checks.filter(|check| check.status == status).count() as u64
    };
    let verdict = match (count(CheckStatus::Problem), count(CheckStatus::Warning)) {
        (0, 0) => "all is well".to_string(),
        (0, warnings) => text::count(warnings, "warning", "warnings"),
        (problems, 0) => text::count(problems, "problem", "problems"),
        (problems, warnings) => format!(
            "{}, {}",
            text::count(problems, "problem", "problems"),
            text::count(warnings, "warning", "warnings")
        ),
    };
    ui.remark(format_args!("{}", ui.paint(BOLD, &verdict)));
    Ok(())
}
