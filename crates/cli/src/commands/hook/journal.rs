//! The journal of hooks: a line for each that failed, where nobody sees its stderr.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use crate::app::App;
use crate::text::one_line;

/// The file below the store's folder.
const FILE: &str = "cache/hooks.log";
/// Bytes after which the file begins anew. The newest lines are what somebody looks for.
const LEN_MAX: u64 = 256 * 1_024;
/// Bytes of a problem.
const PROBLEM_LEN_MAX: usize = 500;

/// Writes a line. A journal that cannot be written stops nobody.
pub(super) fn note(app: &App, client: &str, event: Option<&str>, problem: &str) {
    let event = event.unwrap_or("-");
    let problem = one_line(problem);
    let problem = &problem[..problem.floor_char_boundary(PROBLEM_LEN_MAX)];
    let line = format!(
        "{} {} {} {problem}\n",
        app.ui.now,
        one_line(client),
        one_line(event)
    );
    tracing::warn!("hook: {}", line.trim_end());
    let Some(file) = path(app) else { return };
    if file.metadata().is_ok_and(|it| !it.is_file()) {
        return;
    }
    let is_long = file.metadata().is_ok_and(|it| it.len() > LEN_MAX);
    let mut options = OpenOptions::new();
    options.create(true);
    match is_long {
        true => options.write(true).truncate(true),
        false => options.append(true),
    };
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options
        .open(&file)
        .and_then(|mut file| file.write_all(line.as_bytes()));
    if let Err(error) = written {
        tracing::debug!(%error, "the journal of hooks was not written");
    }
}

/// The journal; `None` while there is no store.
fn path(app: &App) -> Option<PathBuf> {
    let (dir, _) = app.db().ok()?;
    if !dir.is_dir() {
        return None;
    }
    let file = dir.join(FILE);
    std::fs::create_dir_all(file.parent()?).ok()?;
    Some(file)
}
