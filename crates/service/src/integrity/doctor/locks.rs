//! Checks of the locks: which processes hold them now. The operating system frees the locks of a process that is gone.

use icm_log::LOCK_FILE;

use super::{Checks, Patient, files};
use crate::holder::{Holder, is_held, is_stopped};
use crate::peer::PeerState;

/// Times that the list of locks is read to find the holder of a lock. Raised, the doctor takes longer.
const LISTINGS: usize = 10;

pub(super) fn locks(patient: &Patient<'_>, checks: &mut Checks) {
    let before = checks.list.len();
    let views = icm_projections::version_dir(&patient.dir.join("views"));
    for (path, deed) in [
        (patient.dir.join(LOCK_FILE), "writes to the log"),
        (views.join("lock"), "writes the views"),
        (views.join("build.lock"), "builds views"),
    ] {
        let is_file = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if is_file && is_held(&path) {
            let holder = Holder::of(&path, LISTINGS);
            let who = (holder.as_ref()).map_or("a process".to_owned(), Holder::to_string);
            match holder.filter(Holder::is_stopped) {
                None => {
                    let why = format!("{who} {deed} now; if that lasts, see what it does");
                    checks.warning("locks", why, None);
                }
                Some(Holder { pid, .. }) => {
                    let why = format!("{who} {deed} and is stopped: nobody else can meanwhile");
                    checks.warning("locks", why, Some(format!("kill -CONT {pid}")));
                }
            }
        }
    }
    if checks.list.len() == before {
        checks.ok("locks", "free");
    }
}

/// Checks which process answers for others.
pub(super) fn server(patient: &Patient<'_>, checks: &mut Checks) {
    if let Some(as_them) = files::other_user(patient) {
        let why = "the store is another user's, whose servers answer theirs alone";
        return checks.warning("server", why.into(), Some(as_them));
    }
    let (pid, version, answers) = match patient.peers.state(patient.dir) {
        PeerState::None => {
            return checks.ok("server", "none runs; each command does its work itself");
        }
        PeerState::Barred(why) => {
            let sock = patient.dir.join("sock");
            let fix = format!("rm -r {}", icm_guard::shell::word(&sock.to_string_lossy()));
            let why = format!("{why}: no process of this user can answer others");
            return checks.warning("server", why, Some(fix));
        }
        PeerState::Announced {
            pid,
            version,
            answers,
        } => (pid, version, answers),
    };
    let who = format!("process {pid} (icm {version})");
    match answers {
        true => checks.ok("server", format!("{who} answers other processes")),
        false if is_stopped(pid) => {
            let why = format!(
                "{who} is to answer other processes and is stopped: each does its work itself until it goes on or ends"
            );
            checks.warning("server", why, Some(format!("kill -CONT {pid}")));
        }
        false => {
            let why = format!(
                "{who} is to answer other processes and does not: each does its work itself until it goes on or ends"
            );
            checks.warning("server", why, Some(format!("kill {pid}")));
        }
    }
}
