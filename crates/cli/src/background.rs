//! Work that goes on when the answer is out and the command has ended.

use std::path::Path;
use std::process::Command;
#[cfg(unix)]
use std::process::Stdio;

/// Builds the views of a store anew in a process of its own, with this config file if there is one. Whether that was
/// begun.
pub(crate) fn rebuild(db: &Path, config: Option<&Path>) -> bool {
    begin(db, config).is_some_and(|mut command| command.spawn().is_ok())
}

#[cfg(unix)]
fn begin(db: &Path, config: Option<&Path>) -> Option<Command> {
    use std::os::unix::process::CommandExt;

    let mut command = Command::new(std::env::current_exe().ok()?);
    command.arg("--db").arg(db);
    if let Some(config) = config {
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
fn begin(_: &Path, _: Option<&Path>) -> Option<Command> {
    None
}
