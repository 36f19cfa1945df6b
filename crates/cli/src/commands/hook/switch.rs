//! `icm hook on` and `icm hook off`

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::ignore_file;
use crate::app::App;
use crate::config_file::Changes;
use crate::error::{CliError, Outcome};

/// The file's text for people who find the file.
const IGNORE_TEXT: &str = "\
# Hooks of icm do nothing in this folder and below it. `icm hook on --project` removes this file.
";

pub(super) fn set(on: bool, project: bool, app: &App) -> Result<Outcome, CliError> {
    let word = if on { "on" } else { "off" };
    let (place, changed) = match project {
        true => set_in(&project_folder()?, on)?,
        false => {
            let mut changes = Changes::of("hooks");
            changes.set("enabled", on);
            let changed = app.config.hooks.enabled != on;
            let path = match changed {
                true => changes.write(app)?,
                false => app.config_path().map(|(path, _)| path).unwrap_or_default(),
            };
            (path, changed)
        }
    };
    if app.ui.json {
        let answer = serde_json::json!({ "hooks": word, "file": place, "changed": changed });
        app.ui.json(&answer)?;
        return Ok(Outcome::Fine);
    }
    let of = if project {
        "in this project"
    } else {
        "for this user"
    };
    let line = match changed {
        true if on && project => format!("hooks are {word} {of}; {} is gone", place.display()),
        true => format!("hooks are {word} {of} ({})", place.display()),
        false => format!("hooks were {word} {of} already"),
    };
    app.ui.line(format_args!("{line}"))?;
    Ok(Outcome::Fine)
}

fn set_in(folder: &Path, on: bool) -> Result<(PathBuf, bool), CliError> {
    let file = ignore_file(folder);
    let failed =
        |error: std::io::Error| CliError::io(format!("cannot change {}", file.display()), &error);
    let changed = match on {
        true => match std::fs::remove_file(&file) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) => return Err(failed(error)),
        },
        false if file.exists() => false,
        false => {
            std::fs::write(&file, IGNORE_TEXT).map_err(failed)?;
            true
        }
    };
    Ok((file, changed))
}

/// Returns the folder of the project: the nearest one with `.git` from here upwards, or else the working folder.
fn project_folder() -> Result<PathBuf, CliError> {
    let here =
        std::env::current_dir().map_err(|error| CliError::io("no working folder", &error))?;
    let with_git = here.ancestors().find(|folder| folder.join(".git").exists());
    Ok(with_git.unwrap_or(&here).to_owned())
}
