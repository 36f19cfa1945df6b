//! Folders that are stores, that are none, and that cannot become one.

use std::path::Path;
use std::process::Command;

use crate::world::{Args, Run, Says, World, run, tree};

fn at(world: &World, db: &Path, args: impl Args) -> Run {
    let mut command = world.command(args);
    command.arg("--db").arg(db);
    run(&mut command, b"")
}

const STORE: [&str; 5] = ["store", "-t", "a", "-c", "b"];

#[test]
fn a_command_that_finds_nothing_makes_no_store() {
    let world = World::new();
    let unknown = "01JZZZZZZZZZZZZZZZZZZZZZZZ";
    for args in [
        ["forget", unknown].as_slice(),
        &["revive", unknown],
        &["update", unknown, "-c", "x"],
        &["forget", "-t", "a", "--yes"],
        &["revive", "-t", "a"],
        &["get", unknown],
        &["list"],
        &["recall", "x"],
        &["import", "jsonl", "/dev/null"],
    ] {
        world.icm(args);
        assert!(!world.store().exists(), "{args:?} made a store");
    }
    let bad = world.write("bad.jsonl", "nonsense\n");
    let bad = bad.to_str().unwrap();
    world.icm(format!("import jsonl '{bad}'")).ends(1);
    assert!(!world.store().exists(), "an import of nothing made a store");
}

#[test]
fn a_store_that_is_not_there_is_told() {
    let world = World::new();
    let mistyped = world.path("no/such/folder");
    let there = |run: &Run| run.err.contains("there is no store at");
    for (args, code) in [
        (["list"].as_slice(), 0),
        (&["recall", "x"], 1),
        (&["get", "01JZZZZZZZZZZZZZZZZZZZZZZZ"], 1),
        (&["stats"], 0),
        (&["log"], 0),
        (&["undo", "--last", "1", "--yes"], 1),
    ] {
        let run = at(&world, &mistyped, args).ends(code);
        assert!(run.err.contains("(from --db)") && there(&run), "{run:?}");
        run.err.says("no/such/folder");
        let run = world.icm(args).ends(code);
        assert!(run.err.contains("(from ICM_DB)") && there(&run), "{run:?}");
        let quiet = at(&world, &mistyped, (args, "-q"));
        assert!(!there(&quiet), "{quiet:?}");
    }
    let run = at(&world, &mistyped, "list --json").ok();
    run.err.begins("{\"note\":\"there is no store");
    assert_eq!(run.out, "[]\n");
    let stored = at(&world, &mistyped, STORE).ok();
    assert_eq!(stored.err, "");
    assert!(!there(&at(&world, &mistyped, "list")));
}

#[test]
fn a_folder_of_other_files_is_not_made_a_store() {
    let world = World::new();
    let home = world.path("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("letter.txt"), "dear").unwrap();
    let before = tree(&home);
    let refused = at(&world, &home, STORE).fails(2, "is not a store and not empty");
    refused.err.says("letter.txt");
    refused.err.says("hint: ");
    at(&world, &home, "list").ok();
    assert_eq!(tree(&home), before);

    // An empty folder, or one with files of icm.
    std::fs::remove_file(home.join("letter.txt")).unwrap();
    std::fs::write(home.join("lock"), "").unwrap();
    std::fs::write(home.join("config.toml"), "").unwrap();
    at(&world, &home, STORE).ok();
    // In an existing store other files do not matter.
    std::fs::write(home.join("letter.txt"), "dear").unwrap();
    at(&world, &home, STORE).ok();
}

#[test]
fn the_default_folder_is_a_store_whatever_lies_in_it() {
    let world = World::new();
    let default = |args: &str| {
        let mut command = world.command(args);
        command.env_remove("ICM_DB");
        run(&mut command, b"")
    };
    let shown = default("config show --json").ok().json();
    let settings = shown.as_array().unwrap();
    let db = settings.iter().find(|s| s["key"] == "db").unwrap();
    let db = Path::new(db["value"].as_str().unwrap()).to_path_buf();
    std::fs::create_dir_all(&db).unwrap();
    std::fs::write(db.join("memories.db"), "of another program").unwrap();
    default("store -t a -c b").ok();
    assert!(db.join("store.toml").exists());
}

#[test]
fn a_path_that_is_no_folder_is_told_in_a_line() {
    let world = World::new();
    let file = world.write("file", "x");
    at(&world, &file, STORE).fails(2, "is a file");
    at(&world, &file.join("below"), STORE).fails(2, "below a file");
    let odd = world.path("odd");
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("log"), "x").unwrap();
    for args in [STORE.as_slice(), &["list"], &["verify"], &["log"]] {
        let refused = at(&world, &odd, args).fails(2, "its `log` is a file");
        refused.err.says("hint: ");
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere() {
    let world = World::new();
    let link = world.path("link");
    std::os::unix::fs::symlink(world.path("gone"), &link).unwrap();
    for args in [STORE.as_slice(), &["list"], &["stats"]] {
        let refused = at(&world, &link, args).fails(2, "symbolic link");
        refused.err.says("hint: ");
    }
    std::fs::create_dir(world.path("gone")).unwrap();
    at(&world, &link, STORE).ok();
}

#[test]
fn an_empty_store_toml_is_called_empty() {
    let world = World::with_memories();
    std::fs::write(world.store().join("store.toml"), "").unwrap();
    let refused = world.icm(STORE).fails(2, "it is empty");
    refused.err.says("from a backup");
    refused.err.lacks("missing");
    let read = world.ok("recall invoices");
    read.out.says("Invoices live");
    read.err.says("it is empty");
    let stats = world.ok("stats");
    stats.out.lacks("before the first write");

    // The same for a store without events.
    let fresh = world.path("fresh");
    std::fs::create_dir(&fresh).unwrap();
    std::fs::write(fresh.join("store.toml"), "").unwrap();
    let refused = at(&world, &fresh, STORE).fails(2, "it is empty");
    refused.err.says("remove it");
}

/// The pipe has no writer, so opening it as a file would wait for ever.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_file_does_not_hang() {
    let world = World::with_memories();
    let segment = tree(&world.store().join("log"))[0].0.clone();
    for file in [world.store().join("store.toml"), segment] {
        let aside = world.path("aside");
        std::fs::rename(&file, &aside).unwrap();
        let made = Command::new("mkfifo").arg(&file).status().unwrap();
        assert!(made.success());
        for args in [STORE.as_slice(), &["recall", "invoices"], &["list"]] {
            world.icm(args).fails(2, "not a regular file");
        }
        std::fs::remove_file(&file).unwrap();
        std::fs::rename(&aside, &file).unwrap();
    }
    // A missing `acked` causes no failure.
    let acked = world.store().join("acked");
    std::fs::remove_file(&acked).unwrap();
    let made = Command::new("mkfifo").arg(&acked).status().unwrap();
    assert!(made.success());
    world.icm(STORE).ok();
    world.ok("recall invoices");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let world = World::with_memories();
    let precious = world.write("precious", "do not touch");
    let acked = world.store().join("acked");
    std::fs::remove_file(&acked).unwrap();
    std::os::unix::fs::symlink(&precious, &acked).unwrap();
    world.icm(STORE).ok();
    assert_eq!(std::fs::read(&precious).unwrap(), b"do not touch");
    let lock = world.store().join("lock");
    std::fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink(&precious, &lock).unwrap();
    world.icm(STORE).fails(2, "symbolic link");
}

#[cfg(unix)]
#[test]
fn a_pipe_among_the_views_costs_the_views() {
    let world = World::with_memories();
    world.icm(["rebuild"]).ok();
    let views = icm_projections::version_dir(&world.store().join("views"));
    let all: Vec<_> = tree(&views).into_iter().map(|(path, _)| path).collect();
    assert!(all.len() > 5, "{all:?}");
    for file in all
        .iter()
        .filter(|file| file.parent() != Some(&views) || file.ends_with("current"))
    {
        world.ok("rebuild");
        // The file may have another path by now.
        let now: Vec<_> = tree(&views).into_iter().map(|(path, _)| path).collect();
        let name = file.file_name().unwrap();
        let Some(file) = now.iter().find(|path| path.file_name().unwrap() == name) else {
            continue;
        };
        std::fs::remove_file(file).unwrap();
        assert!(Command::new("mkfifo").arg(file).status().unwrap().success());
        let run = world.ok("recall invoices");
        run.out.says("Invoices live");
        run.err.says("not a regular file");
        world.icm(STORE).ok();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_whose_name_is_no_text() {
    use std::os::unix::ffi::OsStringExt;
    let world = World::new();
    let db = world
        .path("x")
        .with_file_name(std::ffi::OsString::from_vec(vec![b'a', 0xff]));
    at(&world, &db, STORE).ok();
    let stats = at(&world, &db, "stats --json").ok().json();
    stats["store"].as_str().unwrap().finishes("a\u{fffd}");
    at(&world, &db, "list --json").ok();
    at(&world, &db, "config show --json").ok();
}

/// A relative path would be another store in every working folder.
#[cfg(all(unix, not(target_os = "macos")))]
#[test]
fn a_home_that_is_relative_is_refused() {
    let world = World::new();
    for (name, value, args, hint) in [
        ("HOME", "cfg/home", &STORE[..], "`--config`"),
        ("HOME", ".", &["list"], "`--config`"),
        ("XDG_DATA_HOME", "data", &STORE, "`--db`"),
        ("XDG_CONFIG_HOME", "conf", &STORE, "`--config`"),
    ] {
        let mut command = world.command(args);
        command.env_remove("ICM_DB").env(name, value);
        let refused = run(&mut command, b"").fails(2, &format!("`{name}` is `{value}`"));
        refused.err.says(hint);
        assert_eq!(std::fs::read_dir(world.path("")).unwrap().count(), 0);
    }
    // `HOME` is not needed if the store and the config file are named.
    world.write("icm.toml", "");
    let mut command = world.command(STORE);
    command
        .env("HOME", "cfg")
        .env("ICM_CONFIG", world.path("icm.toml"));
    run(&mut command, b"").ok();
    // With a relative `HOME`, a store below `~` has no folder.
    world.write("icm.toml", "db = \"~/memories\"\n");
    let mut command = world.command(STORE);
    command.env_remove("ICM_DB").env("HOME", "cfg");
    command.env("ICM_CONFIG", world.path("icm.toml"));
    run(&mut command, b"").fails(2, "`HOME` is `cfg`");
    assert_eq!(std::fs::read_dir(world.path("")).unwrap().count(), 1);
}
