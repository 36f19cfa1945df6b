//! Tests of arguments in the forms that clients and models write, and of the answers to them.

use icm_api::Trust;
use serde_json::{Value, json};

use crate::client::{Client, EVERYTHING};
use crate::list::tools;
use crate::look::Says;

/// Returns the ids of the results of a recall.
fn ids(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().expect("results");
    results.iter().filter_map(|it| it["id"].as_str()).collect()
}

#[tokio::test]
async fn arguments_that_come_as_text_mean_what_the_schema_says() {
    let mut client = Client::legacy(EVERYTHING).await;
    for (keywords, kept) in [
        (json!("[\"a\",\"b\"]"), json!(["a", "b"])),
        (json!("a, b"), json!(["a", "b"])),
        (json!(["a", 7]), json!(["a", "7"])),
        (json!("solo"), json!(["solo"])),
    ] {
        let stored = json!({
            "topic": "t", "content": format!("The gate opens with {keywords}"),
            "importance": "HIGH", "keywords": keywords, "allow_secret": "false",
            "scope": "Global", "wait_for_previous": true,
        });
        let (_, receipt) = client.ok("icm_memory_store", stored).await;
        let id = receipt["id"].as_str().expect("an id").to_owned();
        let memory = client.service.get(&id, None).expect("a memory");
        assert_eq!(json!(memory.keywords), kept, "{keywords}");
        assert_eq!(memory.importance.name(), "high");
        assert_eq!(memory.scope, "global");
    }
    let asked = json!({"query": "gate opens", "limit": "3"});
    let (_, answer) = client.ok("icm_memory_recall", asked).await;
    assert_eq!(ids(&answer).len(), 3);
    let create = json!({"name": "system", "description": "how it works"});
    client.ok("icm_memoir_create", create).await;
    for labels in [
        json!("[\"kind:service\", \"team:billing\"]"),
        json!("kind:service, team:billing"),
        json!(["kind:service", "team:billing"]),
    ] {
        let name = format!("concept of {labels}");
        let added = json!({"memoir": "system", "name": name, "definition": "d", "labels": labels});
        client.ok("icm_memoir_add_concept", added).await;
    }
    let found = json!({"memoir": "system", "label": "team:billing"});
    let (_, found) = client.ok("icm_memoir_search", found).await;
    assert_eq!(
        found["results"].as_array().map(Vec::len),
        Some(3),
        "{found}"
    );
}

/// Some clients make every property required and not nullable, so a model sends empty values.
#[tokio::test]
async fn every_optional_argument_may_be_an_empty_text_or_list() {
    let mut client = Client::legacy(EVERYTHING).await;
    let stored = json!({"topic": "t", "content": "Tea is at four"});
    let (_, receipt) = client.ok("icm_memory_store", stored).await;
    let forgotten = client.put("u", "Coffee is at nine", Trust::User);
    let create = json!({"name": "system", "description": "how it works"});
    client.ok("icm_memoir_create", create).await;
    let concept = json!({"memoir": "system", "name": "api", "definition": "d"});
    client.ok("icm_memoir_add_concept", concept).await;
    let mut called = 0;
    for tool in tools() {
        let name = tool["name"].as_str().expect("a name");
        let schema = &tool["inputSchema"];
        let required: Vec<&str> = schema["required"]
            .as_array()
            .map_or_else(Vec::new, |it| it.iter().filter_map(Value::as_str).collect());
        let mut arguments = json!({});
        for (property, about) in schema["properties"].as_object().expect("properties") {
            let empty = match about["type"].as_str() {
                Some("array") => json!([]),
                _ => json!(""),
            };
            arguments[property] = match (name, property.as_str()) {
                _ if !required.contains(&property.as_str()) => empty,
                (_, "topic") => json!("t"),
                ("icm_memoir_create", "name") => json!("another"),
                // Without a concept, the tool would delete the memoir.
                ("icm_memoir_forget", "memoir") => json!("another"),
                (_, "memoir") => json!("system"),
                ("icm_memoir_add_concept", "name") => json!("web"),
                ("icm_memoir_describe" | "icm_memoir_show", "name") => json!("system"),
                (_, "name" | "from") if name.starts_with("icm_memoir") => json!("api"),
                (_, "to") if name == "icm_memoir_link" => json!("web"),
                (_, "relation") if name == "icm_memoir_link" => json!("depends_on"),
                (_, "relation") => json!("related"),
                (_, "id" | "from" | "to") if name == "icm_memory_link" => receipt["id"].clone(),
                ("icm_memory_forget", "id") => json!(forgotten),
                ("icm_memory_link", "other") => receipt["id"].clone(),
                (_, "from") => json!("@3"),
                (_, "id") => receipt["id"].clone(),
                (_, "query") => json!("tea"),
                _ => json!("Tea is at five"),
            };
        }
        let result = client.call(name, arguments.clone()).await;
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        // Some tools require one of several optional arguments, or two memories.
        let wants_more = match name {
            "icm_undo" => "name an event",
            "icm_memory_consolidate" => "only one living memory",
            "icm_memory_link" => "itself",
            "icm_memory_rename_tag" => "no living memory has the tag",
            "icm_memory_update" => "nothing to change is given",
            "icm_memoir_refine" => "nothing to refine",
            "icm_memoir_search" | "icm_memoir_search_all" => "label",
            _ => "",
        };
        if wants_more.is_empty() {
            assert_eq!(result["isError"], false, "{name} {arguments}: {text}");
        } else {
            assert!(text.contains(wants_more), "{name} {arguments}: {text}");
        }
        called += 1;
    }
    assert_eq!(called, 42);
}

#[tokio::test]
async fn a_limit_out_of_bounds_is_answered_and_said() {
    let mut client = Client::legacy(EVERYTHING).await;
    for n in 0..60 {
        let stored = json!({"topic": "t", "content": format!("Fact {n} of the garden")});
        client.ok("icm_memory_store", stored).await;
    }
    for (limit, shown, said) in [
        (
            json!(500),
            50,
            "note: `limit` is from 1 to 50: 50 was used, not 500\n",
        ),
        (
            json!("0"),
            1,
            "note: `limit` is from 1 to 50: 1 was used, not 0\n",
        ),
        (
            json!(-1),
            1,
            "note: `limit` is from 1 to 50: 1 was used, not -1\n",
        ),
    ] {
        let asked = json!({"query": "garden", "limit": limit});
        let (text, answer) = client.ok("icm_memory_recall", asked).await;
        assert_eq!(ids(&answer).len(), shown, "{limit}");
        assert!(text.starts_with(said), "{limit}: {text}");
        assert_eq!(answer["notes"][0], said["note: ".len()..].trim_end());
    }
    let (text, _) = client.ok("icm_log", json!({"limit": 1_000})).await;
    text.begins("note: `limit` is from 1 to 200: ");
    let budget = json!({"query": "garden", "budget": 1});
    let (text, _) = client.ok("icm_memory_recall_context", budget).await;
    text.begins("note: `budget` is from 50 to 15000: ");
}

#[tokio::test]
async fn a_recall_goes_on_where_it_ended() {
    let mut client = Client::legacy(EVERYTHING).await;
    for n in 0..25 {
        let stored = json!({"topic": "t", "content": format!("Fact {n} of the garden")});
        client.ok("icm_memory_store", stored).await;
    }
    let mut asked = json!({"query": "garden", "limit": 10});
    let mut seen = Vec::new();
    let mut pages = Vec::new();
    loop {
        let (text, answer) = client.ok("icm_memory_recall", asked.clone()).await;
        let page: Vec<String> = ids(&answer).into_iter().map(str::to_owned).collect();
        pages.push(page.len());
        seen.extend(page);
        // A memory stored between two pages is on none of them.
        let stored =
            json!({"topic": "u", "content": format!("More of the garden {}", pages.len())});
        client.ok("icm_memory_store", stored).await;
        let Some(next) = answer["next_cursor"].as_str() else {
            text.lacks("more: cursor");
            break;
        };
        text.finishes(format!("\nmore: cursor \"{next}\""));
        asked["cursor"] = next.into();
    }
    assert_eq!(pages, [10, 10, 5]);
    let all = client.service.list(&icm_api::ListRequest {
        topic: Some("t".into()),
        ..Default::default()
    });
    let mut all: Vec<String> = all.expect("a list").into_iter().map(|it| it.id).collect();
    all.sort();
    seen.sort();
    assert_eq!(seen, all);
    let wrong = json!({"query": "garden", "cursor": "yesterday"});
    let said = client.fails("icm_memory_recall", wrong).await;
    said.says("leave `cursor` out");
}

/// Links bring memories into an answer, and confirmations lift some. No page may lose a hit by that.
#[tokio::test]
async fn pages_hold_every_hit_whatever_links_and_confirmations_say() {
    let mut client = Client::legacy(EVERYTHING).await;
    let mut hits = Vec::new();
    for n in 0..24 {
        hits.push(client.put("t", &format!("Fact {n} of the garden"), Trust::User));
    }
    let outside = client.put("u", "Something else entirely", Trust::User);
    for (id, other, relation) in [
        (&outside, &hits[1], "supersedes"),
        (&hits[20], &hits[3], "contradicts"),
        (&outside, &hits[9], "contradicts"),
    ] {
        let link = json!({"id": id, "other": other, "relation": relation});
        client.ok("icm_memory_link", link).await;
    }
    for n in 0..12 {
        let caller = icm_api::Caller {
            actor: format!("agent:{n}"),
            ..Default::default()
        };
        let again = icm_api::StoreRequest {
            topic: "t".into(),
            content: "Fact 13 of the garden".into(),
            ..Default::default()
        };
        client.service.store(&caller, again).expect("confirmed");
    }
    for limit in [1, 5, 10, 11, 13] {
        let mut asked = json!({"query": "garden", "limit": limit});
        let mut seen = Vec::new();
        let mut pages = 0;
        loop {
            let (_, answer) = client.ok("icm_memory_recall", asked.clone()).await;
            seen.extend(ids(&answer).into_iter().map(str::to_owned));
            pages += 1;
            assert!(pages < 60, "it goes on for ever with a limit of {limit}");
            let Some(next) = answer["next_cursor"].as_str() else {
                break;
            };
            asked["cursor"] = next.into();
        }
        let missed: Vec<_> = hits.iter().filter(|id| !seen.contains(id)).collect();
        // A page of one result has no room for a memory that supersedes a hit and the hit.
        assert!(limit == 1 || missed.is_empty(), "{limit}: {missed:?}");
    }
}

#[tokio::test]
async fn a_memory_is_shown_with_the_day_that_it_is_of() {
    let mut client = Client::legacy(EVERYTHING).await;
    for (content, day) in [
        ("The office is in Rotterdam", "2025-01-05"),
        ("The office is in Utrecht", "2026-09-05"),
    ] {
        let stored = json!({"topic": "office", "content": content, "occurred_at": day});
        client.ok("icm_memory_store", stored).await;
    }
    let asked = json!({"query": "where is the office"});
    let (text, _) = client.ok("icm_memory_recall", asked).await;
    let line = |words: &str| {
        text.lines()
            .find(|line| line.contains(words))
            .expect("a line")
    };
    assert!(line("Rotterdam").contains(" (2025-01-05, medium"), "{text}");
    assert!(line("Utrecht").contains(" (2026-09-05, medium"), "{text}");
    assert_eq!(text.matches("days in ").count(), 1, "{text}");
    for (since, until, found) in [
        ("2026-01-01", "", "Utrecht"),
        ("", "2025-12-31", "Rotterdam"),
        ("2025-01-05", "2025-01-05", "Rotterdam"),
    ] {
        let asked = json!({"query": "where is the office", "since": since, "until": until});
        let (text, answer) = client.ok("icm_memory_recall", asked.clone()).await;
        assert_eq!(ids(&answer).len(), 1, "{asked}");
        assert!(text.contains(found), "{asked}: {text}");
        let (text, _) = client.ok("icm_memory_recall_context", asked).await;
        assert!(
            text.contains(found) && text.matches("[office]").count() == 1,
            "{text}"
        );
    }
    // A later change adds a day of its own.
    let (text, _) = client
        .ok("icm_memory_recall", json!({"query": "Rotterdam"}))
        .await;
    let line = text.lines().find(|line| line.contains("Rotterdam"));
    let id = line.and_then(|line| line.split(' ').next()).expect("an id");
    let changed = json!({"id": id, "content": "The office was in Rotterdam"});
    client.ok("icm_memory_update", changed).await;
    let (text, _) = client
        .ok("icm_memory_recall", json!({"query": "Rotterdam"}))
        .await;
    text.says(" (2025-01-05, updated 20");
}
