//! Stores that exchanged their exports give equal answers to the byte: lists and memories as JSON, in the same order.
//! `merge/` compares rows of chains that were copied by hand.

use std::ops::ControlFlow;
use std::time::Duration;

use icm_api::{
    Caller, Conflict, ConflictsRequest, ListRequest, RecallRequest, SettleRequest, Sort,
};
use icm_log::facts::{MemoryRecalled, Recalled};
use icm_log::{Cursor, Durability, Kind, NewEvent, SubjectId};
use icm_projections::Views;
use icm_service::Service;
use proptest::prelude::*;
use proptest::sample::select;
use replay_tests::world::{Machine, carry, may_refuse, meet};
use replay_tests::{judge, logbed};

/// Time for which a rebuild waits for another one.
const WAIT: Duration = Duration::from_secs(10);
const MACHINES: usize = 3;
const TOPICS: [&str; 2] = ["prefs", "deploy"];
const KEYS: [&str; 2] = ["tea", "port"];
const WORDS: [&str; 3] = ["red", "green", "blue"];

/// An action on one of the machines. Numbers pick from the things that exist.
#[derive(Debug, Clone)]
enum Op {
    /// A line of the script language.
    Do(String),
    /// Settles a conflict with the shown value, or with another one.
    Settle(usize, bool),
    /// Imports an export of another machine.
    Take(usize),
    /// Rebuilds with so many events a chunk; a chunk may end within the events of an import.
    Rebuild(u64),
}

fn store_line(topic: usize, key: Option<usize>, word: usize) -> String {
    let key = key.map_or(String::new(), |key| format!(" --key {}", KEYS[key]));
    let (topic, word) = (TOPICS[topic], WORDS[word]);
    format!("store $m -t {topic} -c \"the {word} one\"{key}")
}

fn line() -> impl Strategy<Value = String> {
    let pick = || 0..64_usize;
    let word = || select(&WORDS[..]);
    let key = prop::option::weighted(0.8, 0..KEYS.len());
    let or_not = |option| select(vec!["", option]);
    prop_oneof![
        8 => (0..TOPICS.len(), key, 0..WORDS.len())
            .prop_map(|(topic, key, word)| store_line(topic, key, word)),
        2 => (pick(), select(&TOPICS[..])).prop_map(|(n, topic)| format!("update ${n} -t {topic}")),
        4 => (pick(), word(), or_not(" -i high"))
            .prop_map(|(n, word, high)| format!("update ${n} -c \"the {word} one\"{high}")),
        1 => pick().prop_map(|n| format!("forget ${n}")),
        8 => word().prop_map(|word| format!("recall \"{word} one\" --floor 0 --record")),
        6 => (pick(), pick()).prop_map(|(from, to)| format!("link ${from} ${to} -r related")),
        2 => (pick(), pick()).prop_map(|(from, to)| format!("unlink ${from} ${to} -r related")),
        5 => (pick(), or_not(" --only")).prop_map(|(n, only)| format!("undo %{n}{only}")),
        1 => Just("drop-views".to_owned()),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        37 => line().prop_map(Op::Do),
        2 => (0..64_usize, any::<bool>()).prop_map(|(pick, other)| Op::Settle(pick, other)),
        7 => (0..MACHINES).prop_map(Op::Take),
        1 => (1..6_u64).prop_map(Op::Rebuild),
    ]
}

fn conflicts(service: &Service) -> Vec<Conflict> {
    let all = service.conflicts(&ConflictsRequest::default());
    all.expect("it lists").conflicts
}

fn settle(service: &Service, pick: usize, other: bool) {
    let all = conflicts(service);
    let Some(index) = pick.checked_rem(all.len()) else {
        return;
    };
    let conflict = &all[index];
    let request = SettleRequest {
        id: conflict.id.clone(),
        fields: vec![conflict.field.clone()],
        take: other.then(|| conflict.others[0].event.clone()),
        seen: Vec::new(),
    };
    if may_refuse(service.settle_conflict(&Caller::default(), &request)).is_some() {
        let of = |it: &Conflict| (it.id.clone(), it.field.clone());
        assert!(conflicts(service).iter().all(|it| of(it) != of(conflict)));
    }
}

fn rebuild(machine: &Machine, chunk: u64) {
    let log = machine.log();
    let views = machine.dir().join("views");
    let built = Views::rebuild_in_chunks(&views, &log, WAIT, chunk, &mut |_| {});
    let built = built.expect("it builds").tally().state_hash();
    let folder = tempfile::tempdir().expect("a folder");
    let whole = Views::build_table(folder.path(), &log, &mut |_| {});
    assert_eq!(whole.expect("it builds").state_hash(), built);
}

/// Returns all answers that must be equal on machines with the same events, as they are printed.
fn told(service: &Service) -> Vec<String> {
    let mut answers = Vec::new();
    let print = |memory| serde_json::to_string(&memory).expect("it is JSON");
    for sort in [Sort::Created, Sort::Weight, Sort::Accessed] {
        for (topic, limit) in [(None, None), (Some(TOPICS[0]), None), (None, Some(2))] {
            let request = ListRequest {
                topic: topic.map(str::to_owned),
                limit,
                sort,
                forgotten: true,
                ..ListRequest::default()
            };
            answers.push(format!("{sort:?} {topic:?} {limit:?}"));
            let list = service.list(&request).expect("it lists");
            answers.extend(list.into_iter().map(print));
        }
    }
    let conflicts = conflicts(service);
    let all = service.list(&ListRequest::default());
    for memory in all.expect("it lists") {
        let one = service.get(&memory.id, None).expect("it was listed");
        let open = conflicts.iter().filter(|it| it.id == memory.id);
        let mut open: Vec<_> = open.map(|it| it.field.clone()).collect();
        let mut told = one.conflicts.clone();
        open.sort_unstable();
        told.sort_unstable();
        assert_eq!(told, open);
        // Some fields are filled only if one memory is asked for.
        let one = icm_api::Memory {
            often_together: Vec::new(),
            conflicts: Vec::new(),
            authors: None,
            ..one
        };
        assert_eq!(one, memory);
    }
    let print = |conflict| serde_json::to_string(&conflict).expect("it is JSON");
    answers.extend(conflicts.into_iter().map(print));
    // Scores and order depend on the state, not on the way to it.
    for query in ["red", "green one", "which of them are blue or red"] {
        let request = RecallRequest {
            floor: Some(0.0),
            limit: Some(50),
            ..RecallRequest::new(query)
        };
        let found = service.recall(&Caller::default(), &request);
        let found = found.expect("it recalls").results.into_iter();
        answers.extend(found.map(|hit| {
            let (id, score, fit) = (hit.memory.id, hit.score, hit.fit);
            format!("{query}: {id} {score} {fit} {:?}", hit.matched)
        }));
    }
    answers
}
/// Returns a machine with a memory. All machines store it at the same time, so that ids decide.
fn stored(seed: usize) -> Machine {
    let mut machine = Machine::new(seed);
    machine.act(&store_line(0, Some(0), seed % WORDS.len()));
    machine
}

/// Runs a script, lets all machines exchange until nothing is new, and returns their answers.
fn answers(script: &[(usize, Op)]) -> Vec<Vec<String>> {
    let mut machines: Vec<Machine> = (0..MACHINES).map(stored).collect();
    for (at, op) in script {
        match op {
            Op::Take(from) if from != at => _ = carry(&mut machines, *from, *at),
            Op::Take(_) => {}
            Op::Do(line) => machines[*at].act(line),
            Op::Settle(pick, other) => settle(machines[*at].service(), *pick, *other),
            Op::Rebuild(chunk) => rebuild(&machines[*at], *chunk),
        }
    }
    meet(&mut machines);
    machines.iter().map(|it| told(it.service())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..judge::config(24)
    })]

    #[test]
    fn equal_sets_of_events_give_equal_answers(
        script in prop::collection::vec((0..MACHINES, op()), 1..50),
    ) {
        let answers = answers(&script);
        for other in &answers[1..] {
            prop_assert_eq!(other, &answers[0]);
        }
    }
}

/// Two machines store a memory under the same key. A recall by a machine that did not know the key shows both ids: it
/// showed one memory, once.
#[test]
fn a_recall_that_shows_two_ids_of_a_memory_counts_once() {
    let mut machines = [stored(1), stored(2)];
    let ids = machines.each_ref().map(|it| it.run.id("$0"));
    let counts = |machine: &Machine| {
        let counts = ids.each_ref().map(|id| {
            let why = machine.service().why(id, 10).expect("it is there");
            assert_eq!(why.recalls_total, why.memory.access_count);
            why.memory.access_count
        });
        assert_eq!(counts[0], counts[1]);
        counts[0]
    };
    carry(&mut machines, 0, 1);
    let log = machines[1].log();
    let mut stored = Vec::new();
    log.scan(&Cursor::START, &mut |event| {
        if event.head.kind() == Kind::MEMORY_STORED {
            stored.push(event.head.subject());
        }
        ControlFlow::Continue(())
    })
    .expect("it reads");
    assert_eq!(stored.len(), 2);
    let results = stored.into_iter().zip(1..);
    let results = results.map(|(id, rank)| Recalled { id, rank });
    let tip = log.tip().expect("it has events");
    let recalled = NewEvent {
        kind: Kind::MEMORY_RECALLED,
        subject: SubjectId::ZERO,
        refs: Vec::new(),
        facts: MemoryRecalled {
            basis_position: tip.position,
            basis_event: tip.event,
            results: results.collect(),
            shown: None,
            moment_ms: None,
        }
        .encode(),
        payload: vec![0x80],
    };
    let b = &mut machines[1];
    logbed::append(&log, &**b.run.env(), vec![recalled], Durability::Synced).expect("it appends");
    assert_eq!(counts(b), 1);
    let recall = log
        .refresh()
        .map(|()| log.tip().expect("it is there").position);
    let recall = recall.expect("it reads");
    b.act("rebuild");
    b.act("recall \"green one\" --floor 0 --record");
    assert_eq!(counts(b), 2);
    carry(&mut machines, 1, 0);
    assert_eq!(counts(&machines[0]), 2);
    // An undo takes all of it away; an earlier moment still has it.
    let b = &mut machines[1];
    let before = b.end();
    b.act(&format!("undo @{}", recall.0));
    let memory = b.service().get(&ids[0], None).expect("it is there");
    assert_eq!(memory.access_count, 1);
    let then = b.service().get(&ids[0], Some(&format!("@{before}")));
    assert_eq!(then.expect("it was there").access_count, 2);
}
