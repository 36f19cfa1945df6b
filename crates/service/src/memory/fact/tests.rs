use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::recall::unasked::StandOutConditions;
use crate::service::Service;
use crate::service::tests::{Clock, service_at};
use icm_api::when::rfc3339;
use icm_api::{
    Caller, FactQuery, FactReceipt, FactRequest, ListRequest, RecallRequest, StoreRequest,
    UndoRequest, UpdateRequest,
};
use icm_log::facts::Importance;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;

/// A store whose clock stands where a test puts it.
struct World {
    _folder: tempfile::TempDir,
    clock: Arc<Clock>,
    service: Service,
    start: u64,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().expect("a folder");
        let (clock, service) = service_at(folder.path());
        let start = service.now_ms();
        World {
            _folder: folder,
            clock,
            service,
            start,
        }
    }

    /// Puts the clock so many days after the start.
    fn day(&self, days: u64) -> &World {
        let ms = self.start + days * DAY_MS;
        self.clock.0.store(ms, Ordering::Relaxed);
        self
    }

    /// Sets who is on call, from the start of a day on; now if none is given.
    fn set(&self, value: &str, from: Option<u64>) -> FactReceipt {
        let request = FactRequest {
            from: from.map(|days| rfc3339(self.start + days * DAY_MS)),
            ..FactRequest::new("billing", "on call", value)
        };
        let receipt = self.service.set_fact(&Caller::default(), request);
        receipt.expect("it is set")
    }

    /// Returns the texts that a recall shows.
    fn recalled(&self, query: &str, at: Option<&str>) -> Vec<String> {
        let request = RecallRequest {
            query: query.to_owned(),
            floor: Some(0.0),
            at: at.map(str::to_owned),
            record: at.is_none(),
            ..RecallRequest::default()
        };
        let answer = self.service.recall(&Caller::default(), &request);
        let answer = answer.expect("it answers");
        self.service.record_recalls();
        let hits = answer.results.into_iter();
        hits.filter_map(|hit| hit.memory.content).collect()
    }

    fn got(&self, at: Option<&str>) -> Option<String> {
        let query = FactQuery {
            at: at.map(str::to_owned),
            ..FactQuery::new("billing", Some("on call"))
        };
        let facts = self.service.facts(&Caller::default(), &query).ok()?;
        facts.into_iter().next()?.value
    }

    fn listed(&self, request: ListRequest) -> Vec<String> {
        let memories = self.service.list(&request).expect("it lists").into_iter();
        memories.filter_map(|memory| memory.content).collect()
    }

    /// Asserts that every answer shows this value of the fact, or none.
    #[track_caller]
    fn assert_shown(&self, value: Option<&str>) {
        let text = value.map(|value| format!("billing on call: {value}"));
        let expected = Vec::from_iter(text);
        assert_eq!(self.got(None).as_deref(), value, "fact get");
        let recalled = self.recalled("who is on call for billing", None);
        assert_eq!(recalled, expected, "recall");
        assert_eq!(self.listed(ListRequest::default()), expected, "list");
        let of_topic = ListRequest {
            topic: Some("facts/".to_owned()),
            ..ListRequest::default()
        };
        assert_eq!(self.listed(of_topic), expected, "list -t");
        let everything = StandOutConditions {
            importance: Importance::Low,
            topic: &|_| true,
            after: None,
        };
        let seen = (self.service).seen_from(&Caller::default(), 9, &everything, &|_| Some(1.0));
        let (_, seen) = seen.expect("it reads");
        let seen = seen.into_iter().filter_map(|(memory, _)| memory.content);
        assert_eq!(seen.collect::<Vec<_>>(), expected, "wake-up");
        let mut lines = Vec::new();
        let exported = self.service.export_jsonl(&mut lines, None);
        assert_eq!(exported.expect("it exports"), expected.len() as u64);
        let lines = String::from_utf8(lines).expect("text");
        assert!(lines.contains(value.unwrap_or_default()), "{lines}");
        let stats = self.service.stats(None).expect("it counts");
        assert_eq!(stats.memories, expected.len() as u64, "stats");
    }
}

#[test]
fn a_planned_value_is_shown_once_it_is_valid() {
    let world = World::new();
    world.set("Mira", Some(0));
    let planned = world.day(1).set("Grace", Some(10));
    world.set("Ada", Some(20));
    for is_built in [false, true] {
        if is_built {
            let built = world.service.rebuild(&icm_api::NoProgress);
            built.expect("it builds");
        }
        // The clock goes back, too.
        for (day, value) in [(2, "Mira"), (10, "Grace"), (25, "Ada"), (9, "Mira")] {
            world.day(day).assert_shown(Some(value));
        }
    }
    let memory = world.day(12).service.get(&planned.receipt.id, None);
    let memory = memory.expect("a memory");
    assert_eq!(memory.content.as_deref(), Some("billing on call: Grace"));
    assert_eq!(
        memory.occurred_at.as_deref(),
        Some(&*planned.set.valid_from)
    );
    // Its own word finds it, and the word of the value before finds nothing.
    let found = world.recalled("Grace", None);
    assert_eq!(found, ["billing on call: Grace"]);
    let found = world.recalled("Mira", None);
    assert!(!found.iter().any(|text| text.contains("Mira")), "{found:?}");
}

#[test]
fn a_fact_with_a_planned_value_alone_is_hidden_until_then() {
    let world = World::new();
    let planned = world.set("Grace", Some(10));
    for is_built in [false, true] {
        if is_built {
            let built = world.service.rebuild(&icm_api::NoProgress);
            built.expect("it builds");
        }
        world.day(9).assert_shown(None);
        let hidden = world.listed(ListRequest {
            expired: true,
            ..ListRequest::default()
        });
        assert!(hidden.is_empty(), "{hidden:?}");
        world.day(10).assert_shown(Some("Grace"));
    }
    // Nothing about it expired, so there is nothing to revive.
    let service = &world.day(9).service;
    let revived = service.revive(&Caller::default(), &planned.receipt.id);
    let revived = revived.expect("it is known");
    assert_eq!(revived.action, icm_api::Action::Unchanged);
}

#[test]
fn a_clock_that_goes_back_hides_no_value_that_was_valid() {
    let world = World::new();
    world.day(20).set("Mira", None);
    let other = FactRequest {
        from: Some(rfc3339(world.start + 90 * DAY_MS)),
        ..FactRequest::new("payroll", "owner", "Jun")
    };
    let set = world.service.set_fact(&Caller::default(), other);
    set.expect("it is set");
    world.day(1);
    let found = world.recalled("who is on call for billing", None);
    assert_eq!(found, ["billing on call: Mira"]);
    let found = world.day(91).recalled("who is the owner of payroll", None);
    assert_eq!(found[0], "payroll owner: Jun");
}

#[test]
fn an_earlier_basis_shows_the_value_that_was_valid_then() {
    let world = World::new();
    world.set("Mira", Some(0));
    let planned = world.day(1).set("Grace", Some(10));
    let other = StoreRequest::new("notes", "The office is closed on Friday");
    let stored = world.day(12).service.store(&Caller::default(), other);
    let later = stored.expect("it stores").position;
    world.day(30);
    let who = |at: &str| world.recalled("who is on call for billing", Some(at));
    for (at, value) in [
        (format!("@{}", planned.receipt.position), "Mira"),
        (rfc3339(world.start + 2 * DAY_MS), "Mira"),
        (rfc3339(world.start + 11 * DAY_MS), "Grace"),
        (format!("@{later}"), "Grace"),
    ] {
        assert_eq!(world.got(Some(&at)).as_deref(), Some(value), "{at}");
        let text = format!("billing on call: {value}");
        let found = who(&at).into_iter().find(|found| found.contains("billing"));
        assert_eq!(found, Some(text), "{at}");
    }
}

#[test]
fn a_recorded_recall_gives_the_same_value_again() {
    let world = World::new();
    world.set("Mira", Some(0));
    world.day(1).set("Grace", Some(10));
    world.day(2).recalled("who is on call for billing", None);
    world.day(11).recalled("who is on call for billing", None);
    world.day(12);
    let (recalls, _) = world.service.recorded_recalls(9).expect("it reads");
    let again = recalls.iter().map(|recall| {
        let answer = world.service.recall_again(recall).expect("it answers");
        answer.results[0].memory.content.clone().expect("a text")
    });
    let mut again: Vec<String> = again.collect();
    again.sort();
    assert_eq!(again, ["billing on call: Grace", "billing on call: Mira"]);
}

#[test]
fn an_undo_or_an_update_of_a_planned_value_counts() {
    let world = World::new();
    world.set("Mira", Some(0));
    let planned = world.day(1).set("Grace", Some(10));
    let update = UpdateRequest {
        id: planned.receipt.id,
        content: Some("billing on call: Grace H.".to_owned()),
        ..UpdateRequest::default()
    };
    let updated = world
        .day(11)
        .service
        .update(&Caller::default(), update)
        .expect("it updates");
    world.assert_shown(Some("Grace H."));
    for event in [updated.event, planned.set.event] {
        let request = UndoRequest {
            events: vec![event],
            ..UndoRequest::default()
        };
        let undone = world.service.undo(&Caller::default(), &request);
        undone.expect("it is undone");
    }
    world.assert_shown(Some("Mira"));
}
