//! The journal of hooks: a line for each failure, because clients do not show stderr.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use crate::app::App;
use crate::text::one_line;

/// The file's path in the store's folder.
const FILE: &str = "cache/hooks.log";
/// Length in bytes after which the file begins anew. Raised, more old failures are kept.
const LEN_MAX: u64 = 256 * 1_024;
/// Longest problem in bytes; longer ones are cut.
const PROBLEM_LEN_MAX: usize = 500;

/// Age up to which a failure is reported.
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// Writes a line. A journal that cannot be written is ignored.
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

/// The failures of a day.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::commands) struct Failures {
    pub(in crate::commands) count: u64,
    /// Client, event and problem of the newest failure.
    pub(in crate::commands) newest: String,
    pub(in crate::commands) file: PathBuf,
}

/// Returns the failures of the last 24 hours; `None` without failures, or if the journal cannot be read.
pub(in crate::commands) fn failures(store: &Path, now: Timestamp) -> Option<Failures> {
    let file = store.join(FILE);
    if !file.metadata().is_ok_and(|it| it.is_file()) {
        return None;
    }
    let mut bytes = Vec::new();
    // The last line may end beyond the length after which the file begins anew.
    let most = LEN_MAX + 4 * PROBLEM_LEN_MAX as u64;
    let read = File::open(&file).and_then(|file| file.take(most).read_to_end(&mut bytes));
    read.ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let recent = text.lines().filter_map(|line| {
        let (at, failure) = line.split_once(' ')?;
        let at: Timestamp = at.parse().ok()?;
        (now.duration_since(at) <= DAY).then_some(failure)
    });
    let (mut count, mut newest) = (0, None);
    for failure in recent {
        count += 1;
        newest = Some(failure.to_owned());
    }
    Some(Failures {
        count,
        newest: newest?,
        file,
    })
}

/// Returns the path of the journal; `None` if there is no store.
fn path(app: &App) -> Option<PathBuf> {
    let (dir, _) = app.db().ok()?;
    if !dir.is_dir() {
        return None;
    }
    let file = dir.join(FILE);
    std::fs::create_dir_all(file.parent()?).ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_the_last_day_are_counted() {
        let store = tempfile::tempdir().expect("a folder");
        let now: Timestamp = "2026-03-10T12:00:00Z".parse().expect("a time");
        let failures = || failures(store.path(), now);
        assert_eq!(failures(), None);
        std::fs::create_dir(store.path().join("cache")).expect("it is made");
        let file = store.path().join(FILE);
        let old = "2026-03-09T11:59:59Z codex Stop older\n";
        std::fs::write(&file, old).expect("it is written");
        assert_eq!(failures(), None);
        let new = "torn\n2026-03-09T12:00:00Z codex Stop one\n2026-03-10T11:00:00.5Z cursor - two words\n";
        std::fs::write(&file, format!("{old}{new}")).expect("it is written");
        let found = failures().expect("failures");
        assert_eq!((found.count, &*found.newest), (2, "cursor - two words"));
        assert_eq!(found.file, file);
    }
}
