//! Checks of the store's folder: its existence, its permissions, and foreign files in it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use icm_log::LOCK_FILE;
use icm_log::{LOG_DIR, STORE_FILE, TORN_DIR};

use super::{Checks, Patient, quoted};
use crate::service::store_folder;
use icm_api::CheckStatus;
use icm_api::error::plain;

/// Checks that the folder exists and can be read. Returns `true` if the other checks can look into it.
pub(super) fn store(patient: &Patient<'_>, checks: &mut Checks) -> bool {
    let dir = patient.dir;
    if let Err(error) = store_folder::check(dir) {
        checks.failed("store", &error);
        return false;
    }
    let entries = match patient.disk.read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            checks.push(
                "store",
                CheckStatus::Ok,
                format!("none yet at {}: the first write makes it", dir.display()),
                Some(patient.icm("store -t TOPIC -c TEXT")),
            );
            return false;
        }
        Err(error) => {
            let why = format!("{} cannot be read: {}", dir.display(), plain(error));
            checks.problem("store", why, Some(format!("ls -ld {}", quoted(dir))));
            return false;
        }
    };
    let has = |name: &str| entries.iter().any(|entry| entry.name == name);
    if has(STORE_FILE) || has(LOG_DIR) {
        checks.ok("store", dir.display().to_string());
        return true;
    }
    let foreign = entries.iter().map(|entry| entry.name.as_str());
    match foreign
        .filter(|name| !store_folder::is_name_of_ours(name))
        .min()
    {
        Some(name) => {
            let why = format!(
                "{} is no store, and other files are in it (`{name}`): give a folder of its own \
                 with `--db`",
                dir.display()
            );
            checks.warning("store", why, None);
        }
        None => checks.push(
            "store",
            CheckStatus::Ok,
            format!(
                "{} is empty: the first write makes it a store",
                dir.display()
            ),
            Some(patient.icm("store -t TOPIC -c TEXT")),
        ),
    }
    true
}

#[cfg(not(unix))]
pub(super) fn permissions(patient: &Patient<'_>, checks: &mut Checks) {
    let is_read_only =
        |path: &Path| std::fs::metadata(path).is_ok_and(|found| found.permissions().readonly());
    match is_read_only(&patient.dir.join(STORE_FILE)) {
        true => checks.problem("permissions", format!("{STORE_FILE} is read-only"), None),
        false => checks.ok("permissions", "as they should be"),
    }
}

/// Checks who may read the secret, and that this user may write.
#[cfg(unix)]
pub(super) fn permissions(patient: &Patient<'_>, checks: &mut Checks) {
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::{Access, access};

    let before = checks.list.len();
    let dir = patient.dir;
    let user = rustix::process::geteuid().as_raw();
    let mut paths = vec![dir.to_owned()];
    paths.extend([STORE_FILE, LOCK_FILE, "acked", LOG_DIR, "views"].map(|name| dir.join(name)));
    if let Ok(chains) = patient.disk.read_dir(&dir.join(LOG_DIR)) {
        paths.extend(
            chains
                .iter()
                .map(|chain| dir.join(LOG_DIR).join(&chain.name)),
        );
    }
    let mut strangers = Vec::new();
    let mut shut = Vec::new();
    for path in &paths {
        // A missing file is no finding. The target of a link is not icm's to judge.
        let Ok(found) = std::fs::symlink_metadata(path) else {
            continue;
        };
        if found.is_symlink() {
            continue;
        }
        let name = path.strip_prefix(dir).unwrap_or(path);
        if found.uid() != user {
            strangers.push(name.to_owned());
        }
        let needed = match found.is_dir() {
            true => Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK,
            false => Access::READ_OK | Access::WRITE_OK,
        };
        if let Err(error) = access(path, needed) {
            shut.push((name.to_owned(), plain(std::io::Error::from(error))));
        }
        let open = match name == Path::new(STORE_FILE) {
            true => found.mode() & 0o077,
            false => found.mode() & 0o022,
        };
        if open != 0 {
            let (what, mode) = match name == Path::new(STORE_FILE) {
                true => ("holds a secret that others may read", "600"),
                false => ("may be written by others", "go-w"),
            };
            let why = format!("{} {what}", shown(name, dir));
            let command = format!("chmod {mode} {}", quoted(path));
            checks.warning("permissions", why, Some(command));
        }
    }
    let ls = match other_user(patient) {
        Some(as_them) => Some(as_them),
        None => Some(format!("ls -la {}", quoted(dir))),
    };
    if let Some((name, why)) = shut.first() {
        let why = format!("{} cannot be written: {why}; reads go on", shown(name, dir));
        checks.problem("permissions", why, ls.clone());
    }
    if let Some(name) = strangers.first() {
        let why = format!("{} belongs to another user", shown(name, dir));
        checks.warning("permissions", why, ls);
    }
    if checks.list.len() == before {
        checks.ok(
            "permissions",
            "yours to write, and the secret is yours to read",
        );
    }
}

/// Returns the command that runs the doctor as the store's owner, if that is another user.
pub(super) fn other_user(patient: &Patient<'_>) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        let theirs = patient.dir.metadata().ok()?.uid();
        let is_other = theirs != rustix::process::geteuid().as_raw();
        is_other.then(|| format!("sudo -u '#{theirs}' {}", patient.icm("doctor")))
    }
    #[cfg(not(unix))]
    {
        let _ = patient;
        None
    }
}

#[cfg(unix)]
fn shown(name: &Path, dir: &Path) -> String {
    match name.as_os_str().is_empty() || name == dir {
        true => "the folder".to_owned(),
        false => name.display().to_string(),
    }
}

/// Checks for links, pipes, sockets and devices: a store has none but its sockets.
pub(super) fn plain_files(patient: &Patient<'_>, checks: &mut Checks) {
    let mut odd = Vec::new();
    odd_below(patient.dir, 0, &mut odd);
    odd.retain(|(path, _)| !patient.peers.is_socket_of(patient.dir, path));
    odd.sort();
    for (path, what) in &odd {
        let name = path.strip_prefix(patient.dir).unwrap_or(path).display();
        let command = Some(format!("ls -l {}", quoted(path)));
        if *what == LINK {
            let why =
                format!("{name} is {what}: icm writes through none, put the file in its place");
            checks.warning("files", why, command);
        } else {
            let why = format!("{name} is {what}: a store holds plain files, move it away");
            checks.problem("files", why, command);
        }
    }
    if !odd.is_empty() {
        return;
    }
    let torn = patient.disk.read_dir(&patient.dir.join(TORN_DIR));
    match torn.map_or(0, |torn| torn.len()) {
        0 => checks.ok("files", "plain files only"),
        n => {
            let files = if n == 1 {
                "1 file"
            } else {
                &format!("{n} files")
            };
            let torn = format!("torn/ keeps what recovery set aside ({files})");
            checks.ok("files", format!("plain files only; {torn}"));
        }
    }
}

const LINK: &str = "a symbolic link";
/// Levels of folders that are searched, more than a store has. Raised, a foreign folder takes longer.
const DEPTH_MAX: usize = 8;
/// Odd files that are collected, enough to see the trouble.
const ODD_MAX: usize = 10;

fn odd_below(dir: &Path, depth: usize, odd: &mut Vec<(PathBuf, &'static str)>) {
    // The check of permissions reports unreadable folders.
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    for entry in entries {
        if odd.len() >= ODD_MAX {
            return;
        }
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() && depth < DEPTH_MAX {
            odd_below(&entry.path(), depth + 1, odd);
        } else if kind.is_symlink() {
            odd.push((entry.path(), LINK));
        } else if !kind.is_dir() && !kind.is_file() {
            odd.push((entry.path(), "a pipe, socket or device"));
        }
    }
}
