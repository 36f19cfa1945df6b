//! Measures folding the log, and building every view from it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use icm_log::disk::RealDisk;
use icm_log::{Cursor, Log};
use icm_projections::Views;
use icm_projections::fold::fold_afresh;

use crate::clock::{cpu_s, p50};
use crate::{Target, data, fresh, row};

const MILLION: f64 = 1e6;

fn open(dir: &Path) -> Log {
    Log::open(Arc::new(RealDisk), dir).expect("it was prepared")
}

/// The logs, and their contents.
const MIXES: [(&str, &str); 2] = [
    ("stores", "all stores"),
    ("life", "20 % stores, 10 % updates, 70 % recalls of 10"),
];

pub(crate) fn fold(dir: &Path) {
    for (name, mix) in MIXES {
        let log = open(&dir.join(name));
        let scan = cpu_s(|| {
            log.scan(&Cursor::START, &mut |_| std::ops::ControlFlow::Continue(()))
                .expect("whole")
        });
        let mut folds = Vec::new();
        let mut events = 0.0;
        for _ in 0..3 {
            let (seconds, tally) = cpu_s(|| fold_afresh(&log, &mut |_| {}).expect("it folds"));
            events = tally.events as f64;
            folds.push(seconds);
        }
        let fold = events / p50(&mut folds) / MILLION;
        row(
            &format!("fold afresh, {mix}"),
            &format!("{fold:.2} M events/s CPU"),
            &format!("scan alone {:.2} M events/s", events / scan.0 / MILLION),
            fold,
            ("≥ 1 M events/s", Target::AtLeast(1.0)),
        );
    }
    table(dir);
}

/// Measures table and rows alone, beside reading the log.
fn table(dir: &Path) {
    for (name, mix) in MIXES {
        let log = open(&dir.join(name));
        let scan = cpu_s(|| {
            log.scan(&Cursor::START, &mut |_| std::ops::ControlFlow::Continue(()))
                .expect("whole")
        });
        let mut builds = Vec::new();
        let mut events = 0.0;
        for _ in 0..3 {
            let built = fresh(dir, "built-table");
            let (seconds, tally) =
                cpu_s(|| Views::build_table(&built, &log, &mut |_| {}).expect("it builds"));
            events = tally.events as f64;
            builds.push(seconds);
        }
        let build = events / p50(&mut builds) / MILLION;
        row(
            &format!("build of table and rows, {mix}"),
            &format!("{build:.3} M events/s CPU"),
            &format!("scan alone {:.2} M events/s", events / scan.0 / MILLION),
            build / (events / scan.0 / MILLION),
            ("told", Target::None),
        );
    }
}

pub(crate) fn run(dir: &Path) {
    for (name, mix) in MIXES {
        let log = open(&dir.join(name));
        let views = fresh(dir, "rebuilt-views");
        let start = Instant::now();
        let (seconds, built) = cpu_s(|| {
            Views::rebuild(&views, &log, Duration::from_secs(1), &mut |_| {}).expect("it builds")
        });
        let wall = start.elapsed().as_secs_f64();
        row(
            &format!("every view (table, rows, text), {mix}"),
            &format!(
                "{:.2} M events/s CPU",
                built.tally().events as f64 / seconds / MILLION
            ),
            &format!(
                "{} memories, {wall:.1} s wall, {seconds:.1} s CPU",
                built.tally().memories
            ),
            f64::NAN,
            ("told", Target::None),
        );
    }
    let store = data::sized(dir, 100_000);
    let log = open(&store);
    let views = fresh(dir, "rebuilt-views");
    let start = Instant::now();
    let (seconds, built) = cpu_s(|| {
        Views::rebuild(&views, &log, Duration::from_secs(1), &mut |_| {}).expect("it builds")
    });
    let wall = start.elapsed().as_secs_f64();
    row(
        "rebuild of every view, 100 k memories",
        &format!("{wall:.2} s wall, {seconds:.2} s CPU"),
        "",
        wall,
        ("< 15 s", Target::AtMost(15.0)),
    );
    let memories = built.tally().memories as f64;
    let (table, text, vectors) = built.sizes();
    let log_len = log.len_bytes().expect("it reads") as f64 / memories;
    let [table, text, vectors] = [table, text, vectors].map(|bytes| bytes as f64 / memories);
    let all = log_len + table + text + vectors;
    row(
        "disk per memory, 195 B text, 100 k memories",
        &format!("{all:.0} B"),
        &format!(
            "log {log_len:.0} + table and rows {table:.0} + text {text:.0} + vectors {vectors:.0}"
        ),
        all / 1_024.0,
        ("≤ 2 KiB", Target::AtMost(2.0)),
    );
}
