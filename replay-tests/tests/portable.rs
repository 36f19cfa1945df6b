//! Living memories are exported as JSON lines or Markdown and imported again unchanged, whatever their texts. A store
//! that imports its own export learns nothing.

use std::io::{BufRead, Cursor};
use std::path::Path;
use std::sync::Arc;

use icm_api::{
    Caller, ImportReport, Importance, ListRequest, Memory, NoProgress, Source, StoreRequest, Trust,
};
use icm_service::Service;
use proptest::prelude::*;
use replay_tests::env::SimEnv;
use replay_tests::{judge, store};
use serde_json::{Value, json};

fn open(dir: &Path, seed: u64) -> Service {
    store::open(dir, Arc::new(SimEnv::new(seed))).expect("a store")
}

/// Returns text with pieces that have a meaning in the formats.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop_oneof![
        Just("***"),
        Just("---"),
        Just("<!-- icm"),
        Just("-->"),
        Just("\\"),
        Just("# t"),
        Just("```"),
        Just("key: x"),
        Just("\n"),
        Just("\n\n"),
        Just("\r\n"),
        Just("\r"),
        Just("  "),
        Just("\t"),
        Just("é — 😀"),
        Just("\u{2028}\u{85}\u{7f}\u{feff}\u{fffe}\u{1}\u{1b}[0m"),
        Just("null"),
        Just("'\""),
    ];
    let words =
        prop_oneof![3 => pieces.prop_map(str::to_owned), 1 => "[a-z]{1,6}", 1 => "\\PC{1,8}"];
    prop::collection::vec(words, 1..8).prop_map(|words| words.concat().replace('\0', ""))
}

fn content() -> impl Strategy<Value = String> {
    text().prop_filter("a content says something", |text| !text.trim().is_empty())
}

/// Returns a visible line: a key, a keyword, a part of a scope.
fn label() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}",
        "[0-9]{1,3}",
        Just("a: \"b\" # c".to_owned()),
        Just("null".to_owned()),
        Just("Решение -->".to_owned()),
        Just("- x".to_owned())
    ]
}

fn metadata() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) / 1024.0)),
        text().prop_map(Value::from),
    ];
    prop::collection::btree_map(text(), leaf, 0..3).prop_map(
        |map| json!({ "given": Value::Object(map.into_iter().collect()), "list": [1, null] }),
    )
}

fn source() -> impl Strategy<Value = Source> {
    let part = || prop::option::of(content());
    (part(), part(), part(), part(), part()).prop_map(|(agent, client, session, project, file)| {
        Source {
            agent,
            client,
            session,
            project,
            file,
        }
    })
}

fn memory() -> impl Strategy<Value = StoreRequest> {
    let topic = prop::sample::select(vec!["t", "T", "a/b", "con", "x: \"y\" #z", "..", "решения"]);
    let scope = prop::sample::select(vec!["global", "project:p q", "session:a/b"]);
    let importance = prop::sample::select(vec![
        Importance::Low,
        Importance::Medium,
        Importance::High,
        Importance::Critical,
    ]);
    let trust = prop::sample::select(vec![Trust::User, Trust::Agent, Trust::External]);
    let occurred_ms = prop::option::of(-377_000_000_000_000i64..253_000_000_000_000);
    (
        (topic, content(), prop::option::of(label()), scope),
        (importance, trust, prop::collection::vec(label(), 0..4)),
        (
            prop::option::of(text()),
            occurred_ms,
            prop::option::of(metadata()),
            source(),
        ),
    )
        .prop_map(
            |((topic, content, key, scope), (importance, trust, keywords), rest)| {
                let (raw_excerpt, occurred_ms, metadata, source) = rest;
                StoreRequest {
                    key,
                    scope: Some(scope.to_owned()),
                    importance: Some(importance),
                    trust,
                    keywords,
                    raw_excerpt,
                    occurred_at: occurred_ms.map(icm_api::when::rfc3339_signed),
                    metadata,
                    source,
                    allow_secret: true,
                    ..StoreRequest::new(topic, content)
                }
            },
        )
}

/// Returns the parts of the memories that every store must show, in an order that does not depend on ids.
fn essence(service: &Service) -> Vec<String> {
    let list = service.list(&ListRequest::default()).expect("it lists");
    let mut all: Vec<String> = list
        .into_iter()
        .map(|memory| {
            let own = Memory {
                id: String::new(),
                created_at: String::new(),
                updated_at: String::new(),
                ..memory
            };
            format!("{own:?}")
        })
        .collect();
    all.sort();
    all
}

fn import(service: &Service, format: &str, files: &[(String, String)]) -> ImportReport {
    let caller = Caller {
        actor: "user".to_owned(),
        client: Some("another program".to_owned()),
        session: Some("another session".to_owned()),
        project: Some("another project".to_owned()),
        ..Caller::default()
    };
    let inputs = files.iter().map(|(name, text)| {
        let input = Box::new(Cursor::new(text.clone())) as Box<dyn BufRead>;
        (name.clone(), input)
    });
    let report = match format {
        "jsonl" => service.import_jsonl(&caller, inputs.collect(), true, &NoProgress),
        _ => service.import_markdown(&caller, inputs.collect(), true, &NoProgress),
    };
    report.expect("it is imported")
}

/// Returns the files of each format, with the name of the format.
fn exports(service: &Service) -> Vec<(&'static str, Vec<(String, String)>)> {
    let mut jsonl = Vec::new();
    service
        .export_jsonl(&mut jsonl, None)
        .expect("it is exported");
    let mut document = Vec::new();
    service
        .export_markdown(&mut document, None)
        .expect("it is exported");
    let mut folder = Vec::new();
    service
        .export_markdown_files(None, &mut |name, write| {
            let mut text = Vec::new();
            write(&mut text)?;
            let text = String::from_utf8(text).expect("it is text");
            folder.push((name.to_owned(), text));
            Ok::<(), icm_api::error::ServiceError>(())
        })
        .expect("it is exported");
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    vec![
        ("jsonl", vec![("x.jsonl".to_owned(), text(jsonl))]),
        ("markdown", vec![("x.md".to_owned(), text(document))]),
        ("markdown", folder),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..judge::config(24) })]

    #[test]
    fn exports_come_back(requests in prop::collection::vec(memory(), 1..8)) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let first = open(&folder.path().join("first"), 1);
        let caller = Caller { actor: "user".to_owned(), ..Caller::default() };
        for request in &requests {
            first.store(&caller, request.clone()).expect("it is stored");
        }
        // One memory is changed, one moves; the names of their files keep the old state.
        let list = first.list(&ListRequest::default()).expect("it lists");
        if let [one, two, ..] = &list[..] {
            let update = |id: &str, content: Option<&str>, topic: Option<&str>| {
                let request = icm_api::UpdateRequest {
                    id: id.to_owned(),
                    content: content.map(str::to_owned),
                    topic: topic.map(str::to_owned),
                    ..Default::default()
                };
                first.update(&caller, request)
            };
            update(&one.id, Some("changed\r\n"), None).expect("it is changed");
            update(&two.id, None, Some("moved")).expect("it is moved");
        }
        let count = list.len() as u64;
        let expected = essence(&first);
        for (nth, (format, files)) in exports(&first).into_iter().enumerate() {
            let again = import(&first, format, &files);
            let quiet = ImportReport { unchanged: count, ..ImportReport::default() };
            prop_assert_eq!(&again, &quiet, "{} into where it came from: {:#?}", format, files);
            let other = open(&folder.path().join(format!("other{nth}")), 2 + nth as u64);
            let report = import(&other, format, &files);
            let all_new = ImportReport { added: count, ..ImportReport::default() };
            prop_assert_eq!(&report, &all_new, "{}: {:#?}", format, files);
            prop_assert_eq!(essence(&other), expected.clone(), "{}: {:#?}", format, files);
            prop_assert_eq!(&import(&other, format, &files), &quiet, "{} once more", format);
        }
        prop_assert_eq!(essence(&first), expected);
    }
}

/// The import is long enough for several commits of views, and for several pages of an export.
#[test]
fn a_long_import_is_taken_into_the_views_in_steps() {
    const LINES: usize = 9_000;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let content = |n: usize| format!("memory {} of some thousands", n / 2 * 2);
    let line = |n: usize| {
        let topic = format!("t/{}", n % 2 + n / 2 % 7 * 2);
        let line = json!({"topic": topic, "content": content(n), "importance": "low"});
        format!("{line}\n")
    };
    // The last line repeats the first, long after its views were written.
    let text: String = (0..LINES).chain([0]).map(line).collect();
    let files = [("x.jsonl".to_owned(), text)];
    let service = open(&folder.path().join("store"), 1);
    let report = import(&service, "jsonl", &files);
    assert_eq!(report.added, LINES as u64 + 1, "{report:?}");
    let again = import(&service, "jsonl", &files);
    assert_eq!(again.unchanged, LINES as u64 + 1, "{again:?}");

    let stats = service.stats(None).expect("it counts");
    assert!(stats.views.iter().all(|view| view.behind < 5_000));
    assert_eq!((stats.memories, stats.topics), (LINES as u64 + 1, 14));
    assert_eq!(stats.by_importance.low, LINES as u64 + 1);

    let mut out = Vec::new();
    let exported = service.export_jsonl(&mut out, None);
    assert_eq!(exported.expect("it is exported"), LINES as u64 + 1);
    let contents = out.split(|byte| *byte == b'\n').filter(|it| !it.is_empty());
    let contents = contents.map(|line| {
        let line: Value = serde_json::from_slice(line).expect("it is JSON");
        line["content"].as_str().expect("it is text").to_owned()
    });
    let mut contents: Vec<String> = contents.collect();
    let mut expected: Vec<String> = (0..LINES).chain([0]).map(content).collect();
    contents.sort_unstable();
    expected.sort_unstable();
    assert_eq!(contents, expected);

    let verified = service.verify(&NoProgress).expect("it verifies");
    assert!(verified.ok, "{:?}", verified.findings);
    let built = service.rebuild(&NoProgress).expect("it builds");
    assert_eq!(verified.state_hash, Some(built.state_hash));
}
