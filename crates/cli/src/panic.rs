//! A bug of ours is one line on stderr, never a backtrace.

use std::io::Write;
use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::sync::Mutex;

use crate::error::CliError;

/// What the main thread's last panic said. Kept until it is known whether somebody catches it:
/// the service drops a view that panics and goes on, which is no failure of the command.
static LAST: Mutex<Option<String>> = Mutex::new(None);

/// Replaces the standard hook. For the main thread to call.
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
    // Whatever was half-done is thrown away with the process.
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
        // The file's name alone: the path is that of the machine it was built on.
        Some(place) => {
            let file = place.file().rsplit(['/', '\\']).next().unwrap_or_default();
            format!("{message} ({file}:{})", place.line())
        }
        None => message,
    }
}
