//! Tests that nothing leaks between scopes. Whatever is stored and linked, an answer holds what its caller sees, all of
//! that if there is room, and nothing else.

use std::collections::BTreeSet;
use std::time::Duration;

use icm_api::{Caller, LinkRequest, RecallRequest, StoreRequest};
use icm_service::{OpenOptions, Service};
use proptest::prelude::*;

const SCOPES: [&str; 9] = [
    "global",
    "project:p",
    "project:p/q",
    "project:q",
    "session:a",
    "session:a/b",
    "session:a/b/c",
    "session:a/d",
    "session:ab",
];
const TOPICS: [&str; 3] = ["ops", "ops/deep", "people"];
const RELATIONS: [&str; 5] = [
    "related",
    "supersedes",
    "contradicts",
    "derived_from",
    "similar_to",
];

/// Returns `true` if a scope is seen, by another rule than the code's.
fn is_seen(scope: &str, project: Option<&str>, session: Option<&str>) -> bool {
    match scope.split_once(':') {
        None => true,
        Some(("project", id)) => project == Some(id),
        Some((_, id)) => session.is_some_and(|session| {
            let (own, other): (Vec<&str>, Vec<&str>) =
                (session.split('/').collect(), id.split('/').collect());
            own.iter().zip(&other).all(|(a, b)| a == b)
        }),
    }
}

fn request() -> RecallRequest {
    RecallRequest {
        limit: Some(50),
        floor: Some(0.0),
        ..RecallRequest::new("apple")
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn an_answer_holds_what_is_seen_and_nothing_else(
        memories in prop::collection::vec(
            (0..SCOPES.len(), 0..TOPICS.len(), prop::bool::weighted(0.7)), 1..12),
        links in prop::collection::vec((0..12_usize, 0..12_usize, 0..RELATIONS.len()), 0..16),
        project in prop::option::of(prop::sample::select(vec!["p", "q", "p/q"])),
        session in prop::option::of(prop::sample::select(vec!["a", "a/b", "a/d", "ab", "b"])),
        topic in prop::option::of(prop::sample::select(vec!["ops", "ops/", "people"])),
        limit in 1..6_usize,
    ) {
        let folder = tempfile::tempdir().expect("a folder");
        let service = Service::open(OpenOptions {
            dir: folder.path().join("store"),
            lock_wait: Duration::from_secs(5),
            read_only: false,
        })
        .expect("a store");
        let mut ids = Vec::new();
        for (n, (scope, topic, matches)) in memories.iter().enumerate() {
            let word = if *matches { "apple" } else { "pear" };
            let stored = service.store(&Caller::default(), StoreRequest { key: Some(n.to_string()), scope: Some(SCOPES[*scope].into()), ..StoreRequest::new(TOPICS[*topic], format!("{word} {n}")) });
            ids.push(stored.expect("it stores").id);
        }
        for (from, to, relation) in links {
            let (from, to) = (from % ids.len(), to % ids.len());
            if from != to {
                let linked = service.link(&Caller::default(), &LinkRequest {
                    from: ids[from].clone(),
                    to: ids[to].clone(),
                    relation: RELATIONS[relation].into(),
                    reason: None,
                    allow_secret: false,
                });
                linked.expect("it links");
            }
        }
        let caller = Caller {
            project_id: project.map(str::to_owned),
            session: session.map(str::to_owned),
            ..Caller::default()
        };
        let seen = |at: usize| is_seen(SCOPES[memories[at].0], project, session);
        let in_topic = |at: usize| match topic {
            None => true,
            Some("ops/") => TOPICS[memories[at].1].starts_with("ops"),
            Some(topic) => TOPICS[memories[at].1] == topic,
        };
        let topic = topic.map(str::to_owned);
        let at = |id: &str| ids.iter().position(|it| it == id).expect("known");

        let all = service.recall(&caller, &RecallRequest { topic: topic.clone(), ..request() });
        let few = RecallRequest { topic, limit: Some(limit), ..request() };
        let few = service.recall(&caller, &few);
        let [all, few] = [all, few].map(|answer| answer.expect("an answer").results);
        prop_assert!(few.len() <= limit);
        for hit in all.iter().chain(&few) {
            let found = at(&hit.memory.id);
            prop_assert!(seen(found) && in_topic(found), "{hit:?}");
            prop_assert!(!hit.elsewhere);
            let related = hit.memory.related.iter().map(|related| &related.id);
            let named = related.chain(&hit.contradicts).chain(&hit.superseded_by);
            for id in named.chain(hit.via.as_ref().map(|via| &via.from)) {
                prop_assert!(seen(at(id)), "{hit:?} names {id}");
            }
        }
        let shown: BTreeSet<usize> = all.iter().map(|hit| at(&hit.memory.id)).collect();
        prop_assert_eq!(shown.len(), all.len(), "each once");
        let expected = (0..ids.len()).filter(|at| memories[*at].2 && seen(*at) && in_topic(*at));
        for at in expected.clone() {
            prop_assert!(shown.contains(&at), "{} is missing", at);
        }
        prop_assert!(!few.is_empty() || expected.count() == 0);

        let everywhere = RecallRequest { scope: Some("all".into()), ..request() };
        let everywhere = service.recall(&caller, &everywhere).expect("an answer");
        for hit in everywhere.results {
            prop_assert_eq!(hit.elsewhere, !seen(at(&hit.memory.id)));
        }
    }
}
