//! Tests that a fact has one current value, chosen by valid time, and keeps the earlier ones.

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

fn undo(service: &Service, event: &str) {
    let request = UndoRequest {
        events: vec![event.to_owned()],
        ..UndoRequest::default()
    };
    let done = service.undo(&Caller::default(), &request);
    done.expect("it is undone");
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
    assert!(told.contains("has no value at"), "{told}");
    assert!(told.contains(FUTURE), "{told}");
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
fn an_undo_takes_a_value_back() {
    let (_folder, service) = opened();
    let first = set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    let second = set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    let late = set(&service, "1.5", Some("2024-01-20T00:00:00Z"));
    assert_eq!(history(&service).len(), 3);
    undo(&service, &late.receipt.event);
    assert_eq!(
        history(&service),
        ["1.0 2024-01-05 2024-02-05", "2.0 2024-02-05 -"]
    );
    assert_eq!(shown(&service, &first.receipt.id), "2.0");
    undo(&service, &second.receipt.event);
    assert_eq!(history(&service), ["1.0 2024-01-05 -"]);
    assert_eq!(current(&service), "1.0");
}

#[test]
fn a_value_that_was_given_back_goes_with_its_statement() {
    let (_folder, service) = opened();
    set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    let second = set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    // The command of this value gives the memory the second one back.
    set(&service, "1.5", Some("2024-01-20T00:00:00Z"));
    undo(&service, &second.receipt.event);
    assert_eq!(current(&service), "1.5");
    assert_eq!(
        history(&service),
        ["1.0 2024-01-05 2024-01-20", "1.5 2024-01-20 -"]
    );
    // Set again, the current value is the memory's text, too.
    let again = set(&service, "1.5", None);
    assert_eq!(again.receipt.action, Action::Updated);
    assert_eq!(shown(&service, &again.receipt.id), "1.5");
    assert_eq!(history(&service).len(), 2);
}

#[test]
fn a_forgotten_fact_is_gone_until_it_is_set_again() {
    let (_folder, service) = opened();
    let id = set(&service, "1.0", Some("2024-01-05T00:00:00Z"))
        .receipt
        .id;
    let forgotten = service.forget(&Caller::default(), std::slice::from_ref(&id));
    forgotten.expect("it is forgotten");
    assert!(asked(&service, &query()).is_err());
    assert!(service.fact_history(&Caller::default(), &query()).is_err());
    let back = set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    assert_eq!(
        (back.receipt.action, &back.receipt.id),
        (Action::Stored, &id)
    );
    assert_eq!(current(&service), "2.0");
    assert_eq!(history(&service), ["2.0 2024-02-05 -"]);
    // An undo of that gives the forgotten fact back as it was, and so does a revival.
    undo(&service, &back.receipt.event);
    assert!(asked(&service, &query()).is_err());
    let revived = service.revive(&Caller::default(), &id);
    revived.expect("it is back");
    assert_eq!(history(&service), ["1.0 2024-01-05 -"]);
}

#[test]
fn a_planned_value_goes_with_a_forgotten_fact() {
    let (_folder, service) = opened();
    let id = set(&service, "1.0", Some(PAST)).receipt.id;
    set(&service, "3.0", Some(FUTURE));
    let forgotten = service.forget(&Caller::default(), std::slice::from_ref(&id));
    forgotten.expect("it is forgotten");
    let later = set(&service, "4.0", Some("2101-01-01T00:00:00Z"));
    assert_eq!(later.current, None);
    assert_eq!(history(&service), ["4.0 2101-01-01 -"]);
    let now = set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    assert_eq!(now.set.valid_until.as_deref(), Some("2101-01-01T00:00:00Z"));
    assert_eq!(shown(&service, &id), "2.0");
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

#[test]
fn an_undo_names_the_value_that_it_changes() {
    let (_folder, service) = opened();
    set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    set(&service, "2.0", Some("2024-03-05T00:00:00Z"));
    let late = set(&service, "1.5", Some("2024-02-05T00:00:00Z"));
    let planned = set(&service, "3.0", Some(FUTURE));
    let undone = |events: &[&str]| {
        let request = UndoRequest {
            events: events.iter().map(|event| (*event).to_owned()).collect(),
            ..UndoRequest::default()
        };
        let done = service.undo(&Caller::default(), &request);
        let done = done.expect("it is undone");
        let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
        let facts = done.facts.iter().map(|fact| {
            let until = fact.valid_until.as_deref().unwrap_or("-");
            let (before, after) = (value(&fact.before), value(&fact.after));
            assert_eq!((&*fact.subject, &*fact.attribute), ("deploy", "version"));
            format!("{before} to {after}, {}..{until}", fact.valid_from)
        });
        let facts: Vec<String> = facts.collect();
        (facts, done.outcome(), done.event.expect("an event"))
    };
    let (facts, outcome, undo) = undone(&[&late.receipt.event]);
    let time = "2024-02-05T00:00:00Z..2024-03-05T00:00:00Z";
    assert_eq!(facts, [format!("1.5 to 1.0, {time}")]);
    assert_eq!(outcome, "1 value of a fact changed");
    let (facts, ..) = undone(&[&undo]);
    assert_eq!(facts, [format!("1.0 to 1.5, {time}")]);
    let (facts, ..) = undone(&[&late.receipt.event, &planned.receipt.event]);
    assert_eq!(
        facts,
        [
            format!("1.5 to 1.0, {time}"),
            format!("3.0 to 2.0, {FUTURE}..-")
        ]
    );
    // The current value is the text of the memory, whose change is told.
    let current = set(&service, "2.1", None);
    let (facts, outcome, _) = undone(&[&current.receipt.event]);
    assert_eq!(facts, [""; 0]);
    assert_eq!(outcome, "1 memory changed");
}

#[test]
fn an_undone_fact_is_stored_anew() {
    let (_folder, service) = opened();
    let first = set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    undo(&service, &first.receipt.event);
    assert!(asked(&service, &query()).is_err());
    let again = set(&service, "0.9", Some("2024-01-01T00:00:00Z"));
    assert_eq!(again.receipt.id, first.receipt.id);
    assert_eq!(history(&service), ["0.9 2024-01-01 -"]);
}

#[test]
fn the_nearest_scope_counts() {
    let (_folder, service) = opened();
    let caller = Caller {
        project_id: Some("shop".to_owned()),
        ..Caller::default()
    };
    let set_in = |scope: &str, value: &str, from: Option<&str>| {
        let request = FactRequest {
            scope: Some(scope.to_owned()),
            from: from.map(str::to_owned),
            ..FactRequest::new("deploy", "version", value)
        };
        service.set_fact(&caller, request).expect("it is set")
    };
    set_in("global", "1.0", None);
    set_in("project:bank", "9.0", None);
    let planned = set_in("project:shop", "3.0", Some(FUTURE));
    assert_eq!(planned.set.scope, "project:shop");
    let asked = |caller: &Caller, scope: Option<&str>| {
        let query = FactQuery {
            scope: scope.map(str::to_owned),
            ..query()
        };
        let facts = service.facts(caller, &query).expect("a value");
        assert_eq!(facts.len(), 1);
        facts[0].value.clone().expect("a text")
    };
    // The project's value is not valid yet.
    assert_eq!(asked(&caller, None), "1.0");
    set_in("project:shop", "2.0", None);
    assert_eq!(asked(&caller, None), "2.0");
    assert_eq!(asked(&Caller::default(), None), "1.0");
    assert_eq!(asked(&caller, Some("global")), "1.0");
    assert_eq!(asked(&caller, Some("project:bank")), "9.0");
    let of_subject = service.facts(&caller, &FactQuery::new("deploy", None));
    assert_eq!(of_subject.expect("a subject").len(), 1);
    let all = service.list_facts(&FactListRequest::default());
    let scopes: Vec<String> = all
        .expect("a list")
        .into_iter()
        .map(|fact| fact.scope)
        .collect();
    assert_eq!(scopes, ["global", "project:bank", "project:shop"]);
}

#[test]
fn a_subject_has_attributes_and_lies_where_its_topic_does() {
    let (_folder, service) = opened();
    for (subject, attribute, value) in [
        ("payments/api", "owner", "Mira"),
        (" payments/api ", "port", "8080"),
        ("payments", "owner", "Jun"),
    ] {
        let request = FactRequest::new(subject, attribute, value);
        service
            .set_fact(&Caller::default(), request)
            .expect("it is set");
    }
    let of = |subject: &str| {
        let facts = service.facts(&Caller::default(), &FactQuery::new(subject, None));
        let facts = facts.expect("a subject").into_iter();
        facts
            .map(|fact| format!("{} {}", fact.attribute, fact.value.expect("a text")))
            .collect::<Vec<_>>()
    };
    assert_eq!(of("payments/api"), ["owner Mira", "port 8080"]);
    assert_eq!(of("payments"), ["owner Jun"]);
    let limited = FactListRequest {
        limit: Some(2),
        ..FactListRequest::default()
    };
    let listed = service.list_facts(&limited).expect("a list");
    let names: Vec<&str> = listed.iter().map(|fact| fact.subject.as_str()).collect();
    assert_eq!(names, ["payments", "payments/api"]);
}

#[test]
fn a_fact_that_was_moved_comes_back_when_it_is_set() {
    let (_folder, service) = opened();
    let first = set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    let update = UpdateRequest {
        id: first.receipt.id.clone(),
        topic: Some("archive".to_owned()),
        ..UpdateRequest::default()
    };
    service.update(&Caller::default(), update).expect("moved");
    assert!(asked(&service, &query()).is_err());
    let back = set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    assert_eq!(back.receipt.id, first.receipt.id);
    assert_eq!(back.receipt.topic, "facts/deploy");
    assert_eq!(current(&service), "2.0");
}

#[test]
fn a_recall_finds_the_current_value() {
    let (_folder, service) = opened();
    set(&service, "two point zero", Some("2024-02-05T00:00:00Z"));
    set(&service, "one point zero", Some("2024-01-05T00:00:00Z"));
    let request = RecallRequest {
        floor: Some(0.0),
        ..RecallRequest::new("which version is the deploy")
    };
    let answer = service.recall(&Caller::default(), &request);
    let results = answer.expect("an answer").results;
    assert_eq!(results.len(), 1);
    assert_eq!(
        results[0].memory.content.as_deref(),
        Some("deploy version: two point zero")
    );
}

#[test]
fn attributes_do_not_replace_one_another() {
    let (_folder, service) = opened();
    for (attribute, from) in [("primary", "2024-01-05"), ("replica", "2024-02-05")] {
        let value = match attribute {
            "primary" => "The database listens at 10.0.3.7.",
            _ => "The database listens at 10.0.4.12.",
        };
        let request = FactRequest {
            from: Some(from.to_owned()),
            ..FactRequest::new("database", attribute, value)
        };
        let receipt = service.set_fact(&Caller::default(), request);
        let receipt = receipt.expect("it is set").receipt;
        assert!(receipt.seems_to_replace.is_empty(), "{receipt:?}");
    }
    let request = RecallRequest {
        floor: Some(0.0),
        ..RecallRequest::new("where does the database listen")
    };
    let answer = service.recall(&Caller::default(), &request);
    let results = answer.expect("an answer").results;
    assert_eq!(results.len(), 2);
    for hit in &results {
        let is_guessed = !hit.seems_to_replace.is_empty() || hit.seems_replaced_by.is_some();
        assert!(!is_guessed, "{hit:?}");
    }
}

#[test]
fn names_and_values_that_are_no_good_are_refused() {
    let (_folder, service) = opened();
    for (subject, attribute, value, words) in [
        ("", "a", "v", "the subject is empty"),
        ("s/", "a", "v", "a level of the subject `s/` has no name"),
        ("s", " ", "v", "the attribute is empty"),
        ("s", "a\nb", "v", "the attribute has a control character"),
        ("s", "a", " ", "the value is empty"),
    ] {
        let request = FactRequest::new(subject, attribute, value);
        let error = service.set_fact(&Caller::default(), request);
        let error = error.expect_err("it is refused").to_string();
        assert!(error.starts_with(words), "{error}");
    }
    let long = FactRequest::new("s".repeat(200), "a", "v");
    assert!(service.set_fact(&Caller::default(), long).is_err());
    let when = FactRequest {
        from: Some("soon".to_owned()),
        ..FactRequest::new("s", "a", "v")
    };
    assert!(service.set_fact(&Caller::default(), when).is_err());
    let listed = service.list_facts(&FactListRequest::default());
    assert!(listed.expect("a list").is_empty());
}

fn redact(service: &Service, target: &str) {
    let request = icm_api::RedactRequest {
        targets: vec![target.to_owned()],
        ..icm_api::RedactRequest::default()
    };
    let redacted = service.redact(&Caller::default(), &request);
    redacted.expect("it redacts");
}

#[test]
fn a_fact_can_be_set_again_after_its_names_were_redacted() {
    let (_folder, service) = opened();
    let first = set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    redact(&service, &format!("@{}", first.receipt.position));
    let again = set(&service, "2.0", None);
    assert_eq!(again.receipt.id, first.receipt.id);
    assert_eq!(current(&service), "2.0");
    for day in ["2024-01-01", "2024-01-02"] {
        set(&service, "0.9", Some(&format!("{day}T00:00:00Z")));
    }
    let memory = service.get(&first.receipt.id, None).expect("a memory");
    assert_eq!(memory.content.as_deref(), Some("deploy version: 2.0"));
    assert_eq!(memory.key.as_deref(), Some("version"));
}

#[test]
fn no_other_value_stands_in_for_a_withheld_one() {
    let (_folder, service) = opened();
    set(&service, "2.0", Some("2024-01-05T00:00:00Z"));
    let now = set(&service, "a secret", None);
    redact(&service, &format!("@{}", now.receipt.position));
    for from in ["2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z"] {
        let request = FactRequest {
            from: Some(from.to_owned()),
            ..FactRequest::new("deploy", "version", "1.0")
        };
        let refused = service.set_fact(&Caller::default(), request);
        let message = refused.expect_err("it is refused").to_string();
        assert!(message.contains("is withheld"), "{message}");
    }
    set(&service, "3.0", None);
    assert_eq!(current(&service), "3.0");
}
