//! Listening addresses, and requests that are too long.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use super::Server;
use crate::world::{World, run};

#[test]
fn addresses_where_it_cannot_or_must_not_listen_are_told() {
    let world = World::with_memories();
    let server = Server::of(&world, "");
    let taken = server.address.to_string();
    let serve = |args: &str| world.icm(("serve --http", args));
    serve(&format!("'{taken}'")).fails(2, "in use");
    serve("0.0.0.0:0").fails(2, "no token is set");
    serve("'[::]:0'").fails(2, "no token is set");
    serve("192.0.2.1:7437").fails(2, "no token is set");
    serve("127.0.0.1:0 --allow-origin good.example").fails(2, "not an origin");
    serve("127.0.0.1:0 --allow-host http://good.example").fails(2, "not the name");
    let mut unset = world.command("serve --http 127.0.0.1:0");
    run(unset.env("ICM_TOKEN", ""), b"").fails(2, "ICM_TOKEN is set, and empty");
    let mut short = world.command("serve --http 0");
    run(short.env("ICM_TOKEN", "short"), b"").fails(2, "ICM_TOKEN: the token must be");
    for wrong in ["nowhere", "127.0.0.1", "127.0.0.1:99999", ""] {
        assert_eq!(serve(&format!("'{wrong}'")).code, 2, "{wrong}");
    }
}

#[test]
fn too_much_at_once_is_refused_and_the_server_goes_on() {
    let world = World::with_memories();
    let server = Server::of(&world, "");
    let large = json!({"topic": "t", "content": "a".repeat(2 << 20)});
    server.post("/store", &large).is_refused(413, "1048576");
    // The server does not read a body whose announced length is too long.
    let announced = b"POST /store HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n";
    server
        .say(announced)
        .is_refused(413, "is longer than 1048576");
    let cut = b"POST /store HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{}";
    let mut stream = TcpStream::connect(server.address).expect("it listens");
    stream.write_all(cut).expect("it reads");
    drop(stream);
    assert_eq!(server.say(b"no HTTP at all\r\n\r\n").status, 400);
    let head = format!(
        "GET /health HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
        "a".repeat(128 << 10)
    );
    assert_eq!(server.say(head.as_bytes()).status, 431);
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    server
        .ask("POST /store", &[], &deep)
        .is_refused(400, "JSON");
    assert!(
        server
            .ask(
                "POST /mcp",
                &[("Accept", "application/json, text/event-stream")],
                &deep
            )
            .status
            >= 400
    );
    server.get("/health").is(200);
}

#[test]
fn a_server_of_a_folder_that_can_be_no_store_does_not_start() {
    let world = World::new();
    let folder = world.store();
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("notes.txt"), "of somebody").expect("a file");
    for http in [[].as_slice(), &["--http", "0"]] {
        let args = [["serve"].as_slice(), http].concat();
        world.icm(args).fails(2, "is not a store and not empty");
    }
}

#[test]
fn a_script_is_told_which_port_was_free() {
    let world = World::with_memories();
    let mut command = world.command("--json serve --http 0");
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe"))
        .read_line(&mut line)
        .expect("text");
    let said: Value = serde_json::from_str(&line).expect("JSON");
    let address = said["address"].as_str().expect("an address");
    assert_eq!(said["mcp"], format!("http://{address}/mcp"));
    let answers = TcpStream::connect(address).is_ok();
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(answers, "{address}");
}
