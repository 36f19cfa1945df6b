//! Invalid files and options.

use serde_json::json;

use super::{lines, long_mem_eval, pair};
use crate::world::World;

#[test]
fn without_a_terminal_the_answer_is_no() {
    let world = World::new();
    world.write(
        "c.memories.jsonl",
        lines(&[json!({ "key": "a", "topic": "t", "content": "x" })]),
    );
    world.write("c.questions.jsonl", lines(&[json!({ "query": "x" })]));
    let run = world.icm("bench recall c.memories.jsonl --json").ends(1);
    assert_eq!(run.json()["overall"]["n"], 0);
    assert_eq!(run.json()["categories"]["none"]["skipped"], 1);
    assert_eq!(run.json()["overall"]["any_at"]["20"], 0.0);
}

#[test]
fn mistakes_in_the_files_are_named_with_their_place() {
    let world = World::new();
    std::fs::create_dir(world.path("empty")).unwrap();
    world.fails("bench recall empty => 2: there is no `NAME.memories.jsonl` in empty");
    world.fails("bench recall gone => 2: cannot read gone: No such file");
    world.fails("bench recall gone.memories.jsonl => 2: cannot read gone.questions.jsonl");
    world.write("notes.txt", "");
    world.fails("bench recall notes.txt => 2: notes.txt is nothing to measure on");

    let good = json!({ "key": "a", "topic": "t", "content": "x" }).to_string();
    let asked = json!({ "query": "x", "evidence": ["a"] }).to_string();
    world.write("alone.memories.jsonl", &good);
    world.fails("bench recall . => 2: alone.memories.jsonl lacks its ./alone.questions.jsonl");
    std::fs::remove_file(world.path("alone.memories.jsonl")).unwrap();
    world.write("alone.questions.jsonl", &asked);
    world.fails("bench recall . => 2: alone.questions.jsonl lacks its ./alone.memories.jsonl");

    let twice = json!({ "key": "a", "topic": "other", "content": "y" });
    for (memories, questions, words) in [
        (
            format!("{good}\nnonsense\n"),
            asked.clone(),
            "c.memories.jsonl:2: not JSON",
        ),
        (
            format!("{good}\n{twice}\n"),
            format!("\n{asked}\n"),
            "c.questions.jsonl:2: the evidence `a` names 2 memories",
        ),
        (
            "\n".to_owned(),
            asked.clone(),
            "c.memories.jsonl: no memory is in it",
        ),
        (
            good.clone(),
            format!("{asked}\n[]\n"),
            "c.questions.jsonl:2: not a JSON object",
        ),
        (
            good.clone(),
            "{}".to_owned(),
            "c.questions.jsonl:1: `query` is missing",
        ),
        (
            good.clone(),
            r#"{"query": 1}"#.to_owned(),
            "c.questions.jsonl:1: `query` is not text",
        ),
        (
            good.clone(),
            r#"{"query": " "}"#.to_owned(),
            "c.questions.jsonl:1: the query is empty",
        ),
        (
            good.clone(),
            r#"{"query": "x", "category": []}"#.to_owned(),
            ":1: `category` is neither text nor a number",
        ),
        (
            good.clone(),
            r#"{"query": "x", "evidence": "a"}"#.to_owned(),
            ":1: `evidence` is not a list of keys",
        ),
        (
            good.clone(),
            r#"{"query": "x", "evidence": [1]}"#.to_owned(),
            ":1: a piece of evidence is not text",
        ),
    ] {
        world.write("c.memories.jsonl", memories);
        world.write("c.questions.jsonl", questions);
        world.icm("bench recall c.memories.jsonl").fails(2, words);
    }

    let mut short = long_mem_eval();
    short[1]["haystack_session_ids"] = json!(["chat_1"]);
    let mut dated = long_mem_eval();
    dated[0]["haystack_dates"][1] = "tomorrow-ish".into();
    let mut empty = long_mem_eval();
    empty[2]["question"] = "".into();
    let whole = long_mem_eval().to_string();
    for (file, words) in [
        (
            "{}".to_owned(),
            "lme.json:1: after 0 questions: invalid type: map, expected an array of questions",
        ),
        (
            "[{}]".to_owned(),
            "lme.json:1: after 0 questions: missing field `question_id`",
        ),
        (
            whole[..whole.len() - 9].to_owned(),
            "lme.json:1: after 2 questions: ",
        ),
        (
            format!("{whole} x"),
            "lme.json:1: after 3 questions: trailing characters",
        ),
        (
            short.to_string(),
            "lme.json: question 2 (q2_abs): 2 sessions, but 1 ids and 2 dates",
        ),
        (
            dated.to_string(),
            "lme.json: question 1 (q1):2: `tomorrow-ish` is no point in time",
        ),
        (
            empty.to_string(),
            "lme.json: question 3 (q3): the query is empty",
        ),
    ] {
        world.write("lme.json", file);
        world.icm("bench recall lme.json").fails(2, words);
    }
    assert!(!world.store().exists());
}

#[test]
fn questions_that_cannot_be_measured_are_refused() {
    let world = World::new();
    pair(&world, "c");
    for (args, words) in [
        (vec!["--only", "luck"], "luck"),
        (vec!["--k", "0"], "from 1 to 1000"),
        (
            vec!["--k", "50", "--limit", "20"],
            "the limit is 20, it must be from 50 to 1000",
        ),
        (
            vec!["--limit", "9"],
            "the limit is 9, it must be from 20 to 1000",
        ),
        (
            vec!["--limit", "9", "--k", "1"],
            "the limit is 9, it must be from 10 to 1000",
        ),
        (vec!["--granularity", "turn"], "only of LongMemEval files"),
        (
            vec!["--set", "recall.limit=3"],
            "`recall.limit` does not change the results of a recall",
        ),
        (
            vec!["--set", "ranking.candidates=0"],
            "must be a number from 1 to 10000",
        ),
        (
            vec!["--rankings", "c.questions.jsonl"],
            "rankings cannot be written to",
        ),
        (
            vec!["--only", "vectors", "--set", "embedding.model=none"],
            "without a model there are no vectors to rank by",
        ),
        (
            vec!["--rankings", "no/such/r.jsonl"],
            "there is no folder no/such",
        ),
    ] {
        let mut all = vec!["bench", "recall", "."];
        all.extend(args);
        world.icm(all).fails(2, words);
    }
    let report = world.json("bench recall . --k 500");
    assert_eq!(report["limit"], 500);
}
