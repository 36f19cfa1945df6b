//! `--expires`, `icm list --expired` and `icm revive` of expired memories.

use serde_json::json;

use super::exchange::carry;
use crate::world::{Look, Says, World, run};

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
fn the_undo_of_a_revival_names_the_memory_that_goes() {
    let world = World::new();
    let id = world.stored("-t demo -c 'The demo is on Thursday' --expires 'usage 1'");
    world.ok("recall 'when is the demo'");
    world.ok(format!("revive {id}"));
    let preview = world.out("undo --last 1 --dry-run");
    preview.says("1 memory gone");
    preview.says(format!("- gone     {id}  demo  expired: usage 1"));
    preview.says("- The demo is on Thursday");
    world.ok("undo --last 1 --yes");
    assert_eq!(world.json("list --expired").texts("id"), [&*id]);
    let back = world.out("undo --last 1 --dry-run");
    back.says("1 memory back");
    back.says(format!("+ back     {id}  demo  was expired: usage 1"));
    back.says("+ The demo is on Thursday");
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
fn answers_mark_a_memory_that_will_expire() {
    let world = World::new();
    let id = world.stored("-t demo -c 'The demo is on Thursday' --expires 'usage 3'");
    let list = world.out("list");
    list.says("medium, usage 3 ");
    let memory = world.json(format!("get {id}"));
    memory.has(json!({"expires": "usage 3", "recalls_left": 3}));
    let unrecorded = world.out("recall --no-record 'when is the demo'");
    unrecorded.says("expires after 3 recalls");
    // A recall that counts tells what is left after it.
    let found = world.out("recall 'when is the demo'");
    found.says("expires after 2 more recalls");
    world.out("list").says("medium, usage 3, 2 left ");
    world.out(format!("get {id}")).says("usage 3, 2 left");
    let list = world.json("list");
    list[0].has(json!({"expires": "usage 3", "recalls_left": 2}));
    let found = world.json("recall 'when is the demo'");
    found["results"][0].has(json!({"recalls_left": 2}));
    let found = world.out("recall 'when is the demo'");
    found.says("expires with this recall");
    let expired = world.json("list --expired");
    assert!(expired[0].get("recalls_left").is_none(), "{expired}");
    world.ok(format!("revive {id} --expires 'usage 3'"));

    world.ok(format!("update {id} --expires 'time 3d'"));
    let history = world.out(format!("history {id}"));
    history.says("expires: usage 3 → time ");
    let health = world.out("health");
    health.says("1 expires within 7 days");
    health.says(format!("{id} demo  expires 20"));
    health.says("│ The demo is on Thursday");
    world.ok(format!("update {id} --expires 'time 2090-01-05 09:00'"));
    // A person reads local times.
    let mut diff = world.command("diff @3");
    let diff = run(diff.env("TZ", "Asia/Tokyo"), b"").ok().out;
    diff.says("expires: usage 3 → time 2090-01-05 18:00\n");

    let refused = world.fails(
        "store -t t -c c --expires 'time 2020-03-01' => 2: cannot expire at the end of 2020-03-01",
    );
    refused.err.lacks("2020-03-02");
}

#[test]
fn the_history_of_an_expired_memory_names_its_condition() {
    let world = World::new();
    let file = world.write("plan.md", "a plan");
    let condition = format!("file-exists {}", file.display());
    let stored = ["store", "-t", "t", "-c", "The plan has seven steps"];
    let stored = stored.into_iter().chain(["--expires", &condition]);
    world.icm(stored.collect::<Vec<_>>()).ok();
    std::fs::remove_file(&file).unwrap();
    world.icm("recall 'how many steps has the plan'").ends(1);
    let id = world.json("list --expired").texts("id").remove(0);
    let history = world.out(format!("history {id}"));
    history.says(format!("{condition}: the file is gone"));
    let other = world.stored("-t t -c 'The badge opens the archive' --expires 'usage 1'");
    world.out(format!("history {other}")).lacks("hidden now");
    world.ok("recall 'what opens the archive'");
    let history = world.out(format!("history {other}"));
    history.says("hidden now: usage 1");
    let log = world.out("log --kind memory.expired");
    log.says("file-exists: the file is gone: [t] The plan has seven steps");
}

#[test]
fn an_answer_that_cannot_take_its_turn_says_why() {
    let world = World::new();
    world.stored("-t t -c 'The badge opens the archive' --expires 'usage 1'");
    let lock = world.store().join("usage.lock");
    std::fs::create_dir(&lock).unwrap();
    let found = world.ok("recall 'what opens the archive'");
    found.out.says("The badge opens the archive");
    found.err.says("not counted for `usage` yet");
    found.err.says("usage.lock");
    std::fs::remove_dir(&lock).unwrap();
    // The record followed.
    assert_eq!(world.json("list --expired").count(), 1);
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

#[test]
fn receipts_tell_the_condition() {
    let world = World::new();
    let path = world.write("lock", "one");
    let path = path.to_str().unwrap();
    for (expires, told) in [
        ("usage 3".to_owned(), "expires after 3 recalls".to_owned()),
        (
            "time 2090-12-27".to_owned(),
            "expires at the end of 2090-12-27".to_owned(),
        ),
        (
            "time 2090-12-27T09:30:00Z".to_owned(),
            "expires 2090-12-27 09:30".to_owned(),
        ),
        (
            format!("file-exists {path}"),
            format!("expires once {path} is gone"),
        ),
        (
            format!("file-pristine {path}"),
            format!("expires once {path} is changed or gone"),
        ),
        (
            "period 2090-01-01..2090-02-01".to_owned(),
            "is shown from 2090-01-01 until the end of 2090-02-01".to_owned(),
        ),
        (
            "period mon-fri 09:00-17:00".to_owned(),
            "is shown mon-fri 09:00-17:00 UTC".to_owned(),
        ),
    ] {
        let content = format!("It holds under {expires}");
        let store = ["store", "-t", "t", "-c", &content, "--expires", &expires];
        let stored = world.icm(store).ok();
        assert_eq!(stored.out.lines().nth(1), Some(&*told), "{}", stored.out);
    }
    let id = world.stored("-t t -c 'The office has three floors'");
    let receipt = world.json(format!("update {id} --expires 'usage 2'"));
    receipt.has(json!({"action": "updated", "expires": "usage 2"}));
    let shown = world.out(format!("revive {id} --expires 'usage 1'"));
    shown.says("\nexpires after 1 recall\n");
    let receipt = world.json(format!("update {id} -i high"));
    assert!(receipt.get("expires").is_none(), "{receipt}");
}

#[test]
fn times_of_conditions_and_alerts_are_shown_as_local_times() {
    let world = World::new();
    let local = |line: &str| {
        let mut command = world.command(line);
        run(command.env("TZ", "Asia/Tokyo"), b"").ok().out
    };
    let out = local("store -t t -c 'The demo is near' --expires 'time 2090-01-05'");
    out.says("\nexpires at the end of 2090-01-05\n");
    let id = world.json("list")[0]["id"].as_str().unwrap().to_owned();
    let memory = world.json(format!("get {id}"));
    assert_eq!(memory["expires"], "time 2090-01-05T15:00:00Z");
    local(&format!("get {id}")).says("expires     time 2090-01-05\n");
    let out = local(&format!("update {id} --expires 'time 2090-01-05 09:00'"));
    out.says("\nexpires 2090-01-05 09:00\n");
    local(&format!("get {id}")).says("expires     time 2090-01-05 09:00\n");
    let id = world.stored("-t t -c 'The office is shut' --expires 'period 2090-01-05..'");
    local("list --expired").says("period 2090-01-05 09:00..");
    let shown = local(&format!("get {id}"));
    shown.says(
        "period 2090-01-05 09:00..: hidden now, shown again by itself from 2090-01-05 09:00\n",
    );

    let set = local("alert set --session s1 --due '2090-01-05 09:00' 'Look at it'");
    set.says("from 2090-01-05 09:00 @");
    local("alerts --all").says("due 2090-01-05 09:00)");
}

#[test]
fn a_topic_is_revived_with_its_expired_memories() {
    let world = World::new();
    let used = world.stored("-t demo -c 'The demo is on Thursday' --expires 'usage 1'");
    world.out("recall 'when is the demo'").says("Thursday");
    let forgotten = world.stored("-t demo -c 'The office has three floors'");
    world.ok(format!("forget {forgotten}"));
    let out = world.out("revive -t demo --expires 'usage 2'");
    for id in [&used, &forgotten] {
        out.says(format!("revived {id} in demo"));
        assert_eq!(world.json(format!("get {id}"))["expires"], "usage 2");
    }
    out.says("expires after 2 recalls");
    let none = world.icm("revive -t demo").ends(1);
    none.err.says("nothing in `demo` is forgotten or expired");
}

#[test]
fn tags_count_expired_memories_apart() {
    let world = World::new();
    world.ok("store -t demo -c 'The demo is on Thursday' -k draft,demo --expires 'usage 1'");
    world.ok("store -t office -c 'The office has three floors' -k draft");
    world
        .out("recall 'when is the demo' -t demo")
        .says("Thursday");
    let tags = world.json("tags");
    tags.has(json!({
        "/0/tag": "demo", "/0/memories": 0, "/0/expired": 1,
        "/1/tag": "draft", "/1/memories": 1, "/1/expired": 1,
    }));
    let shown = world.out("tags");
    shown.says("draft  1  just now  1 expired");
    let done = world.out("tags rename draft old --yes");
    done.says("renamed `draft` to `old` in 2 memories, 1 of them expired @");
    world
        .json("tags")
        .has(json!({"/1/tag": "old", "/1/memories": 1, "/1/expired": 1}));
}
