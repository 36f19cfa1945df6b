//! `icm backup` and `icm restore` as processes, beside other commands and killed in the middle.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{Args, Look, Run, Says, World, run, tree};

fn restore(world: &World, file: &str, db: &str) -> Run {
    world.icm(format!("restore '{file}' --db '{db}' --json"))
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
    world.ok("recall invoices");
    let receipt = world.json("backup b.icm");
    receipt.has(json!({"file": "b.icm", "position": 6, "events": 6}));
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
    restored.has(json!({"position": 6, "origins": receipt["origins"]}));
    let list = |db: &str| world.out(format!("list --json --db '{db}'"));
    let original = world.store();
    assert_eq!(list("new/store"), list(original.to_str().unwrap()));
    world.ok("verify --db new/store");
    // Restoring again before the next write changes nothing.
    let mut again = restore(&world, "b.icm", "new/store").ok().json();
    assert_eq!(again["unchanged"], true);
    again["unchanged"] = false.into();
    assert_eq!(again, restored);
    assert_eq!(names(&world.path("new")), ["store"]);

    let args = ["store", "-t", "a", "-c", "b", "--db", "new/store", "--json"];
    let run = world.icm(args).ok();
    assert_eq!(run.json()["position"], 9, "{run:?}");
    run.err.says("new origin");
    world.ok("verify --db new/store");
    restore(&world, "b.icm", "new/store").ends(2);
    // The actor is known, because the store's secret is in the backup.
    let log = world.ok("log --db new/store --json");
    assert!(
        log.json_lines()
            .iter()
            .all(|event| event["actor"] == "user")
    );
}

#[test]
fn nothing_is_overwritten() {
    let world = World::with_memories();
    world.ok("backup b.icm");
    world.fails("backup b.icm => 2: b.icm is there already");
    world.ok("backup b.icm --force");
    world.fails("backup - => 2: no name for a backup");
    world.fails("backup absent/b.icm => 2: absent");
    std::fs::create_dir(world.path("folder")).unwrap();
    world.fails("backup folder --force => 2: no file");
    let inside = world.store().join("b.icm");
    let inside = inside.to_str().unwrap();
    world.fails(format!("backup '{inside}' => 2: lies in the store itself"));
    let inside = world.store().join("log/b.icm");
    world.fails(format!(
        "backup {} => 2: lies in the store itself",
        inside.to_str().unwrap()
    ));
    world.fails("backup x --db absent => 2: nothing to back up");
    assert_eq!(names(&world.path("")), ["b.icm", "folder"]);

    let before = tree(&world.store());
    world.fails("restore b.icm => 2: there already and not empty");
    assert_eq!(tree(&world.store()), before);
    world.write("folder/mine.txt", "mine");
    world.fails("restore b.icm --db folder => 2: not empty");
    world.fails("restore b.icm --db b.icm => 2: ");
    world.write("text", "no backup at all");
    world.fails("restore text --db new => 2: no backup of icm");
    world.fails("restore absent --db new => 2: absent");
    let bytes = std::fs::read(world.path("b.icm")).unwrap();
    world.write("cut", &bytes[..bytes.len() - 1]);
    world.fails("restore cut --db new => 3: is damaged");
    assert!(!world.path("new").exists());
    std::fs::create_dir(world.path("empty")).unwrap();
    assert_eq!(
        restore(&world, "b.icm", "empty").ok().json()["unchanged"],
        false
    );
    // Restoring again changes nothing and says so.
    let again = world.ok("restore b.icm --db empty");
    again.out.says("is this backup already");
    again.out.says("nothing was restored");
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
    world.fails("backup b.icm => 3: damaged");
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
    world.icm_with("import jsonl -", lines.as_bytes()).ok();
    let whole = world.json("backup whole.icm")["bytes"].as_u64().unwrap();
    assert!(whole > 40 * 1024, "{whole}");
    let limited = |args: &str, blocks: u64| {
        let icm = env!("CARGO_BIN_EXE_icm");
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {icm} {args}");
        let mut command = world.command("");
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
        run.err.says("nothing of it was kept");
        assert_eq!(names(&world.path("")), ["whole.icm"], "{blocks}");
        limited("restore whole.icm --db new", blocks).fails(2, "");
        assert_eq!(names(&world.path("")), ["whole.icm"], "{blocks}");
    }
    limited("backup b.icm", 1 << 20).ok();
}

fn start(world: &World, args: impl Args) -> Child {
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
                let receipt = world.json(format!("store -t load -c '{text}'"));
                let position = receipt["position"].as_u64().unwrap();
                newest.store(position, SeqCst);
            }
        });
        let mut last = 0;
        for i in 0..12 {
            sleep(Duration::from_millis(20));
            let acknowledged = newest.load(SeqCst);
            let file = format!("b{i}.icm");
            let receipt = world.json(format!("backup '{file}'"));
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
            let heads = world.out(format!("log heads --db '{db}'"));
            world.write("heads.txt", heads);
            let verify = format!("log verify --expect heads.txt --db '{}'", dir.display());
            let verified = world.ok(verify);
            verified.out.begins("ok");
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
    world.icm_with("import jsonl -", lines.as_bytes()).ok();
    let expected = world.json("backup good.icm");
    let same = |found: &Value| {
        for field in ["events", "position", "origins"] {
            assert_eq!(found[field], expected[field]);
        }
    };
    let mut killed = 0;
    for step in 0..40u64 {
        let pause = Duration::from_micros(500 * step);
        let mut child = start(&world, "backup b.icm");
        sleep(pause);
        let _ = child.kill();
        killed += usize::from(!child.wait().unwrap().success());
        if world.path("b.icm").exists() {
            same(&restore(&world, "b.icm", "of-b").ok().json());
            std::fs::remove_dir_all(world.path("of-b")).unwrap();
        }
        same(&world.json("backup b.icm --force"));
        assert_eq!(names(&world.path("")), ["b.icm", "good.icm"], "{pause:?}");
        std::fs::remove_file(world.path("b.icm")).unwrap();

        let mut child = start(&world, "restore good.icm --db new");
        sleep(pause);
        let _ = child.kill();
        killed += usize::from(!child.wait().unwrap().success());
        if world.path("new").exists() {
            world.ok("log verify --db new");
        }
        same(&restore(&world, "good.icm", "new").ok().json());
        assert_eq!(names(&world.path("")), ["good.icm", "new"], "{pause:?}");
        let verified = world.ok("log verify --db new --json").json();
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
    world.ok("backup b.icm");
    let mine = std::fs::read_to_string(world.path("b.icm.partial")).unwrap();
    assert_eq!(mine, "mine");
    #[cfg(unix)]
    {
        let made = Command::new("mkfifo").arg(world.path("pipe")).status();
        assert!(made.unwrap().success());
        let run = restore(&world, "pipe", "new/store").ends(2);
        run.err.says("no file");
    }
}
