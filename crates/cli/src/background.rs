//! Work that goes on when the answer is out and the command has ended.

use std::process::{Command, Stdio};

use crate::app::{App, Origin};

/// Builds the views anew in a process of its own. Whether that was begun.
pub(crate) fn rebuild(app: &App) -> bool {
    begin(app).is_some_and(|mut command| command.spawn().is_ok())
}

fn begin(app: &App) -> Option<Command> {
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
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    #[cfg(windows)]
    {
        const DETACHED_PROCESS: u32 = 0x8;
        const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
        let flags = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP;
        std::os::windows::process::CommandExt::creation_flags(&mut command, flags);
    }
    Some(command)
}
