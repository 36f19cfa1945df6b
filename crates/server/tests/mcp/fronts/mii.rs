//! Tests of the tools of mii-memory.

use icm_api::{Caller, RecallRequest};
use serde_json::{Value, json};

use super::{connect, framed_json, id_of, in_shop};
use crate::look::{Look, Says};

#[tokio::test]
async fn calls_for_mii_memory_work_unchanged() {
    let mut client = connect("mii", in_shop()).await;
    let set = json!({
        "content": "Use cargo test before changing the storage layer.",
        "mode": "workspace", "tags": ["rust", "Testing"], "metadata": "from the review",
    });
    let (text, stored) = client.ok("memory_set", set).await;
    assert_eq!(text, format!(r#"{{"id":"{}"}}"#, id_of(&stored)));
    let everywhere = json!({"content": "Prefer short commit messages.", "tags": ["git"]});
    client.ok("memory_set", everywhere).await;

    let get =
        json!({"query": "how should storage changes be tested?", "tag": ["rust"], "limit": 3});
    let (text, found) = client.ok("memory_get", get).await;
    assert_eq!(found["memories"].count(), 1, "{found}");
    found.has(json!({
        "/memories/0/id": stored["id"],
        "/memories/0/content": "Use cargo test before changing the storage layer.",
        "/memories/0/mode": "workspace", "/memories/0/mode_ref": "shop",
        "/memories/0/tags": ["rust", "testing"], "/memories/0/metadata": "from the review",
    }));
    assert!(
        found["memories"][0]["score"].as_f64() > Some(0.0),
        "{found}"
    );
    assert!(found["memories"][0]["created_at"].is_string(), "{found}");
    assert_eq!(framed_json(&text), found);

    let (text, tags) = client.ok("list_tags", json!({})).await;
    let count = |tag: &str| json!({"tag": tag, "count": 1});
    assert_eq!(
        tags["tags"],
        json!([count("git"), count("rust"), count("testing")])
    );
    assert_eq!(framed_json(&text), tags);
    let (_, tags) = client.ok("list_tags", json!({"filter": "TEST"})).await;
    assert_eq!(tags["tags"], json!([count("testing")]));

    let none = json!({"content": "nowhere to be found", "tags": []});
    let said = client.fails("memory_set", none).await;
    said.says("give at least one tag");
    client.end().await;
}

#[tokio::test]
async fn tags_of_mii_memory_filter_and_put_behind() {
    let mut client = connect("mii", in_shop()).await;
    for (content, tags) in [
        (
            "The shop uses Redis as its cache",
            json!(["cache", "redis"]),
        ),
        (
            "The shop used Memcached as its cache",
            json!(["cache", "old"]),
        ),
        (
            "The shop uses RabbitMQ as its queue",
            json!(["queue", "rabbit"]),
        ),
    ] {
        let set = json!({"content": content, "tags": tags});
        client.ok("memory_set", set).await;
    }
    let get = |given: Value| {
        let mut get = json!({"query": "shop uses"});
        for (name, value) in given.as_object().expect("arguments") {
            get[name] = value.clone();
        }
        get
    };
    for (given, count) in [
        (json!({}), 3),
        (json!({"p_tag": ["cache"]}), 2),
        (json!({"positive_tags": ["cache", "redis"]}), 1),
        (json!({"tag": "cache", "p_tag": "old"}), 1),
        (json!({"tag": ["nothing"]}), 0),
        (json!({"mode": "global"}), 3),
        (json!({"mode": "workspace"}), 0),
    ] {
        let (_, found) = client.ok("memory_get", get(given.clone())).await;
        assert_eq!(found["memories"].count(), count, "{given}: {found}");
    }
    for (given, last) in [
        (json!({"p_tag": ["cache"], "n_tag": ["redis"]}), "redis"),
        (json!({"p_tag": ["cache"], "negative_tags": ["old"]}), "old"),
    ] {
        let (_, found) = client.ok("memory_get", get(given)).await;
        let tags = &found["memories"][1]["tags"];
        assert!(
            tags.as_array().expect("tags").contains(&json!(last)),
            "{found}"
        );
    }
    client.end().await;
}

#[tokio::test]
async fn a_session_of_mii_memory_is_its_own() {
    let mut client = connect("mii", in_shop()).await;
    let set =
        json!({"content": "The branch under review is retry", "mode": "session", "tags": ["now"]});
    client.ok("memory_set", set).await;
    let get = json!({"query": "branch under review", "mode": "session"});
    let (_, found) = client.ok("memory_get", get).await;
    found.has(json!({"/memories/0/mode": "session", "/memories/0/mode_ref": "mcp-1"}));
    let alert = json!({"content": "Read the review before going on"});
    client.ok("alert_set", alert).await;
    let (text, due) = client.ok("alerts_get", json!({})).await;
    assert_eq!(due["alerts"].count(), 1, "{due}");
    text.says("Read the review before going on");
    // An alert for the project is not of this session, and waits for another front.
    let for_project = icm_api::AlertSetRequest {
        text: "The schema has changed".to_owned(),
        ..icm_api::AlertSetRequest::default()
    };
    let set = client.service.set_alert(&in_shop(), for_project);
    assert!(set.expect("it is set").project.is_some());
    let (_, due) = client.ok("alerts_get", json!({})).await;
    assert_eq!(due["alerts"].count(), 0, "{due}");
    due.has(json!({"not_due": 0}));
    let (_, store) = client.end().await;
    let memory = store.service.list(&icm_api::ListRequest::default());
    assert_eq!(memory.expect("a list")[0].scope, "session:mcp-1");

    // Without a project, a memory of the workspace would be shown everywhere.
    let mut client = connect("mii", Caller::default()).await;
    let set = json!({"content": "Nobody else's", "mode": "workspace", "tags": ["a"]});
    let said = client.fails("memory_set", set).await;
    said.says("no project was found here");
    client.end().await;
}

#[tokio::test]
async fn a_memory_of_mii_memory_expires_by_its_condition() {
    let mut client = connect("mii", in_shop()).await;
    let set = json!({
        "content": "The demo password is on the whiteboard", "tags": ["demo"],
        "expiration_condition": "usage", "expiration_value": "1",
    });
    let (text, stored) = client.ok("memory_set", set).await;
    stored.has(json!({"expiration_condition": "usage", "expiration_value": "1"}));
    assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), stored);
    let get = json!({"query": "demo password whiteboard"});
    let (_, found) = client.ok("memory_get", get).await;
    assert_eq!(found["memories"].count(), 1, "{found}");
    let half = json!({"content": "x", "tags": ["a"], "expiration_condition": "time"});
    let said = client.fails("memory_set", half).await;
    said.says("needs both");
    // The record of the recall is written after its answer.
    let (_, store) = client.end().await;
    let request = RecallRequest::new("demo password whiteboard");
    let answer = store.service.recall(&Caller::default(), &request);
    assert_eq!(answer.expect("an answer").results, []);
}

#[tokio::test]
async fn an_answer_tells_the_condition_as_it_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let notes = folder.path().join("notes.md");
    std::fs::write(&notes, "as agreed").expect("a file");
    let caller = Caller {
        folder: Some(folder.path().to_owned()),
        ..in_shop()
    };
    let mut client = connect("mii", caller).await;
    for (condition, value, counts) in [
        ("usage", "3", "3".to_owned()),
        ("file_exist", "notes.md", notes.display().to_string()),
        ("file_pristine", "notes.md", notes.display().to_string()),
        (
            "time",
            "2100-01-01T00:00:00Z",
            "2100-01-01T00:00:00Z".to_owned(),
        ),
    ] {
        let set = json!({
            "content": format!("It expires by {condition}"), "tags": ["now"],
            "expiration_condition": condition, "expiration_value": value,
        });
        let (_, stored) = client.ok("memory_set", set).await;
        stored.has(json!({"expiration_condition": condition, "expiration_value": counts}));
    }
    let hours = json!({
        "content": "Ask the support", "tags": ["now"],
        "expiration_condition": "period", "expiration_value": "mon-fri 9:00-17:00",
    });
    let (_, stored) = client.ok("memory_set", hours).await;
    let value = stored["expiration_value"].as_str().expect("a value");
    value.begins("mon-fri 09:00-17:00");
    client.end().await;
}

#[tokio::test]
async fn an_alert_without_a_session_says_how_to_name_one() {
    // As over HTTP, where a connection has no session.
    let mut client = connect("mii", Caller::default()).await;
    for (tool, arguments) in [
        ("alert_set", json!({"content": "Read the review"})),
        ("alerts_get", json!({})),
    ] {
        let error = client.fails(tool, arguments).await;
        error.says("belongs to a session");
        error.says("`sessionId` in `_meta`");
        error.lacks("--session");
    }
    client.end().await;
}
