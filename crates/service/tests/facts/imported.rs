//! Values of facts that the lines of an import state.

use std::io::Cursor;

use icm_api::{Caller, ImportReport, NoProgress, UndoRequest};
use icm_service::Service;
use serde_json::{Value, json};

use crate::{FUTURE, current, history, opened, query, set, shown};

fn import(service: &Service, lines: &[Value]) -> ImportReport {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let files: Vec<(String, Box<dyn std::io::BufRead>)> =
        vec![("facts.jsonl".to_owned(), Box::new(Cursor::new(text)))];
    let report = service.import_jsonl(&Caller::default(), files, false, &NoProgress);
    report.expect("it imports")
}

/// Returns the numbers of added, updated, unchanged and rejected lines.
fn counts(report: &ImportReport) -> [u64; 4] {
    let rejected = report.rejected.len() as u64;
    [report.added, report.updated, report.unchanged, rejected]
}

fn line(value: &str, from: &str) -> Value {
    json!({
        "topic": "facts/deploy",
        "key": "version",
        "content": format!("deploy version: {value}"),
        "occurred_at": from,
    })
}

#[test]
fn a_line_with_an_older_value_leaves_the_current_one() {
    let (_folder, service) = opened();
    let set = set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    let mut older = line("1.0", "2024-01-05T00:00:00Z");
    older["keywords"] = json!(["old"]);
    let lines = [
        older,
        line("3.0", FUTURE),
        line("1.5", "2024-01-20T00:00:00Z"),
    ];
    assert_eq!(counts(&import(&service, &lines)), [0, 3, 0, 0]);
    let told = [
        "1.0 2024-01-05 2024-01-20",
        "1.5 2024-01-20 2024-02-05",
        "2.0 2024-02-05 2100-01-01",
        "3.0 2100-01-01 -",
    ];
    assert_eq!(history(&service), told);
    assert_eq!(current(&service), "2.0");
    let memory = service.get(&set.receipt.id, None).expect("a memory");
    assert_eq!(memory.content.as_deref(), Some("deploy version: 2.0"));
    assert_eq!(memory.occurred_at.as_deref(), Some("2024-02-05T00:00:00Z"));
    assert_eq!((memory.keywords, memory.conflicts), (vec![], vec![]));
    // Again, the lines change nothing, whatever was corrected since.
    crate::set(&service, "1.6", Some("2024-01-20T00:00:00Z"));
    assert_eq!(counts(&import(&service, &lines)), [0, 0, 3, 0]);
    assert_eq!(
        history(&service)[1..3],
        ["1.5 2024-01-20 x", "1.6 2024-01-20 2024-02-05"]
    );
    assert_eq!(shown(&service, &set.receipt.id), "2.0");
}

#[test]
fn a_line_with_a_newer_value_becomes_the_current_one() {
    let (_folder, service) = opened();
    let set = set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    let mut newer = line("2.0", "2024-02-05T00:00:00Z");
    newer["keywords"] = json!(["new"]);
    let report = import(&service, &[newer, line("1.5", "2024-01-20T00:00:00Z")]);
    assert_eq!(counts(&report), [0, 2, 0, 0]);
    assert_eq!(current(&service), "2.0");
    let memory = service.get(&set.receipt.id, None).expect("a memory");
    assert_eq!(memory.content.as_deref(), Some("deploy version: 2.0"));
    assert_eq!(memory.keywords, ["new"]);
    // One undo takes the whole import back.
    let undo = UndoRequest {
        last: Some(1),
        ..UndoRequest::default()
    };
    service.undo(&Caller::default(), &undo).expect("undone");
    assert_eq!(history(&service), ["1.0 2024-01-05 -"]);
    assert_eq!(shown(&service, &set.receipt.id), "1.0");
}

#[test]
fn a_line_of_a_forgotten_or_withheld_fact_changes_nothing() {
    let (_folder, service) = opened();
    let set = set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    let ids = std::slice::from_ref(&set.receipt.id);
    service.forget(&Caller::default(), ids).expect("forgotten");
    let older = [line("1.0", "2024-01-05T00:00:00Z")];
    assert_eq!(counts(&import(&service, &older)), [0, 0, 1, 0]);
    assert!(service.facts(&Caller::default(), &query()).is_err());
    let back = service.revive(&Caller::default(), &set.receipt.id);
    back.expect("it is back");
    let redact = icm_api::RedactRequest {
        targets: vec![format!(
            "@{}",
            crate::set(&service, "3.0", None).receipt.position
        )],
        ..icm_api::RedactRequest::default()
    };
    service
        .redact(&Caller::default(), &redact)
        .expect("redacted");
    let report = import(&service, &older);
    assert_eq!(counts(&report), [0, 0, 0, 1]);
    assert!(report.rejected[0].why.contains("is withheld"), "{report:?}");
}

#[test]
fn a_line_without_a_time_says_its_value_once() {
    let (_folder, service) = opened();
    let mut timeless = line("1.0", "");
    timeless["occurred_at"] = Value::Null;
    let lines = std::slice::from_ref(&timeless);
    assert_eq!(counts(&import(&service, lines)), [1, 0, 0, 0]);
    let position = service.newest_position().expect("a position");
    assert_eq!(counts(&import(&service, lines)), [0, 0, 1, 0]);
    assert_eq!(service.newest_position().expect("a position"), position);
    assert_eq!(history(&service).len(), 1);
    // Another value makes the first one an earlier one, also if it is stated again.
    set(&service, "2.0", None);
    let position = service.newest_position().expect("a position");
    assert_eq!(counts(&import(&service, lines)), [0, 0, 1, 0]);
    assert_eq!(service.newest_position().expect("a position"), position);
    assert_eq!(current(&service), "2.0");
}

#[test]
fn a_line_with_an_attribute_that_looks_like_another_is_refused() {
    let (_folder, service) = opened();
    set(&service, "1.0", None);
    let mut twin = line("2.0", FUTURE);
    twin["key"] = json!("version\u{202e}");
    let mut note = twin.clone();
    note["topic"] = json!("notes");
    let report = import(&service, &[line("3.0", FUTURE), twin, note]);
    assert_eq!(counts(&report), [1, 1, 0, 1]);
    let rejected = &report.rejected[0];
    assert_eq!(rejected.line, 2);
    let why = "the attribute has an invisible character in it";
    assert_eq!(rejected.why, why);
    let facts = service.list_facts(&icm_api::FactListRequest::default());
    assert_eq!(facts.expect("a list").len(), 1);
}
