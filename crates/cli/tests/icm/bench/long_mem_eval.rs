//! Questions of LongMemEval.

use serde_json::{Value, json};

use super::long_mem_eval;
use crate::world::World;

#[test]
fn a_long_mem_eval_question_has_a_store_of_its_own() {
    let world = World::new();
    world.write("lme.json", long_mem_eval().to_string());
    let ask = |args: &[&str]| {
        let mut all = vec!["bench", "recall", "lme.json", "--rankings", "r.jsonl"];
        all.extend(args);
        let report = world.json(all);
        let rankings = std::fs::read_to_string(world.path("r.jsonl")).unwrap();
        let first: Value = serde_json::from_str(rankings.lines().next().unwrap()).unwrap();
        let second: Value = serde_json::from_str(rankings.lines().nth(1).unwrap()).unwrap();
        (report, first, second)
    };

    // Turns are marked, so each turn with words is a memory.
    let (report, first, second) = ask(&[]);
    assert_eq!(report["stores"], 2);
    assert_eq!(report["memories"], 6);
    assert_eq!(report["questions"], 2);
    assert_eq!(
        report["skipped"],
        json!({ "no_evidence": 0, "abstention": 1 })
    );
    assert_eq!(report["unknown_evidence"], 2);
    assert_eq!(first["store"], "lme.json");
    assert_eq!(first["question"], "q1");
    assert_eq!(first["granularity"], "turn");
    assert_eq!(first["evidence"], json!(["answer_2:2", "chat_1:2"]));
    let keys: Vec<&Value> = first["ranked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| &hit["key"])
        .collect();
    assert_eq!(keys, ["answer_2:1", "answer_2:2"]);
    // The name of a session cannot be found.
    assert_eq!(second["query"], "answer");
    assert_eq!(second["ranked"], json!([]));
    assert_eq!(report["categories"]["single-session-user"]["n"], 2);
    assert_eq!(report["categories"]["single-session-user"]["skipped"], 1);

    let (report, first, second) = ask(&["--granularity", "session"]);
    assert_eq!(report["memories"], 4);
    assert_eq!(report["unknown_evidence"], 1);
    assert_eq!(first["granularity"], "session");
    assert_eq!(first["evidence"], json!(["answer_2"]));
    assert_eq!(first["ranked"][0]["key"], "answer_2");
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
    let run = world.icm(["bench", "recall", "lme.json"]).ok();
    assert!(
        run.err
            .contains("note: 1 text was longer than a memory may be"),
        "{}",
        run.err
    );
    let report = world.json(["bench", "recall", "lme.json"]);
    assert_eq!(report["memories"], 4);
    assert_eq!(report["cut"], 1);
}
