//! The process that holds a lock, as far as the operating system tells: on Linux.

use std::fmt::{self, Display, Formatter};
use std::fs::{File, TryLockError};
use std::path::Path;

/// A process that holds a lock of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) pid: u32,
    /// The name of the program; empty if it is not known.
    name: String,
}

impl Display for Holder {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.name[..] {
            "" => write!(f, "process {}", self.pid),
            name => write!(f, "process {} ({name})", self.pid),
        }
    }
}

impl Holder {
    /// Returns the process that holds the exclusive lock of a file, if there is one and the system tells. The list of
    /// locks is read up to `listings` times: the kernel gives it out a page at a time and skips lines when locks come
    /// and go.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(path: &Path, listings: usize) -> Option<Holder> {
        use std::os::unix::fs::MetadataExt;

        let found = path.metadata().ok()?;
        let device = found.dev();
        let device = format!(
            "{:02x}:{:02x}",
            rustix::fs::major(device),
            rustix::fs::minor(device)
        );
        let inode = found.ino().to_string();
        let holder = (0..listings).find_map(|_| {
            let locks = std::fs::read_to_string("/proc/locks").ok()?;
            holder_in(&locks, &device, &inode)
        })?;
        let name = std::fs::read_to_string(format!("/proc/{holder}/comm")).unwrap_or_default();
        Some(Holder {
            pid: holder,
            name: name.trim().to_owned(),
        })
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of(_: &Path, _: usize) -> Option<Holder> {
        None
    }

    /// Returns the stopped process that holds the exclusive lock of a file. A stopped process gives no lock back, so a
    /// process that holds the lock before and after it was seen stopped still holds it.
    pub(crate) fn stopped(path: &Path) -> Option<Holder> {
        let holder = Holder::of(path, 1).filter(|holder| is_stopped(holder.pid))?;
        Holder::of(path, 1).filter(|again| *again == holder)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        is_stopped(self.pid)
    }
}

/// Returns the id of the process that holds a file's exclusive lock by the list of all locks. Some file systems have
/// another device number in that list: if no line has the device, the inode alone decides.
#[cfg(any(target_os = "linux", test))]
fn holder_in(locks: &str, device: &str, inode: &str) -> Option<u32> {
    // `1: FLOCK  ADVISORY  WRITE 9558 fe:00:10985478 0 EOF`
    let lines = locks.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip(3);
        let (mode, process) = (words.next()?, words.next()?);
        let (its_device, its_inode) = words.next()?.rsplit_once(':')?;
        Some((mode, process, its_device, its_inode))
    });
    let is_listed = (lines.clone()).any(|(_, _, its_device, _)| its_device == device);
    let of_the_file = lines.filter(|(mode, _, its_device, its_inode)| {
        *mode == "WRITE" && *its_inode == inode && (*its_device == device || !is_listed)
    });
    // The id is 0 or less for a process of another namespace.
    let mut pids = of_the_file.filter_map(|(_, process, _, _)| process.parse().ok());
    pids.find(|pid| *pid > 0)
}

/// Returns `true` if a process is stopped, as by SIGSTOP or Ctrl-Z; `false` if the system does not tell. A process that
/// a debugger holds does not count: it goes on when the debugger lets it.
pub fn is_stopped(pid: u32) -> bool {
    // `123 (any name) T 1 …`
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.trim_start().chars().next());
    state == Some('T')
}

/// Returns `true` if a process builds views in this folder.
pub(crate) fn is_building(views: &Path) -> bool {
    is_held(&icm_projections::version_dir(views).join("build.lock"))
}

/// Returns `true` if another process holds the exclusive lock of a file. Takes a shared lock for a moment, without
/// waiting.
pub(crate) fn is_held(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let asked = file.try_lock_shared();
    matches!(asked, Err(TryLockError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_of_another_file_is_none_of_this_one() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 fe:00:7 0 EOF\n\
                     2: FLOCK  ADVISORY  READ 12 00:1a:8 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 13 00:1a:7 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 14 00:1a:7 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 0 00:1a:9 0 EOF\n\
                     torn";
        assert_eq!(holder_in(locks, "00:1a", "7"), Some(13));
        assert_eq!(holder_in(locks, "fe:00", "7"), Some(11));
        assert_eq!(holder_in(locks, "00:1a", "8"), None, "it is shared");
        assert_eq!(holder_in(locks, "00:1a", "9"), None, "not told");
        assert_eq!(holder_in(locks, "fe:00", "9"), None);
        // The device has another number in the list.
        assert_eq!(holder_in(locks, "00:2f", "7"), Some(11));
        assert_eq!(holder_in("", "00:1a", "7"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_holder_of_a_lock_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lock");
        let file = std::fs::File::create(&path).expect("it is made");
        assert_eq!(Holder::of(&path, 10), None);
        file.lock().expect("it is locked");
        let holder = Holder::of(&path, 10).expect("somebody holds it");
        assert_eq!(holder.pid, std::process::id());
        assert!(!holder.is_stopped() && holder.to_string().contains('('));
        assert_eq!(Holder::stopped(&path), None);
    }
}
