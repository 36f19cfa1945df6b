//! `icm config`

use std::io::Write;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::app::{App, Origin};
use crate::caller;
use crate::columns::{self, Cell};
use crate::config::template;
use crate::error::{CliError, Outcome};
use crate::ui::DIM;

/// Show or create the configuration
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm config show
  icm config init")]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    Show(ShowArgs),
    Init(InitArgs),
}

/// Print the values in force and the source of each
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm config show
  icm config show --json")]
pub(crate) struct ShowArgs {}

/// Write a commented config file; never overwrites a file
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm config init
  icm config init --config ~/icm.toml")]
pub(crate) struct InitArgs {}

pub(crate) fn run(args: ConfigArgs, app: &App) -> Result<Outcome, CliError> {
    match args.command {
        ConfigCommand::Show(_) => show(app),
        ConfigCommand::Init(_) => init(app),
    }
}

/// One value in force.
#[derive(Serialize)]
struct Setting {
    key: &'static str,
    value: serde_json::Value,
    from: String,
}

impl Setting {
    fn new(key: &'static str, value: impl Into<serde_json::Value>, from: Origin) -> Setting {
        Setting {
            key,
            value: value.into(),
            from: from.to_string(),
        }
    }
}

fn show(app: &App) -> Result<Outcome, CliError> {
    let settings = settings(app)?;
    if app.ui.json {
        app.ui.json(&settings)?;
        return Ok(Outcome::Fine);
    }
    let rows: Vec<_> = settings
        .iter()
        .map(|setting| {
            let value = match &setting.value {
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Null => "none".into(),
                value => value.to_string(),
            };
            vec![
                Cell::new(setting.key),
                Cell::new(value),
                Cell::new(format!("({})", setting.from)).style(DIM),
            ]
        })
        .collect();
    columns::print(&app.ui, &rows)?;
    Ok(Outcome::Fine)
}

/// Returns the settings in force: the config file, the store, each key, and the caller that is written into events.
fn settings(app: &App) -> Result<Vec<Setting>, CliError> {
    let (file, origin) = app.config_path().unzip();
    let file = file.map(|path| path.to_string_lossy().into_owned());
    let origin = origin.unwrap_or(Origin::Default);
    let mut settings = vec![Setting::new("config", file, origin)];
    let (db, db_from) = app.db()?;
    settings.extend(app.config.values().map(|(key, value)| match key.name {
        "db" => Setting::new("db", db.to_string_lossy(), db_from.clone()),
        name if app.config.has(name) => Setting::new(name, value, Origin::File),
        name => Setting::new(name, value, Origin::Default),
    }));

    let caller = app.caller()?;
    let named = |name: Option<&'static str>| name.map_or(Origin::Default, Origin::Env);
    let session_from = caller::session()?.map(|(name, _)| name);
    let project_from = match caller.project {
        Some(_) => Origin::Folder,
        None => Origin::Default,
    };
    settings.extend([
        Setting::new("actor", caller.actor, named(caller::actor()?.0)),
        Setting::new("session", caller.session, named(session_from)),
        Setting::new("project", caller.project, project_from),
    ]);
    Ok(settings)
}

fn init(app: &App) -> Result<Outcome, CliError> {
    let Some((path, _)) = app.config_path() else {
        return Err(
            CliError::failed("no home folder to keep the config file in")
                .with_hint("say where it is with `--config FILE` or `ICM_CONFIG`"),
        );
    };
    let name = path.display();
    let failed = |e: std::io::Error| CliError::io(format!("cannot write {name}"), &e);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let file = std::fs::File::create_new(&path);
    let mut file = file.map_err(|e| match e.kind() {
        std::io::ErrorKind::AlreadyExists => CliError::failed(format!("{name} is already there"))
            .with_hint("edit it, or see the values in force with `icm config show`"),
        _ => failed(e),
    })?;
    file.write_all(template().as_bytes()).map_err(failed)?;

    if app.ui.json {
        app.ui
            .json(&serde_json::json!({ "config": path.to_string_lossy() }))?;
    } else {
        app.ui.line(format_args!("wrote {name}"))?;
    }
    Ok(Outcome::Fine)
}
