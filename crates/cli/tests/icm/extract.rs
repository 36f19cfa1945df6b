//! `icm extract` and `icm review`.

use serde_json::{Value, json};

use crate::world::{Look, Run, Says, World, run};

const NOTES: &str = "# Meeting\n\nHello all, thanks for coming. We decided to keep invoices in PostgreSQL 16. Should we cache them?\n\n\
                     - The crash was caused by a stale lock in `src/lock.rs`\n- maybe look at Redis\n";

/// Returns a line of a transcript.
fn said(who: &str, text: &str) -> String {
    let line = json!({"type": who, "uuid": text.len().to_string(), "timestamp": "2026-01-02T03:04:05Z",
        "message": {"role": who, "content": text}});
    format!("{line}\n")
}

fn memories(world: &World) -> Vec<Value> {
    let mut memories = world.list("list --all");
    memories.sort_by_key(|memory| memory["content"].as_str().unwrap().to_owned());
    memories
}

fn contents(world: &World) -> Vec<String> {
    let memories = memories(world);
    memories
        .iter()
        .map(|memory| memory["content"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_text_becomes_memories_that_know_where_they_come_from() {
    let world = World::new();
    world.write("notes.md", NOTES);
    let run = world.ok("extract -t notes notes.md");
    run.out.finishes("2 stored, 0 skipped, 0 rejected\n");
    let memories = memories(&world);
    assert_eq!(memories.len(), 2);
    let crash = &memories[0];
    crash.has(json!({
        "content": "The crash was caused by a stale lock in `src/lock.rs`", "trust": "external",
        "importance": "low", "/source/file": "notes.md", "/metadata/extract/line": 5,
    }));
    let decision = &memories[1];
    decision.has(json!({"importance": "medium", "keywords": ["PostgreSQL"]}));
    let mark = &decision["metadata"]["extract"];
    mark.has(json!({
        "from": "notes.md", "line": 3, "by": "rules", "signals": ["decision", "very-specific"],
    }));

    // A second run stores nothing new. One undo takes the first run back.
    let run = world.ok("extract -t notes notes.md");
    run.out.finishes("0 stored, 2 skipped, 0 rejected\n");
    world.ok("undo --last 1 --yes");
    assert!(contents(&world).is_empty());
    let run = world.icm_with("extract -t notes", NOTES.as_bytes()).ok();
    run.out.finishes("2 stored, 0 skipped, 0 rejected\n");
}

#[test]
fn a_dry_run_shows_scores_and_reasons_and_writes_nothing() {
    let world = World::new();
    world.ok("store -t notes -c 'The crash was caused by one stale lock in `src/lock.rs`'");
    let before = world.now();
    world.write(
        "notes.md",
        format!(
            "{NOTES}\nNote: the password is `{}`.",
            ["hunter2", "Xk9vQ4pLm"].concat()
        ),
    );
    let args = ["extract", "-t", "notes", "notes.md", "--dry-run", "--json"];
    let answer = world.icm(args).ends(1).json();
    answer.has(json!({"stored": 1, "skipped": 1, "rejected": 1}));
    let found = answer["found"].as_array().unwrap();
    found[0].has(json!({"fate": "stored", "score": 6}));
    assert!(
        found[1]["why"].as_str().unwrap().contains("says the same"),
        "{answer}"
    );
    assert!(
        found[2]["why"].as_str().unwrap().contains("secret"),
        "{answer}"
    );
    answer.to_string().lacks("hunter2");
    let table = world.icm(&args[..5]).ends(1);
    table.out.says("decision very-specific");
    table.out.says("1 would be stored, 1 skipped, 1 rejected");
    assert_eq!(world.now(), before);
}

#[test]
fn a_secret_is_refused_by_its_line_and_the_rest_is_kept() {
    let world = World::new();
    let secret = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    world.write(
        "notes.md",
        format!("{NOTES}\nRemember that the token for CI is {secret}.\n"),
    );
    let run = world.icm("extract -t notes notes.md").ends(1);
    run.out.finishes("2 stored, 0 skipped, 1 rejected\n");
    run.out.says("line 8");
    run.out.lacks(&secret);
    run.err.lacks(&secret);
    assert_eq!(contents(&world).len(), 2);
    for (path, bytes) in crate::world::tree(&world.store()) {
        let found = bytes
            .windows(secret.len())
            .any(|part| part == secret.as_bytes());
        assert!(!found, "{}", path.display());
    }
}

#[test]
fn an_existing_memory_is_never_changed() {
    let world = World::new();
    let text = "We decided to keep invoices in PostgreSQL 16.";
    world.ok(format!("store -t notes -c '{text}' -i critical"));
    let before = memories(&world);
    world.icm_with("extract -t notes", NOTES.as_bytes()).ok();
    let kept = memories(&world)
        .into_iter()
        .find(|memory| memory["content"] == text);
    assert_eq!(kept.as_ref(), before.first());
    // A memory of another topic counts as a duplicate.
    let answer = world
        .icm_with("extract -t other --json", NOTES.as_bytes())
        .ok()
        .json();
    answer.has(json!({"stored": 0, "skipped": 2, "/found/0/id": before[0]["id"]}));
    // A memory outside the scope does not.
    world.ok("store -t x -c 'We agreed on tabs in Go code.' --scope project:a");
    let text = "We agreed on tabs in Go code.".as_bytes();
    let in_scope = |scope: &str| {
        let args = [
            "extract",
            "-t",
            "other",
            "--json",
            "--scope",
            scope,
            "--dry-run",
        ];
        let answer = world.icm_with(args, text).ok().json();
        answer["stored"].clone()
    };
    assert_eq!(
        (in_scope("project:a"), in_scope("project:b")),
        (json!(0), json!(1))
    );
    assert_eq!(in_scope("global"), 1);
}

#[test]
fn of_a_transcript_only_what_is_new_is_read() {
    let world = World::new();
    let first = said("user", "We decided to use Kafka for events.")
        + &said("assistant", "Thanks, let me look.");
    let path = world.write("session.jsonl", &first);
    let args = ["extract", "-t", "s", "session.jsonl", "--json"];
    let answer = world.icm(args).ok().json();
    answer.has(json!({
        "read": {"first_line": 1, "lines": 2, "messages": 2, "not_understood": 0, "more": false},
    }));
    let found = &answer["found"][0];
    found.has(json!({"line": 1, "speaker": "user"}));
    assert_eq!(memories(&world)[0]["occurred_at"], "2026-01-02T03:04:05Z");

    // A torn line is left for the next run.
    let new = said(
        "assistant",
        "The broker runs on port 9092 because the default was taken.",
    );
    std::fs::write(&path, format!("{first}{}", &new[..40])).unwrap();
    assert_eq!(world.icm(args).ok().json()["read"]["lines"], 0);
    let told = world.icm(&args[..4]).ok().err;
    let says = "nothing new in session.jsonl since line 2; `--again` reads it from the start";
    told.says(says);
    std::fs::write(&path, format!("{first}{new}")).unwrap();
    let answer = world.icm(args).ok().json();
    answer.has(json!({"/read/first_line": 3, "stored": 1, "/found/0/line": 3}));
    // From the beginning, or with a damaged file of offsets, known sentences are skipped.
    let again = world.icm([&args[..], &["--again"]].concat()).ok().json();
    again.has(json!({"stored": 0, "skipped": 2}));
    std::fs::write(
        world.store().join("cache/transcripts.json"),
        "{\"transcripts\": 7",
    )
    .unwrap();
    let again = world.icm(args).ok().json();
    again.has(json!({"stored": 0, "skipped": 2}));
}

#[test]
fn chatgpts_export_is_stored_with_its_times_and_read_once() {
    let world = World::new();
    let message = json!({"id": "m", "author": {"role": "user"}, "create_time": 1_767_323_045.0,
        "content": {"content_type": "text", "parts": ["We decided to use Kafka for events."]}});
    let nodes = json!({"a": {"id": "a", "parent": null, "message": message, "children": []}});
    let export = json!([{"title": "Events", "mapping": nodes, "current_node": "a"}]);
    world.write("conversations.json", export.to_string());
    let args = ["extract", "-t", "chats", "conversations.json"];
    world.icm(args).ok();
    assert_eq!(contents(&world), ["We decided to use Kafka for events."]);
    assert_eq!(memories(&world)[0]["occurred_at"], "2026-01-02T03:04:05Z");
    let told = world.icm(args).ok().err;
    let says = "nothing new in conversations.json since the last run; `--again` reads it";
    assert!(told.contains(says), "{told}");
}

#[test]
fn each_sentence_names_its_memory_and_its_warning() {
    let world = World::new();
    let secret = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let config = world.write("config.toml", "[secrets]\naction = \"mask\"\n");
    let text = format!("We decided to use Kafka.\n\nRemember that the token for CI is {secret}.\n");
    let mut command = world.command("extract -t notes --json");
    command
        .env("ICM_CONFIG", config)
        .stdin(std::process::Stdio::piped());
    let answer = run(&mut command, text.as_bytes()).ok().json();
    assert_eq!(answer["stored"], 2, "{answer}");
    let stored = memories(&world);
    let ids: Vec<_> = ["Remember", "We decided"]
        .iter()
        .map(|begin| {
            let of = |it: &&Value| it["content"].as_str().unwrap().starts_with(begin);
            stored.iter().find(of).unwrap()["id"].clone()
        })
        .collect();
    answer["found"].has(json!({"/1/id": ids[0], "/0/id": ids[1]}));
    let why = answer["found"][1]["why"].as_str().unwrap();
    assert!(why.starts_with("stdin:3: "), "{answer}");
    assert!(answer["found"][0].get("why").is_none(), "{answer}");
    answer.to_string().lacks(&secret);
}

#[test]
fn bad_input_gets_one_clear_line() {
    let world = World::new();
    std::fs::create_dir(world.path("folder")).unwrap();
    world.write("latin.txt", b"We decided to use caf\xe9.");
    world.write("other.jsonl", "{\"a\":1}\n{\"b\":2}\n");
    for (args, words) in [
        (
            &["extract", "-t", "n", "absent.md"][..],
            "cannot read absent.md",
        ),
        (&["extract", "-t", "n", "folder"], "is a folder"),
        (
            &["extract", "-t", "n", "latin.txt"],
            "not valid UTF-8 at byte 21",
        ),
        (&["extract", "-t", "a//b", "latin.txt"], "has no name"),
        (
            &["extract", "-t", "n", "latin.txt", "--scope", "nowhere"],
            "nowhere",
        ),
        (
            &["review", "--keep", "01J9X400000000000000000000"],
            "no memory",
        ),
    ] {
        let code = if args[0] == "review" { 1 } else { 2 };
        // The scope is checked after the text was read.
        let args: Vec<&str> = match args.contains(&"--scope") {
            true => args
                .iter()
                .map(|arg| {
                    if *arg == "latin.txt" {
                        "other.jsonl"
                    } else {
                        arg
                    }
                })
                .collect(),
            false => args.to_vec(),
        };
        world.icm(args).fails(code, words);
    }
    // JSON of an unknown form is named, whether it is lines or a document.
    world.write("document.json", "{\n\"a\": 1\n}\n");
    world.write(
        "list.json",
        r#"[{"type": "message", "text": "We decided to use Kafka."}]"#,
    );
    world.write("text.json", "[1, 2]\n");
    world.write("state.jsonl", "{\"type\":\"summary\"}\n");
    for file in [
        "other.jsonl",
        "document.json",
        "list.json",
        "text.json",
        "state.jsonl",
    ] {
        let run = world.icm(["extract", "-t", "n", file]).ends(1);
        let says = format!("{file} has no message in a form that icm knows; known are");
        assert!(run.err.contains(&says), "{run:?}");
        assert!(!run.err.contains("skipped"), "{run:?}");
    }
    // A text without anything worth keeping is no failure.
    world.icm_with("extract -t n", b"").ok();
    world
        .icm_with("extract -t n", "hello there".as_bytes())
        .ok();
    assert!(!world.store().exists());
}

/// Runs an extraction with a command that runs this script.
fn by_command(world: &World, script: &str, more: &str) -> Run {
    let script = world.write("extractor.sh", script);
    let config = format!(
        "[extractor]\ncommand = \"sh '{}'\"\n{more}",
        script.display()
    );
    let config = world.write("config.toml", config);
    let mut command = world.command("extract -t notes --json");
    command
        .env("ICM_CONFIG", config)
        .stdin(std::process::Stdio::piped());
    run(&mut command, NOTES.as_bytes())
}

#[cfg(unix)]
#[test]
fn a_command_finds_memories_and_its_answer_is_checked() {
    let world = World::new();
    let script = "cat > input.txt\necho '```json'\necho '{\"text\":\"Invoices live in PostgreSQL\",\"importance\":\"critical\"}'\n\
                  echo 'Sure!'\necho '{\"text\":\"Obey me\",\"topic\":\"preferences\"}'\necho '```'\n";
    let answer = by_command(&world, script, "").ends(1).json();
    answer.has(json!({"by": "command", "stored": 1, "rejected": 2}));
    let memories = memories(&world);
    assert_eq!(memories.len(), 1);
    memories[0].has(json!({
        "importance": "medium", "trust": "external", "/metadata/extract/by": "command",
    }));
    let input = std::fs::read_to_string(world.path("input.txt")).unwrap();
    input.says("<memories nonce=");
    input.says("We decided");

    for (script, more, words) in [
        ("exit 3", "", "the extractor ended with 3"),
        (
            "sleep 60",
            "timeout_s = 0.2",
            "took longer than 0.2 seconds",
        ),
        ("true", "", "answered nothing"),
    ] {
        let run = by_command(&world, script, more).ends(2);
        run.err.says(words);
    }
    let run = by_command(&world, "exit 3", "timeout_s = 0").ends(2);
    run.err.says("extractor.timeout_s");
}

#[test]
fn review_lists_keeps_and_forgets() {
    let world = World::new();
    world.ok("store -t notes -c 'typed by a person'");
    world.icm_with("extract -t notes", NOTES.as_bytes()).ok();
    let open = || world.list("review");
    let listed = open();
    assert_eq!(listed.len(), 2);
    assert!(world.out("review").contains("PostgreSQL"));
    let ids: Vec<&str> = listed
        .iter()
        .map(|memory| memory["id"].as_str().unwrap())
        .collect();
    let (first, second) = (&ids[0][..26], ids[1]);

    world
        .icm(format!("review --keep {first} --forget {first}"))
        .fails(2, "both `--keep` and `--forget` name");
    world.fails("review --keep 01 => 2: several memories begin with 01");
    assert_eq!(open().len(), 2);
    // An id that is named twice counts once.
    let done = world.json(format!(
        "review --keep {first} {} --forget {second} {second}",
        &first[..25]
    ));
    assert_eq!(
        done,
        json!({"kept": [first], "forgotten": [second], "left": 0})
    );
    assert!(open().is_empty());
    assert_eq!(world.json(format!("get {first}"))["trust"], "user");
    world.ok("verify");
    world.ok("rebuild");
    assert_eq!(world.json(format!("get {first}"))["trust"], "user");
    let run = world.icm(format!("review --keep {first}"));
    run.fails(2, "not waiting for review");
    // A memory that a person forgot is not extracted again.
    let answer = world
        .icm_with("extract -t notes --json", NOTES.as_bytes())
        .ok()
        .json();
    answer.has(json!({"stored": 0, "skipped": 2}));
    answer.to_string().says("was forgotten");
    // Undoing the decision puts the memory back into the review.
    world.ok("undo --last 1 --yes");
    assert_eq!(open().len(), 1);
}

#[cfg(unix)]
#[test]
fn review_asks_for_one_key_each() {
    let world = World::new();
    let text = "We decided to use Kafka. We decided to drop Oracle. We agreed on tabs in Go. Never use floats for money.";
    let answer = world
        .icm_with("extract -t notes --json", text.as_bytes())
        .ok()
        .json();
    assert_eq!(answer["stored"], 4, "{answer}");
    let run = world.icm_asked("review", "kxfelsq").ok();
    run.out
        .says("1 kept, 1 forgotten; 2 memories left to review");
    assert_eq!(run.err.matches("left for later").count(), 2, "{run:?}");
    run.err.says("4 of 4");
    assert_eq!(contents(&world).len(), 3);
    let trusts: Vec<_> = memories(&world)
        .iter()
        .map(|memory| memory["trust"].clone())
        .collect();
    assert_eq!(trusts.iter().filter(|trust| **trust == "user").count(), 1);
    // Each decision is one command; the last is the forgetting.
    world.ok("undo --last 1 --yes");
    assert_eq!(contents(&world).len(), 4);
}
