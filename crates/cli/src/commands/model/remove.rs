//! `icm model remove`

use clap::Args;
use icm_embedders::known;

use super::{is_chosen, store};
use crate::app::App;
use crate::config_file::Changes;
use crate::error::{CliError, Outcome};
use crate::text::bytes;
use crate::ui::BOLD;

/// Remove an installed model
///
/// You are asked first; without a terminal give `--yes`. If the model is in use, recall goes back to the built-in
/// model. `icm model install` brings the model back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm model remove all-MiniLM-L6-v2
  icm model remove ours --yes    # without a question")]
pub(crate) struct ModelRemoveArgs {
    /// An installed model
    #[arg(value_name = "NAME")]
    name: String,
}

pub(crate) fn run(args: ModelRemoveArgs, app: &App) -> Result<Outcome, CliError> {
    let store = store(app)?;
    let built_in = ["static", "none", "endpoint"];
    if built_in.contains(&args.name.to_ascii_lowercase().as_str()) {
        return Err(
            CliError::invalid(format!("`{}` cannot be removed", args.name))
                .with_hint("it is not installed; `icm model use` chooses another one"),
        );
    }
    let Some(name) = store.name_of(&args.name) else {
        return Err(match known(&args.name) {
            Some(known) => CliError::invalid(format!("{} is not installed", known.name))
                .with_hint("see `icm model list`"),
            None => store.unknown(&args.name).into(),
        });
    };
    let in_use = is_chosen(app, &name);
    let used = match in_use {
        true => ", which is in use (recall goes back to static)",
        false => "",
    };
    if !app.global.yes {
        match app.ui.confirm(&format!("Remove {name}{used}?")) {
            Some(true) => {}
            Some(false) => {
                app.ui.remark(format_args!("nothing was removed"));
                return Ok(Outcome::No);
            }
            None => {
                let what = format!("removing {name}{used} has to be confirmed");
                return Err(CliError::invalid(what).with_hint("give `--yes`"));
            }
        }
    }
    // The choice is changed first: a choice without its model is worse than a model without a choice.
    if in_use {
        let mut changes = Changes::of("embedding");
        changes.set("model", "static");
        changes.write(app)?;
    }
    let freed = store.remove(&name)?;

    if app.ui.json {
        let answer = serde_json::json!({ "name": name, "bytes": freed, "was_in_use": in_use });
        app.ui.json(&answer)?;
    } else {
        app.ui.line(format_args!(
            "{} {name}, {}",
            app.ui.paint(BOLD, "removed"),
            bytes(freed)
        ))?;
        if in_use {
            app.ui.remark(format_args!("recall uses static again"));
        }
    }
    Ok(Outcome::Fine)
}
