//! Chains that branch: forks, restored stores, and their exchange.

use super::*;

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
pub(super) fn branch(from: &SimDisk, to: &SimDisk, count: u32) {
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
