//! The output for people: wording, columns, notes.

use serde_json::{Value, json};

use crate::world::{Look, Says, World};

#[test]
fn history_says_what_changed() {
    let world = World::with_memories();
    let id = world.id("money");
    world.ok(format!("update {id} -t prices"));
    world.ok(format!("update {id} -k cents,euro"));
    world.ok(format!("update {id} -k cents -i high"));
    world.ok(format!("forget {id}"));
    world.ok(format!("revive {id}"));
    let history = world.out(format!("history {id}"));
    for line in [
        "  topic: decisions → prices",
        "  keywords: +cents +euro",
        "  importance: medium → high",
        "  keywords: -euro",
    ] {
        assert!(history.lines().any(|l| l == line), "{line}: {history}");
    }
    let lines: Vec<&str> = history.lines().filter(|l| l.starts_with('@')).collect();
    assert_eq!(lines.len(), 6, "{history}");
    assert!(lines[4].contains("memory.forgotten"), "{history}");
    assert!(lines[5].contains("memory.revived"), "{history}");
    assert!(!lines[5].contains("forgotten"), "{history}");
    // The unchanged text is not repeated.
    assert_eq!(history.matches("Prices are").count(), 1, "{history}");
}

#[test]
fn the_log_tells_the_text_of_a_memory_that_goes_or_comes() {
    let world = World::new();
    let id = world.stored("-t plans -c 'The demo is on Thursday'");
    for command in ["forget", "revive", "pin", "unpin"] {
        world.ok(format!("{command} {id}"));
    }
    world.ok(format!("feedback mark {id} --wrong"));
    let said = |family: &str| {
        world
            .events(format!("--kind {family} --reverse"))
            .texts("summary")
    };
    let text = "[plans] The demo is on Thursday";
    assert_eq!(said("memory"), [text; 5]);
    assert_eq!(said("feedback"), [format!("wrong: {text}")]);
    world.ok(format!("redact {id} --yes"));
    world.out("log").lacks("The demo");
}

/// A text that an undo took back is not shown as valid; a text that comes back is shown again.
#[test]
fn history_after_an_undo_shows_what_holds() {
    let world = World::with_memories();
    let id = world.id("owner");
    world.ok(format!("update {id} -c 'Ada owns billing'"));
    world.ok("undo --last 2 --yes");
    let history = world.out(format!("history {id}"));
    let (_, after) = history.split_once("log.undone").unwrap();
    assert!(!after.contains("owns billing"), "{history}");
    assert!(
        after.contains("there is no memory from here on"),
        "{history}"
    );
    world.ok("undo --last 1 --yes");
    let history = world.out(format!("history {id}"));
    let (_, after) = history.rsplit_once("log.undone").unwrap();
    assert!(after.contains("Ada owns billing"), "{history}");
    world.ok(format!("forget {id}"));
    world.ok("undo --last 1 --yes");
    let history = world.out(format!("history {id}"));
    let (_, after) = history.rsplit_once("log.undone").unwrap();
    assert!(after.contains("no longer forgotten"), "{history}");
}

/// An undo without a changed row leaves no version, so the undone version is marked.
#[test]
fn history_says_what_is_undone() {
    let world = World::with_memories();
    let id = world.id("owner");
    world.ok(format!("update {id} -c 'Ada owns billing'"));
    let undone = world.now();
    world.ok(format!("update {id} -c 'Bo owns billing'"));
    world.ok(format!("undo '{undone}' --yes"));
    let undo = world.now();
    let history = world.out(format!("history {id}"));
    let line = format!("  undone at {undo}\n  │ Ada owns billing\n");
    history.says(&line);
    assert_eq!(history.matches("undone").count(), 1, "{history}");
    let versions = world.json(format!("history {id}"));
    assert_eq!(versions[1]["undone_at"].as_u64(), undo[1..].parse().ok());
    assert!(versions[2].get("undone_at").is_none(), "{versions}");
    world.ok("rebuild");
    assert_eq!(world.json(format!("history {id}")), versions);

    world.ok(format!("undo '{undo}' --yes"));
    let history = world.out(format!("history {id}"));
    history.lacks("undone");
}

#[test]
fn history_says_of_each_text_that_it_is_withheld() {
    let world = World::with_memories();
    let id = world.id("owner");
    world.ok(format!("update {id} -c 'Ada owns billing'"));
    world.ok(format!("update {id} -i high"));
    world.ok(format!("redact {id} --yes"));
    let history = world.out(format!("history {id}"));
    // The topic and both texts.
    assert_eq!(history.matches("(withheld)").count(), 3, "{history}");
}

/// A damaged payload is withheld, but not redacted.
#[test]
fn damaged_events_are_not_said_to_be_redacted() {
    let world = World::with_memories();
    let id = world.id("owner");
    let files = crate::world::tree(&world.store().join("log"));
    let mut damaged = 0;
    for (path, _) in files {
        let Ok(mut bytes) = std::fs::read(&path) else {
            continue;
        };
        if let Some(at) = bytes.windows(4).position(|four| four == b"Mira") {
            bytes[at] ^= 1;
            std::fs::write(&path, bytes).unwrap();
            damaged += 1;
        }
    }
    assert_eq!(damaged, 1);
    for args in [["list"].as_slice(), &["get", &id], &["history", &id]] {
        let run = world.icm(args).ok();
        run.out.says("(withheld)");
        assert_eq!(
            run.err.matches("is damaged, not taken out").count(),
            1,
            "{run:?}"
        );
        run.err.says("`icm log repair`");
    }
    let redacted = world.id("money");
    world.ok(format!("redact '{redacted}' --yes"));
    let run = world.ok(format!("get '{redacted}'"));
    run.err.lacks("is damaged");
}

#[test]
fn consolidated_memories_are_not_said_to_be_forgotten() {
    let world = World::with_memories();
    let id = world.id("money");
    let args = [
        "consolidate",
        "-t",
        "decisions",
        "--summary",
        "Both",
        "--yes",
    ];
    world.icm(args).ok();
    let summary = world.json(format!("get {id}"))["consolidated_into"].clone();
    let run = world.fails(format!("update {id} -c new => 1: consolidated into"));
    run.err.lacks("is forgotten");
    assert!(run.err.contains(summary.as_str().unwrap()), "{run:?}");
    let hint = format!("`icm revive {id}`");
    run.err.says(&hint);
    let (_, undo) = run.err.split_once("`icm undo ").unwrap();
    let (event, _) = undo.split_once('`').unwrap();
    world.ok(format!("undo '{event}' --yes"));
    world.ok(format!("update {id} -c new"));
}

#[test]
fn withheld_is_said_once() {
    let world = World::with_memories();
    let id = world.id("owner");
    world.ok(format!("redact {id} --yes"));
    for args in ["list", format!("get {id}").as_str(), "log"] {
        let said = world.icm(args).ok().out;
        assert_eq!(said.matches("(withheld)").count(), 1, "{said}");
    }
}

#[test]
fn one_is_not_many() {
    let world = World::new();
    world.ok("store -t a -c only");
    for args in ["rebuild", "export jsonl", "replay --at @3", "verify"] {
        let run = world.icm(args).ok();
        let said = format!("{}{}", run.out, run.err);
        assert!(!said.contains("1 memories"), "{args:?}: {said}");
        assert!(!said.contains("1 events"), "{args:?}: {said}");
    }
    assert!(world.out("rebuild").contains("1 memory from 3 events"));
}

#[test]
fn help_is_a_command_too() {
    let world = World::new();
    for (asked, meant) in [
        ("help", ["--help"].as_slice()),
        ("help store", &["store", "--help"]),
        ("help log show", &["log", "show", "--help"]),
    ] {
        assert_eq!(world.icm(asked).ok().out, world.icm(meant).ok().out);
    }
    world.icm("help nonsense").ends(2);
    // `help` is special only in the place of a command.
    let world = World::with_memories();
    world.ok("store -t a -c help");
    world.ok("recall help");
}

#[test]
fn several_are_revived_at_once() {
    let world = World::with_memories();
    let (one, two) = (world.id("database"), world.id("money"));
    world.ok("forget -t decisions --yes");
    let receipts = world.json(format!("revive {one} {two}"));
    let actions: Vec<&Value> = receipts
        .as_array()
        .unwrap()
        .iter()
        .map(|r| &r["action"])
        .collect();
    assert_eq!(actions, ["revived", "revived"]);
    world.ok(format!("forget {one}"));
    let done = world.json("revive -t decisions");
    assert_eq!(done["receipts"].count(), 1);
    assert_eq!(done["receipts"][0]["id"], one.as_str());
    let none = world.icm("revive -t decisions --json").ends(1);
    assert_eq!(none.json()["receipts"], json!([]));
    // One id gives a single receipt.
    world.ok(format!("forget {two}"));
    assert_eq!(world.json(format!("revive {two}"))["action"], "revived");
    world.icm("revive").ends(2);
    world.icm(format!("revive {one} -t decisions")).ends(2);
}

#[test]
fn explanations_are_for_people() {
    let world = World::with_memories();
    let run = world.ok("recall invoices live --explain");
    assert!(!run.out.contains(['{', '"']), "{}", run.out);
    run.out
        .says("from invoices (in 1 of 3 texts), live (in 1 of 3 texts)");
    run.out.says("among 3 texts");
    let json = world.json("recall invoices --explain");
    assert!(json["explain"]["text"]["terms"].is_array(), "{json}");
    world.icm("recall xylophone --explain").ends(1);
}

#[test]
fn markdown_is_no_json() {
    let world = World::with_memories();
    let run = world.icm("export markdown --json").ends(2);
    assert_eq!(run.out, "");
    let error: Value = serde_json::from_str(&run.err).unwrap();
    assert!(error["error"]["hint"].is_string(), "{error}");
    let wrote = world.json("export markdown -o m.md");
    assert_eq!(wrote["memories"], 3);
}

#[test]
fn notes_are_json_where_answers_are() {
    let world = World::new();
    let line = br#"{"topic":"t","content":"c","colour":"red"}"#;
    let run = world.icm_with("import jsonl - --json", line).ok();
    assert_eq!(run.json()["added"], 1);
    let note: Value = serde_json::from_str(run.err.trim()).unwrap();
    note["note"].as_str().unwrap().says("colour");
}

#[test]
fn a_store_of_a_newer_format_is_explained() {
    let world = World::with_memories();
    let path = world.store().join("store.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("format = 1", "format = 99")).unwrap();
    let stats = world.ok("stats");
    stats.out.lacks("before the first write");
    stats.err.says("newer icm");
    let verify = world.icm("verify");
    verify.out.lacks(",]");
    world.fails("store -t a -c b => 2: newer icm");
}

/// Makes a world with enough events for view files.
fn with_views() -> World {
    let world = World::new();
    let lines: String = (0..520)
        .map(|n| format!("{{\"topic\":\"t\",\"content\":\"number {n}\"}}\n"))
        .collect();
    world.icm_with("import jsonl -", lines.as_bytes()).ok();
    world
}

#[cfg(unix)]
#[test]
fn views_that_cannot_be_written_are_kept_in_memory_and_that_is_said() {
    let world = with_views();
    let views = world.store().join("views");
    std::fs::remove_dir_all(&views).unwrap();
    // Not even root can make a folder below a file.
    std::fs::write(&views, "in the way").unwrap();
    let run = world.ok("recall number");
    run.err.says("the views are kept in memory for this run: ");
    run.err.lacks("os error");
    run.err.lacks("not usable");
}

#[test]
fn a_wide_terminal_and_a_narrow_one() {
    let world = World::with_memories();
    let icm = env!("CARGO_BIN_EXE_icm");
    let on_terminal = |columns: usize, args: &str| {
        let mut command = std::process::Command::new("script");
        command
            .args(["-qec", &format!("'{icm}' {args}"), "/dev/null"])
            .env("COLUMNS", columns.to_string())
            .env("NO_COLOR", "1")
            .env("HOME", world.path(""))
            .env("ICM_DB", world.store())
            .stdin(std::process::Stdio::null());
        // The machine may have no `script`.
        let output = command.output().ok()?;
        assert!(output.status.success(), "{args}: {output:?}");
        Some(String::from_utf8(output.stdout).unwrap())
    };
    for columns in [40, 80, 120] {
        for args in ["list", "log", "replay --at @5", "recall invoices", "stats"] {
            let Some(out) = on_terminal(columns, args) else {
                return;
            };
            assert!(!out.is_empty(), "{args}");
            for line in out.lines() {
                let wide = line.trim_end_matches('\r').chars().count();
                assert!(wide <= columns, "{args}: {wide} > {columns}: {line}");
            }
        }
        let list = on_terminal(columns, "list").unwrap();
        let id = world.id("owner");
        assert!(!list.contains(&id), "shortened: {list}");
        let short = list.split_whitespace().next().unwrap();
        assert!(id.starts_with(short), "{list}");
        assert_eq!(world.json(format!("get '{short}'"))["id"], id.as_str());
    }
}

#[test]
fn the_log_says_which_memory_and_what_of_it() {
    let world = World::with_memories();
    let id = world.id("money");
    world.ok(format!("update {id} -t prices -i high -k euro"));
    world.ok(format!("update {id} -k ''"));
    world.ok(format!("forget {id}"));
    let log = world.out("log -l 3");
    let lines: Vec<&str> = log.lines().collect();
    let forgotten = format!("  {id} [prices] Prices are integer cents");
    assert!(lines[0].ends_with(&forgotten), "{log}");
    assert!(
        lines[1].ends_with(&format!("{id} keywords: 1 taken away")),
        "{log}"
    );
    let expected = format!("{id} topic: prices, importance: high, keywords: +euro");
    assert!(lines[2].ends_with(&expected), "{log}");
}
