//! `icm serve`, as an agent starts it.

use crate::world::World;

const HELLO: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
    r#""capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    "\n",
);

#[test]
fn it_answers_on_stdout_and_ends_with_stdin() {
    let world = World::with_memories();
    for args in [
        ["serve"].as_slice(),
        &["serve", "--read-only"],
        &["serve", "--compact"],
    ] {
        let run = world.icm_with(args, HELLO.as_bytes()).ok();
        let answers = run.json_lines();
        let ids: Vec<i64> = answers.iter().filter_map(|a| a["id"].as_i64()).collect();
        assert_eq!(ids, [1, 2], "{run:?}");
        let tools = answers[1]["result"]["tools"].as_array().unwrap();
        assert!(!tools.is_empty());
    }
}

#[test]
fn nothing_on_stdin_is_no_failure() {
    let world = World::new();
    let run = world.icm(["serve"]).ok();
    assert_eq!(run.out, "");
    assert!(!world.store().exists());
}
