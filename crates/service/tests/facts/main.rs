//! Tests that a fact has one current value, chosen by valid time, and keeps the earlier ones.

mod imported;
mod names;
mod planned;
mod stored_over;
mod taken_back;

use std::time::Duration;

use icm_api::error::{Result, ServiceError};
use icm_api::{
    Action, Caller, Fact, FactListRequest, FactQuery, FactReceipt, FactRequest, RecallRequest,
    UndoRequest, UpdateRequest,
};
use icm_service::{OpenOptions, Service};

/// A day long before and one long after the tests run.
const PAST: &str = "2020-01-01T00:00:00Z";
const FUTURE: &str = "2100-01-01T00:00:00Z";

fn opened() -> (tempfile::TempDir, Service) {
    let folder = tempfile::tempdir().expect("a folder");
    let service = Service::open(OpenOptions {
        dir: folder.path().join("store"),
        lock_wait: Duration::from_secs(5),
        read_only: false,
    })
    .expect("a store");
    (folder, service)
}

/// Sets the version of the deploy, valid from a day of 2024.
fn set(service: &Service, value: &str, from: Option<&str>) -> FactReceipt {
    let request = FactRequest {
        from: from.map(str::to_owned),
        ..FactRequest::new("deploy", "version", value)
    };
    let receipt = service.set_fact(&Caller::default(), request);
    receipt.expect("it is set")
}

fn query() -> FactQuery {
    FactQuery::new("deploy", Some("version"))
}

fn asked(service: &Service, query: &FactQuery) -> Result<Fact> {
    let mut facts = service.facts(&Caller::default(), query)?;
    assert_eq!(facts.len(), 1, "{facts:?}");
    Ok(facts.remove(0))
}

/// Returns the current value.
fn current(service: &Service) -> String {
    let fact = asked(service, &query()).expect("a value");
    fact.value.expect("a text")
}

fn valid_at(service: &Service, time: &str) -> Option<String> {
    let query = FactQuery {
        valid_at: Some(time.to_owned()),
        ..query()
    };
    match asked(service, &query) {
        Ok(fact) => fact.value,
        Err(ServiceError::Nothing { .. }) => None,
        Err(other) => panic!("{other}"),
    }
}

/// Returns the values as `VALUE FROM UNTIL`, days only; `x` for a corrected one.
fn history(service: &Service) -> Vec<String> {
    let values = service.fact_history(&Caller::default(), &query());
    let values = values.expect("a history");
    let day = |time: &str| time.split('T').next().unwrap_or_default().to_owned();
    let told = |fact: &Fact| {
        let until = match (&fact.corrected_by, &fact.valid_until) {
            (Some(_), _) => "x".to_owned(),
            (None, Some(until)) => day(until),
            (None, None) => "-".to_owned(),
        };
        let value = fact.value.as_deref().unwrap_or("?");
        format!("{value} {} {until}", day(&fact.valid_from))
    };
    values.iter().map(told).collect()
}

/// Returns the value in the text that the memory of the fact shows.
fn shown(service: &Service, id: &str) -> String {
    let memory = service.get(id, None).expect("a memory");
    let text = memory.content.expect("a text");
    icm_api::fact_value("deploy", "version", &text).to_owned()
}

/// Undoes an event. Returns the event of the undo.
fn undo(service: &Service, event: &str) -> String {
    let request = UndoRequest {
        events: vec![event.to_owned()],
        ..UndoRequest::default()
    };
    let done = service.undo(&Caller::default(), &request);
    done.expect("it is undone").event.expect("an event")
}

#[test]
fn a_new_value_ends_the_one_before() {
    let (_folder, service) = opened();
    let first = set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    assert_eq!(first.receipt.action, Action::Stored);
    assert_eq!(first.receipt.topic, "facts/deploy");
    let second = set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    assert_eq!(second.receipt.action, Action::Updated);
    assert_eq!(second.receipt.id, first.receipt.id);
    assert_eq!(second.current.as_ref(), Some(&second.set));
    assert_eq!(current(&service), "2.0");
    assert_eq!(
        history(&service),
        ["1.0 2024-01-05 2024-02-05", "2.0 2024-02-05 -"]
    );
    assert_eq!(shown(&service, &first.receipt.id), "2.0");
    for (time, value) in [
        (PAST, None),
        ("2024-01-05T00:00:00Z", Some("1.0")),
        ("2024-02-04T23:59:59Z", Some("1.0")),
        ("2024-02-05T00:00:00Z", Some("2.0")),
        (FUTURE, Some("2.0")),
    ] {
        assert_eq!(valid_at(&service, time).as_deref(), value, "{time}");
    }
}

#[test]
fn a_value_without_a_moment_is_valid_from_now() {
    let (_folder, service) = opened();
    let before = i64::try_from(service.now_ms()).expect("a time");
    set(&service, "1.0", Some(PAST));
    let receipt = set(&service, "2.0", None);
    let from: jiff::Timestamp = receipt.set.valid_from.parse().expect("a time");
    assert!(from.as_millisecond() >= before, "{receipt:?}");
    assert_eq!(current(&service), "2.0");
    assert_eq!(valid_at(&service, "2021-01-01").as_deref(), Some("1.0"));
}

#[test]
fn a_value_that_is_learnt_late_takes_its_place_in_the_history() {
    let (_folder, service) = opened();
    let current_one = set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    let late = set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    assert_eq!(late.receipt.action, Action::Updated);
    assert_eq!(
        late.set.valid_until.as_deref(),
        Some("2024-02-05T00:00:00Z")
    );
    let still = late.current.expect("a current value");
    assert_eq!(still.value.as_deref(), Some("2.0"));
    // The value is as old as before: the event that gave it back to the memory states nothing.
    assert_eq!(still.event, current_one.receipt.event);
    assert_eq!(asked(&service, &query()).expect("a value"), still);
    assert_eq!(shown(&service, &late.receipt.id), "2.0");
    assert_eq!(
        history(&service),
        ["1.0 2024-01-05 2024-02-05", "2.0 2024-02-05 -"]
    );
    // Nothing is in conflict after the two events.
    let memory = service.get(&late.receipt.id, None).expect("a memory");
    assert_eq!(memory.conflicts, [""; 0]);
    // A third one goes between.
    set(&service, "1.5", Some("2024-01-20T00:00:00Z"));
    assert_eq!(current(&service), "2.0");
    assert_eq!(
        history(&service),
        [
            "1.0 2024-01-05 2024-01-20",
            "1.5 2024-01-20 2024-02-05",
            "2.0 2024-02-05 -"
        ]
    );
}

#[test]
fn a_value_of_the_future_is_not_valid_yet() {
    let (_folder, service) = opened();
    let planned = set(&service, "3.0", Some(FUTURE));
    assert_eq!(planned.current, None);
    let error = asked(&service, &query()).expect_err("no value yet");
    assert!(matches!(error, ServiceError::Nothing { .. }), "{error:?}");
    let told = error.to_string();
    let planned = "has no value yet: the first one is planned, valid from 2";
    assert!(told.contains(planned), "{told}");
    let hint = "that value is `3.0`; see `icm fact history deploy version`";
    assert_eq!(error.hint().as_deref(), Some(hint));
    assert_eq!(valid_at(&service, FUTURE).as_deref(), Some("3.0"));

    let now = set(&service, "2.0", None);
    assert_eq!(now.set.valid_until.as_deref(), Some(FUTURE));
    set(&service, "4.0", Some("2101-01-01T00:00:00Z"));
    assert_eq!(current(&service), "2.0");
    assert_eq!(shown(&service, &now.receipt.id), "2.0");
    assert_eq!(valid_at(&service, "2102-01-01").as_deref(), Some("4.0"));
    let listed = service.list_facts(&FactListRequest::default());
    let listed = listed.expect("a list");
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].value.as_deref(), Some("2.0"));
}

#[test]
fn the_same_value_changes_nothing() {
    let (_folder, service) = opened();
    let first = set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    let second = set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    for (value, from) in [
        ("2.0", None),
        ("2.0", Some("2024-02-05T00:00:00Z")),
        ("1.0", Some("2024-01-05T00:00:00Z")),
    ] {
        let again = set(&service, value, from);
        assert_eq!(again.receipt.action, Action::Unchanged, "{value} {from:?}");
        assert_eq!(again.set.value.as_deref(), Some(value));
    }
    assert_eq!(history(&service).len(), 2);
    assert_eq!(first.receipt.id, second.receipt.id);
    // An earlier value that holds again is a value of its own.
    set(&service, "1.0", Some("2024-03-05T00:00:00Z"));
    assert_eq!(current(&service), "1.0");
    assert_eq!(history(&service).len(), 3);
}

#[test]
fn a_moment_has_the_value_that_was_said_last() {
    let (_folder, service) = opened();
    let day = Some("2024-02-05T00:00:00Z");
    let wrong = set(&service, "2.O", day);
    let right = set(&service, "2.0", day);
    assert_eq!(history(&service), ["2.O 2024-02-05 x", "2.0 2024-02-05 -"]);
    let values = service.fact_history(&Caller::default(), &query());
    let values = values.expect("a history");
    assert_eq!(values[0].corrected_by.as_ref(), Some(&right.receipt.event));
    // An update of the memory corrects the value, too.
    let update = UpdateRequest {
        id: wrong.receipt.id,
        content: Some("2.0.1".to_owned()),
        ..UpdateRequest::default()
    };
    service.update(&Caller::default(), update).expect("updated");
    assert_eq!(current(&service), "2.0.1");
    assert_eq!(valid_at(&service, "2024-02-06").as_deref(), Some("2.0.1"));
}

#[test]
fn the_two_times_are_asked_apart() {
    let (_folder, service) = opened();
    let first = set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    let then = format!("@{}", first.receipt.position);
    set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    let last = set(&service, "3.0", Some("2024-03-05T00:00:00Z"));
    let at = |at: Option<&str>, valid_at: Option<&str>| {
        let query = FactQuery {
            at: at.map(str::to_owned),
            valid_at: valid_at.map(str::to_owned),
            ..query()
        };
        asked(&service, &query).ok().and_then(|fact| fact.value)
    };
    assert_eq!(at(None, None).as_deref(), Some("3.0"));
    assert_eq!(at(Some(&then), None).as_deref(), Some("2.0"));
    assert_eq!(at(Some(&then), Some(FUTURE)).as_deref(), Some("2.0"));
    assert_eq!(at(None, Some("2024-02-10")).as_deref(), Some("2.0"));
    // The oldest value was not known yet.
    assert_eq!(at(None, Some("2024-01-10")).as_deref(), Some("1.0"));
    assert_eq!(at(Some(&then), Some("2024-01-10")), None);

    // An undo does not change the past.
    let before = format!("@{}", last.receipt.position);
    undo(&service, &last.receipt.event);
    assert_eq!(at(None, None).as_deref(), Some("2.0"));
    assert_eq!(at(Some(&before), None).as_deref(), Some("3.0"));
}

#[test]
fn the_position_of_a_receipt_is_that_of_the_whole_command() {
    let (_folder, service) = opened();
    set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    for (value, from) in [("1.0", "2024-01-05T00:00:00Z"), ("3.0", FUTURE)] {
        let receipt = set(&service, value, Some(from)).receipt;
        let request = RecallRequest {
            query: "which version is the deploy".to_owned(),
            at: Some(format!("@{}", receipt.position)),
            floor: Some(0.0),
            ..RecallRequest::default()
        };
        let answer = service.recall(&Caller::default(), &request);
        let hits = answer.expect("an answer").results.into_iter();
        let texts: Vec<_> = hits.filter_map(|hit| hit.memory.content).collect();
        assert_eq!(texts, ["deploy version: 2.0"], "{value}");
    }
}
