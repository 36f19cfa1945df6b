//! `icm redact`: the bytes are gone.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{Look, Says, World};

/// A secret of no known shape, so only this command can find it.
const SECRET: &str = "opensesame \"quoted\" naïve";

/// Returns the forms in which a text may be stored in a file.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    let json = serde_json::to_string(secret).unwrap();
    let ascii: String = secret
        .chars()
        .map(|c| match c.is_ascii() {
            true => c.to_string(),
            false => format!("\\u{:04x}", u32::from(c)),
        })
        .collect();
    let base64 = |shift: usize| {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = Vec::new();
        for chunk in secret.as_bytes()[shift..].chunks_exact(3) {
            let bits = u32::from_be_bytes([0, chunk[0], chunk[1], chunk[2]]);
            out.extend([18, 12, 6, 0].map(|at| alphabet[(bits >> at) as usize & 63]));
        }
        out
    };
    let utf_16 = secret.encode_utf16();
    vec![
        secret.as_bytes().to_vec(),
        json.trim_matches('"').as_bytes().to_vec(),
        ascii.into_bytes(),
        utf_16.clone().flat_map(u16::to_le_bytes).collect(),
        utf_16.flat_map(u16::to_be_bytes).collect(),
        base64(0),
        base64(1),
        base64(2),
    ]
}

/// Returns the files below a folder that contain the secret in any form.
fn files_with(dir: &Path, secret: &str) -> Vec<String> {
    let forms = forms(secret);
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
                continue;
            }
            // Sockets have no content.
            if !path.is_file() {
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let holds = |form: &Vec<u8>| bytes.windows(form.len()).any(|window| window == form);
            if forms.iter().any(holds) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// Makes a store with views on disk, whose memory `pw` was stored, updated, recalled and consolidated with the secret.
/// Returns the ids of the memory and of the summary.
fn with_secret() -> (World, String, String) {
    let world = World::new();
    let content = format!("the word is {SECRET}");
    let metadata = json!({ "note": SECRET }).to_string();
    world.ok(format!(
        "store -t safe --key pw -c '{content}' --metadata '{metadata}'"
    ));
    let lines: String = (0..600)
        .map(|n| format!("{{\"topic\":\"many\",\"content\":\"line number {n}\"}}\n"))
        .collect();
    world.icm_with("import jsonl -", lines.as_bytes()).ok();
    world.ok("rebuild");
    let id = world.id("pw");
    world.ok(format!("update {id} -c 'it was {SECRET}'"));
    world.ok("store -t safe -c harmless");
    world.ok(format!("recall '{SECRET}'"));
    let summary = world.json(format!("consolidate -t safe --summary '{content}'"));
    let summary = summary["id"].as_str().unwrap().to_owned();
    (world, id, summary)
}

#[test]
fn a_memory_is_gone_from_every_byte() {
    let (world, id, summary) = with_secret();
    world.ok("export jsonl -o out.jsonl");
    assert!(!files_with(&world.store(), SECRET).is_empty());
    let place = |entry: &Value| (entry["position"].clone(), entry["event"].clone());
    let before: Vec<_> = world.ok("log --json").json_lines();
    let before: Vec<_> = before.iter().map(place).collect();

    let plan = world.json(format!("redact {id} --dry-run"));
    plan.has(json!({"events": 3, "summaries": [summary]}));
    world.fails(format!("redact {id} => 2: has to be confirmed"));
    assert!(!files_with(&world.store(), SECRET).is_empty());
    let done = world.json(format!("redact {id} --yes --reason 'a word'"));
    assert_eq!(done["blanked_events"], 3, "{done}");
    assert!(!done["out_of_reach"].as_array().unwrap().is_empty());
    // The derived summary is named, and is redacted by its own id.
    world.ok(format!("redact '{summary}' --yes"));
    assert_eq!(files_with(&world.store(), SECRET), Vec::<String>::new());

    let report = world.json("verify");
    report.has(json!({"ok": true, "findings": []}));
    let after: Vec<_> = world.ok("log --json").json_lines();
    assert_eq!(after.len(), before.len() + 2);
    let after: Vec<_> = after.iter().map(place).collect();
    assert_eq!(after[2..], before[..]);
    let then = world.json(format!("get {id} --at @3"));
    assert_eq!(then["content"], Value::Null);
    assert!(
        then["withheld"]
            .as_array()
            .unwrap()
            .contains(&json!("content"))
    );
    assert!(world.out(format!("history {id}")).contains("(withheld)"));
    // Rebuilt views do not contain the secret either.
    world.ok("rebuild");
    assert_eq!(files_with(&world.store(), SECRET), Vec::<String>::new());
    world.icm("recall opensesame").ends(1);
    world.ok("recall line number 7");
    world.fails(format!("redact {id} --yes => 1: redacted already"));
    // The consolidation is redacted, but its originals can be revived.
    let refused = world.icm("undo --last 1 --yes");
    let refused = refused.fails(2, "is redacted");
    refused.err.says("`icm revive`");
    world.ok(format!("revive {id}"));
    let back = world.json(format!("get {id}"));
    back.has(json!({"content": null, "forgotten": false}));
    world.ok("verify");
}

#[test]
fn matching_texts_are_gone() {
    let (world, id, _) = with_secret();
    let plan = world.json(format!("redact --match '{SECRET}' --dry-run"));
    assert_eq!(plan["single_events_total"], 4, "{plan}");
    let run = world.icm_with("redact --match - --yes", SECRET.as_bytes());
    run.ok().out.says("redacted 4 events");
    assert_eq!(files_with(&world.store(), SECRET), Vec::<String>::new());
    assert_eq!(world.json("verify")["findings"], json!([]));
    world.fails(format!(
        "redact --match '{SECRET}' --yes => 1: nothing in the store"
    ));
    // An update that knows of the redaction is kept.
    world.ok(format!("revive {id}"));
    world.ok(format!("update {id} -c 'a new word'"));
    let other = world.json("store -t safe -c another");
    world.ok(format!("redact {} --yes", other["id"].as_str().unwrap()));
    assert_eq!(world.json(format!("get {id}"))["content"], "a new word");
}

#[test]
fn a_receipt_of_a_redacted_memory_names_no_topic() {
    let world = World::new();
    let stored = world.json(["store", "-t", "ops", "-c", "The door code is 4711"]);
    let id = stored["id"].as_str().unwrap();
    world.icm(["redact", id, "--yes"]).ok();
    let run = world.icm(["forget", id]).ok();
    assert!(
        run.out.starts_with(&format!("forgot {id} @")),
        "{}",
        run.out
    );
}

#[test]
fn what_cannot_be_redacted_is_refused() {
    let world = World::new();
    world.fails("redact --match x --yes => 1: nothing in the store");
    assert!(!world.store().exists());
    let world = World::with_memories();
    let id = world.id("owner");
    for (arguments, says) in [
        ("redact --yes", "nothing was named"),
        ("redact --match '' --yes", "an empty text"),
        (
            format!("redact {id} --match x --yes").as_str(),
            "cannot be used with",
        ),
        ("redact @ --yes", "no position"),
    ] {
        world.icm(arguments).fails(2, says);
    }
    let run = world.icm("redact --match nowhere --yes");
    run.fails(1, "nothing in the store");
    for nothing in ["01AAAAAAAAAAAAAAAAAAAAAAAA", "@99", "ffffffff"] {
        world
            .icm(format!("redact '{nothing}' --yes"))
            .fails(1, &format!("no memory or event {nothing}"));
    }
    let run = world.fails("redact --match i => 2: has to be confirmed");
    assert!(run.err.contains('%'), "{}", run.err);
    assert_eq!(world.count("list"), 3);
    world.ok("redact @3 --yes");
    world.fails("redact @3 --yes => 1: redacted already");
}

/// A server with the text in memory stops showing it.
#[test]
fn a_server_that_runs_forgets_it() {
    let (world, id, summary) = with_secret();
    world.ok("undo --last 1 --yes");
    let mut server = Server::start(&world);
    assert!(server.recall("opensesame").contains("opensesame"));
    world.ok(format!("redact {id} '{summary}' --yes"));
    assert!(!server.recall("opensesame").contains("opensesame"));
    assert_eq!(files_with(&world.store(), SECRET), Vec::<String>::new());
    assert!(server.recall("harmless").contains("harmless"));
    server.end();
    assert_eq!(files_with(&world.store(), SECRET), Vec::<String>::new());
    world.ok("verify");
}

/// A redaction that is killed at any moment and repeated ends as if it had not been killed.
#[test]
fn a_redaction_that_was_killed_is_finished() {
    let mut begun = 0;
    for step in 0..16_u64 {
        let (world, id, summary) = with_secret();
        let mut child = world
            .command(format!("redact {id} '{summary}' --yes"))
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(step * step * 700));
        child.kill().unwrap();
        child.wait().unwrap();
        // Any command that opens the store finishes the redaction.
        world.ok("topics");
        assert!(!world.store().join("redacting").exists());
        let redacted = world.out("log --kind log.redacted");
        if redacted.is_empty() {
            assert!(!files_with(&world.store(), SECRET).is_empty());
            world.ok(format!("redact {id} '{summary}' --yes"));
        } else {
            begun += 1;
        }
        assert_eq!(
            files_with(&world.store(), SECRET),
            Vec::<String>::new(),
            "step {step}"
        );
        let report = world.json("verify");
        assert_eq!(report["findings"], json!([]), "step {step}: {report}");
        assert_eq!(report["missing_bodies"], 4, "step {step}: {report}");
        world.ok("recall line number 7");
    }
    assert!(begun > 0, "every kill came too early");
}

/// If a redaction is killed while its marker exists, the same command finishes it and exits with 0.
#[test]
fn a_redaction_that_was_killed_is_finished_by_the_same_command() {
    let args = ["redact", "--match", SECRET, "--yes"];
    let mut finished = 0;
    for step in 0..6_u64 {
        let (world, _, _) = with_secret();
        let marker = world.store().join("redacting");
        let mut child = world.command(args).stdout(Stdio::null()).spawn().unwrap();
        while !marker.exists() && child.try_wait().unwrap().is_none() {}
        std::thread::sleep(Duration::from_millis(step * 2));
        child.kill().unwrap();
        child.wait().unwrap();
        if marker.exists() {
            finished += 1;
            world.icm(args).ok();
        }
        assert_eq!(files_with(&world.store(), SECRET), Vec::<String>::new());
        assert!(!marker.exists());
    }
    assert!(finished > 0, "every kill came too late");
}

/// Finishing an earlier redaction is no success for another request.
#[test]
fn another_redaction_that_was_begun_is_no_answer() {
    let (world, id, summary) = with_secret();
    world.ok(format!("redact {id} '{summary}' --yes"));
    std::fs::write(world.store().join("redacting"), "").unwrap();
    let other = world.icm("redact --match nowhere --yes").ends(1);
    for words in [
        "finished a redaction that was begun",
        "nothing in the store holds that",
    ] {
        other.err.says(words);
    }
    assert!(!world.store().join("redacting").exists());
}

/// An MCP server on pipes.
struct Server {
    child: Child,
    number: u64,
    answers: BufReader<std::process::ChildStdout>,
}

impl Server {
    fn start(world: &World) -> Server {
        let mut child = world
            .command("serve --structured")
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        let mut server = Server {
            child,
            number: 0,
            answers,
        };
        server.ask(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {},
                   "clientInfo": {"name": "test", "version": "1"}}),
        );
        server
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.number += 1;
        let line = json!({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params});
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{line}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    fn recall(&mut self, query: &str) -> String {
        let arguments = json!({"query": query});
        let call = json!({"name": "icm_memory_recall", "arguments": arguments});
        self.ask("tools/call", call)["result"]["structuredContent"].to_string()
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

#[test]
fn a_command_finishes_what_was_begun_before_it_waits_for_itself() {
    let world = World::with_memories();
    let marker = world.store().join("redacting");
    std::fs::write(&marker, "begun\n").unwrap();
    let run = world.ok("store -t a -c b");
    // Otherwise the process would wait for its own lock and report that.
    run.err.lacks("waits");
    assert!(!marker.exists());
}

#[test]
fn names_of_fields_are_no_text_and_a_reason_holds_no_secret() {
    let world = World::with_memories();
    for name in ["content", "topic", "client"] {
        world.fails(format!(
            "redact --match '{name}' --dry-run => 1: nothing in the store"
        ));
    }
    world.fails("redact --match Mira --reason 'about Mira' --yes => 2: the reason holds");
    world.ok("redact --match Mira --yes");
    // The same event, named alone or as a range.
    for which in [["undo", "@5"].as_slice(), &["undo", "@5..@5"]] {
        world.icm((which, "--yes")).fails(2, "is redacted");
    }
    // Among other events it is skipped and named.
    let plan = world.out("undo --last 9 --dry-run");
    plan.says("@5 stays: redacted");
    let done = world.json("undo --last 9 --yes");
    assert_eq!(done["skipped"][0]["redacted"], true, "{done}");
    let left = world.json("list");
    assert_eq!(left.count(), 1, "{left}");
    world.ok("undo --last 1 --yes");
    assert_eq!(world.count("list"), 3);
}

/// Copies of segments by a sync tool are cleaned; unreadable files are named.
#[test]
fn copies_below_the_log_are_cleaned_too() {
    let (world, id, summary) = with_secret();
    let log = world.store().join("log");
    let chain = std::fs::read_dir(&log).unwrap().next().unwrap().unwrap();
    let segment = std::fs::read_dir(chain.path()).unwrap().next().unwrap();
    let segment = segment.unwrap().path();
    let copy = format!("{} (1).icmlog", segment.file_stem().unwrap().display());
    std::fs::copy(&segment, segment.with_file_name(copy)).unwrap();
    std::fs::copy(&segment, log.join("backup.icmlog")).unwrap();
    std::fs::write(log.join("odd"), "who knows").unwrap();
    // Deeper, in the folder of another chain under a segment's name, beside the log, and in `torn/`.
    let (deep, other) = (
        log.join("old/deep"),
        log.join("0123456789abcdef0123456789abcdef"),
    );
    let torn = world.store().join("torn");
    for folder in [&deep, &other, &torn.join("sub")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::copy(&segment, deep.join("copy")).unwrap();
    std::fs::copy(&segment, other.join(segment.file_name().unwrap())).unwrap();
    std::fs::write(world.store().join("mine"), "a note").unwrap();

    let done = world.json(format!("redact {id} '{summary}' --yes"));
    assert_eq!(files_with(&world.store(), SECRET), Vec::<String>::new());
    let beyond = done["out_of_reach"].to_string();
    for unknown in ["log/odd: no file", "mine: no file", "torn/sub: set aside"] {
        beyond.says(unknown);
    }
    beyond.lacks("icmlog");
    world.ok("store -t safe -c 'harmless again'");
    world.ok("recall harmless");
}

/// A chain's folder may be a link to another disk.
#[cfg(unix)]
#[test]
fn a_chain_behind_a_link_is_cleaned() {
    let (world, id, summary) = with_secret();
    let log = world.store().join("log");
    let chain = std::fs::read_dir(&log)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let elsewhere = world.path("elsewhere");
    std::fs::rename(&chain, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &chain).unwrap();
    world.ok(format!("redact {id} '{summary}' --yes"));
    assert_eq!(files_with(&world.store(), SECRET), Vec::<String>::new());
    assert_eq!(files_with(&elsewhere, SECRET), Vec::<String>::new());
    assert_eq!(world.json("verify")["ok"], true);
}
