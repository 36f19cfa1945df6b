//! Checks of the disk under the store: its free space, and if it belongs to this machine.

use std::path::{Path, PathBuf};

#[cfg(unix)]
use icm_log::LOG_DIR;

#[cfg(unix)]
use super::quoted;
use super::{Checks, Patient};
use crate::service::Service;

/// Free bytes below which the doctor warns. Raised, it warns earlier.
#[cfg(unix)]
const SPACE_MIN_BYTES: u64 = 200 * 1_024 * 1_024;

#[cfg(unix)]
pub(super) fn space(patient: &Patient<'_>, checks: &mut Checks) {
    let Some(there) = nearest_folder(patient.dir) else {
        return;
    };
    let free = match rustix::fs::statvfs(&there) {
        // Saturating: some network disks claim absurd sizes.
        Ok(found) => found.f_bavail.saturating_mul(found.f_frsize),
        Err(error) => {
            let why = format!("it cannot be asked for: {}", std::io::Error::from(error));
            return checks.warning("space", icm_api::error::plain(why), None);
        }
    };
    // A segment may be rewritten beside the old one.
    let needed = SPACE_MIN_BYTES.max(2 * newest_segment_len(patient).unwrap_or(0));
    let said = format!("{} MiB free", free / (1_024 * 1_024));
    match free < needed {
        true => {
            let why = format!("{said}, {} MiB should be", needed / (1_024 * 1_024));
            checks.warning("space", why, Some(format!("df -h {}", quoted(&there))));
        }
        false => checks.ok("space", said),
    }
}

#[cfg(not(unix))]
pub(super) fn space(_: &Patient<'_>, _: &mut Checks) {}

/// Returns the folder itself, or the nearest existing folder above it.
fn nearest_folder(dir: &Path) -> Option<PathBuf> {
    let absolute = std::path::absolute(dir).ok()?;
    let mut folders = absolute.ancestors();
    let there = folders.find(|folder| folder.is_dir())?;
    there.canonicalize().ok()
}

#[cfg(unix)]
fn newest_segment_len(patient: &Patient<'_>) -> Option<u64> {
    let log = patient.dir.join(LOG_DIR);
    let chains = patient.disk.read_dir(&log).ok()?;
    let newest = chains.iter().filter_map(|chain| {
        let chain = log.join(&chain.name);
        // Names begin with the first seq, in digits of one length.
        let segments = patient.disk.read_dir(&chain).ok()?;
        let segment = segments.into_iter().map(|segment| segment.name).max()?;
        Some(chain.join(segment).metadata().ok()?.len())
    });
    newest.max()
}

/// Folders that a program copies to other machines, by a part of their path.
const SYNCED: [(&str, &str); 5] = [
    ("Dropbox", "Dropbox"),
    ("OneDrive", "OneDrive"),
    ("iCloud Drive", "iCloud"),
    ("Mobile Documents", "iCloud"),
    ("Google Drive", "Google Drive"),
];

/// Checks that no other program or machine can change the files beneath a running icm.
pub(super) fn place(patient: &Patient<'_>, checks: &mut Checks) {
    let Some(there) = nearest_folder(patient.dir) else {
        return;
    };
    let parts = || there.iter().map(|part| part.to_string_lossy());
    let by_name = SYNCED.iter().find(|(name, _)| {
        parts().any(|part| part == *name || part.starts_with(&format!("{name} - ")))
    });
    let program = match by_name {
        Some((_, program)) => Some(*program),
        None => there
            .ancestors()
            .any(|folder| folder.join(".stfolder").exists())
            .then_some("Syncthing"),
    };
    if let Some(program) = program {
        let why = format!(
            "{} lies in a folder that {program} syncs, which may swap files beneath icm: keep the \
             store elsewhere and copy exports",
            there.display()
        );
        return checks.warning("place", why, Some(patient.icm("export jsonl -o FILE")));
    }
    #[cfg(target_os = "linux")]
    if let Ok(mounts) = std::fs::read_to_string("/proc/self/mounts")
        && let Some(kind) = network_mount(&mounts, &there)
    {
        let why = format!(
            "{} is on a network disk ({kind}): locks and syncs may not hold there, use a local one",
            there.display()
        );
        return checks.warning("place", why, Some(format!("df -hT {}", quoted(&there))));
    }
    checks.ok("place", "a disk of this machine, as far as can be told");
}

impl Service {
    /// Returns the type of the store's file system, if it belongs to another machine.
    pub fn network_disk(&self) -> Option<String> {
        #[cfg(target_os = "linux")]
        {
            let there = nearest_folder(self.dir())?;
            let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
            network_mount(&mounts, &there).map(str::to_owned)
        }
        #[cfg(windows)]
        {
            use std::path::{Component, Prefix};
            let there = nearest_folder(self.dir())?;
            let Some(Component::Prefix(prefix)) = there.components().next() else {
                return None;
            };
            let is_far = matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..));
            is_far.then(|| "a share".to_owned())
        }
        #[cfg(not(any(target_os = "linux", windows)))]
        None
    }
}

/// Returns the type of the file system that holds `path`, if it belongs to another machine.
#[cfg(any(target_os = "linux", test))]
fn network_mount<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    const NETWORK: [&str; 12] = [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "fuse.sshfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.glusterfs",
        "ceph",
        "afs",
        "davfs",
    ];
    let mut holds: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        let mut words = line.split(' ').skip(1);
        let (Some(at), Some(kind)) = (words.next(), words.next()) else {
            continue;
        };
        let at = at.replace("\\040", " ").replace("\\134", "\\");
        // If two file systems are mounted at one place, the later one is seen.
        if path.starts_with(&at) && holds.is_none_or(|(len, _)| at.len() >= len) {
            holds = Some((at.len(), kind));
        }
    }
    let (_, kind) = holds?;
    NETWORK.contains(&kind).then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_mount_decides() {
        let mounts = "/dev/sda1 / ext4 rw 0 0\n\
                      server:/a /home/me/net nfs4 rw 0 0\n\
                      tmpfs /home/me/net/local tmpfs rw 0 0\n\
                      me@host: /home/me/my\\040disk fuse.sshfs rw 0 0\n\
                      broken\n";
        for (path, kind) in [
            ("/home/me/store", None),
            ("/home/me/net", Some("nfs4")),
            ("/home/me/net/store", Some("nfs4")),
            ("/home/me/network", None),
            ("/home/me/net/local/store", None),
            ("/home/me/my disk/store", Some("fuse.sshfs")),
        ] {
            assert_eq!(network_mount(mounts, Path::new(path)), kind, "{path}");
        }
    }
}
