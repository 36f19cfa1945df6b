//! The tour.

use crate::world::{Says, World, run};

#[test]
fn it_ends_with_a_memory_as_it_was_before_it_was_changed() {
    let world = World::new();
    let run = run(world.command("demo").env_remove("ICM_DB"), b"").ok();
    let last = run.out.rsplit("\n$ ").next().unwrap();
    last.begins("icm recall ");
    last.says("--at @");
    last.says("MongoDB, one document an invoice");
    for command in [
        "import", "recall", "update", "forget", "history", "log", "verify",
    ] {
        let line = format!("\n$ icm {command} ");
        let alone = format!("\n$ icm {command}\n");
        assert!(
            run.out.contains(&line) || run.out.contains(&alone),
            "{command}: {}",
            run.out
        );
    }
    assert!(!world.store().exists(), "it used the store of the user");
}

#[test]
fn it_takes_a_folder_of_its_own_only() {
    let world = World::with_memories();
    let mut command = world.command("demo --db");
    command.arg(world.store());
    run(&mut command, b"").fails(2, "is not empty");
    assert_eq!(world.json("stats")["memories"], 3);

    // The store of `ICM_DB` is the user's own, so the demo leaves it alone.
    world.ok("demo -q");
    assert_eq!(world.json("stats")["memories"], 3);

    world.ok("demo --db new -q");
    assert!(world.path("new").join("log").exists());
}

#[test]
fn as_json() {
    let world = World::new();
    let tour = world.json("demo");
    let steps = tour["steps"].as_array().unwrap();
    assert!(steps.len() >= 10, "{tour}");
    let last = steps.last().unwrap();
    assert_eq!(last["exit"], 0);
    let content = &last["answer"]["results"][0]["content"];
    assert!(content.as_str().unwrap().contains("MongoDB"), "{last}");
}
