//! Work that goes on when the answer is out and the command has ended.

use std::process::Command;
#[cfg(unix)]
use std::process::Stdio;

use crate::app::App;
#[cfg(unix)]
use crate::app::Origin;

/// Builds the views anew in a process of its own. Whether that was begun.
pub(crate) fn rebuild(app: &App) -> bool {
    begin(app).is_some_and(|mut command| command.spawn().is_ok())
}

#[cfg(unix)]
fn begin(app: &App) -> Option<Command> {
    use std::os::unix::process::CommandExt;

    let mut command = Command::new(std::env::current_exe().ok()?);
    command.arg("--db").arg(app.db().ok()?.0);
    if let Some((config, origin)) = app.config_path()
        && origin != Origin::Default
    {
        command.arg("--config").arg(config);
    }
    command.args(["--quiet", "rebuild"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Ctrl-C at the prompt is not for it.
    command.process_group(0);
    Some(command)
}

/// A child would hold on to what this process writes to, and whoever reads that would wait for its end.
#[cfg(not(unix))]
fn begin(_: &App) -> Option<Command> {
    None
}
