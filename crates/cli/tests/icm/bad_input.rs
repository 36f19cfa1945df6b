//! What is refused, and how.

use std::ffi::OsString;

use crate::world::World;

#[test]
fn empty_topics_and_contents() {
    let world = World::new();
    world.icm(["store", "-t", "", "-c", "x"]).fails(2, "topic");
    world
        .icm(["store", "-t", "a", "-c", ""])
        .fails(2, "content");
    world
        .icm(["store", "-t", "a", "-c", " \n "])
        .fails(2, "content");
    world
        .icm_with(["store", "-t", "a"], b"")
        .fails(2, "content");
    assert!(!world.store().join("log").exists(), "something was written");
}

#[test]
fn contents_over_64_kib() {
    let world = World::new();
    let text = "x".repeat(64 * 1024);
    world
        .icm_with(["store", "-t", "a", "-c", "-"], text.as_bytes())
        .ok();
    let text = "x".repeat(64 * 1024 + 1);
    world
        .icm_with(["store", "-t", "a", "-c", "-"], text.as_bytes())
        .fails(2, "64 KiB");
    // An argument as long as that goes another way.
    world
        .icm(["store", "-t", "a", "-c", &text])
        .fails(2, "64 KiB");
}

#[test]
fn nul_and_bytes_that_are_no_text() {
    let world = World::new();
    world
        .icm_with(["store", "-t", "a", "-c", "-"], b"one\0two")
        .fails(2, "NUL");
    world
        .icm_with(["store", "-t", "a", "-c", "-"], b"one \xff two")
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
    world.icm(["recall", ""]).fails(2, "empty");
    world.icm(["recall", " ", ""]).fails(2, "empty");
    world.icm(["recall"]).ends(2);
    world.icm(["recall", "x", "-l", "0"]).ends(2);
    world.icm(["recall", "x", "-l", "1001"]).ends(2);
    world
        .icm(["recall", "x", "--as", "7f3a"])
        .fails(2, "not supported before sync");
    // Never query syntax.
    for query in ["\"", "AND", "a:b", "(", "*", "+-", "invoices\""] {
        let run = world.icm(["recall", query]);
        assert!(run.code <= 1, "{query}: {run:?}");
    }
}

#[test]
fn ids() {
    let world = World::with_memories();
    // All ULIDs of one minute begin alike.
    world.icm(["get", "0"]).fails(2, "ambiguous");
    for command in ["get", "history", "forget", "revive"] {
        world.icm([command, ""]).ends(2);
    }
    let error = world.icm(["get", "not-an-id"]);
    assert!(matches!(error.code, 1 | 2), "{error:?}");
}

#[test]
fn moments() {
    let world = World::with_memories();
    for at in ["@999", "2999-01-01", "1999-01-01", "@0", "sometime", ""] {
        world.icm(["recall", "invoices", "--at", at]).fails(2, "");
        world.icm(["list", "--at", at]).fails(2, "");
        world.icm(["replay", "--at", at]).fails(2, "");
        world.icm(["export", "jsonl", "--at", at]).fails(2, "");
    }
    world
        .icm(["recall", "invoices", "--at", "2999-01-01"])
        .fails(2, "future");
}

#[test]
fn values() {
    let world = World::new();
    world
        .icm(["store", "-t", "a", "-c", "b", "--metadata", "{"])
        .fails(2, "not JSON");
    world
        .icm(["store", "-t", "a", "-c", "b", "--metadata", "[1]"])
        .fails(2, "JSON object");
    world
        .icm(["store", "-t", "a", "-c", "b", "--scope", "planet:earth"])
        .fails(2, "scope");
    world
        .icm(["store", "-t", "a", "-c", "b", "--occurred-at", "soon"])
        .fails(2, "soon");
    world
        .icm(["store", "-t", "a", "-c", "b", "-i", "huge"])
        .ends(2);
    assert!(!world.store().join("log").exists(), "something was written");
}

#[test]
fn a_store_that_is_a_file() {
    let world = World::new();
    let file = world.write("file", "not a store");
    for args in [
        ["list", "-q"].as_slice(),
        &["store", "-t", "a", "-c", "b"],
        &["recall", "x"],
        &["verify"],
    ] {
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
        ["recall", "", "--json"].as_slice(),
        &["store", "--topik", "a", "--json"],
        &["--json", "nonsense"],
        &["--json"],
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
    let run = World::new().icm(["store", "--topik", "a"]).ends(2);
    assert!(run.err.contains("--topic"), "{}", run.err);
}

#[test]
fn text_cannot_steer_the_terminal() {
    let world = World::new();
    let evil = "safe \u{1b}[2J\u{1b}]0;title\u{7} \u{202e}txt\u{200b} end\rover";
    let receipt = world.json(["store", "-t", "a", "-c", evil]);
    let id = receipt["id"].as_str().unwrap();
    for args in [
        ["recall", "safe"].as_slice(),
        &["get", id],
        &["list"],
        &["history", id],
        &["log"],
        &["topics"],
        &["replay", "--at", "@3"],
    ] {
        let run = world.icm(args);
        for c in ['\u{1b}', '\u{7}', '\u{202e}', '\u{200b}', '\r'] {
            assert!(!run.out.contains(c), "{args:?} shows {c:?}: {:?}", run.out);
            assert!(!run.err.contains(c), "{args:?} shows {c:?}: {:?}", run.err);
        }
    }
    world
        .icm(["store", "-t", "a\u{1b}[31m", "-c", "x"])
        .fails(2, "control character");
    // The log keeps the bytes.
    assert_eq!(world.json(["get", id])["content"], evil);
}
