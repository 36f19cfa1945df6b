//! `icm feedback`: corrections that come with recalls, and marks that move memories.

use serde_json::json;

use crate::world::{Look, Says, World, run, tree};

const RECORD: &str = "feedback record --context 'a flaky test in the payment pipeline' \
                      --predicted 'run it again' --correct 'freeze the clock'";

#[test]
fn a_correction_is_found_and_comes_with_a_recall() {
    let world = World::with_memories();
    let receipt = world.json(format!("{RECORD} -t ci --reason 'it was the clock'"));
    assert!(
        receipt["id"].is_string() && receipt.get("memory").is_none(),
        "{receipt}"
    );

    let found = world.json("feedback search 'flaky test'");
    assert_eq!(found["results"].count(), 1, "{found}");
    found.has(json!({
        "/results/0/id": receipt["id"], "/results/0/topic": "ci",
        "/results/0/context": "a flaky test in the payment pipeline",
        "/results/0/predicted": "run it again", "/results/0/correct": "freeze the clock",
        "/results/0/reason": "it was the clock", "/results/0/scope": "global",
    }));
    let found = world.json("feedback search 'flaky test' -t ci");
    assert_eq!(found["results"].count(), 1, "{found}");
    world.icm("feedback search 'flaky test' -t other").ends(1);
    world.icm("feedback search zebras").ends(1);

    // No memory fits, but the correction is shown.
    let run = world.icm("recall 'flaky test in the pipeline' --json");
    let answer = run.ends(1).json();
    assert_eq!(answer["corrections"][0]["id"], receipt["id"], "{answer}");
    let run = world.icm("recall 'flaky test in the pipeline'").ends(1);
    run.out.says(
        "correction: \"run it again\" was predicted, \"freeze the clock\" is right; it was the \
         clock (context \"a flaky test in the payment pipeline\")",
    );
    let answer = world.json("recall 'where do invoices live'");
    assert!(answer.get("corrections").is_none(), "{answer}");
    let context = world
        .icm("recall-context 'flaky test in the pipeline'")
        .ends(1);
    context
        .out
        .says("correction: \"run it again\" was predicted");

    world.json("stats").has(json!({"memories": 3, "topics": 2}));
    world.ok("verify");
}

#[test]
fn a_topic_is_searched_also_behind_many_corrections_of_others() {
    let world = World::new();
    let service = icm_service::Service::open(icm_service::OpenOptions {
        dir: world.store(),
        lock_wait: std::time::Duration::from_secs(5),
        read_only: false,
    });
    let service = service.unwrap();
    let record = |topic: &str, context: String| {
        let request = icm_api::FeedbackRequest {
            context,
            predicted: "run it again".to_owned(),
            correct: "freeze the clock".to_owned(),
            topic: Some(topic.to_owned()),
            ..icm_api::FeedbackRequest::default()
        };
        let caller = icm_api::Caller::default();
        service.feedback_record(&caller, &request).unwrap();
    };
    record(
        "ci",
        "a test that fails now and then in one of many pipelines".to_owned(),
    );
    for n in 0..1_010 {
        record("other", format!("flaky test {n}"));
    }
    drop(service);
    let found = world.json("feedback search 'flaky test' -t ci --floor 0");
    assert_eq!(found["results"].count(), 1, "{found}");
    world.icm("feedback search 'flaky test' -t none").ends(1);
}

#[test]
fn corrections_are_listed_newest_first() {
    let world = World::with_memories();
    assert_eq!(world.json("feedback list"), json!([]));
    world.ok("feedback list").err.says("no corrections");
    let mut ids = Vec::new();
    for n in 0..3 {
        let topic = ["ci", "ports", "ci"][n];
        let record = format!(
            "feedback record --context 'case {n}' --predicted p{n} --correct c{n} -t {topic}"
        );
        let receipt = world.json(record);
        ids.insert(0, receipt["id"].as_str().expect("an id").to_owned());
    }
    let in_shop = "feedback record --context c --predicted p --correct d --scope project:shop";
    ids.insert(
        0,
        world.json(in_shop)["id"]
            .as_str()
            .expect("an id")
            .to_owned(),
    );
    let list = world.json("feedback list");
    assert_eq!(list.texts("id"), ids);
    list.has(
        json!({"/1/predicted": "p2", "/1/correct": "c2", "/1/topic": "ci", "/1/context": "case 2"}),
    );
    assert_eq!(
        world.json("feedback list -t ci").texts("id"),
        [&*ids[1], &*ids[3]]
    );
    assert_eq!(
        world.json("feedback list --scope project:shop").texts("id"),
        [&*ids[0]]
    );
    assert_eq!(world.json("feedback list -l 1").texts("id"), [&*ids[0]]);
    let shown = world.ok("feedback list");
    shown.out.says(format!("{}  ci", ids[1]));
    shown.out.says("predicted: p2");
    shown.out.says("project:shop");

    world.ok("undo --last 1 --yes");
    assert_eq!(world.json("feedback list").texts("id"), ids[1..]);
    assert_eq!(world.json("feedback list --at @1"), json!([]));
}

#[test]
fn a_correction_named_as_a_memory_is_told_apart() {
    let world = World::with_memories();
    let receipt = world.json(RECORD);
    let id = receipt["id"].as_str().expect("an id");
    let event = &receipt["event"].as_str().expect("an event")[..12];
    for named in [id, &id[..20]] {
        for command in ["get", "forget", "feedback mark --wrong"] {
            let error = world.icm(format!("{command} {named}")).ends(2).err;
            error.says(format!("{id} is a correction, not a memory"));
            error.says("`icm feedback list`");
            error.says(format!("`icm undo {event}` takes it back"));
        }
    }
    world.ok(format!("redact {} --yes", &id[..20]));
    let list = world.json("feedback list");
    list.has(json!({"/0/id": id, "/0/correct": null}));
    world.ok("feedback list").out.says("correct: (withheld)");
}

#[test]
fn marks_are_told_and_counted() {
    let world = World::with_memories();
    let id = world.id("database");
    world
        .ok(format!("feedback mark {id} --useful"))
        .out
        .says("marked");
    world
        .ok(format!("feedback mark {id} --useful"))
        .out
        .says("unchanged");
    let mut other = world.command(format!("feedback mark {id} --wrong"));
    other.env("ICM_SESSION", "night");
    run(&mut other, b"").ok();

    let marks = json!({"useful": 1, "wrong": 1});
    assert_eq!(world.json(format!("get {id}"))["marks"], marks);
    let told = "called useful once, wrong once";
    world.ok(format!("get {id}")).out.says(told);
    let why = world.ok(format!("why {id}"));
    why.out.says(told);
    why.out.says("feedback.applied");
    let list = world.ok("list");
    list.out.says(format!("medium, {told}"));
    assert_eq!(list.out.matches("called").count(), 1, "{}", list.out);
    let log = world.ok("log --kind feedback");
    log.out.says("useful");
    log.out.says("wrong");

    world.json("feedback stats").has(json!({
        "feedback": 0, "marked": 1, "marks": marks, "/most_wrong/0/id": id,
    }));
    let memory = world.json(format!("{RECORD} --memory {id}"));
    memory.has(json!({"memory": id, "marks": {"useful": 0, "wrong": 2}}));
    world.ok("feedback stats").out.says("most often wrong");

    let diff = world.json("diff @0");
    assert_eq!(diff["feedback"]["recorded"].count(), 1, "{diff}");
    assert_eq!(diff["feedback"]["judged"].count(), 1, "{diff}");
    let text = world.ok("diff @0");
    text.out.says("recorded");
    text.out.says("called wrong 2 times");

    world.ok("undo --last 1 --yes");
    let stats = world.json("feedback stats");
    stats.has(json!({"feedback": 0, "marks": marks}));
}

#[test]
fn mistakes_are_told() {
    let world = World::with_memories();
    let id = world.id("database");
    world.icm(format!("feedback mark {id}")).ends(2);
    world
        .icm(format!("feedback mark {id} --wrong --useful"))
        .ends(2);
    world
        .icm("feedback mark 01J9X4 --wrong")
        .fails(1, "no memory 01J9X4");
    world
        .icm("feedback record --context c --predicted p --correct ''")
        .fails(2, "the correction is empty");
    let receipt = world.json(RECORD);
    let feedback = receipt["id"].as_str().unwrap();
    world
        .icm(format!("forget {feedback}"))
        .fails(2, "is a correction, not a memory");
    world.ok(format!("forget {id}"));
    world
        .icm(format!("feedback mark {id} --wrong"))
        .fails(1, "is forgotten");
}

#[test]
fn redacted_feedback_is_gone() {
    let world = World::with_memories();
    let receipt = world.json(RECORD);
    let feedback = receipt["id"].as_str().unwrap();
    world.ok(format!("redact {feedback} --yes"));
    world.icm("feedback search 'flaky test'").ends(1);
    world.ok("verify");
    for (path, bytes) in tree(&world.store().join("log")) {
        let text = b"freeze the clock";
        assert!(bytes.windows(text.len()).all(|it| it != text), "{path:?}");
    }
}
