//! Parts that `icm init`, `icm uninstall` and `icm doctor --clients` share: the machine, and a plan that is shown and
//! carried out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use directories::BaseDirs;
use icm_api::error::plain;
use icm_clients::install::{self, InstallError, Machine, Os, Outcome as Became, Plan, Step};
use icm_clients::names::Client;
use serde_json::{Value, json};

use crate::app::{App, Origin};
use crate::columns::{self, Cell};
use crate::config;
use crate::error::{CliError, Outcome};
use crate::text::{count, one_line};
use crate::ui::{BAD, DIM, GOOD, WARN};

/// Returns the folders, variables and system of this machine.
pub(super) fn machine() -> Result<Machine, CliError> {
    let dirs = BaseDirs::new().ok_or_else(|| {
        CliError::failed("no home folder, so no files of clients").with_hint("set `HOME`")
    })?;
    let home = dirs.home_dir();
    if !home.is_dir() {
        return Err(
            CliError::failed(format!("there is no home folder {}", home.display()))
                .with_hint("set `HOME` to the folder of the user"),
        );
    }
    let env = std::env::vars_os();
    let env =
        env.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    // An empty variable counts as not set.
    let env = env.filter(|(_, value)| !value.is_empty());
    let programs = std::env::var_os("PATH").unwrap_or_default();
    Ok(Machine {
        home: dirs.home_dir().to_path_buf(),
        env: env.collect(),
        programs: std::env::split_paths(&programs)
            .filter(|folder| folder.is_absolute())
            .collect(),
        os: Os::current(),
    })
}

/// Returns the folder with the list of written files. The folder lies beside the default store, which holds only its
/// own files.
pub(super) fn list() -> Result<PathBuf, CliError> {
    let store = config::default_db()?;
    let store = store.ok_or_else(|| {
        CliError::failed("no home folder to keep the list of written files in")
            .with_hint("set `HOME`")
    })?;
    Ok(store.with_file_name("icm-clients"))
}

/// Returns the path of this program for entries: the one in `PATH` if it is the same program, because an update moves
/// its target.
pub(super) fn program(machine: &Machine) -> Result<PathBuf, CliError> {
    let this = std::env::current_exe()
        .map_err(|error| CliError::io("cannot find the program icm", &error))?;
    let real = |path: &Path| path.canonicalize().ok();
    let found = machine
        .program("icm")
        .filter(|found| real(found).is_some() && real(found) == real(&this));
    let path = found.unwrap_or(this);
    match path.to_str() {
        Some(_) => Ok(path),
        None => Err(
            CliError::invalid(format!("{} is not UTF-8", path.display()))
                .with_hint("move icm to another folder"),
        ),
    }
}

/// Returns the variables that lead every client to the store and the config file of this shell.
pub(super) fn env(app: &App) -> Result<BTreeMap<String, String>, CliError> {
    let mut env = BTreeMap::new();
    let mut add = |name: &str, path: &Path| -> Result<(), CliError> {
        let path = std::path::absolute(path)
            .map_err(|error| CliError::io("cannot find the store's folder", &error))?;
        let text = path.to_str().map(str::to_owned);
        let text = text.ok_or_else(|| {
            CliError::invalid(format!("{} is not UTF-8", path.display()))
                .with_hint("rename it: the settings of clients are UTF-8")
        })?;
        env.insert(name.to_owned(), text);
        Ok(())
    };
    let (db, origin) = app.db()?;
    if origin != Origin::Default {
        add("ICM_DB", &db)?;
    }
    if let Some((path, origin)) = app.config_path()
        && origin != Origin::Default
    {
        add("ICM_CONFIG", &path)?;
    }
    Ok(env)
}

/// The texts of a command that shows a plan and carries it out.
pub(super) struct Words {
    /// `write`, before `3 files`.
    pub(super) verb: &'static str,
    /// `writing`.
    pub(super) doing: &'static str,
    /// `wrote`.
    pub(super) done: &'static str,
    /// The remark after a no.
    pub(super) refused: &'static str,
    /// The remark if nothing has to be done.
    pub(super) idle: &'static str,
}

/// The result of a plan that was shown.
pub(super) struct Went {
    pub(super) outcome: Outcome,
    /// `true` if files were written.
    pub(super) wrote: bool,
}

/// Shows a plan, asks, and carries it out. With `dry_run` it shows the diff of each file and changes nothing.
pub(super) fn go(plan: &Plan, words: &Words, dry_run: bool, app: &App) -> Result<Went, CliError> {
    let changed = plan.steps.iter().filter(|step| step.changes()).count() as u64;
    let alone = plan
        .steps
        .iter()
        .filter(|step| step.refused().is_some())
        .count() as u64;
    let left = match alone {
        0 => Outcome::Fine,
        _ => Outcome::No,
    };
    let files = count(changed, "file", "files");
    if dry_run || changed == 0 {
        if !dry_run {
            // Removes the notes of files that are gone.
            let done: Result<Vec<()>, InstallError> = plan.apply().into_iter().collect();
            done?;
        }
        if app.ui.json {
            app.ui.json(&report(plan, None, dry_run))?;
            return Ok(Went {
                outcome: left,
                wrote: false,
            });
        }
        print(plan, app)?;
        for step in plan.steps.iter().filter(|step| dry_run && step.changes()) {
            app.ui.line(format_args!(""))?;
            diff(step, app)?;
        }
        match changed {
            0 => app.ui.remark(format_args!("{}", words.idle)),
            _ => app.ui.remark(format_args!("would {} {files}", words.verb)),
        }
        tell_alone(alone, app);
        return Ok(Went {
            outcome: left,
            wrote: false,
        });
    }
    if !app.global.yes {
        preview(plan, app);
        let verb = words.verb;
        let question = format!("{}{} {files}?", verb[..1].to_uppercase(), &verb[1..]);
        if !app.agreed(&question, &format!("{} {files}", words.doing))? {
            app.ui.remark(format_args!("{}", words.refused));
            return Ok(Went {
                outcome: Outcome::No,
                wrote: false,
            });
        }
    }
    let done = plan.apply();
    let failed = plan
        .steps
        .iter()
        .zip(&done)
        .filter_map(|(step, done)| Some((step, done.as_ref().err()?)));
    let failed: Vec<(&Step, &InstallError)> = failed.collect();
    if app.ui.json {
        app.ui.json(&report(plan, Some(&done), false))?;
    } else if app.global.yes {
        print(plan, app)?;
    }
    if let Some((step, error)) = failed.first() {
        return Err(not_written(&step.file, error, failed.len() - 1));
    }
    app.ui.remark(format_args!("{} {files}", words.done));
    tell_alone(alone, app);
    Ok(Went {
        outcome: left,
        wrote: true,
    })
}

/// Returns the error of a file that was not written, and of `others` that were not written either.
pub(crate) fn not_written(file: &Path, error: &InstallError, others: usize) -> CliError {
    let more = match others {
        0 => String::new(),
        _ => format!(", and {others} more"),
    };
    CliError::failed(format!("{}: {}{more}", file.display(), plain(error)))
        .with_hint("the other files are done; mend this and run the command again")
}

/// Only shows the files with parts of icm.
pub(super) fn look(plan: &Plan, app: &App) -> Result<Outcome, CliError> {
    match app.ui.json {
        true => app.ui.json(&report(plan, None, false))?,
        false => print(plan, app)?,
    }
    let files = plan
        .steps
        .iter()
        .filter(|step| !step.pieces.is_empty())
        .count() as u64;
    if files == 0 {
        app.ui.remark(format_args!("no file has entries of icm"));
        return Ok(Outcome::Fine);
    }
    let files = count(files, "file has", "files have");
    app.ui.remark(format_args!(
        "{files} entries of icm: `icm uninstall` removes them"
    ));
    Ok(Outcome::No)
}

fn tell_alone(alone: u64, app: &App) {
    if alone > 0 {
        let files = count(alone, "file was left alone", "files were left alone");
        app.ui.remark(format_args!("{files}, see `!` above"));
    }
}

/// A line about a piece of a plan.
struct Line {
    sign: &'static str,
    client: Client,
    what: &'static str,
    file: String,
}

impl Line {
    fn texts(&self) -> [&str; 4] {
        [self.sign, self.client.title(), self.what, &self.file]
    }
}

fn lines(plan: &Plan) -> Vec<Line> {
    let mut lines = Vec::new();
    for step in &plan.steps {
        let name = match step.file == step.target {
            true => step.file.display().to_string(),
            false => format!(
                "{} (a link to {})",
                step.file.display(),
                step.target.display()
            ),
        };
        let refused = step.refused().is_some() && !step.changes();
        for piece in &step.pieces {
            let (sign, file) = match &piece.outcome {
                Became::Refused(error) => ("!", format!("{name}: {error}")),
                _ if refused => continue,
                Became::Added => ("+", name.clone()),
                Became::Updated => ("~", name.clone()),
                Became::Removed => ("-", name.clone()),
                _ => ("=", name.clone()),
            };
            lines.push(Line {
                sign,
                client: piece.client,
                what: piece.what.name(),
                file,
            });
        }
    }
    lines
}

fn print(plan: &Plan, app: &App) -> Result<(), CliError> {
    let rows: Vec<Vec<Cell>> = lines(plan)
        .iter()
        .map(|line| {
            let [sign, client, what, file] = line.texts();
            let style = match sign {
                "!" => BAD,
                "=" => DIM,
                "~" => WARN,
                _ => GOOD,
            };
            vec![
                Cell::new(sign).style(style),
                Cell::new(client),
                Cell::new(what).style(DIM),
                Cell::new(file),
            ]
        })
        .collect();
    columns::print(&app.ui, &rows)?;
    for note in &plan.notes {
        app.ui.note(note);
    }
    Ok(())
}

/// Prints the lines before the question to stderr, aligned as by [`print`].
fn preview(plan: &Plan, app: &App) {
    let lines = lines(plan);
    let widest = |text: fn(&Line) -> &str| lines.iter().map(|line| text(line).len()).max();
    let client_len = widest(|line| line.client.title()).unwrap_or_default();
    let what_len = widest(|line| line.what).unwrap_or_default();
    for line in &lines {
        let [sign, client, what, file] = line.texts();
        app.ui.preview(format_args!(
            "{sign}  {client:client_len$}  {what:what_len$}  {}",
            one_line(file)
        ));
    }
    for note in &plan.notes {
        app.ui.note(note);
    }
}

fn diff(step: &Step, app: &App) -> Result<(), CliError> {
    for line in step.diff().lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') => GOOD,
            Some(b'-') => BAD,
            _ => DIM,
        };
        let line = crate::text::cleaned(line);
        app.ui
            .line(format_args!("{}", app.ui.paint(style, &line)))?;
    }
    Ok(())
}

fn report(plan: &Plan, done: Option<&[Result<(), InstallError>]>, dry_run: bool) -> Value {
    let steps = plan.steps.iter().enumerate().map(|(at, step)| {
        let pieces = step.pieces.iter().map(|piece| {
            let (outcome, reason) = match &piece.outcome {
                Became::Added => ("added", None),
                Became::Updated => ("updated", None),
                Became::Removed => ("removed", None),
                Became::Refused(error) => ("left alone", Some(error.to_string())),
                _ => ("same", None),
            };
            json!({"client": piece.client.name(), "what": piece.what.name(), "outcome": outcome, "reason": reason})
        });
        let error = done.and_then(|done| done[at].as_ref().err());
        let mut object = json!({
            "file": step.file.to_string_lossy(),
            "changes": step.changes(),
            "pieces": pieces.collect::<Vec<_>>(),
            "error": error.map(ToString::to_string),
        });
        if dry_run {
            object["diff"] = step.diff().into();
        }
        object
    });
    let checks = plan
        .clients
        .iter()
        .map(|client| json!({"client": client.name(), "check": install::check(*client)}));
    json!({
        "done": done.is_some(),
        "steps": steps.collect::<Vec<_>>(),
        "notes": plan.notes,
        "clients": checks.collect::<Vec<_>>(),
    })
}
