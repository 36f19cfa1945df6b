//! `icm undo`

use serde_json::json;

use crate::world::{Look, Says, World};

#[test]
fn installed_files_are_taken_back() {
    let world = World::with_memories();
    let id = world.id("owner");
    world.ok(format!("update {id} -c 'Ada owns billing'"));
    let plan = world.ok("undo --last 1 --dry-run");
    plan.out.says("would undo 1 event of 1 command");
    plan.out.says("- Ada owns billing");
    plan.out.says("+ Mira owns billing");
    assert_eq!(
        world.json(format!("get {id}"))["content"],
        "Ada owns billing"
    );

    let done = world.json("undo --last 1 --yes");
    assert_eq!(done["events"], 1);
    done["changes"][0].has(json!({"action": "changed", "/fields/0": "content"}));
    assert_eq!(
        world.json(format!("get {id}"))["content"],
        "Mira owns billing"
    );
    let event = done["event"].as_str().unwrap();
    world.ok(format!("undo '{event}' --yes"));
    assert_eq!(
        world.json(format!("get {id}"))["content"],
        "Ada owns billing"
    );
    let history = world.out(format!("history {id}"));
    assert_eq!(history.matches("log.undone").count(), 2, "{history}");
    let log = world.out("log --kind log.undone");
    log.says("took back 1 event: the last command");
}

#[test]
fn undo_has_to_be_confirmed() {
    let world = World::with_memories();
    let run = world.fails("undo --last 2 => 2: has to be confirmed");
    run.err.says("--yes");
    run.err.says("Prices are integer cents");
    assert_eq!(world.count("list"), 3);
    world.ok("undo --last 2 --yes");
    assert_eq!(world.count("list"), 1);
}

#[test]
fn an_import_is_undone_as_a_whole() {
    let world = World::with_memories();
    let lines: String = (0..700)
        .map(|n| format!("{{\"topic\":\"many\",\"content\":\"line number {n}\"}}\n"))
        .collect();
    let file = world.write("many.jsonl", lines);
    let file = file.to_str().unwrap();
    world.ok(format!("import jsonl '{file}'"));
    let position = world.json("stats")["positions"].as_u64().unwrap();
    let one = format!("@{position}");
    let plan = world.json(format!("undo {one} --only --dry-run"));
    assert_eq!(plan["events"], 1);
    let whole = world.out(format!("undo {one} --dry-run"));
    let says = "would undo 700 events of 1 command: 700 memories gone";
    whole.begins(says);
    let done = world.json(format!("undo {one} --yes"));
    assert_eq!(done["events"], 700);
    // The undo is one event, and a preview names the memories that undoing it brings back.
    let back = world.out("undo --last 1 --dry-run");
    let says = "would undo 1 event of 1 command: 700 memories back";
    back.begins(says);
    assert_eq!(world.count("list --all"), 3);
    world.icm("recall 'line number 5' -t many").ends(1);
    world.ok("verify");
    let again = world.json(format!("import jsonl '{file}'"));
    assert_eq!(again["added"], 700, "{again}");
    assert_eq!(world.count("list --all"), 703);
    world.ok("rebuild");
    world.ok("verify");
    assert_eq!(world.count("list --all"), 703);
}

#[test]
fn a_session_is_undone() {
    let world = World::with_memories();
    let session = |args: &[&str]| {
        let mut command = world.command(args);
        assert!(command.env("ICM_SESSION", "s7").status().unwrap().success());
    };
    session(&["store", "-t", "people", "-c", "Bo owns search"]);
    session(&["forget", "-t", "decisions", "--yes"]);
    let done = world.json("undo --session s7 --yes");
    assert_eq!(done["changes"].count(), 3, "{done}");
    let contents = world.json("list").texts("content");
    assert_eq!(contents.len(), 3, "{contents:?}");
    world.fails("undo --session nobody --yes => 1: nothing to undo");
}

#[test]
fn undone_events_say_so() {
    let world = World::with_memories();
    let id = world.id("owner");
    let event = world.json(format!("history {id}"))[0]["event"]
        .as_str()
        .unwrap()
        .to_owned();
    world.ok(format!("undo '{event}' --yes"));
    let shown = world.out(format!("get {id}"));
    shown.says("undone");
    for change in [
        ["update", &id, "-c", "x"].as_slice(),
        &["forget", &id],
        &["revive", &id],
    ] {
        let run = world.icm(change).fails(1, "was undone");
        run.err.says("icm undo ");
    }
    assert!(!world.out("list --forgotten").contains(&id));
    // Storing the key again revives the same memory.
    let again = world.json("store -t people --key owner -c 'Bo owns it'");
    assert_eq!(again["id"], id.as_str());
    assert_eq!(world.json(format!("get {id}"))["content"], "Bo owns it");
    world.ok("verify");
}

#[test]
fn events_that_cannot_be_undone_are_refused() {
    let world = World::new();
    world.fails("undo --last 1 --yes => 1: nothing to undo");
    assert!(!world.store().exists());
    let world = World::with_memories();
    let id = world.id("owner");
    let before = world.json("stats")["events"].clone();
    for (arguments, says) in [
        ("undo @1 --yes", "cannot be undone"),
        (format!("undo {id} --yes").as_str(), "no event id"),
        ("undo @5..@3 --yes", "no range"),
        ("undo @3.. --yes", "no range"),
        ("undo --yes", "nothing was chosen"),
        ("undo @3 --last 1", "cannot be used with"),
        ("undo --last 0", "0"),
    ] {
        world.icm(arguments).fails(2, says);
    }
    let run = world.icm("undo --last 1 --since 2099-01-01");
    run.fails(1, "nothing to undo");
    // An unknown event is a "no", in any notation and any command.
    for nothing in ["ffffffff", "@999", "@99999999999999999999999", "soon"] {
        for command in [["undo"].as_slice(), &["log", "show"]] {
            let asked = [command, &[nothing, "--yes"]].concat();
            world.icm(asked).fails(1, &format!("no event {nothing}"));
        }
    }
    world.ok("undo @3 --yes");
    let run = world.fails("undo @3 --yes => 1: undone already");
    run.err.says("icm undo ");
    let after = world.json("stats")["events"].as_u64().unwrap();
    assert_eq!(after, before.as_u64().unwrap() + 1);
}

#[test]
fn an_event_is_named_by_any_beginning_that_fits_no_other() {
    let world = World::new();
    for n in 0..30 {
        let content = format!("fact number {n}");
        world.ok(format!("store -t facts -c '{content}'"));
    }
    let log = world.ok("log --json").json_lines();
    let ids: Vec<&str> = log
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    let newest = ids.len() as u64;
    let fits = |prefix: &str| ids.iter().filter(|id| id.starts_with(prefix)).count();
    let (mut taken, mut unclear, mut positions) = (0, 0, 0);
    for id in &ids {
        for len in 1..=3 {
            let prefix = &id[..len];
            let shown = world.icm(format!("log show '{prefix}'"));
            let number = prefix.parse::<u64>().ok();
            let position = number.filter(|number| (1..=newest).contains(number));
            if fits(prefix) == 1 && position.is_none() {
                shown.ok().out.says(id);
                taken += 1;
                continue;
            }
            let shown = shown.fails(2, "is ambiguous");
            assert!(shown.err.contains(id) || fits(prefix) > 10, "{shown:?}");
            unclear += 1;
            if let Some(position) = position {
                shown.err.says(format!("@{position}"));
                positions += 1;
            }
        }
    }
    assert!(taken > 20 && unclear > 20, "{taken} {unclear} {positions}");
    // A number that begins no id: the hint names the position, which is not assumed.
    let number = (1..=newest).find(|n| fits(&n.to_string()) == 0);
    if let Some(number) = number {
        let run = world.icm(format!("undo {} --yes", number));
        let run = run.fails(1, "no event");
        run.err.says(format!("position `@{number}`?"));
    }
}

/// A consolidation deletes nothing.
#[test]
fn a_consolidation_loses_nothing() {
    let world = World::new();
    for n in 0..10 {
        let content = format!("fact number {n}");
        let importance = if n == 4 { "critical" } else { "medium" };
        world.ok(format!("store -t facts -c '{content}' -i '{importance}'"));
    }
    let originals = world.json("list -t facts");
    let then = world.now();
    let done = world.json("consolidate -t facts --summary 'ten facts'");
    assert_eq!(done["originals"].count(), 10);
    let now = world.json("list -t facts");
    assert_eq!(now.count(), 1);
    now[0].has(json!({"content": "ten facts", "importance": "critical"}));
    let recalled = |args: &[&str]| {
        let mut all = vec!["recall", "fact", "-l", "50", "--no-record"];
        all.extend(args);
        world.json(all)["results"].count()
    };
    assert_eq!(recalled(&[]), 1);
    assert_eq!(recalled(&["--at", &then]), 10);
    for original in originals.as_array().unwrap() {
        let id = original["id"].as_str().unwrap();
        let history = world.json(format!("history {id}"));
        assert_eq!(history.count(), 2);
        assert_eq!(history[0]["memory"]["content"], original["content"]);
        assert_eq!(history[1]["kind"], "memory.consolidated");
        assert_eq!(history[1]["memory"]["consolidated_into"], done["id"]);
        let into = format!("consolidated into {}", done["id"].as_str().unwrap());
        for command in ["history", "why", "get"] {
            let said = world.out(format!("'{command}' {id}"));
            said.says(&into);
            said.lacks("  forgotten  ");
        }
    }
    let why = world.json(format!("why {}", done["id"].as_str().unwrap()));
    assert_eq!(why["from"]["consolidated_from"], done["originals"]);
    let why = world.json(format!("why {}", originals[0]["id"].as_str().unwrap()));
    assert_eq!(why["covered_by"], done["id"]);
    world.ok("undo --last 1 --yes");
    assert_eq!(world.json("list -t facts"), originals);
    assert_eq!(recalled(&[]), 10);
    // The printed command brings the originals back, despite later commands.
    let sum_up = ["consolidate", "-t", "facts", "--summary", "ten again"];
    let said = world.icm(sum_up).ok().out;
    let (_, named) = said.split_once("`icm undo ").unwrap();
    let (event, _) = named.split_once('`').unwrap();
    world.ok("store -t other -c since");
    world.ok(format!("undo '{event}' --yes"));
    assert_eq!(world.json("list -t facts"), originals);
    world.fails("consolidate -t nothing --summary x => 1: nothing to consolidate");
    world.fails("consolidate -t facts --summary '' => 2: content");
    world.ok("verify");
}

#[test]
fn memories_of_several_scopes_are_not_summed_up_as_one() {
    let world = World::new();
    for (scope, content) in [
        ("project:p1", "one"),
        ("project:p1", "two"),
        ("global", "three"),
        ("global", "four"),
    ] {
        world.ok(format!("store -t a -c '{content}' --scope '{scope}'"));
    }
    let sum_up = "consolidate -t a --summary sum";
    world.icm(sum_up).fails(2, "several scopes");
    let done = world.json((sum_up, "--scope project:p1"));
    assert_eq!(done["originals"].count(), 2);
    let summary = world.json(format!("get {}", done["id"].as_str().unwrap()));
    assert_eq!(summary["scope"], "project:p1");
    assert_eq!(world.count("list"), 3);
}

#[test]
fn changes_built_on_the_undone_are_told() {
    let world = World::new();
    world.ok("store -t a -c v1");
    let id = world.json("list")[0]["id"].as_str().unwrap().to_owned();
    world.ok(format!("update {id} -c v2"));
    world.ok(format!("update {id} -c v3"));
    let newest = world.json("stats")["positions"].as_u64().unwrap();
    let at = |back: u64| format!("@{}", newest - back);
    // The undo changes no row, but the preview names a way to go on.
    let plan = world.out(format!("undo {} --dry-run", at(1)));
    let says = format!("1 later change (@{newest}) of these memories stays in force; `--cascade`");
    plan.says(&says);
    let plan = world.json(format!("undo {} --dry-run", at(1)));
    plan.has(json!({
        "changes": [], "later_total": 1, "/later/0/position": newest,
        "/later/0/kind": "memory.updated", "/later/0/id": id.as_str(),
    }));
    let plan = world.json(format!("undo {} --cascade --dry-run", at(1)));
    plan.has(json!({"events": 2, "later_total": 0}));
    // Without its store there is no memory that could show the updates.
    let plan = world.out(format!("undo {} --dry-run", at(2)));
    let says = "2 later changes go with it, and come back when this is undone";
    plan.says(says);
    plan.lacks("stay in force");
    let done = world.json(format!("undo {} --yes", at(2)));
    assert_eq!(done["changes"][0]["later_changes"], 2);
    world.ok("undo --last 1 --yes");
    assert_eq!(world.json(format!("get {id}"))["content"], "v3");
}

/// One event can change many memories. The next command commits the rows, so that the event is folded once.
#[test]
fn an_undo_of_many_changes_is_taken_into_the_views() {
    let world = World::new();
    let lines: String = (0..200)
        .map(|n| format!("{{\"topic\":\"t\",\"content\":\"note {n}\"}}\n"))
        .collect();
    let file = world.write("notes.jsonl", lines);
    world.ok(format!("import jsonl '{}'", file.display()));
    world.ok("--yes undo --last 1");
    assert_eq!(world.json("stats")["memories"], 0);
    let stats = world.json("stats");
    for view in stats["views"].as_array().unwrap() {
        assert_eq!(view["behind"], 0, "{view}");
    }
}
