//! The process that the person started watches the process that draws, and gives the terminal back if that one is
//! killed. The one that draws ends if the other one is killed.

use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt, parent_id};
use std::process::{Command, ExitStatus};

use rustix::process::{Pid, Signal, kill_current_process_group, kill_process};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::screen::leave_alternate_screen;

/// Names the watching process to the one that draws.
const WATCHER: &str = "ICM_TUI_WATCHER";

/// The process of the view that this one is.
pub(crate) enum Role {
    /// The one that draws, with the id of the process that watches it.
    Draws(u32),
    Watches,
}

/// Returns the role of this process.
pub(crate) fn role() -> Role {
    let named = std::env::var(WATCHER).ok();
    match named.and_then(|id| id.parse().ok()) {
        Some(watcher) if watcher == parent_id() => Role::Draws(watcher),
        // A variable that was left over from another process.
        _ => Role::Watches,
    }
}

/// Returns `true` if the watching process is gone.
pub(crate) fn is_orphan(watcher: u32) -> bool {
    parent_id() != watcher
}

/// Runs this program again as the process that draws, waits for its end, and gives the terminal back if it was killed.
/// Returns the exit code; 128 and the number of a signal that killed it.
///
/// # Errors
/// If the process cannot be started.
pub(crate) fn watch() -> io::Result<u8> {
    let terminal = Saved::now();
    // On Linux this names the program itself, also after its file was replaced.
    let program = match cfg!(target_os = "linux") {
        true => "/proc/self/exe".into(),
        false => std::env::current_exe()?,
    };
    let mut child = Command::new(program)
        .arg0("icm-tui-screen")
        .args(std::env::args_os().skip(1))
        .env(WATCHER, std::process::id().to_string())
        .spawn()?;
    // A signal for this process is meant for the view. The terminal sends its own to both.
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])?;
    let drawing = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let passed = std::thread::Builder::new().spawn(move || {
        for _ in signals.forever() {
            // It may have ended already.
            drawing.map(|id| kill_process(id, Signal::TERM));
        }
    });
    let status = child.wait();
    drop(passed);
    let status = status?;
    if status.signal().is_some() {
        terminal.restore();
        let _ = leave_alternate_screen();
    }
    Ok(code(status))
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code();
    let code = code.or(status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Stops both processes as the terminal would have for Ctrl-Z, until the shell goes on with them.
pub(crate) fn suspend() {
    let _ = kill_current_process_group(Signal::TSTP);
}

/// The modes of the terminal at the start.
pub(crate) struct Saved(Option<Termios>);

impl Saved {
    /// Returns the modes as they are now.
    pub(crate) fn now() -> Saved {
        Saved(tcgetattr(io::stdout()).ok())
    }

    /// Brings the modes back.
    pub(crate) fn restore(&self) {
        if let Some(modes) = &self.0 {
            let _ = tcsetattr(io::stdout(), OptionalActions::Now, modes);
        }
    }

    /// Returns `true` if another process has set other modes since, such as a shell that is back at its prompt.
    pub(crate) fn is_changed(&self) -> bool {
        let now = tcgetattr(io::stdout()).ok();
        match (&self.0, now) {
            (Some(then), Some(now)) => {
                (then.local_modes, then.input_modes) != (now.local_modes, now.input_modes)
            }
            _ => false,
        }
    }
}
