//! Measuring recall on small conversations.

mod long_mem_eval;
mod mistake;
mod replay;
mod score;
mod store;

use serde_json::{Value, json};

use crate::world::World;

/// Returns values as JSON lines.
fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// Returns the name of a world's folder.
fn folder(world: &World) -> String {
    let path = world.path(".").canonicalize().unwrap();
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Returns the rankings of a file.
fn rankings(world: &World, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(world.path(file)).unwrap();
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

/// Writes a conversation with each word in one memory, and questions about it.
fn pair(world: &World, name: &str) {
    let memories: Vec<Value> = ["heron", "violin", "marble"]
        .iter()
        .zip(1..)
        .map(|(word, n)| json!({ "key": format!("D1:{n}"), "topic": "s1", "content": format!("{word}!") }))
        .collect();
    world.write(&format!("{name}.memories.jsonl"), lines(&memories));
    let questions = [
        // Found first.
        json!({ "query": "heron", "category": 1, "evidence": ["D1:1"] }),
        // One of two pieces is found.
        json!({ "query": "violin", "category": 2, "evidence": ["D1:2", "D1:3", "D1:2"] }),
        // Not found.
        json!({ "query": "approval", "category": 2, "evidence": ["D1:3"] }),
        json!({ "query": "who knows", "category": 2, "evidence": [] }),
        // Found, but half of the evidence names no memory.
        json!({ "query": "marble", "category": "odd", "evidence": ["D1:3", "D9:9"] }),
    ];
    world.write(&format!("{name}.questions.jsonl"), lines(&questions));
}

/// Returns questions in LongMemEval's format: names give the answer away, and one question has no answer.
fn long_mem_eval() -> Value {
    let turn = |content: &str, has_answer: bool| json!({ "role": "user", "content": content, "has_answer": has_answer });
    let sessions = json!([
        [turn("I keep bees", false), turn("", true)],
        [
            turn("My violin is old", false),
            turn("I tune it at dawn", true)
        ],
    ]);
    let question = |id: &str, text: &str, evidence: &[&str]| {
        json!({
            "question_id": id, "question_type": "single-session-user", "question": text,
            "answer": 7, "question_date": "2023/05/30 (Tue) 23:40",
            "haystack_session_ids": ["chat_1", "answer_2"],
            "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 12:00"],
            "haystack_sessions": sessions, "answer_session_ids": evidence,
        })
    };
    json!([
        question("q1", "when is the violin tuned", &["answer_2"]),
        question("q2_abs", "which answer is there", &["answer_2"]),
        question("q3", "answer", &["answer_2", "gone_9"]),
    ])
}
