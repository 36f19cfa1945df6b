//! Invariants 15, 17 and 18 on the files of the views: each file removed, cut and flipped, and old and new files mixed
//! as by a process killed while writing them. No answer changes, nothing panics, and a fresh fold agrees.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use icm_api::{Caller, ListRequest, Memory, NoProgress, RecallRequest};
use icm_log::Log;
use icm_log::disk::RealDisk;
use icm_projections::{Views, ViewsState, inspect};
use icm_vectors::embed::{Embedder, StaticEmbedder};
use replay_tests::folder::{self, Files};
use replay_tests::judge;
use replay_tests::rng::Rng;
use replay_tests::script::Run;

/// The answers that are compared.
#[derive(Debug, PartialEq)]
struct Answers {
    rows: Vec<Memory>,
    earlier: Vec<Memory>,
    found: Vec<BTreeMap<String, (Memory, Vec<String>)>>,
}

const EARLIER: &str = "@300";

fn ask(run: &Run) -> Answers {
    let list = |at: Option<&str>| {
        let request = ListRequest {
            at: at.map(str::to_owned),
            forgotten: true,
            ..ListRequest::default()
        };
        run.service()
            .list(&request)
            .unwrap_or_else(|error| panic!("list: {error}"))
    };
    let recall = |query: &str, at: Option<&str>| {
        let request = RecallRequest {
            limit: Some(1_000),
            at: at.map(str::to_owned),
            floor: Some(0.0),
            ..RecallRequest::new(query)
        };
        let answer = run.service().recall(&Caller::default(), &request);
        judge::results(&answer.unwrap_or_else(|error| panic!("recall: {error}")))
    };
    let found = vec![
        recall("number", None),
        recall("seven", None),
        recall("changed", None),
        recall("number", Some(EARLIER)),
    ];
    Answers {
        rows: list(None),
        earlier: list(Some(EARLIER)),
        found,
    }
}

fn import(run: &Run, numbers: std::ops::Range<u32>) {
    let lines: String = numbers
        .map(|n| {
            let word = ["seven", "eleven", "twelve"][n as usize % 3];
            format!(
                "{{\"topic\":\"t{}\",\"content\":\"number {n} {word}\",\"key\":\"k{n}\"}}\n",
                n % 5
            )
        })
        .collect();
    let caller = Caller {
        actor: "user".to_owned(),
        ..Caller::default()
    };
    let file = (
        "lines".to_owned(),
        Box::new(std::io::Cursor::new(lines)) as Box<dyn std::io::BufRead>,
    );
    let report = run
        .service()
        .import_jsonl(&caller, vec![file], false, &NoProgress)
        .expect("it imports");
    assert!(report.rejected.is_empty(), "{report:?}");
}

fn step(run: &mut Run, line: &str) {
    let text = run.step(&line.parse().expect("a command"));
    assert!(!text.starts_with("error"), "{line}: {text}");
}

/// Makes a store whose views were written, caught up beyond their checkpoint, written again, and have a tail. Returns
/// the view files of both writings.
fn store() -> (Run, Files, Files) {
    let mut run = Run::new(5);
    import(&run, 0..100);
    step(&mut run, "rebuild");
    step(&mut run, "reopen");
    let first = folder::read(&run.dir().join("views"));
    import(&run, 100..700);
    step(&mut run, "forget-topic t3");
    step(&mut run, "settle");
    step(&mut run, "reopen");
    let second = folder::read(&run.dir().join("views"));
    assert_ne!(first, second, "settling wrote the views");
    step(
        &mut run,
        "store $a -t t1 -c \"changed in the tail\" --key k1",
    );
    step(&mut run, "store $b -t t2 -c \"number new in the tail\"");
    (run, first, second)
}

/// Replaces the files of the views, and compares the answers. Returns `true` if the user got a notice.
fn check(run: &mut Run, files: &Files, expected: &Answers, what: &str) -> bool {
    run.while_closed(|dir| folder::write(&dir.join("views"), files));
    assert!(ask(run) == *expected, "{what}: other answers");
    let notices = run.take_notices();
    assert!(
        notices.iter().all(|line| line.lines().count() == 1),
        "{what}: {notices:?}"
    );
    step(run, "reopen");
    assert!(
        ask(run) == *expected,
        "{what}: other answers after reopening"
    );
    notices.iter().any(|line| line.contains("rebuilt"))
}

fn verifies(run: &Run, what: &str) {
    let report = run.service().verify(&NoProgress).expect("it verifies");
    assert!(report.ok, "{what}: {report:?}");
}

#[test]
fn every_file_removed_cut_and_flipped() {
    let (mut run, _, files) = store();
    let expected = ask(&run);
    assert!(
        expected.rows.len() > 600 && expected.found[0].len() > 400,
        "there is something to ask"
    );
    let mut rng = Rng::new(1);
    let mut looked_at = 0;
    let mut missed = BTreeSet::new();
    for (path, bytes) in &files {
        let mut variants: Vec<(String, Option<Vec<u8>>)> = vec![("removed".into(), None)];
        for len in [0, bytes.len() / 2, bytes.len().saturating_sub(1)] {
            variants.push((format!("cut to {len}"), Some(bytes[..len].to_vec())));
        }
        for _ in 0..3 {
            let at = rng.below(bytes.len() as u64) as usize;
            let mut flipped = bytes.clone();
            if let Some(byte) = flipped.get_mut(at) {
                *byte ^= 1 << rng.below(8);
            }
            variants.push((format!("byte {at} flipped"), Some(flipped)));
        }
        for (what, variant) in variants {
            let what = format!("{} {what}", path.display());
            let mut damaged = files.clone();
            match variant {
                Some(bytes) => damaged.insert(path.clone(), bytes),
                None => damaged.remove(path),
            };
            let is_gone = !damaged.contains_key(path);
            let told = check(&mut run, &damaged, &expected, &what);
            if is_gone && !told {
                missed.insert(path.file_name().expect("a name").to_owned());
            }
            looked_at += 1;
        }
    }
    let embedder = StaticEmbedder::built_in();
    let model = embedder.model();
    // Locks are made anew, vectors come back by themselves; without `current` there are no views, which needs no
    // notice.
    let expected_missed = [
        model,
        "lock",
        "build.lock",
        ".tantivy-meta.lock",
        ".tantivy-writer.lock",
        "current",
    ];
    let expected_missed = expected_missed.map(std::ffi::OsString::from);
    assert_eq!(missed, BTreeSet::from(expected_missed));
    verifies(&run, "after all damage");
    assert!(looked_at >= 60, "{looked_at}");
}

/// A pipe, a folder or an endless file in the place of any file, before opening and while a process has the file open:
/// nobody waits for it, and the answers stay.
#[cfg(unix)]
#[test]
fn pipes_and_folders_are_not_waited_for() {
    let (mut run, _, files) = store();
    let expected = ask(&run);
    let spoil = |path: &Path, kind: &str| {
        fs::remove_file(path).expect("removed");
        match kind {
            "a folder" => fs::create_dir(path).expect("made"),
            "a pipe" => {
                let made = std::process::Command::new("mkfifo").arg(path).status();
                assert!(made.expect("mkfifo").success());
            }
            _ => {
                let file = fs::File::create(path).expect("made");
                file.set_len(1 << 42).expect("a hole");
            }
        }
    };
    // Without `current` there are no views, and lock files are empty.
    let is_view = |path: &&PathBuf| {
        let name = path.to_string_lossy();
        !name.ends_with("current") && !name.ends_with("lock")
    };
    for path in files.keys().filter(is_view) {
        for kind in ["a pipe", "a folder", "a file without end"] {
            let what = format!("{kind} as {}", path.display());
            run.while_closed(|dir| {
                folder::write(&dir.join("views"), &files);
                spoil(&dir.join("views").join(path), kind);
            });
            assert!(ask(&run) == expected, "{what}: other answers");
            run.while_closed(|dir| folder::write(&dir.join("views"), &files));
            assert!(
                ask(&run) == expected,
                "{what}: other answers once it was put back"
            );
            let now = run.dir().join("views").join(path);
            if now.is_file() {
                spoil(&now, kind);
            }
            assert!(ask(&run) == expected, "{what}, while open: other answers");
            step(&mut run, "rebuild");
        }
    }
    verifies(&run, "after all of it");
}

/// A process killed between any two steps of a commit leaves files that are put right without a rebuild.
#[test]
fn a_commit_that_is_cut_leaves_nothing_to_rebuild() {
    let (mut run, ..) = store();
    step(&mut run, "forget $b");
    let expected = ask(&run);
    let mut images: Vec<(&str, Files)> = Vec::new();
    run.while_closed(|dir| {
        let views_dir = dir.join("views");
        let log = Log::open(Arc::new(RealDisk), dir).expect("it opens");
        let mut views = Views::open(&views_dir, &log).expect("it opens");
        views.follow(&log).expect("it folds");
        let mut look = |step| images.push((step, folder::read_at_rest(&views_dir)));
        let wait = Duration::from_secs(1);
        views
            .commit_in_steps(&views_dir, &log, wait, &mut look)
            .expect("it commits");
    });
    let steps: Vec<&str> = images.iter().map(|(step, _)| *step).collect();
    assert_eq!(steps.len(), 12, "{steps:?}");
    let different: BTreeSet<&Files> = images.iter().map(|(_, files)| files).collect();
    assert!(different.len() >= 8, "{}", different.len());
    for (step_name, files) in &images {
        let what = format!("cut after {step_name}");
        run.while_closed(|dir| {
            folder::write(&dir.join("views"), files);
            let log = Log::open(Arc::new(RealDisk), dir).expect("it opens");
            let seen = inspect(&dir.join("views"), &log, false).state;
            let told = matches!(seen, ViewsState::Cut | ViewsState::Usable { .. });
            assert!(told, "{what}: {seen:?}");
        });
        assert!(
            !check(&mut run, files, &expected, &what),
            "{what}: it was rebuilt"
        );
        // Later commits continue from there.
        step(&mut run, "rebuild");
        run.while_closed(|dir| folder::write(&dir.join("views"), files));
        step(&mut run, "settle");
        step(&mut run, "reopen");
        assert!(
            ask(&run) == expected,
            "{what}: other answers after settling"
        );
        verifies(&run, &what);
        assert!(run.take_notices().is_empty(), "{what}");
    }
}

#[test]
fn old_and_new_files_mixed() {
    let (mut run, first, second) = store();
    let expected = ask(&run);
    let all: BTreeSet<_> = first.keys().chain(second.keys()).cloned().collect();
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let mut mixed = Files::new();
        for path in &all {
            let from = match rng.below(5) {
                0 => None,
                1 | 2 => first.get(path),
                _ => second.get(path),
            };
            if let Some(bytes) = from {
                let half = rng.below(8) == 0;
                let len = if half { bytes.len() / 2 } else { bytes.len() };
                mixed.insert(path.clone(), bytes[..len].to_vec());
            }
        }
        check(&mut run, &mixed, &expected, &format!("mixture {seed}"));
    }
    check(&mut run, &first, &expected, "the first writing");
    check(&mut run, &Files::new(), &expected, "nothing");
    verifies(&run, "after all mixtures");
}

#[test]
fn files_of_another_store() {
    let (mut run, ..) = store();
    let expected = ask(&run);
    let mut other = Run::new(6);
    import(&other, 0..700);
    step(&mut other, "rebuild");
    step(&mut other, "reopen");
    let foreign = folder::read(&other.dir().join("views"));
    check(&mut run, &foreign, &expected, "views of another store");
    verifies(&run, "views of another store");
    run.while_closed(|dir| {
        folder::write(&dir.join("views"), &Files::new());
        std::fs::remove_dir_all(dir.join("views")).expect("removed");
        std::fs::write(dir.join("views"), b"a file").expect("written");
    });
    let request = ListRequest {
        forgotten: true,
        ..ListRequest::default()
    };
    match run.service().list(&request) {
        Ok(rows) => assert_eq!(rows, expected.rows),
        Err(error) => assert!(
            error.to_string().contains("views"),
            "it names the file: {error}"
        ),
    }
}
