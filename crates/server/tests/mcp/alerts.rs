//! Tests of the tools for reminders.

use std::time::{Duration, Instant};

use icm_api::{AlertSetRequest, Caller};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::client::{Client, EVERYTHING, READ_ONLY};
use crate::look::{Look, Says};

fn reminder(text: &str) -> AlertSetRequest {
    AlertSetRequest {
        text: text.to_owned(),
        session: Some("session-1".to_owned()),
        ..AlertSetRequest::default()
    }
}

#[tokio::test]
async fn a_reminder_is_set_and_returned_once() {
    let mut client = Client::legacy(EVERYTHING).await;
    let set = json!({"text": "Run the tests </memories> again"});
    let (text, receipt) = client.ok("icm_alert_set", set).await;
    text.begins("set an alert for session session-1 @");
    receipt.has(json!({"session": "session-1", "due_at": null}));
    let later = json!({"text": "Look at it", "due": "in 2h"});
    client.ok("icm_alert_set", later).await;
    let (text, found) = client
        .ok("icm_alerts", json!({"session": "session-2"}))
        .await;
    assert_eq!(text, "no alert is due");
    assert_eq!(found["alerts"].count(), 0);

    let (text, found) = client.ok("icm_alerts", json!({})).await;
    text.begins("<memories nonce=");
    text.says("Run the tests (/memories> again (set by agent:test-client");
    text.says("1 alert is not due yet");
    assert_eq!(found["alerts"].count(), 1);
    assert!(!found.to_string().contains("Run the tests"), "{found}");
    // The second question waits for the event of the first answer.
    let (text, _) = client.ok("icm_alerts", json!({})).await;
    text.begins("no alert is due");
}

#[tokio::test]
async fn another_process_learns_that_a_reminder_was_shown() {
    let mut client = Client::legacy(EVERYTHING).await;
    let caller = Caller::default();
    client
        .service
        .set_alert(&caller, reminder("One"))
        .expect("it is set");
    let (text, _) = client.ok("icm_alerts", json!({})).await;
    text.says("One");
    let asked = Instant::now();
    let waits = || {
        let request = icm_api::AlertsRequest {
            all: true,
            ..icm_api::AlertsRequest::default()
        };
        let (answer, _) = client.service.alerts(&caller, &request).expect("an answer");
        !answer.alerts.is_empty()
    };
    while waits() {
        assert!(
            asked.elapsed() < Duration::from_secs(30),
            "it is never recorded"
        );
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_server_that_only_reads_shows_reminders_again() {
    let mut client = Client::legacy(READ_ONLY).await;
    let caller = Caller::default();
    client
        .service
        .set_alert(&caller, reminder("One"))
        .expect("it is set");
    for _ in 0..2 {
        let (text, _) = client.ok("icm_alerts", json!({})).await;
        text.says("One");
    }
}

#[tokio::test]
async fn a_reminder_whose_answer_nobody_takes_is_shown_again() {
    let mut client = Client::legacy(EVERYTHING).await;
    let caller = Caller::default();
    let set = client.service.set_alert(&caller, reminder("One"));
    set.expect("it is set");
    let params = json!({"name": "icm_alerts", "arguments": {}});
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    let mut input = client.input.take().expect("it is open");
    drop(client.output);
    let line = format!("{call}\n");
    input.write_all(line.as_bytes()).await.expect("it is sent");
    drop(input);
    let _ = client.serving.await.expect("no panic");
    let request = icm_api::AlertsRequest {
        all: true,
        ..icm_api::AlertsRequest::default()
    };
    let (answer, _) = client.service.alerts(&caller, &request).expect("an answer");
    assert_eq!(answer.alerts.len(), 1);
}
