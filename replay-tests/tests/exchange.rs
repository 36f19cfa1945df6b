//! Exports and imports of whole logs, below the service.

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

#[test]
fn incomplete_bundles_are_refused_and_nothing_is_taken() {
    let (a, b) = (Machine::with(1, 0..3), Machine::with(2, 10..12));
    b.import(&a.export()).expect("imported");
    let export = b.export();
    let whole = bundle(&export).expect("it is whole");
    assert_eq!((whole.ranges().len(), whole.events()), (2, 10));
    for len in 0..export.len() {
        let error = bundle(&export[..len]).expect_err("it is cut");
        assert!(
            matches!(error, LogError::BadBundle { .. }),
            "{len}: {error}"
        );
    }
    let mut seen = 0;
    for bit in 0..export.len() * 8 {
        let mut flipped = export.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        match bundle(&flipped) {
            Err(LogError::BadBundle { .. } | LogError::NewerFormat { .. }) => seen += 1,
            other => panic!("bit {bit}: {other:?}"),
        }
    }
    assert_eq!(seen, export.len() * 8);
    let more = [export.as_slice(), b"x"].concat();
    assert!(bundle(&more).is_err());
    let c = Machine::with(3, 20..21);
    let before = c.disk.below(Path::new(STORE));
    assert!(c.import(&export[..export.len() - 1]).is_err());
    assert!(before == c.disk.below(Path::new(STORE)));
}

#[test]
fn an_import_is_cut_off_or_fails_at_every_point() {
    let a = Machine::with(1, 0..4);
    let before = Machine::with(2, 10..12);
    before.import(&a.export()).expect("imported");
    a.store(4..7);
    cut_off_everywhere(&|| before.copy(2), &a.export());
}

/// An own segment must be divided where the branches part.
#[test]
fn an_import_of_the_own_chains_other_branch_is_cut_off_or_fails_at_every_point() {
    let a = Machine::with(1, 0..4);
    let b = a.copy(5);
    a.store(10..13);
    b.store(20..22);
    let segments = repair::segments(&a.disk).len();
    let done = a.copy(2);
    let learned = done.import(&b.export()).expect("imported");
    assert_eq!((learned.forks.len(), learned.own_forks.len()), (1, 0));
    // The divided segment, the one of the branch, and the one of the new origin.
    assert_eq!(repair::segments(&done.disk).len(), segments + 3);
    cut_off_everywhere(&|| a.copy(2), &b.export());
}

/// Imports an export with the power going off, and with an error, at each operation. Repeating the import gives the
/// same result as an import without faults.
fn cut_off_everywhere(start: &dyn Fn() -> Machine, export: &[u8]) {
    let done = start();
    let count = done.disk.op_count();
    done.import(export).expect("imported");
    done.check();
    let all = done.numbers();
    let (mut checked, mut failed) = (0, 0);
    for n in count + 1..=done.disk.op_count() {
        let b = start();
        b.disk.power_off_at(n);
        let _ = b.import(export);
        for plan in CrashPlan::all(2) {
            let found = Machine {
                disk: b.disk.crash(plan),
                env: b.copy(40 + n).env,
            };
            found.seen();
            found.store(30..31);
            found
                .import(export)
                .unwrap_or_else(|error| panic!("operation {n}, {plan:?}: {error}"));
            found.check();
            let mut numbers = found.numbers();
            numbers.retain(|number| *number != 30);
            assert_eq!(numbers, all, "operation {n}, {plan:?}");
            checked += 1;
        }
        let b = start();
        b.disk.fail_at(n);
        failed += u32::from(b.import(export).is_err());
        b.disk.heal();
        b.import(export).expect("imported");
        b.check();
        assert_eq!(b.numbers(), all, "operation {n} failed");
    }
    assert!(
        checked > 100 && failed > 10,
        "{checked} checked, {failed} failed"
    );
}

/// Two machines write under one origin, because one is the exact copy of the other.
#[test]
fn both_branches_of_a_fork_are_kept() {
    let a = Machine::with(1, 0..3);
    let b = a.copy(5);
    a.store(10..13);
    b.store(20..22);
    let c = Machine::with(3, 30..31);
    c.import(&a.export()).expect("imported");
    let learned = c.import(&b.export()).expect("imported");
    assert_eq!((learned.events, learned.unchanged), (2, 5));
    assert_eq!(learned.forks.len(), 1);
    assert_eq!(learned.forks[0].seq.0, 6);
    let all = vec![0, 1, 2, 10, 11, 12, 20, 21, 30];
    assert_eq!(c.numbers(), all);
    // Both branches grow.
    a.store(13..14);
    b.store(22..24);
    for machine in [&b, &a] {
        let learned = c.import(&machine.export()).expect("imported");
        assert!(learned.forks.is_empty(), "{learned:?}");
    }
    let all = vec![0, 1, 2, 10, 11, 12, 13, 20, 21, 22, 23, 30];
    assert_eq!(c.numbers(), all);
    // The other order, and both at once.
    let d = Machine::new(4);
    d.import(&b.export()).expect("imported");
    d.import(&a.export()).expect("imported");
    let e = Machine::new(6);
    let learned = e.import(&c.export()).expect("imported");
    assert_eq!(learned.events, 9 + 4 + 7);
    assert_eq!(e.numbers(), all);
    for machine in [&c, &d, &e] {
        machine.check();
    }
    assert_eq!(d.numbers(), all[..all.len() - 1]);
    // The writer of one branch takes the other branch, and continues under a new origin.
    let (of_a, of_b) = (a.export(), b.export());
    for (own, other) in [(&a, of_b), (&b, of_a)] {
        let learned = own.import(&other).expect("imported");
        let forks: Vec<u64> = learned.forks.iter().map(|fork| fork.seq.0).collect();
        assert_eq!((forks, learned.own_forks.len()), (vec![6], 0));
        own.check();
        let again = own.import(&other).expect("imported");
        assert_eq!((again.events, again.forks.len()), (0, 0));
        own.import(&c.export()).expect("imported");
        own.check();
        assert_eq!(own.numbers(), all);
    }
    // The branches also grow on machines that hold only copies of them.
    a.store(40..41);
    b.store(50..51);
    for (to, from) in [(&a, &b), (&b, &a), (&c, &a), (&c, &b)] {
        to.import(&from.export()).expect("imported");
    }
    let mut all = all;
    all.extend([40, 50]);
    all.sort_unstable();
    for machine in [&a, &b, &c] {
        machine.check();
        assert_eq!(machine.numbers(), all);
        assert_eq!(machine.import(&c.export()).expect("imported").events, 0);
    }
}

/// A copy keeps writing under the common origin after its branch has arrived here; meanwhile this machine wrote, too.
#[test]
fn another_branch_of_the_own_chain_grows() {
    for own_is_longer in [true, false] {
        let a = Machine::with(1, 0..3);
        let b = a.copy(5);
        a.store(10..if own_is_longer { 20 } else { 11 });
        b.store(20..22);
        a.import(&b.export()).expect("imported");
        for number in [22, 23] {
            b.store(number..number + 1);
            let learned = a.import(&b.export()).expect("imported");
            assert_eq!((learned.events, learned.own_forks.len()), (1, 0));
            a.check();
        }
        // The chain branches again, at a later place and at an earlier one.
        let (c, d) = (b.copy(7), a.copy(8));
        c.store(30..32);
        b.store(40..41);
        for from in [&b, &c] {
            a.import(&from.export()).expect("imported");
        }
        d.import(&c.export()).expect("imported");
        a.store(50..51);
        a.import(&d.export()).expect("imported");
        a.check();
        d.check();
        let own = 10..if own_is_longer { 20 } else { 11 };
        let mut all: Vec<u64> = (0..3).chain(own).chain(20..24).collect();
        assert_eq!(d.numbers(), [&all[..], &[30, 31]].concat());
        all.extend([30, 31, 40, 50]);
        assert_eq!(a.numbers(), all);
        let e = Machine::new(9);
        e.import(&a.export()).expect("imported");
        e.check();
        assert_eq!(e.numbers(), all);
    }
}

/// An older own chain that lost its end, or all of it, gets it back from another machine. Events beyond the place where
/// a newer own chain goes on are taken as another branch.
#[test]
fn lost_events_of_an_older_own_chain_come_back() {
    for whole in [true, false] {
        let a = Machine::with(1, 0..6);
        let b = a.copy(5);
        a.store(6..8);
        b.import(&a.export()).expect("imported");
        b.store(8..10);
        let all: Vec<u64> = (0..10).collect();
        assert_eq!(b.numbers(), all);
        let c = Machine::with(7, 20..21);
        c.import(&b.export()).expect("imported");

        let segments = repair::segments(&b.disk);
        let origin = a.log().origin().expect("it has one");
        let chain = Path::new(STORE).join("log").join(origin.to_string());
        let path = segments.iter().find(|path| path.starts_with(&chain));
        let path = path.expect("it has a segment");
        let bytes = disk::read_all(&b.disk, path, u64::MAX).expect("it is read");
        match whole {
            true => b.disk.remove_file(path).expect("removed"),
            false => {
                let starts = repair::records(&bytes);
                let cut = starts[4].0;
                disk::replace(&b.disk, path, &bytes[..cut]).expect("written");
            }
        }
        let report = repair::repair(&b.disk, &b.env, &[]).expect("repaired");
        assert_eq!(report.gone.len(), 1, "{report:?}");
        b.check_files();
        assert!(b.numbers().len() < all.len());

        // Half of the missing events prove nothing, and do no harm.
        let half = Machine::with(1, 0..4);
        let learned = half.export();
        let learned = b.import(&learned).expect("imported");
        assert_eq!((learned.unproven.len(), learned.refilled_events), (1, 0));
        b.check_files();

        let learned = b.import(&c.export()).expect("imported");
        assert!(learned.refilled_events > 0, "{learned:?}");
        b.check();
        let mut numbers = all.clone();
        numbers.push(20);
        assert_eq!(b.numbers(), numbers);
    }
}

/// A store that was put back to an older state meets the events that it wrote later.
#[test]
fn earlier_writes_of_a_restored_store_come_back() {
    let a = Machine::with(1, 0..3);
    let older = a.copy(5);
    a.store(3..6);
    let learned = older.import(&a.export()).expect("imported");
    assert_eq!((learned.events, learned.unchanged), (3, 5));
    older.check();
    assert_eq!(older.numbers(), [0, 1, 2, 3, 4, 5]);
    older.store(7..8);
    a.store(6..7);
    // The store now writes under another origin, so there is no contradiction.
    a.import(&older.export()).expect("imported");
    older.import(&a.export()).expect("imported");
    for machine in [&a, &older] {
        machine.check();
        assert_eq!(machine.numbers(), [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}

#[test]
fn the_far_future_is_left_out_and_asked_for_again() {
    let (a, b) = (Machine::with(1, 0..3), Machine::with(2, 10..11));
    a.env.advance_ms(3 * 24 * 60 * 60 * 1_000);
    a.store(3..5);
    let learned = b.import(&a.export()).expect("imported");
    assert_eq!(learned.later.len(), 1);
    assert_eq!(learned.later[0].from_seq.0, 6);
    b.check();
    assert_eq!(b.numbers(), [0, 1, 2, 10]);
    b.env.advance_ms(3 * 24 * 60 * 60 * 1_000);
    let learned = b.import(&a.export()).expect("imported");
    assert_eq!((learned.events, learned.later.len()), (2, 0));
    b.check();
    assert_eq!(b.numbers(), [0, 1, 2, 3, 4, 10]);
}

/// Flips a bit in the payload of a memory.
fn damage(machine: &Machine, number: u64) {
    let text = logbed::numbered(number, 40).payload;
    for path in machine.disk.files() {
        let mut bytes = machine.disk.contents(&path);
        if let Some(at) = bytes.windows(text.len()).position(|window| window == text) {
            bytes[at + text.len() / 2] ^= 1;
            machine.disk.put(&path, &bytes);
            return;
        }
    }
    panic!("{number} is in no file");
}

#[test]
fn a_payload_that_is_damaged_here_comes_back() {
    let (a, b) = (Machine::with(1, 0..4), Machine::with(2, 10..12));
    b.import(&a.export()).expect("imported");
    a.import(&b.export()).expect("imported");
    // One of its own memories, one of the other machine's.
    damage(&b, 10);
    damage(&b, 2);
    let missing = |machine: &Machine| {
        let seen = machine.seen().into_iter();
        seen.filter(|event| event.payload.is_none()).count()
    };
    assert_eq!(missing(&b), 2);
    // The damaged texts are exported as withheld, and the other machine keeps its whole texts.
    let learned = a.import(&b.export()).expect("imported");
    assert!(!learned.changes_the_past);
    assert_eq!(missing(&a), 0);
    let learned = b.import(&a.export()).expect("imported");
    assert_eq!(learned.refilled_bodies, 2);
    assert!(learned.changes_the_past && b.log().redaction_pending());
    b.check();
    assert_eq!(missing(&b), 0);
    assert!(b.export() == a.export(), "nothing is left of the damage");
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

/// A forged log that would take for ever is refused.
#[test]
fn impossible_events_are_refused() {
    let a = Machine::with(1, 0..1);
    let log = a.log();
    let origin = log.origin().expect("it has one");
    for _ in 0..15 {
        let tip = log.tip().expect("there are events");
        let undos = vec![undo(origin, (Seq(1), tip.seq), tip.event); 512];
        logbed::append(&log, &*a.env, undos, Durability::Synced).expect("appended");
    }
    let b = Machine::with(2, 10..11);
    let before = b.seen();
    let error = b.import(&a.export()).expect_err("it is refused");
    assert!(matches!(error, LogError::TooTangled { .. }), "{error}");
    assert_eq!(b.seen(), before);

    let (c, d) = (Machine::with(1, 0..2), Machine::with(3, 20..21));
    branch(&c.disk, &d.disk, 4_200);
    let error = b.import(&d.export()).expect_err("it is refused");
    assert!(matches!(error, LogError::TooTangled { .. }), "{error}");
    assert_eq!(b.seen(), before);
}

/// More than two machines may write under one origin.
#[test]
fn a_chain_branches_more_than_once_at_a_place() {
    let (c, d) = (Machine::with(1, 0..2), Machine::with(3, 20..21));
    branch(&c.disk, &d.disk, 5);
    let (e, f) = (Machine::with(4, 30..31), Machine::new(5));
    for (from, to) in [(&d, &e), (&e, &f), (&f, &d), (&d, &f)] {
        to.import(&from.export()).expect("imported");
        to.check();
    }
    e.import(&f.export()).expect("imported");
    d.import(&e.export()).expect("imported");
    f.import(&d.export()).expect("imported");
    for machine in [d, e, f] {
        let mut branches = machine.seen();
        branches.retain(|event| event.seq == Seq(4) && event.payload.is_none());
        assert_eq!(branches.len(), 5);
    }
}

/// Gives a store the chain of another store, with many different last events.
fn branch(from: &SimDisk, to: &SimDisk, count: u32) {
    let path = &repair::segments(from)[0];
    let bytes = from.contents(path);
    let last = repair::records(&bytes).last().expect("a record").0;
    let Parsed::Record(shape) = record::parse(&bytes[last..]) else {
        panic!("it is one");
    };
    let record = shape.view(&bytes[last..]);
    let header = SegmentHeader::new(record.common().origin, record.seq());
    to.create_dir_all(path.parent().expect("a folder"))
        .expect("created");
    for n in 0..count {
        let mut head = record.head.to_vec();
        // The change is in the subject of the event.
        head[96..100].copy_from_slice(&n.to_le_bytes());
        let mut segment = header.encode().to_vec();
        record::encode(&mut segment, Seq(0), &head, None);
        let name = SegmentName::new(record.seq(), hash::event_id(&head));
        to.put(path.with_file_name(name.to_string()), &segment);
    }
    to.put(path, &bytes[..last]);
}

/// A machine that lost events from the middle of a chain, or a text, lacks the range that holds them, even if its last
/// event is there.
#[test]
fn events_lost_within_a_range_are_lacking() {
    let a = Machine::with(1, 0..6);
    let ranges = a.log().held_ranges().expect("it reads");
    for text_alone in [false, true] {
        let b = Machine::with(2, 10..11);
        b.import(&a.export()).expect("imported");
        let lacking = |b: &Machine| b.log().lacking(&ranges).expect("it reads").ranges;
        assert_eq!(lacking(&b), []);
        let origin = a.log().origin().expect("it has one");
        let chain = Path::new(STORE).join("log").join(origin.to_string());
        let segments = repair::segments(&b.disk);
        let path = segments.iter().find(|path| path.starts_with(&chain));
        let path = path.expect("it has a segment");
        let mut bytes = disk::read_all(&b.disk, path, u64::MAX).expect("it is read");
        let records = repair::records(&bytes);
        let lost = records[3].0..records[4].0;
        match text_alone {
            // The last byte of a record belongs to its payload.
            true => bytes[lost.end - 1] ^= 1,
            false => drop(bytes.drain(lost)),
        }
        disk::replace(&b.disk, path, &bytes).expect("written");
        if !text_alone {
            repair::repair(&b.disk, &b.env, &[]).expect("repaired");
        }
        assert_eq!(lacking(&b), ranges, "{text_alone}");
        b.import(&a.export()).expect("imported");
        assert_eq!(lacking(&b), [], "{text_alone}");
    }
}
