//! Exports and imports of whole logs, below the service.

mod branches;
mod damage;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use icm_log::bundle::{Bundle, ChainRange, Since};
use icm_log::disk::{self, Disk, OpenMode};
use icm_log::env::Env;
use icm_log::facts::{LogUndone, UndoneRange};
use icm_log::learn::Learned;
use icm_log::record::{self, Parsed};
use icm_log::segment::{SegmentHeader, SegmentName};
use icm_log::verify::Severity;
use icm_log::{
    Batch, CommandId, Durability, EventId, Kind, Log, LogError, NewEvent, OriginId, Position,
    RequestKey, Seq, SessionId, SubjectId, Tip, hash, payload,
};
use replay_tests::env::SimEnv;
use replay_tests::logbed::{self, Seen};
use replay_tests::repair;
use replay_tests::simdisk::{CrashPlan, SimDisk};

const STORE: &str = "/home/store";
const WAIT: Duration = Duration::from_secs(1);

/// A machine with a store.
struct Machine {
    disk: SimDisk,
    env: Arc<SimEnv>,
}

impl Machine {
    fn new(seed: u64) -> Machine {
        let disk = SimDisk::new();
        disk.create_dir_all(Path::new("/home")).expect("created");
        disk.sync_dir(Path::new("/")).expect("synced");
        Machine {
            disk,
            env: Arc::new(SimEnv::new(seed)),
        }
    }

    /// Returns a machine with these memories.
    fn with(seed: u64, numbers: std::ops::Range<u64>) -> Machine {
        let machine = Machine::new(seed);
        machine.store(numbers);
        machine
    }

    /// Returns a machine with a copy of the disk; later changes of one disk do not show on the other.
    fn copy(&self, seed: u64) -> Machine {
        let env = SimEnv::new(seed);
        env.advance_ms((self.env.now_ms() - env.now_ms()) as i64);
        Machine {
            disk: self.disk.kill(),
            env: Arc::new(env),
        }
    }

    fn log(&self) -> Log {
        Log::open(Arc::new(self.disk.clone()), Path::new(STORE)).expect("it opens")
    }

    fn store(&self, numbers: std::ops::Range<u64>) {
        let log = self.log();
        for number in numbers {
            self.env.advance_ms(1_000);
            let event = logbed::numbered(number, 40);
            logbed::append(&log, &*self.env, vec![event], Durability::Synced).expect("appended");
        }
    }

    fn export(&self) -> Vec<u8> {
        self.export_since(&Since::Start)
    }

    fn export_since(&self, since: &Since) -> Vec<u8> {
        let mut out = Vec::new();
        let exported =
            (self.log().export(since, u64::MAX, &mut out, &mut |_| {})).expect("exported");
        assert_eq!(exported.bytes, out.len() as u64);
        out
    }

    fn import(&self, bytes: &[u8]) -> Result<Learned, LogError> {
        self.env.advance_ms(1_000);
        let bundle = bundle(bytes)?;
        let log = Log::open(Arc::new(self.disk.clone()), Path::new(STORE))?;
        let mut writer = log.begin(&*self.env, WAIT)?;
        let learned = writer.learn(&bundle)?;
        let events: Vec<NewEvent> = learned
            .facts
            .iter()
            .map(|facts| NewEvent {
                kind: Kind::LOG_IMPORTED,
                subject: SubjectId::ZERO,
                refs: Vec::new(),
                facts: facts.encode(),
                payload: payload::encode(&BTreeMap::<String, String>::new()),
            })
            .collect();
        if !events.is_empty() {
            writer.append(&Batch {
                command: CommandId([7; 16]),
                actor: "user",
                session: SessionId::ZERO,
                request: RequestKey::ZERO,
                events,
            })?;
        }
        writer.commit(Durability::Synced)?;
        Ok(learned)
    }

    /// Returns every event of the walk, in order.
    fn seen(&self) -> Vec<Seen> {
        let (seen, error) = logbed::read(&self.log());
        assert!(error.is_none(), "{error:?}");
        seen
    }

    /// Returns the numbers of the memories in the walk, sorted.
    fn numbers(&self) -> Vec<u64> {
        let mut numbers: Vec<u64> = self.seen().iter().filter_map(Seen::number).collect();
        numbers.sort_unstable();
        numbers
    }

    fn check(&self) {
        self.check_files();
        for (index, event) in self.seen().iter().enumerate() {
            assert_eq!(event.position.0, index as u64 + 1, "{event:?}");
        }
    }

    /// Checks a log that lacks events as [`Machine::check`] does.
    fn check_files(&self) {
        let repair = self.log().plan_repair(&[], &mut |_| {}).expect("it reads");
        assert!(repair.is_empty(), "there is nothing to repair: {repair:?}");
        let report = self.log().verify(&mut |_| {}).expect("it reads");
        let worse = |finding: &&icm_log::verify::Finding| finding.severity != Severity::Notice;
        let bad: Vec<_> = report.findings.iter().filter(worse).collect();
        assert!(bad.is_empty(), "{bad:?}");
        let seen = self.seen();
        let mut ids: Vec<EventId> = seen.iter().map(|event| event.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), seen.len(), "no event is met twice");
    }
}

fn bundle(bytes: &[u8]) -> Result<Bundle, LogError> {
    let disk = SimDisk::new();
    disk.put("/bundle", bytes);
    let file = disk
        .open(Path::new("/bundle"), OpenMode::Read)
        .expect("put");
    Bundle::read(file, Path::new("/bundle"), &mut |_| {})
}

#[test]
fn machines_that_exchange_end_with_the_same_and_settle() {
    let (a, b, c) = (
        Machine::with(1, 0..5),
        Machine::with(2, 10..15),
        Machine::new(3),
    );
    let learned = b.import(&a.export()).expect("imported");
    assert_eq!((learned.events, learned.unchanged), (7, 0));
    b.store(15..17);
    // The events of a come by way of b.
    let learned = c.import(&b.export()).expect("imported");
    assert_eq!(learned.events, 7 + 10);
    a.store(5..6);
    c.import(&a.export()).expect("imported");
    c.store(20..22);
    for _ in 0..3 {
        for (from, to) in [(&a, &b), (&b, &c), (&c, &a), (&a, &c), (&c, &b), (&b, &a)] {
            to.import(&from.export()).expect("imported");
        }
    }
    let all: Vec<u64> = (0..6).chain(10..17).chain(20..22).collect();
    for machine in [&a, &b, &c] {
        machine.check();
        assert_eq!(machine.numbers(), all);
    }
    let (export, len) = (a.export(), a.disk.files().len());
    assert!(export == b.export() && export == c.export());
    let tips: Vec<_> = [&a, &b, &c].map(|machine| machine.log().tip()).into();
    for (from, to) in [(&a, &b), (&b, &c), (&c, &a)] {
        let learned = to.import(&from.export()).expect("imported");
        assert_eq!((learned.events, learned.facts.len()), (0, 0));
        assert!(!learned.changes_the_past);
    }
    assert_eq!(
        tips,
        [&a, &b, &c].map(|machine| machine.log().tip()),
        "nothing more is appended"
    );
    assert_eq!(a.disk.files().len(), len);
    // A new machine gets everything.
    let fresh = Machine::new(9);
    fresh.import(&export).expect("imported");
    fresh.check();
    assert_eq!(fresh.numbers(), all);
}

/// Parts of any length join what came before, and together they make the whole.
#[test]
fn an_export_goes_in_parts() {
    let (a, b) = (Machine::with(1, 0..9), Machine::with(2, 10..14));
    a.import(&b.export()).expect("imported");
    a.store(20..24);
    for limit_bytes in [1, 300, 700, 2_000, 100_000] {
        let fresh = Machine::new(9);
        let (mut there, mut parts, mut events) = (Vec::new(), 0, 0);
        loop {
            let (mut out, since) = (Vec::new(), Since::Ranges(there.clone()));
            let exported = a.log().export(&since, limit_bytes, &mut out, &mut |_| {});
            let exported = exported.expect("exported");
            let learned = fresh.import(&out).expect("it joins");
            assert_eq!(learned.unchanged, 0);
            there.extend(exported.ranges);
            (parts, events) = (parts + 1, events + exported.events);
            if !exported.more {
                break;
            }
            assert!(exported.bytes >= limit_bytes);
        }
        assert!(
            limit_bytes > 2_000 || parts > 1,
            "{parts} parts of {limit_bytes}"
        );
        assert_eq!(events, bundle(&a.export()).expect("it is whole").events());
        fresh.check();
        assert_eq!(fresh.numbers(), a.numbers());
    }
}

#[test]
fn new_events_alone_complete_a_store_that_had_the_rest() {
    let (a, b, c) = (
        Machine::with(1, 0..3),
        Machine::with(2, 10..12),
        Machine::with(3, 20..22),
    );
    let newest = |machine: &Machine| machine.log().tip().expect("it has events").position;
    let mut known = Position(0);
    for round in 0..4 {
        match round % 2 {
            0 => a.store(3 + round..4 + round),
            // Events that a learned in the meantime are news as well.
            _ => {
                c.store(22 + round..24 + round);
                a.import(&c.export()).map(drop).expect("imported");
            }
        }
        let had = b.log().heads().expect("it reads");
        let whole = |tip: &Tip| ChainRange::up_to(tip.origin, tip.seq, tip.event);
        let had = Since::Ranges(had.iter().map(whole).collect());
        let (by_heads, by_position) = (
            a.export_since(&had),
            a.export_since(&Since::Position(known)),
        );
        // After the first round both exports hold the same events of a and c, and nothing that b has already.
        assert!(by_heads == by_position, "round {round}");
        let news = bundle(&by_heads).expect("it is whole");
        let all = bundle(&a.export()).expect("it is whole");
        assert!(round == 0 || news.events() < all.events());
        known = newest(&a);
        let learned = b.import(&by_heads).expect("imported");
        assert_eq!((learned.events, learned.unchanged), (news.events(), 0));
        b.check();
        let learned = b.import(&a.export()).expect("imported");
        assert_eq!((learned.events, learned.facts.len()), (0, 0));
    }
    let nothing = a.export_since(&Since::Position(known));
    assert_eq!(bundle(&nothing).expect("it is whole").events(), 0);
    b.import(&nothing).expect("imported");
    // Unknown ranges are ignored. A machine that lacks earlier events learns which to ask for.
    let (tip, head) = (a.log().tip().expect("a tip"), EventId([7; 32]));
    let elsewhere = Since::Ranges(vec![ChainRange::up_to(tip.origin, tip.seq, head)]);
    assert!(a.export_since(&elsewhere) == a.export());
    let last = a.export_since(&Since::Position(Position(known.0 - 1)));
    match Machine::new(9).import(&last) {
        Err(LogError::Gaps(gaps)) => assert_eq!(gaps[0].from_seq, Seq(1)),
        other => panic!("{other:?}"),
    }
}

fn undo(origin: OriginId, (from_seq, to_seq): (Seq, Seq), head: EventId) -> NewEvent {
    let range = UndoneRange {
        origin,
        from_seq,
        to_seq,
        head,
    };
    NewEvent {
        kind: Kind::LOG_UNDONE,
        subject: SubjectId::ZERO,
        refs: Vec::new(),
        facts: LogUndone {
            ranges: vec![range],
        }
        .encode(),
        payload: payload::encode(&BTreeMap::<String, String>::new()),
    }
}

/// Without its events, an undo would reach other events written in their place; so it must wait for them.
#[test]
fn an_undo_waits_for_what_it_undoes() {
    let a = Machine::with(1, 0..3);
    let b = a.copy(5);
    a.store(10..12);
    b.store(20..22);
    let c = Machine::with(3, 30..31);
    c.import(&b.export()).expect("imported");
    let (origin, tip) = (b.log().origin(), b.log().tip());
    let (origin, tip) = (origin.expect("an origin"), tip.expect("events"));
    let undone = vec![undo(origin, (Seq(6), tip.seq), tip.event)];
    logbed::append(&c.log(), &*c.env, undone, Durability::Synced).expect("appended");
    c.store(31..32);

    let of_b = b.log().held_ranges().expect("it reads");
    let without_b = c.export_since(&Since::Ranges(of_b));
    let learned = a.import(&without_b).expect("imported");
    assert_eq!(learned.waiting.len(), 1, "{learned:?}");
    a.check();
    assert_eq!(a.numbers(), [0, 1, 2, 10, 11, 30]);
    assert!(a.seen().iter().all(|event| event.kind != Kind::LOG_UNDONE));
    // A machine with the undone events takes the undo, from any machine.
    let d = Machine::new(4);
    d.import(&a.export()).expect("imported");
    d.import(&c.export()).expect("imported");
    d.check();
    assert!(d.seen().iter().any(|event| event.kind == Kind::LOG_UNDONE));
    let all = [0, 1, 2, 10, 11, 20, 21, 30, 31];
    assert_eq!(d.numbers(), all);
    let learned = a.import(&c.export()).expect("imported");
    assert_eq!((learned.waiting.len(), learned.forks.len()), (0, 1));
    a.check();
    assert_eq!(a.numbers(), all);
    // Events from too far in the future wait as well, and the own chain is not continued meanwhile.
    let e = Machine::with(6, 0..1);
    let f = e.copy(7);
    e.env.advance_ms(3 * 24 * 60 * 60 * 1_000);
    e.store(1..2);
    assert_eq!(f.import(&e.export()).expect("imported").later.len(), 1);
    f.store(2..3);
    assert_ne!(f.log().origin(), e.log().origin());
}
