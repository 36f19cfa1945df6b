//! The end of `icm serve` after a signal.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::owner::notice;
use crate::terminal::{side, terminal};
use crate::world::{Says, World};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

fn ask_to_end(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("it runs");
}

#[test]
fn a_server_that_is_asked_to_end_answers_first() {
    for signal in [Signal::TERM, Signal::INT] {
        let world = World::with_memories();
        let mut command = world.command("serve");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("it starts");
        let mut input = child.stdin.take().expect("a pipe");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        writeln!(input, "{HELLO}").expect("it reads");
        lines.next().expect("an answer").expect("it reads");
        let recall = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"icm_memory_recall","arguments":{"query":"invoices"}}}"#;
        writeln!(input, "{recall}").expect("it reads");
        lines.next().expect("an answer").expect("it reads");
        ask_to_end(&child, signal);
        // The input stays open, so it is the signal that ends the server.
        assert!(lines.next().is_none());
        let status = child.wait().expect("it ends");
        assert!(status.success(), "{signal:?}: {status}");
        let log = world.ok("log --kind memory.recalled");
        assert_eq!(log.out.lines().count(), 1, "the recall is recorded");
        assert_eq!(notice(&world), Value::Null);
        drop(input);
    }
}

/// A killed client cannot close the server's input, and a sibling of the server may hold the input open.
#[test]
fn a_server_ends_with_its_parent_though_its_input_is_open() {
    let world = World::with_memories();
    // The test holds the other end of the input, like a sibling.
    let mut command = Command::new("sh");
    // A shell gives a background command an empty input by default.
    let script = r#"exec 3<&0; "$ICM" serve <&3 3<&- & echo $! >&2; wait"#;
    command.args(["-c", script]).env_clear();
    command.env("ICM", env!("CARGO_BIN_EXE_icm"));
    command
        .env("HOME", world.path(""))
        .env("ICM_DB", world.store());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut parent = command.spawn().expect("it starts");
    let mut input = parent.stdin.take().expect("a pipe");
    let mut errors = BufReader::new(parent.stderr.take().expect("a pipe"));
    let mut number = String::new();
    errors.read_line(&mut number).expect("text");
    let server = number
        .trim()
        .parse()
        .ok()
        .and_then(Pid::from_raw)
        .expect("a process");
    let mut lines = BufReader::new(parent.stdout.take().expect("a pipe")).lines();
    writeln!(input, "{HELLO}").expect("it reads");
    lines.next().expect("an answer").expect("it reads");
    parent.kill().expect("it runs");
    parent.wait().expect("it ends");
    // Only the server still holds its output open.
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || tell.send(lines.next().is_none()));
    let ended = told.recv_timeout(Duration::from_secs(9));
    if ended.is_err() {
        kill_process(server, Signal::KILL).expect("it runs");
    }
    assert_eq!(ended, Ok(true), "the server is there");
    drop(input);
}

/// Returns the exit status and stderr. The server must end within 9 s, before any wait runs out.
fn ended_soon(mut child: Child) -> (ExitStatus, String) {
    let asked = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be asked") {
            break status;
        }
        if asked.elapsed() > Duration::from_secs(9) {
            child.kill().expect("it runs");
            panic!("it is there 9 s after it was asked to end");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut said = String::new();
    let errors = child.stderr.as_mut().expect("a pipe");
    errors.read_to_string(&mut said).expect("text");
    (status, said)
}

/// Ctrl-C reaches a server directly and through the wrapper that started it.
#[test]
fn a_signal_that_comes_twice_at_once_is_one() {
    let world = World::with_memories();
    let requests = requests_beyond_a_pipe(&world);
    let mut command = world.command("serve");
    command.stdin(File::open(requests).expect("a file"));
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut answers = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut first = String::new();
    answers.read_line(&mut first).expect("text");
    ask_to_end(&child, Signal::INT);
    std::thread::sleep(Duration::from_millis(50));
    ask_to_end(&child, Signal::INT);
    std::thread::sleep(Duration::from_millis(50));
    let rest = std::io::read_to_string(answers).expect("text");
    assert_eq!(rest.lines().count(), 199);
    assert!(rest.ends_with('\n'), "no line is cut");
    let (status, said) = ended_soon(child);
    assert!(status.success(), "{status}: {said}");

    // A second signal after a while ends the server at once.
    let (answers, unread_end) = std::io::pipe().expect("a pipe");
    let child = unread(&world, unread_end);
    ask_to_end(&child, Signal::INT);
    std::thread::sleep(Duration::from_millis(700));
    ask_to_end(&child, Signal::INT);
    let (status, said) = ended_soon(child);
    assert_eq!(status.code(), Some(130), "{said}");
    drop(answers);
}

/// Some programs leave a terminal in non-blocking mode.
#[test]
fn a_stream_that_is_not_waited_for_by_the_system_is_waited_for() {
    let world = World::with_memories();
    let (screen, path) = terminal();
    let input = side(&path);
    rustix::io::ioctl_fionbio(&input, true).expect("a terminal");
    let child = answering_a_file(&world, input, &screen);
    ask_to_end(&child, Signal::TERM);
    let (status, said) = ended_soon(child);
    assert!(status.success(), "{status}: {said}");
}

#[test]
fn a_stream_that_cannot_be_used_is_told() {
    let world = World::new();
    let serve = |input: File| {
        let mut command = world.command("serve");
        let child = command.stdin(input).spawn().expect("it starts");
        let (status, said) = ended_soon(child);
        assert_eq!(status.code(), Some(2), "{said}");
        said
    };
    let said = serve(File::open(std::env::temp_dir()).expect("a folder"));
    said.says("standard input is a folder");
    let said = serve(File::create(world.path("written")).expect("a file"));
    said.says("standard input is open for the other direction alone");
}

/// Starts a server whose answers go to a file, and returns it after its first answer.
fn answering_a_file(world: &World, input: impl Into<Stdio>, mut ask: impl Write) -> Child {
    let path = world.write("answers", String::new());
    let mut command = world.command("serve");
    command
        .stdin(input)
        .stdout(File::create(&path).expect("a file"));
    let child = command.spawn().expect("it starts");
    // The line is sent in two parts: a line may arrive in many.
    let (first, second) = HELLO.split_at(40);
    for part in [first, second, "\n"] {
        ask.write_all(part.as_bytes()).expect("it reads");
        std::thread::sleep(Duration::from_millis(20));
    }
    let given = Instant::now();
    let answers = || std::fs::read_to_string(&path).expect("text");
    while !answers().contains('\n') {
        assert!(given.elapsed() < Duration::from_secs(60), "it answers");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

/// Streams that cannot be polled are read and written by threads, which cannot be interrupted.
#[test]
fn a_server_with_a_terminal_and_a_file_ends_when_it_is_asked_to() {
    let world = World::with_memories();
    let (screen, path) = terminal();
    let child = answering_a_file(&world, side(&path), &screen);
    ask_to_end(&child, Signal::TERM);
    let (status, said) = ended_soon(child);
    assert!(status.success(), "{status}: {said}");
}

#[test]
fn a_server_with_a_pipe_and_a_file_ends_when_it_is_asked_to() {
    let world = World::with_memories();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let child = answering_a_file(&world, reader, &writer);
    ask_to_end(&child, Signal::TERM);
    let (status, said) = ended_soon(child);
    assert!(status.success(), "{status}: {said}");
}

/// Writes a file with 200 requests, the second of which stores. Their answers are longer than a pipe's buffer.
fn requests_beyond_a_pipe(world: &World) -> PathBuf {
    let asked =
        (2..200).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#));
    let stored = r#"{"jsonrpc":"2.0","id":1000,"method":"tools/call","params":{"name":"icm_memory_store","arguments":{"topic":"unread","content":"it is kept all the same"}}}"#;
    let lines: Vec<String> = [HELLO.to_owned(), stored.to_owned()]
        .into_iter()
        .chain(asked)
        .collect();
    world.write("requests", lines.join("\n"))
}

/// Starts a server with more answers than its output takes, and returns after the store was done.
fn unread(world: &World, answers: impl Into<Stdio>) -> Child {
    let requests = requests_beyond_a_pipe(world);
    let mut command = world.command("serve");
    command.stdin(File::open(requests).expect("a file"));
    let child = command.stdout(answers).spawn().expect("it starts");
    let begun = Instant::now();
    while world.icm("list --topic unread").out.is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it stores");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

fn ends_unread(child: Child) {
    ask_to_end(&child, Signal::TERM);
    let (status, said) = ended_soon(child);
    assert_eq!(status.code(), Some(2), "{said}");
    said.says("nothing could be written for 5 s");
}

#[test]
fn a_server_whose_answers_nobody_reads_ends_when_it_is_asked_to() {
    let world = World::with_memories();
    let (answers, unread_end) = std::io::pipe().expect("a pipe");
    ends_unread(unread(&world, unread_end));
    drop(answers);
}

/// A terminal that Ctrl-S has halted.
#[test]
fn a_server_whose_terminal_shows_nothing_ends_when_it_is_asked_to() {
    let world = World::with_memories();
    let (screen, path) = terminal();
    ends_unread(unread(&world, side(&path)));
    drop(screen);
}
