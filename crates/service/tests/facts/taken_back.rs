//! Values that an undo, a forgetting or a redaction takes back.

use icm_api::error::ServiceError;
use icm_api::{Action, Caller, FactQuery, FactRequest, UndoRequest, UpdateRequest};
use icm_service::Service;

use crate::{FUTURE, PAST, asked, current, history, opened, query, set, shown, undo};

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
    let first = ["1.0 2024-01-05 2024-01-20", "1.5 2024-01-20 -"];
    let id = &second.receipt.id;
    let undone = undo(&service, &second.receipt.event);
    assert_eq!(current(&service), "1.5");
    assert_eq!(history(&service), first);
    // The current value is the memory's text, too.
    assert_eq!(shown(&service, id), "1.5");
    let memory = service.get(id, None).expect("a memory");
    assert_eq!(memory.occurred_at.as_deref(), Some("2024-01-20T00:00:00Z"));
    assert_eq!(memory.conflicts, [""; 0]);
    assert_eq!(set(&service, "1.5", None).receipt.action, Action::Unchanged);
    // The undo of the undo brings both back.
    undo(&service, &undone);
    assert_eq!(shown(&service, id), "2.0");
    assert_eq!(history(&service).len(), 3);
    let memory = service.get(id, None).expect("a memory");
    assert_eq!(memory.conflicts, [""; 0]);
}

#[test]
fn what_an_undo_gives_back_goes_with_its_statement() {
    let (_folder, service) = opened();
    set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    let second = set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    let late = set(&service, "1.5", Some("2024-01-20T00:00:00Z"));
    let id = &second.receipt.id;
    undo(&service, &second.receipt.event);
    assert_eq!(shown(&service, id), "1.5");
    undo(&service, &late.receipt.event);
    assert_eq!(shown(&service, id), "1.0");
    assert_eq!(history(&service), ["1.0 2024-01-05 -"]);
}

#[test]
fn a_correction_stays_when_the_corrected_value_is_undone() {
    let (_folder, service) = opened();
    set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    let second = set(&service, "2.O", Some("2024-02-05T00:00:00Z"));
    let update = UpdateRequest {
        id: second.receipt.id.clone(),
        content: Some("2.0".to_owned()),
        ..UpdateRequest::default()
    };
    service.update(&Caller::default(), update).expect("updated");
    undo(&service, &second.receipt.event);
    assert_eq!(
        history(&service),
        ["1.0 2024-01-05 2024-02-05", "2.0 2024-02-05 -"]
    );
    assert_eq!(shown(&service, &second.receipt.id), "2.0");
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
    let warning = format!(
        "the fact was forgotten, so it begins anew: the earlier value counts no more; undo this command and `icm revive {id}` \
         to keep the history"
    );
    assert_eq!(back.receipt.warnings, [warning]);
    // An undo of that gives the forgotten fact back as it was, and so does a revival.
    undo(&service, &back.receipt.event);
    assert!(asked(&service, &query()).is_err());
    let revived = service.revive(&Caller::default(), &id);
    revived.expect("it is back");
    assert_eq!(history(&service), ["1.0 2024-01-05 -"]);
}

#[test]
fn a_fact_that_was_moved_comes_back_with_its_history() {
    let (_folder, service) = opened();
    set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    let second = set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    let told = ["1.0 2024-01-05 2024-02-05", "2.0 2024-02-05 -"];
    for topic in ["notes", "facts/build"] {
        let update = UpdateRequest {
            id: second.receipt.id.clone(),
            topic: Some(topic.to_owned()),
            ..UpdateRequest::default()
        };
        service.update(&Caller::default(), update).expect("moved");
        assert!(asked(&service, &query()).is_err());
        // The same value brings it back, too.
        let back = set(&service, "2.0", None);
        assert_eq!(back.receipt.action, Action::Updated);
        let warning =
            "the memory of this fact was in another topic or scope; it is back with its history";
        assert_eq!(back.receipt.warnings, [warning]);
        assert_eq!(history(&service), told, "{topic}");
    }
    assert_eq!(set(&service, "2.0", None).receipt.warnings, [""; 0]);
}

#[test]
fn an_answer_names_a_forgotten_fact_and_the_way_back() {
    let (_folder, service) = opened();
    let set = set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    let id = set.receipt.id;
    let forgotten = service.forget(&Caller::default(), std::slice::from_ref(&id));
    forgotten.expect("it is forgotten");
    let of_subject = FactQuery::new("deploy", None);
    let refusals = [
        asked(&service, &query()).expect_err("it is forgotten"),
        asked(&service, &of_subject).expect_err("it is forgotten"),
        (service.fact_history(&Caller::default(), &query())).expect_err("it is forgotten"),
    ];
    for refused in refusals {
        let ServiceError::Nothing { message, hint } = refused else {
            panic!("{refused:?}");
        };
        let begins = message.starts_with("`version` of `deploy` was forgotten, 2");
        assert!(begins && message.contains(&id), "{message}");
        assert_eq!(hint, format!("`icm revive {id}` brings it back"));
    }
    // Another attribute, or another scope, was never there.
    let project = FactQuery {
        scope: Some("project:shop".to_owned()),
        ..query()
    };
    for query in [FactQuery::new("deploy", Some("owner")), project] {
        let refused = asked(&service, &query).expect_err("there is none");
        assert!(
            refused.to_string().contains("there is no fact"),
            "{refused}"
        );
    }
    // Before that it was there.
    let then = FactQuery {
        at: Some(format!("@{}", set.receipt.position)),
        ..query()
    };
    let fact = asked(&service, &then).expect("a value");
    assert_eq!(fact.value.as_deref(), Some("1.0"));
}

#[test]
fn an_answer_names_an_expired_fact() {
    let (folder, service) = opened();
    let id = set(&service, "1.0", None).receipt.id;
    let file = folder.path().join("notes.md");
    std::fs::write(&file, "notes").expect("a file");
    let update = icm_api::UpdateRequest {
        id: id.clone(),
        expires: Some(format!("file-exists {}", file.display())),
        ..icm_api::UpdateRequest::default()
    };
    let updated = service.update(&Caller::default(), update);
    updated.expect("it has a condition");
    std::fs::remove_file(&file).expect("a file");
    // The first answer looks at the file.
    let _ = asked(&service, &query());
    service.record_recalls();
    let refused = asked(&service, &query()).expect_err("it is expired");
    assert_eq!(
        refused.to_string(),
        format!("`version` of `deploy` is expired (memory {id})")
    );
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
    // The text of the memory changes with the current value, which is told once.
    let current = set(&service, "2.1", Some("2024-04-05T00:00:00Z"));
    let (facts, outcome, _) = undone(&[&current.receipt.event]);
    assert_eq!(facts, ["2.1 to 2.0, 2024-04-05T00:00:00Z..-"]);
    assert_eq!(outcome, "1 value of a fact changed");
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
