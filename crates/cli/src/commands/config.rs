//! `icm config`

use std::io::Write;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::app::{App, Origin};
use crate::caller;
use crate::columns::{self, Cell};
use crate::config::{ColorWhen, KEYS, TEMPLATE, TIMEOUT_S};
use crate::error::{CliError, Outcome};
use crate::ui::DIM;

/// Show or create the configuration
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    Show(ShowArgs),
    Init(InitArgs),
}

/// Print the values in force and where each comes from
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {}

/// Write a commented config file; never overwrites one
#[derive(Debug, Args)]
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

fn settings(app: &App) -> Result<Vec<Setting>, CliError> {
    let mut settings = Vec::new();
    let mut add = |key, value, from: Origin| {
        settings.push(Setting {
            key,
            value,
            from: from.to_string(),
        });
    };
    let (file, origin) = app.config_path().unzip();
    let file = file.map(|path| path.to_string_lossy().into_owned());
    add("config", file.into(), origin.unwrap_or(Origin::Default));
    let (db, origin) = app.db()?;
    add("db", db.to_string_lossy().into(), origin);

    let config = &app.config;
    let from = |set: bool| if set { Origin::File } else { Origin::Default };
    add(
        "recall.limit",
        config.recall_limit.unwrap_or(10).into(),
        from(config.recall_limit.is_some()),
    );
    add(
        "recall.record",
        config.recall_record.unwrap_or(true).into(),
        from(config.recall_record.is_some()),
    );
    add(
        "recall.links",
        config.recall_links.unwrap_or(true).into(),
        from(config.recall_links.is_some()),
    );
    for (name, value) in config.ranking.settings() {
        let is_this = |key: &&str| key.strip_prefix("ranking.") == Some(name);
        let key = KEYS.iter().copied().find(is_this);
        let key = key.expect("every setting of a ranking is a key");
        let value = match name {
            "candidates" | "nearest" | "expand" => (value as u64).into(),
            _ => value.into(),
        };
        add(key, value, from(config.ranking_given.contains(key)));
    }
    let model = config.embedding_model.clone().unwrap_or_default();
    add(
        "embedding.model",
        model.to_string().into(),
        from(config.embedding_model.is_some()),
    );
    for (key, value) in [
        ("embedding.url", &config.embedding_url),
        ("embedding.endpoint_model", &config.embedding_endpoint_model),
        ("embedding.key_env", &config.embedding_key_env),
    ] {
        add(key, value.clone().into(), from(value.is_some()));
    }
    let dim = config.embedding_dim;
    add("embedding.dim", dim.into(), from(dim.is_some()));
    let timeout_s = config.embedding_timeout_s;
    add(
        "embedding.timeout_s",
        timeout_s.unwrap_or(TIMEOUT_S).into(),
        from(timeout_s.is_some()),
    );
    let secrets = config.secrets_action;
    add(
        "secrets.action",
        secrets.unwrap_or_default().name().into(),
        from(secrets.is_some()),
    );
    add(
        "secrets.allow",
        config.secrets_allow.clone().unwrap_or_default().into(),
        from(config.secrets_allow.is_some()),
    );
    add(
        "dedup.similar",
        config.dedup_similar.unwrap_or(0.85).into(),
        from(config.dedup_similar.is_some()),
    );
    add(
        "dedup.on_similar",
        config.dedup_on_similar.unwrap_or_default().name().into(),
        from(config.dedup_on_similar.is_some()),
    );
    let decay = &config.decay;
    let part = |ppm: u32| (f64::from(ppm) / 1e6).into();
    for (key, value) in [
        ("decay.auto", decay.auto.into()),
        ("decay.rate", part(decay.rate_ppm)),
        ("decay.critical", part(decay.critical_ppm)),
        ("decay.high", part(decay.high_ppm)),
        ("decay.medium", part(decay.medium_ppm)),
        ("decay.low", part(decay.low_ppm)),
        ("decay.prune_threshold", part(decay.prune_threshold_ppm)),
    ] {
        add(key, value, from(config.decay_given.contains(key)));
    }
    add(
        "consolidate.hint_over",
        config.consolidate_hint_over.unwrap_or(7).into(),
        from(config.consolidate_hint_over.is_some()),
    );
    add(
        "summarizer.command",
        config.summarizer_command.clone().into(),
        from(config.summarizer_command.is_some()),
    );
    add(
        "summarizer.timeout_s",
        config.summarizer_timeout().as_secs_f64().into(),
        from(config.summarizer_timeout_s.is_some()),
    );
    add(
        "output.color",
        config.output_color.unwrap_or(ColorWhen::Auto).name().into(),
        from(config.output_color.is_some()),
    );

    // Not settings of the file, but what else decides what is written.
    let caller = app.caller()?;
    let named = |name: Option<&'static str>| name.map_or(Origin::Default, Origin::Env);
    add("actor", caller.actor.into(), named(caller::actor()?.0));
    let session_from = caller::session()?.map(|(name, _)| name);
    add("session", caller.session.into(), named(session_from));
    let project_from = match caller.project {
        Some(_) => Origin::Folder,
        None => Origin::Default,
    };
    add("project", caller.project.into(), project_from);
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
            .with_hint("edit it, or see what is in force with `icm config show`"),
        _ => failed(e),
    })?;
    file.write_all(TEMPLATE.as_bytes()).map_err(failed)?;

    if app.ui.json {
        app.ui
            .json(&serde_json::json!({ "config": path.to_string_lossy() }))?;
    } else {
        app.ui.line(format_args!("wrote {name}"))?;
    }
    Ok(Outcome::Fine)
}
