//! The agent and the session that the log names.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::world::{Says, World, run};

/// Returns the log's entries of stored memories, newest first.
fn stored(world: &World) -> Vec<Value> {
    let log = world.ok("log --kind memory.stored --json");
    log.json_lines()
}

/// Stores one memory over MCP, as a client with this name and this metadata.
fn store(world: &World, client: &str, meta: Value, variables: &[(&str, &str)]) {
    let content = format!("said by {client} {meta} {variables:?}");
    let calls = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": client, "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "icm_memory_store", "_meta": meta,
            "arguments": {"topic": "t", "content": content}}}),
    ];
    let input: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let mut command = world.command("serve");
    command
        .envs(variables.iter().copied())
        .stdin(Stdio::piped());
    let answers = run(&mut command, input.as_bytes()).ok().json_lines();
    let answer = &answers.last().unwrap()["result"];
    assert_eq!(answer["isError"], false, "{answer}");
}

#[test]
fn a_session_is_that_of_the_request_else_that_of_the_environment() {
    let world = World::new();
    for (meta, variables, session) in [
        (json!({}), [("A", ""), ("B", "")], Value::Null),
        (
            json!({"sessionId": "codex-1", "threadId": "codex-2"}),
            [("ICM_SESSION", "mine"), ("B", "")],
            json!("codex-1"),
        ),
        (
            json!({"x-codex-turn-metadata": {"session_id": "codex-3"}}),
            [("A", ""), ("B", "")],
            json!("codex-3"),
        ),
        (
            json!({}),
            [("COPILOT_AGENT_SESSION_ID", "copilot"), ("B", "")],
            json!("copilot"),
        ),
        (
            json!({}),
            [
                ("GEMINI_SESSION_ID", "gemini"),
                ("CLAUDE_CODE_SESSION_ID", "claude"),
            ],
            json!("claude"),
        ),
        (
            json!({}),
            [("GEMINI_SESSION_ID", "gemini"), ("ICM_SESSION", "mine")],
            json!("mine"),
        ),
    ] {
        store(&world, "test", meta.clone(), &variables);
        let newest = &world.json("list -l 1")[0];
        let named = newest["source"].get("session").cloned().unwrap_or_default();
        let is_made = named.as_str().is_some_and(|name| name.starts_with("mcp-"));
        // The server makes a session if none is named.
        assert_eq!(is_made, session.is_null(), "{named}");
        assert!(is_made || named == session, "{named}: {meta} {variables:?}");
    }
}

#[test]
fn an_agent_has_one_name_and_answers_to_its_old_one() {
    let world = World::new();
    // An actor in the form of an earlier version.
    let mut before = world.command("store -t t -c 'before the table of names'");
    run(before.env("ICM_ACTOR", "agent:codex-mcp-client"), b"").ok();
    store(&world, "codex-mcp-client", json!({}), &[]);
    store(&world, "qwen-cli-mcp-client-icm", json!({}), &[]);
    store(&world, "somebody", json!({}), &[]);
    let actors: Vec<_> = stored(&world)
        .iter()
        .map(|event| event["actor"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        actors,
        [
            "agent:somebody",
            "agent:qwen-code",
            "agent:codex",
            "agent:codex-mcp-client"
        ]
    );
    for name in [
        "agent:codex",
        "agent:codex-mcp-client",
        "codex",
        "Codex-MCP-client",
    ] {
        let log = world.icm(["log", "--kind", "memory.stored", "--actor", name]);
        assert_eq!(log.ok().out.lines().count(), 2, "{name}");
        let undo = ["undo", "--actor", name, "--dry-run", "--json"];
        let undone = world.icm(undo).ok().json();
        assert_eq!(
            undone["changes"].as_array().map(Vec::len),
            Some(2),
            "{undone}"
        );
    }
    // A name in full means that actor alone.
    let mut other = world.command(["store", "-t", "t", "-c", "by somebody else"]);
    run(other.env("ICM_ACTOR", "codex"), b"").ok();
    let log = world.icm(["log", "--kind", "memory.stored", "--actor", "codex"]);
    assert_eq!(log.ok().out.lines().count(), 1);

    let nearest = "no actor is named `somebdy`; nearest: agent:somebody, ";
    let log = world.icm(["log", "--actor", "somebdy"]).ok();
    assert_eq!(log.out, "");
    assert!(log.err.contains(nearest), "{}", log.err);
    let undo = world.icm(["undo", "--actor", "somebdy", "--dry-run"]);
    assert!(undo.err.contains(nearest), "{}", undo.err);
    undo.fails(1, "nothing to undo");
}

#[test]
fn commands_in_an_agents_shell_are_the_agents() {
    let world = World::new();
    for (variable, actor) in [
        ("CLAUDECODE", "agent:claude-code"),
        ("GEMINI_CLI", "agent:gemini-cli"),
        ("OPENCODE", "agent:opencode"),
        ("NOTHING", "user"),
    ] {
        let mut command = world.command(format!("store -t t -c '{variable}'"));
        run(command.env(variable, "1"), b"").ok();
        assert_eq!(stored(&world)[0]["actor"], actor);
    }
}

#[test]
fn a_server_does_not_talk_of_a_store_that_is_not_there() {
    let world = World::new();
    let quiet = world.ok("serve");
    assert_eq!(quiet.err, "");
    let mut logged = world.command("serve");
    let logged = run(logged.env("ICM_LOG", "info"), b"").ok();
    logged.err.says("there is no store");
    // Another command still reports the missing store.
    let list = world.icm("list");
    list.err.says("there is no store at");
    assert!(!world.store().exists());
}

#[test]
fn the_longest_answer_can_be_chosen() {
    let world = World::new();
    for number in 0..20 {
        // A passage of each memory is shown.
        let long = format!("The garden {number} has a long wall. ").repeat(400);
        world.ok(format!("store -t t -c '{long}'"));
    }
    let calls = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "icm_memory_recall", "arguments": {"query": "garden", "limit": 20}}}),
    ];
    let input: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let shown = |args: &str, variables: &[(&str, &str)]| {
        let mut command = world.command(("serve", args));
        command
            .envs(variables.iter().copied())
            .stdin(Stdio::piped());
        let answers = run(&mut command, input.as_bytes()).ok().json_lines();
        let text = &answers.last().unwrap()["result"]["content"][0]["text"];
        text.as_str().unwrap().len()
    };
    assert!(shown("", &[]) > 11_000);
    assert!(shown("--answer-max 5000", &[]) <= 5_000);
    assert!(shown("", &[("ICM_ANSWER_MAX", "5000")]) <= 5_000);
    for wrong in ["0", "3999", "500001", "many"] {
        world
            .icm(format!("serve --answer-max '{wrong}'"))
            .fails(2, "write a number from 4000 to 500000");
    }
}
