//! Tests of wrong arguments and names, and of their errors.

use icm_api::Trust;
use icm_server::mcp::McpOptions;
use serde_json::json;

use crate::client::{Client, EVERYTHING, READ_ONLY};
use crate::look::{Look, Says};
use crate::record::recalls_recorded;

#[tokio::test]
async fn a_bad_argument_is_a_result_that_names_the_fix() {
    let mut client = Client::legacy(EVERYTHING).await;
    for (tool, arguments, expected) in [
        (
            "icm_memory_store",
            json!({"topic": "t"}),
            "missing argument `content`",
        ),
        (
            "icm_memory_store",
            json!({"topic": "t", "content": "c", "importance": "huge"}),
            "`importance` must be one of low, medium, high, critical",
        ),
        (
            "icm_memory_store",
            json!({"topic": "t", "content": "c", "tags": "a"}),
            "unknown argument `tags`: give only topic, content, importance, keywords, raw_excerpt",
        ),
        (
            "icm_memory_store",
            json!({"topic": "t", "content": ["c"]}),
            "`content` must be a string",
        ),
        (
            "icm_memory_recall",
            json!({"query": "q", "limit": "many"}),
            "`limit` must be a whole number from 1 to 50",
        ),
        (
            "icm_log",
            json!({"limit": 2.5}),
            "`limit` must be a whole number from 1 to 200",
        ),
        (
            "icm_undo",
            json!({"last": 0}),
            "`last` must be a whole number from 1 to 1000",
        ),
        (
            "icm_log",
            json!({"id": "01J9", "kind": "memory"}),
            "`id` gives the whole history of one memory, or one event",
        ),
        (
            "icm_log",
            json!({"id": "abcdef123456"}),
            "no memory abcdef123456",
        ),
        ("icm_log", json!({"id": "@99"}), "no event @99"),
        ("icm_diff", json!({}), "missing argument `from`"),
        (
            "icm_diff",
            json!({"from": "soon"}),
            "`soon` is no point in time",
        ),
        (
            "icm_memory_stats",
            json!({"verbose": true}),
            "unknown argument `verbose`: give only as_of",
        ),
        (
            "icm_memory_forget",
            json!({"id": "01J90000000000000000000000"}),
            "no memory 01J90000000000000000000000",
        ),
    ] {
        let text = client.fails(tool, arguments).await;
        text.begins(expected);
        assert!(text.lines().count() <= 2, "{text}");
    }
    let params = json!({"name": "icm_memory_delete", "arguments": {}});
    let reply = client.request("tools/call", params).await;
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    let reply = client
        .request("tools/call", json!({"name": "icm_log", "arguments": "all"}))
        .await;
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    let reply = client.request("tools/run", json!({})).await;
    assert_eq!(reply["error"]["code"], -32601, "{reply}");
}

#[tokio::test]
async fn errors_speak_of_tools_and_arguments() {
    let mut client = Client::legacy(EVERYTHING).await;
    let (_, stored) = client
        .ok("icm_memory_store", json!({"topic": "t", "content": "one"}))
        .await;
    let id = stored["id"].as_str().expect("an id");
    let secret = format!("the password is hunter2: ghp_{}", "k3X9vB2mQ7".repeat(4));
    for (tool, arguments, says) in [
        (
            "icm_memory_store",
            json!({"topic": "t", "content": &secret[..secret.len() - 4]}),
            "store it anyway with allow_secret: true",
        ),
        ("icm_undo", json!({}), "give last, session, topic or memoir"),
        ("icm_undo", json!({"event": id}), "icm_log (id: "),
        ("icm_undo", json!({"event": "@"}), "icm_log lists events"),
        (
            "icm_undo",
            json!({"last": 1, "confirm": "what I read"}),
            "`confirm` is not the plan of what would be done now",
        ),
        (
            "icm_memory_forget",
            json!({"id": "01J90000000000000000000000"}),
            "search with icm_memory_recall",
        ),
    ] {
        let text = client.fails(tool, arguments).await;
        text.says(says);
    }
}

#[tokio::test]
async fn a_wrong_call_is_told_how_it_is_right() {
    let mut client = Client::legacy(McpOptions::default()).await;
    for (method, params, words) in [
        (
            "tools/call",
            json!({"name": "icm_memory_stor", "arguments": {}}),
            "no tool `icm_memory_stor`; did you mean icm_memory_store?",
        ),
        (
            "tools/call",
            json!({"name": "nonsense", "arguments": {}}),
            "no tool `nonsense`; see tools/list",
        ),
        (
            "tools/call",
            json!({"name": "icm_memory_store", "arguments": []}),
            "`arguments` an object",
        ),
        ("prompts/get", json!({"name": 5}), "`name` is text"),
        ("resources/read", json!({}), "`uri` is text"),
    ] {
        let reply = client.request(method, params).await;
        let said = reply["error"]["message"].as_str().unwrap_or_default();
        assert!(said.contains(words), "{reply}");
    }
}

#[tokio::test]
async fn read_only_refuses_what_it_does_not_list() {
    let mut client = Client::legacy(READ_ONLY).await;
    client.put("t", "a memory", Trust::User);
    let prompts = client.request("prompts/list", json!({})).await;
    let prompts = prompts["result"]["prompts"].as_array().expect("prompts");
    let prompts: Vec<_> = prompts
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    assert_eq!(prompts, ["recap", "session-start", "wake-up"]);
    let asked = json!({"name": "consolidate", "arguments": {"topic": "t"}});
    let refused = client.request("prompts/get", asked).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    let text = client
        .fails("icm_memory_store", json!({"topic": "t", "content": "c"}))
        .await;
    text.says("only what reads");
    let (_, answer) = client
        .ok("icm_memory_recall", json!({"query": "memory"}))
        .await;
    assert_eq!(answer["results"].count(), 1);
    let (_, store) = client.end().await;
    assert_eq!(recalls_recorded(&store), 0);
}
