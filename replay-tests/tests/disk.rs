//! One contract, two disks: each test runs against the real disk and the simulated one. Tests of the simulated disk
//! only (faults, crashes) follow below.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use icm_log::disk::{self, DirEntry, Disk, OpenMode, RealDisk};
use replay_tests::simdisk::{CrashPlan, Names, OpKind, SimDisk, Writes};

/// Runs `test` against both disks, each with an empty folder.
fn on_both(test: impl Fn(&dyn Disk, &Path)) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    test(&RealDisk, folder.path());
    let sim = SimDisk::new();
    sim.create_dir_all(Path::new("/work")).expect("a folder");
    test(&sim, Path::new("/work"));
}

fn kind<T>(result: std::io::Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}

fn sorted(disk: &dyn Disk, dir: &Path) -> Vec<DirEntry> {
    let mut entries = disk.read_dir(dir).expect("the folder is read");
    entries.sort();
    entries
}

fn bytes(disk: &dyn Disk, path: &Path) -> Vec<u8> {
    disk::read_all(disk, path, 1 << 20).expect("the file is read")
}

#[test]
fn write_read_truncate() {
    on_both(|disk, dir| {
        let path = dir.join("a");
        let file = disk.open(&path, OpenMode::CreateNew).expect("created");
        assert!(file.is_empty().expect("a length"));
        file.write_at(b"hello", 0).expect("written");
        file.write_at(b"J", 0).expect("written over");
        file.write_at(b"!", 8).expect("written past the end");
        assert_eq!(file.len().expect("a length"), 9);
        let mut buffer = [7; 12];
        assert_eq!(file.read_at(&mut buffer, 0).expect("read"), 9);
        assert_eq!(&buffer, b"Jello\0\0\0!\x07\x07\x07");
        assert_eq!(file.read_at(&mut buffer, 9).expect("read at the end"), 0);
        assert_eq!(
            file.read_at(&mut buffer, 1_000).expect("read past the end"),
            0
        );
        file.truncate(3).expect("cut");
        assert_eq!(bytes(disk, &path), b"Jel");
        file.truncate(5).expect("grown");
        assert_eq!(bytes(disk, &path), b"Jel\0\0");
        file.write_at(b"", 20).expect("nothing written");
        assert_eq!(
            file.len().expect("a length"),
            5,
            "writing nothing does not grow a file"
        );
        file.sync().expect("synced");
    });
}

#[test]
fn open_modes() {
    on_both(|disk, dir| {
        let path = dir.join("a");
        assert_eq!(
            kind(disk.open(&path, OpenMode::Read)),
            Some(ErrorKind::NotFound)
        );
        assert_eq!(
            kind(disk.open(&path, OpenMode::Write)),
            Some(ErrorKind::NotFound)
        );
        let file = disk.open(&path, OpenMode::Create).expect("created");
        file.write_at(b"kept", 0).expect("written");
        assert_eq!(
            kind(disk.open(&path, OpenMode::CreateNew)),
            Some(ErrorKind::AlreadyExists)
        );
        for mode in [OpenMode::Read, OpenMode::Write, OpenMode::Create] {
            let file = disk.open(&path, mode).expect("opened");
            assert_eq!(
                file.len().expect("a length"),
                4,
                "{mode:?} keeps what is there"
            );
            assert_eq!(
                file.write_at(b"k", 0).is_ok(),
                mode != OpenMode::Read,
                "{mode:?}"
            );
            assert_eq!(file.truncate(4).is_ok(), mode != OpenMode::Read, "{mode:?}");
            file.sync().expect("a sync needs no right to write");
        }
        let below_nothing = dir.join("none").join("a");
        assert_eq!(
            kind(disk.open(&below_nothing, OpenMode::Create)),
            Some(ErrorKind::NotFound)
        );
        let below_file = path.join("a");
        for mode in [OpenMode::Read, OpenMode::Create] {
            assert_eq!(
                kind(disk.open(&below_file, mode)),
                Some(ErrorKind::NotADirectory)
            );
        }
        for mode in [OpenMode::Read, OpenMode::Write, OpenMode::Create] {
            assert_eq!(
                kind(disk.open(dir, mode)),
                Some(ErrorKind::IsADirectory),
                "{mode:?}"
            );
        }
    });
}

#[test]
fn folders() {
    on_both(|disk, dir| {
        let deep = dir.join("a").join("b");
        disk.create_dir_all(&deep).expect("created");
        disk.create_dir_all(&deep).expect("fine when it exists");
        disk.open(&deep.join("f"), OpenMode::CreateNew)
            .expect("created");
        let entry = |name: &str, is_dir| DirEntry {
            name: name.to_owned(),
            is_dir,
            is_link: false,
        };
        assert_eq!(sorted(disk, &dir.join("a")), [entry("b", true)]);
        assert_eq!(sorted(disk, &deep), [entry("f", false)]);
        assert_eq!(
            kind(disk.read_dir(&dir.join("none"))),
            Some(ErrorKind::NotFound)
        );
        assert_eq!(
            kind(disk.read_dir(&deep.join("f"))),
            Some(ErrorKind::NotADirectory)
        );
        assert_eq!(
            kind(disk.create_dir_all(&deep.join("f"))),
            Some(ErrorKind::AlreadyExists)
        );
        let below_file = deep.join("f").join("g");
        assert_eq!(
            kind(disk.create_dir_all(&below_file)),
            Some(ErrorKind::NotADirectory)
        );
        disk.sync_dir(&deep).expect("synced");
        assert_eq!(
            kind(disk.sync_dir(&dir.join("none"))),
            Some(ErrorKind::NotFound)
        );
    });
}

#[test]
fn rename_and_remove() {
    on_both(|disk, dir| {
        let (a, b) = (dir.join("a"), dir.join("b"));
        disk.open(&a, OpenMode::CreateNew)
            .expect("created")
            .write_at(b"new", 0)
            .expect("written");
        let old = disk.open(&b, OpenMode::CreateNew).expect("created");
        old.write_at(b"old", 0).expect("written");
        disk.rename(&a, &b).expect("renamed");
        assert_eq!(bytes(disk, &b), b"new");
        assert_eq!(
            kind(disk.open(&a, OpenMode::Read)),
            Some(ErrorKind::NotFound)
        );
        let mut buffer = [0; 3];
        old.read_at(&mut buffer, 0)
            .expect("an open file outlives its name");
        assert_eq!(&buffer, b"old");
        assert_eq!(kind(disk.rename(&a, &b)), Some(ErrorKind::NotFound));
        disk.create_dir_all(&dir.join("d")).expect("created");
        assert_eq!(
            kind(disk.rename(&b, &dir.join("d"))),
            Some(ErrorKind::IsADirectory)
        );
        assert_eq!(
            kind(disk.rename(&b, &dir.join("none").join("b"))),
            Some(ErrorKind::NotFound)
        );
        disk.rename(&b, &dir.join("d").join("b"))
            .expect("renamed into another folder");
        assert_eq!(bytes(disk, &dir.join("d").join("b")), b"new");
        assert_eq!(kind(disk.remove_file(&b)), Some(ErrorKind::NotFound));
        disk.remove_file(&dir.join("d").join("b")).expect("removed");
        assert_eq!(sorted(disk, &dir.join("d")), []);
    });
}

#[test]
fn replace_in_one_step() {
    on_both(|disk, dir| {
        let path = dir.join("store.toml");
        disk::replace(disk, &path, b"one").expect("created");
        disk::replace(disk, &path, b"two").expect("replaced");
        assert_eq!(bytes(disk, &path), b"two");
        assert_eq!(sorted(disk, dir).len(), 1, "nothing is left beside it");
        assert_eq!(
            kind(disk::read_all(disk, &path, 2)),
            Some(ErrorKind::InvalidData)
        );
    });
}

#[test]
fn identities() {
    on_both(|disk, dir| {
        let (a, b) = (dir.join("a"), dir.join("b"));
        let file = disk.open(&a, OpenMode::CreateNew).expect("created");
        disk.open(&b, OpenMode::CreateNew).expect("created");
        let id = |path: &Path| disk.identity(path).expect("an identity");
        assert_eq!(file.stamp().expect("a stamp").identity, id(&a));
        assert_ne!(id(&a), id(&b));
        assert_ne!(id(&a), id(dir));
        let before = id(&a);
        disk.rename(&a, &b).expect("renamed");
        assert_eq!(id(&b), before, "a file keeps its identity under a new name");
        assert_eq!(kind(disk.identity(&a)), Some(ErrorKind::NotFound));
    });
}

#[test]
fn stamps() {
    on_both(|disk, dir| {
        let (a, b) = (dir.join("a"), dir.join("b"));
        let stamp = |path: &Path| disk.stamp(path).expect("asked").map(|found| found.0);
        assert_eq!(stamp(&a), None);
        let file = disk.open(&a, OpenMode::CreateNew).expect("created");
        let empty = stamp(&a).expect("it is there");
        assert_eq!(stamp(&a), Some(empty), "looking changes nothing");
        file.write_at(b"one", 0).expect("written");
        let written = stamp(&a).expect("it is there");
        assert_ne!(written, empty);
        assert_eq!(file.stamp().expect("a stamp"), written);
        file.truncate(1).expect("cut");
        assert_ne!(stamp(&a), Some(written));
        disk.open(&b, OpenMode::CreateNew).expect("created");
        disk.rename(&b, &a).expect("renamed");
        let replaced = stamp(&a).expect("it is there");
        assert_ne!(replaced.identity, written.identity);
        assert_ne!(file.stamp().expect("a stamp"), replaced);
    });
}

#[test]
fn a_folder_bears_a_new_stamp_or_says_that_its_stamp_is_young() {
    on_both(|disk, dir| {
        let (before, _) = disk.stamp(dir).expect("asked").expect("it is there");
        disk.open(&dir.join("new"), OpenMode::CreateNew)
            .expect("created");
        let (after, settled) = disk.stamp(dir).expect("asked").expect("it is there");
        assert!(before != after || !settled);
    });
}

#[test]
fn locks() {
    on_both(|disk, dir| {
        let path = dir.join("lock");
        let held = disk
            .try_lock(&path)
            .expect("locked")
            .expect("nobody has it");
        assert!(
            disk.try_lock(&path).expect("asked").is_none(),
            "somebody has it"
        );
        assert!(disk.try_lock(&dir.join("other")).expect("asked").is_some());
        drop(held);
        assert!(
            disk.try_lock(&path).expect("asked").is_some(),
            "the lock goes with the value"
        );
    });
}

// From here on only the simulated disk is tested.

const A: &str = "/a";
const B: &str = "/b";

fn crash(disk: &SimDisk, writes: Writes, names: Names, seed: u64) -> SimDisk {
    disk.crash(CrashPlan {
        writes,
        names,
        seed,
    })
}

fn file_with(disk: &SimDisk, path: &str, bytes: &[u8]) -> std::sync::Arc<dyn disk::DiskFile> {
    let file = disk
        .open(Path::new(path), OpenMode::CreateNew)
        .expect("created");
    file.write_at(bytes, 0).expect("written");
    file
}

#[test]
fn synced_events_survive_every_crash() {
    let disk = SimDisk::new();
    let file = file_with(&disk, A, b"synced");
    file.sync().expect("synced");
    disk.sync_dir(Path::new("/")).expect("synced");
    file.write_at(b" and not", 6).expect("written");
    let mut seen = std::collections::BTreeSet::new();
    for plan in CrashPlan::all(50) {
        let found = disk.crash(plan).contents(A);
        assert!(found.starts_with(b"synced"), "{plan:?} {found:?}");
        seen.insert(found);
    }
    assert!(seen.contains(b"synced".as_slice()) && seen.contains(b"synced and not".as_slice()));
    assert!(
        seen.iter().any(|found| found.ends_with(b"\0")),
        "lengths arrive before bytes"
    );
    assert!(seen.len() > 5, "halves of every length: {seen:?}");
    assert_eq!(
        disk.contents(A),
        b"synced and not",
        "the disk itself goes on"
    );
}

#[test]
fn later_sectors_arrive_without_earlier_ones() {
    let disk = SimDisk::new();
    disk.put(A, b"");
    let file = disk.open(Path::new(A), OpenMode::Write).expect("opened");
    file.write_at(&[1; 10_000], 0).expect("written");
    let hole = (0..50).any(|seed| {
        let found = crash(&disk, Writes::Reordered, Names::Kept, seed).contents(A);
        found.len() == 10_000 && found[0] == 0 && found[9_999] == 1
    });
    assert!(hole);
    for seed in 0..50 {
        let found = crash(&disk, Writes::Halved, Names::Kept, seed).contents(A);
        assert!(
            found.iter().all(|byte| *byte == 1),
            "halved writes arrive in order"
        );
    }
}

#[test]
fn names_need_their_folder_synced() {
    let disk = SimDisk::new();
    file_with(&disk, A, b"one").sync().expect("synced");
    let without = crash(&disk, Writes::Kept, Names::Dropped, 0);
    assert_eq!(without.files(), Vec::<PathBuf>::new());
    assert_eq!(
        crash(&disk, Writes::Dropped, Names::Kept, 0).contents(A),
        b"one"
    );
    disk.sync_dir(Path::new("/")).expect("synced");
    disk.rename(Path::new(A), Path::new(B)).expect("renamed");
    for seed in 0..20 {
        let found = crash(&disk, Writes::Dropped, Names::Some, seed).files();
        assert_eq!(found.len(), 1, "a rename happens or does not: {found:?}");
    }
    assert_eq!(
        crash(&disk, Writes::Kept, Names::Dropped, 0).contents(A),
        b"one"
    );
    disk.sync_dir(Path::new("/")).expect("synced");
    assert_eq!(
        crash(&disk, Writes::Kept, Names::Dropped, 0).contents(B),
        b"one"
    );
}

#[test]
fn a_new_folder_needs_its_parent_synced() {
    let disk = SimDisk::new();
    disk.create_dir_all(Path::new("/d/e")).expect("created");
    file_with(&disk, "/d/e/f", b"x").sync().expect("synced");
    disk.sync_dir(Path::new("/d/e")).expect("synced");
    disk.sync_dir(Path::new("/d")).expect("synced");
    assert!(
        crash(&disk, Writes::Kept, Names::Dropped, 0)
            .files()
            .is_empty()
    );
    disk.sync_dir(Path::new("/")).expect("synced");
    assert_eq!(
        crash(&disk, Writes::Dropped, Names::Dropped, 0).contents("/d/e/f"),
        b"x"
    );
}

#[test]
fn locks_go_with_a_crash_and_identities_stay() {
    let disk = SimDisk::new();
    let held = disk
        .try_lock(Path::new(A))
        .expect("locked")
        .expect("nobody has it");
    let id = disk.identity(Path::new(A)).expect("an identity");
    for found in [disk.kill(), crash(&disk, Writes::Kept, Names::Kept, 0)] {
        assert!(found.try_lock(Path::new(A)).expect("asked").is_some());
        assert_eq!(found.identity(Path::new(A)).expect("an identity"), id);
    }
    assert!(disk.try_lock(Path::new(A)).expect("asked").is_none());
    drop(held);
}

#[test]
fn the_nth_operation_fails() {
    let run = |disk: &SimDisk| -> std::io::Result<()> {
        let file = disk.open(Path::new(A), OpenMode::CreateNew)?;
        file.write_at(&[7; 100], 0)?;
        file.sync()?;
        disk.sync_dir(Path::new("/"))?;
        disk.rename(Path::new(A), Path::new(B))
    };
    let whole = SimDisk::new();
    run(&whole).expect("nothing fails");
    let kinds: Vec<_> = whole.trace().iter().map(|op| op.kind).collect();
    use OpKind::{Create, Rename, Sync, SyncDir, Write};
    assert_eq!(kinds, [Create, Write, Sync, SyncDir, Rename]);
    for n in 1..=5 {
        let disk = SimDisk::new();
        disk.fail_at(n);
        run(&disk).expect_err("one operation fails");
        assert_eq!(disk.op_count(), n, "{}", disk.trace_text());
        assert!(disk.trace()[n as usize - 1].failed);
        let off = SimDisk::new();
        off.power_off_at(n);
        run(&off).expect_err("the power is off");
        run(&off).expect_err("and stays off");
    }
    let full = SimDisk::new();
    full.fail_at(2);
    assert_eq!(
        run(&full).map_err(|error| error.kind()),
        Err(ErrorKind::StorageFull)
    );
    assert!(full.contents(A).len() < 100, "a part was written");
    assert!(full.contents(A).iter().all(|byte| *byte == 7));
}

#[test]
fn a_failed_sync_gives_up_on_what_was_dirty() {
    let mut lost = 0;
    for seed in 0..20 {
        let disk = SimDisk::new();
        disk.seed_faults(seed);
        disk.put(A, b"");
        let file = disk.open(Path::new(A), OpenMode::Write).expect("opened");
        file.write_at(b"data", 0).expect("written");
        disk.fail_at(disk.op_count() + 1);
        file.sync().expect_err("the sync fails");
        file.sync().expect("the next one has nothing to do");
        assert_eq!(disk.contents(A), b"data", "programs still see it");
        lost += u32::from(crash(&disk, Writes::Kept, Names::Kept, seed).contents(A) != b"data");
        file.write_at(b"more", 4).expect("written");
        file.sync().expect("synced");
        let found = crash(&disk, Writes::Dropped, Names::Kept, seed).contents(A);
        assert_eq!(
            found, b"datamore",
            "its page is written whole when it is dirty again"
        );
    }
    assert!((5..=20).contains(&lost), "lost {lost} times of 20");
}

#[test]
fn a_full_disk() {
    let disk = SimDisk::new();
    disk.set_capacity(Some(10));
    let file = file_with(&disk, A, b"12345678");
    let error = file.write_at(b"9abc", 8).expect_err("the disk is full");
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert_eq!(disk.contents(A), b"123456789a");
    file.write_at(b"over", 0)
        .expect("writing over needs no room");
    disk.heal();
    file.write_at(b"bc", 10).expect("there is room again");
}
