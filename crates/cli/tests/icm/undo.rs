//! `icm undo`

use crate::world::World;

#[test]
fn what_was_done_is_taken_back() {
    let world = World::with_memories();
    let id = world.id("owner");
    world.icm(["update", &id, "-c", "Ada owns billing"]).ok();
    let plan = world.icm(["undo", "--last", "1", "--dry-run"]).ok();
    assert!(
        plan.out.contains("would undo 1 event of 1 command"),
        "{}",
        plan.out
    );
    assert!(plan.out.contains("- Ada owns billing"), "{}", plan.out);
    assert!(plan.out.contains("+ Mira owns billing"), "{}", plan.out);
    assert_eq!(world.json(["get", &id])["content"], "Ada owns billing");

    let done = world.json(["undo", "--last", "1", "--yes"]);
    assert_eq!(done["events"], 1);
    assert_eq!(done["changes"][0]["action"], "changed");
    assert_eq!(done["changes"][0]["fields"][0], "content");
    assert_eq!(world.json(["get", &id])["content"], "Mira owns billing");
    let event = done["event"].as_str().unwrap();
    world.icm(["undo", event, "--yes"]).ok();
    assert_eq!(world.json(["get", &id])["content"], "Ada owns billing");
    let history = world.icm(["history", &id]).ok().out;
    assert_eq!(history.matches("log.undone").count(), 2, "{history}");
    let log = world.icm(["log", "--kind", "log.undone"]).ok().out;
    assert!(log.contains("1 event: --last 1"), "{log}");
}

#[test]
fn undo_has_to_be_confirmed() {
    let world = World::with_memories();
    let run = world
        .icm(["undo", "--last", "2"])
        .fails(2, "has to be confirmed");
    assert!(run.err.contains("--yes"), "{}", run.err);
    assert!(run.err.contains("Prices are integer cents"), "{}", run.err);
    assert_eq!(world.json(["list"]).as_array().unwrap().len(), 3);
    world.icm(["undo", "--last", "2", "--yes"]).ok();
    assert_eq!(world.json(["list"]).as_array().unwrap().len(), 1);
}

#[test]
fn an_import_is_undone_as_a_whole() {
    let world = World::with_memories();
    let lines: String = (0..700)
        .map(|n| format!("{{\"topic\":\"many\",\"content\":\"line number {n}\"}}\n"))
        .collect();
    let file = world.write("many.jsonl", lines);
    let file = file.to_str().unwrap();
    world.icm(["import", "jsonl", file]).ok();
    let position = world.json(["stats"])["positions"].as_u64().unwrap();
    let one = format!("@{position}");
    let plan = world.json(["undo", &one, "--only", "--dry-run"]);
    assert_eq!(plan["events"], 1);
    let whole = world.icm(["undo", &one, "--dry-run"]).ok().out;
    let says = "would undo 700 events of 1 command: 700 memories gone";
    assert!(whole.starts_with(says), "{whole}");
    let done = world.json(["undo", &one, "--yes"]);
    assert_eq!(done["events"], 700);
    // The undo is one event, and a preview names the memories that undoing it brings back.
    let back = world.icm(["undo", "--last", "1", "--dry-run"]).ok().out;
    let says = "would undo 1 event of 1 command: 700 memories back";
    assert!(back.starts_with(says), "{back}");
    assert_eq!(world.json(["list", "--all"]).as_array().unwrap().len(), 3);
    world.icm(["recall", "line number 5", "-t", "many"]).ends(1);
    world.icm(["verify"]).ok();
    let again = world.json(["import", "jsonl", file]);
    assert_eq!(again["added"], 700, "{again}");
    assert_eq!(world.json(["list", "--all"]).as_array().unwrap().len(), 703);
    world.icm(["rebuild"]).ok();
    world.icm(["verify"]).ok();
    assert_eq!(world.json(["list", "--all"]).as_array().unwrap().len(), 703);
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
    let done = world.json(["undo", "--session", "s7", "--yes"]);
    assert_eq!(done["changes"].as_array().unwrap().len(), 3, "{done}");
    let contents: Vec<_> = world
        .json(["list"])
        .as_array()
        .unwrap()
        .iter()
        .map(|memory| memory["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(contents.len(), 3, "{contents:?}");
    world
        .icm(["undo", "--session", "nobody", "--yes"])
        .fails(1, "nothing to undo");
}

#[test]
fn what_was_undone_says_so() {
    let world = World::with_memories();
    let id = world.id("owner");
    let event = world.json(["history", &id])[0]["event"]
        .as_str()
        .unwrap()
        .to_owned();
    world.icm(["undo", &event, "--yes"]).ok();
    let shown = world.icm(["get", &id]).ok().out;
    assert!(shown.contains("undone"), "{shown}");
    for change in [
        ["update", &id, "-c", "x"].as_slice(),
        &["forget", &id],
        &["revive", &id],
    ] {
        let run = world.icm(change).fails(1, "was undone");
        assert!(run.err.contains("icm undo "), "{}", run.err);
    }
    assert!(!world.icm(["list", "--forgotten"]).ok().out.contains(&id));
    // Storing the key again revives the same memory.
    let again = world.json([
        "store",
        "-t",
        "people",
        "--key",
        "owner",
        "-c",
        "Bo owns it",
    ]);
    assert_eq!(again["id"], id.as_str());
    assert_eq!(world.json(["get", &id])["content"], "Bo owns it");
    world.icm(["verify"]).ok();
}

#[test]
fn what_cannot_be_undone_is_refused() {
    let world = World::new();
    world
        .icm(["undo", "--last", "1", "--yes"])
        .fails(1, "nothing to undo");
    assert!(!world.store().exists());
    let world = World::with_memories();
    let id = world.id("owner");
    let before = world.json(["stats"])["events"].clone();
    for (arguments, says) in [
        (["undo", "@1", "--yes"].as_slice(), "cannot be undone"),
        (&["undo", &id, "--yes"], "no event id"),
        (&["undo", "@5..@3", "--yes"], "no range"),
        (&["undo", "@3..", "--yes"], "no range"),
        (&["undo", "--yes"], "nothing was chosen"),
        (&["undo", "@3", "--last", "1"], "cannot be used with"),
        (&["undo", "--last", "0"], "0"),
    ] {
        world.icm(arguments).fails(2, says);
    }
    let run = world.icm(["undo", "--last", "1", "--since", "2099-01-01"]);
    run.fails(1, "nothing to undo");
    // An unknown event is a "no", in any notation and any command.
    for nothing in ["ffffffff", "@999", "@99999999999999999999999", "soon"] {
        for command in [["undo"].as_slice(), &["log", "show"]] {
            let asked = [command, &[nothing, "--yes"]].concat();
            world.icm(asked).fails(1, &format!("no event {nothing}"));
        }
    }
    world.icm(["undo", "@3", "--yes"]).ok();
    let run = world
        .icm(["undo", "@3", "--yes"])
        .fails(1, "undone already");
    assert!(run.err.contains("icm undo "), "{}", run.err);
    let after = world.json(["stats"])["events"].as_u64().unwrap();
    assert_eq!(after, before.as_u64().unwrap() + 1);
}

#[test]
fn an_event_is_named_by_any_beginning_that_fits_no_other() {
    let world = World::new();
    for n in 0..30 {
        let content = format!("fact number {n}");
        world.icm(["store", "-t", "facts", "-c", &content]).ok();
    }
    let log = world.icm(["log", "--json"]).ok().json_lines();
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
            let shown = world.icm(["log", "show", prefix]);
            let number = prefix.parse::<u64>().ok();
            let position = number.filter(|number| (1..=newest).contains(number));
            if fits(prefix) == 1 && position.is_none() {
                assert!(shown.ok().out.contains(id));
                taken += 1;
                continue;
            }
            let shown = shown.fails(2, "is ambiguous");
            assert!(shown.err.contains(id) || fits(prefix) > 10, "{shown:?}");
            unclear += 1;
            if let Some(position) = position {
                assert!(shown.err.contains(&format!("@{position}")), "{shown:?}");
                positions += 1;
            }
        }
    }
    assert!(taken > 20 && unclear > 20, "{taken} {unclear} {positions}");
    // A number that begins no id: the hint names the position, which is not assumed.
    let number = (1..=newest).find(|n| fits(&n.to_string()) == 0);
    if let Some(number) = number {
        let run = world.icm(["undo", &number.to_string(), "--yes"]);
        let run = run.fails(1, "no event");
        assert!(
            run.err.contains(&format!("position `@{number}`?")),
            "{run:?}"
        );
    }
}

/// A consolidation deletes nothing.
#[test]
fn a_consolidation_loses_nothing() {
    let world = World::new();
    for n in 0..10 {
        let content = format!("fact number {n}");
        let importance = if n == 4 { "critical" } else { "medium" };
        world
            .icm(["store", "-t", "facts", "-c", &content, "-i", importance])
            .ok();
    }
    let originals = world.json(["list", "-t", "facts"]);
    let then = world.now();
    let done = world.json(["consolidate", "-t", "facts", "--summary", "ten facts"]);
    assert_eq!(done["originals"].as_array().unwrap().len(), 10);
    let now = world.json(["list", "-t", "facts"]);
    assert_eq!(now.as_array().unwrap().len(), 1);
    assert_eq!(now[0]["content"], "ten facts");
    assert_eq!(now[0]["importance"], "critical");
    let recalled = |args: &[&str]| {
        let mut all = vec!["recall", "fact", "-l", "50", "--no-record"];
        all.extend(args);
        world.json(all)["results"].as_array().unwrap().len()
    };
    assert_eq!(recalled(&[]), 1);
    assert_eq!(recalled(&["--at", &then]), 10);
    for original in originals.as_array().unwrap() {
        let id = original["id"].as_str().unwrap();
        let history = world.json(["history", id]);
        assert_eq!(history.as_array().unwrap().len(), 2);
        assert_eq!(history[0]["memory"]["content"], original["content"]);
        assert_eq!(history[1]["kind"], "memory.consolidated");
        assert_eq!(history[1]["memory"]["consolidated_into"], done["id"]);
        let into = format!("consolidated into {}", done["id"].as_str().unwrap());
        for command in ["history", "why", "get"] {
            let said = world.icm([command, id]).ok().out;
            assert!(said.contains(&into), "{said}");
            assert!(!said.contains("  forgotten  "), "{said}");
        }
    }
    let why = world.json(["why", done["id"].as_str().unwrap()]);
    assert_eq!(why["from"]["consolidated_from"], done["originals"]);
    let why = world.json(["why", originals[0]["id"].as_str().unwrap()]);
    assert_eq!(why["covered_by"], done["id"]);
    world.icm(["undo", "--last", "1", "--yes"]).ok();
    assert_eq!(world.json(["list", "-t", "facts"]), originals);
    assert_eq!(recalled(&[]), 10);
    // The printed command brings the originals back, despite later commands.
    let sum_up = ["consolidate", "-t", "facts", "--summary", "ten again"];
    let said = world.icm(sum_up).ok().out;
    let (_, named) = said.split_once("`icm undo ").unwrap();
    let (event, _) = named.split_once('`').unwrap();
    world.icm(["store", "-t", "other", "-c", "since"]).ok();
    world.icm(["undo", event, "--yes"]).ok();
    assert_eq!(world.json(["list", "-t", "facts"]), originals);
    world
        .icm(["consolidate", "-t", "nothing", "--summary", "x"])
        .fails(1, "nothing to consolidate");
    world
        .icm(["consolidate", "-t", "facts", "--summary", ""])
        .fails(2, "content");
    world.icm(["verify"]).ok();
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
        world
            .icm(["store", "-t", "a", "-c", content, "--scope", scope])
            .ok();
    }
    let sum_up = ["consolidate", "-t", "a", "--summary", "sum"];
    world.icm(sum_up).fails(2, "several scopes");
    let done = world.json(sum_up.into_iter().chain(["--scope", "project:p1"]));
    assert_eq!(done["originals"].as_array().unwrap().len(), 2);
    let summary = world.json(["get", done["id"].as_str().unwrap()]);
    assert_eq!(summary["scope"], "project:p1");
    assert_eq!(world.json(["list"]).as_array().unwrap().len(), 3);
}

#[test]
fn what_was_built_on_the_undone_is_told() {
    let world = World::new();
    world.icm(["store", "-t", "a", "-c", "v1"]).ok();
    let id = world.json(["list"])[0]["id"].as_str().unwrap().to_owned();
    world.icm(["update", &id, "-c", "v2"]).ok();
    world.icm(["update", &id, "-c", "v3"]).ok();
    let newest = world.json(["stats"])["positions"].as_u64().unwrap();
    let at = |back: u64| format!("@{}", newest - back);
    // The undo changes no row, but the preview names a way to go on.
    let plan = world.icm(["undo", &at(1), "--dry-run"]).ok().out;
    let says = format!("1 later change (@{newest}) of these memories stays in force; `--cascade`");
    assert!(plan.contains(&says), "{plan}");
    let plan = world.json(["undo", &at(1), "--dry-run"]);
    assert_eq!(plan["changes"], serde_json::json!([]));
    assert_eq!(plan["later_total"], 1);
    assert_eq!(plan["later"][0]["position"], newest);
    assert_eq!(plan["later"][0]["kind"], "memory.updated");
    assert_eq!(plan["later"][0]["id"], id.as_str());
    let plan = world.json(["undo", &at(1), "--cascade", "--dry-run"]);
    assert_eq!(
        (&plan["events"], &plan["later_total"]),
        (&2.into(), &0.into())
    );
    // Without its store there is no memory that could show the updates.
    let plan = world.icm(["undo", &at(2), "--dry-run"]).ok().out;
    let says = "2 later changes go with it, and come back when this is undone";
    assert!(plan.contains(says), "{plan}");
    assert!(!plan.contains("stay in force"), "{plan}");
    let done = world.json(["undo", &at(2), "--yes"]);
    assert_eq!(done["changes"][0]["later_changes"], 2);
    world.icm(["undo", "--last", "1", "--yes"]).ok();
    assert_eq!(world.json(["get", &id])["content"], "v3");
}

/// One event can change many memories. The next command commits the rows, so that the event is folded once.
#[test]
fn what_an_undo_of_many_changes_is_taken_into_the_views() {
    let world = World::new();
    let lines: String = (0..200)
        .map(|n| format!("{{\"topic\":\"t\",\"content\":\"note {n}\"}}\n"))
        .collect();
    let file = world.write("notes.jsonl", lines);
    world.icm(["import", "jsonl", file.to_str().unwrap()]).ok();
    world.icm(["--yes", "undo", "--last", "1"]).ok();
    assert_eq!(world.json(["stats"])["memories"], 0);
    let stats = world.json(["stats"]);
    for view in stats["views"].as_array().unwrap() {
        assert_eq!(view["behind"], 0, "{view}");
    }
}
