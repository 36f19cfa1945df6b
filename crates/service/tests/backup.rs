//! Backups that were cut, changed or forged: nothing of them is restored.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use icm_api::error::ServiceError;
use icm_api::{Caller, NoProgress, StoreRequest};
use icm_service::{OpenOptions, Service, restore};
use tar::EntryType;
use tempfile::TempDir;

fn open(dir: &Path) -> Service {
    let options = OpenOptions {
        dir: dir.to_owned(),
        lock_wait: Duration::from_secs(5),
        read_only: false,
    };
    Service::open(options).expect("it opens")
}

fn store(service: &Service, content: &str) -> u64 {
    let request = StoreRequest::new("t", content);
    let receipt = service.store(&Caller::default(), request);
    receipt.expect("it stores").position
}

/// A store with a few memories, and its backup.
struct Bed {
    folder: TempDir,
}

impl Bed {
    fn new() -> Bed {
        let folder = tempfile::tempdir().expect("a folder");
        let bed = Bed { folder };
        let service = open(&bed.path("store"));
        for text in ["one", "two", "three"] {
            store(&service, text);
        }
        service
            .backup(&bed.path("good"), false, &NoProgress)
            .expect("a backup");
        bed
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Restores a file, and checks that a failed restore leaves nothing.
    fn restore(&self, name: &str) -> Result<u64, ServiceError> {
        let target = self.path("restored");
        let restored = restore(&self.path(name), &target, &NoProgress);
        let mut left: Vec<String> = fs::read_dir(self.folder.path())
            .expect("a folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("text")
            })
            .filter(|name| !["store", "good", "restored"].contains(&name.as_str()))
            .collect();
        left.retain(|left| left != name);
        assert_eq!(left, [""; 0], "{name}");
        assert_eq!(target.exists(), restored.is_ok(), "{name}");
        Ok(restored?.position)
    }

    /// Returns the backup's entries, unpacked.
    fn entries(&self) -> Vec<(String, Vec<u8>)> {
        let bytes = fs::read(self.path("good")).expect("a backup");
        let tar = zstd::decode_all(bytes.as_slice()).expect("zstd");
        let mut archive = tar::Archive::new(tar.as_slice());
        let mut entries = Vec::new();
        for entry in archive.entries().expect("tar") {
            let mut entry = entry.expect("an entry");
            let name = String::from_utf8(entry.path_bytes().into_owned()).expect("text");
            let mut bytes = Vec::new();
            std::io::copy(&mut entry, &mut bytes).expect("bytes");
            entries.push((name, bytes));
        }
        entries
    }
}

/// Appends one entry of a forged archive.
fn entry(tar: &mut Vec<u8>, name: &str, kind: EntryType, size: u64, bytes: &[u8]) {
    let mut header = tar::Header::new_ustar();
    header.as_ustar_mut().expect("ustar").name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o600);
    header.set_size(size);
    if kind.is_symlink() || kind.is_hard_link() {
        header.set_link_name("/etc/passwd").expect("a link");
    }
    header.set_cksum();
    tar.extend_from_slice(header.as_bytes());
    tar.extend_from_slice(bytes);
    tar.resize(tar.len().next_multiple_of(512), 0);
}

fn archive(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut tar = Vec::new();
    for (name, bytes) in entries {
        entry(
            &mut tar,
            name,
            EntryType::Regular,
            bytes.len() as u64,
            bytes,
        );
    }
    tar
}

fn write(path: &Path, mut tar: Vec<u8>) {
    tar.resize(tar.len() + 1_024, 0);
    let mut frame = zstd::Encoder::new(Vec::new(), 1).expect("a frame");
    frame.include_checksum(true).expect("a checksum");
    frame.write_all(&tar).expect("bytes");
    fs::write(path, frame.finish().expect("a frame")).expect("a file");
}

#[test]
fn a_backup_restores_and_goes_on_under_a_new_origin() {
    let bed = Bed::new();
    let before = open(&bed.path("store")).heads().expect("heads");
    assert_eq!(bed.restore("good").expect("it restores"), 5);
    let restored = open(&bed.path("restored"));
    assert_eq!(restored.heads().expect("heads"), before);
    assert_eq!(
        store(&restored, "four"),
        8,
        "origin_started, actor_named, the memory"
    );
    let heads = restored.heads().expect("heads");
    assert_eq!(heads.len(), 2);
    let own = heads.iter().find(|head| head.own).expect("an own chain");
    assert_ne!(own.origin, before[0].origin);
    // The store that was backed up keeps its origin, too.
    let origin = store(&open(&bed.path("store")), "other");
    assert_eq!(origin, 6);
}

/// The folder that was backed up, with the same inode: the fingerprint would fit.
#[test]
fn a_store_that_is_restored_in_its_own_folder_mints_an_origin_too() {
    let bed = Bed::new();
    let dir = bed.path("store");
    let before = open(&dir).heads().expect("heads");
    restore(&bed.path("good"), &bed.path("restored"), &NoProgress).expect("it restores");
    for name in ["log", "acked", "store.toml"] {
        let (old, new) = (dir.join(name), bed.path("restored").join(name));
        if old.is_dir() {
            fs::remove_dir_all(&old).expect("removed");
        } else {
            fs::remove_file(&old).expect("removed");
        }
        fs::rename(new, old).expect("moved");
    }
    let service = open(&dir);
    assert_eq!(store(&service, "four"), 8);
    let heads = service.heads().expect("heads");
    let own = heads.iter().find(|head| head.own).expect("an own chain");
    assert_ne!(own.origin, before[0].origin);
}

#[test]
fn bytes_cut_anywhere_are_refused() {
    let bed = Bed::new();
    let good = fs::read(bed.path("good")).expect("a backup");
    let near_the_end = good.len() - 40;
    for len in (0..near_the_end)
        .step_by(13)
        .chain(near_the_end..good.len())
    {
        fs::write(bed.path("cut"), &good[..len]).expect("a file");
        let error = bed.restore("cut").expect_err("it is cut");
        let named = matches!(error, ServiceError::BadBackup { .. });
        assert!(named || len < 4, "{len}: {error}");
    }
    // The tar is cut before its end, in a frame that is whole.
    let tar = archive(&bed.entries());
    let end = tar
        .iter()
        .rposition(|byte| *byte != 0)
        .expect("not only padding");
    for len in (0..=end).step_by(256) {
        write(&bed.path("cut"), tar[..len].to_vec());
        bed.restore("cut").expect_err("it is cut");
    }
    fs::remove_file(bed.path("cut")).expect("removed");
    write(&bed.path("whole"), tar);
    bed.restore("whole").expect("this one is not");
}

#[test]
fn changed_bytes_are_refused() {
    let bed = Bed::new();
    let before = open(&bed.path("store")).heads().expect("heads");
    let good = fs::read(bed.path("good")).expect("a backup");
    let mut refused = 0;
    let places: Vec<usize> = (0..good.len()).step_by(7).collect();
    for at in places.iter().copied() {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        fs::write(bed.path("bad"), &bad).expect("a file");
        match bed.restore("bad") {
            Err(_) => refused += 1,
            // Other bytes for the same content, which the frame's own check accepts.
            Ok(position) => {
                assert_eq!(position, 5);
                let heads = open(&bed.path("restored")).heads().expect("heads");
                assert_eq!(heads, before);
                fs::remove_dir_all(bed.path("restored")).expect("removed");
            }
        }
    }
    assert!(
        refused * 100 > places.len() * 95,
        "{refused} of {}",
        places.len()
    );
    let mut longer = good.clone();
    longer.push(0);
    fs::write(bed.path("bad"), &longer).expect("a file");
    bed.restore("bad").expect_err("it goes on after its end");
    let twice = [good.as_slice(), good.as_slice()].concat();
    fs::write(bed.path("bad"), &twice).expect("a file");
    bed.restore("bad").expect_err("there are two");
}

#[test]
fn contents_that_do_not_belong_in_a_store_are_refused() {
    let bed = Bed::new();
    let entries = bed.entries();
    let names: Vec<&str> = entries.iter().map(|(name, _)| name.as_str()).collect();
    let expected = ["store.toml", "acked"].as_slice();
    assert_eq!(&names[..2], expected, "{names:?}");
    assert_eq!(names.last(), Some(&"manifest.json"));
    let origin = "0123456789abcdef0123456789abcdef";
    let long_segment = format!("log/{origin}/00000000000000000001-0123456789abcdef.icmlog");
    let outside = bed.path("outside").display().to_string();
    for (name, kind, size) in [
        ("../evil", EntryType::Regular, 4),
        (&outside, EntryType::Regular, 4),
        ("log/../../evil", EntryType::Regular, 4),
        ("torn/../../evil.torn", EntryType::Regular, 4),
        ("views/current", EntryType::Regular, 4),
        ("config.toml", EntryType::Regular, 4),
        ("./store.toml", EntryType::Regular, 4),
        ("store.toml", EntryType::Regular, 4),
        ("torn", EntryType::Directory, 0),
        ("torn/a.torn", EntryType::Symlink, 0),
        ("torn/a.torn", EntryType::Link, 0),
        ("torn/a.torn", EntryType::Char, 0),
        ("torn/a.torn", EntryType::Block, 0),
        ("torn/a.torn", EntryType::Fifo, 0),
        ("torn/a.torn", EntryType::GNUSparse, 0),
        (&long_segment, EntryType::Regular, 1 << 40),
    ] {
        let bytes = if size == 4 { b"evil".as_slice() } else { b"" };
        let mut tar = archive(&entries[..1]);
        entry(&mut tar, name, kind, size, bytes);
        tar.extend_from_slice(&archive(&entries[1..]));
        write(&bed.path("evil"), tar);
        let error = bed.restore("evil").expect_err(name);
        assert!(
            matches!(error, ServiceError::BadBackup { .. }),
            "{name}: {error}"
        );
        // Such an entry after the manifest is refused, too.
        let mut tar = archive(&entries);
        entry(&mut tar, name, kind, size.min(4), bytes);
        write(&bed.path("evil"), tar);
        bed.restore("evil").expect_err(name);
    }
    assert!(!Path::new(&outside).exists());
}

#[test]
fn files_that_are_missing_or_others_are_refused() {
    let bed = Bed::new();
    let entries = bed.entries();
    for at in 0..entries.len() {
        let mut fewer = entries.clone();
        fewer.remove(at);
        write(&bed.path("bad"), archive(&fewer));
        bed.restore("bad").expect_err("one is missing");
        let mut other = entries.clone();
        let middle = other[at].1.len() / 2;
        other[at].1[middle] ^= 1;
        write(&bed.path("bad"), archive(&other));
        bed.restore("bad").expect_err("one is another");
    }
    // A forged manifest does not make a log valid that does not verify.
    let mut forged = entries.clone();
    let at = entries.len() - 2;
    let middle = forged[at].1.len() / 2;
    let before = blake3::hash(&forged[at].1).to_hex().to_string();
    forged[at].1[middle] ^= 1;
    let after = blake3::hash(&forged[at].1).to_hex().to_string();
    let manifest = forged.last_mut().expect("a manifest");
    let text = String::from_utf8(manifest.1.clone()).expect("text");
    assert!(text.contains(&before));
    manifest.1 = text.replace(&before, &after).into_bytes();
    write(&bed.path("bad"), archive(&forged));
    let error = bed.restore("bad").expect_err("the log is damaged");
    assert!(matches!(error, ServiceError::BadBackup { .. }), "{error}");
    // Nor does a forged manifest make a copy of a `store.toml` that is bound to a folder.
    let mut bound = entries.clone();
    let before = blake3::hash(&bound[0].1).to_hex().to_string();
    bound[0].1 = fs::read(bed.path("store").join("store.toml")).expect("a store");
    let after = blake3::hash(&bound[0].1).to_hex().to_string();
    let manifest = bound.last_mut().expect("a manifest");
    let text = String::from_utf8(manifest.1.clone()).expect("text");
    manifest.1 = text.replace(&before, &after).into_bytes();
    write(&bed.path("bad"), archive(&bound));
    let error = bed.restore("bad").expect_err("it is bound");
    assert!(error.to_string().contains("store.toml"), "{error}");
}
