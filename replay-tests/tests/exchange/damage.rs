//! Exchanges that are cut off, damaged, or impossible.

use super::branches::branch;
use super::*;

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
