//! Planned values: what a question shows of them before their time.

use icm_api::{
    Action, Caller, DiffRequest, Fact, FactListRequest, FactQuery, FactRequest, FactState,
    ListRequest,
};
use icm_service::Service;

use crate::{FUTURE, opened, query, set};

const LATER: &str = "2101-01-01T00:00:00Z";

/// Returns the facts of a list as `VALUE STATE, next VALUE`.
fn listed(service: &Service, valid_at: Option<&str>) -> Vec<String> {
    let request = FactListRequest {
        valid_at: valid_at.map(str::to_owned),
        ..FactListRequest::default()
    };
    told(&service.list_facts(&request).expect("a list"))
}

fn told(facts: &[Fact]) -> Vec<String> {
    let told = facts.iter().map(|fact| {
        let next = fact.next.as_ref().map_or(String::new(), |next| {
            let value = next.value.as_deref().unwrap_or("?");
            format!(", next {value} from {}", next.valid_from)
        });
        let value = fact.value.as_deref().unwrap_or("?");
        format!("{value} {:?}{next}", fact.state)
    });
    told.collect()
}

#[test]
fn a_list_tells_the_next_value() {
    let (_folder, service) = opened();
    set(&service, "1.0", Some("2024-01-05T00:00:00Z"));
    set(&service, "2.0", Some("2024-02-05T00:00:00Z"));
    assert_eq!(listed(&service, None), ["2.0 Current"]);
    set(&service, "4.0", Some(LATER));
    set(&service, "3.0", Some(FUTURE));
    let next = format!("next 3.0 from {FUTURE}");
    assert_eq!(listed(&service, None), [format!("2.0 Current, {next}")]);
    assert_eq!(listed(&service, Some("2024-01-10")), ["1.0 Earlier"]);
    let planned = format!("3.0 Planned, next 4.0 from {LATER}");
    assert_eq!(listed(&service, Some(FUTURE)), [planned]);
    let got = service.facts(&Caller::default(), &query()).expect("one");
    assert_eq!(told(&got), [format!("2.0 Current, {next}")]);
    let history = service.fact_history(&Caller::default(), &query());
    let states = history.expect("a history").into_iter();
    let states: Vec<FactState> = states.map(|fact| fact.state).collect();
    use FactState::{Current, Earlier, Planned};
    assert_eq!(states, [Earlier, Current, Planned, Planned]);
}

#[test]
fn a_fact_with_planned_values_alone_is_listed_as_planned() {
    let (_folder, service) = opened();
    set(&service, "4.0", Some(LATER));
    set(&service, "3.0", Some(FUTURE));
    let planned = format!("3.0 Planned, next 4.0 from {LATER}");
    assert_eq!(listed(&service, None), std::slice::from_ref(&planned));
    // At a given time only values that are valid then are asked for.
    assert_eq!(listed(&service, Some("2024-01-10")), [""; 0]);
    let other = FactRequest::new("deploy", "owner", "Mira");
    service.set_fact(&Caller::default(), other).expect("set");
    let of_subject = service.facts(&Caller::default(), &FactQuery::new("deploy", None));
    let of_subject = told(&of_subject.expect("a subject"));
    assert_eq!(of_subject, ["Mira Current".to_owned(), planned]);
}

#[test]
fn a_fact_with_planned_values_alone_is_called_planned_not_expired() {
    let (_folder, service) = opened();
    let empty = icm_api::StoreRequest::new("notes", "The office is closed on Friday");
    let first = service.store(&Caller::default(), empty).expect("stored");
    let planned = set(&service, "4.0", Some(LATER));
    set(&service, "3.0", Some(FUTURE));
    let id = planned.receipt.id;
    let memory = service.get(&id, None).expect("a memory");
    assert_eq!(memory.planned_from.as_deref(), Some(FUTURE));
    assert_eq!(memory.content.as_deref(), Some("deploy version: 3.0"));
    assert!(!memory.expired);
    for expired in [false, true] {
        let request = ListRequest {
            topic: Some("facts/".to_owned()),
            expired,
            ..ListRequest::default()
        };
        let listed = service.list(&request).expect("a list");
        assert!(listed.is_empty(), "{listed:?}");
    }
    let stats = service.stats(None).expect("it counts");
    assert_eq!((stats.memories, stats.expired), (1, 0));

    let revived = service
        .revive(&Caller::default(), &id)
        .expect("it is known");
    assert_eq!(revived.action, Action::Unchanged);
    let [why] = revived.warnings.as_slice() else {
        panic!("{revived:?}");
    };
    let begins = why.starts_with("nothing to bring back: the fact is planned, valid from 2");
    assert!(begins, "{why}");

    let diff = service.diff(&DiffRequest {
        from: format!("@{}", first.position),
        ..DiffRequest::default()
    });
    let added = diff.expect("a diff").added;
    assert_eq!(added.len(), 1);
    assert!(added[0].planned_from.is_some(), "{added:?}");
}
