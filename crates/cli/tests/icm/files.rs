//! Written files are complete or absent.

use std::fs::{self, File};
use std::process::Command;

use serde_json::json;

use crate::world::{Args, Look, Run, Says, World, run};

/// Runs `icm` with a limit of 512 bytes on the length of files.
fn limited(world: &World, args: impl Args) -> Run {
    limited_to(1, world, args)
}

/// Runs `icm` with a limit on the length of files, in blocks of 512 bytes.
fn limited_to(blocks: u32, world: &World, args: impl Args) -> Run {
    let icm = world.command(args);
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(format!("ulimit -f {blocks} && exec \"$0\" \"$@\""))
        .arg(icm.get_program())
        .args(icm.get_args())
        .env_clear()
        .envs(
            icm.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(icm.get_current_dir().unwrap())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    run(&mut command, b"")
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error_that_is_told() {
    let world = World::with_memories();
    let long = "word ".repeat(1000);
    world.ok(format!("store -t t -c '{long}'"));
    let before = world.json("stats")["positions"].clone();
    for (args, says) in [
        ("store -t t -c 'no room'", "no space left for"),
        ("export jsonl -o out.jsonl", "out.jsonl"),
        ("log export out.icmx", "no space left for the export"),
        ("backup out.tar.zst", "nothing of it was kept"),
    ] {
        let run = limited(&world, args).fails(2, says);
        run.err.says("hint: ");
        run.err.says("ulimit");
    }
    assert_eq!(fs::read_dir(world.path(".")).unwrap().count(), 0);
    assert_eq!(world.json("stats")["positions"], before);
    world.ok("verify");
}

#[test]
fn remains_of_a_killed_export_go_with_the_next_one() {
    let world = World::with_memories();
    for left in ["out.jsonl.4711.part", "out.jsonl.x.part", "other.4711.part"] {
        world.write(left, "half");
    }
    let writing = File::create(world.path("out.jsonl.4712.part")).unwrap();
    writing.lock().unwrap();
    world.ok("export jsonl -o out.jsonl");
    let mut files: Vec<_> = fs::read_dir(world.path("."))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(
        files,
        [
            "other.4711.part",
            "out.jsonl",
            "out.jsonl.4712.part",
            "out.jsonl.x.part"
        ]
    );
}

#[test]
fn a_path_that_is_not_there_has_a_hint() {
    let world = World::with_memories();
    for (args, hint) in [
        ("export jsonl -o no/out.jsonl", "make it first"),
        ("log export no/out.icmx", "make it first"),
        ("backup no/out.tar.zst", "whether the path is right"),
        ("import jsonl no.jsonl", "whether the path is right"),
        ("log import no.icmx", "whether the path is right"),
        ("log repair --from no.icmx", "whether the path is right"),
        ("restore no.tar.zst --db new", "whether the path is right"),
        ("log verify --expect no.txt", "whether the path is right"),
    ] {
        let run = world.icm(args).fails(2, "no");
        run.err.says(hint);
    }
}

/// On a disk that gets full during an import, the imported memories are counted, and the import can be repeated.
#[test]
fn an_import_that_ends_early_says_how_much_is_in() {
    let line = |n: u32| {
        let content = format!("memory {n} {}", "of some length ".repeat(60));
        serde_json::json!({"topic": "t", "content": content, "key": format!("k{n}")}).to_string()
    };
    let all: String = (0..1_500).map(|n| line(n) + "\n").collect();
    let sections = (0..1_500).map(|n| format!("***\n\nmemory {n} {}\n\n", "of words ".repeat(90)));
    let notes = format!("---\ntopic: t\n---\n\n{}", sections.collect::<String>());
    for (format, name, input, what) in [
        ("jsonl", "all.jsonl", &all, "lines are in already"),
        ("markdown", "all.md", &notes, "memories are in already"),
    ] {
        let world = World::new();
        world.write(name, input);
        let run = limited_to(1_000, &world, format!("import '{format}' '{name}'")).fails(2, what);
        run.err.says("no space left for");
        let hint = run.err.lines().find(|line| line.starts_with("hint: "));
        let hint = hint.expect("a hint");
        assert!(hint.contains("run the import again"), "{run:?}");
        let told = run
            .err
            .split("; ")
            .find_map(|part| part.split_once(" are in")?.0.split_once(' '));
        let told: u64 = told.expect("a number").0.parse().unwrap();
        assert!((1..1_500).contains(&told), "{run:?}");
        assert_eq!(world.json("stats")["memories"], told);
        let again = world.json(format!("import '{format}' '{name}'"));
        again.has(json!({"unchanged": told, "added": 1_500 - told}));
        world.ok("verify");
    }
    // If no line was imported, the error has no count.
    let world = World::new();
    world.write("all.jsonl", &all);
    let run = limited(&world, "import jsonl all.jsonl").fails(2, "no space left for");
    run.err.lacks("are in");
}
