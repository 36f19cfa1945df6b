//! Who writes now. Locks are the operating system's: one whose process is gone is free.

use std::fs::{File, TryLockError};
use std::path::Path;

use icm_log::LOCK_FILE;

use super::{Checks, Patient};

const LOCKS: [(&str, &str); 3] = [
    (LOCK_FILE, "writes to the log"),
    ("views/lock", "writes the views"),
    ("views/build.lock", "builds views"),
];

pub(super) fn locks(patient: &Patient<'_>, checks: &mut Checks) {
    let before = checks.list.len();
    for (name, deed) in LOCKS {
        let path = patient.dir.join(name);
        let is_file = std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        if is_file && is_held(&path) {
            let who = holder(&path).unwrap_or_else(|| "a process".to_owned());
            let why = format!("{who} {deed} now; if that lasts, see what it does");
            checks.warning("locks", why, None);
        }
    }
    if checks.list.len() == before {
        checks.ok("locks", "free");
    }
}

/// Who answers other processes.
#[cfg(unix)]
pub(super) fn server(patient: &Patient<'_>, checks: &mut Checks) {
    // One that was killed leaves its word behind.
    let seen = crate::owner::is_taken(patient.dir).then(|| crate::owner::Link::look(patient.dir));
    let Some(seen) = seen.flatten() else {
        return checks.ok("server", "none runs; each command does its work itself");
    };
    let who = format!("process {} (icm {})", seen.pid, seen.version);
    match seen.answers {
        true => checks.ok("server", format!("{who} answers other processes")),
        false => {
            let why = format!(
                "{who} is to answer other processes and does not: each does its work itself until it goes on or ends"
            );
            checks.warning("server", why, Some(format!("kill {}", seen.pid)));
        }
    }
}

#[cfg(not(unix))]
pub(super) fn server(_: &Patient<'_>, _: &mut Checks) {}

/// Whether somebody builds views in this folder.
pub(in crate::service) fn is_building(views: &Path) -> bool {
    is_held(&views.join("build.lock"))
}

/// Asked without waiting, and given back at once.
pub(in crate::service) fn is_held(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let asked = file.try_lock_shared();
    matches!(asked, Err(TryLockError::WouldBlock))
}

/// How often the list of locks is read for one that is held.
#[cfg(target_os = "linux")]
const LISTINGS: usize = 10;

/// `process 123 (icm)`, where the system tells.
#[cfg(target_os = "linux")]
fn holder(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;

    let inode = format!(":{}", path.metadata().ok()?.ino());
    // The list is given out a page at a time, and lines slip through where locks come and go meanwhile.
    let holder = (0..LISTINGS).find_map(|_| {
        let locks = std::fs::read_to_string("/proc/locks").ok()?;
        locks.lines().find_map(|line| {
            // `1: FLOCK  ADVISORY  WRITE 9558 fe:00:10985478 0 EOF`
            let mut words = line.split_whitespace().skip(3);
            let (mode, process, file) = (words.next()?, words.next()?, words.next()?);
            (mode == "WRITE" && file.ends_with(&inode)).then(|| process.to_owned())
        })
    })?;
    let process: u32 = holder.parse().ok().filter(|process| *process > 0)?;
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    Some(match name.trim() {
        "" => format!("process {process}"),
        name => format!("process {process} ({name})"),
    })
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &Path) -> Option<String> {
    None
}
