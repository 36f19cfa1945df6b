//! Pages and data of graphs, on a store in a temporary folder.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{Query, State};
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use icm_api::{
    Caller, ConceptLinkRequest, ConceptRequest, LinkRequest, MemoirRequest, StoreRequest,
};
use icm_service::{OpenOptions, Service};
use serde_json::Value;
use tempfile::TempDir;

use super::*;

/// A text that would be markup, a handler or a link, with a control and a bidirectional character.
const HOSTILE: &str = "\"><script>alert(1)</script><img src=x onerror=alert(1)> javascript:alert(1) \u{202e}\u{1b}[31m";

struct World {
    _folder: TempDir,
    explorer: Arc<Explorer>,
    caller: Caller,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().expect("a folder");
        let options = OpenOptions {
            dir: folder.path().join("store"),
            lock_wait: Duration::from_secs(10),
            read_only: false,
        };
        let service = Arc::new(Service::open(options).expect("a store"));
        let caller = Caller {
            actor: "user".to_owned(),
            ..Caller::default()
        };
        let explorer = Explorer::new(service, caller.clone(), true).expect("an explorer");
        World {
            _folder: folder,
            explorer: Arc::new(explorer),
            caller,
        }
    }

    fn service(&self) -> &Service {
        &self.explorer.service
    }

    fn ask(&self, address: &str) -> Ask {
        let uri: Uri = address.parse().expect("an address");
        let Query(params) = Query::try_from_uri(&uri).expect("parameters");
        Ask::of(&self.explorer, &uri, params).expect("a moment")
    }

    fn memoir(&self, name: &str, description: &str) {
        let request = MemoirRequest {
            name: name.to_owned(),
            description: description.to_owned(),
            ..MemoirRequest::default()
        };
        let made = self.service().memoir_create(&self.caller, &request);
        made.expect("a memoir");
    }

    fn concept(&self, memoir: &str, name: &str, label: &str, sources: &[String]) -> String {
        let request = ConceptRequest {
            memoir: memoir.to_owned(),
            name: name.to_owned(),
            definition: Some(format!("About {name}")),
            labels: vec![label.to_owned()],
            sources: sources.to_vec(),
            ..ConceptRequest::default()
        };
        let made = self.service().concept_add(&self.caller, &request);
        made.expect("a concept").id
    }

    fn link(&self, memoir: &str, from: &str, to: &str, reason: Option<&str>) -> u64 {
        let request = ConceptLinkRequest {
            memoir: memoir.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
            relation: "depends_on".to_owned(),
            reason: reason.map(str::to_owned),
            ..ConceptLinkRequest::default()
        };
        let made = self.service().concept_link(&self.caller, &request);
        made.expect("a link").position
    }

    fn memory(&self, text: &str) -> String {
        let stored = self
            .service()
            .store(&self.caller, StoreRequest::new(HOSTILE.trim_start(), text));
        // A topic may hold no control characters.
        let stored = stored.or_else(|_| {
            let topic = HOSTILE.replace(['\u{202e}', '\u{1b}'], "");
            self.service()
                .store(&self.caller, StoreRequest::new(topic, text))
        });
        stored.expect("it stores").id
    }

    fn page(&self, make: fn(&Explorer, &Ask) -> Result<Page>, address: &str) -> String {
        let (uri, params) = asked(address);
        let ask = Ask::of(&self.explorer, &uri, params).expect("an address");
        let page = make(&self.explorer, &ask).expect("a page");
        maud::html! { (page.title) "\n" (page.main) }.into_string()
    }

    fn state(&self) -> State<Arc<Explorer>> {
        State(self.explorer.clone())
    }
}

fn asked(address: &str) -> (Uri, Vec<(String, String)>) {
    let uri: Uri = address.parse().expect("an address");
    let Query(params) = Query::try_from_uri(&uri).expect("parameters");
    (uri, params)
}

async fn read(response: Response) -> (StatusCode, String) {
    let status = response.status();
    let bytes = to_bytes(response.into_body(), usize::MAX).await;
    let text = String::from_utf8(bytes.expect("a body").to_vec());
    (status, text.expect("it is text"))
}

async fn memoir_data(world: &World, address: &str) -> (StatusCode, String, Value) {
    let (uri, params) = asked(address);
    let (status, text) = read(memoir::data(world.state(), Query(params), uri).await).await;
    let json = serde_json::from_str(&text).expect("it is JSON");
    (status, text, json)
}

/// Fails if a text holds live markup of [`HOSTILE`], or characters that steer.
fn assert_harmless(text: &str) {
    for live in [
        "<script>alert",
        "<img",
        "\u{202e}",
        "\u{1b}",
        "href=\"javascript:",
    ] {
        assert!(!text.contains(live), "{live:?} in {text}");
    }
}

#[tokio::test]
async fn hostile_names_are_text_on_each_page() {
    let world = World::new();
    let source = world.memory(HOSTILE);
    // Names hold no control characters: the service refuses them.
    let name = HOSTILE.replace(['\u{202e}', '\u{1b}'], "");
    world.memoir("m", HOSTILE);
    let id = world.concept(
        "m",
        &name,
        "<b onclick=x>label</b>",
        std::slice::from_ref(&source),
    );
    world.concept("m", "other", "plain", &[]);
    world.link("m", &name, "other", Some(HOSTILE));
    let other = world.memory("The mailer sends at noon <script>alert(2)</script>");
    let link = LinkRequest {
        from: source.clone(),
        to: other,
        relation: "contradicts".to_owned(),
        ..LinkRequest::default()
    };
    world.service().link(&world.caller, &link).expect("a link");

    let concept = format!("/graph/m/{id}");
    let around = format!("/graph/memories?around={source}");
    let pages = [
        world.page(page, "/graph"),
        world.page(memoir::page, "/graph/m"),
        world.page(
            memoir::page,
            "/graph/m?q=script&label=%3Cb%20onclick%3Dx%3Elabel%3C%2Fb%3E",
        ),
        world.page(concept::page, &concept),
        world.page(memories::page, "/graph/memories"),
        world.page(memories::page, &around),
    ];
    for shown in &pages {
        assert!(shown.contains("&lt;script&gt;"), "{shown}");
        assert!(!shown.contains("<b onclick"), "{shown}");
        assert_harmless(shown);
    }
    let (uri, params) = asked(&format!("{concept}/panel"));
    let panel = read(concept::panel(world.state(), Query(params), uri).await).await;
    assert_eq!(panel.0, StatusCode::OK);
    assert!(panel.1.contains("&lt;script&gt;"), "{}", panel.1);
    assert_harmless(&panel.1);

    for address in [
        "/graph/m/data",
        "/graph/m/data?q=script",
        &format!("/graph/m/data?around={id}"),
    ] {
        let (status, text, json) = memoir_data(&world, address).await;
        assert_eq!(status, StatusCode::OK);
        assert!(!text.contains('<'), "{text}");
        let is_found = text.contains("\\u003cscript>");
        assert!(is_found || address.contains("?q="), "{text}");
        assert_harmless(&text);
        assert_eq!(json["total"], 2);
    }
    let (uri, params) = asked(&format!("/graph/memories/data?around={source}"));
    let (status, text) = read(memories::data(world.state(), Query(params), uri).await).await;
    assert_eq!(status, StatusCode::OK);
    assert_harmless(&text);
    let json: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(json["links"][0]["relation"], "contradicts");
    assert_eq!(json["nodes"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn data_are_bounded_and_of_the_moment() {
    let world = World::new();
    world.memoir("big", "Many concepts");
    world.concept("big", "hub", "centre", &[]);
    for n in 0..305 {
        world.concept("big", &format!("c{n:03}"), "leaf", &[]);
    }
    let mut first = 0;
    for n in 0..140 {
        let position = world.link("big", &format!("c{n:03}"), "hub", None);
        first = if n == 0 { position } else { first };
    }
    let (_, _, json) = memoir_data(&world, "/graph/big/data").await;
    let nodes = json["nodes"].as_array().expect("nodes");
    assert_eq!(
        (nodes.len(), &json["total"], &json["cut"]),
        (data::FIRST, &306.into(), &true.into())
    );
    assert_eq!(nodes[0]["name"], "hub");
    assert_eq!(json["links"].as_array().map(Vec::len), Some(140));

    let (_, _, json) = memoir_data(&world, "/graph/big/data?around=hub&depth=3").await;
    let names = json["nodes"].as_array().expect("nodes").iter();
    let names: BTreeSet<&str> = names.filter_map(|node| node["name"].as_str()).collect();
    assert_eq!((names.len(), &json["cut"]), (data::AROUND, &true.into()));

    let before = format!("/graph/big/data?around=hub&at=@{}", first - 1);
    let (_, _, json) = memoir_data(&world, &before).await;
    assert_eq!(json["links"].as_array().map(Vec::len), Some(0));
    assert_eq!(
        json["nodes"][0]["page"],
        format!("/graph/big/hub?at=%40{}", first - 1)
    );

    let (status, _, json) = memoir_data(&world, "/graph/none/data").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(
        json["error"]
            .as_str()
            .is_some_and(|error| error.contains("none")),
        "{json}"
    );

    let table = world.page(memoir::page, "/graph/big");
    assert!(table.contains("1–50 of 306"), "{table}");
    let hub = table
        .find("/graph/big/hub")
        .expect("the hub is on the page");
    assert!(hub < table.find("/graph/big/c000").expect("so is its neighbour"));
}

#[test]
fn names_that_mean_something_in_an_address_are_replaced_by_ids() {
    for (name, part) in [
        ("invoices", "invoices"),
        ("two words", "two%20words"),
        ("größe", "gr%C3%B6%C3%9Fe"),
        ("data", "ID"),
        ("memories", "ID"),
        ("..", "ID"),
        ("a/b", "ID"),
        ("a?b#c", "ID"),
        ("(withheld)", "ID"),
    ] {
        assert_eq!(part_of_path(name, "ID"), part, "{name}");
    }
}

#[test]
fn a_memoir_is_drawn_anew_after_the_log_was_rewritten() {
    let world = World::new();
    world.memoir("shop", "How the shop works");
    world.concept("shop", "cart", "domain:money", &[]);
    let drawn = || {
        let ask = world.ask("/graph/shop");
        Webs::of(&world.explorer, &ask, "shop").expect("a drawing")
    };
    let first = drawn();
    assert!(Arc::ptr_eq(&first, &drawn()), "it is kept");
    // A store that is restored can have other events up to the same position.
    let mark = world.service().dir().join("rewritten");
    std::fs::write(mark, "other").expect("it is written");
    assert!(!Arc::ptr_eq(&first, &drawn()), "an old drawing");
}
