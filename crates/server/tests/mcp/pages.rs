//! Tests of answers that are too long for one reply, through all their pages.

use icm_api::{Caller, ConceptLinkRequest, ConceptRequest, MemoirRequest};
use serde_json::{Value, json};

use crate::client::{Client, EVERYTHING};
use crate::look::Says;

const CONCEPTS: usize = 300;

/// Returns all entries of a list over all pages, each as `name` maps it, and the number of pages.
async fn all(
    client: &mut Client,
    (tool, arguments): (&str, Value),
    list: &str,
    name: fn(&Value) -> String,
) -> (Vec<String>, usize) {
    let (mut met, mut pages, mut arguments) = (Vec::new(), 0, arguments);
    loop {
        let (text, page) = client.ok(tool, arguments.clone()).await;
        assert!(text.len() < 130_000, "{} bytes", text.len());
        met.extend(page[list].as_array().expect("a list").iter().map(name));
        pages += 1;
        let Some(next) = page.get("next").and_then(Value::as_str) else {
            text.lacks("give after");
            return (met, pages);
        };
        text.finishes(format!("\nmore: give after = \"{next}\""));
        arguments["after"] = json!(next);
    }
}

fn name(item: &Value) -> String {
    item["name"].as_str().expect("a name").to_owned()
}

fn ends(link: &Value) -> String {
    let text = |field: &str| link[field].as_str().expect("a text").to_owned();
    [text("from"), text("relation"), text("to")].join(" ")
}

fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list
}

/// Makes a memoir with a concept that many others depend on.
fn hub(client: &Client) -> Vec<String> {
    let (service, caller) = (&client.service, Caller::default());
    let memoir = MemoirRequest {
        name: "wheel".into(),
        ..MemoirRequest::default()
    };
    service.memoir_create(&caller, &memoir).expect("created");
    let spokes = (0..CONCEPTS).map(|n| format!("spoke {n:03}"));
    let spokes: Vec<String> = spokes.collect();
    for name in ["hub".to_owned()].iter().chain(&spokes) {
        let concept = ConceptRequest {
            memoir: "wheel".into(),
            name: name.clone(),
            definition: Some(format!("{name} is {}", "long ".repeat(80))),
            ..ConceptRequest::default()
        };
        service.concept_add(&caller, &concept).expect("added");
        if name != "hub" {
            let link = ConceptLinkRequest {
                memoir: "wheel".into(),
                from: name.clone(),
                to: "hub".into(),
                relation: "depends_on".into(),
                ..ConceptLinkRequest::default()
            };
            service.concept_link(&caller, &link).expect("linked");
        }
    }
    spokes
}

#[tokio::test]
async fn memoirs_have_pages() {
    let mut client = Client::legacy(EVERYTHING).await;
    let names: Vec<String> = (0..150).map(|n| format!("m{n:03}")).collect();
    for name in &names {
        let memoir = MemoirRequest {
            name: name.clone(),
            description: "a thousand bytes of it ".repeat(43),
            ..MemoirRequest::default()
        };
        let made = client.service.memoir_create(&Caller::default(), &memoir);
        made.expect("created");
    }
    let tool = ("icm_memoir_list", json!({}));
    let (met, pages) = all(&mut client, tool, "memoirs", name).await;
    assert_eq!((met.len(), pages), (150, 8));
    assert_eq!(met, names);
    // A cursor is a name in hex.
    let after = json!({"after": "7a"});
    let (text, page) = client.ok("icm_memoir_list", after).await;
    assert_eq!(
        (text.as_str(), &page["total"]),
        ("no memoirs after that", &json!(150))
    );
    client.end().await;
}

#[tokio::test]
async fn neighbours_of_a_concept_have_pages() {
    let mut client = Client::legacy(EVERYTHING).await;
    let spokes = hub(&client);
    let links: Vec<String> = spokes
        .iter()
        .map(|it| format!("{it} depends_on hub"))
        .collect();
    let ask = json!({"memoir": "wheel", "name": "hub"});
    for (more, least) in [
        (json!({}), 3),
        (json!({"limit": 2_000}), 3),
        (json!({"limit": 7, "depth": 2}), 43),
    ] {
        let mut ask = ask.clone();
        for (name, value) in more.as_object().expect("fields") {
            ask[name] = value.clone();
        }
        let tool = ("icm_memoir_inspect", ask);
        let (met, pages) = all(&mut client, tool.clone(), "around", name).await;
        assert_eq!(met.len(), CONCEPTS, "{more}");
        assert_eq!(sorted(met), spokes, "{more}");
        assert!(pages >= least, "{pages} pages of {more}");
        let (met, _) = all(&mut client, tool, "links", ends).await;
        assert_eq!(sorted(met), links, "{more}");
    }
    // A concept added after the first page is not on the pages.
    let (_, page) = client.ok("icm_memoir_inspect", ask.clone()).await;
    let first = json!({"memoir": "wheel", "name": "aaa", "definition": "late"});
    client.ok("icm_memoir_add_concept", first).await;
    let link = json!({
        "memoir": "wheel", "from": "hub", "to": "aaa", "relation": "depends_on",
    });
    client.ok("icm_memoir_link", link).await;
    let mut tool = ("icm_memoir_inspect", ask);
    tool.1["after"] = page["next"].clone();
    let shown = page["around"].as_array().map_or(0, Vec::len);
    let (met, _) = all(&mut client, tool.clone(), "around", name).await;
    assert_eq!(met.len() + shown, CONCEPTS);
    tool.1["after"] = json!("here");
    let said = client.fails(tool.0, tool.1).await;
    said.says("`here` is no place");
    client.end().await;
}

#[tokio::test]
async fn an_export_has_pages() {
    let mut client = Client::legacy(EVERYTHING).await;
    let spokes = hub(&client);
    let text = |page: &Value| page["text"].as_str().expect("a text").to_owned();
    for format in ["json", "dot", "ascii", "markdown", "graphml", "mermaid"] {
        let (mut whole, mut pages, mut total) = (String::new(), 0, None);
        let mut ask = json!({"memoir": "wheel", "as": format});
        loop {
            let (said, page) = client.ok("icm_memoir_export", ask.clone()).await;
            whole.push_str(&text(&page));
            pages += 1;
            let Some(next) = page.get("next").cloned() else {
                break;
            };
            assert!(whole.ends_with('\n'), "{format}");
            said.says(", it goes on; more: give after = \"");
            total = page["total_bytes"].as_u64();
            ask["after"] = next;
        }
        for spoke in &spokes {
            assert!(whole.contains(spoke.as_str()), "{format}: {spoke}");
        }
        assert!(
            total.is_none_or(|total| total == whole.len() as u64),
            "{format}"
        );
        // Lines are indented within a frame.
        let framed = whole.len() + 4 * whole.matches('\n').count();
        assert_eq!(pages > 1, framed > 23_500, "{format}");
        if format == "json" {
            assert!(pages > 3, "{pages}");
            let graph: Value = serde_json::from_str(&whole).expect("JSON");
            let concepts = graph["concepts"].as_array().map(Vec::len);
            assert_eq!(concepts, Some(CONCEPTS + 1));
        }
    }
    let now = client.ok("icm_memory_stats", json!({})).await.1["positions"].clone();
    for place in ["x", &format!("{now}.999999999"), "1"] {
        let ask = json!({"memoir": "wheel", "as": "dot", "after": place});
        let said = client.fails("icm_memoir_export", ask).await;
        said.says(format!("`{place}` is no place"));
    }
    client.end().await;
}
