//! Recorded recalls, asked again.

use serde_json::json;

use crate::world::{Look, Says, World};

/// A setting is tried on the recorded recalls of the store, at the moments of their answers.
#[test]
fn recorded_recalls_are_asked_again_with_other_settings() {
    let world = World::new();
    world.icm("bench replay").ends(1);
    for (topic, content) in [
        ("a", "the heron stood in the pond"),
        ("a", "nobody saw it leave"),
        ("b", "a bird with long legs waits for fish"),
    ] {
        world.ok(format!("store -t '{topic}' -c '{content}'"));
    }
    world.json("recall heron -t a");
    world.json("recall 'long legs' -i low --since 2020-01-01");
    // Memories that were stored later change no earlier answer.
    world.ok("store -t a -c 'a heron, a heron, a heron'");
    let events = world.json("stats")["events"].take();
    let report = world.json("bench replay");
    report.has(json!({
        "recalls": 2,
        "since": { "same": 2, "same_first": 2, "same_set": 2, "overlap": 1.0, "of": 2 },
        "changed": [],
    }));
    let report = world.json("bench replay --set ranking.meaning=0");
    assert_eq!(report["other"]["of"], 2);
    // The present settings are compared with the recorded answers.
    world.write("now.toml", "[ranking]\nfloor = 1\n");
    let report = world.json("--config now.toml bench replay");
    report["changed"][0]["went"][0].has(json!({"content": "a bird with long legs waits for fish"}));
    let args = ["bench", "replay", "--set", "ranking.floor=1", "--last", "2"];
    let report = world.json(args);
    // No result reaches this floor.
    report["other"].has(json!({"same": 0, "overlap": 0.0}));
    let changed = report["changed"].as_array().unwrap();
    assert_eq!(
        (changed.len(), &changed[0]["query"]),
        (2, &json!("long legs"))
    );
    changed[0].has(json!({"/went/0/content": "a bird with long legs waits for fish", "came": []}));
    assert_eq!(world.json("stats")["events"], events, "nothing is recorded");

    world.fails("bench replay --set ranking.neighbors=1 => 2: unknown key `ranking.neighbors`");
    world.fails("bench replay --set ranking.floor => 2: is not a setting");
}

#[test]
fn the_model_in_the_binary_needs_no_embedding_in_advance() {
    let world = World::with_memories();
    let status = world.json("embed --status");
    status.has(json!({"versions": 3, "embedded": 3}));
    let report = world.json("embed");
    assert_eq!((&report["new"], &report["dim"]), (&json!(0), &json!(256)));
    let text = world.out("embed");
    text.says("3 of 3 passages embedded");
}
