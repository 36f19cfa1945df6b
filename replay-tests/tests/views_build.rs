//! Views are built beside others in use: nobody has to wait meanwhile, and a build that fails leaves nothing behind.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use icm_api::{Caller, StoreRequest};
use icm_log::disk::RealDisk;
use icm_log::{Cursor, Log};
use icm_projections::{ViewError, Views, version_dir};
use replay_tests::env::SimEnv;
use replay_tests::{folder, store};

const WAIT: Duration = Duration::from_millis(10);

/// Makes a store of some events, and returns its log.
fn some(dir: &Path) -> Log {
    let service = store::open(dir, Arc::new(SimEnv::new(1))).expect("it opens");
    for n in 0..5 {
        let request = StoreRequest::new("t", format!("memory {n}"));
        service
            .store(&Caller::default(), request)
            .expect("it is stored");
    }
    Log::open(Arc::new(RealDisk), dir).expect("it opens")
}

fn generations(views: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(views).expect("it is there");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("plain names"))
        .filter(|name| name.starts_with('g'))
        .collect();
    names.sort();
    names
}

#[test]
fn views_are_opened_while_others_are_built() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = some(folder.path());
    let views = folder.path().join("views");
    Views::rebuild(&views, &log, WAIT, &mut |_| {}).expect("it builds");
    let mut opened = 0;
    Views::rebuild(&views, &log, WAIT, &mut |_| {
        let found = Views::open(&views, &log).expect("it opens");
        assert_eq!(
            Some(found.tally().position),
            log.tip().map(|tip| tip.position)
        );
        // Another build waits for this one.
        let second = Views::rebuild(&views, &log, WAIT, &mut |_| {});
        assert!(matches!(second, Err(ViewError::Busy)));
        opened += 1;
    })
    .expect("it builds");
    assert!(opened > 0, "progress was told");
    assert_eq!(generations(&version_dir(&views)), ["g2"]);
}

#[test]
fn a_build_that_fails_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = some(folder.path());
    let views = folder.path().join("views");
    Views::rebuild(&views, &log, WAIT, &mut |_| {}).expect("it builds");
    // The folder of a killed build is removed by the next build.
    let own = version_dir(&views);
    std::fs::create_dir(own.join("g7")).expect("made");
    let mut places = Vec::new();
    log.scan(&Cursor::START, &mut |event| {
        places.push((event.place.path.to_owned(), event.place.offset));
        ControlFlow::Continue(())
    })
    .expect("it is whole");
    let (path, offset) = &places[places.len() / 2];
    let mut bytes = std::fs::read(path).expect("read");
    bytes[*offset as usize + 30] ^= 1;
    std::fs::write(path, bytes).expect("written");
    for _ in 0..3 {
        let failed = Views::rebuild(&views, &log, WAIT, &mut |_| {});
        assert!(matches!(failed, Err(ViewError::Stopped { .. })));
        assert_eq!(generations(&own), ["g1"], "the views that there were stay");
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_or_into_a_pipe() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = some(&folder.path().join("store"));
    let views = folder.path().join("store/views");
    let mine = folder.path().join("mine");
    std::fs::write(&mine, "mine").expect("written");
    Views::rebuild(&views, &log, WAIT, &mut |_| {}).expect("it builds");
    let own = version_dir(&views);
    std::os::unix::fs::symlink(&mine, own.join("current.tmp")).expect("linked");
    Views::rebuild(&views, &log, WAIT, &mut |_| {}).expect("it builds");
    assert_eq!(std::fs::read(&mine).expect("read"), b"mine");
    let made = std::process::Command::new("mkfifo")
        .arg(own.join("current.tmp"))
        .status();
    assert!(made.is_ok_and(|status| status.success()), "a FIFO");
    // A folder with foreign files stays, whatever its name.
    std::fs::create_dir(own.join("g77")).expect("made");
    std::fs::write(own.join("g77/page.html"), "mine").expect("written");
    Views::rebuild(&views, &log, WAIT, &mut |_| {}).expect("it builds");
    assert!(Views::open(&views, &log).is_ok());
    assert!(own.join("g77/page.html").exists());
}

/// Views of another version stay for 30 days after their last commit; a wipe removes them at once.
#[test]
fn views_of_other_versions() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = some(folder.path());
    let views = folder.path().join("views");
    let build = || Views::rebuild(&views, &log, WAIT, &mut |_| {}).expect("it builds");
    build();
    let built = folder::read(&version_dir(&views));
    // Puts views below `dir` whose last commit was some days ago, and returns `true` if they outlive a build.
    let stay = |dir: &Path, days: u64| {
        for (path, bytes) in &built {
            let path = dir.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, bytes).expect("written");
        }
        let manifest = std::fs::File::options()
            .write(true)
            .open(dir.join("g1/manifest"));
        let at = SystemTime::now() - Duration::from_hours(24 * days);
        manifest.expect("opened").set_modified(at).expect("set");
        build();
        dir.join("g1").exists()
    };
    let numbered = views.join("v1.2.3");
    let foreign = views.join("v1.txt");
    std::fs::create_dir(&foreign).expect("made");
    // The first versions had their files right below `views`.
    for dir in [&numbered, &views] {
        assert!(stay(dir, 29), "{}", dir.display());
        assert!(!stay(dir, 31), "{}", dir.display());
        assert!(stay(dir, 0), "{}", dir.display());
    }
    Views::wipe(&views, WAIT).expect("it wipes");
    let left = folder::read(&views);
    assert!(
        left.keys()
            .all(|path| path.ends_with("lock") || path.ends_with("build.lock")),
        "{left:?}"
    );
    assert!(!numbered.exists() && foreign.exists());
    assert!(build().tally().position.0 > 0);
}

/// Links, files and folders in the place of a version's files: nothing outside is written or removed.
#[cfg(unix)]
#[test]
fn odd_files_in_the_place_of_a_version() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = some(&folder.path().join("store"));
    let views = folder.path().join("store/views");
    let outside = folder.path().join("outside");
    std::fs::create_dir(&outside).expect("made");
    std::fs::write(outside.join("mine"), "mine").expect("written");
    let own = version_dir(&views);
    let other = views.join("v1.2.3");
    let link = |to: &Path, at: &Path| std::os::unix::fs::symlink(to, at).expect("linked");
    let cases: [&dyn Fn(); 6] = [
        &|| link(&outside, &own),
        &|| std::fs::write(&own, "a file").expect("written"),
        &|| std::fs::create_dir_all(own.join("lock/x")).expect("made"),
        &|| std::fs::create_dir_all(own.join("current/x")).expect("made"),
        &|| std::fs::create_dir_all(other.join("lock/x")).expect("made"),
        &|| {
            std::fs::create_dir_all(&other).expect("made");
            link(&outside.join("new"), &other.join("lock"));
        },
    ];
    for (number, spoil) in cases.iter().enumerate() {
        let _ = std::fs::remove_dir_all(&views);
        std::fs::create_dir(&views).expect("made");
        spoil();
        Views::wipe(&views, WAIT).unwrap_or_else(|error| panic!("{number}: {error}"));
        Views::rebuild(&views, &log, WAIT, &mut |_| {})
            .unwrap_or_else(|error| panic!("{number}: {error}"));
        assert!(Views::open(&views, &log).is_ok(), "{number}");
        let left = folder::read(&outside);
        assert_eq!(
            left.keys().collect::<Vec<_>>(),
            [Path::new("mine")],
            "{number}"
        );
    }
}

#[test]
fn a_few_long_memories_are_worth_view_files() {
    for (len, has_files) in [(100, false), (60_000, true)] {
        let folder = tempfile::tempdir().expect("a folder");
        let service = store::open(folder.path(), Arc::new(SimEnv::new(1))).expect("it opens");
        for n in 0..20 {
            let request = StoreRequest::new("t", format!("{n} {}", "word ".repeat(len / 5)));
            service
                .store(&Caller::default(), request)
                .expect("it is stored");
            service.settle();
        }
        let files = version_dir(&folder.path().join("views"))
            .join("current")
            .exists();
        assert_eq!(files, has_files, "{len} bytes each");
    }
}

/// Several servers start on a new store. Each has its first views in memory, and one of them builds those on disk.
#[test]
fn views_that_another_process_built_are_not_built_again() {
    for at_the_end in [false, true] {
        let folder = tempfile::tempdir().expect("a folder");
        let open =
            |seed| store::open(folder.path(), Arc::new(SimEnv::new(seed))).expect("it opens");
        let [one, other] = [open(1), open(2)];
        let memory = |n: u32| StoreRequest::new(format!("t{n}"), format!("number {n}"));
        let known = || other.stats(None).expect("it reads").memories;
        assert_eq!(known(), 0);
        for n in 0..600 {
            one.store(&Caller::default(), memory(n)).expect("stored");
        }
        assert!(one.settle_between());
        let built = || {
            std::fs::read(version_dir(&folder.path().join("views")).join("current"))
                .expect("it is there")
        };
        let first = built();
        assert_eq!(known(), 600);
        match at_the_end {
            true => other.settle(),
            false => _ = other.settle_between(),
        }
        assert_eq!(built(), first);
        assert_eq!(known(), 600);
        // The second process continues with these views.
        for n in 600..1_200 {
            other.store(&Caller::default(), memory(n)).expect("stored");
        }
        other.settle();
        assert_eq!(built(), first);
        assert_eq!(known(), 1_200);
        assert_eq!(open(3).stats(None).expect("it reads").memories, 1_200);
    }
}
