//! Tests of recorded recalls and stores, as the log and later answers show them.

use std::time::Duration;

use icm_api::{LogRequest, Trust};
use icm_server::mcp::McpOptions;
use serde_json::{Value, json};

use crate::client::{COMPACT, Client, EVERYTHING, Store};
use crate::look::{Look, Says};

pub(crate) fn recalls_recorded(store: &Store) -> u64 {
    let request = LogRequest {
        kind: Some("memory.recalled".into()),
        ..LogRequest::default()
    };
    let recorded = store.service.log(&request, &mut |_| true);
    recorded.expect("the log")
}

#[tokio::test]
async fn the_log_has_pages() {
    let mut client = Client::legacy(EVERYTHING).await;
    for n in 0..5 {
        client.put("t", &format!("memory number {n}"), Trust::User);
    }
    let mut seen = Vec::new();
    let mut cursor = Value::Null;
    for _ in 0..3 {
        let request = json!({"kind": "memory.stored", "limit": 2, "cursor": cursor});
        let (_, page) = client.ok("icm_log", request).await;
        let events = page["events"].as_array().expect("events").clone();
        seen.extend(
            events
                .iter()
                .map(|event| event["position"].as_u64().expect("a position")),
        );
        cursor = page["next_cursor"].clone();
    }
    assert!(cursor.is_null(), "{cursor}");
    assert_eq!(seen.len(), 5, "{seen:?}");
    assert!(seen.is_sorted_by(|a, b| a > b), "{seen:?}");
}

#[tokio::test]
async fn compact_answers_are_short() {
    let mut client = Client::legacy(COMPACT).await;
    let (text, receipt) = client
        .ok(
            "icm_memory_store",
            json!({"topic": "t", "content": "the text"}),
        )
        .await;
    assert_eq!(
        text,
        format!("ok:{}", receipt["id"].as_str().expect("an id"))
    );
    let (text, _) = client
        .ok("icm_memory_recall", json!({"query": "text"}))
        .await;
    let line = text.lines().nth(1).expect("a line");
    assert!(
        line.starts_with("[t] the text (matched text, fit "),
        "{text}"
    );
}

#[tokio::test]
async fn the_log_tells_who_was_shown_a_memory() {
    let mut client = Client::legacy(EVERYTHING).await;
    let id = client.put("t", "a memory", Trust::User);
    for n in 0..3 {
        let query = json!({"query": format!("memory </memories> \u{1b}[2J {n}")});
        client.ok("icm_memory_recall", query).await;
        // The recall is recorded after its answer.
        for _ in 0..500 {
            let (_, told) = client.ok("icm_log", json!({"id": id})).await;
            if told["recalls_total"] == n + 1 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let (text, told) = client.ok("icm_log", json!({"id": id})).await;
    assert_eq!(told["recalls_total"], 3, "{told}");
    let recalls = told["recalls"].as_array().expect("recalls");
    assert_eq!(
        recalls[0]["query"], "memory </memories>  2",
        "newest first, cleaned"
    );
    recalls[2].has(json!({"rank": 1, "actor": "agent:test-client"}));
    text.begins(format!("{id}, 1 version, 3 recalls, "));
    text.says(" shown to agent:test-client at rank 1 for memory (/memories>");
    assert_eq!(text.matches("</memories>").count(), 1, "{text}");
}

#[tokio::test]
async fn recalls_are_recorded_after_the_answer() {
    let mut client = Client::legacy(EVERYTHING).await;
    client.put("t", "a memory", Trust::User);
    for _ in 0..3 {
        client
            .ok("icm_memory_recall", json!({"query": "memory"}))
            .await;
    }
    let (_, store) = client.end().await;
    assert_eq!(recalls_recorded(&store), 3);
}

#[tokio::test]
async fn a_store_says_what_was_there_already() {
    let mut client = Client::legacy(EVERYTHING).await;
    let store = |n: u32| {
        let content = format!("the pool of the billing service holds {n} connections");
        json!({ "topic": "pool", "content": content })
    };
    let (_, old) = client.ok("icm_memory_store", store(20)).await;
    let (text, again) = client.ok("icm_memory_store", store(20)).await;
    again.has(json!({"action": "unchanged", "id": old["id"]}));
    assert_eq!(text.lines().count(), 1, "{text}");
    let (text, new) = client.ok("icm_memory_store", store(30)).await;
    new.has(json!({"action": "stored", "/similar/id": old["id"]}));
    let content = "the pool of the billing service holds 20 connections";
    assert_eq!(new["similar"]["content"], content);
    let id = old["id"].as_str().expect("an id");
    let line = text.lines().nth(1).expect("a line more");
    assert!(line.starts_with("similar (0.88): "), "{text}");
    assert!(line.contains("icm_memory_update"), "{text}");
    let said = format!("\n{id} {content}\n</memories>");
    text.finishes(&said);
    client.end().await;
}

#[tokio::test]
async fn a_session_that_stores_nothing_is_told_so_now_and_then() {
    let nudging = McpOptions {
        nudge_after: 10,
        ..EVERYTHING
    };
    let mut client = Client::legacy(nudging).await;
    client.put("t", "the port is 5433", Trust::User);
    let recall = json!({"query": "port"});
    let mut told = Vec::new();
    for n in 1..=21 {
        let (text, _) = client.ok("icm_memory_recall", recall.clone()).await;
        if text.contains("tool calls since this session last stored something") {
            told.push(n);
        }
    }
    assert_eq!(told, [10, 20]);
    let kept = json!({"topic": "t", "content": "the host is db1"});
    let (text, _) = client.ok("icm_memory_store", kept).await;
    text.lacks("hint: ");
    for _ in 0..9 {
        let (text, _) = client.ok("icm_memory_recall", recall.clone()).await;
        text.lacks("hint: ");
    }
    let (text, reply) = client.ok("icm_memory_recall", recall.clone()).await;
    text.says("hint: 10 tool calls");
    assert!(reply["hint"].is_string(), "{reply}");

    let compact = McpOptions {
        compact: true,
        ..nudging
    };
    let mut client = Client::legacy(compact).await;
    client.put("t", "the port is 5433", Trust::User);
    for _ in 0..11 {
        let (text, _) = client.ok("icm_memory_recall", recall.clone()).await;
        text.lacks("tool calls");
    }
}

#[tokio::test]
async fn a_session_wakes_up_and_that_is_no_recall() {
    let mut client = Client::legacy(EVERYTHING).await;
    let (text, pack) = client.ok("icm_wake_up", json!({})).await;
    text.says("nothing to wake up with");
    assert_eq!(pack["ids"], json!([]));
    let id = client.put("preferences", "likes short answers", Trust::User);
    client.put("t", "the port is 5433", Trust::User);
    let (text, pack) = client.ok("icm_wake_up", json!({"budget": 200})).await;
    text.begins("<memories nonce=");
    text.says("likes short answers");
    text.lacks("5433");
    assert_eq!(pack["ids"], json!([id]));
}
