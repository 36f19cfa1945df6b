//! Which process holds a lock, where the operating system tells: on Linux.

use std::fmt::{self, Display, Formatter};
use std::fs::{File, TryLockError};
use std::path::Path;

/// A process that holds a lock of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) pid: u32,
    /// The program's; empty where it is not known.
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
    /// Who holds the lock of a file alone; `None` where nobody does, or that is not told. The list of locks is read
    /// up to `listings` times: it is given out a page at a time, and lines slip through where locks come and go.
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

    /// Who holds the lock of a file alone and is stopped. Who is stopped gives nothing back: so who holds it before
    /// and after that was seen holds it still.
    pub(crate) fn stopped(path: &Path) -> Option<Holder> {
        let holder = Holder::of(path, 1).filter(|holder| is_stopped(holder.pid))?;
        Holder::of(path, 1).filter(|again| *again == holder)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        is_stopped(self.pid)
    }
}

/// Who holds this file's lock by a list of all locks. Some file systems have another number for their device there:
/// where none of the list has it, that of the file alone has to do.
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
    // Of another namespace of processes it is 0 or less.
    let mut pids = of_the_file.filter_map(|(_, process, _, _)| process.parse().ok());
    pids.find(|pid| *pid > 0)
}

/// Whether a process is stopped, as by SIGSTOP or Ctrl-Z; false where that is not told. One that a debugger holds goes
/// on when that lets it.
pub fn is_stopped(pid: u32) -> bool {
    // `123 (any name) T 1 …`
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.trim_start().chars().next());
    state == Some('T')
}

/// Whether somebody builds views in this folder.
pub(crate) fn is_building(views: &Path) -> bool {
    is_held(&views.join("build.lock"))
}

/// Asked without waiting, and given back at once.
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
        // A device that the list knows by another number.
        assert_eq!(holder_in(locks, "00:2f", "7"), Some(11));
        assert_eq!(holder_in("", "00:1a", "7"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn who_holds_a_lock_is_told() {
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
