//! Invariants 9 to 11, 14 to 17, 20 and 25 of stores that learn from each other: the state is a function of the set of
//! events, in whatever order they were learned.
//!
//! Chains are copied by hand here: another store's segments are copied, and a `log.imported` says how far they were
//! learned. Events beyond that wait to be learned, as they may in a real store.

mod by_hand;
mod odd;

use odd::{Odd, odd};

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Deref};
use std::time::Duration;

use icm_api::{AlertsRequest, Caller, ListRequest, Memory, NoProgress, Version};
use icm_log::env::Env;
use icm_log::facts::{
    AlertSet, Alive, ClientCode, Condition, Covered, Expiry, FeedbackApplied, FeedbackRecorded,
    Front, Importance, ImportedRange, LogImported, LogUndone, MemoryConsolidated, MemoryDecayed,
    MemoryExpired, MemoryLinked, MemoryPinned, MemoryPruned, MemoryRecalled, MemoryStored,
    MemoryUpdated, Recalled, Relation, Removal, ScopeKind, SessionCause, SessionStarted, Shown,
    Trust, UndoneRange, Verdict, fields,
};
use icm_log::{
    Cursor, Durability, Event, EventId, Kind, Name, NewEvent, OriginId, Position, ScopeId, Seq,
    SessionId, SubjectId, Waypoint, Waypoints, hash, payload,
};
use icm_projections::Views;
use proptest::prelude::*;
use proptest::sample::select;
use replay_tests::{folder, judge, logbed};

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..judge::config(16)
    }
}

/// An action on one of the machines.
#[derive(Debug, Clone)]
enum Op {
    /// A line of the script language.
    Do(String),
    /// Appends an event that no command of today writes.
    Odd(Odd),
    /// Learns of other chains, up to some place of each.
    Learn(Vec<usize>),
    /// Commits views beside the open ones.
    Commit,
}

const TOPICS: [&str; 2] = ["prefs", "deploy"];
const KEYS: [&str; 2] = ["tea", "port"];
const WORDS: [&str; 4] = ["red", "green", "blue", "grey"];

/// Returns a line that stores the content of a word.
fn store_line(topic: usize, key: Option<usize>, word: usize) -> String {
    let key = key.map_or(String::new(), |key| format!(" --key {}", KEYS[key]));
    let (topic, content, word) = (TOPICS[topic], content(word), WORDS[word]);
    format!("store $m -t {topic} -c \"{content}\" -k {word}{key}")
}

fn line() -> impl Strategy<Value = String> {
    let pick = || 0..64_usize;
    let word = || 0..WORDS.len();
    let topic = || select(&TOPICS[..]);
    let key = prop::option::weighted(0.7, 0..KEYS.len());
    let words = prop::sample::subsequence(&WORDS[..], 0..3).prop_map(|words| words.join(","));
    let only = || select(&["", " --only"][..]);
    prop_oneof![
        8 => (0..TOPICS.len(), key, word()).prop_map(|(topic, key, word)| store_line(topic, key, word)),
        6 => (pick(), word()).prop_map(|(n, word)| update(n, word)),
        2 => (pick(), topic()).prop_map(|(n, topic)| format!("update ${n} -t {topic}")),
        2 => pick().prop_map(|n| format!("update ${n} -i critical")),
        3 => (pick(), words).prop_map(|(n, words)| format!("update ${n} -k \"{words}\"")),
        3 => pick().prop_map(|n| format!("forget ${n}")),
        2 => pick().prop_map(|n| format!("revive ${n}")),
        4 => (pick(), pick()).prop_map(|(from, to)| format!("link ${from} ${to} -r related")),
        3 => (pick(), pick()).prop_map(|(from, to)| format!("unlink ${from} ${to} -r related")),
        3 => (pick(), select(&["pin", "unpin"][..])).prop_map(|(n, pin)| format!("{pin} ${n}")),
        3 => (pick(), select(&["useful", "wrong"][..])).prop_map(|(n, it)| format!("judge ${n} {it}")),
        1 => word().prop_map(|word| format!("correct \"which one\" {} blue", WORDS[word])),
        3 => word().prop_map(|word| format!("recall {} --floor 0 --record", WORDS[word])),
        1 => topic().prop_map(|topic| format!("consolidate $s -t {topic} -c \"all of it\"")),
        3 => (0..60_u32).prop_map(|percent| format!("decay --rate {}", f64::from(percent) / 100.0)),
        2 => (30..100_u32).prop_map(|p| format!("prune --threshold {}", f64::from(p) / 100.0)),
        5 => (pick(), only()).prop_map(|(n, only)| format!("undo %{n}{only}")),
        2 => word().prop_map(|word| format!("alert {}", WORDS[word])),
        1 => Just("alerts".to_owned()),
        2 => (-30..30_i64).prop_map(|hours| format!("clock {hours:+}h")),
        1 => Just("rebuild".to_owned()),
        1 => Just("drop-views".to_owned()),
    ]
}

fn op(machines: usize) -> impl Strategy<Value = Op> {
    prop_oneof![
        54 => line().prop_map(Op::Do),
        8 => prop::collection::vec(0..100_usize, machines).prop_map(Op::Learn),
        1 => Just(Op::Commit),
    ]
}

fn scripts(machines: usize, odds: u32) -> impl Strategy<Value = Vec<(usize, Op)>> {
    let op = prop_oneof![10 => op(machines), odds => odd().prop_map(Op::Odd)];
    prop::collection::vec((0..machines, op), 1..40)
}

/// A chain: the id of each event, and `true` if a batch ends with it.
type Chain = Vec<(EventId, bool)>;

fn content(word: usize) -> String {
    format!("the {} one", WORDS[word])
}

/// A machine, with the number of events learned of each chain.
struct Machine {
    it: replay_tests::world::Machine,
    learned: BTreeMap<OriginId, usize>,
}

impl Deref for Machine {
    type Target = replay_tests::world::Machine;

    fn deref(&self) -> &Self::Target {
        &self.it
    }
}

impl Machine {
    fn new(seed: usize) -> Machine {
        let mut machine = Machine {
            it: replay_tests::world::Machine::new(seed),
            learned: BTreeMap::new(),
        };
        // The machine needs a chain of its own for its imports.
        machine.it.act(&store_line(0, None, 0));
        machine
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
        logbed::append(&log, &**self.run.env(), vec![event], Durability::Synced)
            .expect("it appends");
    }

    /// Returns the events of the alerts that wait.
    fn alerts(&self) -> BTreeSet<String> {
        let request = AlertsRequest {
            all: true,
            ..AlertsRequest::default()
        };
        let found = self.service().alerts(&Caller::default(), &request);
        let (answer, _) = found.expect("it answers");
        answer.alerts.into_iter().map(|alert| alert.event).collect()
    }

    fn histories(&self) -> Vec<Vec<Version>> {
        let ids = self.rows().into_iter().map(|memory| memory.id);
        ids.map(|id| self.service().history(&id).expect("it was listed"))
            .collect()
    }

    fn step(&mut self, op: &Op) {
        match op {
            Op::Do(line) => self.it.act(line),
            Op::Commit => {
                let (log, dir) = (self.log(), self.dir().join("views"));
                let Ok(mut views) = Views::open(&dir, &log) else {
                    return;
                };
                views.follow(&log).expect("it follows");
                let wait = Duration::from_secs(5);
                views.commit(&dir, &log, wait).expect("it commits");
            }
            Op::Odd(odd) => self.odd(odd),
            Op::Learn(_) => {}
        }
    }
}

/// Machines that learn from each other.
struct World(Vec<Machine>);

impl World {
    fn new(machines: usize) -> World {
        World((0..machines).map(Machine::new).collect())
    }

    fn step(&mut self, at: usize, op: &Op) {
        if let Op::Learn(upto) = op {
            self.learn(at, |other, len| len * (upto[other] + 1) / 80);
        } else {
            self.0[at].step(op);
        }
    }

    fn act(&mut self, at: usize, line: &str) {
        self.0[at].it.act(line);
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
        let shown: Vec<_> = self.0.iter().map(|it| it.rows()).collect();
        let reports: Vec<_> = self.0.iter().map(|it| it.verified()).collect();
        for (shown_here, report) in shown.iter().zip(&reports) {
            prop_assert!(report.ok, "{report:#?}");
            prop_assert_eq!(shown_here, &shown[0]);
            prop_assert_eq!(&report.state_hash, &reports[0].state_hash);
        }
        let alerts: Vec<_> = self.0.iter().map(Machine::alerts).collect();
        for alerts_here in &alerts {
            prop_assert_eq!(alerts_here, &alerts[0]);
        }
        Ok(())
    }
}

/// Runs a script, lets all machines learn everything, and checks that they agree.
fn run(machines: usize, script: &[(usize, Op)]) -> Result<World, TestCaseError> {
    let mut world = World::new(machines);
    for (at, op) in script {
        world.step(*at, op);
        if let Op::Learn(_) = op {
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
            let (mut all, mut hints, mut own) = (Vec::new(), Vec::new(), Vec::new());
            log.scan(&Cursor::START, &mut |event| {
                all.push((event.position, event.id));
                let keep = kept[all.len() % kept.len()];
                match keep {
                    0..4 if event.own => own.push(Waypoint::of(event)),
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
                let mut back = Vec::new();
                log.scan_back_from((*position, &own), &mut |event| {
                    back.push((event.position, event.id));
                    ControlFlow::Continue(())
                })
                .expect("it reads");
                back.reverse();
                prop_assert_eq!(&back, &all[..=at], "{} {}", position, id);
            }
        }
    }

    /// 15 and 23: views that learned bit by bit equal views that are built from nothing, with all states shown at any
    /// time.
    #[test]
    fn views_learned_bit_by_bit_equal_rebuilt_ones(script in scripts(2, 3)) {
        let mut world = run(2, &script)?;
        for machine in &mut world.0 {
            let before = (machine.rows(), machine.histories(), moments(machine));
            machine.it.act("drop-views");
            prop_assert_eq!(&(machine.rows(), machine.histories(), moments(machine)), &before);
            machine.it.act("rebuild");
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
    let moments = (1..=machine.end()).map(|at| {
        let request = ListRequest {
            at: Some(format!("@{at}")),
            forgotten: true,
            ..ListRequest::default()
        };
        machine.service().list(&request).expect("it lists")
    });
    moments.collect()
}

fn update(pick: usize, word: usize) -> String {
    format!("update ${pick} -c \"{}\"", content(word))
}
