//! Reports a bug of ours as one line on stderr, without a backtrace.

use std::io::Write;
use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::sync::Mutex;

use crate::error::CliError;

/// The message of the main thread's last panic. It is kept until the panic is caught or ends the command: the service
/// drops a view that panics and continues, so such a panic is no failure of the command.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Replaces the standard hook. Must be called by the main thread.
pub(crate) fn install_hook() {
    let main = std::thread::current().id();
    std::panic::set_hook(Box::new(move |info| {
        let line = describe(info);
        tracing::error!("panic: {line}");
        if std::thread::current().id() == main {
            if let Ok(mut last) = LAST.lock() {
                *last = Some(line);
            }
        } else {
            let _ = writeln!(
                std::io::stderr(),
                "error: internal error: {line} — please report"
            );
        }
    }));
}

/// Runs `work`; a panic in it becomes an error.
pub(crate) fn catch<T>(work: impl FnOnce() -> Result<T, CliError>) -> Result<T, CliError> {
    // Half-done work ends with the process, so unwind safety does not matter.
    std::panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let line = LAST.lock().ok().and_then(|mut last| last.take());
        let line = line.unwrap_or_else(|| "unknown".into());
        Err(CliError::failed(format!(
            "internal error: {line} — please report"
        )))
    })
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let message = info.payload_as_str().unwrap_or("no message");
    let message = crate::text::one_line(message);
    match info.location() {
        // Only the file's name is shown: its path belongs to the machine of the build.
        Some(place) => {
            let file = place.file().rsplit(['/', '\\']).next().unwrap_or_default();
            format!("{message} ({file}:{})", place.line())
        }
        None => message,
    }
}
