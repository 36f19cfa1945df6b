//! The end of a server, and the service files that start it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::Server;
use crate::world::{Says, World};

#[test]
fn asked_to_end_it_answers_writes_its_views_and_goes() {
    let world = World::new();
    let logs = world.path("logs");
    let mut server = Server::of(
        &world,
        format!("--log-dir '{}'", logs.to_str().expect("text")),
    );
    for n in 0..100 {
        let body = json!({"topic": "t", "content": format!("fact number {n}")});
        server.post("/store", &body).is(200);
    }
    // Half a request does not delay the end.
    let mut idle = TcpStream::connect(server.address).expect("it listens");
    idle.write_all(b"GET /hea").expect("it reads");
    server.signal(Signal::TERM);
    let status = server.child.wait().expect("it ends");
    assert!(status.success(), "{status:?}");
    let mut err = String::new();
    server.err.read_to_string(&mut err).expect("text");
    assert_eq!(err, "");
    assert_eq!(world.json("stats")["memories"], 100);

    let files: Vec<_> = std::fs::read_dir(&logs).expect("a folder").collect();
    assert_eq!(files.len(), 1);
    let file = files[0].as_ref().expect("a file").path();
    let text = std::fs::read_to_string(&file).expect("text");
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert!(
        lines.iter().any(|line| line["fields"]["message"]
            .as_str()
            .is_some_and(|m| m.contains("asked to end"))),
        "{text}"
    );
    text.lacks("fact number");
}

/// Work in progress at the signal is finished and answered, over MCP and over HTTP.
#[test]
fn asked_to_end_it_answers_what_is_under_way() {
    let world = World::new();
    let mut server = Server::of(&world, "");
    let body = json!({"topic": "t", "content": "there is a store"});
    server.post("/store", &body).is(200);
    let lock = std::fs::File::open(world.store().join("lock")).expect("it is there");
    lock.lock().expect("it is locked");
    let call = json!({
        "name": "icm_memory_store",
        "arguments": {"topic": "t", "content": "by a tool"},
    });
    let by_path = json!({"topic": "t", "content": "by a path"});
    std::thread::scope(|scope| {
        let asking = &server;
        let of_tool = scope.spawn(move || asking.mcp("/mcp", "tools/call", call, &[]));
        let of_path = scope.spawn(move || asking.post("/store", &by_path));
        std::thread::sleep(Duration::from_millis(300));
        server.signal(Signal::TERM);
        std::thread::sleep(Duration::from_millis(300));
        lock.unlock().expect("it was locked");
        let said = of_tool.join().expect("it is answered");
        let error = &said.is(200).json()["result"]["isError"];
        assert_eq!(error, &json!(false), "{said:?}");
        of_path.join().expect("it is answered").is(200);
    });
    assert!(server.child.wait().expect("it ends").success());
    assert_eq!(world.json("stats")["memories"], 3);
}

/// An answer that is longer than the buffers is finished as long as its client reads.
#[test]
fn asked_to_end_it_finishes_a_long_answer_that_is_read_slowly() {
    let world = World::new();
    let lines: Vec<String> = (0..150)
        .map(|n| {
            let content = format!("ipsum {n} {}", "dolor ".repeat(10_000));
            json!({"topic": "long", "content": content}).to_string() + "\n"
        })
        .collect();
    world
        .icm_with("import jsonl -", lines.concat().as_bytes())
        .ok();
    let mut server = Server::of(&world, "");
    let mut stream = TcpStream::connect(server.address).expect("it listens");
    let ask = format!(
        "GET /recall?query=ipsum&limit=150 HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        server.address
    );
    stream.write_all(ask.as_bytes()).expect("it reads");
    let mut answer = vec![0; 100_000];
    stream.read_exact(&mut answer).expect("it answers");
    server.signal(Signal::TERM);
    std::thread::sleep(Duration::from_millis(1_500));
    stream.read_to_end(&mut answer).expect("it is not cut");
    let text = String::from_utf8(answer).expect("text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a body");
    let head = head.to_ascii_lowercase();
    let (_, len) = head.split_once("content-length: ").expect("its length");
    let len: usize = len.lines().next().expect("it").parse().expect("a number");
    assert!(len > 8_000_000, "{len}");
    assert_eq!(body.len(), len);
    assert!(server.child.wait().expect("it ends").success());
}

#[test]
fn a_server_that_cannot_start_has_no_service_file() {
    let world = World::new();
    let serve = |args: &str| world.icm(format!("serve {args} --print-unit systemd"));
    serve("--http 0.0.0.0:7437").fails(2, "can be reached from other machines");
    serve("--http 0.0.0.0:7437 --token-file t").ok();
    assert!(!world.path("t").exists(), "it is made when it starts");
    serve("--http 7437 --allow-origin none").fails(2, "is not an origin");
    serve("--http 7437 --tools icm_undo --read-only").fails(2, "no tool is left");
}

#[test]
fn a_service_file_holds_what_was_asked_for() {
    let world = World::new();
    let serve = |args: &str| world.icm(("serve --http 7437", args));
    let systemd = serve("--print-unit systemd --token-file 'a 100% token' --toolsets core --structured --answer-max 50000")
    .ok();
    let token = world.path("a 100%% token");
    let line = systemd
        .out
        .lines()
        .find(|line| line.starts_with("ExecStart="))
        .expect("a command");
    for word in [
        "\"--http\" \"127.0.0.1:7437\"",
        "\"--toolsets\" \"core\"",
        "\"--answer-max\" \"50000\"",
        "\"--structured\"",
        "\"--db\"",
        &format!("\"{}\"", token.display()),
    ] {
        line.says(word);
    }
    line.lacks("print-unit");
    systemd.err.says("systemctl --user");
    let launchd = serve("--print-unit launchd --allow-host 'a&b'").ok();
    launchd.out.says("<string>a&amp;b</string>");
    // Printing a unit makes no files.
    assert!(!world.store().exists());
    world.icm("serve --print-unit systemd").ends(2);
}
