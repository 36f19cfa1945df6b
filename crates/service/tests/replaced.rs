//! Tests that a newer statement of one scope and topic stands before the one that it seems to replace, unless a link
//! says otherwise.

use std::time::Duration;

use icm_api::{Action, Caller, LinkRequest, RecallAnswer, RecallRequest, StoreRequest, Trust};
#[cfg(unix)]
use icm_guard::secrets::{self, Policy};
use icm_service::{OpenOptions, Service};

const OLD: &str = "The build server is reachable at 10.0.3.7.";
const NEW: &str = "The build server is reachable at 10.0.4.12.";

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

fn memory(content: &str) -> StoreRequest {
    StoreRequest::new("infra", content)
}

fn store(service: &Service, request: StoreRequest) -> icm_api::Receipt {
    let receipt = service.store(&Caller::default(), request);
    receipt.expect("it stores")
}

fn asked(service: &Service, request: RecallRequest) -> RecallAnswer {
    let request = RecallRequest {
        query: "where is the build server reachable".to_owned(),
        floor: Some(0.0),
        ..request
    };
    let answer = service.recall(&Caller::default(), &request);
    answer.expect("it answers")
}

fn says(answer: &RecallAnswer) -> bool {
    answer
        .results
        .iter()
        .any(|hit| !hit.seems_to_replace.is_empty() || hit.seems_replaced_by.is_some())
}

#[test]
fn the_newer_one_stands_first_by_its_valid_time() {
    for (first, second, newer) in [
        (None, None, 1),
        (Some("2026-01-05"), Some("2026-03-05"), 1),
        (Some("2026-03-05"), Some("2026-01-05"), 0),
    ] {
        let (_folder, service) = opened();
        let of = |content, at: Option<&str>| StoreRequest {
            occurred_at: at.map(str::to_owned),
            ..memory(content)
        };
        let stored = [
            store(&service, of(OLD, first)),
            store(&service, of(NEW, second)),
        ];
        let (new, old) = (&stored[newer].id, &stored[1 - newer].id);
        let answer = asked(&service, RecallRequest::default());
        let ids: Vec<&String> = answer.results.iter().map(|hit| &hit.memory.id).collect();
        assert_eq!(ids, [new, old], "{first:?}");
        assert_eq!(
            answer.results[0].seems_to_replace,
            std::slice::from_ref(old)
        );
        assert_eq!(answer.results[1].seems_replaced_by.as_ref(), Some(new));
        // A receipt names older memories only.
        let named = stored[1].seems_to_replace.first().map(|it| &it.id);
        assert_eq!(named, (newer == 1).then_some(old));
    }
}

#[test]
fn one_that_was_not_found_is_brought_in_beside_the_found_one() {
    let (_folder, service) = opened();
    let old = store(
        &service,
        memory("The default branch of the monorepo is master."),
    );
    let new = store(
        &service,
        memory("In the monorepo, master was renamed to main."),
    );
    for limit in [1, 2] {
        let request = RecallRequest {
            limit: Some(limit),
            ..RecallRequest::new("which default branch")
        };
        let answer = service.recall(&Caller::default(), &request);
        let results = answer.expect("it answers").results;
        let ids: Vec<&String> = results.iter().map(|hit| &hit.memory.id).collect();
        let both = [&new.id, &old.id];
        // With room for one result, the found one keeps its place and names the memory that seems to replace it.
        assert_eq!(ids, both[2 - limit..]);
        let found = results.last().expect("it is found");
        assert_eq!(found.seems_replaced_by.as_ref(), Some(&new.id));
        if limit == 2 {
            let via = results[0].via.as_ref().expect("it was brought in");
            assert_eq!((&*via.relation, &via.from), ("seems_to_replace", &old.id));
        }
    }
}

#[test]
fn neither_scopes_topics_nor_foreign_texts_replace_one_another() {
    for other in [
        StoreRequest {
            scope: Some("project:p".to_owned()),
            ..memory(NEW)
        },
        StoreRequest {
            topic: "elsewhere".to_owned(),
            ..memory("Rack 7 of the hall has the build server, reachable at 10.0.4.12 by anybody.")
        },
        StoreRequest {
            trust: Trust::External,
            ..memory(NEW)
        },
    ] {
        let (_folder, service) = opened();
        store(&service, memory(OLD));
        let receipt = store(&service, other.clone());
        assert!(receipt.seems_to_replace.is_empty(), "{other:?}");
        let answer = asked(
            &service,
            RecallRequest {
                scope: Some("all".to_owned()),
                ..RecallRequest::default()
            },
        );
        assert_eq!(answer.results.len(), 2);
        assert!(!says(&answer), "{other:?}");
    }
}

#[test]
fn a_link_wins_and_no_links_leaves_it_out() {
    for relation in ["related", "supersedes", "contradicts", "derived_from"] {
        let (_folder, service) = opened();
        let old = store(&service, memory(OLD));
        let new = store(&service, memory(NEW));
        assert!(says(&asked(&service, RecallRequest::default())));
        let without = RecallRequest {
            no_links: true,
            ..RecallRequest::default()
        };
        assert!(!says(&asked(&service, without)));
        // Even a link by which the older one supersedes the newer one wins.
        let link = LinkRequest {
            from: old.id.clone(),
            to: new.id.clone(),
            relation: relation.to_owned(),
            ..LinkRequest::default()
        };
        service.link(&Caller::default(), &link).expect("it links");
        let answer = asked(&service, RecallRequest::default());
        assert!(!says(&answer), "{relation}");
        if relation == "supersedes" {
            assert_eq!(answer.results[0].memory.id, old.id);
        }
    }
}

#[test]
fn an_answer_of_the_past_knows_the_past_and_nothing_is_written() {
    let (_folder, service) = opened();
    let old = store(&service, memory(OLD));
    store(&service, memory(NEW));
    let at = |position: u64| RecallRequest {
        at: Some(format!("@{position}")),
        ..RecallRequest::default()
    };
    let then = asked(&service, at(old.position));
    assert_eq!(then.results.len(), 1);
    assert!(!says(&then));
    let now = asked(&service, RecallRequest::default());
    assert!(says(&now));
    let similar = |relation: &str| relation == "similar_to";
    let mut related = now.results.iter().flat_map(|hit| &hit.memory.related);
    assert!(related.all(|related| similar(&related.relation)));
}

#[cfg(unix)]
#[test]
fn the_judge_gets_no_secret_that_the_store_masks() {
    let (folder, service) = opened();
    let asked = folder.path().join("asked");
    let judge = icm_api::Summarizer {
        command: format!("cat > '{}'; echo no", asked.display()),
        timeout: icm_api::Summarizer::TIMEOUT,
    };
    let policy = Policy::new(secrets::Action::Mask, &[]).expect("it is a policy");
    let service = service.with_secrets(policy).with_judge(Some(judge));
    store(&service, memory("The blog is hosted on Netlify."));
    let secret = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let new = format!("The blog is served from Cloudflare, token {secret}.");
    store(&service, memory(&new));
    let asked = std::fs::read_to_string(asked).expect("the judge was asked");
    assert!(asked.contains("served from Cloudflare"), "{asked}");
    assert!(!asked.contains(&secret), "{asked}");
}

/// Stores a fact, and a later one that replaces it in other words.
fn renamed(service: &Service) -> [icm_api::Receipt; 2] {
    let old = "The default branch of the monorepo is master.";
    let new = "In the monorepo, master was renamed to main.";
    [old, new].map(|content| store(service, memory(content)))
}

fn branch(service: &Service, at: Option<u64>) -> Vec<String> {
    let request = RecallRequest {
        at: at.map(|position| format!("@{position}")),
        ..RecallRequest::new("which default branch")
    };
    let answer = service.recall(&Caller::default(), &request);
    let results = answer.expect("it answers").results;
    results.into_iter().map(|hit| hit.memory.id).collect()
}

#[test]
fn an_answer_of_the_past_does_not_change_with_what_is_stored_later() {
    let (_folder, service) = opened();
    let [old, new] = renamed(&service);
    let at = Some(new.position);
    assert_eq!(branch(&service, at), [&*new.id, &*old.id]);
    for number in 0..120 {
        let note = format!("Lunch number {number} has {} guests.", number * 7);
        store(&service, memory(&note));
    }
    assert_eq!(branch(&service, at), [&*new.id, &*old.id]);
}

#[test]
fn memories_of_other_scopes_do_not_hide_those_of_ones_own() {
    let (_folder, service) = opened();
    let [old, new] = renamed(&service);
    for number in 0..20 {
        let note = StoreRequest {
            scope: Some(format!("project:p{number}")),
            ..memory(&format!("Lunch number {number} has {} guests.", number * 7))
        };
        store(&service, note);
    }
    assert_eq!(branch(&service, None), [new.id, old.id]);
}

#[test]
fn a_request_made_again_replaces_nothing_that_came_after_it() {
    let (_folder, service) = opened();
    let first = StoreRequest {
        request_id: Some("first".to_owned()),
        ..memory(OLD)
    };
    let stored = store(&service, first.clone());
    let newer = store(&service, memory(NEW));
    assert_eq!(newer.seems_to_replace[0].id, stored.id);
    let again = store(&service, first);
    assert_eq!(again.id, stored.id);
    assert!(again.seems_to_replace.is_empty(), "{again:?}");
}

const PORT: &str = "The API listens on port 8080";
const OTHER_PORT: &str = "The API listens on port 9090";

fn link(service: &Service, from: &str, to: &str, relation: &str) {
    let link = LinkRequest {
        from: from.to_owned(),
        to: to.to_owned(),
        relation: relation.to_owned(),
        ..LinkRequest::default()
    };
    service.link(&Caller::default(), &link).expect("it links");
}

/// Returns the results of a recall of the port.
fn port(service: &Service) -> Vec<icm_api::RecallHit> {
    results(service, "API port", None)
}

fn results(service: &Service, query: &str, limit: Option<usize>) -> Vec<icm_api::RecallHit> {
    let request = RecallRequest {
        query: query.to_owned(),
        limit,
        ..RecallRequest::default()
    };
    let answer = service.recall(&Caller::default(), &request);
    answer.expect("it answers").results
}

fn named(receipt: &icm_api::Receipt) -> Vec<&String> {
    receipt.seems_to_replace.iter().map(|old| &old.id).collect()
}

#[test]
fn a_text_that_was_replaced_is_stored_again_and_counts() {
    for is_linked in [false, true] {
        let (_folder, service) = opened();
        let first = store(&service, memory(PORT));
        let second = store(&service, memory(OTHER_PORT));
        assert_eq!(named(&second), [&first.id]);
        if is_linked {
            link(&service, &second.id, &first.id, "supersedes");
        }
        let keyed = StoreRequest {
            request_id: Some("back".to_owned()),
            ..memory(PORT)
        };
        let back = store(&service, keyed.clone());
        assert_eq!(back.action, Action::Stored, "linked: {is_linked}");
        assert_eq!(named(&back), [&second.id], "linked: {is_linked}");
        assert_eq!(store(&service, keyed), back, "the first receipt");
        let results = port(&service);
        assert_eq!(results[0].memory.id, back.id);
        assert_eq!(results[1].seems_replaced_by.as_ref(), Some(&back.id));
        // The new memory has the text now, whichever of the two is asked for.
        for again in [memory(PORT), memory(PORT)] {
            let again = store(&service, again);
            assert_eq!((again.action, &again.id), (Action::Unchanged, &back.id));
        }
        let forth = store(&service, memory(OTHER_PORT));
        assert_eq!(forth.action, Action::Stored);
        assert_eq!(named(&forth)[0], &back.id);
        assert_eq!(port(&service)[0].memory.id, forth.id);
    }
}

#[test]
fn a_value_that_comes_back_counts_again() {
    for (first, second, query) in [
        (
            "Our meeting room is Alpha.",
            "Our meeting room is Beta.",
            "meeting room",
        ),
        ("Database: MySQL", "Database: PostgreSQL", "database"),
        (
            "The default branch is master.",
            "The default branch is main.",
            "default branch",
        ),
        (
            "Anna lives in Berlin.",
            "Anna lives in Hamburg now.",
            "where does Anna live",
        ),
        ("We use npm.", "We use pnpm now.", "what do we use"),
        (
            "We use yarn.",
            "We switched from yarn to bun.",
            "what do we use",
        ),
    ] {
        let (_folder, service) = opened();
        let at = |content: &str, day: &str| StoreRequest {
            occurred_at: Some(day.to_owned()),
            ..memory(content)
        };
        let was = store(&service, at(first, "2020-01-05"));
        let then = store(&service, at(second, "2020-02-05"));
        assert_eq!(named(&then), [&was.id], "{second}");
        let back = store(&service, memory(first));
        assert_eq!(back.action, Action::Stored, "{first}");
        assert_eq!(named(&back)[0], &then.id, "{first}");
        let results = results(&service, query, None);
        assert_eq!(results[0].memory.id, back.id, "{query}: {results:#?}");
        let again = store(&service, memory(first));
        assert_eq!((again.action, &again.id), (Action::Unchanged, &back.id));
    }
}

#[test]
fn a_text_that_was_replaced_long_ago_counts_again_too() {
    let (_folder, service) = opened();
    store(&service, memory(PORT));
    let second = store(&service, memory(OTHER_PORT));
    for number in 0..30 {
        let note = format!("Lunch number {number} has {} guests.", number * 7);
        store(&service, memory(&note));
    }
    let request = StoreRequest {
        request_id: Some("back".to_owned()),
        ..memory(PORT)
    };
    let back = store(&service, request.clone());
    assert_eq!(back.action, Action::Stored);
    assert_eq!(named(&back), [&second.id]);
    let again = store(&service, request);
    assert_eq!((&again.event, named(&again)), (&back.event, named(&back)));
}

#[test]
fn a_text_that_nothing_replaces_stays_unchanged() {
    let (_folder, service) = opened();
    let first = store(&service, memory(PORT));
    let second = store(&service, memory(OTHER_PORT));
    // Both hold.
    link(&service, &second.id, &first.id, "related");
    let again = store(&service, memory(PORT));
    assert_eq!((again.action, &again.id), (Action::Unchanged, &first.id));
    // The memory that superseded the first one is gone.
    let (_folder, service) = opened();
    let first = store(&service, memory(PORT));
    let second = store(&service, memory(OTHER_PORT));
    link(&service, &second.id, &first.id, "supersedes");
    service
        .forget(&Caller::default(), std::slice::from_ref(&second.id))
        .expect("it forgets");
    let again = store(&service, memory(PORT));
    assert_eq!((again.action, &again.id), (Action::Unchanged, &first.id));
}

#[test]
fn a_text_is_not_stored_again_if_that_would_change_no_answer() {
    // A value that begins to hold later replaces what is stored now as well.
    let (_folder, service) = opened();
    let first = store(&service, memory(PORT));
    let later = StoreRequest {
        occurred_at: Some("2200-01-01".to_owned()),
        ..memory(OTHER_PORT)
    };
    store(&service, later);
    let again = store(&service, memory(PORT));
    assert_eq!((again.action, &again.id), (Action::Unchanged, &first.id));
    // A foreign text pushes nothing aside.
    let (_folder, service) = opened();
    let foreign = StoreRequest {
        trust: Trust::External,
        ..memory(PORT)
    };
    let first = store(&service, foreign.clone());
    store(&service, memory(OTHER_PORT));
    let again = store(&service, foreign);
    assert_eq!((again.action, &again.id), (Action::Unchanged, &first.id));
}

#[test]
fn of_two_memories_with_one_text_the_one_that_counts_is_shown() {
    let (_folder, service) = opened();
    // The first memory ranks higher.
    let found_better = StoreRequest {
        keywords: ["gateway", "ingress", "entry"].map(str::to_owned).to_vec(),
        ..memory(PORT)
    };
    let first = store(&service, found_better);
    let second = store(&service, memory(OTHER_PORT));
    let back = store(&service, memory(PORT));
    for limit in [None, Some(1)] {
        let results = results(&service, "gateway ingress entry API port", limit);
        let ids: Vec<&String> = results.iter().map(|hit| &hit.memory.id).collect();
        let both = [&back.id, &second.id];
        assert_eq!(ids, both[..limit.unwrap_or(2)]);
        assert_eq!(results[0].repeats, std::slice::from_ref(&first.id));
    }
}

#[test]
fn a_key_that_is_stored_again_settles_what_its_memory_says() {
    let keyed = |topic: &str, content: &str| StoreRequest {
        topic: topic.to_owned(),
        key: Some("port".to_owned()),
        ..memory(content)
    };
    let (_folder, service) = opened();
    let first = store(&service, keyed("infra", PORT));
    store(&service, memory(OTHER_PORT));
    std::thread::sleep(Duration::from_millis(2));
    let again = store(&service, keyed("infra", PORT));
    assert_eq!((again.action, &again.id), (Action::Updated, &first.id));
    assert!(again.position > first.position + 1);
    let guesses = |service: &Service| {
        let results = port(service);
        let told = results
            .iter()
            .filter(|hit| !hit.seems_to_replace.is_empty() || hit.seems_replaced_by.is_some());
        told.count()
    };
    assert_eq!(guesses(&service), 0);
    let unchanged = store(&service, keyed("infra", PORT));
    assert_eq!(unchanged.action, Action::Unchanged);
    // Two topics may use one key: each memory then has its own name.
    let (_folder, service) = opened();
    store(&service, keyed("infra", PORT));
    store(&service, keyed("elsewhere", OTHER_PORT));
    assert_eq!(guesses(&service), 0);
}

#[test]
fn a_receipt_names_no_memory_that_is_superseded() {
    let (_folder, service) = opened();
    let first = store(&service, memory(PORT));
    let second = store(&service, memory(OTHER_PORT));
    link(&service, &second.id, &first.id, "supersedes");
    let request = StoreRequest {
        request_id: Some("third".to_owned()),
        ..memory("The API listens on port 7070")
    };
    let third = store(&service, request.clone());
    assert_eq!(named(&third), [&second.id]);
    link(&service, &third.id, &second.id, "supersedes");
    assert_eq!(store(&service, request), third, "the first receipt");
}
