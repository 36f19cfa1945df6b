//! Import and export of JSON lines.

use serde_json::json;

use crate::world::{Look, Says, World, run, tree};

const SAMPLE: &str = include_str!("../../demo/sample.jsonl");

#[test]
fn the_sample_goes_in_once() {
    let world = World::new();
    world.write("sample.jsonl", SAMPLE);
    let report = world.json("import jsonl sample.jsonl");
    report.has(json!({"added": 40, "rejected": []}));
    let again = world.json("import jsonl sample.jsonl");
    again.has(json!({"added": 0, "unchanged": 40}));
    assert_eq!(world.count("topics"), 6);
    let run = world.ok("list --all");
    assert_eq!(run.out.lines().count(), 40);
}

/// Some editors write a byte order mark before the first line.
#[test]
fn a_mark_before_the_first_line_is_no_text() {
    let world = World::new();
    for end in ["\n", ""] {
        let line = format!("\u{feff}{{\"topic\":\"a\",\"content\":\"one\"}}{end}");
        let report = world.icm_with("import jsonl - --json", line.as_bytes());
        assert_eq!(report.ok().json()["rejected"], json!([]));
    }
    assert_eq!(world.out("list").lines().count(), 1);
}

#[test]
fn bad_lines_are_named_and_good_ones_kept() {
    let world = World::new();
    let mut input = Vec::new();
    for line in [
        r#"{"topic":"a","content":"one"}"#,
        r#"{"topic":"a","content":""}"#,
        r#"{"topic":"","content":"x"}"#,
        r#"{"topic":"a"}"#,
        "not json",
        r#"{"topic":"a","content":"two","importance":"huge"}"#,
        r#"{"topic":"a","content":"nul \u0000 inside"}"#,
        r#"{"topic":"a","content":"three"}"#,
    ] {
        input.extend_from_slice(line.as_bytes());
        input.push(b'\n');
    }
    input.extend_from_slice(b"{\"topic\":\"a\",\"content\":\"\xff\"}\n");
    let long = "x".repeat(64 * 1024 + 1);
    input.extend_from_slice(format!("{{\"topic\":\"a\",\"content\":\"{long}\"}}\n").as_bytes());

    let run = world.icm_with("import jsonl - --json", &input);
    let run = run.ends(1);
    let report = run.json();
    assert_eq!(report["added"], 2, "{report}");
    let rejected = report["rejected"].as_array().unwrap();
    let lines: Vec<u64> = rejected
        .iter()
        .map(|r| r["line"].as_u64().unwrap())
        .collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 9, 10]);
    assert!(
        rejected
            .iter()
            .all(|r| !r["why"].as_str().unwrap().is_empty())
    );
    assert_eq!(world.json("stats")["memories"], 2);

    let run = world.icm_with("import jsonl -", &input).ends(1);
    run.err.says(":2: ");
    run.out.says("2 unchanged, 8 rejected");
}

#[test]
fn files_that_cannot_be_read() {
    let world = World::new();
    world.fails("import jsonl nowhere.jsonl => 2: nowhere.jsonl");
    std::fs::create_dir(world.path("folder")).unwrap();
    world.fails("import jsonl folder => 2: is a folder");
    world.icm("import jsonl").ends(2);
    assert!(!world.store().join("log").exists(), "something was written");
}

#[test]
fn an_export_comes_back_the_same() {
    let world = World::new();
    world.write("sample.jsonl", SAMPLE);
    world.ok("import jsonl sample.jsonl");
    let out = world.out("export jsonl");
    assert_eq!(out.lines().count(), 40);

    world.ok("export jsonl -o out.jsonl");
    assert_eq!(
        std::fs::read_to_string(world.path("out.jsonl")).unwrap(),
        out
    );
    // The old file is replaced, and no other file is left.
    world.ok("export jsonl -o out.jsonl");
    let names: Vec<_> = tree(&world.path(""))
        .into_iter()
        .map(|(path, _)| path.file_name().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["out.jsonl", "sample.jsonl"]);

    let other = World::new();
    let report = other.icm_with("import jsonl - --json", out.as_bytes());
    assert_eq!(report.ok().json()["added"], 40);
    let back = other.out("export jsonl");
    assert_eq!(sorted(&back), sorted(&out));
}

/// Returns the sorted lines without their ids, which each store assigns.
fn sorted(lines: &str) -> Vec<String> {
    let line = |line: &str| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("id").unwrap();
        line.to_string()
    };
    let mut lines: Vec<String> = lines.lines().map(line).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn memories_of_one_import_keep_the_order_of_its_lines() {
    let world = World::new();
    world.write("sample.jsonl", SAMPLE);
    world.ok("import jsonl sample.jsonl");
    let contents = |lines: &str| -> Vec<String> {
        lines
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|line| line["content"].as_str().unwrap().to_string())
            .collect()
    };
    let export = world.out("export jsonl");
    assert_eq!(contents(&export), contents(SAMPLE), "oldest first");
}

#[test]
fn markdown_has_a_section_a_topic() {
    let world = World::with_memories();
    let out = world.out("export markdown");
    for text in ["decisions", "people", "Mira owns billing"] {
        out.says(text);
    }
}

#[test]
fn an_export_to_nowhere_leaves_nothing() {
    let world = World::with_memories();
    world.fails("export jsonl -o no/such/folder/x => 2: no/such/folder/x");
    world.fails("export jsonl -o x.jsonl --at @999 => 2: ");
    assert!(!world.path("x.jsonl").exists());
    assert!(tree(&world.path("")).is_empty());
}

#[cfg(unix)]
#[test]
fn devices_are_written_into() {
    let world = World::with_memories();
    world.ok("export jsonl -o /dev/null");
    let mut command = world.command("export jsonl");
    // A full disk is an error.
    let Ok(full) = std::fs::File::options().write(true).open("/dev/full") else {
        return;
    };
    command.stdout(full);
    run(&mut command, b"").fails(2, "No space left");
}

/// Returns the lines as JSON without their ids, which each store assigns.
fn without_ids(lines: &str) -> Vec<serde_json::Value> {
    let lines = lines.lines().map(|line| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("id").unwrap();
        line
    });
    lines.collect()
}

const OLD: &str = r#"{"topic":"prefs","content":"Mira drinks tea","id":"01HF7YAT000000000000000001","key":"drink","created_at":"2023-11-14T22:13:20Z","updated_at":"2024-03-09T16:00:00.123Z","trust":"user","importance":"low","source":{}}
{"topic":"prefs","content":"The house uses tabs","id":"01HF7YAT000000000000000002","created_at":"2023-11-15T00:00:00Z","updated_at":"2023-11-15T00:00:00Z","occurred_at":"2023-01-01T00:00:00Z","trust":"agent","importance":"medium","source":{"agent":"codex"}}
"#;

#[test]
fn times_travel_for_show() {
    let world = World::new();
    world.write("old.jsonl", OLD);
    let report = world.json("import jsonl old.jsonl");
    report.has(json!({"added": 2, "rejected": []}));
    let memory = world.json(format!("get {}", world.id("drink")));
    assert_eq!(memory["created_at"], "2023-11-14T22:13:20Z");
    assert_eq!(memory["updated_at"], "2024-03-09T16:00:00.123Z");
    assert_eq!(memory["occurred_at"], json!(null), "it is no valid time");

    // Filters by time, and decay, use the time of the import.
    world.icm("recall tea --until 2024-06-01").ends(1);
    world.ok("recall tea --since yesterday");
    world.ok("decay");
    assert_eq!(
        world.json(format!("get {}", world.id("drink")))["weight"],
        1.0
    );

    // Importing the same file again changes nothing, and the export equals the imported file.
    let before = world.now();
    let again = world.json("import jsonl old.jsonl");
    again.has(json!({"added": 0, "unchanged": 2}));
    assert_eq!(world.now(), before);
    let out = world.out("export jsonl");
    assert_eq!(without_ids(&out), without_ids(OLD));

    // Through a second store and Markdown, and after a rebuild of the views.
    world.ok("export markdown -o notes");
    let other = World::new();
    let notes = world.path("notes");
    let report = other.json(format!("import markdown '{}'", notes.display()));
    report.has(json!({"added": 2, "rejected": []}));
    assert_eq!(without_ids(&other.out("export jsonl")), without_ids(OLD));
    other.ok("rebuild");
    assert_eq!(without_ids(&other.out("export jsonl")), without_ids(OLD));
    other.ok("verify");

    // A change in this store shows its own time.
    other.ok(format!(
        "update {} -c 'Mira drinks coffee'",
        other.id("drink")
    ));
    let memory = other.json(format!("get {}", other.id("drink")));
    assert_eq!(memory["created_at"], "2023-11-14T22:13:20Z");
    assert!(memory["updated_at"].as_str().unwrap() > "2025", "{memory}");
    // An undo takes back the update and its time.
    other.ok("undo --last 1 --yes");
    let memory = other.json(format!("get {}", other.id("drink")));
    assert_eq!(memory["updated_at"], "2024-03-09T16:00:00.123Z");
}

#[test]
fn a_memory_of_ones_own_keeps_its_times() {
    let world = World::with_memories();
    let out = world.out("export jsonl");
    assert!(
        out.lines().all(|line| line.contains("\"created_at\":")),
        "{out}"
    );
    let before = world.now();
    let edited = out.replace("\"created_at\":\"2", "\"created_at\":\"1");
    let report = world.icm_with("import jsonl - --json", edited.as_bytes());
    let lines = out.lines().count() as u64;
    assert_eq!(report.ok().json()["unchanged"], lines);
    assert_eq!(world.now(), before);
    assert_eq!(world.out("export jsonl"), out);
}

#[test]
fn a_foreign_created_at_is_when_it_occurred() {
    for (created, occurred) in [
        ("\"2023-11-14T22:13:20Z\"", "2023-11-14T22:13:20Z"),
        (
            "\"2023-11-14T23:13:20.5+01:00\"",
            "2023-11-14T22:13:20.500Z",
        ),
        ("1700000000", "2023-11-14T22:13:20Z"),
        ("1700000000123", "2023-11-14T22:13:20.123Z"),
    ] {
        let world = World::new();
        let line = format!(
            r#"{{"topic":"a","content":"one","key":"k","created_at":{created},"timestamp":1}}"#
        );
        let run = world.icm_with("import jsonl -", line.as_bytes()).ok();
        run.err.says("`created_at` was taken as `occurred_at`");
        run.err.says("were left out: timestamp\n");
        let memory = world.json(format!("get {}", world.id("k")));
        assert_eq!(memory["occurred_at"], occurred);
        assert!(memory["created_at"].as_str().unwrap() > "2025", "{memory}");
    }
    // A value that is no time is left out and named, like other fields.
    for fields in [
        r#""created_at":"2023-11-14T22:13:20Z","occurred_at":"2020-01-01T00:00:00Z""#,
        r#""created_at":"some day""#,
        r#""created_at":{"$date":1}"#,
        r#""created_at":"some day","id":"01HF7YAT000000000000000001""#,
    ] {
        let world = World::new();
        let line = format!(r#"{{"topic":"a","content":"one",{fields}}}"#);
        let run = world.icm_with("import jsonl -", line.as_bytes()).ok();
        run.err.says("were left out: created_at\n");
        run.err.lacks("was taken");
    }
}

/// The error names the command for such a file, once.
#[test]
fn an_export_of_the_log_is_no_import_of_memories() {
    let world = World::with_memories();
    world.icm(["log", "export", "x.icmx"]).ok();
    let bytes = std::fs::read(world.path("x.icmx")).unwrap();
    let other = World::new();
    std::fs::write(other.path("x.icmx"), &bytes).unwrap();
    for format in ["jsonl", "markdown"] {
        for (file, input) in [("x.icmx", &[][..]), ("-", &bytes[..])] {
            let run = other.icm_with(["import", format, file], input);
            assert!(!run.err.contains("rejected"), "{}", run.err);
            let command = format!("`icm log import {file}`");
            assert!(run.err.contains(&command), "{}", run.err);
            run.fails(2, "holds events of a log");
        }
    }
    assert!(!other.store().join("log").exists(), "something was written");
}

#[test]
fn free_notes_are_for_extract() {
    let world = World::new();
    world.write("NOTES.md", "# Notes\n\nWe deploy on Tuesdays.\n");
    let run = world.icm(["import", "markdown", "NOTES.md"]).ends(1);
    assert_eq!(run.err.matches("rejected").count(), 1, "{}", run.err);
    assert!(run.err.contains("no topic: begin"), "{}", run.err);
    assert!(
        run.err.contains("`icm extract -t NAME FILE`"),
        "{}",
        run.err
    );
}

/// A file without JSON lines gets one message about its format.
#[test]
fn files_without_json_lines_are_told_once() {
    let one = r#"{"topic":"a","content":"one"}"#;
    let two = r#"{"topic":"a","content":"two"}"#;
    for (input, says) in [
        (format!("[{one},{two}]"), "jq -c '.[]'"),
        (format!("[\n  {one},\n  {two}\n]\n"), "jq -c '.[]'"),
        (format!("[\n  {one}\n]\n"), "jq -c '.[]'"),
        (format!("\n[ {one},\n{two} ]\n"), "jq -c '.[]'"),
        (
            "[\n  {\n    \"topic\": \"a\",\n    \"content\": \"one\"\n  }\n]\n".into(),
            "jq -c '.[]'",
        ),
        (
            "{\n  \"topic\": \"a\",\n  \"content\": \"one\"\n}\n".into(),
            "jq -c .",
        ),
        (
            "{\"topic\": \"a\",\n \"content\": \"one\"}\n".into(),
            "jq -c .",
        ),
        (
            "topic,content\na,one\nb,two\n".into(),
            "mlr --icsv --ojsonl cat",
        ),
        (
            "\"id\",\"topic\",\"content\"\n1,a,one\n".into(),
            "mlr --icsv --ojsonl cat",
        ),
    ] {
        let world = World::new();
        let run = world.icm_with("import jsonl - --json", input.as_bytes());
        let report = run.ends(1).json();
        let rejected = report["rejected"].as_array().unwrap();
        assert_eq!(rejected.len(), 1, "{input}: {report}");
        assert!(
            rejected[0]["why"].as_str().unwrap().contains(says),
            "{input}: {report}"
        );
        assert_eq!(report["added"], 0, "{input}");
    }
    // A bad line before good ones costs only that line.
    for first in [
        "[INFO] begin",
        "{\"topic\":\"a\",\"cont",
        "[1, 2",
        "{",
        "topic: content",
    ] {
        let world = World::new();
        let input = format!("{first}\n{one}\n{two}\n");
        let run = world.icm_with("import jsonl - --json", input.as_bytes());
        let report = run.ends(1).json();
        let (added, rejected) = if first == "{" { (0, 1) } else { (2, 1) };
        assert_eq!(report["added"], added, "{first}: {report}");
        assert_eq!(report["rejected"].count(), rejected, "{first}: {report}");
    }
}
