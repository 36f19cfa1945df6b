//! Invariants 9 to 11, 14 to 17, 20 and 25 of stores that learn from each other: the state is a function of the set of
//! events, in whatever order they were learned.
//!
//! Chains are copied by hand here: another store's segments are copied, and a `log.imported` says how far they were
//! learned. Events beyond that wait to be learned, as they may in a real store.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use icm_api::{
    Caller, ConsolidateRequest, DecayRequest, LinkRequest, ListRequest, Memory, NoProgress,
    PruneRequest, RecallRequest, StoreRequest, UndoRequest, UpdateRequest, VerifyReport, Version,
};
use icm_log::disk::RealDisk;
use icm_log::env::Env;
use icm_log::facts::{
    Alive, ClientCode, Covered, Front, Importance, ImportedRange, LogImported, LogUndone,
    MemoryConsolidated, MemoryDecayed, MemoryLinked, MemoryPinned, MemoryPruned, MemoryRecalled,
    MemoryStored, MemoryUpdated, Recalled, Relation, Removal, ScopeKind, SessionCause,
    SessionStarted, Shown, Trust, UndoneRange, fields,
};
use icm_log::{
    Cursor, Durability, Event, EventId, Kind, Log, Name, NewEvent, OriginId, Position, ScopeId,
    Seq, SessionId, SubjectId, Waypoint, Waypoints, hash, payload,
};
use icm_projections::Views;
use icm_service::Service;
use proptest::prelude::*;
use replay_tests::env::SimEnv;
use replay_tests::{folder, judge, logbed, store};

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..judge::config(16)
    }
}

/// An action on one of the machines. Numbers pick from the things that exist.
#[derive(Debug, Clone)]
enum Op {
    Store {
        topic: usize,
        key: Option<usize>,
        word: usize,
    },
    Update {
        pick: usize,
        word: usize,
    },
    Move {
        pick: usize,
        topic: usize,
    },
    Weigh {
        pick: usize,
    },
    Words {
        pick: usize,
        words: BTreeSet<usize>,
    },
    Forget {
        pick: usize,
    },
    Revive {
        pick: usize,
    },
    Link {
        from: usize,
        to: usize,
    },
    Unlink {
        from: usize,
        to: usize,
    },
    Pin {
        pick: usize,
        away: bool,
    },
    Recall {
        word: usize,
    },
    Consolidate {
        topic: usize,
    },
    Decay {
        percent: u32,
    },
    Prune {
        percent: u32,
    },
    /// Undoes the command of an event, of the own chain or another.
    Undo {
        pick: usize,
        only: bool,
    },
    /// Appends an event that no command of today writes.
    Odd(Odd),
    Skew {
        hours: i64,
    },
    /// Learns of other chains, up to some place of each.
    Learn {
        upto: Vec<usize>,
    },
    Rebuild,
    Commit,
    DropViews,
}

/// Facts that fit no row, and refs that leave out events seen before: from a newer or a faulty version. The ids are
/// those of memories known to the machine.
#[derive(Debug, Clone)]
struct Odd {
    what: What,
    refs: BTreeSet<usize>,
    id: usize,
    other: usize,
    number: usize,
}

#[derive(Debug, Clone, Copy)]
enum What {
    /// With a name, and an id that may be new.
    Store,
    Update,
    Forget,
    Cover,
    Link,
    Unlink,
    Recall,
    Pin,
    Session,
    Decay,
    Prune,
    Undo,
}

fn odd() -> impl Strategy<Value = Odd> {
    let what = prop::sample::select(
        &[
            What::Store,
            What::Update,
            What::Forget,
            What::Cover,
            What::Link,
            What::Unlink,
            What::Recall,
            What::Pin,
            What::Session,
            What::Decay,
            What::Prune,
            What::Undo,
        ][..],
    );
    let refs = prop::collection::btree_set(0..64_usize, 0..4);
    (what, refs, 0..64_usize, 0..64_usize, 0..64_usize).prop_map(
        |(what, refs, id, other, number)| Odd {
            what,
            refs,
            id,
            other,
            number,
        },
    )
}

const FIRST: Op = Op::Store {
    topic: 0,
    key: None,
    word: 0,
};
const TOPICS: [&str; 2] = ["prefs", "deploy"];
const KEYS: [&str; 2] = ["tea", "port"];
const WORDS: [&str; 4] = ["red", "green", "blue", "grey"];

fn op(machines: usize) -> impl Strategy<Value = Op> {
    let pick = || 0..64_usize;
    let word = || 0..WORDS.len();
    let topic = || 0..TOPICS.len();
    let key = prop::option::weighted(0.7, 0..KEYS.len());
    prop_oneof![
        8 => (topic(), key, word()).prop_map(|(topic, key, word)| Op::Store { topic, key, word }),
        6 => (pick(), word()).prop_map(|(pick, word)| Op::Update { pick, word }),
        2 => (pick(), topic()).prop_map(|(pick, topic)| Op::Move { pick, topic }),
        2 => pick().prop_map(|pick| Op::Weigh { pick }),
        3 => (pick(), prop::collection::btree_set(word(), 0..3))
            .prop_map(|(pick, words)| Op::Words { pick, words }),
        3 => pick().prop_map(|pick| Op::Forget { pick }),
        2 => pick().prop_map(|pick| Op::Revive { pick }),
        4 => (pick(), pick()).prop_map(|(from, to)| Op::Link { from, to }),
        3 => (pick(), pick()).prop_map(|(from, to)| Op::Unlink { from, to }),
        3 => (pick(), any::<bool>()).prop_map(|(pick, away)| Op::Pin { pick, away }),
        3 => word().prop_map(|word| Op::Recall { word }),
        1 => topic().prop_map(|topic| Op::Consolidate { topic }),
        3 => (0..60_u32).prop_map(|percent| Op::Decay { percent }),
        2 => (30..100_u32).prop_map(|percent| Op::Prune { percent }),
        5 => (pick(), any::<bool>()).prop_map(|(pick, only)| Op::Undo { pick, only }),
        2 => (-30..30_i64).prop_map(|hours| Op::Skew { hours }),
        8 => prop::collection::vec(0..100_usize, machines).prop_map(|upto| Op::Learn { upto }),
        1 => Just(Op::Rebuild),
        1 => Just(Op::Commit),
        1 => Just(Op::DropViews),
    ]
}

fn scripts(machines: usize, odds: u32) -> impl Strategy<Value = Vec<(usize, Op)>> {
    let op = prop_oneof![10 => op(machines), odds => odd().prop_map(Op::Odd)];
    prop::collection::vec((0..machines, op), 1..40)
}

/// A chain: the id of each event, and `true` if a batch ends with it.
type Chain = Vec<(EventId, bool)>;

struct Machine {
    service: Option<Service>,
    env: Arc<SimEnv>,
    folder: tempfile::TempDir,
    /// Number of events learned of each chain.
    learned: BTreeMap<OriginId, usize>,
}

impl Machine {
    fn new(seed: u64) -> Machine {
        let mut machine = Machine {
            service: None,
            env: Arc::new(SimEnv::new(seed)),
            folder: tempfile::tempdir().expect("a temporary folder"),
            learned: BTreeMap::new(),
        };
        machine.open();
        // The machine needs a chain of its own for its imports.
        machine.step(&FIRST);
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

    fn log(&self) -> Log {
        Log::open(Arc::new(RealDisk), &self.dir()).expect("it opens")
    }

    /// Returns the own chains; a clock set back by more than a day begins another one.
    fn chains(&self) -> BTreeMap<OriginId, Chain> {
        let mut chains: BTreeMap<OriginId, Chain> = BTreeMap::new();
        let each = &mut |event: &Event<'_>| {
            if event.own {
                let ends = event.head.batch_index() + 1 == event.head.batch_count();
                let chain = chains.entry(event.head.origin()).or_default();
                chain.push((event.id, ends));
            }
            ControlFlow::Continue(())
        };
        self.log().scan(&Cursor::START, each).expect("it reads");
        chains
    }

    /// Learns of another chain up to an event that is in no batch or ends one.
    fn range(&mut self, origin: OriginId, chain: &Chain, upto: usize) -> Option<ImportedRange> {
        let known = self.learned.get(&origin).copied().unwrap_or(0);
        let upto = (known..upto.min(chain.len()))
            .rev()
            .find(|at| chain[*at].1)?
            + 1;
        self.learned.insert(origin, upto);
        Some(ImportedRange {
            origin,
            base: known.checked_sub(1).map_or(EventId::ZERO, |at| chain[at].0),
            head: chain[upto - 1].0,
            from_seq: Seq(known as u64 + 1),
            to_seq: Seq(upto as u64),
        })
    }

    fn import(&self, mut ranges: Vec<ImportedRange>) {
        if ranges.is_empty() {
            return;
        }
        ranges.sort();
        let event = NewEvent {
            kind: Kind::LOG_IMPORTED,
            subject: SubjectId::ZERO,
            refs: Vec::new(),
            facts: LogImported { ranges }.encode(),
            payload: vec![0x80],
        };
        let log = self.log();
        logbed::append(&log, &*self.env, vec![event], Durability::Synced).expect("it appends");
    }

    fn rows(&self) -> Vec<Memory> {
        let request = ListRequest {
            forgotten: true,
            ..ListRequest::default()
        };
        self.service().list(&request).expect("it lists")
    }

    fn histories(&self) -> Vec<Vec<Version>> {
        let ids = self.rows().into_iter().map(|memory| memory.id);
        ids.map(|id| self.service().history(&id).expect("it was listed"))
            .collect()
    }

    fn verified(&self) -> VerifyReport {
        let report = self.service().verify(&NoProgress);
        report.expect("it verifies")
    }

    fn drop_views(&mut self) {
        drop(self.service.take());
        folder::remove(&self.dir().join("views"));
        self.open();
    }

    fn pick(&self, pick: usize) -> Option<String> {
        let rows = self.rows();
        let mut ids: Vec<_> = rows.into_iter().map(|memory| memory.id).collect();
        ids.sort();
        (!ids.is_empty()).then(|| ids.swap_remove(pick % ids.len()))
    }

    fn content(word: usize) -> String {
        format!("the {} one", WORDS[word])
    }

    /// Does an action; `None` if it makes no sense here.
    fn step(&mut self, op: &Op) -> Option<()> {
        self.env.advance_ms(1_000);
        let caller = Caller::default();
        match op {
            Op::Store { topic, key, word } => {
                let request = StoreRequest {
                    topic: TOPICS[*topic].to_owned(),
                    content: Machine::content(*word),
                    keywords: vec![WORDS[*word].to_owned()],
                    key: key.map(|key| KEYS[key].to_owned()),
                    ..StoreRequest::default()
                };
                self.service().store(&caller, request).expect("it stores");
            }
            Op::Update { pick, word } => self.update(*pick, |request| {
                request.content = Some(Machine::content(*word));
            })?,
            Op::Move { pick, topic } => self.update(*pick, |request| {
                request.topic = Some(TOPICS[*topic].to_owned());
            })?,
            Op::Weigh { pick } => self.update(*pick, |request| {
                request.importance = Some(icm_api::Importance::Critical);
            })?,
            Op::Words { pick, words } => self.update(*pick, |request| {
                let words = words.iter().map(|word| WORDS[*word].to_owned());
                request.keywords = Some(words.collect());
            })?,
            Op::Forget { pick } => {
                let _ = self.service().forget(&caller, &[self.pick(*pick)?]);
            }
            Op::Revive { pick } => {
                let _ = self.service().revive(&caller, &self.pick(*pick)?);
            }
            Op::Link { from, to } => {
                let _ = self.service().link(&caller, &self.link(*from, *to)?);
            }
            Op::Unlink { from, to } => {
                let _ = self.service().unlink(&caller, &self.link(*from, *to)?);
            }
            Op::Pin { pick, away } => {
                let ids = [self.pick(*pick)?];
                let _ = match away {
                    true => self.service().unpin(&caller, &ids),
                    false => self.service().pin(&caller, &ids, None),
                };
            }
            Op::Recall { word } => {
                let request = RecallRequest {
                    query: WORDS[*word].to_owned(),
                    record: true,
                    floor: Some(0.0),
                    ..RecallRequest::default()
                };
                self.service()
                    .recall(&caller, &request)
                    .expect("it recalls");
                self.service().record_recalls();
            }
            Op::Consolidate { topic } => {
                let request = ConsolidateRequest {
                    topic: TOPICS[*topic].to_owned(),
                    summary: "all of it".to_owned().into(),
                    importance: None,
                    keywords: Vec::new(),
                    scope: None,
                    keep_originals: false,
                    allow_secret: false,
                    trust: icm_api::Trust::User,
                    request_id: None,
                };
                let _ = self.service().consolidate(&caller, &request);
            }
            Op::Decay { percent } => {
                let request = DecayRequest {
                    rate: Some(f64::from(*percent) / 100.0),
                    dry_run: false,
                };
                self.service().decay(&caller, &request).expect("it decays");
            }
            Op::Prune { percent } => {
                let request = PruneRequest {
                    threshold: Some(f64::from(*percent) / 100.0),
                    ..PruneRequest::default()
                };
                self.service().prune(&caller, &request).expect("it prunes");
            }
            Op::Undo { pick, only } => {
                let end = self.service().basis(None).expect("there is one").position;
                let position = (end > 0).then(|| 1 + *pick as u64 % end)?;
                let request = UndoRequest {
                    events: vec![format!("@{position}")],
                    only: *only,
                    ..UndoRequest::default()
                };
                let _ = self.service().undo(&caller, &request);
            }
            Op::Skew { hours } => self.env.advance_ms(hours * 3_600_000),
            Op::Rebuild => _ = self.service().rebuild(&NoProgress).ok()?,
            Op::Commit => {
                let (log, dir) = (self.log(), self.dir().join("views"));
                let mut views = Views::open(&dir, &log).ok()?;
                views.follow(&log).expect("it follows");
                let wait = Duration::from_secs(5);
                views.commit(&dir, &log, wait).expect("it commits");
            }
            Op::DropViews => self.drop_views(),
            Op::Odd(odd) => self.odd(odd),
            Op::Learn { .. } => {}
        }
        Some(())
    }

    fn odd(&self, odd: &Odd) {
        let log = self.log();
        let mut events = Vec::new();
        let mut ids = Vec::new();
        log.scan(&Cursor::START, &mut |event| {
            let head = &event.head;
            events.push((head.origin(), head.seq(), event.id));
            if head.kind().name().starts_with("memory.") {
                ids.push(head.subject());
            }
            ControlFlow::Continue(())
        })
        .expect("it reads");
        let pick = |number: usize| ids[number % ids.len()];
        let mut refs = odd.refs.iter().map(|n| events[n % events.len()].2);
        let mut fresh = [0; 16];
        self.env.fill_random(&mut fresh);
        let content = Machine::content(odd.number % WORDS.len());
        let stored = MemoryStored {
            fields: fields::ALL & !fields::EXPIRES,
            causal_length: 1,
            scope_kind: ScopeKind::Global,
            importance: Importance::Low,
            trust: Trust::External,
            keyword_count: 1,
            name: hash::memory_name(1, ScopeId::ZERO, TOPICS[0], KEYS[odd.other % KEYS.len()]),
            scope_id: ScopeId::ZERO,
        };
        let payload = payload::encode(&payload::MemoryStored {
            topic: TOPICS[0],
            content: &content,
            keywords: vec![WORDS[odd.other % WORDS.len()]],
            ..payload::MemoryStored::default()
        });
        let mut subject = pick(odd.id);
        let (kind, facts) = match odd.what {
            What::Store => {
                if odd.number.is_multiple_of(2) {
                    subject = SubjectId(fresh);
                }
                (Kind::MEMORY_STORED, stored.encode())
            }
            What::Update => {
                let facts = MemoryUpdated {
                    fields: fields::CONTENT | fields::IMPORTANCE,
                    scope_kind: None,
                    importance: Some(Importance::High),
                    trust: None,
                    keywords_added: 0,
                    name: Name::ZERO,
                    scope_id: ScopeId::ZERO,
                    removed: vec![Removal {
                        reference: 0,
                        index: 0,
                    }],
                };
                (Kind::MEMORY_UPDATED, facts.encode())
            }
            What::Forget => {
                let causal_length = odd.number as u32 % 6;
                (Kind::MEMORY_FORGOTTEN, Alive { causal_length }.encode())
            }
            What::Cover => {
                subject = SubjectId(fresh);
                let covers = [odd.id, odd.other].map(|id| Covered {
                    id: pick(id),
                    causal_length: odd.number as u32 % 6,
                });
                let covers = covers.to_vec();
                (
                    Kind::MEMORY_CONSOLIDATED,
                    MemoryConsolidated { stored, covers }.encode(),
                )
            }
            What::Link => {
                let facts = MemoryLinked {
                    other: pick(odd.other),
                    relation: match odd.number % 2 {
                        0 => Relation::RELATED,
                        _ => Relation::SIMILAR_TO,
                    },
                };
                (Kind::MEMORY_LINKED, facts.encode())
            }
            What::Unlink => (Kind::MEMORY_UNLINKED, Vec::new()),
            What::Recall => {
                let results = [odd.id, odd.other].into_iter().zip(1..);
                let results = results.map(|(id, rank)| Recalled { id: pick(id), rank });
                let facts = MemoryRecalled {
                    basis_position: Position(1),
                    basis_event: events[0].2,
                    results: results.collect(),
                    // No front, a known front, or one of a later version.
                    shown: (odd.number % 6).checked_sub(1).map(|front| Shown {
                        front: Front(front as u8),
                        tokens: odd.number as u32,
                    }),
                };
                (Kind::MEMORY_RECALLED, facts.encode())
            }
            What::Pin => match odd.number % 3 {
                0 => (Kind::MEMORY_UNPINNED, Vec::new()),
                number => {
                    let until_ms = (number as u64 - 1) * 4_000_000_000_000;
                    (Kind::MEMORY_PINNED, MemoryPinned { until_ms }.encode())
                }
            },
            What::Session => {
                subject = SubjectId::ZERO;
                let facts = SessionStarted {
                    parent: SessionId([odd.other as u8; 16]),
                    client: ClientCode(odd.number as u16),
                    cause: SessionCause(odd.number as u8 % 8),
                };
                (Kind::SESSION_STARTED, facts.encode())
            }
            What::Decay => {
                let today = u32::try_from(self.env.now_ms() / 86_400_000).expect("a day");
                let facts = MemoryDecayed {
                    // Some of the days have not come yet.
                    as_of_day: today + odd.id as u32 % 4 - 2,
                    rate_ppm: odd.number as u32 * 30_000,
                    critical_ppm: odd.other as u32 * 10_000,
                    high_ppm: 500_000,
                    medium_ppm: 1_000_000,
                    low_ppm: u32::MAX,
                };
                (Kind::MEMORY_DECAYED, facts.encode())
            }
            What::Prune => {
                let covers = [odd.id, odd.other].map(|id| Covered {
                    id: pick(id),
                    causal_length: odd.number as u32 % 6,
                });
                let facts = MemoryPruned {
                    threshold_ppm: 100_000,
                    covers: covers.to_vec(),
                };
                (Kind::MEMORY_PRUNED, facts.encode())
            }
            What::Undo => {
                let (origin, to_seq, head) = events[odd.id % events.len()];
                let from_seq = Seq(to_seq.0.saturating_sub(odd.number as u64 % 3).max(1));
                subject = SubjectId::ZERO;
                let range = UndoneRange {
                    origin,
                    from_seq,
                    to_seq,
                    head,
                };
                refs.by_ref().for_each(drop);
                (
                    Kind::LOG_UNDONE,
                    LogUndone {
                        ranges: vec![range],
                    }
                    .encode(),
                )
            }
        };
        let event = NewEvent {
            kind,
            subject,
            refs: refs.collect(),
            facts,
            payload,
        };
        logbed::append(&log, &*self.env, vec![event], Durability::Synced).expect("it appends");
    }

    fn update(&self, pick: usize, with: impl FnOnce(&mut UpdateRequest)) -> Option<()> {
        let mut request = UpdateRequest {
            id: self.pick(pick)?,
            ..UpdateRequest::default()
        };
        with(&mut request);
        let _ = self.service().update(&Caller::default(), request);
        Some(())
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
}

/// Machines that learn from each other.
struct World(Vec<Machine>);

impl World {
    fn new(machines: usize) -> World {
        World((0..machines as u64).map(Machine::new).collect())
    }

    fn step(&mut self, at: usize, op: &Op) {
        if let Op::Learn { upto } = op {
            self.learn(at, |other, len| len * (upto[other] + 1) / 80);
        } else {
            self.0[at].step(op);
        }
    }

    /// Learns of each chain as many events as `upto` says.
    fn learn(&mut self, at: usize, upto: impl Fn(usize, usize) -> usize) {
        let chains: Vec<_> = self.0.iter().map(Machine::chains).collect();
        let mut ranges = Vec::new();
        let others = chains.iter().enumerate().filter(|(other, _)| *other != at);
        for (other, (origin, chain)) in others.flat_map(|(n, all)| all.iter().map(move |c| (n, c)))
        {
            let upto = upto(other, chain.len());
            let Some(range) = self.0[at].range(*origin, chain, upto) else {
                continue;
            };
            let name = format!("log/{origin}");
            let files = folder::read(&self.0[other].dir().join(&name));
            folder::write(&self.0[at].dir().join(&name), &files);
            ranges.push(range);
        }
        self.0[at].import(ranges);
    }

    /// Lets all machines learn everything except the imports of the others, which change nothing.
    fn meet(&mut self) {
        for at in 0..self.0.len() {
            self.learn(at, |_, len| len);
        }
    }

    fn agree(&self) -> Result<(), TestCaseError> {
        let shown: Vec<_> = self.0.iter().map(Machine::rows).collect();
        let reports: Vec<_> = self.0.iter().map(Machine::verified).collect();
        for (shown_here, report) in shown.iter().zip(&reports) {
            prop_assert!(report.ok, "{report:#?}");
            prop_assert_eq!(shown_here, &shown[0]);
            prop_assert_eq!(&report.state_hash, &reports[0].state_hash);
        }
        Ok(())
    }
}

/// Runs a script, lets all machines learn everything, and checks that they agree.
fn run(machines: usize, script: &[(usize, Op)]) -> Result<World, TestCaseError> {
    let mut world = World::new(machines);
    for (at, op) in script {
        world.step(*at, op);
        if let Op::Learn { .. } = op {
            let report = world.0[*at].verified();
            prop_assert!(report.ok, "{report:#?}");
        }
    }
    world.meet();
    world.agree()?;
    Ok(world)
}

proptest! {
    #![proptest_config(config())]

    /// 10 and 11: machines that learned the same events, in any order and in any pieces, show the same, and so does a
    /// fresh fold.
    #[test]
    fn all_who_know_the_same_show_the_same(script in scripts(3, 1)) {
        run(3, &script)?;
    }

    /// The same holds for events that no command writes: no code relies on sensible events.
    #[test]
    fn odd_events_fold_alike_everywhere(script in scripts(3, 30)) {
        run(3, &script)?;
    }

    /// Any event is found by its position, with any knowledge of the places of imported events.
    #[test]
    fn one_event_is_read_as_in_a_walk(
        script in scripts(3, 3),
        kept in prop::collection::vec(0..8_u8, 64),
    ) {
        let world = run(3, &script)?;
        for machine in &world.0 {
            let log = machine.log();
            let (mut all, mut hints) = (Vec::new(), Vec::new());
            log.scan(&Cursor::START, &mut |event| {
                all.push((event.position, event.id));
                let keep = kept[all.len() % kept.len()];
                match keep {
                    _ if event.own => {}
                    0..3 => hints.push(Waypoint::of(event)),
                    // Another event, another seq, another segment, another offset.
                    3 => hints.push(wrong(&Waypoint::of(event), 70)),
                    4 => hints.push(wrong(&Waypoint::of(event), 24)),
                    5 => hints.push(wrong(&Waypoint::of(event), 32)),
                    6 => hints.push(wrong(&Waypoint::of(event), 40)),
                    _ => {}
                }
                ControlFlow::Continue(())
            })
            .expect("it reads");
            let hints = Hints(hints);
            for (at, (position, id)) in all.iter().enumerate() {
                let places = [
                    log.cursor_before(*position, &()),
                    log.place_before(*position, &hints),
                ];
                for from in places {
                    let from = from.expect("it reads");
                    let mut read = Vec::new();
                    log.scan_from(&from, (*position, &hints), &mut |event| {
                        if event.position >= *position {
                            read.push((event.position, event.id));
                        }
                        ControlFlow::Continue(())
                    })
                    .expect("it reads");
                    prop_assert_eq!(&read, &all[at..], "{} {}", position, id);
                }
            }
        }
    }

    /// 15 and 23: views that learned bit by bit equal views that are built from nothing, with all states shown at any
    /// time.
    #[test]
    fn what_was_learned_bit_by_bit_is_rebuilt(script in scripts(2, 3)) {
        let mut world = run(2, &script)?;
        for machine in &mut world.0 {
            let before = (machine.rows(), machine.histories(), moments(machine));
            machine.drop_views();
            prop_assert_eq!(&(machine.rows(), machine.histories(), moments(machine)), &before);
            machine.service().rebuild(&NoProgress).expect("it builds");
            prop_assert_eq!(&(machine.rows(), machine.histories(), moments(machine)), &before);
        }
    }
}

/// Waypoints of imported events; some of them are wrong.
struct Hints(Vec<Waypoint>);

impl Waypoints for Hints {
    fn last(&self, _: &dyn Fn(&Waypoint) -> bool) -> Option<Waypoint> {
        None
    }

    fn last_imported(&self, position: Position) -> Option<Waypoint> {
        Waypoints::last(&self.0, &|hint| hint.cursor.position <= position)
    }
}

/// Returns a waypoint whose place holds another event.
fn wrong(waypoint: &Waypoint, byte: usize) -> Waypoint {
    let mut bytes = waypoint.encode();
    bytes[byte] ^= 1;
    let check = crc32c::crc32c(&bytes[8..]);
    bytes[..4].copy_from_slice(&check.to_le_bytes());
    Waypoint::parse(&bytes).expect("its check is right")
}

/// Returns the rows as of every position.
fn moments(machine: &Machine) -> Vec<Vec<Memory>> {
    let end = machine
        .service()
        .basis(None)
        .expect("there is one")
        .position;
    let moments = (1..=end).map(|at| {
        let request = ListRequest {
            at: Some(format!("@{at}")),
            forgotten: true,
            ..ListRequest::default()
        };
        machine.service().list(&request).expect("it lists")
    });
    moments.collect()
}

/// Returns the rows of a machine after it has learned all of `others`, in this order.
fn learned_by(world: &mut World, at: usize, others: &[usize]) -> Vec<Memory> {
    for other in others {
        world.learn(at, |learned, len| if learned == *other { len } else { 0 });
    }
    world.0[at].rows()
}

fn store(key: Option<usize>, word: usize) -> Op {
    Op::Store {
        topic: 1,
        key,
        word,
    }
}

/// Returns the index of a memory among those that a machine picks from.
fn place(machine: &Machine, content: &str) -> usize {
    let mut rows = machine.rows();
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    let wanted = |row: &Memory| row.content.as_deref() == Some(content) && row.topic == TOPICS[1];
    rows.iter().position(wanted).expect("it is there")
}

fn end(machine: &Machine) -> usize {
    let basis = machine.service().basis(None).expect("there is one");
    basis.position as usize
}

fn undo(at: usize) -> Op {
    Op::Undo {
        pick: at - 1,
        only: true,
    }
}

fn row(rows: &[Memory], word: usize) -> Option<&Memory> {
    let content = Machine::content(word);
    let wanted = |row: &&Memory| row.content.as_ref() == Some(&content) && row.topic == TOPICS[1];
    rows.iter().find(wanted)
}

#[test]
fn a_link_is_taken_away_before_it_is_there() {
    let mut world = World::new(3);
    world.step(0, &store(None, 1));
    world.step(0, &store(None, 2));
    let [from, to] = [1, 2].map(|word| place(&world.0[0], &Machine::content(word)));
    world.step(0, &Op::Link { from, to });
    let rows = learned_by(&mut world, 1, &[0]);
    assert_eq!(row(&rows, 1).expect("it is there").related.len(), 1);
    let [from, to] = [1, 2].map(|word| place(&world.0[1], &Machine::content(word)));
    world.step(1, &Op::Unlink { from, to });
    let unlinked = end(&world.0[1]);
    let rows = learned_by(&mut world, 2, &[1, 0]);
    assert_eq!(row(&rows, 1).expect("it is there").related.len(), 0);
    world.step(1, &undo(unlinked));
    let rows = learned_by(&mut world, 2, &[1]);
    assert_eq!(row(&rows, 1).expect("it is there").related.len(), 1);
    world.meet();
    world.agree().expect("they agree");
}

#[test]
fn what_is_undone_already_comes_as_undone() {
    let mut world = World::new(3);
    world.step(0, &store(None, 1));
    world.step(0, &store(None, 2));
    world.step(0, &Op::Recall { word: 2 });
    let end_there = end(&world.0[0]);
    learned_by(&mut world, 1, &[0]);
    // The positions of the store and the recall on the machine that learned them.
    let shift = end(&world.0[1]) - 1 - end_there;
    world.step(1, &undo(shift + end_there - 2));
    world.step(1, &undo(shift + end_there));
    let undone = end(&world.0[1]);
    let rows = learned_by(&mut world, 2, &[1, 0]);
    assert_eq!(row(&rows, 1), None);
    assert_eq!(row(&rows, 2).expect("it is there").access_count, 0);
    world.step(1, &undo(undone - 1));
    world.step(1, &undo(undone));
    let rows = learned_by(&mut world, 2, &[1]);
    assert!(row(&rows, 1).is_some());
    assert_eq!(row(&rows, 2).expect("it is there").access_count, 1);
    world.meet();
    world.agree().expect("they agree");
}

#[test]
fn what_waits_under_another_id_is_found() {
    let mut world = World::new(4);
    world.step(0, &Op::Skew { hours: 1 });
    world.step(0, &store(Some(0), 0));
    // This store is earlier, so the memory gets its id, even if it is learned later.
    world.step(1, &store(Some(0), 1));
    learned_by(&mut world, 2, &[1]);
    let pick = place(&world.0[2], &Machine::content(1));
    world.step(2, &Op::Skew { hours: 2 });
    world.step(2, &Op::Update { pick, word: 2 });
    let rows = learned_by(&mut world, 3, &[0, 2, 1]);
    assert!(row(&rows, 2).is_some(), "{rows:#?}");
    assert_eq!(rows.iter().filter(|row| row.key.is_some()).count(), 1);
    for id in rows.iter().map(|row| &row.id) {
        let (short, _) = id.split_at(24);
        let found = world.0[3].service().get(short, None).expect("it is there");
        assert_eq!(&found.id, id);
    }
    world.meet();
    world.agree().expect("they agree");
}

/// A wrong clock makes no value unbeatable. Of values that did not know of each other, the one with the largest stamp
/// is shown, even if a value beaten since had covered it.
#[test]
fn a_write_beats_what_it_has_seen_and_no_more() {
    let mut world = World::new(4);
    world.step(0, &store(None, 0));
    learned_by(&mut world, 1, &[0]);
    learned_by(&mut world, 2, &[0]);
    let update = |world: &mut World, at: usize, from: usize, word: usize| {
        let pick = place(&world.0[at], &Machine::content(from));
        world.step(at, &Op::Update { pick, word });
    };
    world.step(1, &Op::Skew { hours: 10 });
    update(&mut world, 1, 0, 1);
    world.step(2, &Op::Skew { hours: 5 });
    update(&mut world, 2, 0, 2);
    learned_by(&mut world, 0, &[1]);
    update(&mut world, 0, 1, 3);
    assert!(
        row(&world.0[0].rows(), 3).is_some(),
        "a clock that is ahead"
    );
    let rows = learned_by(&mut world, 3, &[0, 1, 2]);
    assert!(row(&rows, 2).is_some(), "{rows:#?}");
    world.meet();
    world.agree().expect("they agree");
}

/// A write also beats the values that it reaches through refs of other writes.
#[test]
fn a_write_beats_what_it_reaches() {
    let mut world = World::new(4);
    world.step(0, &store(None, 0));
    // This machine knows nothing of the rest, so a machine that learns of all gets the memory late.
    learned_by(&mut world, 2, &[0]);
    let pick = place(&world.0[2], &Machine::content(0));
    let words = BTreeSet::from([3]);
    world.step(2, &Op::Words { pick, words });
    world.step(0, &Op::Skew { hours: 10 });
    let pick = place(&world.0[0], &Machine::content(0));
    world.step(0, &Op::Update { pick, word: 1 });
    world.step(0, &Op::Weigh { pick });
    let last = world.0[0].log().tip().expect("there is one").event;
    learned_by(&mut world, 1, &[0]);
    let log = world.0[1].log();
    let mut subject = SubjectId::ZERO;
    log.scan(&Cursor::START, &mut |event| {
        if event.id == last {
            subject = event.head.subject();
        }
        ControlFlow::Continue(())
    })
    .expect("it reads");
    let content = Machine::content(2);
    let event = NewEvent {
        kind: Kind::MEMORY_UPDATED,
        subject,
        refs: vec![last],
        facts: MemoryUpdated {
            fields: fields::CONTENT,
            scope_kind: None,
            importance: None,
            trust: None,
            keywords_added: 0,
            name: Name::ZERO,
            scope_id: ScopeId::ZERO,
            removed: Vec::new(),
        }
        .encode(),
        payload: payload::encode(&payload::MemoryUpdated {
            content: Some(&content),
            ..payload::MemoryUpdated::default()
        }),
    };
    logbed::append(&log, &*world.0[1].env, vec![event], Durability::Synced).expect("it appends");
    let rows = learned_by(&mut world, 3, &[2, 1, 0]);
    let shown = row(&rows, 2).expect("it is shown");
    assert_eq!(shown.keywords, [WORDS[3]]);
    world.meet();
    world.agree().expect("they agree");
}

/// Views are built in chunks of events, and no chunk may end within an import.
#[test]
fn an_import_is_larger_than_a_chunk_of_views() {
    const CHUNK: u64 = 100_000;
    let mut world = World::new(2);
    let log = world.0[0].log();
    let mut number = 0;
    while number < CHUNK + 1_000 {
        let numbers = number..number + 10_000;
        number = numbers.end;
        let events = numbers.map(|number| logbed::numbered(number, 8));
        logbed::append(&log, &*world.0[0].env, events.collect(), Durability::Synced)
            .expect("it appends");
    }
    world.step(0, &store(Some(0), 1));
    world.step(1, &store(Some(0), 2));
    world.learn(1, |_, len| len);
    world.step(1, &store(Some(0), 3));
    let machine = &mut world.0[1];
    let built = machine.service().rebuild(&NoProgress).expect("it builds");
    assert!(built.events > CHUNK);
    let report = machine.verified();
    assert!(report.ok, "{report:#?}");
    let kept: Vec<_> = machine.rows();
    let kept: Vec<_> = kept.iter().filter(|row| row.key.is_some()).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].content, Some(Machine::content(3)));
}
