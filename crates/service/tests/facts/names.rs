//! Names and scopes of facts, and the facts that a recall finds by their words.

use icm_api::{Caller, FactListRequest, FactQuery, FactRequest, RecallRequest, UpdateRequest};

use crate::{FUTURE, asked, current, opened, query, set};

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
