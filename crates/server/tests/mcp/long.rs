//! Tests of long calls, and of input that is not a message.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use icm_api::{Caller, NoProgress, StoreRequest, Summarizer};
use icm_projections::Embeds;
use icm_service::{ChosenModel, Model, Service};
use icm_vectors::embed::{EmbedError, Embedder};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::client::{Client, EVERYTHING, opened_in};
use crate::look::Look;

/// An embedder that embeds a batch each time the test lets it.
struct Gated(Mutex<mpsc::Receiver<()>>);

impl Embedder for Gated {
    fn model(&self) -> &str {
        "gated"
    }
    fn dim(&self) -> usize {
        4
    }
    fn is_near(&self) -> bool {
        false
    }
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let gate = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = gate.recv();
        Ok(texts.iter().map(|_| vec![1.0, 0.0, 0.0, 0.0]).collect())
    }
}

fn store() -> (tempfile::TempDir, Service) {
    let folder = tempfile::tempdir().expect("a folder");
    let service = opened_in(folder.path());
    for n in 0..300 {
        let request = StoreRequest {
            key: Some(format!("{n}")),
            ..StoreRequest::new("t", format!("the {n}th of many"))
        };
        service.store(&Caller::default(), request).expect("stored");
    }
    (folder, service)
}

#[tokio::test]
async fn a_long_call_says_how_far_it_is_and_can_be_called_off() {
    let (folder, service) = store();
    service.rebuild(&NoProgress).expect("it rebuilds");
    let (open, gate) = mpsc::channel();
    let service = service.with_model(Model::Other(ChosenModel::new(
        Arc::new(Gated(Mutex::new(gate))),
        Embeds::Passages,
    )));
    let client = Client::connect_to(service, folder, EVERYTHING);
    let mut client = client.greeted().await;
    let params = json!({
        "name": "icm_memory_embed_all",
        "_meta": {"progressToken": "p-1"},
    });
    let id = client.start("tools/call", params).await;
    // Nothing is done before the first batch; each batch adds to it.
    let mut done = Vec::new();
    while done.len() < 3 {
        open.send(()).expect("it waits");
        // Progress within a tenth of a second is told in one message.
        tokio::time::sleep(Duration::from_millis(120)).await;
        let Ok(line) = tokio::time::timeout(Duration::from_millis(50), client.next()).await else {
            continue;
        };
        let told = line.expect("a word");
        assert_eq!(told["method"], "notifications/progress", "{told}");
        told["params"].has(json!({"progressToken": "p-1", "total": 300.0, "message": "embedding"}));
        done.push(told["params"]["progress"].as_f64().expect("a number"));
    }
    assert!(done.is_sorted() && done[0] < done[2], "{done:?}");

    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.send(cancel.to_string().as_bytes()).await;
    // A begun batch is finished; no other begins.
    drop(open);
    let params = json!({"name": "icm_memory_stats", "arguments": {}});
    let asked = client.start("tools/call", params).await;
    let stats = loop {
        let line = client.next().await.expect("an answer");
        // The batch at work may send a last progress message.
        if line["method"] != "notifications/progress" {
            break line;
        }
    };
    assert_eq!(stats["id"], asked, "{stats}");
    let (rest, _) = client.end().await;
    assert!(rest.iter().all(|it| it["id"] != id), "{rest:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_summary_that_nobody_waits_for_is_not_made() {
    let (folder, service) = store();
    let flag = folder.path().join("begun");
    let command = format!(
        "touch {}; cat > /dev/null; sleep 600; echo late",
        flag.display()
    );
    let service = service.with_summarizer(Some(Summarizer {
        command,
        timeout: Duration::from_secs(600),
    }));
    let client = Client::connect_to(service, folder, EVERYTHING);
    let mut client = client.greeted().await;
    let params = json!({"name": "icm_memory_consolidate", "arguments": {"topic": "t"}});
    let id = client.start("tools/call", params).await;
    while !flag.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    client.send(cancel.to_string().as_bytes()).await;
    let (_, stats) = client.ok("icm_memory_stats", json!({})).await;
    assert_eq!(stats["memories"], 300);
    // A call that was not cancelled would wait for the command.
    let (rest, store) = client.end().await;
    assert!(rest.iter().all(|it| it["id"] != id), "{rest:?}");
    let list = store.service.list(&icm_api::ListRequest::default());
    assert_eq!(list.expect("it lists").len(), 300);
}

#[tokio::test]
async fn a_million_random_bytes_do_not_stop_a_server() {
    let mut client = Client::legacy(EVERYTHING).await;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut input = client.input.take().expect("the input is open");
    let noise: Vec<u8> = (0..1_000_000).map(|_| next() as u8).collect();
    // Pieces of messages are included, because nearly valid input gets further.
    let words = [
        "{\"jsonrpc\":\"2.0\",",
        "\"id\":",
        "7",
        "\"method\":",
        "\"tools/call\"",
        "\"params\":{",
        "}",
        "[",
        "]",
        "\"name\":\"icm_memory_store\"",
        ",",
        "\"\\ud800\"",
        "null",
        "1e999",
        "\n",
        "\u{feff}",
        "-0",
    ];
    let mut nearly = String::new();
    while nearly.len() < 200_000 {
        nearly.push_str(words[(next() % words.len() as u64) as usize]);
    }
    let writing = tokio::spawn(async move {
        for part in [&noise[..], b"\n", nearly.as_bytes(), b"\n"] {
            input.write_all(part).await.expect("it is read");
        }
        let ping = json!({"jsonrpc": "2.0", "id": "last", "method": "ping"});
        input
            .write_all(format!("{ping}\n").as_bytes())
            .await
            .expect("it is read");
        input
    });
    let mut answers = 0;
    loop {
        let answer = client.next().await.expect("it goes on");
        if answer["id"] == "last" {
            assert_eq!(answer["result"], json!({}), "{answer}");
            break;
        }
        answers += 1;
    }
    assert!(answers > 0, "what is no message is answered");
    client.input = Some(writing.await.expect("it is written"));
    let (_, stats) = client.ok("icm_memory_stats", json!({})).await;
    assert_eq!(stats["memories"], 0);
    client.end().await;
}
