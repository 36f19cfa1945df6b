//! `icm model`

mod choose;
mod install;
mod list;
mod remove;

use clap::{Args, Subcommand};
use icm_embedders::{ModelError, Store};

use crate::app::App;
use crate::config::ModelName;
use crate::error::{CliError, Outcome};

/// Choose the model that turns texts into vectors
///
/// Recall also finds memories by meaning, with vectors that a model makes of texts. The built-in model is quick and
/// made for English. Other models understand more or know other languages, but need more time and memory. icm fetches a
/// model only if you run `icm model install`. It sends texts to a server only if you configure and choose one.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm model list
  icm model install    # all-MiniLM-L6-v2, with ONNX Runtime
  icm model use all-MiniLM-L6-v2")]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    List(list::ModelListArgs),
    Install(install::ModelInstallArgs),
    Use(choose::ModelUseArgs),
    Remove(remove::ModelRemoveArgs),
}

pub(crate) fn run(args: ModelArgs, app: &App) -> Result<Outcome, CliError> {
    match args.command {
        ModelCommand::List(args) => list::run(args, app),
        ModelCommand::Install(args) => install::run(args, app),
        ModelCommand::Use(args) => choose::run(args, app),
        ModelCommand::Remove(args) => remove::run(args, app),
    }
}

/// Returns the folder of this store's models.
fn store(app: &App) -> Result<Store, CliError> {
    Ok(Store::of(&app.db()?.0))
}

/// Returns the model that the config file chooses.
fn chosen(app: &App) -> ModelName {
    app.config.embedding.model.clone()
}

/// Returns `true` if the config file chooses the installed model of this name.
fn is_chosen(app: &App, name: &str) -> bool {
    matches!(chosen(app), ModelName::Installed(chosen) if chosen.eq_ignore_ascii_case(name))
}

impl From<ModelError> for CliError {
    fn from(error: ModelError) -> Self {
        let said = match &error {
            ModelError::Io { doing, source } => return CliError::io(doing, source),
            other => CliError::failed(icm_api::error::plain(other)),
        };
        match error.hint() {
            Some(hint) => said.with_hint(hint),
            None => said,
        }
    }
}
