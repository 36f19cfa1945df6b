//! `icm why`: the origin of a memory, its changes, and the recalls that showed it.

use serde_json::{Value, json};

use crate::world::{Look, Says, World, run};

/// Makes a memory that two sessions changed and three recalls showed.
fn told() -> (World, String) {
    let world = World::with_memories();
    let id = world.id("database");
    world.ok("recall invoices");
    let mut command = world.command(format!("update {id} -c 'Invoices live in MySQL' -i high"));
    command.env("ICM_ACTOR", "mira").env("ICM_SESSION", "night");
    run(&mut command, b"").ok();
    let mut command = world.command("recall 'where do invoices live'");
    command.env("CLAUDECODE", "1").env("ICM_SESSION", "day");
    run(&mut command, b"").ok();
    world.icm("recall 'nothing of the kind'").ends(1);
    world.ok("recall 'billing live cents'");
    (world, id)
}

fn positions(list: &Value) -> Vec<u64> {
    let list = list.as_array().unwrap();
    list.iter()
        .map(|item| item["position"].as_u64().unwrap())
        .collect()
}

#[test]
fn it_tells_who_wrote_the_text_of_today() {
    let world = World::new();
    let id = world.stored("-t ports -c 'The server listens on port 8080'");
    let first = world.out(format!("get {id}"));
    first.says("written by  user\n");
    first.lacks("made by");
    let mut command = world.command(format!("update {id} -c 'The server listens on port 9090'"));
    run(command.env("CLAUDECODE", "1"), b"").ok();
    let shown = world.out(format!("get {id}"));
    shown.says("trust       agent\n");
    shown.says("written by  agent:claude-code (trust agent), ");
    shown.says("made by     user (trust user), ");
    let why = world.out(format!("why {id}"));
    why.says("  text by  agent:claude-code (trust agent), ");
    why.says("  made by  user (trust user), ");
    world.json(format!("why {id}")).has(json!({
        "/memory/authors/text/actor": "agent:claude-code", "/memory/authors/text/trust": "agent",
        "/memory/authors/first/actor": "user", "/from/actor": "user",
    }));
}

#[test]
fn it_tells_source_events_and_recalls() {
    let (world, id) = told();
    let why = world.json(format!("why {}", &id[..14]));
    why.has(json!({
        "/memory/id": id, "/memory/content": "Invoices live in MySQL", "/from/actor": "user",
        "/from/client": concat!("icm-cli/", env!("CARGO_PKG_VERSION")),
    }));
    assert!(why["from"].get("consolidated").is_none(), "{why}");

    let events = &why["events"];
    assert_eq!(events.count(), 2, "{why}");
    events.has(json!({
        "/0/kind": "memory.stored", "/0/session": null, "/1/kind": "memory.updated",
        "/1/actor": "mira", "/1/changed": ["content", "importance"],
    }));
    assert!(events[1]["session"].is_string(), "{why}");
    let shown = world.json(format!("log show {}", events[1]["event"].as_str().unwrap()));
    shown.has(json!({"position": events[1]["position"], "session": events[1]["session"]}));

    assert_eq!(why["recalls_total"], 3);
    let recalls = why["recalls"].as_array().unwrap();
    let queries: Vec<_> = recalls.iter().map(|recall| &recall["query"]).collect();
    assert_eq!(
        queries,
        ["billing live cents", "where do invoices live", "invoices"]
    );
    recalls[1].has(json!({"actor": "agent:claude-code", "rank": 1}));
    assert!(recalls[1]["session"].is_string(), "{why}");
    for recall in recalls {
        let shown = world.json(format!("log show {}", recall["event"].as_str().unwrap()));
        shown.has(json!({"kind": "memory.recalled", "position": recall["position"]}));
        let results = shown["facts"]["results"].as_array().unwrap();
        let result = results.iter().find(|result| result["id"] == id).unwrap();
        assert_eq!(result["rank"], recall["rank"]);
    }
}

#[test]
fn the_source_of_a_memory_is_one_event() {
    let world = World::new();
    let store = |actor: &str, session: &str| {
        let mut command = world.command(format!("store -t t --key k -c '{actor}'"));
        command.env("ICM_ACTOR", actor).env("ICM_SESSION", session);
        run(&mut command, b"").ok();
    };
    store("alice", "s-a");
    world.ok("undo --last 1 --yes");
    let undo = world.now();
    store("bob", "s-b");
    let id = world.json("list")[0]["id"].as_str().unwrap().to_owned();
    let from = world.json(format!("why {id}"))["from"].clone();
    from.has(json!({"actor": "bob", "session": "s-b"}));
    world.ok(format!("undo '{undo}' --yes"));
    let from = world.json(format!("why {id}"))["from"].clone();
    from.has(json!({"actor": "alice", "session": "s-a"}));
}

#[test]
fn views_on_disk_say_the_same() {
    let (world, id) = told();
    let before = world.json(format!("why {id}"));
    world.ok("rebuild");
    assert_eq!(world.json(format!("why {id}")), before);
    world.ok("recall MySQL");
    let after = world.json(format!("why {id}"));
    assert_eq!(after["recalls_total"], 4);
    assert_eq!(
        positions(&after["recalls"])[1..],
        positions(&before["recalls"])
    );
}

#[test]
fn the_newest_recalls_unless_told_otherwise() {
    let world = World::with_memories();
    let id = world.id("database");
    for _ in 0..22 {
        world.ok("recall invoices");
    }
    let all = world.json(format!("why {id} --all"));
    assert_eq!(all["recalls_total"], 22);
    let all = positions(&all["recalls"]);
    assert_eq!(all.len(), 22);
    assert!(all.is_sorted_by(|a, b| a > b), "{all:?}");
    let few = world.json(format!("why {id}"));
    assert_eq!(few["recalls_total"], 22);
    assert_eq!(positions(&few["recalls"]), all[..20]);
    let two = world.json(format!("why {id} -l 2"));
    assert_eq!(positions(&two["recalls"]), all[..2]);

    let run = world.ok(format!("why {id}"));
    assert_eq!(run.out.matches("\"invoices\"").count(), 20, "{run:#?}");
    run.err.says("the newest 20 of 22 recalls are shown");
    world.icm(format!("why {id} -l 0")).ends(2);
    world.icm(format!("why {id} -l 2 --all")).ends(2);
}

#[test]
fn people_read_it_in_columns() {
    let (world, id) = told();
    let why = world.out(format!("why {id}"));
    let lines: Vec<&str> = why.lines().collect();
    assert_eq!(lines[1], "  │ Invoices live in MySQL");
    assert_eq!(lines[2], "from");
    assert!(
        lines[3].starts_with("  text by  mira (trust user)"),
        "{why}"
    );
    let column = |row: &str, word: &str| row.find(word).expect(word);
    let at = lines.iter().position(|line| *line == "events").unwrap();
    assert_eq!(
        column(lines[at + 1], "memory.stored"),
        column(lines[at + 2], "memory.updated")
    );
    assert!(lines[at + 2].ends_with("content, importance"), "{why}");
    let at = lines.iter().position(|line| *line == "shown by").unwrap();
    assert_eq!(column(lines[at + 1], "rank"), column(lines[at + 2], "rank"));
    assert!(lines[at + 2].contains("rank 1  agent:claude-code"), "{why}");
    assert!(
        lines[at + 2].ends_with("\"where do invoices live\""),
        "{why}"
    );
    assert_eq!(lines.len(), at + 4, "{why}");
    // Absent fields are not shown.
    let other = world.out(format!("why {}", world.id("owner")));
    other.lacks("file");
}

#[test]
fn a_memory_that_nobody_was_shown() {
    let world = World::with_memories();
    let id = world.id("owner");
    let why = world.json(format!("why {id}"));
    why.has(json!({"recalls": [], "recalls_total": 0}));
    let run = world.ok(format!("why {id}"));
    run.out.finishes("no recall has shown it\n");
}

#[test]
fn no_such_memory() {
    let world = World::with_memories();
    world.fails("why zzzz => 1: no memory zzzz");
    let run = world.icm("why zzzz --json").ends(1);
    assert_eq!(run.out, "null\n");
    world.icm("why ''").ends(2);
}

#[test]
fn questions_are_cleaned_for_a_terminal() {
    let world = World::with_memories();
    let id = world.id("database");
    world.ok("recall 'invoices \u{1b}[31m\u{202e}red'");
    let out = world.out(format!("why {id}"));
    assert!(
        !out.contains('\u{1b}') && !out.contains('\u{202e}'),
        "{out}"
    );
    out.says("invoices");
}

/// The source is the file's name without folders, unless the line names another source.
#[test]
fn an_import_is_from_its_file() {
    let world = World::new();
    let lines = "{\"topic\":\"t\",\"key\":\"a\",\"content\":\"one\"}\n\
                 {\"topic\":\"t\",\"key\":\"b\",\"content\":\"two\",\"source\":{\"file\":\"other.md\"}}\n";
    let path = world.write("notes.jsonl", lines);
    world.ok(format!("import jsonl '{}'", path.display()));
    let third = "{\"topic\":\"t\",\"key\":\"c\",\"content\":\"three\"}";
    world.icm_with("import jsonl -", third.as_bytes()).ok();
    let file = |key: &str| world.json(format!("why {}", world.id(key)))["from"]["file"].clone();
    assert_eq!(file("a"), "notes.jsonl");
    assert_eq!(file("b"), "other.md");
    assert_eq!(file("c"), serde_json::Value::Null);
}
