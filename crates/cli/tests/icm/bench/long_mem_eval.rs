//! Questions of LongMemEval.

use serde_json::{Value, json};

use super::long_mem_eval;
use crate::world::{Look, Says, World};

#[test]
fn a_long_mem_eval_question_has_a_store_of_its_own() {
    let world = World::new();
    world.write("lme.json", long_mem_eval().to_string());
    let ask = |args: &str| {
        let report = world.json(("bench recall lme.json --rankings r.jsonl", args));
        let rankings = std::fs::read_to_string(world.path("r.jsonl")).unwrap();
        let first: Value = serde_json::from_str(rankings.lines().next().unwrap()).unwrap();
        let second: Value = serde_json::from_str(rankings.lines().nth(1).unwrap()).unwrap();
        (report, first, second)
    };

    // Turns are marked, so each turn with words is a memory.
    let (report, first, second) = ask("");
    report.has(json!({
        "stores": 2, "memories": 6, "questions": 2,
        "skipped": { "no_evidence": 0, "abstention": 1 }, "unknown_evidence": 2,
    }));
    assert_eq!(first["store"], "lme.json");
    assert_eq!(first["question"], "q1");
    first.has(json!({"granularity": "turn", "evidence": ["answer_2:2", "chat_1:2"]}));
    let keys: Vec<&Value> = first["ranked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| &hit["key"])
        .collect();
    assert_eq!(keys, ["answer_2:1", "answer_2:2"]);
    // The name of a session cannot be found.
    second.has(json!({"query": "answer", "ranked": []}));
    report["categories"]["single-session-user"].has(json!({"n": 2, "skipped": 1}));

    let (report, first, second) = ask("--granularity session");
    report.has(json!({"memories": 4, "unknown_evidence": 1}));
    assert_eq!(first["granularity"], "session");
    first.has(json!({"evidence": ["answer_2"], "/ranked/0/key": "answer_2"}));
    assert_eq!(second["evidence"], json!(["answer_2", "gone_9"]));
    assert_eq!(report["overall"]["all_at"]["1"], 0.5);
}

#[test]
fn without_marked_turns_a_session_is_a_memory_and_a_long_one_is_cut() {
    let world = World::new();
    let mut questions = long_mem_eval();
    for question in questions.as_array_mut().unwrap() {
        for turn in question["haystack_sessions"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .flat_map(|s| s.as_array_mut().unwrap())
        {
            turn.as_object_mut().unwrap().remove("has_answer");
        }
    }
    // The text is cut within a character of two bytes.
    questions[0]["haystack_sessions"][0][0]["content"] = format!("a{}", "ж".repeat(40_000)).into();
    world.write("lme.json", questions.to_string());
    let run = world.ok("bench recall lme.json");
    run.err.says("note: 1 text was longer than a memory may be");
    let report = world.json("bench recall lme.json");
    report.has(json!({"memories": 4, "cut": 1}));
}
