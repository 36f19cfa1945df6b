//! Exit codes and JSON shapes.

use serde_json::{Value, json};

use crate::world::{Look, Says, World, tree};

fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[track_caller]
fn has(value: &Value, names: &[&str]) {
    for name in names {
        assert!(keys(value).contains(name), "no {name} in {value}");
    }
}

#[test]
fn store_answers_with_a_receipt() {
    let world = World::new();
    let first = world.json("store -t a -c one --key k");
    has(&first, &["id", "event", "position", "action"]);
    assert_eq!(first["action"], "stored");
    assert_eq!(first["position"], 3, "the first store is @3");
    assert_eq!(first["id"].as_str().unwrap().len(), 26);
    assert_eq!(first["event"].as_str().unwrap().len(), 64);

    let again = world.json("store -t a -c one --key k");
    again.has(json!({"action": "unchanged", "id": first["id"]}));
    let changed = world.json("store -t a -c two --key k");
    changed.has(json!({"action": "updated", "id": first["id"]}));
}

#[test]
fn get_shows_everything_that_was_stored() {
    let world = World::new();
    let receipt = world.json(r#"store -t api/errors -c 'Say what to do next' -i high -k errors,wording -k style -r 'as Mira said' --scope project:shop --occurred-at 2025-02-03T11:00:00Z --source claude-code --metadata '{"ticket": 17}'"#);
    let memory = world.json(format!("get {}", receipt["id"].as_str().unwrap()));
    memory.has(json!({
        "topic": "api/errors", "content": "Say what to do next", "importance": "high",
        "keywords": ["errors", "wording", "style"], "raw_excerpt": "as Mira said",
        "scope": "project:shop", "/source/agent": "claude-code", "metadata": {"ticket": 17},
        "trust": "agent",
    }));
    memory["occurred_at"]
        .as_str()
        .unwrap()
        .begins("2025-02-03T11:00:00");
    let weight = memory["weight"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&weight), "{weight}");
    assert_eq!(memory["forgotten"], false);
}

#[test]
fn a_prefix_of_an_id_is_enough_where_it_fits_one() {
    let world = World::new();
    let receipt = world.json("store -t a -c one");
    let id = receipt["id"].as_str().unwrap();
    assert_eq!(world.json(format!("get {}", &id[..12]))["id"], id);
}

#[test]
fn the_author_comes_from_the_environment() {
    let world = World::new();
    std::fs::create_dir(world.path(".git")).unwrap();
    let mut command = world.command("store -t a -c b --json");
    command
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", "session-7");
    let receipt = crate::world::run(&mut command, b"").ok().json();
    let memory = world.json(format!("get {}", receipt["id"].as_str().unwrap()));
    memory.has(json!({
        "/source/session": "session-7", "/source/project": "work",
        "/source/client": concat!("icm-cli/", env!("CARGO_PKG_VERSION")), "trust": "agent",
        "scope": "global",
    }));
    let log = world.ok("log --json --kind memory.stored");
    assert_eq!(log.json_lines()[0]["actor"], "agent:claude-code");

    let mut command = world.command("store -t a -c c");
    command.env("ICM_ACTOR", "mira").env("CLAUDECODE", "1");
    crate::world::run(&mut command, b"").ok();
    let log = world.ok("log --json -l 1");
    assert_eq!(log.json_lines()[0]["actor"], "mira");
}

#[test]
fn recall_finds_and_says_at_what_basis() {
    let world = World::with_memories();
    let answer = world.json("recall where do invoices live");
    has(&answer["basis"], &["position", "event", "at"]);
    let hit = &answer["results"][0];
    has(
        hit,
        &[
            "id",
            "key",
            "score",
            "topic",
            "content",
            "importance",
            "weight",
            "keywords",
            "created_at",
            "updated_at",
            "occurred_at",
        ],
    );
    assert_eq!(hit["content"], "Invoices live in PostgreSQL");

    let people = world.json("recall 'owns billing' -t people -l 1");
    assert_eq!(people["results"].count(), 1);
}

#[test]
fn a_recall_is_recorded_unless_told_otherwise() {
    let world = World::with_memories();
    let count = || {
        let run = world.ok("log --json --kind memory.recalled");
        run.json_lines().len()
    };
    world.ok("recall invoices --no-record");
    assert_eq!(count(), 0);
    world.ok("recall invoices");
    assert_eq!(count(), 1);
    let config = world.write("quiet.toml", "[recall]\nrecord = false\n");
    let mut command = world.command("recall invoices");
    command.env("ICM_CONFIG", config);
    crate::world::run(&mut command, b"").ok();
    assert_eq!(count(), 1);
}

#[test]
fn an_answer_of_no_is_1_and_keeps_its_shape() {
    let world = World::with_memories();
    let run = world.icm("recall xylophone --json").ends(1);
    has(&run.json(), &["basis", "results"]);
    assert_eq!(run.json()["results"], json!([]));
    let run = world.icm("recall xylophone").ends(1);
    assert_eq!(run.out, "");

    let unknown = "01JZZZZZZZZZZZZZZZZZZZZZZZ";
    world.icm(format!("get '{unknown}'")).fails(1, unknown);
    let run = world.icm(format!("get '{unknown}' --json")).ends(1);
    assert_eq!(run.json(), Value::Null);
    let error: Value = serde_json::from_str(&run.err).unwrap();
    has(&error["error"], &["message", "hint"]);
    let run = world.icm(format!("history '{unknown}' --json")).ends(1);
    assert_eq!(run.json(), json!([]));
    world
        .icm(format!("update '{unknown}' -c x"))
        .fails(1, unknown);
    world.icm(format!("forget '{unknown}'")).fails(1, unknown);
    world.icm(format!("revive '{unknown}'")).fails(1, unknown);
    world.fails("log show @9999 => 1: 9999");
}

#[test]
fn an_absent_store_is_empty_and_reading_does_not_create_it() {
    let world = World::new();
    assert_eq!(world.json("list"), json!([]));
    assert_eq!(world.json("topics"), json!([]));
    assert_eq!(world.json("log heads"), json!([]));
    assert_eq!(world.out("log --json"), "");
    assert_eq!(world.out("export jsonl"), "");
    let stats = world.json("stats");
    has(
        &stats,
        &[
            "memories",
            "forgotten",
            "topics",
            "concepts",
            "events",
            "bytes",
        ],
    );
    assert_eq!(stats["events"], 0);
    let run = world.icm("recall anything --json").ends(1);
    assert_eq!(run.json()["results"], json!([]));
    assert_eq!(world.json("verify")["ok"], true);
    assert!(!world.store().exists(), "reading has created the store");
}

#[test]
fn update_changes_what_is_named() {
    let world = World::with_memories();
    let id = world.id("database");
    world.ok(format!("update {id} -i critical -k 'billing, sql'"));
    let memory = world.json(format!("get {id}"));
    assert_eq!(memory["content"], "Invoices live in PostgreSQL");
    memory.has(json!({"importance": "critical", "keywords": ["billing", "sql"]}));
    let receipt = world.json(format!("update {id} -k '' -t storage"));
    assert_eq!(receipt["action"], "updated");
    let memory = world.json(format!("get {id}"));
    memory.has(json!({"keywords": [], "topic": "storage"}));

    let run = world
        .icm_with(format!("update {id} -c -"), b"From stdin\n")
        .ok();
    run.out.begins("updated ");
    assert_eq!(world.json(format!("get {id}"))["content"], "From stdin");
    world.fails(format!("update {id} => 2: nothing to change"));
}

#[test]
fn forget_and_revive() {
    let world = World::with_memories();
    let id = world.id("owner");
    let receipts = world.json(format!("forget {id}"));
    assert_eq!(receipts.count(), 1);
    assert_eq!(receipts[0]["id"], id.as_str());
    world.icm("recall Mira").ends(1);
    assert_eq!(world.count("list"), 2);
    let all = world.json("list --forgotten");
    assert_eq!(all.count(), 3);
    world.ok(format!("revive {id}"));
    world.icm("forget").ends(2);
    world.icm(format!("forget {id} --topic people")).ends(2);
    world.ok("recall Mira");
}

#[test]
fn forgetting_a_topic_has_to_be_confirmed() {
    let world = World::with_memories();
    let run = world.fails("forget --topic decisions => 2: has to be confirmed");
    run.err.says("--yes");
    run.err.says("Prices are integer cents");
    assert_eq!(world.count("list"), 3);
    let done = world.json("forget --topic decisions --yes");
    let receipts = done["receipts"].as_array().unwrap();
    assert_eq!((&done["memories"], receipts.len()), (&json!(2), 2));
    // The events are one batch: the log has both or none.
    for (index, receipt) in receipts.iter().enumerate() {
        let event = receipt["event"].as_str().unwrap();
        assert_eq!(
            world.json(format!("log show '{event}'"))["batch"],
            json!([index, 2])
        );
    }
    assert_eq!(done["event"], receipts[1]["event"]);
    assert_eq!(world.count("list"), 1);
    let run = world.icm("forget --topic decisions --yes --json").ends(1);
    assert_eq!(
        (&run.json()["memories"], &run.json()["receipts"]),
        (&json!(0), &json!([]))
    );
    let back = world.json("revive --topic decisions");
    assert_eq!(back["receipts"].count(), 2);
    assert_eq!(back["receipts"][0]["action"], "revived");
    assert_eq!(world.count("list"), 3);
    let run = world.icm("revive --topic decisions --json").ends(1);
    assert_eq!(run.json()["memories"], 0);
}

#[test]
fn list_is_cut_and_sorted() {
    let world = World::with_memories();
    let newest = world.json("list -l 1");
    assert_eq!(newest.count(), 1);
    assert_eq!(newest[0]["key"], "owner");
    for sort in ["weight", "created", "accessed"] {
        let list = world.json(format!("list --sort '{sort}'"));
        assert_eq!(list.count(), 3, "{sort}");
    }
    assert_eq!(world.count("list -t decisions"), 2);
    world.icm("list --all -l 2").ends(2);
}

#[test]
fn topics_and_stats_count() {
    let world = World::with_memories();
    let topics = world.json("topics");
    topics[0].has(json!({"topic": "decisions", "memories": 2}));
    let stats = world.json("stats");
    stats.has(json!({"memories": 3, "topics": 2}));
    assert!(stats["positions"].as_u64().unwrap() >= 5);
    let run = world.ok("stats");
    run.out.says("memories");
}

#[test]
fn log_is_one_object_a_line_newest_first() {
    let world = World::with_memories();
    let run = world.ok("log --json");
    let events = run.json_lines();
    assert_eq!(events.len(), 5, "origin, actor and three memories");
    has(
        &events[0],
        &["position", "event", "kind", "at", "origin", "seq", "actor"],
    );
    assert_eq!(events[0]["position"], 5);
    assert_eq!(events[4]["kind"], "log.origin_started");
    let reversed = world.ok("log --json --reverse -l 1");
    assert_eq!(reversed.json_lines()[0]["position"], 1);
    let stored = world.ok("log --json --kind memory");
    assert_eq!(stored.json_lines().len(), 3);
    let people = world.ok("log --json -t people");
    assert_eq!(people.json_lines().len(), 1);

    let shown = world.json(format!("log show {}", events[0]["event"].as_str().unwrap()));
    has(&shown, &["event", "kind", "prev", "refs", "commitment"]);
    assert_eq!(world.json("log show @5")["event"], shown["event"]);
}

#[test]
fn flags_of_all_commands_go_before_and_after_a_subcommand() {
    let world = World::with_memories();
    for args in ["log --json heads", "--json log heads", "log heads --json"] {
        world.icm(args).ok().json();
    }
    world.fails("log -l 2 heads => 2: filters");
}

#[test]
fn verify_and_heads_prove_the_history() {
    let world = World::with_memories();
    let report = world.json("verify");
    has(
        &report,
        &[
            "ok",
            "events",
            "positions",
            "origins",
            "state_hash",
            "missing_bodies",
            "findings",
        ],
    );
    report.has(json!({"ok": true, "events": 5}));
    has(&report["origins"][0], &["origin", "seq", "head"]);

    let heads = world.write("heads.txt", world.out("log heads"));
    world.ok("store -t a -c later");
    let expect =
        |path: &std::path::Path| world.icm(format!("log verify --expect '{}'", path.display()));
    expect(&heads).ok();
    // Another store cannot have the same history.
    let other = World::with_memories().out("log heads");
    let other = world.write("other.txt", other);
    assert_eq!(expect(&other).code, 3);
    expect(&world.path("nowhere.txt")).fails(2, "nowhere.txt");
}

#[test]
fn rebuild_gives_the_same_state() {
    let world = World::with_memories();
    let before = world.json("verify")["state_hash"].clone();
    let report = world.json("rebuild");
    report.has(json!({"state_hash": before, "memories": 3}));
    std::fs::remove_dir_all(world.store().join("views")).unwrap();
    assert_eq!(world.json("verify")["state_hash"], before);
    assert_eq!(
        world.json("recall invoices")["results"][0]["key"],
        "database"
    );
}

#[test]
fn history_shows_every_version() {
    let world = World::with_memories();
    let id = world.id("money");
    world.ok(format!(
        "update {id} -c 'Prices are integers and a currency'"
    ));
    let versions = world.json(format!("history {id}"));
    let versions = versions.as_array().unwrap();
    assert_eq!(versions.len(), 2);
    assert_eq!(versions[0]["memory"]["content"], "Prices are integer cents");
    assert_eq!(versions[1]["kind"], "memory.updated");
    let run = world.ok(format!("history {id}"));
    run.out.says("Prices are integer cents");
    run.out.says("a currency");
}

#[test]
fn a_request_id_stores_once() {
    let world = World::new();
    let store =
        |content: &str| world.icm(format!("store -t a -c '{content}' --request-id r-1 --json"));
    let first = store("one").ok().json();
    assert_eq!(store("one").ok().json()["event"], first["event"]);
    let conflict = store("two").ends(2);
    conflict.err.says("r-1");
    assert_eq!(world.json("stats")["memories"], 1);
}

#[test]
fn quiet_leaves_data_and_errors() {
    let world = World::with_memories();
    let run = world.ok("recall invoices -q");
    run.out.says("Invoices live");
    assert_eq!(run.err, "");
    world.fails("get nope -q => 1: nope");
}

#[test]
fn damage_is_3_and_named() {
    let world = World::with_memories();
    let segments: Vec<_> = tree(&world.store().join("log"));
    assert_eq!(segments.len(), 1);
    let (path, mut bytes) = segments[0].clone();
    let word = b"Prices are integer cents";
    let at = bytes.windows(word.len()).position(|w| w == word).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();

    for args in ["verify --json", "log verify --json"] {
        let report = world.icm(args).ends(3).json();
        assert_eq!(report["ok"], false);
        has(
            &report["findings"][0],
            &["code", "severity", "message", "file", "seq"],
        );
    }
    let run = world.icm("verify").ends(3);
    run.out.says("not ok");
    // Undamaged events are still found.
    world.ok("recall invoices");
}
