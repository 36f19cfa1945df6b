//! Tests of conditions to expire, of expired memories, and of filters by keywords.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use icm_api::Caller;
use icm_log::env::Env;
use icm_service::{Ground, Service};
use serde_json::{Value, json};

use crate::client::{COMPACT, Client, Clock, EVERYTHING, READ_ONLY, opened_in, store_in};
use crate::look::{Look, Says};

/// Returns a client of a store whose clock begins on Friday, 2027-01-15 at 08:00 UTC.
async fn with_clock() -> (Arc<Clock>, Client) {
    let folder = tempfile::tempdir().expect("a folder");
    let clock = Arc::new(Clock(AtomicU64::new(1_800_000_000_000)));
    let ground = Ground {
        env: Arc::clone(&clock) as Arc<dyn Env>,
        zone: || jiff::tz::TimeZone::fixed(jiff::tz::offset(1)),
        ..Ground::system()
    };
    let service = Service::open_on(store_in(folder.path()), ground).expect("a store");
    let client = Client::connect_to(service, folder, EVERYTHING);
    (clock, client.greeted().await)
}

async fn store(client: &mut Client, content: &str, expires: &str) -> (String, Value) {
    let arguments = json!({"topic": "demo", "content": content, "expires": expires});
    client.ok("icm_memory_store", arguments).await
}

/// Returns the ids of the expired memories.
async fn expired(client: &mut Client) -> Vec<String> {
    let (_, list) = client.ok("icm_memory_list", json!({"expired": true})).await;
    list["memories"].texts("id")
}

async fn recall(client: &mut Client, query: &str) -> Vec<String> {
    let arguments = json!({"query": query, "floor": 0});
    let (_, found) = client.ok("icm_memory_recall", arguments).await;
    found["results"].texts("id")
}

#[tokio::test]
async fn each_condition_is_set_comes_true_and_is_replaced() {
    let (clock, mut client) = with_clock().await;
    let file = tempfile::NamedTempFile::new().expect("a file");
    let path = file.path().to_str().expect("text").to_owned();
    let mut ids = Vec::new();
    for (content, expires, told) in [
        (
            "The build takes nine minutes",
            "time 30d".to_owned(),
            "; it expires 2027-02-14 09:00 UTC+01".to_owned(),
        ),
        (
            "Ann holds the keys of the office",
            "usage 1".to_owned(),
            "; it expires after 1 recall".to_owned(),
        ),
        (
            "A deployment is under way",
            format!("file-exists {path}"),
            format!("; it expires once {path} is gone"),
        ),
        (
            "The parser reads seven tables",
            format!("file-pristine {path}"),
            format!("; it expires once {path} is changed or gone"),
        ),
        (
            "Invoices are sent in January",
            "period ..2027-01-31".to_owned(),
            "; it is shown until the end of 2027-01-31 UTC+01".to_owned(),
        ),
        (
            "Support answers the phone",
            "period mon-fri 09:00-17:00".to_owned(),
            "; it is shown mon-fri 09:00-17:00 +01:00".to_owned(),
        ),
    ] {
        let (text, receipt) = store(&mut client, content, &expires).await;
        text.says(&told);
        assert!(receipt["expires"].is_string(), "{receipt}");
        ids.push(receipt["id"].as_str().expect("an id").to_owned());
    }
    assert!(expired(&mut client).await.is_empty());

    // A recall uses one up, the file is gone, days pass, and it is night.
    assert!(
        recall(&mut client, "who holds the keys")
            .await
            .contains(&ids[1])
    );
    client.service.record_recalls();
    file.close().expect("it is removed");
    clock.forward(31 * 24 + 12);
    assert!(
        recall(&mut client, "build deployment parser invoices phone")
            .await
            .is_empty()
    );
    // The server writes what the file made expire after the answer.
    client.service.record_recalls();
    let (text, list) = client.ok("icm_memory_list", json!({"expired": true})).await;
    text.says("; expired; expires 2027-02-14 09:00 UTC+01)");
    let (mut hidden, mut all) = (list["memories"].texts("id"), ids.clone());
    hidden.sort();
    all.sort();
    assert_eq!(hidden, all);
    let (_, list) = client
        .ok("icm_memory_list", json!({"expired": true, "limit": 4}))
        .await;
    assert_eq!(list["memories"].count(), 4);
    let next = list["next_cursor"].clone();
    let rest = json!({"expired": true, "limit": 4, "cursor": next});
    let (_, rest) = client.ok("icm_memory_list", rest).await;
    assert_eq!(rest["memories"].count(), 2);

    for id in &ids {
        let arguments = json!({"id": id, "expires": "usage 3"});
        let (text, receipt) = client.ok("icm_memory_revive", arguments).await;
        text.says("; it expires after 3 recalls");
        receipt.has(json!({"action": "revived", "expires": "usage 3"}));
    }
    assert!(expired(&mut client).await.is_empty());
    let arguments = json!({"id": ids[0], "expires": "none"});
    let (_, receipt) = client.ok("icm_memory_update", arguments).await;
    receipt.has(json!({"action": "updated", "expires": null}));
    let memory = client.service.get(&ids[0], None).expect("it is there");
    assert_eq!(memory.expires, None);
}

#[tokio::test]
async fn conditions_that_cannot_be_set_are_refused() {
    let mut client = Client::legacy(EVERYTHING).await;
    for (expires, says) in [
        ("soon", "no condition to expire"),
        ("time 2020-01-01", "that has passed"),
        (
            "file-exists a/b",
            "the path is relative\ngive an absolute path",
        ),
        ("usage 0", "no number of recalls"),
    ] {
        let arguments = json!({"topic": "t", "content": "c", "expires": expires});
        let error = client.fails("icm_memory_store", arguments).await;
        error.says(says);
    }
    let (_, receipt) = store(&mut client, "The port is 5433", "").await;
    let nothing = json!({"id": receipt["id"]});
    let error = client.fails("icm_memory_update", nothing).await;
    error.says("nothing to change is given");
    let mut client = Client::legacy(COMPACT).await;
    let (text, receipt) = store(&mut client, "The port is 5433", "usage 2").await;
    text.lacks("expires");
    receipt.has(json!({"expires": "usage 2"}));
}

#[tokio::test]
async fn a_relative_path_is_one_in_the_folder_of_the_session() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = tempfile::tempdir().expect("a folder");
    let notes = project.path().join("notes.md");
    std::fs::write(&notes, "as agreed").expect("a file");
    let caller = Caller {
        actor: "user".into(),
        folder: Some(project.path().to_owned()),
        ..Caller::default()
    };
    let service = opened_in(folder.path());
    let client = Client::connect_as(caller, service, folder, EVERYTHING);
    let mut client = client.greeted().await;
    let absolute = format!("file-exists {}", notes.display());
    let (_, receipt) = store(&mut client, "It is as agreed", "file-exists notes.md").await;
    receipt.has(json!({"expires": absolute}));
    let id = receipt["id"].clone();
    let update = json!({"id": id, "expires": "file-pristine ./notes.md"});
    let (_, receipt) = client.ok("icm_memory_update", update).await;
    let condition = receipt["expires"].as_str().expect("a condition");
    assert!(std::path::Path::new(&condition["file-pristine ".len()..]).is_absolute());
    client.ok("icm_memory_forget", json!({"id": id})).await;
    let revive = json!({"id": id, "expires": "file-exists notes.md"});
    let (_, receipt) = client.ok("icm_memory_revive", revive).await;
    receipt.has(json!({"expires": absolute}));
    let arguments = json!({"topic": "t", "content": "c", "expires": "file-exists nowhere.md"});
    let error = client.fails("icm_memory_store", arguments).await;
    error.says(project.path().join("nowhere.md").display().to_string());
    error.says("name a file that is there");
}

async fn tagged(client: &mut Client) -> [String; 3] {
    let mut ids = Vec::new();
    for (content, keywords) in [
        ("apple in the api", json!(["api", "fruit"])),
        ("apple as a draft", json!("api, draft")),
        ("apple for later", json!(["later"])),
    ] {
        let arguments = json!({"topic": "fruit", "content": content, "keywords": keywords});
        let (_, receipt) = client.ok("icm_memory_store", arguments).await;
        ids.push(receipt["id"].as_str().expect("an id").to_owned());
    }
    ids.try_into().expect("three")
}

/// The second call is made before the first one is answered. Both records would be late if they followed their answers.
#[tokio::test]
async fn calls_at_once_show_a_memory_as_often_as_its_condition_allows() {
    let (_, mut client) = with_clock().await;
    for usage in [1, 2] {
        let content = format!("Badge {usage} opens the archive");
        let (_, receipt) = store(&mut client, &content, &format!("usage {usage}")).await;
        let id = receipt["id"].as_str().expect("an id").to_owned();
        for tool in ["icm_memory_recall", "icm_memory_recall_context"] {
            let arguments = json!({"query": format!("which badge {usage} opens it"), "floor": 0});
            let params = json!({"name": tool, "arguments": arguments});
            client.start("tools/call", params.clone()).await;
            client.start("tools/call", params).await;
        }
        let mut shown = 0;
        for _ in 0..4 {
            let reply = client.next().await.expect("an answer");
            let answer = &reply["result"]["structuredContent"];
            // A context names the ids of its memories alone.
            let ids: Vec<String> = match answer["ids"].as_array() {
                Some(ids) => ids
                    .iter()
                    .map(|id| id.as_str().expect("an id").to_owned())
                    .collect(),
                None => answer["results"].texts("id"),
            };
            shown += ids.iter().filter(|it| **it == id).count();
        }
        assert_eq!(shown, usage);
        assert_eq!(expired(&mut client).await, [id.as_str()]);
        let forget = json!({"id": id});
        client.ok("icm_memory_forget", forget).await;
    }
}

#[tokio::test]
async fn recall_and_list_filter_by_keywords() {
    let mut client = Client::legacy(EVERYTHING).await;
    let [api, draft, later] = tagged(&mut client).await;
    let [api, draft, later] = [&api, &draft, &later];
    for (filter, expected) in [
        (json!({"keyword": "API"}), vec![draft, api]),
        (json!({"keyword": "api,fruit"}), vec![api]),
        (json!({"keyword": ["api", "fruit"]}), vec![api]),
        (json!({"any_tags": "fruit, later"}), vec![later, api]),
        (json!({"any_tags": ["fruit", "later"]}), vec![later, api]),
        (json!({"not_tags": "api", "exclude": true}), vec![later]),
        (
            json!({"not_tags": ["draft"], "exclude": true}),
            vec![later, api],
        ),
    ] {
        let (_, list) = client.ok("icm_memory_list", filter.clone()).await;
        let listed = list["memories"].texts("id");
        assert_eq!(listed.iter().collect::<Vec<_>>(), expected, "{filter}");
        let mut asked = filter.clone();
        asked["query"] = json!("apple");
        asked["floor"] = json!(0);
        let (_, found) = client.ok("icm_memory_recall", asked).await;
        let mut found = found["results"].texts("id");
        let mut expected: Vec<String> = expected.into_iter().cloned().collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{filter}");
    }
    let last = json!({"query": "apple", "not_tags": "later", "floor": 0});
    let (_, found) = client.ok("icm_memory_recall", last).await;
    assert_eq!(found["results"].texts("id").last(), Some(later));
    let (text, _) = client.ok("icm_memory_list", json!({"topic": "none"})).await;
    text.says("no memories there");
}

#[tokio::test]
async fn keywords_are_counted_renamed_and_merged() {
    let (clock, mut client) = with_clock().await;
    tagged(&mut client).await;
    let arguments = json!({
        "topic": "fruit", "content": "apple until noon", "keywords": ["later"], "expires": "time 2h",
    });
    client.ok("icm_memory_store", arguments).await;
    clock.forward(3);
    let (text, tags) = client.ok("icm_memory_tags", json!({})).await;
    text.says("api (2)");
    text.says("later (1, 1 expired)");
    assert_eq!(
        tags["tags"].texts("tag"),
        ["api", "draft", "fruit", "later"]
    );
    let (_, tags) = client.ok("icm_memory_tags", json!({"filter": "A"})).await;
    assert_eq!(tags["tags"].texts("tag"), ["api", "draft", "later"]);

    let rename = json!({"from": "later", "to": "soon"});
    let (text, look) = client.ok("icm_memory_rename_tag", rename).await;
    text.says("would change 2 memories, 1 of them expired; nothing is done yet");
    look.has(json!({"dry_run": true, "memories": 2, "expired": 1, "event": null}));
    let rename = json!({"from": "later", "to": "soon", "confirm": look["plan"]});
    let (text, done) = client.ok("icm_memory_rename_tag", rename).await;
    text.begins("changed 2 memories, 1 of them expired (event ");
    done.has(json!({"dry_run": false}));
    let (_, tags) = client.ok("icm_memory_tags", json!({})).await;
    assert_eq!(tags["tags"].texts("tag"), ["api", "draft", "fruit", "soon"]);

    let taken = json!({"from": "draft", "to": "api"});
    let error = client.fails("icm_memory_rename_tag", taken).await;
    error.says("the tag `api` exists already");
    error.says("icm_memory_rename_tag (merge: true)");
    let merge = json!({"from": "draft", "to": "api", "merge": true});
    let (_, look) = client.ok("icm_memory_rename_tag", merge).await;
    let merge = json!({"from": "draft", "to": "api", "merge": true, "confirm": look["plan"]});
    client.ok("icm_memory_rename_tag", merge).await;
    let (_, tags) = client.ok("icm_memory_tags", json!({})).await;
    assert_eq!(tags["tags"].texts("tag"), ["api", "fruit", "soon"]);
}

#[tokio::test]
async fn a_keyword_with_a_comma_is_refused() {
    let mut client = Client::legacy(EVERYTHING).await;
    let (_, receipt) = store(&mut client, "The port is 5433", "").await;
    let comma = json!(["port, database"]);
    for (tool, arguments) in [
        (
            "icm_memory_store",
            json!({"topic": "t", "content": "c", "keywords": comma}),
        ),
        (
            "icm_memory_update",
            json!({"id": receipt["id"], "keywords": comma}),
        ),
    ] {
        let error = client.fails(tool, arguments).await;
        error.says("the tag `port, database` has a comma, which parts tags");
        error.says("give `port` and `database` each by itself");
    }
    // A text with commas is a list.
    let arguments = json!({"topic": "t", "content": "c", "keywords": "port, database"});
    client.ok("icm_memory_store", arguments).await;
    let (_, list) = client
        .ok("icm_memory_list", json!({"keyword": "database"}))
        .await;
    assert_eq!(list["memories"].count(), 1);
}

#[test]
fn a_server_that_only_reads_lists_and_does_not_revive() {
    let tools = icm_server::mcp::tool_list(READ_ONLY);
    let names = tools.texts("name");
    for (name, is_offered) in [
        ("icm_memory_list", true),
        ("icm_memory_tags", true),
        ("icm_memory_revive", false),
        ("icm_memory_rename_tag", false),
    ] {
        assert_eq!(names.iter().any(|tool| tool == name), is_offered, "{name}");
    }
}
