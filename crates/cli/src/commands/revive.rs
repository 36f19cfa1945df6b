//! `icm revive`

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::app::App;
use crate::error::{CliError, Outcome};
use crate::memory_view;

/// Bring a forgotten memory back
#[derive(Debug, Args)]
pub(crate) struct ReviveArgs {
    /// Id or its beginning; see `icm list --forgotten`
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

pub(crate) fn run(args: ReviveArgs, app: &App) -> Result<Outcome, CliError> {
    let receipt = app.service()?.revive(&app.caller()?, &args.id)?;

    if app.ui.json {
        app.ui.json(&receipt)?;
    } else {
        memory_view::print_receipt(&app.ui, &receipt)?;
    }
    Ok(Outcome::Fine)
}
