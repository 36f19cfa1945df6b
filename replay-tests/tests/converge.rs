//! Stores that exchanged their exports give equal answers to the byte: lists and memories as JSON, in the same order.
//! `merge.rs` compares rows of chains that were copied by hand.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use icm_api::error::ServiceError;
use icm_api::{
    Caller, Conflict, ConflictsRequest, ExportSince, Importance, LinkRequest, ListRequest,
    NoProgress, RecallRequest, SettleRequest, Sort, StoreRequest, UndoRequest, UpdateRequest,
};
use icm_log::disk::RealDisk;
use icm_log::facts::{MemoryRecalled, Recalled};
use icm_log::{Cursor, Durability, Kind, Log, NewEvent, SubjectId};
use icm_projections::Views;
use icm_service::{ExportFile, Service};
use proptest::prelude::*;
use replay_tests::env::SimEnv;
use replay_tests::{folder, judge, logbed, store};

/// Time for which a rebuild waits for another one.
const WAIT: Duration = Duration::from_secs(10);
const MACHINES: usize = 3;
const TOPICS: [&str; 2] = ["prefs", "deploy"];
const KEYS: [&str; 2] = ["tea", "port"];
const WORDS: [&str; 3] = ["red", "green", "blue"];

/// An action on one of the machines. Numbers pick from the things that exist.
#[derive(Debug, Clone)]
enum Op {
    Store {
        topic: usize,
        key: Option<usize>,
        word: usize,
    },
    Move {
        pick: usize,
        topic: usize,
    },
    Update {
        pick: usize,
        word: usize,
        important: bool,
    },
    Forget {
        pick: usize,
    },
    /// Settles a conflict with the shown value, or with another one.
    Settle {
        pick: usize,
        other: bool,
    },
    Recall {
        word: usize,
    },
    Link {
        from: usize,
        to: usize,
    },
    Unlink {
        from: usize,
        to: usize,
    },
    Undo {
        pick: usize,
        only: bool,
    },
    /// Imports an export of another machine.
    Take {
        from: usize,
    },
    /// Rebuilds with so many events a chunk; a chunk may end within the events of an import.
    Rebuild {
        chunk: u64,
    },
    DropViews,
}

fn op() -> impl Strategy<Value = Op> {
    let pick = || 0..64_usize;
    let topic = || 0..TOPICS.len();
    let key = prop::option::weighted(0.8, 0..KEYS.len());
    prop_oneof![
        8 => (topic(), key, 0..WORDS.len())
            .prop_map(|(topic, key, word)| Op::Store { topic, key, word }),
        2 => (pick(), topic()).prop_map(|(pick, topic)| Op::Move { pick, topic }),
        4 => (pick(), 0..WORDS.len(), any::<bool>())
            .prop_map(|(pick, word, important)| Op::Update { pick, word, important }),
        1 => pick().prop_map(|pick| Op::Forget { pick }),
        2 => (pick(), any::<bool>()).prop_map(|(pick, other)| Op::Settle { pick, other }),
        8 => (0..WORDS.len()).prop_map(|word| Op::Recall { word }),
        6 => (pick(), pick()).prop_map(|(from, to)| Op::Link { from, to }),
        2 => (pick(), pick()).prop_map(|(from, to)| Op::Unlink { from, to }),
        5 => (pick(), any::<bool>()).prop_map(|(pick, only)| Op::Undo { pick, only }),
        7 => (0..MACHINES).prop_map(|from| Op::Take { from }),
        1 => (1..6_u64).prop_map(|chunk| Op::Rebuild { chunk }),
        1 => Just(Op::DropViews),
    ]
}

struct Machine {
    service: Option<Service>,
    env: Arc<SimEnv>,
    folder: tempfile::TempDir,
}

/// Accepts the errors of a command that has nothing to do, and no others.
fn may_refuse<T>(done: icm_api::error::Result<T>) {
    if let Err(error) = done {
        let refused = matches!(
            error,
            ServiceError::Invalid { .. }
                | ServiceError::NotFound { .. }
                | ServiceError::Nothing { .. }
        );
        assert!(refused, "{error}");
    }
}

impl Machine {
    fn new(seed: usize) -> Machine {
        let mut machine = Machine {
            service: None,
            env: Arc::new(SimEnv::new(seed as u64)),
            folder: tempfile::tempdir().expect("a temporary folder"),
        };
        machine.open();
        // All machines store a memory at the same time, so that ids decide.
        machine.step(&Op::Store {
            topic: 0,
            key: Some(0),
            word: seed % WORDS.len(),
        });
        machine
    }

    fn dir(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    fn open(&mut self) {
        let service = store::open(&self.dir(), self.env.clone());
        self.service = Some(service.expect("it opens"));
    }

    fn service(&self) -> &Service {
        self.service.as_ref().expect("it is open")
    }

    fn pick(&self, pick: usize) -> Option<String> {
        let request = ListRequest {
            forgotten: true,
            ..ListRequest::default()
        };
        let list = self.service().list(&request).expect("it lists");
        let index = pick.checked_rem(list.len())?;
        Some(list[index].id.clone())
    }

    fn conflicts(&self) -> Vec<Conflict> {
        let all = self.service().conflicts(&ConflictsRequest::default());
        all.expect("it lists").conflicts
    }

    fn link(&self, from: usize, to: usize) -> Option<LinkRequest> {
        Some(LinkRequest {
            from: self.pick(from)?,
            to: self.pick(to)?,
            relation: "related".to_owned(),
            reason: None,
            allow_secret: false,
        })
    }

    /// Does an action; `None` if it makes no sense here.
    fn step(&mut self, op: &Op) -> Option<()> {
        self.env.advance_ms(1_000);
        let caller = Caller::default();
        match op {
            Op::Store { topic, key, word } => {
                let request = StoreRequest {
                    topic: TOPICS[*topic].to_owned(),
                    content: format!("the {} one", WORDS[*word]),
                    key: key.map(|key| KEYS[key].to_owned()),
                    ..StoreRequest::default()
                };
                self.service().store(&caller, request).expect("it stores");
            }
            Op::Move { pick, topic } => {
                let request = UpdateRequest {
                    id: self.pick(*pick)?,
                    topic: Some(TOPICS[*topic].to_owned()),
                    ..UpdateRequest::default()
                };
                may_refuse(self.service().update(&caller, request));
            }
            Op::Update {
                pick,
                word,
                important,
            } => {
                let request = UpdateRequest {
                    id: self.pick(*pick)?,
                    content: Some(format!("the {} one", WORDS[*word])),
                    importance: important.then_some(Importance::High),
                    ..UpdateRequest::default()
                };
                may_refuse(self.service().update(&caller, request));
            }
            Op::Settle { pick, other } => {
                let conflicts = self.conflicts();
                let index = pick.checked_rem(conflicts.len())?;
                let conflict = &conflicts[index];
                let request = SettleRequest {
                    id: conflict.id.clone(),
                    fields: vec![conflict.field.clone()],
                    take: other.then(|| conflict.others[0].event.clone()),
                };
                let settled = self.service().settle_conflict(&caller, &request);
                let done = settled.is_ok();
                may_refuse(settled);
                if done {
                    let open = self.conflicts();
                    let of = |it: &Conflict| (it.id.clone(), it.field.clone());
                    assert!(open.iter().all(|it| of(it) != of(conflict)));
                }
            }
            Op::Forget { pick } => {
                may_refuse(self.service().forget(&caller, &[self.pick(*pick)?]));
            }
            Op::Recall { word } => {
                let request = RecallRequest {
                    query: format!("{} one", WORDS[*word]),
                    record: true,
                    floor: Some(0.0),
                    ..RecallRequest::default()
                };
                let recalled = self.service().recall(&caller, &request);
                recalled.expect("it recalls");
                self.service().record_recalls();
            }
            Op::Link { from, to } => {
                may_refuse(self.service().link(&caller, &self.link(*from, *to)?));
            }
            Op::Unlink { from, to } => {
                may_refuse(self.service().unlink(&caller, &self.link(*from, *to)?));
            }
            Op::Undo { pick, only } => {
                let end = self.service().basis(None).expect("there is one").position;
                let position = (end > 0).then(|| 1 + *pick as u64 % end)?;
                let request = UndoRequest {
                    events: vec![format!("@{position}")],
                    only: *only,
                    ..UndoRequest::default()
                };
                may_refuse(self.service().undo(&caller, &request));
            }
            Op::Take { .. } => {}
            Op::Rebuild { chunk } => self.rebuild(*chunk),
            Op::DropViews => {
                drop(self.service.take());
                folder::remove(&self.dir().join("views"));
                self.open();
            }
        }
        Some(())
    }

    fn rebuild(&self, chunk: u64) {
        let log = Log::open(Arc::new(RealDisk), &self.dir()).expect("it opens");
        let views = self.dir().join("views");
        let built = Views::rebuild_in_chunks(&views, &log, WAIT, chunk, &mut |_| {});
        let built = built.expect("it builds").tally().state_hash();
        let folder = tempfile::tempdir().expect("a folder");
        let whole = Views::build_table(folder.path(), &log, &mut |_| {});
        assert_eq!(whole.expect("it builds").state_hash(), built);
    }

    fn export(&self) -> PathBuf {
        let path = self.folder.path().join("export");
        let mut file = std::fs::File::create(&path).expect("created");
        let exported = self
            .service()
            .export_log(&ExportSince::Start, &mut file, &NoProgress);
        exported.expect("exported");
        path
    }

    /// Imports an export. Returns `true` if any of it was new.
    fn take(&self, export: &Path) -> bool {
        self.env.advance_ms(1_000);
        let file = ExportFile::open(export).expect("it is there");
        let caller = Caller::default();
        let taken = self
            .service()
            .import_log(&caller, &file, false, &NoProgress);
        taken.expect("imported").added > 0
    }

    /// Returns all answers that must be equal on machines with the same events, as they are printed.
    fn answers(&self) -> Vec<String> {
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
                let list = self.service().list(&request).expect("it lists");
                answers.extend(list.into_iter().map(print));
            }
        }
        let conflicts = self.conflicts();
        let all = self.service().list(&ListRequest::default());
        for memory in all.expect("it lists") {
            let one = self.service().get(&memory.id, None).expect("it was listed");
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
                ..one
            };
            assert_eq!(one, memory);
        }
        let print = |conflict| serde_json::to_string(&conflict).expect("it is JSON");
        answers.extend(conflicts.into_iter().map(print));
        // Scores and order depend on the state, not on the way to it.
        for query in ["red", "green one", "which of them are blue or red"] {
            let request = RecallRequest {
                query: query.to_owned(),
                floor: Some(0.0),
                limit: Some(50),
                ..RecallRequest::default()
            };
            let found = self.service().recall(&Caller::default(), &request);
            let found = found.expect("it recalls").results.into_iter();
            answers.extend(found.map(|hit| {
                let (id, score, fit) = (hit.memory.id, hit.score, hit.fit);
                format!("{query}: {id} {score} {fit} {:?}", hit.matched)
            }));
        }
        answers
    }
}

/// Runs a script, lets all machines exchange until nothing is new, and returns their answers.
fn answers(script: &[(usize, Op)]) -> Vec<Vec<String>> {
    let mut machines: Vec<Machine> = (0..MACHINES).map(Machine::new).collect();
    for (at, op) in script {
        match op {
            Op::Take { from } if from != at => {
                let export = machines[*from].export();
                machines[*at].take(&export);
            }
            op => _ = machines[*at].step(op),
        }
    }
    let mut new = true;
    while new {
        new = false;
        for from in 0..MACHINES {
            let export = machines[from].export();
            for to in (0..MACHINES).filter(|to| *to != from) {
                new |= machines[to].take(&export);
            }
        }
    }
    machines.iter().map(Machine::answers).collect()
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
    let (a, mut b) = (Machine::new(1), Machine::new(2));
    let id = |machine: &Machine| machine.pick(0).expect("it stored one");
    let ids = [id(&a), id(&b)];
    let counts = |machine: &Machine| {
        let counts = ids.each_ref().map(|id| {
            let why = machine.service().why(id, 10).expect("it is there");
            assert_eq!(why.recalls_total, why.memory.access_count);
            why.memory.access_count
        });
        assert_eq!(counts[0], counts[1]);
        counts[0]
    };
    b.take(&a.export());
    let log = Log::open(Arc::new(RealDisk), &b.dir()).expect("it opens");
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
        }
        .encode(),
        payload: vec![0x80],
    };
    logbed::append(&log, &*b.env, vec![recalled], Durability::Synced).expect("it appends");
    assert_eq!(counts(&b), 1);
    let recall = log
        .refresh()
        .map(|()| log.tip().expect("it is there").position);
    let recall = recall.expect("it reads");
    b.service().rebuild(&NoProgress).expect("it builds");
    b.step(&Op::Recall { word: 1 });
    assert_eq!(counts(&b), 2);
    a.take(&b.export());
    assert_eq!(counts(&a), 2);
    // An undo takes all of it away; an earlier moment still has it.
    let before = b.service().basis(None).expect("there is one").position;
    let request = UndoRequest {
        events: vec![format!("@{}", recall.0)],
        ..UndoRequest::default()
    };
    let undone = b.service().undo(&Caller::default(), &request);
    undone.expect("undone");
    let memory = b.service().get(&ids[0], None).expect("it is there");
    assert_eq!(memory.access_count, 1);
    let then = b.service().get(&ids[0], Some(&format!("@{before}")));
    assert_eq!(then.expect("it was there").access_count, 2);
}
