//! Measures the least time that a machine needs for durable answers to many clients. The server decides nothing: it
//! appends a line and shares syncs, with a thread for each connection.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::clock::{self, cpu_of};
use crate::{Target, fresh, row};

const CLIENTS: usize = 8;
const LOAD: Duration = Duration::from_secs(3);
const RECORD: [u8; 350] = [1; 350];
const ANSWER: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"id\":\"01234567890123456789012345\",\"position\":1}}\n";

/// The lengths up to which the file is written, and synced.
#[derive(Default)]
struct Reached {
    written: u64,
    synced: u64,
    /// `true` while a thread syncs.
    is_taken: bool,
}

/// Runs the server in a process of its own: answers until it is killed.
pub(crate) fn serve(dir: &Path) {
    let listener = UnixListener::bind(dir.join("socket")).expect("a socket");
    let file = File::create(dir.join("log")).expect("the folder can be written");
    let (reached, changed) = (Mutex::new(Reached::default()), Condvar::new());
    std::thread::scope(|scope| {
        for stream in listener.incoming() {
            let (file, reached, changed) = (&file, &reached, &changed);
            scope.spawn(move || answer(stream.expect("a client"), file, reached, changed));
        }
    });
}

fn answer(mut stream: UnixStream, file: &File, reached: &Mutex<Reached>, changed: &Condvar) {
    let mut lines = BufReader::new(stream.try_clone().expect("a socket"));
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).expect("it reads") > 0 {
        line.clear();
        let mut now = reached.lock().expect("no panic");
        let offset = now.written * RECORD.len() as u64;
        file.write_all_at(&RECORD, offset)
            .expect("the disk has room");
        now.written += 1;
        let own = now.written;
        while now.synced < own {
            if now.is_taken {
                now = changed.wait(now).expect("no panic");
                continue;
            }
            now.is_taken = true;
            let until = now.written;
            drop(now);
            file.sync_data().expect("the disk syncs");
            now = reached.lock().expect("no panic");
            (now.synced, now.is_taken) = (until, false);
            changed.notify_all();
        }
        drop(now);
        stream.write_all(ANSWER).expect("it listens");
    }
}

pub(crate) fn run(dir: &Path) {
    let dir = fresh(dir, "floor");
    let sync = clock::sync_us(&dir);
    let mut server = Command::new(std::env::current_exe().expect("a path"))
        .arg(&dir)
        .arg("floor-server")
        .stdin(Stdio::null())
        .spawn()
        .expect("it starts");
    let socket = dir.join("socket");
    while !socket.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let question = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"store\",\"params\":[\"{}\"]}}\n",
        "x".repeat(400)
    );
    let client = |end: Instant| {
        let mut stream = UnixStream::connect(&socket).expect("it listens");
        let mut answers = BufReader::new(stream.try_clone().expect("a socket"));
        let (mut asked, mut line) = (0, String::new());
        while Instant::now() < end {
            stream.write_all(question.as_bytes()).expect("it listens");
            line.clear();
            answers.read_line(&mut line).expect("it answers");
            asked += 1;
        }
        asked
    };
    let cpu = || cpu_of(server.id()) + clock::cpu();
    let before = cpu();
    let end = Instant::now() + LOAD;
    let asked: u32 = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| client(end))).collect();
        let done = clients.into_iter().map(|client| client.join());
        done.map(|asked| asked.expect("no panic")).sum()
    });
    let each = (cpu() - before).as_secs_f64() * 1e6 / f64::from(asked);
    let rate = f64::from(asked) / LOAD.as_secs_f64();
    server.kill().expect("it is there");
    server.wait().expect("it ends");
    row(
        "appended lines by a socket, 8 clients at once, nothing decided",
        &format!("{rate:.0}/s; CPU a line {each:.0} µs of server and clients"),
        &format!("1 / fdatasync {:.0}/s", 1e6 / sync),
        rate * sync / 1e6,
        ("", Target::None),
    );
}
