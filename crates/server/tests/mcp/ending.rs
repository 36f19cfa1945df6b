//! Tests of the end of the input, of a call and of a client.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

use crate::client::{Client, EVERYTHING};

#[tokio::test]
async fn an_empty_input_is_a_clean_end() {
    let (rest, _) = Client::connect(EVERYTHING).end().await;
    assert!(rest.is_empty());
}

#[tokio::test]
async fn the_end_of_the_input_waits_for_every_answer() {
    let mut client = Client::legacy(EVERYTHING).await;
    let mut expected = Vec::new();
    for n in 0..100 {
        let arguments = json!({"topic": "t", "content": format!("memory {n}")});
        let params = json!({"name": "icm_memory_store", "arguments": arguments});
        expected.push(client.start("tools/call", params).await);
    }
    let (rest, store) = client.end().await;
    let mut answered: Vec<_> = rest
        .iter()
        .map(|reply| reply["id"].as_u64().expect("an id"))
        .collect();
    answered.sort_unstable();
    assert_eq!(answered, expected);
    assert!(
        rest.iter().all(|reply| reply["result"]["isError"] == false),
        "{rest:?}"
    );
    assert_eq!(store.service.stats(None).expect("stats").memories, 100);
}

#[tokio::test]
async fn a_cancelled_call_does_not_hold_up_the_end() {
    let mut client = Client::legacy(EVERYTHING).await;
    let params = json!({"name": "icm_memory_stats", "arguments": {}});
    let id = client.start("tools/call", params).await;
    let cancel = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
    });
    client.send(cancel.to_string().as_bytes()).await;
    let started = std::time::Instant::now();
    let (rest, _) = client.end().await;
    assert!(rest.len() <= 1, "{rest:?}");
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn a_client_that_stops_reading_ends_the_server() {
    let mut client = Client::legacy(EVERYTHING).await;
    let Client {
        input,
        output,
        serving,
        ..
    } = &mut client;
    drop(std::mem::replace(
        output,
        BufReader::new(tokio::io::duplex(1).0).lines(),
    ));
    let input = input.as_mut().expect("open");
    for id in 0..10 {
        let ping = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
        if input.write_all(ping.as_bytes()).await.is_err() {
            break;
        }
    }
    let ended = tokio::time::timeout(Duration::from_secs(10), serving).await;
    ended
        .expect("in time")
        .expect("no panic")
        .expect("a clean end");
}
