//! Tests of tools that panic, and of handshakes.

use std::time::Duration;

use rmcp::ServiceExt;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use super::call::route;
use super::*;
use crate::mcp::Offer;
use crate::mcp::tools::{Hints, Tool};
use crate::mcp::transport::LineTransport;
use icm_service::OpenOptions;

static BROKEN: Tool = Tool {
    name: "broken",
    title: "Broken",
    description: "",
    hints: Hints {
        read_only: true,
        destructive: false,
        idempotent: true,
    },
    leaves_work: false,
    search_hint: "",
    params: &[],
    output: None,
    run: |_, _| panic!("on purpose"),
};

fn server(folder: &tempfile::TempDir) -> Server {
    let service = Service::open(OpenOptions {
        dir: folder.path().join("store"),
        lock_wait: Duration::from_secs(10),
        read_only: false,
    });
    Server::new(
        Arc::new(service.expect("a store")),
        Caller {
            actor: "user".into(),
            ..Caller::default()
        },
        McpOptions {
            offer: Offer::ALL,
            structured: true,
            ..McpOptions::default()
        },
        Arc::new(FollowUp::default()),
    )
}

/// Returns the replies to a handshake and to calls of tools.
async fn replies(server: Server, calls: &[(&str, Value)]) -> Vec<Value> {
    let (mut input, reader) = tokio::io::duplex(1 << 16);
    let (writer, output) = tokio::io::duplex(1 << 16);
    let (transport, _) = LineTransport::start(reader, writer, |_| {});
    let serving = tokio::spawn(server.serve(transport));
    let mut output = BufReader::new(output).lines();
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    });
    let calls = calls
        .iter()
        .map(|(name, arguments)| ("tools/call", json!({"name": name, "arguments": arguments})));
    let mut replies = Vec::new();
    for (method, params) in std::iter::once(("initialize", hello)).chain(calls) {
        let id = replies.len();
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let line = format!("{request}\n");
        input.write_all(line.as_bytes()).await.expect("write");
        let line = output.next_line().await.expect("read").expect("a line");
        let reply: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(reply["id"], id);
        replies.push(reply["result"].clone());
    }
    serving.abort();
    replies
}

#[tokio::test]
async fn a_panic_in_a_tool_is_an_answer_and_the_server_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = server(&folder);
    Arc::get_mut(&mut server.router)
        .expect("nobody else has it")
        .add_route(route(&BROKEN, McpOptions::default()));
    let calls = [("broken", json!({})), ("icm_memory_stats", json!({}))];
    let replies = replies(server, &calls).await;
    assert_eq!(replies[1]["isError"], true, "{replies:?}");
    let text = replies[1]["content"][0]["text"].as_str().expect("a text");
    assert!(text.starts_with("internal error"), "{text}");
    assert_ne!(replies[2]["isError"], true, "{replies:?}");
    assert_eq!(replies[2]["structuredContent"]["memories"], 0);
}

#[tokio::test]
async fn a_handshake_counts_where_the_connection_lasts() {
    let stored = ("icm_memory_store", json!({"topic": "t", "content": "c"}));
    let calls = [stored, ("icm_log", json!({"limit": 1, "kind": "memory"}))];
    for (over_http, subscribe, actor) in
        [(false, json!(true), "agent:t"), (true, Value::Null, "user")]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let server = server(&folder);
        let server = match over_http {
            true => server.over_http(CancellationToken::new()),
            false => server,
        };
        let replies = replies(server, &calls).await;
        assert_eq!(
            replies[0]["capabilities"]["resources"]["subscribe"],
            subscribe
        );
        let event = &replies[2]["structuredContent"]["events"][0];
        assert_eq!(event["actor"], actor, "{event}");
    }
}
