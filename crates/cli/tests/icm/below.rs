//! A topic without memories, but with topics below.

use crate::world::{Says, World};

const MEANS: &str = "but below it: `payments/` means it and everything below it";

#[test]
fn topics_below_a_topic_are_named() {
    let world = World::new();
    for topic in ["payments/cards", "payments/banks"] {
        world.ok(format!("store -t '{topic}' -c '{topic}'"));
    }
    let forget = ["forget", "-t", "payments", "--yes"];
    let run = world.icm(forget).ends(1);
    run.err.says(format!("no memories in `payments`, {MEANS}"));
    let run = world.ok("list -t payments");
    run.err.says(format!("{MEANS}; see `icm topics`"));
    let run = world.ok("health -t payments");
    run.err.says(MEANS);
    let revive = ["revive", "-t", "payments"];
    let run = world.icm(revive).ends(1);
    assert!(
        !run.err.contains("below"),
        "nothing there is forgotten: {run:?}"
    );

    world.ok("forget -t payments/ --yes");
    let run = world.icm(revive).ends(1);
    run.err.says(format!("is forgotten or expired, {MEANS}"));
    let run = world.icm(forget).ends(1);
    run.err.lacks("below");
    let run = world.ok("list -t payments");
    run.err.lacks("below");
    let run = world.ok("list -t payments --forgotten");
    run.err.says(MEANS);
    let run = world.icm("forget -t payments/ --yes").ends(1);
    run.err.lacks("below");
}
