//! Tests of topics: listing, consolidating and forgetting them, and their pages.

use icm_api::Trust;
use serde_json::{Value, json};

use crate::client::{Client, EVERYTHING};
use crate::look::{Look, Says};

#[tokio::test]
async fn a_topic_is_looked_at_consolidated_and_forgotten_whole() {
    let mut client = Client::legacy(EVERYTHING).await;
    for n in 0..7 {
        client.put("crowd/a", &format!("note{n} of kind{n}"), Trust::User);
    }
    let store = json!({"topic": "crowd/a", "content": "an eighth one"});
    let (text, stored) = client.ok("icm_memory_store", store).await;
    assert_eq!(stored["crowded"], 8);
    let hint = "topic \"crowd/a\" has 8 memories: icm_memory_consolidate";
    text.says(hint);

    let (text, health) = client.ok("icm_memory_health", json!({})).await;
    health.has(json!({"memories": 8, "/findings/4/finding": "over_full", "/findings/4/count": 1}));
    text.says("1 crowded topic: crowd/a (8) → icm_memory_consolidate");
    let (text, _) = client
        .ok("icm_memory_health", json!({"topic": "people"}))
        .await;
    assert_eq!(text, "0 memories looked at: nothing wants a look");

    let (text, done) = client
        .ok("icm_memory_consolidate", json!({"topic": "crowd/"}))
        .await;
    assert_eq!(done["summary"]["by"], "rules");
    assert_eq!(done["originals"].count(), 8);
    text.says("note0 of kind0\n");
    let (_, plan) = client.ok("icm_undo", json!({"event": done["event"]})).await;
    let undo = json!({"event": done["event"], "confirm": plan["plan"]});
    client.ok("icm_undo", undo).await;

    let (_, before) = client.ok("icm_memory_stats", json!({})).await;
    let then = json!({"as_of": format!("@{}", before["positions"])});
    let topic = json!({"topic": "crowd/"});
    let (text, look) = client.ok("icm_memory_forget_topic", topic.clone()).await;
    look.has(json!({"dry_run": true, "memories": 8}));
    text.begins("would forget 8 memories in 1 topic");
    text.says("note6 of kind6");
    let (_, stats) = client.ok("icm_memory_stats", json!({})).await;
    assert_eq!(stats["memories"], 8);
    let confirm = json!({"topic": "crowd/", "confirm": look["plan"]});
    // A memory stored after the preview was not shown, so the plan is refused.
    let late = client.put("crowd/b", "something late", Trust::User);
    let refused = client
        .fails("icm_memory_forget_topic", confirm.clone())
        .await;
    refused.says("nothing was done");
    client.ok("icm_memory_forget", json!({"id": late})).await;
    let (text, done) = client.ok("icm_memory_forget_topic", confirm).await;
    assert_eq!(done["dry_run"], false);
    text.begins("forgotten 8 memories in \"crowd/\" (event ");
    let (text, past) = client.ok("icm_memory_stats", then.clone()).await;
    assert_eq!(past["memories"], 8);
    text.begins("as of ");
    let (text, past) = client.ok("icm_memory_list_topics", then).await;
    assert_eq!(past["topics"][0]["memories"], 8);
    text.begins("as of ");
    let (_, now) = client.ok("icm_memory_list_topics", json!({})).await;
    assert_eq!(now["total"], 0);
    let nothing = client.fails("icm_memory_forget_topic", topic).await;
    nothing.says("icm_memory_list_topics");
    let (_, plan) = client.ok("icm_undo", json!({"event": done["event"]})).await;
    assert_eq!(plan["events"], 8);
    let last = done["event"].as_str().expect("an event");
    let last = client.service.log_show(last).expect("it is there");
    assert_eq!(last.batch, (7, 8), "one batch: all of it or nothing");

    let (text, embedded) = client
        .ok("icm_memory_embed_all", json!({"topic": "crowd/a"}))
        .await;
    assert_eq!(embedded["left"], 0);
    text.begins("embedded 0 now; all ");
    client.end().await;
}

#[tokio::test]
async fn topics_have_pages() {
    let mut client = Client::legacy(EVERYTHING).await;
    let names: Vec<String> = (0..205).map(|n| format!("t{n:03}")).collect();
    for name in &names {
        client.put(name, name, Trust::User);
    }
    let (mut met, mut cursor, mut pages) = (Vec::new(), None, 0);
    loop {
        let (text, page) = client
            .ok("icm_memory_list_topics", json!({"cursor": cursor}))
            .await;
        assert_eq!(page["total"], 205);
        let topics = page["topics"].as_array().expect("topics").iter();
        met.extend(
            topics
                .filter_map(|it| it["topic"].as_str())
                .map(str::to_owned),
        );
        pages += 1;
        match page.get("next_cursor").and_then(Value::as_str) {
            Some(next) => {
                text.says("200 of 205 shown");
                cursor = Some(next.to_owned());
            }
            None => break,
        }
    }
    assert_eq!((met, pages), (names, 2));
    let wrong = client
        .fails("icm_memory_list_topics", json!({"cursor": "x"}))
        .await;
    wrong.says("no cursor");
    client.end().await;
}
