//! MCP over HTTP.

use serde_json::json;

use super::Server;
use crate::world::{Look, Says, World};

#[test]
fn mcp_is_the_same_as_on_stdin() {
    let world = World::with_memories();
    let server = Server::of(&world, "--toolsets core --structured");
    let tools = |path: &str| {
        let list = server
            .mcp(path, "tools/list", json!({}), &[])
            .is(200)
            .json();
        let tools = list["result"]["tools"].as_array().expect("a list").clone();
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let (all, reading) = (tools("/mcp"), tools("/mcp/readonly"));
    assert!(all.contains(&"icm_memory_store".to_owned()), "{all:?}");
    assert!(
        !reading.contains(&"icm_memory_store".to_owned()),
        "{reading:?}"
    );
    assert!(
        reading.contains(&"icm_memory_recall".to_owned()),
        "{reading:?}"
    );

    let store =
        json!({"name": "icm_memory_store", "arguments": {"topic": "t", "content": "by HTTP"}});
    let stored = server
        .mcp("/mcp", "tools/call", store.clone(), &[])
        .is(200)
        .json();
    stored["result"]["structuredContent"].has(json!({"action": "stored"}));
    let refused = server.mcp("/mcp/readonly", "tools/call", store, &[]).json();
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    let log = world.json("log -l 1");
    assert_eq!(log["actor"], "agent:curl", "{log}");

    // A header that contradicts the body, another revision, and an unknown method.
    let recall = json!({"name": "icm_memory_recall", "arguments": {"query": "billing"}});
    let other = server.mcp(
        "/mcp",
        "tools/call",
        recall,
        &[("Mcp-Method", "tools/list")],
    );
    assert_eq!(other.status, 400, "{other:?}");
    assert_eq!(server.mcp("/mcp", "tools/none", json!({}), &[]).status, 404);
    let legacy = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"},
    }});
    let accept = [("Accept", "application/json, text/event-stream")];
    let hello = server.ask("POST /mcp", &accept, &legacy.to_string());
    assert_eq!(
        hello.is(200).json()["result"]["protocolVersion"],
        "2025-11-25"
    );
    hello.head.lacks("mcp-session-id");
    assert_eq!(
        server
            .ask("POST /mcp", &[("Accept", "text/html")], &legacy.to_string())
            .status,
        406
    );
    let plain = [accept[0], ("Content-Type", "text/plain")];
    assert_eq!(
        server.ask("POST /mcp", &plain, &legacy.to_string()).status,
        415
    );
    assert_eq!(server.ask("GET /mcp", &accept, "").status, 405);
}

#[test]
fn an_alert_is_shown_once_over_http() {
    let world = World::new();
    world.ok("alert set --session s1 'Run the tests again'");
    let server = Server::of(&world, "--toolsets all --structured");
    let ask = |path: &str| {
        let due = json!({"name": "icm_alerts", "arguments": {"session": "s1"}});
        let answer = server.mcp(path, "tools/call", due, &[]).is(200).json();
        answer["result"]["structuredContent"]["alerts"].count()
    };
    for (path, count) in [("/mcp/readonly", 1), ("/mcp", 1), ("/mcp", 0)] {
        assert_eq!(ask(path), count, "{path}");
    }
    assert_eq!(world.events("--kind alert.delivered").count(), 1);
}

/// A message with an id gets an answer with the id, as on stdin.
#[test]
fn lines_that_are_no_message_have_an_answer() {
    let world = World::with_memories();
    let server = Server::of(&world, "");
    let accept = [("Accept", "application/json, text/event-stream")];
    let ask = |body: &str| server.ask("POST /mcp", &accept, body);
    for (body, code, id) in [
        ("garbage", -32700, json!(null)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"#, -32700, json!(3)),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            -32600,
            json!(1),
        ),
        (
            r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#,
            -32600,
            json!(5),
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            -32600,
            json!(null),
        ),
        ("17", -32600, json!(null)),
        (" ", -32600, json!(null)),
    ] {
        let answer = ask(body);
        let reply = answer.is(400).json();
        assert_eq!(reply["error"]["code"], code, "{body}: {answer:?}");
        assert_eq!(reply["id"], id, "{body}: {answer:?}");
    }
    // Half of a surrogate pair: JavaScript can send such a cut text.
    let cut = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"icm_memory_store","arguments":{"topic":"t","content":"\ud83d"}}}"#;
    let reply = ask(cut).is(200).json();
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    let text = reply["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    text.says("surrogate");
}
