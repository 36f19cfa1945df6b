//! Three machines exchange their logs in every way, in any order, in part and repeatedly; now and then a machine is put
//! back to an older state. Once all have met, all hold the same events, and further exchanges append nothing.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

use icm_api::error::ServiceError;
use icm_api::{Caller, ExportSince, ListRequest, NoProgress, RedactRequest};
use icm_log::{Cursor, EventId, Kind, OriginId};
use icm_service::{ExportFile, Service};
use icm_sync::{Folder, SyncOptions, sync};
use proptest::prelude::*;
use proptest::sample::select;
use replay_tests::folder::{self, Files};
use replay_tests::judge;
use replay_tests::world::{Machine, may_refuse};

const MACHINES: usize = 3;
const KEYS: [&str; 3] = ["tea", "port", "house"];
const WORDS: [&str; 3] = ["red", "green", "blue"];

/// An action on one of the machines. Numbers pick from the things that exist.
#[derive(Debug, Clone)]
enum Op {
    /// A line of the script language.
    Do(String),
    Redact(usize),
    /// Imports an export of another machine: everything, the events lacking here, or those learned since a moment.
    Take(usize, Part),
    /// Imports an export made earlier.
    TakeOld(usize),
    /// Syncs through a folder.
    Sync(usize),
    /// Keeps a copy of the log.
    Snapshot,
    /// Puts the copy back.
    PutBack,
}

#[derive(Debug, Clone, Copy)]
enum Part {
    All,
    Lacking,
    Since(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let pick = || 0..64_usize;
    let part = prop_oneof![
        2 => Just(Part::All),
        2 => Just(Part::Lacking),
        2 => pick().prop_map(Part::Since),
    ];
    prop_oneof![
        9 => (prop::option::weighted(0.7, select(&KEYS[..])), select(&WORDS[..]))
            .prop_map(|(key, word)| Op::Do(store_line(key, word))),
        1 => pick().prop_map(|n| Op::Do(format!("forget ${n}"))),
        2 => pick().prop_map(|n| Op::Do(format!("undo %{n}"))),
        1 => pick().prop_map(Op::Redact),
        4 => (0..MACHINES, part).prop_map(|(from, part)| Op::Take(from, part)),
        3 => pick().prop_map(Op::TakeOld),
        4 => (0..2_usize).prop_map(Op::Sync),
        2 => Just(Op::Snapshot),
        1 => Just(Op::PutBack),
    ]
}

fn store_line(key: Option<&str>, word: &str) -> String {
    let key = key.map_or(String::new(), |key| format!(" --key {key}"));
    format!("store $m -t t -c \"the {word} one\"{key}")
}

struct World {
    /// The folders through which machines sync.
    folder: tempfile::TempDir,
    machines: Vec<Machine>,
    /// Copies of the machines' logs.
    snapshots: [Option<Files>; MACHINES],
    exports: Vec<PathBuf>,
    /// Number of times that a store was put back.
    put_back: u64,
    /// Number of branches that arrived of a machine's own chain.
    forks: usize,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for target in 0..2 {
            let target = folder.path().join(format!("target-{target}"));
            std::fs::create_dir(target).expect("it is made");
        }
        World {
            machines: (0..MACHINES).map(Machine::new).collect(),
            snapshots: [const { None }; MACHINES],
            folder,
            exports: Vec::new(),
            put_back: 0,
            forks: 0,
        }
    }

    /// Opens a machine's store anew.
    fn open(&mut self, at: usize) -> &Service {
        self.machines[at].act("reopen");
        self.machines[at].service()
    }

    fn step(&mut self, at: usize, op: &Op) {
        match op {
            Op::Do(line) => {
                self.open(at);
                self.machines[at].act(line);
            }
            Op::Redact(number) => {
                self.open(at);
                let machine = &self.machines[at];
                let request = RedactRequest {
                    targets: vec![machine.run.id(&format!("${number}"))],
                    ..RedactRequest::default()
                };
                may_refuse(machine.service().redact(&Caller::default(), &request));
            }
            Op::Take(from, part) if *from != at => {
                if let Some(export) = self.export(*from, at, *part) {
                    self.take(at, &export);
                    self.exports.push(export);
                }
            }
            Op::Take(..) => {}
            Op::TakeOld(pick) => {
                if let Some(place) = pick.checked_rem(self.exports.len()) {
                    let export = self.exports[place].clone();
                    self.take(at, &export);
                }
            }
            Op::Sync(target) => self.sync(at, *target),
            Op::Snapshot => {
                let mut files = folder::read(&self.machines[at].dir());
                files.retain(|path, _| !path.starts_with("views"));
                self.snapshots[at] = (self.machines[at].end() > 0).then_some(files);
            }
            Op::PutBack => {
                if let Some(files) = &self.snapshots[at] {
                    // The files are replaced in place: in another folder the store would count as moved.
                    self.machines[at].run.while_closed(|dir| {
                        for path in folder::files(dir) {
                            std::fs::remove_file(path).expect("removed");
                        }
                        folder::write(dir, files);
                    });
                    self.put_back += 1;
                }
            }
        }
    }

    fn export(&mut self, from: usize, to: usize, part: Part) -> Option<PathBuf> {
        let since = match part {
            Part::All => ExportSince::Start,
            Part::Lacking => {
                let heads = self.open(to).heads().expect("it reads");
                let line = |head: icm_api::OriginHead| {
                    format!("{} {} {}\n", head.origin, head.seq, head.head)
                };
                ExportSince::Heads(heads.into_iter().map(line).collect())
            }
            Part::Since(pick) => {
                let end = self.machines[from].end();
                ExportSince::Moment(format!("@{}", 1 + (pick as u64).checked_rem(end)?))
            }
        };
        self.open(from);
        self.machines[from].export(&since)
    }

    /// Imports an export, unless it goes on from events that are missing here. Returns `true` if it brought events.
    fn take(&mut self, at: usize, export: &std::path::Path) -> bool {
        let file = ExportFile::open(export).expect("it is there");
        let service = self.open(at);
        match service.import_log(&Caller::default(), &file, false, &NoProgress) {
            Ok(answer) => {
                let own: BTreeSet<String> = (service.own_chains().expect("it reads").iter())
                    .map(OriginId::to_string)
                    .collect();
                self.forks += (answer.forks.iter())
                    .filter(|fork| own.contains(&fork.origin))
                    .count();
                assert!(answer.own_forks.is_empty(), "{answer:?}");
                answer.added > 0
            }
            Err(ServiceError::DoesNotFit { .. }) => false,
            Err(error) => panic!("{error}"),
        }
    }

    fn sync(&mut self, at: usize, target: usize) {
        let target = self.folder.path().join(format!("target-{target}"));
        let service = self.open(at);
        let target = Folder::open(&target, service.dir()).expect("it is a folder");
        let options = SyncOptions::default();
        let answer = sync(service, &Caller::default(), &target, options, &NoProgress);
        let answer = answer.expect("it synchronises");
        assert!(answer.refused.is_empty(), "{answer:?}");
    }

    fn sync_all(&mut self) {
        for at in 0..MACHINES {
            for target in 0..2 {
                self.sync(at, target);
            }
        }
    }

    /// Lets all machines exchange until nothing is new.
    fn meet(&mut self) {
        let mut new = true;
        while new {
            new = false;
            for (from, to) in [(0, 1), (1, 2), (2, 0), (0, 2), (2, 1), (1, 0)] {
                let export = self.export(from, to, Part::All).expect("it exports");
                new |= self.take(to, &export);
            }
        }
    }

    /// Returns every event of the walk except imports; on these all machines must agree.
    fn events(&self, at: usize) -> BTreeSet<EventId> {
        let mut events = BTreeSet::new();
        let scanned = self.machines[at].log().scan(&Cursor::START, &mut |event| {
            if event.head.kind() != Kind::LOG_IMPORTED {
                assert!(events.insert(event.id), "no event is met twice");
            }
            ControlFlow::Continue(())
        });
        scanned.expect("it reads");
        events
    }

    fn agree(&mut self) -> Result<(), TestCaseError> {
        let (events, tips) = (self.events(0), self.tips());
        let mut hashes = Vec::new();
        for at in 0..MACHINES {
            prop_assert_eq!(&self.events(at), &events, "machine {}", at);
            let report = self.open(at).verify(&NoProgress).expect("it reads");
            prop_assert!(report.ok, "machine {}: {:#?}", at, report);
            hashes.push(report.state_hash);
        }
        prop_assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{:?}", hashes);
        prop_assert_eq!(tips, self.tips());
        Ok(())
    }

    fn tips(&self) -> Vec<Option<EventId>> {
        let tip = |it: &Machine| it.log().tip().map(|tip| tip.event);
        self.machines.iter().map(tip).collect()
    }
}

fn run(script: &[(usize, Op)]) -> Result<World, TestCaseError> {
    let mut world = World::new();
    for (at, op) in script {
        world.step(*at, op);
    }
    // Events that a put-back store has lost may exist only at a target.
    world.sync_all();
    world.meet();
    world.agree()?;
    let tips = world.tips();
    world.sync_all();
    world.meet();
    prop_assert_eq!(tips, world.tips(), "further exchanges append nothing");
    world.agree()?;
    Ok(world)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..judge::config(24)
    })]

    #[test]
    fn all_who_met_hold_the_same_and_settle(
        script in prop::collection::vec((0..MACHINES, op()), 1..40),
    ) {
        run(&script)?;
    }
}

/// A store gets back the events that it wrote before it was put back, and both branches stay.
#[test]
fn a_store_that_is_put_back_and_written_gets_its_other_branch() {
    let store = |word| Op::Do(store_line(None, word));
    let script = [
        (0, store("red")),
        (0, Op::Snapshot),
        (0, store("green")),
        (0, Op::Sync(0)),
        (0, Op::PutBack),
        (0, store("blue")),
        (1, Op::Sync(0)),
        (0, Op::Take(1, Part::All)),
        (0, Op::Sync(0)),
        (1, Op::Sync(0)),
    ];
    let mut world = run(&script).expect("they agree");
    assert_eq!((world.put_back, world.forks), (1, 1));
    let list = world.open(0).list(&ListRequest::default());
    let list = list.expect("it lists");
    let mut contents: Vec<&str> = list.iter().filter_map(|it| it.content.as_deref()).collect();
    contents.sort_unstable();
    assert_eq!(contents, ["the blue one", "the green one", "the red one"]);
}

/// A restored store gets a lost event back by an export and by the target of a synchronisation. It stays one event.
#[test]
fn a_lost_event_that_comes_back_on_two_ways_is_one_event() {
    let store = |key, word| Op::Do(store_line(key, word));
    let script = [
        (1, store(None, "red")),
        (1, Op::Sync(0)),
        (0, store(None, "blue")),
        (2, Op::Sync(0)),
        (2, Op::Snapshot),
        (2, store(Some("k2"), "blue")),
        (1, Op::Take(2, Part::All)),
        (2, Op::PutBack),
        (2, store(Some("k1"), "blue")),
        (2, Op::Take(1, Part::All)),
        (2, Op::Sync(0)),
    ];
    run(&script).expect("they agree");
}

/// An export of what a machine lacks begins within one branch of a chain, behind the beginning of another branch.
#[test]
fn a_branch_that_is_lacking_in_part_is_exported_in_order() {
    let store = |word| Op::Do(store_line(None, word));
    for (one, other) in [
        ("red", "green"),
        ("green", "blue"),
        ("blue", "red"),
        ("red", "blue"),
    ] {
        let script = [
            (0, store(one)),
            (0, Op::Snapshot),
            (0, store(other)),
            (0, store("house")),
            (1, store(other)),
            (1, Op::Take(0, Part::All)),
            (0, store("port")),
            (2, store(one)),
            (2, Op::Take(0, Part::All)),
            (0, Op::PutBack),
            (0, store("tea")),
            (2, Op::Take(0, Part::All)),
            (1, Op::Take(2, Part::Lacking)),
        ];
        run(&script).expect("they agree");
    }
}
