//! `icm diff`: changes of memories between two moments.

use serde_json::{Value, json};

use crate::world::{Look, Says, World, run};

fn ids(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap();
    list.iter()
        .map(|memory| memory["id"].as_str().unwrap())
        .collect()
}

#[track_caller]
fn counts(diff: &Value) -> [usize; 4] {
    ["added", "changed", "forgotten", "revived"].map(|list| diff[list].count())
}

#[test]
fn everything_that_became_of_memories() {
    let world = World::with_memories();
    let before = world.now();
    let (database, money, owner) = (world.id("database"), world.id("money"), world.id("owner"));
    world.ok(format!("update {database} -c 'Invoices live in MySQL now'"));
    world.ok(format!("update {database} -i high -k sql"));
    world.ok(format!("forget {money}"));
    let between = world.now();
    let added = world.json("store -t people -c 'Ann owns tests'");
    let passing = world.json("store -t people -c 'Bo was here'");
    world.ok(format!("forget {}", passing["id"].as_str().unwrap()));
    world.ok("recall owns");
    world.ok(format!("revive {money}"));
    world.ok(format!("forget {owner}"));

    let diff = world.json(format!("diff {before} '{between}'"));
    assert_eq!(counts(&diff), [0, 1, 1, 0], "{diff}");
    assert_eq!(
        diff["from"]["position"],
        before[1..].parse::<u64>().unwrap()
    );
    assert_eq!(diff["to"]["position"], between[1..].parse::<u64>().unwrap());
    assert_eq!(ids(&diff["forgotten"]), [&money]);
    assert_eq!(diff["forgotten"][0]["forgotten"], true);
    let change = &diff["changed"][0];
    assert_eq!(change["id"], database);
    assert_eq!(change["topic"], "decisions");
    assert_eq!(
        change["fields"],
        json!(["content", "importance", "keywords"])
    );
    assert_eq!(
        change["before"],
        json!({
            "content": "Invoices live in PostgreSQL",
            "importance": "medium",
            "keywords": [],
        })
    );
    assert_eq!(change["after"]["keywords"], json!(["sql"]));
    assert_eq!(
        change["content_diff"],
        json!([
            {"op": "equal", "text": "Invoices live in "},
            {"op": "delete", "text": "PostgreSQL"},
            {"op": "insert", "text": "MySQL now"},
        ])
    );

    // From that moment to now, named by its event.
    let event = diff["to"]["event"].as_str().unwrap();
    let later = world.json(format!("diff {}", &event[..16]));
    assert_eq!(counts(&later), [1, 0, 1, 1], "{later}");
    assert_eq!(ids(&later["added"]), [added["id"].as_str().unwrap()]);
    assert_eq!(ids(&later["forgotten"]), [&owner]);
    assert_eq!(ids(&later["revived"]), [&money]);

    // Over the whole time: a memory that was forgotten and revived is unchanged.
    let whole = world.json(format!("diff {before}"));
    assert_eq!(counts(&whole), [1, 1, 1, 0], "{whole}");
    world.ok("rebuild");
    assert_eq!(world.json(format!("diff {before}")), whole);
    assert_eq!(world.json(format!("diff {before} '{between}'")), diff);
}

#[test]
fn a_memory_that_changed_and_was_revived_is_both() {
    let world = World::with_memories();
    let id = world.id("money");
    world.ok(format!("forget {id}"));
    let before = world.now();
    world.ok(format!("revive {id}"));
    world.ok(format!("update {id} -i low"));
    let diff = world.json(format!("diff {before}"));
    assert_eq!(counts(&diff), [0, 1, 0, 1], "{diff}");
    diff["changed"][0].has(json!({"fields": ["importance"], "content_diff": []}));
}

#[test]
fn changes_taken_back_are_no_difference() {
    let world = World::with_memories();
    let id = world.id("money");
    let before = world.now();
    world.ok(format!("update {id} -i low"));
    world.ok(format!("update {id} -i medium"));
    let diff = world.ok(format!("diff {before} --json")).json();
    assert_eq!(counts(&diff), [0; 4], "{diff}");
    let run = world.ok(format!("diff {before}"));
    assert_eq!(run.out, "");
    run.err
        .begins("0 added, 0 changed, 0 forgotten, 0 revived from ");
}

#[test]
fn only_a_topic() {
    let world = World::with_memories();
    let before = world.now();
    for topic in ["a", "a/b", "ab"] {
        world.ok(format!("store -t '{topic}' -c text"));
    }
    let id = world.id("money");
    world.ok(format!("update {id} -t prices"));
    for (topic, expected) in [
        ("a", [1, 0, 0, 0]),
        ("a/", [2, 0, 0, 0]),
        ("ab", [1, 0, 0, 0]),
        // The memory left one topic and came into the other.
        ("decisions", [0, 1, 0, 0]),
        ("prices", [0, 1, 0, 0]),
        ("people", [0; 4]),
        ("nowhere", [0; 4]),
    ] {
        let diff = world.json(format!("diff {before} -t '{topic}'"));
        assert_eq!(counts(&diff), expected, "{topic}: {diff}");
    }
}

#[test]
fn only_what_a_session_changed() {
    let world = World::with_memories();
    let before = world.now();
    let (database, money, owner) = (world.id("database"), world.id("money"), world.id("owner"));
    let within = |session: &str, args: &str| {
        run(world.command(args).env("ICM_SESSION", session), b"").ok();
    };
    within("night", &format!("update {database} -i high"));
    within(
        "day",
        &format!("update {database} -c 'Invoices live on paper'"),
    );
    within("day", &format!("forget {money}"));
    within("night", "recall Mira");
    world.ok(format!("update {owner} -i low"));
    let after = world.now();
    within("night", &format!("update {owner} -i critical"));

    let night = world.json(format!("diff {before} {after} --session night"));
    assert_eq!(counts(&night), [0, 1, 0, 0], "{night}");
    // The difference is that of the two moments, with the changes of all sessions.
    night["changed"][0].has(json!({"id": database, "fields": ["content", "importance"]}));
    let day = world.json(format!("diff {before} {after} --session day"));
    assert_eq!(counts(&day), [0, 1, 1, 0], "{day}");
    let nobody = world.json(format!("diff {before} --session nobody"));
    assert_eq!(counts(&nobody), [0; 4]);
    let night = world.json(format!("diff {before} --session night"));
    assert_eq!(counts(&night), [0, 2, 0, 0], "{night}");
}

#[test]
fn people_read_it_by_topic() {
    let world = World::with_memories();
    let before = world.now();
    let (database, money) = (world.id("database"), world.id("money"));
    world.ok(format!(
        "update {database} -c 'Invoices live in MySQL' -i high"
    ));
    world.ok(format!("forget {money}"));
    world.ok("store -t people -c 'Ann owns tests'");
    let run = world.ok(format!("diff {before}"));
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(
        lines[..6],
        [
            "decisions",
            &format!("changed    {database}  content, importance"),
            "  importance: medium → high",
            "  │ Invoices live in [-PostgreSQL-]{+MySQL+}",
            &format!("forgotten  {money}  Prices are integer cents"),
            "",
        ],
        "{run:#?}"
    );
    assert_eq!(lines[6], "people");
    assert!(lines[7].starts_with("added      "), "{run:#?}");
    assert!(lines[7].ends_with("  Ann owns tests"), "{run:#?}");
    run.err.begins("1 added, 1 changed, 1 forgotten");

    let config = world.write("colours.toml", "[output]\ncolor = \"always\"\n");
    let mut command = world.command(format!("diff {before}"));
    let painted = crate::world::run(command.env("ICM_CONFIG", &config), b"")
        .ok()
        .out;
    painted.lacks("[-");
    painted.says("PostgreSQL\u{1b}[0m\u{1b}");
}

#[test]
fn changed_text_is_cleaned_for_a_terminal() {
    let world = World::with_memories();
    let before = world.now();
    let id = world.id("money");
    let text = "Prices \u{1b}[31mare\u{202e} red \u{e001}";
    world.ok(format!("update {id} -c '{text}'"));
    let out = world.out(format!("diff {before}"));
    assert!(!out.contains(['\u{1b}', '\u{202e}', '\u{e001}']), "{out}");
    out.says("red");
}

#[test]
fn moments_that_are_none() {
    let world = World::with_memories();
    let run = world.fails("diff @5 @3 => 2: `@5` (@5) is after `@3` (@3)");
    run.err.says("hint: give the earlier moment first");
    world.fails("diff @99 => 2: in the future");
    world.fails("diff @3 @99 => 2: in the future");
    world.fails("diff nonsense => 2: no point in time");
    // The store was empty before the first event.
    for before in ["yesterday", "@0"] {
        let run = world.ok(format!("diff {before}"));
        run.err.says("3 added");
        run.err.says("from before the first event");
    }
    world.icm("diff").ends(2);
    world.ok("diff @4 @4");
    let nothing = World::new();
    nothing.fails("diff @1 => 2: in the future");
    assert!(!nothing.store().exists());
}
