//! Recalls of several threads of one process, and what stands in their way.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use icm_api::{Caller, RecallRequest, StoreRequest};
use icm_log::Log;
use icm_log::disk::RealDisk;
use icm_service::{Service, SystemEnv};

use crate::data::{self, Text};
use crate::{Target, fresh, row};

const MEMORIES: usize = 10_000;
const RUN: Duration = Duration::from_secs(4);
/// How long another process holds the lock.
const HELD: Duration = Duration::from_secs(1);
/// Pause between two stores: 100 a second.
const BETWEEN_STORES: Duration = Duration::from_millis(10);

/// Recalls until it is over; returns how long each took, in microseconds.
fn recalls(service: &Service, seed: u64, is_over: &dyn Fn() -> bool) -> Vec<f64> {
    let (mut text, mut times) = (Text::new(seed), Vec::new());
    while !is_over() {
        let request = RecallRequest {
            query: text.query(),
            ..RecallRequest::default()
        };
        let begun = Instant::now();
        let answer = service.recall(&Caller::default(), &request);
        times.push(begun.elapsed().as_secs_f64() * 1e6);
        answer.expect("it answers");
    }
    times
}

/// Recalls a second of so many threads.
fn rate(service: &Service, threads: u64) -> f64 {
    let begun = Instant::now();
    let is_over = || begun.elapsed() > RUN;
    let all = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|seed| scope.spawn(move || recalls(service, seed, &is_over).len()))
            .collect();
        let counts = threads
            .into_iter()
            .map(|thread| thread.join().expect("it ran"));
        counts.sum::<usize>()
    });
    all as f64 / begun.elapsed().as_secs_f64()
}

/// The median and the 99th of a hundred.
fn beside(service: &Service, other: impl Fn(&dyn Fn() -> bool) + Sync) -> (f64, f64) {
    let begun = Instant::now();
    let is_over = AtomicBool::new(false);
    let mut times = thread::scope(|scope| {
        scope.spawn(|| other(&|| is_over.load(Ordering::Relaxed)));
        let times = recalls(service, 3, &|| begun.elapsed() > RUN);
        is_over.store(true, Ordering::Relaxed);
        times
    });
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

fn stores(service: &Service, pause: Duration, is_over: &dyn Fn() -> bool) {
    let mut text = Text::new(4);
    while !is_over() {
        let request = StoreRequest {
            topic: text.topic(),
            content: text.content(),
            ..StoreRequest::default()
        };
        service
            .store(&Caller::default(), request)
            .expect("it stores");
        service.settle_between();
        thread::sleep(pause);
    }
}

pub(crate) fn run(dir: &Path) {
    let store = fresh(dir, "reads");
    let mut text = Text::new(1);
    let mut filler = data::Filler::new(&store);
    filler.store(MEMORIES, &mut text);
    drop(filler);
    let service = data::service(&store);
    service.rebuild(&icm_api::NoProgress).expect("it builds");
    rate(&service, 2);
    let [one, two, eight] = [1, 2, 8].map(|threads| rate(&service, threads));
    let told = |path: &str, figure: String, peer: String, ratio: f64, target| {
        row(path, &figure, &peer, ratio, target);
    };
    told(
        "recalls of two threads, 10 k memories",
        format!("{two:.0}/s"),
        format!("one thread {one:.0}/s"),
        two / one,
        ("≥ 1.8×", Target::AtLeast(1.8)),
    );
    told(
        "recalls of eight threads",
        format!("{eight:.0}/s"),
        format!("two threads {two:.0}/s"),
        eight / two,
        ("no slower", Target::AtLeast(0.95)),
    );
    let (alone, alone_p99) = beside(&service, |_| {});
    let peer = format!("p50 alone {alone:.0} µs, p99 {alone_p99:.0} µs");
    let against = |path: &str, (_, p99): (f64, f64), target| {
        told(
            path,
            format!("p99 {p99:.0} µs"),
            peer.clone(),
            p99 / alone,
            target,
        );
    };
    against(
        "recalls of one thread while another holds the lock of the log for a second",
        beside(&service, |is_over| {
            let log = Log::open(std::sync::Arc::new(RealDisk), &store).expect("it opens");
            while !is_over() {
                let held = log.begin(&SystemEnv, HELD).expect("its turn comes");
                thread::sleep(HELD);
                drop(held);
            }
        }),
        ("≤ 3×", Target::AtMost(3.0)),
    );
    against(
        "the same while 100 stores a second come in, and views are taken further",
        beside(&service, |is_over| {
            stores(&service, BETWEEN_STORES, is_over)
        }),
        ("≤ 3×", Target::AtMost(3.0)),
    );
    against(
        "the same while stores come in without a pause, and views are taken further",
        beside(&service, |is_over| {
            stores(&service, Duration::ZERO, is_over)
        }),
        ("told", Target::None),
    );
}
