//! Tests of the revisions of the protocol.

use icm_server::mcp::{instructions, tool_list};
use serde_json::json;

use crate::client::{Client, EVERYTHING};
use crate::look::{Look, Says};

#[tokio::test]
async fn the_older_revisions_work() {
    let mut client = Client::legacy(EVERYTHING).await;
    assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
    let list = client.request("tools/list", json!({})).await["result"].clone();
    assert_eq!(list["tools"], tool_list(EVERYTHING));
    assert!(
        list["ttlMs"].is_null(),
        "caching hints belong to the stateless revision"
    );
    every_tool(&mut client, "agent:test-client").await;
    let (rest, _) = client.end().await;
    assert!(rest.is_empty(), "{rest:?}");
}

#[tokio::test]
async fn the_stateless_revision_works() {
    let mut client = Client::stateless(EVERYTHING);
    let about = client.request("server/discover", json!({})).await["result"].clone();
    let versions = about["supportedVersions"].as_array().expect("versions");
    assert!(versions.contains(&"2026-07-28".into()) && versions.contains(&"2025-11-25".into()));
    assert_eq!(about["instructions"], instructions(EVERYTHING));
    let list = client.request("tools/list", json!({})).await["result"].clone();
    list.has(json!({"tools": tool_list(EVERYTHING), "ttlMs": 3_600_000, "cacheScope": "public"}));
    every_tool(&mut client, "agent:modern").await;
    client.meta = None;
    let reply = client.request("tools/list", json!({})).await;
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    client.end().await;
}

#[tokio::test]
async fn a_revision_has_its_own_methods_alone() {
    let old = [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
    ];
    let mut client = Client::stateless(EVERYTHING);
    for method in old {
        let reply = client.request(method, json!({})).await;
        assert_eq!(reply["error"]["code"], -32601, "{reply}");
    }
    let reply = client.request("subscriptions/listen", json!({})).await;
    assert_eq!(reply["error"]["code"], -32602, "{reply}");
    client.end().await;
    let mut client = Client::legacy(EVERYTHING).await;
    let reply = client.request("subscriptions/listen", json!({})).await;
    assert_eq!(reply["error"]["code"], -32601, "{reply}");
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let reply = client.request(method, json!({})).await;
        assert_eq!(reply["error"]["code"], -32602, "{reply}");
    }
    client.end().await;
}

/// Calls each tool once, and checks the answers that must be the same in every revision.
async fn every_tool(client: &mut Client, actor: &str) {
    let store = json!({
        "topic": "db/pool", "content": "the pool holds 20 connections", "importance": "high",
        "keywords": ["postgres"], "raw_excerpt": "max_size = 20",
    });
    let (text, receipt) = client.ok("icm_memory_store", store).await;
    let id = receipt["id"].as_str().expect("an id").to_owned();
    let event = receipt["event"].as_str().expect("an event").to_owned();
    let position = receipt["position"].clone();
    assert_eq!(receipt["action"], "stored");
    assert_eq!(
        text,
        format!(
            "stored {id} in topic \"db/pool\" (event {}, @{position})",
            &event[..12]
        )
    );

    let (text, answer) = client
        .ok("icm_memory_recall", json!({"query": "pool"}))
        .await;
    let hit = &answer["results"][0];
    assert_eq!(hit["id"], id.as_str());
    assert_eq!(hit["content"], "the pool holds 20 connections");
    hit.has(json!({"trust": "agent", "importance": "high"}));
    assert!(
        hit["source"].is_object() && answer["basis"]["event"].is_string(),
        "{answer}"
    );
    let day = &hit["updated_at"].as_str().expect("a time")[..10];
    let fit = hit["fit"].as_f64().expect("a fit");
    let line = format!(
        "{id} [db/pool] the pool holds 20 connections ({day}, high, matched pool, fit {fit:.2})"
    );
    assert!(text.lines().any(|l| l == line), "{text}");
    text.begins("in global, session:session-1; days in ");
    text.finishes("\n</memories>");

    let then = json!({"query": "pool", "as_of": format!("@{position}")});
    let (text, answer) = client.ok("icm_memory_recall", then).await;
    assert_eq!(answer["basis"]["position"], position);
    text.begins(format!("as of @{position} ("));

    let update = json!({"id": id, "content": "the pool holds 30 connections"});
    let (text, receipt) = client.ok("icm_memory_update", update).await;
    assert_eq!(receipt["action"], "updated");
    text.begins(format!("updated {id} (event "));

    let (text, history) = client.ok("icm_log", json!({"id": id})).await;
    let versions = history["versions"].as_array().expect("versions");
    assert_eq!(versions.len(), 2, "{history}");
    assert_eq!(versions[0]["content"], "the pool holds 30 connections");
    versions[1].has(json!({"content": "the pool holds 20 connections", "actor": actor}));
    history.has(json!({
        "id": id.as_str(), "/from/actor": actor,
        "recalls_total": history["recalls"].as_array().map_or(0, Vec::len),
    }));
    text.says("memory.stored");
    text.says("memory.updated");

    let (text, one) = client.ok("icm_log", json!({"id": &event[..12]})).await;
    assert_eq!(one["events"][0]["event"], event);
    assert_eq!(one["events"].count(), 1, "{one}");
    text.says(" memory.stored ");
    let (_, same) = client
        .ok("icm_log", json!({"id": format!("@{position}")}))
        .await;
    assert_eq!(same, one);

    let since = json!({"from": format!("@{position}")});
    let (text, diff) = client.ok("icm_diff", since).await;
    diff.has(json!({"/from/position": position, "total": 1}));
    let change = &diff["changed"][0];
    assert_eq!(change["id"], id.as_str());
    assert_eq!(change["fields"], json!(["content"]));
    assert_eq!(change["before"]["content"], "the pool holds 20 connections");
    assert_eq!(change["after"]["content"], "the pool holds 30 connections");
    let line = format!("changed {id} [db/pool] content: the pool holds [-20-]{{+30+}} connections");
    assert!(text.lines().any(|l| l == line), "{text}");

    let (text, topics) = client.ok("icm_memory_list_topics", json!({})).await;
    assert_eq!(topics["topics"][0]["topic"], "db/pool");
    text.says("db/pool (1, ");

    let (text, stats) = client.ok("icm_memory_stats", json!({})).await;
    assert_eq!(stats["memories"], 1);
    text.begins("1 memory in 1 topic,");
    let total = format!("{} bytes on disk in total", stats["bytes"]);
    text.says(&total);

    let (text, receipt) = client.ok("icm_memory_forget", json!({"id": id})).await;
    assert_eq!(receipt["action"], "forgotten");
    text.begins(format!("forgotten {id}"));

    for n in 0..2 {
        let store = json!({"topic": "standup", "content": format!("note {n}")});
        client.ok("icm_memory_store", store).await;
    }
    let sum_up = json!({"topic": "standup", "summary": "two notes"});
    let (text, done) = client.ok("icm_memory_consolidate", sum_up).await;
    text.finishes("it stands for 2 memories");
    assert_eq!(done["originals"].count(), 2);
    for (undo, commands) in [
        (json!({"topic": "standup", "since": "2h ago"}), 3),
        (json!({"topic": "standup", "since": done["event"]}), 1),
        (json!({"topic": "standup", "actor": actor}), 3),
    ] {
        let (_, plan) = client.ok("icm_undo", undo).await;
        assert_eq!(plan["commands_total"], commands, "{plan}");
    }
    let nobody = client
        .fails("icm_undo", json!({"actor": "nobody", "since": "2h ago"}))
        .await;
    let says = "there is nothing to undo for actor: nobody, since: 2h ago";
    nobody.says(says);
    let (_, plan) = client.ok("icm_undo", json!({"last": 3})).await;
    let undo = json!({"last": 3, "confirm": plan["plan"]});
    client.ok("icm_undo", undo).await;
    let undo = json!({"event": receipt["event"]});
    let (_, plan) = client.ok("icm_undo", undo).await;
    assert_eq!(plan["changes"][0]["action"], "back");
    let (_, stats) = client.ok("icm_memory_stats", json!({})).await;
    assert_eq!(stats["memories"], 0);

    let (text, plan) = client
        .ok("icm_undo", json!({"event": receipt["event"]}))
        .await;
    plan.has(json!({"dry_run": true, "/changes/0/action": "back"}));
    text.begins("would undo 1 event: 1 memory back;");
    let (text, done) = client
        .ok(
            "icm_undo",
            json!({"event": receipt["event"], "confirm": plan["plan"]}),
        )
        .await;
    assert_eq!(done["changes"][0]["after"]["id"], id.as_str());
    text.begins("undone 1 event: 1 memory back (event ");
    let stale = json!({"event": done["event"], "confirm": plan["plan"]});
    let refused = client.call("icm_undo", stale).await;
    assert_eq!(refused["isError"], true, "{refused}");
    let (_, plan) = client.ok("icm_undo", json!({"event": done["event"]})).await;
    let undo = json!({"event": done["event"], "confirm": plan["plan"]});
    let (_, done) = client.ok("icm_undo", undo).await;
    assert_eq!(done["changes"][0]["action"], "gone");

    let request = json!({"kind": "memory.stored", "limit": 5, "topic": "db/pool"});
    let (text, log) = client.ok("icm_log", request).await;
    let events = log["events"].as_array().expect("events");
    assert_eq!(events.len(), 1, "{log}");
    events[0].has(json!({"actor": actor, "event": event}));
    text.says(" memory.stored ");
}
