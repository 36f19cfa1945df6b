//! A topic without memories, but with topics below.

use crate::world::World;

const MEANS: &str = "but below it: `payments/` means it and everything below it";

#[test]
fn what_lies_below_a_topic_is_named() {
    let world = World::new();
    for topic in ["payments/cards", "payments/banks"] {
        world.icm(["store", "-t", topic, "-c", topic]).ok();
    }
    let forget = ["forget", "-t", "payments", "--yes"];
    let run = world.icm(forget).ends(1);
    assert!(
        run.err
            .contains(&format!("no memories in `payments`, {MEANS}")),
        "{run:?}"
    );
    let run = world.icm(["list", "-t", "payments"]).ok();
    assert!(
        run.err.contains(&format!("{MEANS}; see `icm topics`")),
        "{run:?}"
    );
    let run = world.icm(["health", "-t", "payments"]).ok();
    assert!(run.err.contains(MEANS), "{run:?}");
    let revive = ["revive", "-t", "payments"];
    let run = world.icm(revive).ends(1);
    assert!(
        !run.err.contains("below"),
        "nothing there is forgotten: {run:?}"
    );

    world.icm(["forget", "-t", "payments/", "--yes"]).ok();
    let run = world.icm(revive).ends(1);
    assert!(
        run.err.contains(&format!("is forgotten, {MEANS}")),
        "{run:?}"
    );
    let run = world.icm(forget).ends(1);
    assert!(!run.err.contains("below"), "{run:?}");
    let run = world.icm(["list", "-t", "payments"]).ok();
    assert!(!run.err.contains("below"), "{run:?}");
    let run = world.icm(["list", "-t", "payments", "--forgotten"]).ok();
    assert!(run.err.contains(MEANS), "{run:?}");
    let run = world.icm(["forget", "-t", "payments/", "--yes"]).ends(1);
    assert!(!run.err.contains("below"), "{run:?}");
}
