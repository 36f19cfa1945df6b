//! Memories with the same meaning, in an answer, a context, a hook and a wake-up pack.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::world::{Look, Says, World};

/// Spellings of one fact.
const SPELLINGS: [&str; 10] = [
    "Use tabs",
    "use tabs",
    "Use tabs.",
    "USE TABS",
    "Use  tabs",
    "- Use tabs",
    "“Use tabs”",
    "Use tabs!",
    "**Use tabs**",
    "\tuse tabs.\n",
];
/// Facts that look similar.
const OTHERS: [&str; 3] = [
    "Do not use tabs",
    "Use tabs only in Makefiles",
    "Use tables",
];

fn stored(world: &World, topic: &str, content: &str, importance: &str) -> String {
    let args = ["store", "-t", topic, "-i", importance, "-c", content];
    world.json(args)["id"].as_str().unwrap().to_owned()
}

fn spelled(world: &World, importance: &str) -> BTreeSet<String> {
    let spellings = SPELLINGS.iter().enumerate();
    spellings
        .map(|(number, text)| stored(world, &format!("project-{number}"), text, importance))
        .collect()
}

fn ids(value: &Value) -> BTreeSet<String> {
    let ids = value.as_array().unwrap().iter();
    ids.map(|id| id.as_str().unwrap().to_owned()).collect()
}

#[test]
fn ten_spellings_are_one_result_and_one_line_of_a_context() {
    let world = World::new();
    let mut all = spelled(&world, "medium");
    for other in OTHERS {
        stored(&world, "style", other, "medium");
    }
    let answer = world.json("recall 'use tabs' --no-record");
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results.len(), 4, "{answer}");
    let fact = results.iter().find(|hit| hit.get("repeats").is_some());
    let fact = fact.unwrap();
    assert!(all.remove(fact["id"].as_str().unwrap()), "{answer}");
    assert_eq!(ids(&fact["repeats"]), all);
    assert_eq!(fact["also_in"].count(), 9);
    for other in OTHERS {
        let hit = results.iter().find(|hit| hit["content"] == other).unwrap();
        assert!(hit.get("repeats").is_none(), "{hit}");
    }
    let text = world.ok("recall 'use tabs' --no-record");
    text.out.says("9 more say the same (also in project-");
    text.err.says("4 found");

    let context = world.ok("recall-context 'use tabs' --no-record");
    let lines = context.out.lines().filter(|line| line.contains("] "));
    assert_eq!(lines.count(), 4, "{context:?}");
    context.out.says(" and 6 more");
    // The list shows every memory.
    let list = world.json("list");
    assert_eq!(list.count(), 13);
}

#[test]
fn a_session_is_told_one_of_ten_spellings_once() {
    let world = World::new();
    let all = spelled(&world, "critical");
    let pack = world.json("wake-up --no-record");
    assert_eq!(pack["items"].count(), 1, "{pack}");
    assert_eq!(pack["left_out"], 0);

    let hook = |prompt: &str| {
        let input = json!({
            "session_id": "s1",
            "cwd": world.path("here"),
            "hook_event_name": "UserPromptSubmit",
            "prompt": prompt,
        });
        let args = ["hook", "claude-code", "UserPromptSubmit"];
        world.icm_with(args, input.to_string().as_bytes()).ok().out
    };
    let told = hook("do we use tabs?");
    let named = all.iter().filter(|id| told.contains(*id));
    assert_eq!(named.count(), 1, "{told}");
    // The other nine spellings add nothing new.
    assert_eq!(hook("shall I use tabs?"), "");
}
