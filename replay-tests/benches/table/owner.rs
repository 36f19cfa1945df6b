//! Measures one owner that answers other processes, and many processes at once.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use icm_api::error::ServiceError;
use icm_api::{Caller, StoreRequest};
use icm_server::AskOwner;
use icm_service::{OpenOptions, Service};
use serde_json::Value;

use crate::clock::{self, cpu_of, p50};
use crate::data::{self, Text};
use crate::mcp::Client;
use crate::{Target, fresh, row};

const CLIENTS: usize = 8;
const STORES: usize = 1_500;
const LOAD: Duration = Duration::from_secs(3);
const RUNS: usize = 60;
/// Pause of a client after a refusal.
const ASK_AGAIN: Duration = Duration::from_millis(10);

/// The `icm serve` that is the owner.
struct Owner {
    process: Child,
    socket: PathBuf,
}

impl Owner {
    fn of(store: &Path) -> Owner {
        let process = Command::new(crate::icm())
            .arg("--db")
            .arg(store)
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut owner = Owner {
            process,
            socket: PathBuf::new(),
        };
        while owner.socket.as_os_str().is_empty() {
            std::thread::sleep(Duration::from_micros(200));
            let bytes = std::fs::read(store.join("sock/owner")).unwrap_or_default();
            let notice: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            if notice["pid"] == owner.process.id() {
                owner.socket = notice["socket"].as_str().expect("a path").into();
            }
        }
        owner
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: a signal to a child that was not waited for.
        #[allow(unsafe_code)]
        let sent = unsafe { libc::kill(self.process.id() as libc::pid_t, signal) };
        assert_eq!(sent, 0, "it is there");
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // The process may be gone already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Makes a store with one memory.
fn begun(dir: &Path, name: &str) -> PathBuf {
    let store = fresh(dir, name).join("store");
    client(&store)
        .store(&caller(), memory("first", "there is a store"))
        .expect("it stores");
    store
}

fn client(store: &Path) -> Service {
    let options = OpenOptions {
        dir: store.to_owned(),
        lock_wait: Duration::from_secs(30),
        read_only: false,
    };
    let service = Service::open(options).expect("it opens");
    service.asking(icm_server::owner::peer(store, AskOwner::All))
}

fn caller() -> Caller {
    Caller {
        actor: "bench".into(),
        ..Caller::default()
    }
}

fn memory(topic: impl Into<String>, content: impl Into<String>) -> StoreRequest {
    StoreRequest::new(topic, content)
}

/// Returns microseconds of a sync of 350 appended bytes, and of a request to the owner without work.
fn limits(dir: &Path, owner: &Owner) -> (f64, f64) {
    let mut rounds = Vec::new();
    let mut stream = UnixStream::connect(&owner.socket).expect("it listens");
    let mut answers = BufReader::new(stream.try_clone().expect("a socket"));
    for _ in 0..500 {
        let start = Instant::now();
        stream
            .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}\n")
            .expect("it listens");
        let mut line = String::new();
        answers.read_line(&mut line).expect("it answers");
        rounds.push(start.elapsed().as_secs_f64() * 1e6);
    }
    (clock::sync_us(dir), p50(&mut rounds))
}

/// The waiting times of stores, in milliseconds.
#[derive(Default)]
struct Waits {
    /// The longest time until an answer, for each store.
    answers: Vec<f64>,
    /// Time until each memory was stored. A client that is told of a stopped process asks again.
    stored: Vec<f64>,
}

/// Runs `CLIENTS` clients that store, while `disturb` runs.
fn under_load(store: &Path, disturb: impl FnOnce()) -> Waits {
    let stop = AtomicBool::new(false);
    let waits = Mutex::new(Waits::default());
    std::thread::scope(|scope| {
        for who in 0..CLIENTS {
            let (stop, waits) = (&stop, &waits);
            scope.spawn(move || {
                let (service, caller) = (client(store), caller());
                let mut text = Text::new(100 + who as u64);
                let mut own = Waits::default();
                while !stop.load(Ordering::Relaxed) {
                    let n = own.stored.len();
                    let request = StoreRequest {
                        request_id: Some(format!("{who}-{n}")),
                        ..memory(text.topic(), format!("{} {who} {n}", text.content()))
                    };
                    let (begun, mut longest) = (Instant::now(), 0.0_f64);
                    loop {
                        let asked = Instant::now();
                        let answer = service.store(&caller, request.clone());
                        longest = longest.max(ms_since(asked));
                        match answer {
                            Err(ServiceError::Stopped { .. }) => std::thread::sleep(ASK_AGAIN),
                            stored => break drop(stored.expect("it stores")),
                        }
                    }
                    own.answers.push(longest);
                    own.stored.push(ms_since(begun));
                }
                let mut waits = waits.lock().expect("no panic");
                waits.answers.extend(own.answers);
                waits.stored.extend(own.stored);
            });
        }
        disturb();
        stop.store(true, Ordering::Relaxed);
    });
    waits.into_inner().expect("no panic")
}

fn ms_since(moment: Instant) -> f64 {
    moment.elapsed().as_secs_f64() * 1e3
}

fn p99(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() * 99 / 100]
}

pub(crate) fn run(dir: &Path) {
    stores(dir);
    commands(dir);
    takeover(dir);
}

/// Measures stores through an owner: with one client, and with many.
pub(crate) fn stores(dir: &Path) {
    let store = begun(dir, "owner");
    let owner = Owner::of(&store);
    let (sync, round) = limits(dir, &owner);
    let limit = format!("fdatasync {sync:.0} µs + round trip {round:.0} µs");
    let (service, caller) = (client(&store), caller());
    let mut text = Text::new(7);
    let mut one = Vec::new();
    for _ in 0..STORES {
        let request = memory(text.topic(), text.content());
        let start = Instant::now();
        service.store(&caller, request).expect("it stores");
        one.push(start.elapsed().as_secs_f64() * 1e6);
    }
    let one = p50(&mut one);
    row(
        "store through the owner, one client (p50)",
        &format!("{one:.0} µs"),
        &limit,
        one / (sync + round),
        ("≤ 2×", Target::AtMost(2.0)),
    );
    let cpu = || [cpu_of(owner.process.id()), clock::cpu()];
    let (start, before) = (Instant::now(), cpu());
    let mut waits = under_load(&store, || std::thread::sleep(LOAD));
    let rate = waits.stored.len() as f64 / start.elapsed().as_secs_f64();
    let each = |now: Duration, then: Duration| {
        (now - then).as_secs_f64() * 1e6 / waits.stored.len() as f64
    };
    let now = cpu();
    let [owners, clients] = [0, 1].map(|at| each(now[at], before[at]));
    row(
        "stores through the owner, 8 clients at once",
        &format!(
            "{rate:.0}/s, p99 {:.1} ms; CPU a store {owners:.0} µs of the owner, {clients:.0} µs of the clients",
            p99(&mut waits.stored)
        ),
        &format!("1 / fdatasync {:.0}/s", 1e6 / sync),
        rate * sync / 1e6,
        ("≥ 1.5×", Target::AtLeast(1.5)),
    );
}

/// Measures the command line beside a server, against a process that does nothing.
pub(crate) fn commands(dir: &Path) {
    let store = data::sized(dir, 10_000);
    let _owner = Owner::of(&store);
    let mut text = Text::new(8);
    let mut walls: [Vec<f64>; 3] = Default::default();
    for run in 0..RUNS + 5 {
        for (column, walls) in walls.iter_mut().enumerate() {
            let mut command = match column {
                0 => Command::new(dir.join("nothing")),
                _ => Command::new(crate::icm()),
            };
            match column {
                0 => {}
                1 => {
                    _ = command
                        .arg("--db")
                        .arg(&store)
                        .args(["store", "-t", "t", "-c"])
                        .arg(text.content())
                }
                _ => {
                    _ = command
                        .arg("--db")
                        .arg(&store)
                        .arg("recall")
                        .arg(text.query())
                }
            }
            let wall = wall_ms(&mut command);
            if run >= 5 {
                walls.push(wall);
            }
        }
    }
    let [nothing, stored, recalled] = walls.map(|mut walls| p50(&mut walls));
    for (what, wall) in [("store", stored), ("recall", recalled)] {
        row(
            &format!("`icm {what}` beside a server, 10 k memories, to the end"),
            &format!("{wall:.2} ms"),
            &format!("empty process {nothing:.2} ms"),
            wall / nothing,
            ("≤ 3×", Target::AtMost(3.0)),
        );
    }
}

fn wall_ms(command: &mut Command) -> f64 {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().expect("it starts");
    assert!(status.success(), "it ends well");
    start.elapsed().as_secs_f64() * 1e3
}

/// Measures the waits of clients while the owner is killed, or stopped for a while, twenty times in a row.
pub(crate) fn takeover(dir: &Path) {
    let told = |what: &str, mut waits: Waits, limit: &str| {
        let (answered, stored) = (p99(&mut waits.answers), p99(&mut waits.stored));
        let longest = |waits: &[f64]| waits.last().copied().unwrap_or_default();
        row(
            what,
            &format!(
                "answered: p99 {answered:.1} ms, longest {:.0} ms; stored: p99 {stored:.1} ms, longest {:.0} ms; of {} stores",
                longest(&waits.answers),
                longest(&waits.stored),
                waits.stored.len()
            ),
            limit,
            stored / 100.0,
            ("< 100 ms", Target::AtMost(1.0)),
        );
    };
    let store = begun(dir, "killed");
    let waits = under_load(&store, || {
        for _ in 0..20 {
            let owner = Owner::of(&store);
            std::thread::sleep(Duration::from_millis(100));
            owner.signal(libc::SIGKILL);
        }
    });
    told(
        "a store while the owner is killed 20 times, 8 clients",
        waits,
        "",
    );
    let store = begun(dir, "stopped");
    let owner = Owner::of(&store);
    let waits = under_load(&store, || {
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(100));
            owner.signal(libc::SIGSTOP);
            std::thread::sleep(Duration::from_millis(200));
            owner.signal(libc::SIGCONT);
        }
    });
    let what = "a store while the owner is stopped 20 times for 200 ms, 8 clients";
    told(
        what,
        waits,
        "who holds the lock meanwhile is named, and not waited for",
    );
}

/// Measures many processes that start or write at once, and one that starts beside much load.
pub(crate) fn many(dir: &Path) {
    let mut worst = Vec::new();
    for _ in 0..10 {
        let store = fresh(dir, "ten").join("store");
        let waits: Vec<f64> = std::thread::scope(|scope| {
            let begun: Vec<_> = (0..10)
                .map(|who| {
                    let store = &store;
                    scope.spawn(move || {
                        let mut command = Command::new(crate::icm());
                        let content = format!("the memory of process {who}");
                        command
                            .arg("--db")
                            .arg(store)
                            .args(["store", "-t", "t", "-c", &content]);
                        wall_ms(&mut command)
                    })
                })
                .collect();
            begun
                .into_iter()
                .map(|run| run.join().expect("it stores"))
                .collect()
        });
        let stats = client(&store).stats(None).expect("it reads");
        assert_eq!(stats.memories, 10, "ten of ten");
        worst.push(waits.into_iter().fold(0.0, f64::max));
    }
    let worst = p50(&mut worst);
    row(
        "ten processes at once on a folder that does not exist: the slowest (p50 of 10)",
        &format!("{worst:.0} ms"),
        "ten of ten",
        worst / 100.0,
        ("< 100 ms", Target::AtMost(1.0)),
    );

    let store = fresh(dir, "four").join("store");
    let waits = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for who in 0..4 {
            let (store, waits) = (&store, &waits);
            scope.spawn(move || {
                let mut client = Client::start(store);
                let mut text = Text::new(200 + who);
                let mut own = Vec::new();
                for n in 0..250 {
                    let content = format!("{} {who} {n}", text.content());
                    let arguments = serde_json::json!({"topic": text.topic(), "content": content});
                    let start = Instant::now();
                    client.call("icm_memory_store", &arguments);
                    own.push(start.elapsed().as_secs_f64() * 1e3);
                }
                client.end();
                waits.lock().expect("no panic").extend(own);
            });
        }
    });
    let stats = client(&store).stats(None).expect("it reads");
    assert_eq!(stats.memories, 1_000, "none lost, none doubled");
    let mut waits = waits.into_inner().expect("no panic");
    let (middle, last) = (p50(&mut waits), p99(&mut waits));
    row(
        "4 MCP servers × 250 stores on one new store",
        &format!("p50 {middle:.2} ms, p99 {last:.2} ms"),
        "1,000 of 1,000",
        last / middle,
        ("p99 < 10 × p50", Target::AtMost(10.0)),
    );

    let store = data::sized(dir, 100_000);
    let mut text = Text::new(9);
    let mut walls = Vec::new();
    for _ in 0..20 {
        let start = Instant::now();
        let mut client = Client::start(&store);
        client.call(
            "icm_memory_recall",
            &serde_json::json!({"query": text.query()}),
        );
        walls.push(start.elapsed().as_secs_f64() * 1e3);
        client.end();
    }
    let wall = p50(&mut walls);
    row(
        "start of `icm serve` to its first recall, 100 k memories (p50)",
        &format!("{wall:.1} ms"),
        "",
        wall / 50.0,
        ("< 50 ms", Target::AtMost(1.0)),
    );
}
