//! `--expires`, `icm list --expired` and `icm revive` of expired memories.

use serde_json::json;

use super::exchange::carry;
use crate::world::{Look, Says, World};

#[test]
fn a_memory_expires_once_it_was_recalled() {
    let world = World::new();
    let id = world.stored("-t demo -c 'The demo is on Thursday' --expires 'usage 1'");
    let other = world.stored("-t demo -c 'The office has three floors'");
    world.out("recall 'when is the demo'").says("Thursday");
    world
        .icm("recall 'when is the demo on Thursday'")
        .out
        .lacks("The demo is");
    let list = world.json("list");
    assert_eq!(list.texts("id"), [other]);
    let expired = world.json("list --expired");
    assert_eq!(expired.texts("id"), std::slice::from_ref(&id));
    expired[0].has(json!({"expires": "usage 1", "expired": true}));
    let shown = world.out(format!("get {id}"));
    shown.says("usage 1: hidden now");
    shown.says("icm revive");
    world
        .json("stats")
        .has(json!({"memories": 1, "expired": 1}));

    let receipt = world.json(format!("revive {id} --expires 'usage 1'"));
    assert_eq!(receipt["action"], "revived");
    assert_eq!(world.json("list --expired").count(), 0);
    world.out("recall 'when is the demo'").says("Thursday");
    assert_eq!(world.json("list --expired").count(), 1);
    world.ok(format!("revive {id}"));
    let memory = world.json(format!("get {id}"));
    assert!(memory.get("expires").is_none(), "{memory}");
}

#[test]
fn conditions_are_checked_and_taken_away() {
    let world = World::new();
    for wrong in [
        "soon",
        "usage 0",
        "time 2020-01-01",
        "file-exists no-such-file",
        "period x..y",
    ] {
        world
            .icm(["store", "-t", "t", "-c", "c", "--expires", wrong])
            .ends(2);
    }
    let refused = world
        .icm("store -t t -c c --expires soon")
        .fails(2, "no condition to expire");
    for form in [
        "time 30d",
        "usage 3",
        "file-exists",
        "file-pristine",
        "mon-fri",
    ] {
        refused.err.says(form);
    }
    let id = world.stored("-t t -c c --expires 'time 2090-01-01'");
    let memory = world.json(format!("get {id}"));
    let expires = memory["expires"].as_str().unwrap();
    assert!(expires.starts_with("time 20"), "{expires}");
    let diff = world.json("diff @2");
    assert_eq!(diff["added"].count(), 1, "{diff}");
    world.ok(format!("update {id} --no-expires"));
    assert!(world.json(format!("get {id}")).get("expires").is_none());
    world.ok("undo --last 1 --yes");
    assert_eq!(world.json(format!("get {id}"))["expires"], expires);
    world.fails(format!(
        "update {id} --no-expires --expires 'usage 1' => 2: cannot be used"
    ));
}

#[test]
fn an_answer_names_its_moment_only_if_a_memory_can_expire() {
    let world = World::new();
    world.stored("-t t -c 'The port is 5433'");
    let plain = world.json("recall 'which port'");
    assert!(plain["basis"].get("moment").is_none(), "{plain}");
    world.stored("-t t -c 'The office has three floors' --expires 'time 3d'");
    let answer = world.json("recall 'how many floors'");
    let moment = answer["basis"]["moment"].as_str().unwrap();
    let again = world.json(format!("recall 'how many floors' --at {moment}"));
    assert_eq!(again["results"].texts("id"), answer["results"].texts("id"));
    let event = world.events("--kind memory.recalled -l 1");
    assert_eq!(event.count(), 1);
}

#[test]
fn the_file_of_another_machine_is_not_looked_at() {
    let world = World::new();
    let (a, b) = (world.at("a"), world.at("b"));
    world.write("lock", "one");
    let id = a.stored("-t build -c 'The lock file is kept by hand' --expires 'file-exists lock'");
    b.stored("-t build -c 'The build takes nine minutes'");
    carry(&world, "a", "b");
    let is_expired = |at: &World| at.json(format!("get {id}"))["expired"] == true;
    let path = world.path("lock");
    let path = path.to_str().unwrap();
    assert_eq!(
        b.json(format!("get {id}"))["expires"],
        format!("file-exists {path}")
    );

    std::fs::remove_file(path).unwrap();
    b.out("recall 'who keeps the lock file'").says("by hand");
    assert!(!is_expired(&b), "the file is not b's");
    a.icm("recall 'who keeps the lock file'")
        .out
        .lacks("by hand");
    let events = a.events("--kind memory.expired");
    assert_eq!(events.count(), 1, "{events}");
    assert!(is_expired(&a));

    carry(&world, "a", "b");
    assert!(is_expired(&b), "the event says so");
    b.icm("recall 'who keeps the lock file'")
        .out
        .lacks("by hand");
    // It does not turn back.
    world.write("lock", "one");
    a.icm("recall 'who keeps the lock file'")
        .out
        .lacks("by hand");
}
