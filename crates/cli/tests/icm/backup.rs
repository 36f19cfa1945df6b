//! `icm backup` and `icm restore` as processes, beside other commands and killed in the middle.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::world::{Run, World, run, tree};

fn restore(world: &World, file: &str, db: &str) -> Run {
    world.icm(["restore", file, "--db", db, "--json"])
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_backup_comes_back_with_everything() {
    let world = World::with_memories();
    world.icm(["recall", "invoices"]).ok();
    let receipt = world.json(["backup", "b.icm"]);
    assert_eq!(receipt["file"], "b.icm");
    assert_eq!(receipt["position"], 6);
    assert_eq!(receipt["events"], 6);
    let file = world.path("b.icm");
    assert_eq!(receipt["bytes"], std::fs::metadata(&file).unwrap().len());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(names(&world.path("")), ["b.icm"]);

    let restored = restore(&world, "b.icm", "new/store").ok().json();
    assert_eq!(restored["position"], 6);
    assert_eq!(restored["origins"], receipt["origins"]);
    let list = |db: &str| world.icm(["list", "--json", "--db", db]).ok().out;
    let original = world.store();
    assert_eq!(list("new/store"), list(original.to_str().unwrap()));
    world.icm(["verify", "--db", "new/store"]).ok();
    // Restoring again before the next write changes nothing.
    let mut again = restore(&world, "b.icm", "new/store").ok().json();
    assert_eq!(again["unchanged"], true);
    again["unchanged"] = false.into();
    assert_eq!(again, restored);
    assert_eq!(names(&world.path("new")), ["store"]);

    let args = ["store", "-t", "a", "-c", "b", "--db", "new/store", "--json"];
    let run = world.icm(args).ok();
    assert_eq!(run.json()["position"], 9, "{run:?}");
    assert!(run.err.contains("new origin"), "{run:?}");
    world.icm(["verify", "--db", "new/store"]).ok();
    restore(&world, "b.icm", "new/store").ends(2);
    // The actor is known, because the store's secret is in the backup.
    let log = world.icm(["log", "--db", "new/store", "--json"]).ok();
    assert!(
        log.json_lines()
            .iter()
            .all(|event| event["actor"] == "user")
    );
}

#[test]
fn nothing_is_overwritten() {
    let world = World::with_memories();
    world.icm(["backup", "b.icm"]).ok();
    world
        .icm(["backup", "b.icm"])
        .fails(2, "b.icm is there already");
    world.icm(["backup", "b.icm", "--force"]).ok();
    world.icm(["backup", "-"]).fails(2, "no name for a backup");
    world.icm(["backup", "absent/b.icm"]).fails(2, "absent");
    std::fs::create_dir(world.path("folder")).unwrap();
    world
        .icm(["backup", "folder", "--force"])
        .fails(2, "no file");
    let inside = world.store().join("b.icm");
    let inside = inside.to_str().unwrap();
    world
        .icm(["backup", inside])
        .fails(2, "lies in the store itself");
    let inside = world.store().join("log/b.icm");
    world
        .icm(["backup", inside.to_str().unwrap()])
        .fails(2, "lies in the store itself");
    world
        .icm(["backup", "x", "--db", "absent"])
        .fails(2, "nothing to back up");
    assert_eq!(names(&world.path("")), ["b.icm", "folder"]);

    let before = tree(&world.store());
    world
        .icm(["restore", "b.icm"])
        .fails(2, "there already and not empty");
    assert_eq!(tree(&world.store()), before);
    world.write("folder/mine.txt", "mine");
    world
        .icm(["restore", "b.icm", "--db", "folder"])
        .fails(2, "not empty");
    world
        .icm(["restore", "b.icm", "--db", "b.icm"])
        .fails(2, "");
    world.write("text", "no backup at all");
    world
        .icm(["restore", "text", "--db", "new"])
        .fails(2, "no backup of icm");
    world
        .icm(["restore", "absent", "--db", "new"])
        .fails(2, "absent");
    let bytes = std::fs::read(world.path("b.icm")).unwrap();
    world.write("cut", &bytes[..bytes.len() - 1]);
    world
        .icm(["restore", "cut", "--db", "new"])
        .fails(3, "is damaged");
    assert!(!world.path("new").exists());
    std::fs::create_dir(world.path("empty")).unwrap();
    assert_eq!(
        restore(&world, "b.icm", "empty").ok().json()["unchanged"],
        false
    );
    // Restoring again changes nothing and says so.
    let again = world.icm(["restore", "b.icm", "--db", "empty"]).ok();
    assert!(again.out.contains("is this backup already"), "{again:?}");
    assert!(again.out.contains("nothing was restored"), "{again:?}");
    assert_eq!(
        restore(&world, "b.icm", "empty").ok().json()["unchanged"],
        true
    );
    assert_eq!(
        names(&world.path("")),
        ["b.icm", "cut", "empty", "folder", "text"]
    );
}

#[test]
fn a_damaged_log_is_not_backed_up() {
    let world = World::with_memories();
    let files = tree(&world.store());
    let is_segment = |path: &Path| path.extension().is_some_and(|end| end == "icmlog");
    let (path, bytes) = files.iter().find(|(path, _)| is_segment(path)).unwrap();
    let mut bad = bytes.clone();
    let at = bad.len() / 2;
    bad[at] ^= 1;
    std::fs::write(path, bad).unwrap();
    world.icm(["backup", "b.icm"]).fails(3, "damaged");
    assert_eq!(names(&world.path("")), [""; 0]);
}

/// A limit on the length of files simulates a full disk.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing_behind() {
    let world = World::new();
    let mut lines = String::new();
    for i in 0..600u32 {
        let hash = (0..8).map(|n| format!("{:08x}", (i * 8 + n).wrapping_mul(2_654_435_761)));
        let hash: String = hash.collect();
        lines.push_str(&format!("{{\"topic\":\"t\",\"content\":\"{hash}\"}}\n"));
    }
    world
        .icm_with(["import", "jsonl", "-"], lines.as_bytes())
        .ok();
    let whole = world.json(["backup", "whole.icm"])["bytes"]
        .as_u64()
        .unwrap();
    assert!(whole > 40 * 1024, "{whole}");
    let limited = |args: &str, blocks: u64| {
        let icm = env!("CARGO_BIN_EXE_icm");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {icm} {args}");
        let mut command = world.command([""; 0]);
        let mut shell = Command::new("bash");
        shell.args(["-c", &script]).env_clear();
        for (name, value) in command.get_envs() {
            shell.env(name, value.unwrap());
        }
        shell.current_dir(world.path("")).stdin(Stdio::null());
        command = shell;
        run(command.stdout(Stdio::piped()).stderr(Stdio::piped()), b"")
    };
    for blocks in [0, 8, 40] {
        let run = limited("backup b.icm", blocks).fails(2, "writing");
        assert!(run.err.contains("nothing of it was kept"), "{run:?}");
        assert_eq!(names(&world.path("")), ["whole.icm"], "{blocks}");
        limited("restore whole.icm --db new", blocks).fails(2, "");
        assert_eq!(names(&world.path("")), ["whole.icm"], "{blocks}");
    }
    limited("backup b.icm", 1 << 20).ok();
}

fn start(world: &World, args: &[&str]) -> Child {
    let mut command = world.command(args);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// A backup has every position that was acknowledged before its start, despite concurrent writers.
#[test]
fn a_backup_of_a_store_in_use_is_a_whole_prefix() {
    let world = World::with_memories();
    let dir = world.store();
    let stop = AtomicBool::new(false);
    let newest = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for i in 0.. {
                if stop.load(SeqCst) {
                    return;
                }
                let text = format!("memory number {i}");
                let receipt = world.json(["store", "-t", "load", "-c", &text]);
                let position = receipt["position"].as_u64().unwrap();
                newest.store(position, SeqCst);
            }
        });
        let mut last = 0;
        for i in 0..12 {
            sleep(Duration::from_millis(20));
            let acknowledged = newest.load(SeqCst);
            let file = format!("b{i}.icm");
            let receipt = world.json(["backup", &file]);
            let position = receipt["position"].as_u64().unwrap();
            assert!(
                position >= acknowledged,
                "@{position} after @{acknowledged}"
            );
            assert!(position >= last);
            last = position;
            let db = format!("restored{i}");
            assert_eq!(
                restore(&world, &file, &db).ok().json()["position"],
                position
            );
            let heads = world.icm(["log", "heads", "--db", &db]).ok().out;
            world.write("heads.txt", heads);
            let verify = ["log", "verify", "--expect", "heads.txt", "--db"];
            let verified = world
                .icm(verify.iter().copied().chain([dir.to_str().unwrap()]))
                .ok();
            assert!(verified.out.starts_with("ok"), "{verified:?}");
        }
        assert!(last > 6, "nothing was written meanwhile");
        stop.store(true, SeqCst);
    });
}

#[test]
fn a_process_that_is_killed_anywhere_leaves_nothing_or_everything() {
    let world = World::new();
    let mut lines = String::new();
    for i in 0..2_000 {
        lines.push_str(&format!(
            "{{\"topic\":\"t\",\"content\":\"memory number {i}\"}}\n"
        ));
    }
    world
        .icm_with(["import", "jsonl", "-"], lines.as_bytes())
        .ok();
    let expected = world.json(["backup", "good.icm"]);
    let same = |found: &Value| {
        for field in ["events", "position", "origins"] {
            assert_eq!(found[field], expected[field]);
        }
    };
    let mut killed = 0;
    for step in 0..40u64 {
        let pause = Duration::from_micros(500 * step);
        let mut child = start(&world, &["backup", "b.icm"]);
        sleep(pause);
        let _ = child.kill();
        killed += usize::from(!child.wait().unwrap().success());
        if world.path("b.icm").exists() {
            same(&restore(&world, "b.icm", "of-b").ok().json());
            std::fs::remove_dir_all(world.path("of-b")).unwrap();
        }
        same(&world.json(["backup", "b.icm", "--force"]));
        assert_eq!(names(&world.path("")), ["b.icm", "good.icm"], "{pause:?}");
        std::fs::remove_file(world.path("b.icm")).unwrap();

        let mut child = start(&world, &["restore", "good.icm", "--db", "new"]);
        sleep(pause);
        let _ = child.kill();
        killed += usize::from(!child.wait().unwrap().success());
        if world.path("new").exists() {
            world.icm(["log", "verify", "--db", "new"]).ok();
        }
        same(&restore(&world, "good.icm", "new").ok().json());
        assert_eq!(names(&world.path("")), ["good.icm", "new"], "{pause:?}");
        let verified = world
            .icm(["log", "verify", "--db", "new", "--json"])
            .ok()
            .json();
        assert_eq!(verified["positions"], expected["position"]);
        std::fs::remove_dir_all(world.path("new")).unwrap();
    }
    assert!(
        killed > 10,
        "only {killed} runs were killed before their end"
    );
}

#[test]
fn a_backup_touches_no_other_file_and_a_restore_waits_for_no_pipe() {
    let world = World::with_memories();
    std::fs::write(world.path("b.icm.partial"), "mine").unwrap();
    world.icm(["backup", "b.icm"]).ok();
    let mine = std::fs::read_to_string(world.path("b.icm.partial")).unwrap();
    assert_eq!(mine, "mine");
    #[cfg(unix)]
    {
        let made = Command::new("mkfifo").arg(world.path("pipe")).status();
        assert!(made.unwrap().success());
        let run = restore(&world, "pipe", "new/store").ends(2);
        assert!(run.err.contains("no file"), "{run:?}");
    }
}
