//! How `icm serve` ends when it is asked to.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::owner::notice;
use crate::terminal::{side, terminal};
use crate::world::World;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

fn ask_to_end(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("it runs");
}

#[test]
fn a_server_that_is_asked_to_end_answers_first() {
    for signal in [Signal::TERM, Signal::INT] {
        let world = World::with_memories();
        let mut command = world.command(["serve"]);
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
        // The input stays open: it is the signal that ends it.
        assert!(lines.next().is_none());
        let status = child.wait().expect("it ends");
        assert!(status.success(), "{signal:?}: {status}");
        let log = world.icm(["log", "--kind", "memory.recalled"]).ok();
        assert_eq!(log.out.lines().count(), 1, "the recall is recorded");
        assert_eq!(notice(&world), Value::Null);
        drop(input);
    }
}

/// What cannot be polled is read by a thread, whose read cannot be broken off.
#[test]
fn a_server_that_reads_a_terminal_ends_when_it_is_asked_to() {
    let world = World::with_memories();
    let (mut screen, path) = terminal();
    let answers = world.write("answers", String::new());
    let mut command = world.command(["serve"]);
    command.stdin(side(&path));
    command.stdout(std::fs::File::create(&answers).expect("a file"));
    let mut child = command.spawn().expect("it starts");
    // In two parts: a line may come in many.
    let (first, second) = HELLO.split_at(40);
    for part in [first, second, "\n"] {
        screen.write_all(part.as_bytes()).expect("it reads");
        std::thread::sleep(Duration::from_millis(20));
    }
    let given = Instant::now();
    while !std::fs::read_to_string(&answers)
        .expect("text")
        .contains('\n')
    {
        assert!(given.elapsed() < Duration::from_secs(60), "it answers");
        std::thread::sleep(Duration::from_millis(10));
    }
    ask_to_end(&child, Signal::TERM);
    let asked = Instant::now();
    assert!(child.wait().expect("it ends").success());
    // Whatever hangs is waited for 10 s.
    assert!(
        asked.elapsed() < Duration::from_secs(8),
        "it was waited for"
    );
}

/// Starts a server, asks more than its output holds, and lets it stand before that.
fn unread(world: &World, answers: impl Into<Stdio>) -> Child {
    let asked =
        (2..100).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#));
    let stored = r#"{"jsonrpc":"2.0","id":100,"method":"tools/call","params":{"name":"icm_memory_store","arguments":{"topic":"unread","content":"it is kept all the same"}}}"#;
    let lines: Vec<String> = [HELLO.to_owned(), stored.to_owned()]
        .into_iter()
        .chain(asked)
        .collect();
    let requests = world.write("requests", lines.join("\n"));
    let mut command: Command = world.command(["serve"]);
    command.stdin(std::fs::File::open(requests).expect("a file"));
    let child = command
        .stdout(answers)
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let begun = Instant::now();
    while world.icm(["list", "--topic", "unread"]).out.is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it stores");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

fn ends_unread(mut child: Child) {
    ask_to_end(&child, Signal::TERM);
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be asked") {
            break status;
        }
        if begun.elapsed() > Duration::from_secs(30) {
            child.kill().expect("it runs");
            panic!("it is there 30 s after it was asked to end");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut said = String::new();
    let errors = child.stderr.as_mut().expect("a pipe");
    errors.read_to_string(&mut said).expect("text");
    assert!(said.contains("nobody reads them"), "{status}: {said}");
}

#[test]
fn a_server_whose_answers_nobody_reads_ends_when_it_is_asked_to() {
    let world = World::with_memories();
    let (answers, unread_end) = std::io::pipe().expect("a pipe");
    ends_unread(unread(&world, unread_end));
    drop(answers);
}

/// As when its terminal is halted with Ctrl-S.
#[test]
fn a_server_whose_terminal_shows_nothing_ends_when_it_is_asked_to() {
    let world = World::with_memories();
    let (screen, path) = terminal();
    ends_unread(unread(&world, side(&path)));
    drop(screen);
}
