//! Tests of memories that fade.

use std::sync::Arc;
use std::time::Duration;

use icm_api::{Caller, DecayRequest, LogRequest, StoreRequest, Trust};
use icm_server::mcp::McpOptions;
use icm_service::Service;
use serde_json::{Value, json};

use crate::client::{Client, Clock, EVERYTHING, store_in};
use crate::list::of_set;
use crate::look::{Look, Says};

/// Connects to a store with a memory that is three days old.
async fn three_days_later(options: McpOptions) -> Client {
    let folder = tempfile::tempdir().expect("a folder");
    let ground = icm_service::Ground {
        env: Arc::new(Clock::hours_ago(3 * 24)),
        ..icm_service::Ground::system()
    };
    let before = Service::open_on(store_in(folder.path()), ground).expect("a store");
    let request = StoreRequest::new("zoo", "a zebra");
    before.store(&Caller::default(), request).expect("stored");
    drop(before);

    Client::connect_in(folder, options).greeted().await
}

#[tokio::test]
async fn faded_memories_are_pruned_and_come_back() {
    let mut client = three_days_later(EVERYTHING).await;
    let young = client.put("zoo", "a young okapi", Trust::User);
    let (text, prune) = client.ok("icm_memory_prune", json!({})).await;
    assert_eq!(prune["memories"], 0, "{text}");
    let (text, tick) = client.ok("icm_memory_decay", json!({"rate": 0.7})).await;
    tick.has(json!({"action": "decayed", "rate": 0.7}));
    text.begins("decayed to 20");
    let (text, _) = client.ok("icm_memory_decay", json!({"rate": 0.7})).await;
    text.begins("unchanged: ");

    let (text, plan) = client.ok("icm_memory_prune", json!({})).await;
    plan.has(json!({"memories": 1, "dry_run": true}));
    text.says("a zebra (0.027)");
    text.lacks("okapi");
    let wrong = client
        .fails("icm_memory_prune", json!({"confirm": "0"}))
        .await;
    wrong.says("without confirm");
    let ask = json!({"confirm": plan["plan"]});
    let (_, done) = client.ok("icm_memory_prune", ask).await;
    done.has(json!({"memories": 1, "dry_run": false}));
    let ids = |found: &Value| -> Vec<Value> {
        let hits = found["results"].as_array().expect("hits").iter();
        hits.map(|hit| hit["id"].clone()).collect()
    };
    let query = json!({"query": "zebra okapi"});
    let (_, found) = client.ok("icm_memory_recall", query.clone()).await;
    assert_eq!(ids(&found), [json!(young)]);

    let mut ask = json!({"event": done["event"]});
    let (_, undo) = client.ok("icm_undo", ask.clone()).await;
    ask["confirm"] = undo["plan"].clone();
    client.ok("icm_undo", ask).await;
    let (_, found) = client.ok("icm_memory_recall", query).await;
    assert_eq!(ids(&found).len(), 2, "{found}");
    let said = client
        .fails("icm_memory_prune", json!({"threshold": 2}))
        .await;
    said.says("a number from 0 to 1");
    client.end().await;
}

#[tokio::test]
async fn a_recall_lets_memories_fade_once_a_day() {
    let mut client = three_days_later(EVERYTHING).await;
    // The tick is written once the answer is out and the client is silent for a moment.
    let mut weights = Vec::new();
    while weights.last().is_none_or(|weight| *weight == 1.0) && weights.len() < 100 {
        let query = json!({"query": "zebra"});
        let (_, answer) = client.ok("icm_memory_recall", query).await;
        weights.push(answer["results"][0]["weight"].as_f64().expect("a weight"));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(weights[0], 1.0);
    let last = weights.last().expect("it was asked");
    assert!((0.8..0.9).contains(last), "{weights:?}");
    let request = LogRequest {
        kind: Some("memory.decayed".into()),
        ..LogRequest::default()
    };
    let mut ticks = 0;
    let log = client.service.log(&request, &mut |_| {
        ticks += 1;
        true
    });
    log.expect("the log reads");
    assert_eq!(ticks, 1, "however often it was asked");
}

#[tokio::test]
async fn a_least_weight_leaves_out_memories_that_have_faded() {
    let mut client = three_days_later(of_set("spec")).await;
    client.put("zoo", "a young zebra", Trust::User);
    let request = DecayRequest {
        rate: Some(0.7),
        ..DecayRequest::default()
    };
    let faded = client.service.decay(&Caller::default(), &request);
    faded.expect("they fade");
    for (least, count) in [(0.0, 2), (0.5, 1)] {
        let recall = json!({"query": "zebra", "min_weight": least});
        let (_, found) = client.ok("icm_recall", recall).await;
        assert_eq!(found["results"].count(), count, "{least}: {found}");
    }
    client.end().await;
}
