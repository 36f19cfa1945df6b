//! `icm model use`

use std::path::Path;

use clap::Args;
use icm_embedders::{Choice, Embedder, EndpointEmbedder, ModelError, Record, Store, known};

use crate::app::App;
use crate::config::ModelName;
use crate::config_file::Changes;
use crate::error::{CliError, Outcome};
use crate::ui::BOLD;

/// Choose the model for recall, in the config file
///
/// The model is checked first: an installed model or a folder must be complete, a server must answer. For a model on a
/// server, the number of its dimensions is also written into the config file. Comments and everything else in the file
/// are kept. Vectors of the new model are made when they are needed; those of the old model are kept.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm model use all-MiniLM-L6-v2
  icm model use endpoint --url http://localhost:11434 --endpoint-model nomic-embed-text
  icm model use none    # recall by words alone")]
pub(crate) struct ModelUseArgs {
    /// static, none, endpoint, the name of an installed model, or a model's folder
    #[arg(value_name = "MODEL")]
    model: String,
    /// The server's address, with or without /v1
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Name of the model on the server
    #[arg(long, value_name = "NAME")]
    endpoint_model: Option<String>,
    /// The environment variable with the server's key
    #[arg(long, value_name = "VARIABLE")]
    key_env: Option<String>,
}

pub(crate) fn run(args: ModelUseArgs, app: &App) -> Result<Outcome, CliError> {
    let mut changes = Changes::of("embedding");
    let of_endpoint = [
        ("url", &args.url),
        ("endpoint_model", &args.endpoint_model),
        ("key_env", &args.key_env),
    ];
    for (key, value) in of_endpoint {
        if let Some(value) = value {
            changes.set(key, value.as_str());
        }
    }
    if args.model != "endpoint" && !changes.is_empty() {
        return Err(CliError::invalid(
            "`--url`, `--endpoint-model` and `--key-env` belong to `endpoint`",
        )
        .with_hint("`icm model use endpoint …`"));
    }
    if args.model.is_empty() {
        return Err(CliError::invalid("no model is named").with_hint(SEE));
    }
    let working = std::env::current_dir().unwrap_or_default();
    // A path of the shell is relative to the working folder, not to the config file.
    let name = ModelName::from(args.model).within(&working);
    let (model, dim) = match name {
        ModelName::Static | ModelName::None => (name.to_string(), None),
        ModelName::Endpoint => {
            // The dimension of the old server or model no longer counts.
            let is_other = args.url.is_some() || args.endpoint_model.is_some();
            if is_other {
                changes.remove("dim");
            }
            let endpoint = changes.preview(app)?.endpoint()?;
            let dim = EndpointEmbedder::probe(&endpoint).map_err(ModelError::from)?;
            changes.set("dim", dim as i64);
            ("endpoint".to_owned(), Some(dim))
        }
        ModelName::Folder(folder) => {
            let record = Record::of_folder(&folder).map_err(ModelError::from)?;
            let folder = std::path::absolute(&folder).unwrap_or(folder);
            (in_utf8(&folder)?, Some(record.dim))
        }
        ModelName::Installed(name) => installed(app, &name)?,
    };
    changes.set("model", model.as_str());
    // The store will be opened with this model, so it is opened once here.
    let choice = changes.preview(app)?.embedding()?;
    icm_embedders::open(&choice, &app.models_of(&choice)?).map_err(ModelError::from)?;
    let path = changes.write(app)?;

    if app.ui.json {
        app.ui.json(&serde_json::json!({
            "model": model,
            "dim": dim,
            "config": path.to_string_lossy(),
        }))?;
    } else {
        let dim = dim.map_or_else(String::new, |dim| format!(", {dim} numbers a vector"));
        app.ui.line(format_args!(
            "{} {model}{dim} (in {})",
            app.ui.paint(BOLD, "using"),
            path.display()
        ))?;
    }
    Ok(Outcome::Fine)
}

const SEE: &str = "see `icm model list`";

/// Returns the model's name as the folder spells it, and its dimension.
fn installed(app: &App, name: &str) -> Result<(String, Option<usize>), CliError> {
    let store = Store::of(&app.models_of(&Choice::Installed(name.to_owned()))?);
    match store.name_of(name) {
        Some(name) => {
            let embedder = store.embedder(&name);
            let embedder = embedder.map_err(ModelError::from)?;
            Ok((name, Some(embedder.dim())))
        }
        None if known(name).is_some() => Err(CliError::invalid(format!(
            "the model {name} is not installed"
        ))
        .with_hint(format!("`icm model install {name}`"))),
        None => {
            let unknown = store.unknown(name);
            let hint = unknown.hint().unwrap_or(SEE).to_owned();
            Err(CliError::invalid(unknown.to_string()).with_hint(format!(
                "{hint}; static, none and endpoint are always available"
            )))
        }
    }
}

fn in_utf8(folder: &Path) -> Result<String, CliError> {
    folder.to_str().map(str::to_owned).ok_or_else(|| {
        CliError::invalid(format!("{} is not UTF-8", folder.display()))
            .with_hint("rename the folder: a path in the config file is UTF-8")
    })
}
