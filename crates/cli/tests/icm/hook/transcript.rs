//! Memories learned from a transcript.

use super::*;

#[test]
fn redacted_texts_are_not_found_in_the_transcript_again() {
    let world = World::new();
    let session = Session::new(&world, "claude-code", "s1");
    session.start("startup");
    session.says(
        "user",
        "We decided that Alice owns the invoices service in Berlin.",
    );
    session.hook("Stop", json!({})).ok();
    let learned = world.json("list -t sessions/");
    world.ok(format!(
        "redact {} --yes",
        learned[0]["id"].as_str().unwrap()
    ));
    session.says("user", "thanks");
    session.hook("Stop", json!({})).ok();
    let log = world.out("log --json");
    log.lacks("Alice");
}

#[test]
fn recited_memories_are_not_learned_and_without_a_project_the_scope_is_the_session() {
    let world = World::new();
    let session = Session::new(&world, "claude-code", "s1");
    let id = world.stored("-t decisions -c 'We decided to use port 9443 for the canary server'");
    session.start("startup");
    session.says(
        "assistant",
        &format!(
            "- {id} [decisions] We decided to use port 9443 for the canary server (high, 3 d ago)"
        ),
    );
    session.hook("Stop", json!({})).ok();
    assert_eq!(world.json("list -t sessions/"), json!([]));
    session.says("user", "We decided to keep invoices in PostgreSQL 16.");
    session.hook("Stop", json!({})).ok();
    let learned = world.json("list -t sessions/");
    assert_eq!(learned[0]["scope"], "session:s1", "{learned}");
}
