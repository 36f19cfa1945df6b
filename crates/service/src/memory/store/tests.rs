//! Tests of writes that are decided together, and of writes that a peer did.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::value::RawValue;

use super::*;
use crate::peer::{Peer, PeerParams};
use crate::service::tests::{service, service_at};
use icm_api::{Action, Dedup, OnSimilar};

fn memory(content: &str) -> StoreRequest {
    StoreRequest::new("t", content)
}

/// Decides writes under one lock. Returns the action and position of each.
fn done(service: &Service, writes: Vec<Write>) -> Vec<Result<(Action, u64)>> {
    let prepared = writes.into_iter().map(|write| {
        let caller = Caller::default();
        let prepared = service.prepare_write(&caller, write).expect("it is fine");
        (caller, prepared)
    });
    let prepared: Vec<_> = prepared.collect();
    let receipts = service.decide_all(&prepared).expect("they are decided");
    let receipts = receipts.commit().expect("they are durable");
    let fates = receipts.into_iter();
    fates
        .map(|receipt| receipt.map(|receipt| (receipt.action, receipt.position)))
        .collect()
}

#[test]
fn each_of_many_sees_what_was_decided_before_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let first = service
        .store(&Caller::default(), memory("one"))
        .expect("it stores");
    let keyed = StoreRequest {
        request_id: Some("again".to_owned()),
        ..memory("two words")
    };
    let update = |id: &str, content: &str| {
        Write::Update(UpdateRequest {
            id: id.to_owned(),
            content: Some(content.to_owned()),
            ..UpdateRequest::default()
        })
    };
    let fates = done(
        &service,
        vec![
            Write::Store(keyed.clone()),
            update(&first.id, "one, changed"),
            update("01ZZZZZZZZZZZZZZZZZZZZZZZZ", "nobody's"),
            Write::Store(keyed),
            Write::Store(memory("one, changed")),
            Write::Store(memory("three")),
        ],
    );
    let at = |fate: &Result<(Action, u64)>| *fate.as_ref().expect("it is done");
    let before = first.position;
    assert_eq!(at(&fates[0]), (Action::Stored, before + 1));
    assert_eq!(at(&fates[1]), (Action::Updated, before + 2));
    assert!(matches!(fates[2], Err(ServiceError::NotFound { .. })));
    // Earlier writes of the same batch had stored this request and this text.
    assert_eq!(at(&fates[3]), (Action::Stored, before + 1));
    assert_eq!(at(&fates[4]), (Action::Unchanged, before + 2));
    assert_eq!(at(&fates[5]), (Action::Stored, before + 3));
    let kept = service.list(&icm_api::ListRequest::default());
    assert_eq!(kept.expect("it lists").len(), 3);
}

#[test]
fn a_text_is_found_among_many_of_one_pattern() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = service(folder.path());
    let words = [
        "deployment",
        "production",
        "environment",
        "configuration",
        "successfully",
        "verification",
        "integration",
        "monitoring",
        "dashboards",
        "responsible",
        "engineering",
        "department",
        "documentation",
        "registration",
        "certificate",
        "authentication",
        "infrastructure",
        "availability",
        "performance",
        "measurement",
    ];
    let text = |n: usize| format!("run {n} by Ann: {}", words.join(" "));
    let store = |n| {
        service
            .store(&Caller::default(), memory(&text(n)))
            .expect("it stores")
    };
    let receipts: Vec<Receipt> = (0..20).map(store).collect();
    assert!(
        receipts
            .iter()
            .all(|receipt| receipt.action == Action::Stored)
    );
    for n in [0, 7, 19] {
        let again = store(n);
        assert_eq!(
            (again.action, &again.id),
            (Action::Unchanged, &receipts[n].id)
        );
    }
}

/// A peer that does what it is asked and dies before it answers.
struct DyingPeer(Service);

impl Peer for DyingPeer {
    fn is_for(&self, writes: bool) -> bool {
        writes
    }

    fn ask(
        &self,
        _: &str,
        params: &mut dyn FnMut() -> Option<Box<RawValue>>,
    ) -> Option<Box<RawValue>> {
        let params = params()?;
        let asked: PeerParams<StoreRequest> =
            serde_json::from_str(params.get()).expect("it is a store");
        let prepared = self
            .0
            .prepare_write(&asked.caller, Write::Store(asked.request.clone()));
        let prepared = prepared.expect("it is fine").attempted(asked.attempt());
        let writes = [(asked.caller, prepared)];
        let decided = self.0.decide_all(&writes);
        decided
            .expect("it is decided")
            .commit()
            .expect("it is durable");
        None
    }

    fn leave_views(&self) -> bool {
        false
    }

    fn is_of_another(&self) -> bool {
        false
    }

    fn left_unanswered(&self) -> bool {
        true
    }

    fn ask_again(&self) {}
}

#[test]
fn writes_of_a_dying_peer_are_no_news_of_an_earlier_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let dying = DyingPeer(service(folder.path()));
    let asks = service(folder.path()).asking(Arc::new(dying));
    let receipt = asks.store(&Caller::default(), memory("said once"));
    assert_eq!(receipt.expect("it stores").action, Action::Stored);
}

#[test]
fn a_command_that_an_earlier_attempt_wrote_is_known_again() {
    let folder = tempfile::tempdir().expect("a folder");
    // Without the search for near texts, a second memory with the same words would show.
    let service = service(folder.path()).with_dedup(Dedup {
        on_similar: OnSimilar::Off,
        ..Dedup::default()
    });
    let first = Attempt {
        command: CommandId([7; 16]),
        asked_ms: service.now_ms(),
        is_again: false,
    };
    let again = Attempt {
        is_again: true,
        ..first
    };
    let store = |attempt| {
        let write = Write::Store(memory("said once"));
        let prepared = service.prepare_write(&Caller::default(), write);
        let prepared = prepared.expect("it is fine").attempted(Some(attempt));
        let write = [(Caller::default(), prepared)];
        let receipts = service.decide_all(&write);
        let receipts = receipts.expect("it is decided").commit();
        let receipt = receipts.expect("it is durable").remove(0);
        receipt.expect("it stores")
    };
    let stored = store(first);
    assert_eq!(stored.action, Action::Stored);
    // Others write meanwhile.
    done(&service, vec![Write::Store(memory("said by another"))]);
    let known = store(again);
    assert_eq!(
        (known.action, &known.event),
        (Action::Stored, &stored.event)
    );
    assert_eq!(known.position, stored.position);
    // The asker gave the peer up and wrote the memory itself before the peer came to it.
    let late = Attempt {
        asked_ms: first.asked_ms - 1_000,
        ..first
    };
    assert_eq!(store(late).event, stored.event);
    // Another command with the same text is another command.
    let other = Attempt {
        command: CommandId([8; 16]),
        ..again
    };
    let other = store(other);
    assert_eq!(other.action, Action::Stored);
    assert_ne!(other.event, stored.event);
}

#[test]
fn an_update_of_what_was_changed_since_it_was_seen_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let (clock, service) = service_at(folder.path());
    let caller = Caller::default();
    let id = service.store(&caller, memory("one")).expect("it stores").id;
    let seen = service.get(&id, None).expect("it is there").updated_at;
    let update = |content: &str, seen: &str| {
        clock.0.fetch_add(1_000, Ordering::Relaxed);
        let request = UpdateRequest {
            id: id.clone(),
            content: Some(content.to_owned()),
            if_updated_at: Some(seen.to_owned()),
            ..UpdateRequest::default()
        };
        service.update(&caller, request)
    };
    update("two", &seen).expect("nothing was written since");
    let refused = update("three", &seen).expect_err("`two` was not seen");
    assert!(
        refused.to_string().contains("nothing was updated"),
        "{refused}"
    );
    let now = service.get(&id, None).expect("it is there");
    assert_eq!(now.content.as_deref(), Some("two"));
    update("three", &now.updated_at).expect("`two` was seen");
}
