//! Refused input and the errors.

use std::ffi::OsString;

use crate::world::{Says, World};

#[test]
fn empty_topics_and_contents() {
    let world = World::new();
    world.fails("store -t '' -c x => 2: topic");
    world.fails("store -t a -c '' => 2: content");
    world.fails("store -t a -c ' \n ' => 2: content");
    world.icm_with("store -t a", b"").fails(2, "content");
    assert!(!world.store().join("log").exists(), "something was written");
}

#[test]
fn contents_over_64_kib() {
    let world = World::new();
    let text = "x".repeat(64 * 1024);
    world.icm_with("store -t a -c -", text.as_bytes()).ok();
    let text = "x".repeat(64 * 1024 + 1);
    world
        .icm_with("store -t a -c -", text.as_bytes())
        .fails(2, "64 KiB");
    // The same length as an argument takes another code path.
    world.fails(format!("store -t a -c '{text}' => 2: 64 KiB"));
}

#[test]
fn nul_and_bytes_that_are_no_text() {
    let world = World::new();
    world
        .icm_with("store -t a -c -", b"one\0two")
        .fails(2, "NUL");
    world
        .icm_with("store -t a -c -", b"one \xff two")
        .fails(2, "byte 4");
}

#[cfg(unix)]
#[test]
fn arguments_that_are_no_text() {
    use std::os::unix::ffi::OsStringExt;
    let world = World::new();
    let bad = OsString::from_vec(b"caf\xe9".to_vec());
    let args: [OsString; 5] = ["store".into(), "-t".into(), "a".into(), "-c".into(), bad];
    world.icm(&args).fails(2, "argument 5");
}

#[test]
fn queries() {
    let world = World::with_memories();
    world.fails("recall '' => 2: empty");
    world.fails("recall ' ' '' => 2: empty");
    world.icm("recall").ends(2);
    world.icm("recall x -l 0").ends(2);
    let run = world.icm("recall x -l 0").ends(2);
    run.err.says("from 1 to 1000");
    // A limit above the maximum is reduced, with a note.
    for command in ["recall", "recall-context"] {
        let run = world.ok(format!("'{command}' invoices -l 5000"));
        run.err.says("1000 was used, not 5000");
    }
    // An empty filter counts as absent.
    for filter in ["-t", "-k", "--since", "--until", "--scope"] {
        let run = world.ok(format!("recall invoices '{filter}' ''"));
        assert!(run.out.contains("PostgreSQL"), "{filter}: {run:?}");
    }
    world.ok("store -t t -c loud -i HIGH");
    let run = world.icm("list -l many").ends(2);
    run.err.says("a whole number");
    // No origin begins with `999999z`.
    (world.icm("recall x --as 999999z")).fails(1, "no origin 999999z");
    world.fails("recall x --as '' => 1: no origin");
    // A query is never query syntax.
    for query in ["\"", "AND", "a:b", "(", "*", "+-", "invoices\""] {
        let run = world.icm(format!("recall '{query}'"));
        assert!(run.code <= 1, "{query}: {run:?}");
    }
}

#[test]
fn ids() {
    let world = World::with_memories();
    // All ULIDs of one minute begin with the same characters.
    world.fails("get 0 => 2: ambiguous");
    for command in ["get", "history", "forget", "revive"] {
        world.icm(format!("'{command}' ''")).ends(2);
    }
    let error = world.icm("get not-an-id");
    assert!(matches!(error.code, 1 | 2), "{error:?}");
}

#[test]
fn moments() {
    let world = World::with_memories();
    for at in ["@999", "2999-01-01", "1999-01-01", "@0", "sometime", ""] {
        world.fails(format!("recall invoices --at {at} => 2: "));
        world.fails(format!("list --at {at} => 2: "));
        world.fails(format!("replay --at {at} => 2: "));
        world.fails(format!("export jsonl --at {at} => 2: "));
    }
    world.fails("recall invoices --at 2999-01-01 => 2: future");
}

#[test]
fn values() {
    let world = World::new();
    world.fails("store -t a -c b --metadata { => 2: not JSON");
    world.fails("store -t a -c b --metadata '[1]' => 2: JSON object");
    world.fails("store -t a -c b --scope planet:earth => 2: scope");
    world.fails("recall b --scope planet => 2: `planet` is no scope");
    world.fails("store -t a -c b --occurred-at soon => 2: soon");
    world.icm("store -t a -c b -i huge").ends(2);
    assert!(!world.store().join("log").exists(), "something was written");
}

#[test]
fn a_store_that_is_a_file() {
    let world = World::new();
    let file = world.write("file", "not a store");
    for args in ["list -q", "store -t a -c b", "recall x", "verify"] {
        let mut command = world.command(args);
        command.arg("--db").arg(&file);
        crate::world::run(&mut command, b"").fails(2, "is a file");
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"not a store");
}

#[test]
fn errors_as_json() {
    let world = World::new();
    for args in [
        "recall '' --json",
        "store --topik a --json",
        "--json nonsense",
        "--json",
    ] {
        let run = world.icm(args).ends(2);
        assert_eq!(run.out, "");
        assert_eq!(run.err.lines().count(), 1, "{run:?}");
        let error: serde_json::Value = serde_json::from_str(&run.err).unwrap();
        assert!(error["error"]["message"].is_string(), "{run:?}");
        assert!(error["error"].get("hint").is_some(), "{run:?}");
    }
}

#[test]
fn unknown_flags_name_the_nearest() {
    let run = World::new().icm("store --topik a").ends(2);
    run.err.says("--topic");
}

#[test]
fn text_cannot_steer_the_terminal() {
    let world = World::new();
    let evil = "safe \u{1b}[2J\u{1b}]0;title\u{7} \u{202e}txt\u{200b} end\rover";
    let receipt = world.json(format!("store -t a -c '{evil}'"));
    let id = receipt["id"].as_str().unwrap();
    for args in [
        "recall safe",
        format!("get {id}").as_str(),
        "list",
        format!("history {id}").as_str(),
        "log",
        "topics",
        "tags",
        "replay --at @3",
    ] {
        let run = world.icm(args);
        for c in ['\u{1b}', '\u{7}', '\u{202e}', '\u{200b}', '\r'] {
            assert!(!run.out.contains(c), "{args:?} shows {c:?}: {:?}", run.out);
            assert!(!run.err.contains(c), "{args:?} shows {c:?}: {:?}", run.err);
        }
    }
    world.fails("store -t 'a\u{1b}[31m' -c x => 2: control character");
    // The log keeps the bytes.
    assert_eq!(world.json(format!("get {id}"))["content"], evil);
}

#[test]
fn metadata_that_would_not_come_back_as_it_was() {
    let world = World::new();
    let store = |metadata: &str| world.icm(format!("store -t a -c b --metadata '{metadata}'"));
    store(r#"{"a": "x\u0000y"}"#).fails(2, "NUL");
    store(r#"{"a": [{"\u0000": 1}]}"#).fails(2, "NUL");
    store(r#"{"ticket": 1, "ticket": 2}"#).fails(2, "`ticket` stands twice");
    store(r#"{"a": {"deep": 1, "deep": 1}}"#).fails(2, "`deep` stands twice");
    store(r#"{"a": "\ud83d"}"#).fails(2, "lone surrogate in `a`");
    assert!(!world.store().exists(), "something was written");
    store(r#"{"a": "\ud83d\ude00"}"#).ok();
}

#[test]
fn lines_of_an_import_are_read_as_strictly() {
    let world = World::new();
    let lines = [
        r#"{"topic":"t","content":"cut \ud83d"}"#,
        r#"{"topic":"t","content":"c","metadata":{"a":"\u0000"}}"#,
        r#"{"topic":"t","content":"c","metadata":{"a":1,"a":2}}"#,
        r#"{"topic":"t","content":"one","content":"two"}"#,
        r#"{"topic":"t","content":"whole"}"#,
    ];
    let run = world
        .icm_with("import jsonl - --json", lines.join("\n").as_bytes())
        .ends(1);
    let report = run.json();
    assert_eq!(report["added"], 1);
    let rejected = report["rejected"].as_array().unwrap();
    let why: Vec<_> = rejected
        .iter()
        .map(|r| r["why"].as_str().unwrap())
        .collect();
    assert_eq!(
        why,
        [
            "lone surrogate in `content`",
            "metadata has a NUL character in it",
            "the name `a` stands twice",
            "the name `content` stands twice",
        ]
    );
    assert_eq!(rejected[2]["line"], 3);
}

#[test]
fn actors_that_would_steer_the_terminal() {
    let world = World::new();
    for actor in ["a\nb", "\u{1b}[31mred", "\u{9b}31m"] {
        let mut command = world.command("store -t a -c b");
        command.env("ICM_ACTOR", actor);
        crate::world::run(&mut command, b"").fails(2, "`ICM_ACTOR` has a control character");
    }
    let mut command = world.command("store -t a -c b");
    command.env("ICM_ACTOR", "x".repeat(257));
    crate::world::run(&mut command, b"").fails(2, "`ICM_ACTOR` is 257 bytes long");
    assert!(!world.store().exists(), "something was written");
    world.fails("log --actor 'a\nb' => 2: control character");
}

#[test]
fn a_number_where_a_position_is_meant() {
    let world = World::with_memories();
    for args in [
        ["recall", "invoices", "--at", "4"].as_slice(),
        &["list", "--at", "4"],
        &["list", "--at", "2026"],
        &["log", "--since", "4"],
        &["log", "show", "4"],
        &["undo", "4"],
        &["redact", "4"],
    ] {
        let number = args.last().unwrap();
        let asks = format!("did you mean the position `@{number}`?");
        // An invalid moment is bad input; an invalid event id is not found, unless the beginning of some id matches it
        // by chance.
        let run = world.icm(args);
        let of_a_moment = args.contains(&"--at") || args.contains(&"--since");
        if run.code == 2 && !of_a_moment {
            let run = run.fails(2, "is ambiguous");
            run.err.says(format!(", @{number}"));
            continue;
        }
        let run = run.ends(if of_a_moment { 2 } else { 1 });
        assert!(run.err.contains(&asks), "{args:?}: {}", run.err);
    }
    world.ok("list --at @4");
    let run = world.icm("store -t a -c b --occurred-at 4");
    assert!(!run.fails(2, "no point in time").err.contains('@'));
}

#[test]
fn a_mistyped_id_brings_the_nearest() {
    let world = World::with_memories();
    let id = world.id("money");
    let mut wrong = id.clone();
    // A changed digit of the random part.
    let digit = if &id[20..21] == "7" { "8" } else { "7" };
    wrong.replace_range(20..21, digit);
    let letter = id.replacen(&id[22..23], "U", 1);
    for given in [wrong.as_str(), &format!("{id}0"), &letter] {
        for command in ["get", "history", "forget", "revive"] {
            let run = world.icm(format!("'{command}' '{given}'")).fails(1, given);
            assert!(run.err.contains(&id), "{command} {given}: {}", run.err);
        }
        let run = world.icm(format!("update '{given}' -c x")).fails(1, given);
        assert!(run.err.contains(&id), "{given}: {}", run.err);
    }
    // A key is no id, but the error names its memory; a position names an event.
    let run = world.fails("get money => 1: money");
    run.err.says(&id);
    let run = world.fails("get @3 => 1: @3");
    run.err.says("icm log show @3");
    let run = world.icm("get 7ZZZZZZZZZZZZZZZZZZZZZZZZZ").ends(1);
    run.err.lacks("nearest");
}
