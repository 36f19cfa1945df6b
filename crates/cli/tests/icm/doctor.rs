//! `icm doctor`: its findings and advice, and that it changes nothing.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::world::{Args, Run, Says, World, run, tree};

/// Returns the answer. Checks that the exit code is `code` and that no byte of the store changed.
#[track_caller]
fn ask(world: &World, more: impl Args, code: i32) -> Value {
    let before = tree(&world.store());
    let answer = world.icm(("doctor --json", more)).ends(code).json();
    assert_eq!(tree(&world.store()), before, "it has written");
    assert_eq!(answer["ok"], code == 0, "{answer}");
    answer
}

/// Returns the checks of this name.
fn of<'a>(answer: &'a Value, name: &str) -> Vec<&'a Value> {
    let checks = answer["checks"].as_array().unwrap();
    checks
        .iter()
        .filter(|check| check["name"] == name)
        .collect()
}

#[track_caller]
fn finds(answer: &Value, name: &str, status: &str, words: &str) -> String {
    let checks = of(answer, name);
    let found = checks.iter().find(|check| {
        check["status"] == status && check["message"].as_str().unwrap().contains(words)
    });
    let found = found.unwrap_or_else(|| panic!("no {status} {name} {words}: {answer:#}"));
    found["command"].as_str().unwrap_or_default().to_owned()
}

fn segment(world: &World) -> PathBuf {
    let files = tree(&world.store().join("log"));
    let paths = files.into_iter().map(|(path, _)| path);
    paths
        .into_iter()
        .find(|path| path.extension().is_some())
        .unwrap()
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_store_that_is_well() {
    let world = World::with_memories();
    for more in [[].as_slice(), &["--full"]] {
        let answer = ask(&world, more, 0);
        let names: Vec<_> = answer["checks"].as_array().unwrap().iter().collect();
        assert!(
            names.iter().all(|check| check["status"] == "ok"),
            "{answer:#}"
        );
        for name in [
            "config",
            "store",
            "permissions",
            "files",
            "log",
            "format",
            "clock",
            "views",
            "locks",
            "server",
            "space",
            "place",
        ] {
            assert_eq!(of(&answer, name).len(), 1, "{name}: {answer:#}");
        }
    }
    let quick = ask(&world, "", 0);
    finds(&quick, "log", "ok", "5 events, each of them whole");
    let full = ask(&world, "--full", 0);
    finds(&full, "log", "ok", "5 events, each of them whole");
    finds(&full, "format", "ok", "known");
    world.ok("rebuild");
    let answer = ask(&world, "--full", 0);
    finds(&answer, "views", "ok", "at @5, 0 events behind");
}

/// Clients do not show the failure of a hook.
#[test]
fn hooks_that_failed_today() {
    let world = World::with_memories();
    world.icm_with("hook codex Stop", b"{").ok();
    let answer = ask(&world, "", 0);
    finds(
        &answer,
        "hooks",
        "warning",
        "1 hook failed in the last day, the newest: codex Stop",
    );
    let log = world.store().join("cache/hooks.log");
    let line = std::fs::read_to_string(&log).unwrap();
    let (_, failure) = line.split_once(' ').unwrap();
    std::fs::write(&log, format!("2026-01-01T00:00:00Z {failure}")).unwrap();
    assert!(of(&ask(&world, "", 0), "hooks").is_empty());
}

#[test]
fn people_read_a_line_a_check() {
    let world = World::with_memories();
    let Run { out, err, .. } = world.ok("doctor");
    assert_eq!(err, "all is well\n");
    let column = |line: &str| line.find(" ok ").unwrap_or_else(|| panic!("{out}"));
    let first = column(out.lines().next().unwrap());
    assert!(out.lines().all(|line| column(line) == first), "{out}");
    assert_eq!(out.lines().count(), 13, "{out}");
    assert_eq!(world.ok("doctor -q").err, "");
}

#[test]
fn a_store_that_there_is_not() {
    let world = World::new();
    let answer = ask(&world, "--full", 0);
    let command = finds(&answer, "store", "ok", "none yet at ");
    let expected = format!(
        "icm store -t TOPIC -c TEXT --db {}",
        world.store().display()
    );
    assert_eq!(command, expected);
    assert!(!world.store().exists());
    fs::create_dir(world.store()).unwrap();
    finds(&ask(&world, "", 0), "store", "ok", "is empty");
    fs::write(world.store().join("notes.txt"), "mine").unwrap();
    finds(&ask(&world, "", 0), "store", "warning", "notes.txt");
}

#[test]
fn a_file_in_the_place_of_the_folder() {
    let world = World::new();
    fs::write(world.store(), "a file").unwrap();
    let answer = world.icm("doctor --json").ends(1).json();
    finds(&answer, "store", "problem", "is a file, not a store");
}

#[test]
fn damage_at_the_end_and_in_the_middle() {
    let world = World::with_memories();
    let path = segment(&world);
    flip(&path, 100);
    // A log this small is read completely even without `--full`.
    for more in [[].as_slice(), &["--full"]] {
        let answer = ask(&world, more, 3);
        let command = finds(&answer, "log", "problem", "log/");
        command.begins("icm log repair --db ");
    }
    flip(&path, 100);
    ask(&world, "--full", 0);

    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..200]).unwrap();
    let quick = ask(&world, "", 3);
    finds(&quick, "log", "problem", "can be read");
    fs::remove_file(&path).unwrap();
    ask(&world, "", 3);
    ask(&world, "--full", 3);
}

#[test]
fn a_log_of_which_nothing_is_known_to_be_durable() {
    let world = World::new();
    let file = world.write(
        "one.jsonl",
        "{\"topic\":\"t\",\"content\":\"c\"}\n".repeat(3),
    );
    let file = file.to_str().unwrap();
    world.ok(format!("import jsonl '{file}'"));
    fs::remove_file(world.store().join("acked")).unwrap();
    for more in [[].as_slice(), &["--full"]] {
        finds(&ask(&world, more, 0), "log", "ok", "each of them whole");
    }
}

#[test]
fn a_log_that_is_too_long_to_be_read_by_the_way() {
    let world = World::with_memories();
    let path = segment(&world);
    let chain = path.parent().unwrap();
    // The file is sparse: only its length counts, and it belongs to another chain.
    let long = chain.with_file_name("00".repeat(16));
    fs::create_dir(&long).unwrap();
    let long = File::create(long.join(path.file_name().unwrap())).unwrap();
    long.set_len(33 << 20).unwrap();
    let quick = ask(&world, "", 0);
    finds(
        &quick,
        "log",
        "ok",
        "only the ends were looked at, `--full` reads all",
    );
    flip(&path, 100);
    ask(&world, "", 0);
    ask(&world, "--full", 3);
}

#[test]
fn work_that_was_begun() {
    let world = World::with_memories();
    let store = world.store();
    fs::write(store.join("redacting"), "icm").unwrap();
    let answer = ask(&world, "", 0);
    let command = finds(&answer, "redaction", "warning", "waits to be finished");
    assert_eq!(command, format!("icm stats --db {}", store.display()));
    world.ok("stats");
    assert!(of(&ask(&world, "", 0), "redaction").is_empty());

    fs::write(store.join("repairing"), "").unwrap();
    let command = finds(&ask(&world, "", 1), "log", "problem", "a repair was begun");
    command.begins("icm log repair --db ");
}

#[test]
fn names_in_the_log_that_are_none_of_its_own() {
    let world = World::with_memories();
    let log = world.store().join("log");
    fs::write(log.join("notes"), "mine").unwrap();
    let command = finds(
        &ask(&world, "", 0),
        "log",
        "warning",
        "log/notes: not the name",
    );
    assert_eq!(command, format!("ls -ld {}", log.join("notes").display()));
    fs::write(log.join("more"), "mine").unwrap();
    let answer = ask(&world, "--full", 0);
    let command = finds(&answer, "log", "warning", "move it out of the store");
    assert_eq!(
        command,
        format!("icm log verify --db {}", world.store().display())
    );
}

#[test]
fn without_its_store_file() {
    let world = World::with_memories();
    let path = world.store().join("store.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, "= = =").unwrap();
    finds(&ask(&world, "", 1), "log", "problem", "cannot be read");
    fs::remove_file(&path).unwrap();
    finds(&ask(&world, "", 1), "log", "problem", "is missing");
    let newer = text.replacen("format = 1", "format = 99", 1);
    assert_ne!(newer, text);
    fs::write(&path, newer).unwrap();
    finds(&ask(&world, "", 1), "format", "problem", "newer icm");
}

#[test]
fn views_that_are_not_in_order() {
    let world = World::with_memories();
    world.icm(["rebuild"]).ok();
    let views = icm_projections::version_dir(&world.store().join("views"));
    fs::create_dir(views.join("g7")).unwrap();
    let command = finds(&ask(&world, "", 0), "views", "warning", "earlier build: g7");
    command.begins("icm rebuild --db ");
    world.ok("rebuild");
    assert_eq!(of(&ask(&world, "", 0), "views").len(), 1, "it was removed");

    let generation = fs::read_to_string(views.join("current")).unwrap();
    let generation = views.join(generation.trim());
    for (file, words) in [
        ("rows", "not usable"),
        ("text/live/meta.json", "was changed or damaged"),
        ("manifest", "its hash does not fit"),
    ] {
        let path = generation.join(file);
        let bytes = fs::read(&path).unwrap();
        flip(&path, 70);
        finds(&ask(&world, "--full", 0), "views", "warning", words);
        fs::write(&path, bytes).unwrap();
    }
    let path = generation.join("table.redb");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 10]).unwrap();
    let full = ask(&world, "--full", 0);
    finds(&full, "views", "warning", "the table view is not usable");
    fs::remove_file(path).unwrap();
    finds(
        &ask(&world, "", 0),
        "views",
        "warning",
        "table.redb is missing",
    );
    fs::write(views.join("current"), "nowhere").unwrap();
    finds(
        &ask(&world, "", 0),
        "views",
        "warning",
        "names no generation",
    );
}

#[test]
fn views_that_are_behind() {
    let world = World::with_memories();
    world.ok("rebuild");
    let generation = tree(&world.store().join("views"));
    let lines: String = (0..600)
        .map(|n| format!("{{\"topic\":\"t\",\"content\":\"line {n}\"}}\n"))
        .collect();
    let file = world.write("many.jsonl", lines);
    world.ok(format!("import jsonl '{}'", file.display()));
    fs::remove_dir_all(world.store().join("views")).unwrap();
    finds(
        &ask(&world, "", 0),
        "views",
        "warning",
        "the next answer builds them",
    );
    for (path, bytes) in generation {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let command = finds(&ask(&world, "", 0), "views", "warning", "600 events behind");
    command.begins("icm rebuild --db ");
}

#[test]
fn the_holder_of_the_lock() {
    let world = World::with_memories();
    let lock = File::open(world.store().join("lock")).unwrap();
    lock.lock().unwrap();
    let answer = ask(&world, "", 0);
    finds(&answer, "locks", "warning", "writes to the log now");
    if cfg!(target_os = "linux") {
        let process = format!("process {}", std::process::id());
        finds(&answer, "locks", "warning", &process);
    }
    drop(lock);
    finds(&ask(&world, "", 0), "locks", "ok", "free");
}

#[cfg(unix)]
#[test]
fn permissions_and_files_that_are_none() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let world = World::with_memories();
    let secret = world.store().join("store.toml");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o644)).unwrap();
    let command = finds(
        &ask(&world, "", 0),
        "permissions",
        "warning",
        "others may read",
    );
    assert_eq!(command, format!("chmod 600 {}", secret.display()));
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();

    let lock = world.store().join("lock");
    fs::remove_file(&lock).unwrap();
    symlink(world.path("elsewhere"), &lock).unwrap();
    finds(
        &ask(&world, "", 0),
        "files",
        "warning",
        "lock is a symbolic link",
    );
    fs::remove_file(&lock).unwrap();

    let pipe = world.store().join("views");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if made.is_ok_and(|status| status.success()) {
        let answer = world.icm("doctor --json").ends(1).json();
        finds(&answer, "files", "problem", "views is a pipe");
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_nobody_may_enter() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::with_memories();
    let log = world.store().join("log");
    let shut = |mode| fs::set_permissions(&log, fs::Permissions::from_mode(mode)).unwrap();
    shut(0o000);
    // Permissions do not bind the superuser.
    if fs::read_dir(&log).is_err() {
        let answer = world.icm("doctor --json").ends(1).json();
        finds(&answer, "permissions", "problem", "log cannot be written");
        finds(&answer, "log", "problem", "");
    }
    shut(0o700);
    ask(&world, "", 0);
}

#[test]
fn a_config_file_that_cannot_be_read() {
    let world = World::with_memories();
    let config = world.write("broken.toml", "nonsense = 1\n");
    let mut command = world.command("doctor --json");
    let answer = run(command.env("ICM_CONFIG", &config), b"").ends(1).json();
    finds(&answer, "config", "problem", "nonsense");
    finds(&answer, "store", "ok", "");

    let text = format!("db = {:?}\n", world.path("other"));
    let config = world.write("fine.toml", text);
    let mut command = world.command("doctor --json");
    command.env("ICM_CONFIG", &config).env_remove("ICM_DB");
    let answer = run(&mut command, b"").ends(0).json();
    finds(&answer, "config", "ok", "fine.toml");
    finds(&answer, "store", "ok", "other");
}

#[test]
fn folders_that_others_sync() {
    let world = World::new();
    let store = world.path("Dropbox/icm");
    let mut command = world.command("doctor --json");
    fs::create_dir_all(&store).unwrap();
    let answer = run(command.env("ICM_DB", &store), b"").ends(0).json();
    finds(&answer, "place", "warning", "Dropbox");

    fs::create_dir_all(world.path("shared/.stfolder")).unwrap();
    let mut command = world.command("doctor --json");
    let absent = world.path("shared/deep/store");
    let answer = run(command.env("ICM_DB", &absent), b"").ends(0).json();
    finds(&answer, "place", "warning", "Syncthing");
}

/// The doctor answers for any content of the folder.
#[test]
fn no_folder_makes_it_panic() {
    let mut asked = 0;
    let views = icm_projections::version_dir(Path::new("views")).join("current");
    let views = views.to_str().unwrap();
    for name in ["store.toml", "acked", "log", "lock", "views", views, "torn"] {
        for content in [None, Some(""), Some("g1"), Some("\0\u{1}garbage")] {
            let world = World::with_memories();
            world.ok("rebuild");
            let path = world.store().join(name);
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
            match content {
                None => fs::create_dir(&path).unwrap(),
                Some(content) => fs::write(&path, content).unwrap(),
            }
            let before = tree(&world.store());
            for more in ["-q", "--full"] {
                let run = world.icm(format!("doctor --json '{more}'"));
                assert!([0, 1, 3].contains(&run.code), "{name} {content:?} {run:#?}");
                assert!(!run.err.contains("panicked"), "{name} {content:?} {run:#?}");
                assert!(
                    !run.out.contains("a bug in icm"),
                    "{name} {content:?} {run:#?}"
                );
                run.json();
                asked += 1;
            }
            assert_eq!(tree(&world.store()), before, "{name} {content:?}");
        }
    }
    assert_eq!(asked, 56);
}
