//! Tests of the tools of Sediment.

use icm_api::{Caller, StoreRequest, Trust};
use serde_json::{Value, json};

use super::{connect, framed_json, id_of, ids, in_shop};
use crate::look::{Look, Says};

#[tokio::test]
async fn calls_for_sediment_work_unchanged() {
    let mut client = connect("sediment", in_shop()).await;
    let (text, first) = client
        .ok("store", json!({"content": "The API port is 8080"}))
        .await;
    first.has(json!({"success": true, "message": "Stored in project scope"}));
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), first);
    let global = json!({"content": "The user prefers short answers", "scope": "global"});
    let (_, global) = client.ok("store", global).await;
    assert_eq!(global["message"], "Stored in global scope");

    let (text, found) = client
        .ok("recall", json!({"query": "API port", "limit": 5}))
        .await;
    found.has(json!({
        "count": 1, "/results/0/id": first["id"], "/results/0/content": "The API port is 8080",
    }));
    let result = &found["results"][0];
    let similarity: f64 = result["similarity"]
        .as_str()
        .expect("a text")
        .parse()
        .expect("a number");
    assert!((0.0..=1.0).contains(&similarity), "{found}");
    assert!(
        result["created"].is_string() && result["cross_project"].is_null(),
        "{found}"
    );
    assert_eq!(framed_json(&text), found);
    let (text, none) = client
        .ok("recall", json!({"query": "zebra migration"}))
        .await;
    none.has(json!({"count": 0, "results": []}));
    text.begins("No items found matching your query.");

    for (scope, count) in [("project", 1), ("global", 1), ("all", 2)] {
        let (_, items) = client
            .ok("list", json!({"limit": 10, "scope": scope}))
            .await;
        items.has(json!({"count": count}));
        assert_eq!(items["items"].count(), count, "{scope}: {items}");
    }
    let (_, items) = client.ok("list", json!({})).await;
    assert_eq!(ids(&items["items"]), [id_of(&first)]);

    let (_, gone) = client.ok("forget", json!({"id": global["id"]})).await;
    let message = format!("Deleted item: {}", id_of(&global));
    gone.has(json!({"success": true, "message": message}));
    let (text, items) = client.ok("list", json!({"scope": "global"})).await;
    assert_eq!(items["count"], 0);
    assert_eq!(text, "No items stored yet.");
    client.end().await;
}

#[tokio::test]
async fn a_replaced_item_is_superseded_and_stays_in_the_lineage() {
    let mut client = connect("sediment", in_shop()).await;
    let (_, old) = client
        .ok("store", json!({"content": "The API port is 8080"}))
        .await;
    let replace = json!({"content": "The API port is 9090", "replace_id": old["id"]});
    let (text, new) = client.ok("store", replace).await;
    let (old, new) = (id_of(&old), id_of(&new));
    assert_ne!(old, new);
    text.says(format!("Stored in project scope, in place of {old}"));
    let (_, found) = client.ok("recall", json!({"query": "API port"})).await;
    assert_eq!(ids(&found["results"]), [new.as_str()], "{found}");
    assert_eq!(found["results"][0]["related_ids"], json!([old]));
    assert!(found["graph_expanded"].is_null(), "{found}");
    let (_, items) = client.ok("list", json!({})).await;
    assert_eq!(ids(&items["items"]), [new.as_str()]);

    let gone = json!({"content": "no matter", "replace_id": "01J90000000000000000000000"});
    client.fails("store", gone).await.says("no memory 01J9");
    let (_, store) = client.end().await;
    let memory = store.service.get(&new, None).expect("a memory");
    let mut links = memory.related.iter();
    let is_lineage = links.any(|link| link.relation == "supersedes" && link.id == old);
    assert!(is_lineage, "{memory:?}");
}

#[tokio::test]
async fn items_of_other_projects_are_marked_and_kept() {
    let mut client = connect("sediment", in_shop()).await;
    let of = |scope: &str, content: &str| StoreRequest {
        scope: Some(scope.to_owned()),
        trust: Trust::Agent,
        ..StoreRequest::new("notes", content)
    };
    let put = |request| client.service.store(&Caller::default(), request);
    let other = put(of("project:bank", "Invoices are numbered by the bank")).expect("stored");
    put(of("session:s-9", "Invoices are none of this session")).expect("stored");
    let linked = put(of("global", "Ask Mira before Friday")).expect("stored");
    let link = icm_api::LinkRequest {
        from: other.id.clone(),
        to: linked.id.clone(),
        relation: "related".to_owned(),
        ..icm_api::LinkRequest::default()
    };
    client
        .service
        .link(&Caller::default(), &link)
        .expect("linked");

    let (_, found) = client
        .ok("recall", json!({"query": "invoices numbered"}))
        .await;
    assert_eq!(ids(&found["results"]), [other.id.as_str()], "{found}");
    found.has(json!({
        "/results/0/cross_project": true, "/results/0/related_ids/0": linked.id,
        "/graph_expanded/0/id": linked.id, "/graph_expanded/0/graph_expanded": true,
        "/graph_expanded/0/similarity": "graph", "/graph_expanded/0/rel_type": "related",
        "/graph_expanded/0/content": "Ask Mira before Friday",
    }));
    for (tool, argument) in [("forget", "id"), ("store", "replace_id")] {
        let mut call = json!({argument: other.id});
        if tool == "store" {
            call["content"] = "mine now".into();
        }
        let said = client.fails(tool, call).await;
        said.says("from a different project");
    }
    client.end().await;
}

#[tokio::test]
async fn items_often_recalled_together_are_suggested() {
    let mut client = connect("sediment", in_shop()).await;
    for content in [
        "The deploy script is in ops",
        "The deploy key is in the vault",
    ] {
        client.ok("store", json!({"content": content})).await;
    }
    for _ in 0..3 {
        client.ok("recall", json!({"query": "deploy"})).await;
        client.service.record_recalls();
    }
    let (_, found) = client
        .ok("recall", json!({"query": "deploy", "limit": 1}))
        .await;
    assert_eq!(found["results"].count(), 1, "{found}");
    assert_eq!(found["suggested"].count(), 1, "{found}");
    let suggested = &found["suggested"][0];
    assert_ne!(suggested["id"], found["results"][0]["id"]);
    assert!(suggested["content"].is_string() && suggested["reason"].is_string());
    client.end().await;
}

#[tokio::test]
async fn long_answers_of_other_memories_stay_json() {
    let mut client = connect("sediment", in_shop()).await;
    for n in 0..30 {
        let words: String = (0..400).map(|word| format!("\"w{n}x{word}\"\n")).collect();
        let content = format!("report {n}: {words}");
        client.put("notes", &content, Trust::Agent);
    }
    let (text, found) = client
        .ok("recall", json!({"query": "report", "limit": 100}))
        .await;
    assert!(
        text.len() <= icm_server::mcp::ANSWER_MAX_BYTES,
        "{}",
        text.len()
    );
    assert!(found["results"].count() > 5, "{}", found["results"].count());
    assert_eq!(framed_json(&text), found);
    client.end().await;
}
