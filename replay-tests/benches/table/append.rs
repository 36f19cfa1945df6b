//! Measures durable appends against a plain sync of the disk.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use icm_log::disk::RealDisk;
use icm_log::{Durability, Log, SubjectId};
use icm_service::SystemEnv;

use crate::clock::p50;
use crate::{Target, data, fresh, row};

const ROUNDS: usize = 10;
const ROUND: usize = 150;
const THREADS: usize = 8;

fn durable(log: &Log) {
    let mut writer = log
        .begin(&SystemEnv, Duration::from_secs(5))
        .expect("its turn comes");
    data::append(&mut writer, &SystemEnv, data::middling(SubjectId([3; 16])));
    writer.commit(Durability::Synced).expect("the disk syncs");
}

pub(crate) fn run(dir: &Path) {
    let dir = fresh(dir, "append");
    let mut plain = OpenOptions::new()
        .create(true)
        .append(true)
        .open(dir.join("plain"))
        .expect("the folder can be written");
    let log = Log::open(Arc::new(RealDisk), &dir.join("store")).expect("an empty folder");
    let (mut syncs, mut appends, mut rates) = (Vec::new(), Vec::new(), Vec::new());
    durable(&log);
    // At the start of a segment each append reads it again; wait until that is over.
    std::thread::sleep(Duration::from_millis(500));
    durable(&log);
    let before = log.len_bytes().expect("it reads");
    // The rounds alternate, so that other load on the machine affects all figures alike.
    for round in 0..ROUNDS {
        for _ in 0..ROUND {
            let start = Instant::now();
            plain.write_all(&[1; 350]).expect("the disk has room");
            plain.sync_data().expect("the disk syncs");
            syncs.push(start.elapsed().as_secs_f64() * 1e6);
        }
        for _ in 0..ROUND {
            let start = Instant::now();
            durable(&log);
            appends.push(start.elapsed().as_secs_f64() * 1e6);
        }
        if round == 0 {
            let bytes = (log.len_bytes().expect("it reads") - before) / ROUND as u64;
            eprintln!("  a record of {bytes} B");
        }
        let start = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| (0..ROUND).for_each(|_| durable(&log)));
            }
        });
        rates.push((THREADS * ROUND) as f64 / start.elapsed().as_secs_f64());
    }
    let (sync, append, rate) = (p50(&mut syncs), p50(&mut appends), p50(&mut rates));
    row(
        "durable append, one client (p50)",
        &format!("{append:.0} µs"),
        &format!("fdatasync of a 350 B append {sync:.0} µs"),
        append / sync,
        ("≤ 1.2×", Target::AtMost(1.2)),
    );
    row(
        "durable appends, 8 threads",
        &format!("{rate:.0}/s"),
        &format!("1 / fdatasync {:.0}/s", 1e6 / sync),
        rate * sync / 1e6,
        ("≥ 1.5×", Target::AtLeast(1.5)),
    );
}
