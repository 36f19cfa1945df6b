//! Measures recalls by several threads of one process, alone and beside other work.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use icm_api::{Caller, RecallRequest, StoreRequest};
use icm_log::Log;
use icm_log::disk::RealDisk;
use icm_service::{Service, SystemEnv};

use serde_json::json;

use crate::data::{self, Text};
use crate::{Target, fresh, http, row};

const MEMORIES: usize = 10_000;
const RUN: Duration = Duration::from_secs(4);
/// Time for which another process holds the lock.
const HELD: Duration = Duration::from_secs(1);
/// Pause between two stores: 100 a second.
const BETWEEN_STORES: Duration = Duration::from_millis(10);

/// Asks until `is_over`; returns the times of the answers, in microseconds.
fn recalls(seed: u64, ask: &mut dyn FnMut(String), is_over: &dyn Fn() -> bool) -> Vec<f64> {
    let (mut text, mut times) = (Text::new(seed), Vec::new());
    while !is_over() {
        let query = text.query();
        let begun = Instant::now();
        ask(query);
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    times
}

/// A function that asks, for a thread of its own.
type Asker<'a> = Box<dyn FnMut(String) + 'a>;

/// Returns the recalls a second of `threads` threads.
fn rate<'a>(asker: &(dyn Fn() -> Asker<'a> + Sync), threads: u64) -> f64 {
    let begun = Instant::now();
    let is_over = || begun.elapsed() > RUN;
    let all = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            // Any number of threads shares the same two lists of questions.
            .map(|thread| scope.spawn(move || recalls(thread % 2, &mut asker(), &is_over).len()))
            .collect();
        let counts = threads
            .into_iter()
            .map(|thread| thread.join().expect("it ran"));
        counts.sum::<usize>()
    });
    all as f64 / begun.elapsed().as_secs_f64()
}

/// Returns the median and the 99th percentile of the times beside `other`.
fn beside<'a>(
    asker: &(dyn Fn() -> Asker<'a> + Sync),
    other: impl Fn(&dyn Fn() -> bool) + Sync,
) -> (f64, f64) {
    let begun = Instant::now();
    let is_over = AtomicBool::new(false);
    let mut times = thread::scope(|scope| {
        scope.spawn(|| other(&|| is_over.load(Ordering::Relaxed)));
        let times = recalls(3, &mut asker(), &|| begun.elapsed() > RUN);
        is_over.store(true, Ordering::Relaxed);
        times
    });
    times.sort_by(f64::total_cmp);
    (times[times.len() / 2], times[times.len() * 99 / 100])
}

/// Holds the lock of the log for a second at a time, until `is_over`.
fn holds(store: &Path, is_over: &dyn Fn() -> bool) {
    let log = Log::open(std::sync::Arc::new(RealDisk), store).expect("it opens");
    while !is_over() {
        let held = log.begin(&SystemEnv, HELD).expect("its turn comes");
        thread::sleep(HELD);
        drop(held);
    }
}

fn stores(service: &Service, pause: Duration, is_over: &dyn Fn() -> bool) {
    let mut text = Text::new(4);
    while !is_over() {
        let request = StoreRequest::new(text.topic(), text.content());
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
    in_process(&service, &store);
    drop(service);
    over_http(&store);
}

fn in_process(service: &Service, store: &Path) {
    let asker = || -> Asker<'_> {
        Box::new(|query| {
            let request = RecallRequest::new(query);
            let answer = service.recall(&Caller::default(), &request);
            answer.expect("it answers");
        })
    };
    rate(&asker, 2);
    let [one, two, eight] = [1, 2, 8].map(|threads| rate(&asker, threads));
    row(
        "recalls of two threads, 10 k memories",
        &format!("{two:.0}/s"),
        &format!("one thread {one:.0}/s"),
        two / one,
        ("≥ 1.8×", Target::AtLeast(1.8)),
    );
    row(
        "recalls of eight threads",
        &format!("{eight:.0}/s"),
        &format!("two threads {two:.0}/s"),
        eight / two,
        ("no slower", Target::AtLeast(0.95)),
    );
    let alone = beside(&asker, |_| {});
    against(
        "recalls of one thread while another holds the lock of the log for a second",
        (alone, beside(&asker, |is_over| holds(store, is_over))),
        ("≤ 3×", Target::AtMost(3.0)),
    );
    let storing = |pause| {
        let stores = |is_over: &dyn Fn() -> bool| stores(service, pause, is_over);
        beside(&asker, stores)
    };
    against(
        "the same while 100 stores a second come in, and views are taken further",
        (alone, storing(BETWEEN_STORES)),
        ("≤ 3×", Target::AtMost(3.0)),
    );
    against(
        "the same while stores come in without a pause, and views are taken further",
        (alone, storing(Duration::ZERO)),
        ("told", Target::None),
    );
}

/// Measures the same through `icm serve --http`; the clients share the cores with the server.
fn over_http(store: &Path) {
    let server = http::Server::start(store);
    let asker = || -> Asker<'_> {
        let mut client = server.client();
        Box::new(move |query| client.call("icm_memory_recall", &json!({"query": query})))
    };
    rate(&asker, 2);
    let [one, two, eight] = [1, 2, 8].map(|clients| rate(&asker, clients));
    row(
        "recalls of two clients over HTTP, 10 k memories",
        &format!("{two:.0}/s"),
        &format!("one client {one:.0}/s"),
        two / one,
        ("told", Target::None),
    );
    row(
        "recalls of eight clients over HTTP",
        &format!("{eight:.0}/s"),
        &format!("two clients {two:.0}/s"),
        eight / two,
        ("no slower", Target::AtLeast(0.95)),
    );
    let alone = beside(&asker, |_| {});
    against(
        "recalls of one client over HTTP while another process holds the lock of the log for a second",
        (alone, beside(&asker, |is_over| holds(store, is_over))),
        ("≤ 3×", Target::AtMost(3.0)),
    );
    let storing = beside(&asker, |is_over| {
        let (mut client, mut text) = (server.client(), Text::new(4));
        while !is_over() {
            let memory = json!({"topic": text.topic(), "content": text.content()});
            client.call("icm_memory_store", &memory);
            thread::sleep(BETWEEN_STORES);
        }
    });
    against(
        "the same while 100 stores a second come in over HTTP",
        (alone, storing),
        ("≤ 3×", Target::AtMost(3.0)),
    );
}

/// Prints a row: the 99th percentile beside other work, against the median alone.
fn against(
    path: &str,
    ((alone, alone_p99), (_, p99)): ((f64, f64), (f64, f64)),
    target: (&str, Target),
) {
    row(
        path,
        &format!("p99 {p99:.0} µs"),
        &format!("p50 alone {alone:.0} µs, p99 {alone_p99:.0} µs"),
        p99 / alone,
        target,
    );
}
