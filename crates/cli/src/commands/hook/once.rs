//! Detects a moment that another process answers: a client may run icm's hooks of two files for one moment.
//!
//! Two files exist with a plugin beside `icm init`, with files of a user and of a project, and with Cursor beside
//! Claude Code. Both processes run at once, so the log cannot tell one about the other.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use icm_agents::hook::session_name;
use icm_clients::hooks::{self, Input, Subagent};
use icm_wait::{Deadline, NotLocked, bounds};

use crate::app::App;

/// The file's path in the store's folder: a line for each session, with the time in milliseconds and the newest moment.
const FILE: &str = "cache/hooks.recent";
/// Age in ms up to which a moment counts. Raised, a session that starts twice in a row gets nothing at its second
/// start.
const KEPT_MS: u64 = 3_000;
/// Most bytes of the file that are read: a hundred sessions, more than a machine has in the time above. Raised, a file
/// that grew by mistake takes longer to read.
const LEN_MAX: u64 = 8 * 1_024;

/// Returns `true` if no other process answers this moment of the session. If the file cannot be read or written, every
/// process answers.
pub(super) fn is_first(input: &Input, app: &App) -> bool {
    // Tools run many times within one turn, and the answer to a prompt may still be on its way.
    if input.moment == hooks::Moment::Other {
        return true;
    }
    let (Some(session), Ok((dir, _))) = (session_name(input), app.db()) else {
        return true;
    };
    // The first start of a session makes the store.
    if !dir.is_dir() {
        return true;
    }
    // Some clients name only the kind of a sub-agent, and two of a kind may start at once.
    let is_unnamed = |agent: &Subagent| agent.kind.as_ref() == Some(&agent.id);
    if input.agent.as_ref().is_some_and(is_unnamed) {
        return true;
    }
    let prompt = input.prompt.as_deref().unwrap_or_default();
    let moment = Moment {
        session: hash(&session),
        what: hash(&format!("{:?} {prompt}", input.moment)),
        at_ms: app.ui.now.as_millisecond(),
    };
    let claimed = claim(&dir.join(FILE), &moment);
    claimed.unwrap_or_else(|error| {
        tracing::debug!(%error, "whether another hook answers is not known");
        true
    })
}

/// The newest moment of a session.
#[derive(Debug, PartialEq, Eq)]
struct Moment {
    session: String,
    what: String,
    at_ms: i64,
}

impl Moment {
    fn read(line: &str) -> Option<Moment> {
        let mut words = line.split(' ');
        let at_ms = words.next()?.parse().ok()?;
        let (session, what) = (words.next()?.to_owned(), words.next()?.to_owned());
        Some(Moment {
            session,
            what,
            at_ms,
        })
    }
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

/// Notes a moment; returns `false` if it is the session's newest moment already.
fn claim(path: &Path, moment: &Moment) -> std::io::Result<bool> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    lock(&file)?;
    let mut text = String::new();
    (&mut file).take(LEN_MAX).read_to_string(&mut text)?;
    let mut known: Vec<Moment> = text.lines().filter_map(Moment::read).collect();
    // A clock that was set back leaves moments in the future.
    known.retain(|known| known.at_ms.abs_diff(moment.at_ms) < KEPT_MS);
    let is_same = |known: &Moment| (&known.session, &known.what) == (&moment.session, &moment.what);
    if known.iter().any(is_same) {
        return Ok(false);
    }
    known.retain(|known| known.session != moment.session);
    let lines = known
        .iter()
        .chain([moment])
        .map(|it| format!("{} {} {}\n", it.at_ms, it.session, it.what));
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(lines.collect::<String>().as_bytes())?;
    Ok(true)
}

/// Locks the file until it is closed. The lock is held for one small write, so a busy file belongs to a process that hangs.
fn lock(file: &File) -> std::io::Result<()> {
    let taken = icm_wait::lock(Deadline::after(bounds::MOMENT), || file.try_lock());
    taken.map_err(|error| match error {
        NotLocked::Busy => std::io::ErrorKind::WouldBlock.into(),
        NotLocked::Failed(error) => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(session: &str, what: &str, at_ms: i64) -> Moment {
        Moment {
            session: session.to_owned(),
            what: what.to_owned(),
            at_ms,
        }
    }

    #[test]
    fn a_moment_is_answered_once_in_its_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("cache/recent");
        let claimed = |session, what, at_ms| {
            claim(&path, &moment(session, what, at_ms)).expect("it is written")
        };
        assert!(claimed("s", "start", 1_000) && claimed("t", "start", 1_001));
        assert!(!claimed("s", "start", 1_002) && !claimed("t", "start", 4_000));
        assert!(claimed("s", "start", 4_000), "the time is over");
        assert!(claimed("s", "prompt", 4_001) && claimed("s", "start", 4_002));
        assert!(claimed("s", "start", -4_000), "the clock was put back");
        std::fs::write(&path, "1000 s\nno line of ours\n\u{0}").expect("it is written");
        assert!(claimed("s", "start", 1_000) && !claimed("s", "start", 1_000));
        std::fs::write(&path, [0xff, 0xfe]).expect("it is written");
        assert!(claim(&path, &moment("s", "start", 1_000)).is_err());
    }

    #[test]
    fn one_of_many_processes_answers() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("recent");
        let claimed = || claim(&path, &moment("s", "start", 1_000)).expect("it is written");
        let won = std::thread::scope(|scope| {
            let all: Vec<_> = (0..8).map(|_| scope.spawn(claimed)).collect();
            let won = all.into_iter().map(|it| it.join().expect("it ends"));
            won.filter(|won| *won).count()
        });
        assert_eq!(won, 1);
    }
}
