//! `icm model list`

use std::collections::BTreeSet;

use clap::Args;
use icm_embedders::{Embedder, Entry, KNOWN, Record, StaticEmbedder, Store, known};
use serde::Serialize;

use super::{chosen, is_chosen, store};
use crate::app::App;
use crate::columns::{self, Cell};
use crate::config::{self, ModelName};
use crate::error::{CliError, Outcome};
use crate::text::bytes;
use crate::ui::{BAD, BOLD, DIM, GOOD, PLAIN};

/// List the models: in use, installed, and known
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm model list
  icm model list --json")]
pub(crate) struct ModelListArgs {}

#[derive(Serialize)]
struct Listed {
    in_use: String,
    models: Vec<Row>,
}

#[derive(Serialize, Default)]
struct Row {
    name: String,
    /// `built-in`, `none`, `endpoint`, `installed`, `folder` or `known`.
    kind: &'static str,
    in_use: bool,
    /// Installed in the default store, and not in this one.
    in_default_store: bool,
    id: Option<String>,
    dim: Option<usize>,
    /// Approximate size on disk, or of the download.
    bytes: Option<u64>,
    languages: Option<&'static str>,
    /// The reason why the model cannot be used.
    problem: Option<String>,
}

pub(crate) fn run(_: ModelListArgs, app: &App) -> Result<Outcome, CliError> {
    let listed = Listed {
        in_use: chosen(app).to_string(),
        models: rows(app)?,
    };
    if app.ui.json {
        app.ui.json(&listed)?;
        return Ok(Outcome::Fine);
    }
    let cells: Vec<_> = listed.models.iter().map(cells).collect();
    columns::print(&app.ui, &cells)?;
    Ok(Outcome::Fine)
}

fn cells(row: &Row) -> Vec<Cell> {
    let mark = Cell::new(if row.in_use { "*" } else { "" }).style(GOOD);
    let name = match row.kind {
        "known" => PLAIN,
        _ => BOLD,
    };
    let said = match (&row.problem, row.kind) {
        (Some(problem), _) => Cell::new(problem).style(BAD),
        (None, _) if row.in_default_store => Cell::new("installed in the default store"),
        (None, "known") => Cell::new("to install").style(DIM),
        (None, kind) => Cell::new(kind),
    };
    vec![
        mark,
        Cell::new(&row.name).style(name),
        Cell::new(row.dim.map_or_else(String::new, |dim| dim.to_string())).right(),
        Cell::new(row.bytes.map_or_else(String::new, bytes)).right(),
        Cell::new(row.languages.unwrap_or_default()).style(DIM),
        said,
    ]
}

fn rows(app: &App) -> Result<Vec<Row>, CliError> {
    let (in_use, store) = (chosen(app), store(app)?);
    let built_in = StaticEmbedder::built_in();
    let mut elsewhere = BTreeSet::new();
    let mut rows = vec![
        Row {
            name: "static".into(),
            kind: "built-in",
            in_use: in_use == ModelName::Static,
            id: Some(built_in.model().to_owned()),
            dim: Some(built_in.dim()),
            languages: Some("English"),
            ..Row::default()
        },
        Row {
            name: "none".into(),
            kind: "none",
            in_use: in_use == ModelName::None,
            ..Row::default()
        },
        Row {
            name: "endpoint".into(),
            kind: "endpoint",
            in_use: in_use == ModelName::Endpoint,
            dim: app.config.embedding.dim,
            problem: (app.config.endpoint().err())
                .filter(|_| in_use == ModelName::Endpoint)
                .map(|error| error.said()),
            ..Row::default()
        },
    ];
    let mut installed = store.installed();
    // Other stores can use the models of the default store.
    let usual = config::default_db().ok().flatten();
    let usual = usual.filter(|usual| usual.join("models") != store.models_dir());
    for entry in usual.map_or_else(Vec::new, |usual| Store::of(&usual).installed()) {
        if !installed
            .iter()
            .any(|there| there.name.eq_ignore_ascii_case(&entry.name))
        {
            elsewhere.insert(entry.name.clone());
            installed.push(entry);
        }
    }
    let names: Vec<String> = installed.iter().map(|entry| entry.name.clone()).collect();
    let is_there = |name: &str| names.iter().any(|there| there.eq_ignore_ascii_case(name));
    rows.extend(installed.into_iter().map(|Entry { name, record }| Row {
        in_use: is_chosen(app, &name),
        languages: known(&name).map(|known| known.languages),
        kind: "installed",
        in_default_store: elsewhere.contains(&name),
        ..of_record(name, record.map_err(|error| error.to_string()))
    }));
    match &in_use {
        ModelName::Folder(folder) => rows.push(Row {
            in_use: true,
            kind: "folder",
            ..of_record(
                folder.display().to_string(),
                Record::of_folder(folder).map_err(|error| error.to_string()),
            )
        }),
        ModelName::Installed(name) if !is_there(name) => rows.push(Row {
            name: name.clone(),
            kind: "installed",
            in_use: true,
            problem: Some("it is chosen, and not installed".into()),
            ..Row::default()
        }),
        _ => {}
    }
    let to_install = KNOWN.iter().filter(|known| !is_there(known.name));
    rows.extend(to_install.map(|known| Row {
        name: known.name.into(),
        kind: "known",
        dim: Some(known.dim),
        bytes: Some(u64::from(known.size_mb) * 1_000_000),
        languages: Some(known.languages),
        ..Row::default()
    }));
    Ok(rows)
}

fn of_record(name: String, record: Result<Record, String>) -> Row {
    let mut row = Row {
        name,
        ..Row::default()
    };
    match record {
        Ok(record) => {
            row.bytes = Some(record.bytes());
            row.dim = Some(record.dim);
            row.id = Some(record.id);
        }
        Err(problem) => row.problem = Some(problem),
    }
    row
}
