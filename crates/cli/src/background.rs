//! Work that continues in another process after the command has ended.

use std::path::Path;
use std::process::Command;
#[cfg(unix)]
use std::process::Stdio;

/// Starts a rebuild of a store's views in a process of its own, with this config file if one is given. Returns `true`
/// if the process was started.
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
    // Ctrl-C at the prompt must not end the rebuild.
    command.process_group(0);
    Some(command)
}

/// Starts nothing outside Unix: a child would inherit this process's pipes, and their reader would wait for its end.
#[cfg(not(unix))]
fn begin(_: &Path, _: Option<&Path>) -> Option<Command> {
    None
}
