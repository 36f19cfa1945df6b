//! Formats for people and other programs: CloudEvents, and Markdown that can be imported again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::exchange::carry;
use crate::world::{Args, Look, Says, World, tree};

/// Checks the rules of CloudEvents 1.0 for events in JSON.
fn check_cloudevent(event: &Value) {
    let attributes = event.as_object().unwrap();
    for (name, value) in attributes {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        assert!(
            !name.is_empty() && name.len() <= 20 && name.chars().all(plain),
            "{name}"
        );
        if name == "data" {
            continue;
        }
        let text = value.as_str().unwrap_or_else(|| panic!("{name}: {value}"));
        assert!(!text.is_empty(), "{name}");
        assert!(!text.chars().any(char::is_control), "{name}: {text:?}");
    }
    let text = |name: &str| attributes[name].as_str().unwrap();
    assert_eq!(text("specversion"), "1.0");
    assert_eq!(text("id").len(), 64);
    let origin = text("source").strip_prefix("icm://origin/").unwrap();
    assert!(
        origin.len() == 32 && origin.chars().all(|c| c.is_ascii_hexdigit()),
        "{event}"
    );
    assert!(
        text("type").starts_with("icm.") && text("type").ends_with(".v1"),
        "{event}"
    );
    text("time").parse::<jiff::Timestamp>().unwrap();
    assert!(text("time").ends_with('Z') && text("time").contains('T'));
    assert_eq!(text("datacontenttype"), "application/json");
    assert!(event["data"]["facts"].is_object() || event["data"]["facts"].is_null());
}

fn cloudevents(world: &World, db: &str, more: impl Args) -> Vec<Value> {
    let args = ("log export --format cloudevents -", more);
    let run = world.at(db).ok(args);
    let events = run.json_lines();
    for (event, line) in events.iter().zip(run.out.lines()) {
        check_cloudevent(event);
        line.begins(r#"{"specversion":"1.0","id":""#);
    }
    let both: BTreeSet<_> = events
        .iter()
        .map(|it| (it["source"].as_str(), it["id"].as_str()))
        .collect();
    assert_eq!(
        both.len(),
        events.len(),
        "source and id are unique together"
    );
    events
}

#[test]
fn every_event_is_a_cloudevent() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    let odd = world
        .command("store -t t -c 'a secret plan' --key k --db a")
        .env("ICM_ACTOR", "agent:näme")
        .env("ICM_SESSION", "s1")
        .output()
        .unwrap();
    assert!(odd.status.success());
    b.ok("store -t t -c 'of another machine'");
    carry(&world, "b", "a");
    a.ok("recall machine");
    let id = a.json("list --all")[0]["id"].as_str().unwrap().to_owned();
    a.ok(format!("update {id} -i high"));
    a.ok("undo --last 1 --yes");

    let events = cloudevents(&world, "a", "");
    let log = a.ok("log --json --reverse").json_lines();
    assert_eq!(events.len(), log.len());
    assert!(events.len() > 8);
    for (event, entry) in events.iter().zip(&log) {
        event.has(json!({
            "id": entry["event"], "position": entry["position"].to_string(), "time": entry["at"],
            "type": format!("icm.{}.v1", entry["kind"].as_str().unwrap()),
            "sequence": format!("{:020}", entry["seq"].as_u64().unwrap()),
        }));
        assert_eq!(
            event.get("subject"),
            Some(&entry["subject"]).filter(|it| !it.is_null())
        );
        assert_eq!(event["actor"], entry["actor"]);
        for part in ["facts", "payload", "body"] {
            assert_eq!(event["data"][part], entry[part], "{part}");
        }
    }
    let sources: BTreeSet<_> = events
        .iter()
        .map(|it| it["source"].as_str().unwrap())
        .collect();
    assert_eq!(sources.len(), 2);
    let stored = events
        .iter()
        .find(|it| it["data"]["payload"]["content"] == "a secret plan")
        .unwrap();
    assert_eq!(stored["actor"], "agent:näme");
    assert!(stored["session"].is_string());
    let undone = events
        .iter()
        .find(|it| it["type"] == "icm.log.undone.v1")
        .unwrap();
    assert_eq!(undone["data"]["refs"].count(), 1);

    // Withheld events are marked.
    a.ok(format!(
        "redact {} --yes",
        stored["subject"].as_str().unwrap()
    ));
    let events = cloudevents(&world, "a", "");
    let again = events.iter().find(|it| it["id"] == stored["id"]).unwrap();
    again["data"].has(json!({"payload": null, "body": "withheld"}));
    assert!(
        !events
            .iter()
            .any(|it| it.to_string().contains("secret plan"))
    );
}

#[test]
fn cloudevents_since_are_those_of_a_bundle() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    a.ok("store -t t -c one");
    carry(&world, "a", "b");
    let heads = b.out("log heads");
    std::fs::write(world.path("heads.txt"), heads).unwrap();
    a.ok("store -t t -c two");
    for since in ["heads.txt", "@3"] {
        let events = cloudevents(&world, "a", format!("--since {since}"));
        assert_eq!(events.len(), 1, "{since}");
        assert_eq!(events[0]["data"]["payload"]["content"], "two");
    }
    assert_eq!(cloudevents(&world, "a", "--since @4").len(), 0);

    let told = a.json("log export --format cloudevents e.jsonl");
    let bundle = a.json("log export e.icmx");
    assert_eq!(told["events"], bundle["events"]);
    let file = std::fs::read(world.path("e.jsonl")).unwrap();
    assert_eq!(told["bytes"], file.len());

    // CloudEvents cannot be imported.
    for run in [
        b.icm("log import e.jsonl"),
        world.icm_with("log import - --db b", &file),
    ] {
        run.fails(2, "CloudEvents");
    }
}

#[test]
fn cloudevents_of_a_damaged_log_say_what_they_lack() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    for n in 0..3 {
        b.ok(format!("store -t t -c 'number {n}'"));
    }
    a.ok("store -t t -c own");
    carry(&world, "b", "a");
    let all = cloudevents(&world, "a", "").len();
    let break_at = |db: &str, text: &[u8]| {
        let segment = |(path, bytes): (std::path::PathBuf, Vec<u8>)| {
            let at = bytes.windows(text.len()).position(|it| it == text)?;
            path.extension()
                .is_some_and(|it| it == "icmlog")
                .then_some((path, bytes, at))
        };
        let (path, mut bytes, at) = tree(&world.path(db)).into_iter().find_map(segment).unwrap();
        bytes[at - 200] ^= 1;
        std::fs::write(path, bytes).unwrap();
    };
    break_at("a", b"number 1");
    for file in ["e.jsonl", "-"] {
        let run = a.icm(format!("log export --format cloudevents '{file}'"));
        assert_eq!(run.code, 3, "{run:?}");
        run.err.says("left out: the events of");
    }
    let left = std::fs::read_to_string(world.path("e.jsonl")).unwrap();
    assert_eq!(left.lines().count(), all - 2);
    // With damage in the own chain, nothing is written.
    a.ok("store -t t -c 'own again'");
    a.ok("store -t t -c 'and again'");
    break_at("a", b"own again");
    std::fs::remove_file(world.path("e.jsonl")).unwrap();
    let run = a.icm("log export --format cloudevents e.jsonl");
    let bundle = a.icm("log export e.icmx");
    assert_eq!((run.code, bundle.code), (3, 3), "{run:?} {bundle:?}");
    assert!(!world.path("e.jsonl").exists());
}

/// Returns a memory without the fields that each store assigns.
fn essence(memory: &Value) -> Value {
    let mut memory = memory.clone();
    for own in [
        "id",
        "created_at",
        "updated_at",
        "last_accessed",
        "access_count",
        "weight",
    ] {
        memory.as_object_mut().unwrap().remove(own);
    }
    memory
}

fn memories(world: &World, db: &str) -> BTreeSet<String> {
    let list = world.at(db).json("list --all");
    list.as_array()
        .unwrap()
        .iter()
        .map(|it| essence(it).to_string())
        .collect()
}

const ODD: [&str; 8] = [
    "---\ntopic: other\n---\n\n# decisions\n",
    "```\n***\n<!-- icm\nkey: x\n-->\n```",
    "\n\n  empty lines before, spaces after  \n\n",
    "CR LF\r\nand CR\r",
    "\\***\n\\\\***\n\\<!-- icm\n-->",
    "é — 😀 \u{2028}\u{85} \u{200b}",
    "# decisions",
    " \tindented\n\tand so on ",
];

fn odd_store(world: &World) {
    let a = world.at("a");
    let mut lines = String::new();
    for (nth, text) in ODD.iter().enumerate() {
        let topic = ["decisions", "Decisions", "a/b", "con", "..", "x y: \"z\" #"][nth % 6];
        let mut line = json!({ "topic": topic, "content": text });
        if nth % 2 == 0 {
            line["key"] = json!(format!("key {nth}: \"{nth}\""));
            line["trust"] = json!("user");
        } else {
            line["scope"] = json!("project:p/q");
            line["metadata"] = json!({"a": [1, null, -2.5, "-->"], "b\n": {"c": true}});
            line["occurred_at"] = json!("2026-03-01T00:00:00.123Z");
            line["raw_excerpt"] = json!(text);
            line["keywords"] = json!(["null", "a, b", "1e5"]);
            line["importance"] = json!("critical");
            line["source"] = json!({"agent": "x", "file": "y: z"});
        }
        lines.push_str(&format!("{line}\n"));
    }
    // The same text twice, without a key.
    lines.push_str(
        "{\"topic\":\"twice\",\"content\":\"same\"}\n{\"topic\":\"twice\",\"content\":\"same\"}\n",
    );
    let run = world.icm_with("import jsonl - --json --db a", lines.as_bytes());
    assert_eq!(run.ok().json()["added"], ODD.len() + 2);
    a.ok("store -t people -c 'Mira owns billing' -k b,a");
}

#[test]
fn a_folder_of_markdown_comes_back_byte_for_byte() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    odd_store(&world);
    let wrote = a.json("export markdown -o notes");
    wrote.has(json!({"memories": 11, "files": 8, "others": 0}));
    let files: Vec<_> = tree(&world.path("notes"))
        .into_iter()
        .map(|(path, _)| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert!(
        files.contains(&"decisions.md".to_owned()) && files.contains(&"a.b.md".to_owned()),
        "{files:?}"
    );
    assert!(
        files.iter().any(|it| it.starts_with("decisions-")),
        "{files:?}"
    );

    a.ok("export markdown -o all.md");
    let out = a.out("export markdown");
    assert_eq!(std::fs::read_to_string(world.path("all.md")).unwrap(), out);
    a.ok("export jsonl -o all.jsonl");
    for (db, format, from) in [
        ("b", "markdown", "notes"),
        ("c", "markdown", "all.md"),
        ("d", "jsonl", "all.jsonl"),
    ] {
        let report = world.at(db).json(format!("import '{format}' '{from}'"));
        assert_eq!(
            (&report["added"], &report["rejected"]),
            (&json!(11), &json!([])),
            "{from}"
        );
        assert_eq!(memories(&world, db), memories(&world, "a"), "{from}");
        // A second import changes nothing, neither there nor in the source.
        for db in [db, "a"] {
            let before = world.at(db).json("stats")["positions"].clone();
            let report = world.at(db).json(format!("import '{format}' '{from}'"));
            assert_eq!(
                (&report["unchanged"], &report["added"]),
                (&json!(11), &json!(0)),
                "{db} {from}"
            );
            assert_eq!(world.at(db).json("stats")["positions"], before);
        }
        // The second export equals the first, except for ids and times.
    }
    let contents = b.json("list --all").texts("content");
    for text in ODD {
        assert!(contents.iter().any(|it| it == text), "{text:?}");
    }
}

/// A memory that was moved, changed or has no key is recognised by the store that exported it.
#[test]
fn the_own_export_of_a_store_is_not_new_to_it() {
    let world = World::new();
    let a = world.at("a");
    let id = a.json("store -t old --key k -c moved")["id"].clone();
    a.ok(format!("update {} -t new", id.as_str().unwrap()));
    world
        .icm_with(
            "import jsonl - --db a",
            b"{\"topic\":\"t\",\"content\":\"first\"}\n",
        )
        .ok();
    let list = a.json("list -t t");
    a.ok(format!(
        "update {} -c second",
        list[0]["id"].as_str().unwrap()
    ));
    for format in ["jsonl", "markdown"] {
        let out = a.out(format!("export '{format}'"));
        let report = world
            .icm_with(format!("import '{format}' - --db a --json"), out.as_bytes())
            .ok()
            .json();
        assert_eq!(
            (&report["unchanged"], &report["added"], &report["updated"]),
            (&json!(2), &json!(0), &json!(0)),
            "{format}"
        );
    }
}

#[test]
fn a_file_that_was_edited_is_an_update() {
    let world = World::new();
    let [a, b] = ["a", "b"].map(|db| world.at(db));
    a.ok("store -t decisions --key db -c PostgreSQL -i high");
    a.ok("store -t decisions -c 'Cents, not floats'");
    a.ok("export markdown -o notes");
    let path = world.path("notes/decisions.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let edited = text
        .replace("\nPostgreSQL\n", "\nMySQL,\r\n  now  \r\n\r\n")
        .replace("Cents, not", "Cents and no")
        + "\n***\n\nA new one\n\n***\n<!-- icm\nimportance: huge\n-->\nnot so\n\n***\nAnd another\n";
    std::fs::write(&path, &edited).unwrap();
    let run = a.icm("import markdown notes --json").ends(1);
    let report = run.json();
    report.has(json!({"updated": 2, "added": 2}));
    let rejected = report["rejected"].as_array().unwrap();
    assert_eq!(rejected.len(), 1);
    let line = edited
        .lines()
        .position(|it| it == "importance: huge")
        .unwrap() as u64;
    assert_eq!(
        rejected[0]["line"], line,
        "the line that the fields begin at"
    );
    assert!(
        rejected[0]["file"]
            .as_str()
            .unwrap()
            .ends_with("decisions.md"),
        "{report}"
    );
    assert!(
        rejected[0]["why"].as_str().unwrap().contains("huge"),
        "{report}"
    );
    let list = a.json("list --all");
    let contents: BTreeMap<String, Value> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["content"].as_str().unwrap().to_owned(), it.clone()))
        .collect();
    let all: Vec<&str> = contents.keys().map(String::as_str).collect();
    assert_eq!(
        all,
        [
            "A new one",
            "And another",
            "Cents and no floats",
            "MySQL,\n  now  "
        ]
    );
    assert_eq!(contents["A new one"]["source"]["file"], "decisions.md");
    assert_eq!(contents["MySQL,\n  now  "]["importance"], "high");

    // A copied section does not become a memory while it has the id of the original.
    let twice = text.clone() + &text[text.find("<!-- icm").unwrap()..];
    std::fs::write(&path, twice).unwrap();
    let run = b.icm("import markdown notes --json").ends(1);
    assert_eq!(
        run.json()["rejected"].as_array().map(Vec::len),
        Some(2),
        "{run:?}"
    );
}

#[test]
fn folders_and_what_is_no_markdown() {
    let world = World::new();
    std::fs::create_dir_all(world.path("vault/deep/.hidden")).unwrap();
    for (name, text) in [
        ("vault/a.md", "---\ntopic: a\n---\none"),
        ("vault/deep/b.MD", "---\ntopic: b\n---\ntwo"),
        ("vault/deep/c.txt", "---\ntopic: c\n---\nthree"),
        ("vault/deep/.hidden/d.md", "---\ntopic: d\n---\nfour"),
        ("vault/e.md", "no topic"),
    ] {
        world.write(name, text);
    }
    let run = world.icm("import markdown vault --json").ends(1);
    let report = run.json();
    assert_eq!(report["added"], 2, "{report}");
    report["rejected"][0]["why"]
        .as_str()
        .unwrap()
        .says("topic: NAME");
    world.fails("import markdown vault/deep/.hidden/none => 2: none");
    std::fs::create_dir(world.path("empty")).unwrap();
    world.fails("import markdown empty => 2: no Markdown file");
    // No file is written into the store's folder.
    let inside = world.store().join("notes");
    world
        .icm(format!("export markdown -o '{}'", inside.display()))
        .fails(2, "in the store");
    assert!(!inside.exists());
    // Other files in the folder are kept and counted.
    let wrote = world.json("export markdown -o vault");
    wrote.has(json!({"files": 2, "others": 1}));
    assert_eq!(
        std::fs::read_to_string(world.path("vault/e.md")).unwrap(),
        "no topic"
    );
    world.icm("export markdown -o vault/a.md/x").ends(2);
}

/// Lines without a trust count as external; a given source is kept unchanged.
#[test]
fn trust_and_source_are_as_the_line_says() {
    let world = World::new();
    let lines = "{\"topic\":\"t\",\"key\":\"a\",\"content\":\"one\"}\n\
                 {\"topic\":\"t\",\"key\":\"b\",\"content\":\"two\",\"trust\":\"agent\",\"source\":{}}\n\
                 {\"topic\":\"t\",\"key\":\"c\",\"content\":\"three\",\"trust\":\"everyone\"}\n";
    world.write("x.jsonl", lines);
    let run = world.icm("import jsonl x.jsonl --json").ends(1);
    assert_eq!(run.json()["rejected"][0]["line"], 3);
    let get = |key: &str| world.json(format!("get {}", world.id(key)));
    assert_eq!(get("a")["trust"], "external");
    assert_eq!(get("a")["source"]["file"], "x.jsonl");
    assert_eq!(get("b")["trust"], "agent");
    assert_eq!(get("b")["source"], json!({}));
}
