//! Recorded recalls, asked again.

use serde_json::json;

use crate::world::World;

/// A setting is tried on the recorded recalls of the store, at the moments of their answers.
#[test]
fn recorded_recalls_are_asked_again_with_other_settings() {
    let world = World::new();
    world.icm(["bench", "replay"]).ends(1);
    for (topic, content) in [
        ("a", "the heron stood in the pond"),
        ("a", "nobody saw it leave"),
        ("b", "a bird with long legs waits for fish"),
    ] {
        world.icm(["store", "-t", topic, "-c", content]).ok();
    }
    world.json(["recall", "heron", "-t", "a"]);
    world.json(["recall", "long legs", "-i", "low", "--since", "2020-01-01"]);
    // Memories that were stored later change no earlier answer.
    world
        .icm(["store", "-t", "a", "-c", "a heron, a heron, a heron"])
        .ok();
    let events = world.json(["stats"])["events"].take();
    let report = world.json(["bench", "replay"]);
    assert_eq!(report["recalls"], 2, "{report}");
    assert_eq!(
        report["since"],
        json!({ "same": 2, "same_first": 2, "same_set": 2, "overlap": 1.0, "of": 2 })
    );
    assert_eq!(report["changed"], json!([]));
    let report = world.json(["bench", "replay", "--set", "ranking.meaning=0"]);
    assert_eq!(report["other"]["of"], 2);
    // The present settings are compared with the recorded answers.
    world.write("now.toml", "[ranking]\nfloor = 1\n");
    let report = world.json(["--config", "now.toml", "bench", "replay"]);
    assert_eq!(
        report["changed"][0]["went"][0]["content"], "a bird with long legs waits for fish",
        "{report}"
    );
    let args = ["bench", "replay", "--set", "ranking.floor=1", "--last", "2"];
    let report = world.json(args);
    // No result reaches this floor.
    assert_eq!(
        (&report["other"]["same"], &report["other"]["overlap"]),
        (&json!(0), &json!(0.0)),
        "{report}"
    );
    let changed = report["changed"].as_array().unwrap();
    assert_eq!(
        (changed.len(), &changed[0]["query"]),
        (2, &json!("long legs"))
    );
    assert_eq!(
        changed[0]["went"][0]["content"],
        "a bird with long legs waits for fish"
    );
    assert_eq!(changed[0]["came"], json!([]));
    assert_eq!(
        world.json(["stats"])["events"],
        events,
        "nothing is recorded"
    );

    world
        .icm(["bench", "replay", "--set", "ranking.neighbors=1"])
        .fails(2, "unknown key `ranking.neighbors`");
    world
        .icm(["bench", "replay", "--set", "ranking.floor"])
        .fails(2, "is not a setting");
}

#[test]
fn the_model_in_the_binary_needs_no_embedding_in_advance() {
    let world = World::with_memories();
    let status = world.json(["embed", "--status"]);
    assert_eq!(
        (&status["versions"], &status["embedded"]),
        (&json!(3), &json!(3))
    );
    let report = world.json(["embed"]);
    assert_eq!((&report["new"], &report["dim"]), (&json!(0), &json!(256)));
    let text = world.icm(["embed"]).ok().out;
    assert!(text.contains("3 of 3 passages embedded"), "{text}");
}
