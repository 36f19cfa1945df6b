use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::http::Uri;
use icm_api::{Caller, FactRequest, FeedbackRequest, NoProgress, StoreRequest, UpdateRequest};
use icm_service::{OpenOptions, Service};
use maud::html;

use super::page;
use crate::Explorer;
use crate::answer::Make;
use crate::ask::{Ask, encoded};
use crate::pages::{memory, topics};

/// Texts that try to be more than text.
const HOSTILE: [&str; 5] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "over\u{202e}ride\u{7}\u{1b}[31m",
    "</textarea><a href=\"javascript:alert(1)\">x</a>",
];

fn explorer(folder: &std::path::Path) -> Explorer {
    let service = Service::open(OpenOptions {
        dir: folder.join("store"),
        lock_wait: Duration::from_secs(5),
        read_only: false,
    });
    let caller = Caller {
        actor: "user".to_owned(),
        ..Caller::default()
    };
    Explorer::new(Arc::new(service.expect("a store")), caller, false).expect("an explorer")
}

fn store(explorer: &Explorer, request: StoreRequest) -> (String, u64) {
    let stored = explorer.service.store(&explorer.caller, request);
    let stored = stored.expect("it stores");
    (stored.id, stored.position)
}

/// Returns the HTML of a page without its frame.
fn shown(explorer: &Explorer, make: Make, path: &str, params: &[(&str, &str)]) -> String {
    let uri: Uri = path.parse().expect("a path");
    let params = params.iter();
    let params = params.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let ask = Ask::of(explorer, &uri, params.collect()).expect("a moment");
    let page = make(explorer, &ask).expect("a page");
    html! { h1 { (page.title) } (page.main) }.into_string()
}

/// Returns the ids of the memories that a page links to as results.
fn results(html: &str) -> Vec<String> {
    let opens = html.split("class=\"open\" href=\"/memories/").skip(1);
    opens.map(|rest| rest[..26].to_owned()).collect()
}

#[test]
fn the_pages_hold_each_memory_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    let stored: BTreeSet<String> = (0..1_000)
        .map(|number| store(&explorer, StoreRequest::new("t", format!("note {number}"))).0)
        .collect();
    let (mut seen, mut after) = (Vec::new(), String::new());
    loop {
        let html = shown(&explorer, page, "/memories", &[("after", &after)]);
        let found = results(&html);
        assert!(found.len() <= super::MEMORIES);
        seen.extend(found);
        let next = html
            .split("class=\"button\" href=\"/memories?after=")
            .nth(1);
        let Some(next) = next else { break };
        after = next[..26].to_owned();
    }
    assert_eq!(seen.len(), 1_000);
    assert!(seen.is_sorted_by(|newer, older| newer > older));
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), stored);
}

#[test]
fn a_search_filters_marks_and_leaves_no_record() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    let note = |topic: &str, text: &str, tags: &[&str]| {
        let request = StoreRequest {
            keywords: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            ..StoreRequest::new(topic, text)
        };
        store(&explorer, request).0
    };
    let invoice = note("billing/mail", "Invoices lie on the green server", &["ops"]);
    let draft = note("billing", "Invoices of May are a draft", &["draft"]);
    let other = note("garden", "Roses need water", &[]);
    let before = explorer.service.newest_position().expect("a position");
    let found = |params: &[(&str, &str)]| {
        let html = shown(&explorer, page, "/memories", params);
        (results(&html), html)
    };
    let (ids, html) = found(&[("q", "where do invoices lie")]);
    assert!(ids.contains(&invoice) && ids.contains(&draft), "{html}");
    assert!(html.contains("<mark>Invoices</mark>") && html.contains("Parts of the score"));
    for (params, expected) in [
        (&[("q", "invoices"), ("tags", "ops")][..], vec![&invoice]),
        (&[("q", "invoices"), ("not", "ops")], vec![&draft]),
        (&[("q", "invoices"), ("topic", "billing")], vec![&draft]),
        (
            &[
                ("q", "invoices"),
                ("topic", "billing/"),
                ("any", "ops, none"),
            ],
            vec![&invoice],
        ),
        (&[("topic", "billing/")], vec![&draft, &invoice]),
        (&[("tag", "draft")], vec![&draft]),
        (
            &[
                ("scope", "global"),
                ("sort", "weight"),
                ("not", "ops"),
                ("last", "yes"),
            ],
            vec![&other, &draft, &invoice],
        ),
    ] {
        let (ids, _) = found(params);
        assert_eq!(ids.iter().collect::<Vec<_>>(), expected, "{params:?}");
    }
    let (ids, html) = found(&[("q", "quarterly zebra taxonomy")]);
    assert!(ids.is_empty() && html.contains("Noth"), "{html}");
    let (_, html) = found(&[("scope", "nonsense")]);
    assert!(html.contains("role=\"alert\""), "{html}");
    explorer.service.record_recalls();
    let after = explorer.service.newest_position().expect("a position");
    assert_eq!(after, before, "a person who looks is not recorded");
}

#[test]
fn a_moment_shows_the_text_of_that_moment() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    let (id, stored) = store(&explorer, StoreRequest::new("t", "the port is 8080"));
    let update = UpdateRequest {
        id: id.clone(),
        content: Some("the port is 9090".to_owned()),
        ..UpdateRequest::default()
    };
    explorer
        .service
        .update(&explorer.caller, update)
        .expect("it updates");
    explorer
        .service
        .forget(&explorer.caller, std::slice::from_ref(&id))
        .expect("it forgets");
    let path = format!("/memories/{id}");
    let at = |position: u64| {
        let at = format!("@{position}");
        shown(&explorer, memory::page, &path, &[("at", &at)])
    };
    let old = at(stored);
    assert!(
        old.contains("the port is 8080") && !old.contains("the port is 9090"),
        "{old}"
    );
    assert!(old.contains("it changed 2 times"), "{old}");
    let new = at(stored + 1);
    assert!(new.contains("<del>8080</del><ins>9090</ins>"), "{new}");
    assert!(!new.contains("Forgotten"), "{new}");
    let now = shown(&explorer, memory::page, &path, &[]);
    assert!(
        now.contains("Forgotten: no recall finds this memory."),
        "{now}"
    );
    let list = shown(
        &explorer,
        page,
        "/memories",
        &[("at", &format!("@{stored}"))],
    );
    assert!(
        list.contains("the port is 8080") && list.contains("at=%40"),
        "{list}"
    );
    assert!(!shown(&explorer, page, "/memories", &[]).contains("the port"));
}

#[test]
fn hostile_texts_are_shown_as_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut explorer = explorer(folder.path());
    // The field to change a text holds it as it is, or saving it would change it.
    explorer.read_only = true;
    let long = format!("long {}", "x".repeat(65_000));
    for hostile in HOSTILE.into_iter().chain([long.as_str()]) {
        let start: String = hostile
            .chars()
            .filter(|char| !char.is_control())
            .take(60)
            .collect();
        let start = start.replace('\u{202e}', "");
        explorer.caller.actor = start.clone();
        let request = StoreRequest {
            keywords: vec![start.clone()],
            raw_excerpt: Some(hostile.to_owned()),
            key: Some(start.clone()),
            metadata: Some(serde_json::json!({ "note": hostile })),
            ..StoreRequest::new(format!("topic {start}"), format!("needle {hostile}"))
        };
        let (id, _) = store(&explorer, request);
        let update = UpdateRequest {
            id: id.clone(),
            content: Some(format!("needle changed {hostile}")),
            ..UpdateRequest::default()
        };
        explorer
            .service
            .update(&explorer.caller, update)
            .expect("it updates");
        let path = format!("/memories/{id}");
        // An address takes no longer part.
        let asked = &hostile[..hostile.floor_char_boundary(8_000)];
        let pages = [
            shown(&explorer, memory::page, &path, &[]),
            shown(&explorer, memory::near_page, &format!("{path}/near"), &[]),
            shown(&explorer, memory::shown_page, &format!("{path}/shown"), &[]),
            shown(&explorer, page, "/memories", &[]),
            shown(
                &explorer,
                page,
                "/memories",
                &[("q", "needle"), ("floor", "0")],
            ),
            shown(
                &explorer,
                page,
                "/memories",
                &[("q", asked), ("topic", asked), ("tags", asked)],
            ),
            shown(&explorer, topics::page, "/topics", &[]),
        ];
        for html in pages {
            let lower = html.to_lowercase();
            for bad in [
                "<script",
                "<img",
                "href=\"javascript",
                "style=",
                "\u{202e}",
                "\u{7}",
                "\u{1b}",
            ] {
                assert!(!lower.contains(bad), "{bad} in {html}");
            }
            let tags = lower.split('<').skip(1);
            let tags = tags.map(|rest| rest.split('>').next().unwrap_or_default());
            // Without the values of attributes.
            let mut bare = tags.map(|tag| tag.split('"').step_by(2).collect::<String>());
            let handler = bare.find(|tag| tag.contains(" on"));
            assert_eq!(handler, None);
        }
    }
    assert!(encoded("\u{202e}<").starts_with('%'));
}

#[test]
fn the_page_of_a_fact_marks_the_current_and_the_planned_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    let set = |value: &str, from: &str| {
        let request = FactRequest {
            from: Some(from.to_owned()),
            ..FactRequest::new("deploy", "version", value)
        };
        let set = explorer.service.set_fact(&explorer.caller, request);
        format!("/memories/{}", set.expect("it is set").receipt.id)
    };
    let path = set("3.0", "2100-01-01T00:00:00Z");
    let planned = shown(&explorer, memory::page, &path, &[]);
    assert!(planned.contains("Planned: valid from "), "{planned}");
    for words in ["Expired", ">Revive<", ">current<"] {
        assert!(!planned.contains(words), "{words} in {planned}");
    }
    set("2.0", "2024-02-05T00:00:00Z");
    let page = shown(&explorer, memory::page, &path, &[]);
    assert!(!page.contains("Planned: valid from "), "{page}");
    for (row, badge) in [("2.0", ">current<"), ("3.0", ">planned<")] {
        let row = page
            .split("<tr>")
            .find(|it| it.contains(&format!("<td><bdi>{row}")));
        let row = row.unwrap_or_else(|| panic!("no row in {page}"));
        assert!(row.contains(badge) && !row.contains(">now<"), "{row}");
    }
}

#[test]
fn facts_with_only_planned_values_are_listed_by_themselves() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    let set = |attribute: &str, value: &str, from: Option<&str>| {
        let request = FactRequest {
            from: from.map(str::to_owned),
            ..FactRequest::new("deploy", attribute, value)
        };
        let set = explorer.service.set_fact(&explorer.caller, request);
        set.expect("it is set").receipt
    };
    set("port", "not planned", None);
    let first = set("version", "3.0", Some("2100-01-01T00:00:00Z"));
    let list = |params: &[(&str, &str)]| shown(&explorer, page, "/memories", params);
    let nothing = list(&[("topic", "facts/deploy"), ("tag", "none")]);
    assert!(nothing.contains("state=planned"), "{nothing}");
    set("version", "4.0", Some("2101-01-01T00:00:00Z"));
    for topic in ["", "facts/", "facts/deploy"] {
        let html = list(&[("state", "planned"), ("topic", topic)]);
        assert_eq!(results(&html), [first.id.as_str()], "{topic}: {html}");
        assert!(html.contains("3.0") && html.contains("4.0"), "{html}");
        assert!(!html.contains("not planned"), "{html}");
    }
    assert!(results(&list(&[("state", "planned"), ("topic", "facts/dep")])).is_empty());
    let then = format!("@{}", first.position - 1);
    assert!(results(&list(&[("state", "planned"), ("at", &then)])).is_empty());
}

#[test]
fn a_value_for_later_is_told_as_such_in_the_versions_and_the_log() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    let set = |value: &str, from: Option<&str>| {
        let request = FactRequest {
            from: from.map(str::to_owned),
            ..FactRequest::new("deploy", "version", value)
        };
        let set = explorer.service.set_fact(&explorer.caller, request);
        set.expect("it is set").receipt.id
    };
    let id = set("2.0", None);
    set("3.0", Some("2100-01-01T00:00:00Z"));
    let html = shown(&explorer, memory::page, &format!("/memories/{id}"), &[]);
    let (_, versions) = html.split_once("id=\"versions\"").expect("versions");
    let rows: Vec<&str> = versions.split("<li data-row").skip(1).collect();
    assert_eq!(rows.len(), 3, "{versions}");
    assert!(rows[0].contains("The current value stays"), "{}", rows[0]);
    assert!(rows[1].contains("A value for later"), "{}", rows[1]);
    // Times are those of the zone, as everywhere on the page.
    assert!(!rows[1].contains("T00:00:00Z</ins>"), "{}", rows[1]);
    assert!(!rows[2].contains("later"), "{}", rows[2]);
    let log = shown(&explorer, crate::pages::log::page, "/log", &[("id", &id)]);
    assert_eq!(log.matches("planned from").count(), 1, "{log}");
    assert_eq!(log.matches("the current value stays").count(), 1, "{log}");
}

#[test]
fn a_memory_of_what_happens_later_is_no_planned_value() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    let line = r#"{"topic":"travel","content":"The fair opens in Lisbon","occurred_at":"2090-01-05T00:00:00Z"}"#;
    let file = ("lines".to_owned(), Box::new(line.as_bytes()) as Box<_>);
    let service = &explorer.service;
    let imported = service.import_jsonl(&explorer.caller, vec![file], false, &NoProgress);
    assert_eq!(imported.expect("an import").added, 1);
    for (make, address) in [
        (crate::pages::log::page as Make, "/log"),
        (crate::pages::now::page, "/"),
    ] {
        let html = shown(&explorer, make, address, &[]);
        assert!(html.contains("The fair opens in Lisbon"), "{html}");
        assert!(!html.contains("planned from"), "{html}");
    }
}

#[test]
fn a_search_shows_corrections_as_a_recall_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    let correction = FeedbackRequest {
        context: "a flaky test in the payment pipeline".to_owned(),
        predicted: format!("run it again {}", HOSTILE[0]),
        correct: "freeze the clock".to_owned(),
        ..FeedbackRequest::default()
    };
    let recorded = explorer
        .service
        .feedback_record(&explorer.caller, &correction);
    recorded.expect("it is recorded");
    let search = |query: &str| shown(&explorer, page, "/memories", &[("q", query)]);
    // No memory fits, or one does.
    for _ in 0..2 {
        let html = search("flaky test in the pipeline");
        assert!(html.contains("<strong>Correction</strong>"), "{html}");
        assert!(html.contains("freeze the clock"), "{html}");
        assert!(!html.contains(HOSTILE[0]), "{html}");
        let request = StoreRequest::new("ci", "A flaky test of the pipeline is run again");
        store(&explorer, request);
    }
    assert!(!search("zebra").contains("Correction"));
}

#[test]
fn a_value_that_means_nothing_is_no_filter() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    store(&explorer, StoreRequest::new("t", "a note"));
    let ignored = [
        ("floor", "abc"),
        ("importance", "huge"),
        ("trust", "full"),
        ("links", "yes"),
        ("sort", "size"),
        ("state", "gone"),
    ];
    let html = shown(&explorer, page, "/memories", &ignored);
    assert!(!html.contains("take this filter away"), "{html}");
    assert!(!html.contains("narrow a search"), "{html}");
    let html = shown(
        &explorer,
        page,
        "/memories",
        &[("floor", "0.5"), ("importance", "huge")],
    );
    assert_eq!(html.matches("take this filter away").count(), 1, "{html}");
    assert!(html.contains("narrow a search"), "{html}");
}

#[test]
fn the_version_of_an_expired_memory_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let explorer = explorer(folder.path());
    let file = folder.path().join("lock");
    std::fs::write(&file, "held").expect("a file");
    let request = StoreRequest {
        expires: Some(format!("file-exists {}", file.display())),
        ..StoreRequest::new("t", "the lock is held")
    };
    let (id, _) = store(&explorer, request);
    std::fs::remove_file(&file).expect("it is removed");
    let path = format!("/memories/{id}");
    // The first look finds out, and its end records it.
    shown(&explorer, memory::page, &path, &[]);
    explorer.service.record_recalls();
    let html = shown(&explorer, memory::page, &path, &[]);
    assert!(html.contains("memory.expired"), "{html}");
    assert!(html.contains("the file is gone"), "{html}");
    assert!(!html.contains("No field that is shown changed"), "{html}");
}
