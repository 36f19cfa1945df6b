//! Tests of links, and of topics that hold only topics, as a model sees them.

use icm_api::{Action, Caller, LinkRequest, StoreRequest, Trust};
use icm_server::mcp::{McpOptions, Offer};
use serde_json::{Value, json};

use crate::client::{COMPACT, Client, EVERYTHING};
use crate::look::{Look, Says};

fn link(client: &Client, from: &str, to: &str, relation: &str, there: bool) {
    let request = LinkRequest {
        from: from.into(),
        to: to.into(),
        relation: relation.into(),
        ..LinkRequest::default()
    };
    let caller = Caller::default();
    let done = match there {
        true => client.service.link(&caller, &request),
        false => client.service.unlink(&caller, &request),
    };
    done.expect("done");
}

#[tokio::test]
async fn links_of_memories_are_compared_and_told_of() {
    let mut client = Client::legacy(EVERYTHING).await;
    let a = client.put("ports", "Redis listens on 6380", Trust::User);
    let b = client.put("hosts", "The cache is a container", Trust::User);
    let then = client.ok("icm_memory_stats", json!({})).await.1["positions"].clone();
    link(&client, &a, &b, "contradicts", true);
    let linked = client.ok("icm_memory_stats", json!({})).await.1["positions"].clone();
    link(&client, &a, &b, "contradicts", false);

    let (from, to) = (format!("@{then}"), format!("@{linked}"));
    let ask = json!({"from": from, "to": to});
    let (text, diff) = client.ok("icm_diff", ask).await;
    diff.has(json!({
        "/linked/0/from": a, "/linked/0/relation": "contradicts", "/linked/0/to": b, "unlinked": [],
    }));
    text.says(", 1 linked, 0 unlinked from @");
    let line = format!("linked {a} contradicts {b}");
    assert!(text.lines().any(|it| it == line), "{text}");
    let (text, diff) = client.ok("icm_diff", json!({"from": to})).await;
    diff.has(json!({"linked": [], "/unlinked/0/to": b}));
    assert!(text.lines().any(|it| it == format!("un{line}")), "{text}");
    let (text, diff) = client.ok("icm_diff", json!({"from": from})).await;
    diff.has(json!({"linked": [], "unlinked": []}));
    text.lacks("linked");

    let (text, _) = client
        .ok("icm_log", json!({"kind": "memory.unlinked"}))
        .await;
    text.says(format!("contradicts {b}"));

    link(&client, &a, &b, "contradicts", true);
    let ask = json!({"query": "Redis 6380"});
    let (text, found) = client.ok("icm_memory_recall", ask).await;
    assert_eq!(
        found["results"].as_array().map(Vec::len),
        Some(2),
        "{found}"
    );
    let line = text
        .lines()
        .find(|it| it.contains(&format!("contradicts {a}")));
    let line = line.expect("the other one");
    assert_eq!(line.matches(&a).count(), 1, "{text}");
    client.end().await;
}

#[tokio::test]
async fn a_topic_with_something_only_below_it_says_how_to_name_that() {
    let mut client = Client::legacy(EVERYTHING).await;
    client.put("payments/cards", "one", Trust::User);
    client.put("payments/banks", "two", Trust::User);
    let tool = "icm_memory_forget_topic";
    let said = client.fails(tool, json!({"topic": "payments"})).await;
    said.finishes("`payments/` means it and everything below it: 2 memories");
    let said = client.fails(tool, json!({"topic": "pay"})).await;
    said.says("icm_memory_list_topics");
    let (_, look) = client.ok(tool, json!({"topic": "payments/"})).await;
    assert_eq!(look["memories"], 2);
    client.end().await;
}

#[tokio::test]
async fn a_memory_is_linked_and_unlinked_by_a_model() {
    let mut client = Client::legacy(EVERYTHING).await;
    let a = client.put("ports", "Redis listens on 6380", Trust::User);
    let b = client.put("ports", "Redis listens on 6379", Trust::User);
    let ask = json!({"id": a, "other": b, "relation": "supersedes", "reason": "it moved"});
    let (text, linked) = client.ok("icm_memory_link", ask.clone()).await;
    assert_eq!(linked["action"], "linked", "{linked}");
    text.begins(format!("linked {a} supersedes {b} (event "));
    let (_, again) = client.ok("icm_memory_link", ask).await;
    assert_eq!(again["action"], "unchanged");
    let found = client.ok("icm_memory_recall", json!({"query": "Redis 6379"}));
    let (_, found) = found.await;
    found["results"].has(json!({"/0/id": a, "/1/superseded_by": a}));

    let ask = json!({"id": a, "other": b, "relation": "supersedes", "remove": true});
    let (text, _) = client.ok("icm_memory_link", ask).await;
    text.begins(format!("unlinked {a} "));
    let found = client.ok("icm_memory_recall", json!({"query": "Redis 6379"}));
    let (_, found) = found.await;
    assert_eq!(found["results"][0]["id"], json!(b), "{found}");
    let ask = json!({"id": a, "other": a, "relation": "related"});
    let said = client.fails("icm_memory_link", ask).await;
    said.says("cannot be linked to itself");
    client.end().await;
}

#[tokio::test]
async fn texts_that_somebody_else_stores_again_are_confirmed_once() {
    let mut client = Client::legacy(EVERYTHING).await;
    let text = "Deploys go out on Tuesdays only";
    let other = client.put(
        "deploys",
        "Deploys go out on some days, Tuesdays too",
        Trust::User,
    );
    let id = client.put("deploys", text, Trust::User);
    let store = |actor: &str, session: &str| {
        let caller = Caller {
            actor: actor.into(),
            session: (!session.is_empty()).then(|| session.to_owned()),
            ..Caller::default()
        };
        let request = StoreRequest {
            request_id: Some(format!("{actor} {session}")),
            ..StoreRequest::new("deploys", text)
        };
        client.service.store(&caller, request).expect("stored")
    };
    // The author's own repetition is not a confirmation.
    let own = store("user", "");
    assert!(!own.confirmed && own.id == id, "{own:?}");
    let first = store("agent", "nightly");
    assert!(first.confirmed, "{first:?}");
    assert_eq!((&first.id, first.action), (&id, Action::Unchanged));
    assert_eq!(store("agent", "nightly"), first, "the same request");
    assert!(!store("robot", "nightly").confirmed, "the same session");
    assert!(store("agent", "weekly").confirmed);

    let ask = json!({"topic": "deploys", "content": text});
    let (said, stored) = client.ok("icm_memory_store", ask).await;
    assert_eq!(stored["action"], "unchanged");
    said.says("counts as confirmed");
    let found = client.ok("icm_memory_recall", json!({"query": "deploys Tuesdays"}));
    let (_, found) = found.await;
    let of = |id: &str| {
        let hits = found["results"].as_array().expect("hits");
        let hit = hits.iter().find(|hit| hit["id"] == id);
        hit.expect("it is found")["confirmations"].clone()
    };
    assert_eq!(of(&id), 3, "{found}");
    assert_eq!(of(&other), Value::Null);

    // Undoing one confirmation leaves the others.
    let ask = json!({"event": first.event});
    let (_, plan) = client.ok("icm_undo", ask.clone()).await;
    let mut ask = ask;
    ask["confirm"] = plan["plan"].clone();
    client.ok("icm_undo", ask).await;
    let found = client.ok("icm_memory_recall", json!({"query": "deploys Tuesdays"}));
    let (_, found) = found.await;
    assert_eq!(found["results"][0]["confirmations"], 2, "{found}");
    client.end().await;
}

#[tokio::test]
async fn a_briefing_keeps_to_its_budget() {
    let mut client = Client::legacy(EVERYTHING).await;
    let long = "The release train leaves on Mondays. ".repeat(12);
    client.put("trains", &long, Trust::User);
    client.put("trains/late", &format!("A late train: {long}"), Trust::User);
    let ask = json!({"query": "release train", "budget": 160});
    let (text, context) = client.ok("icm_memory_recall_context", ask).await;
    text.says("leaves on Mondays");
    assert_eq!(
        context["ids"].as_array().map(Vec::len),
        Some(1),
        "{context}"
    );
    assert_eq!(context["left_out"], 1);
    assert!(context["tokens"].as_u64().expect("tokens") <= 160);
    let ask = json!({"query": "qqqqq", "topic": "nowhere"});
    let (text, context) = client.ok("icm_memory_recall_context", ask).await;
    text.begins("no memory matches");
    assert_eq!(context["ids"], json!([]));
    client.end().await;
}

#[tokio::test]
async fn memories_that_say_the_same_are_one_result_with_their_number_and_ids() {
    let mut client = Client::legacy(EVERYTHING).await;
    let mut all: Vec<String> = [
        "Use tabs",
        "use tabs!",
        "We use tabs",
        "Always use tabs",
        "**Use tabs**",
    ]
    .into_iter()
    .enumerate()
    .map(|(number, text)| client.put(&format!("project-{number}"), text, Trust::User))
    .collect();
    let (text, found) = client
        .ok("icm_memory_recall", json!({"query": "use tabs"}))
        .await;
    let [hit] = found["results"].as_array().expect("results").as_slice() else {
        panic!("{found}");
    };
    all.retain(|id| hit["id"] != json!(id));
    assert_eq!(all.len(), 4);
    let mut repeats: Vec<String> = serde_json::from_value(hit["repeats"].clone()).expect("ids");
    repeats.sort();
    assert_eq!(repeats, all, "{found}");
    assert_eq!(hit["also_in"].count(), 4);
    let said = text
        .lines()
        .find(|line| line.contains(", 4 more say the same (also in project-"));
    assert_eq!(
        said.map(|line| line.matches('…').count()),
        Some(1),
        "{text}"
    );
    client.end().await;
}

fn port(number: u32) -> Value {
    json!({"topic": "api", "content": format!("The API listens on port {number}")})
}

/// Stores two values of one thing. Returns both ids and the text of the second receipt.
async fn replaced(client: &mut Client) -> (String, String, String) {
    let (_, old) = client.ok("icm_memory_store", port(8080)).await;
    let (text, new) = client.ok("icm_memory_store", port(9090)).await;
    let id = |of: &Value| of["id"].as_str().expect("an id").to_owned();
    assert_eq!(new["seems_to_replace"][0]["id"], old["id"], "{new}");
    (id(&old), id(&new), text)
}

#[tokio::test]
async fn a_receipt_names_a_call_that_the_client_has() {
    let alone = Offer::of(&[], &["icm_memory_store".to_owned()], &[]);
    let alone = alone.expect("it is a tool");
    let mut told = Vec::new();
    for offer in [Offer::default(), Offer::ALL, alone] {
        let options = McpOptions {
            offer,
            ..EVERYTHING
        };
        let mut client = Client::legacy(options).await;
        let (old, new, text) = replaced(&mut client).await;
        told.push(text.replace(&old, "OLD").replace(&new, "NEW"));
        client.end().await;
    }
    let forget =
        r#"if it does, call icm_memory_forget {"id":"OLD"}; if both hold, nothing is to do"#;
    assert!(told[0].contains(forget), "{}", told[0]);
    assert!(!told[0].contains('`'), "{}", told[0]);
    let link =
        r#"if it does, call icm_memory_link {"id":"NEW","other":"OLD","relation":"supersedes"}"#;
    assert!(told[1].contains(link), "{}", told[1]);
    let both = r#"if both hold, the same with "relation":"related""#;
    assert!(told[1].contains(both), "{}", told[1]);
    assert!(!told[1].contains('`'), "{}", told[1]);
    let shell = "`icm link NEW OLD -r supersedes` (for the user to run)";
    assert!(told[2].contains(shell), "{}", told[2]);
}

#[tokio::test]
async fn the_call_that_a_receipt_names_settles_the_question() {
    let options = McpOptions {
        offer: Offer::default(),
        ..EVERYTHING
    };
    let mut client = Client::legacy(options).await;
    let (old, new, _) = replaced(&mut client).await;
    client.ok("icm_memory_forget", json!({"id": old})).await;
    let ask = json!({"query": "API port"});
    let (text, found) = client.ok("icm_memory_recall", ask.clone()).await;
    let found = found["results"].as_array().expect("results");
    assert_eq!(found.len(), 1, "{text}");
    assert_eq!(found[0]["id"], json!(new));
    assert!(!text.contains("seems"), "{text}");
    // A value that goes back and forth is stored each time and counts.
    for number in [8080, 9090, 8080] {
        let (_, back) = client.ok("icm_memory_store", port(number)).await;
        assert_eq!(back["action"], "stored", "{number}");
        let (_, found) = client.ok("icm_memory_recall", ask.clone()).await;
        assert_eq!(found["results"][0]["id"], back["id"], "{found}");
    }
    client.end().await;
}

#[tokio::test]
async fn a_near_memory_that_seems_replaced_is_told_of_once() {
    let of = |number: u32| {
        let content = format!("The API of the billing service listens on port {number}");
        json!({"topic": "api", "content": content})
    };
    for options in [EVERYTHING, COMPACT] {
        let mut client = Client::legacy(options).await;
        let (_, old) = client.ok("icm_memory_store", of(8080)).await;
        let (text, new) = client.ok("icm_memory_store", of(9090)).await;
        assert_eq!(new["similar"]["id"], old["id"]);
        assert_eq!(new["seems_to_replace"][0]["id"], old["id"]);
        assert!(!text.contains("similar"), "{text}");
        assert_eq!(text.matches("seems").count(), 1, "{text}");
        assert!(options.compact || text.contains(", 0.90 alike)"), "{text}");
        client.end().await;
    }
}

#[tokio::test]
async fn of_a_long_text_a_receipt_shows_what_differs() {
    let mut client = Client::legacy(EVERYTHING).await;
    let of = |other: usize| {
        let line = |n: usize| format!("step {n} waits for the one before\n");
        let number = |n: usize| if n == 900 { other } else { n };
        let content: String = (1..=1_700).map(number).map(line).collect();
        json!({"topic": "design", "content": content})
    };
    client.ok("icm_memory_store", of(900)).await;
    let (text, new) = client.ok("icm_memory_store", of(5_900)).await;
    assert!(text.contains("similar (0.99): "), "{text}");
    assert!(text.contains("step 900 waits"), "{text}");
    assert!(text.len() < 900, "{text}");
    let content = new["similar"]["content"].as_str().expect("a text");
    assert!(content.contains("step 900 waits"), "{content}");
    assert!(content.len() < 500, "{}", content.len());
    client.end().await;
}
