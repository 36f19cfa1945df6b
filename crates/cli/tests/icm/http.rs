//! `icm serve --http`: who is answered, what, and how it ends.

mod ending;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::world::{World, run, tree};

const TOKEN: &str = "0123456789abcdef-a-token";

/// A server, with the lines of its stderr.
struct Server {
    child: Child,
    address: SocketAddr,
    err: BufReader<std::process::ChildStderr>,
}

/// An answer, as it came.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Server {
    fn of(world: &World, args: &[&str]) -> Server {
        Server::with(world, args, &[])
    }

    fn with(world: &World, args: &[&str], variables: &[(&str, &str)]) -> Server {
        let mut command = world.command(["serve", "--http", "127.0.0.1:0"]);
        command.args(args).envs(variables.iter().copied());
        let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
        let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
        let address = loop {
            let mut line = String::new();
            let len = err.read_line(&mut line).expect("text");
            assert!(len > 0, "it ended: {:?}", child.wait());
            if let Some((_, url)) = line.split_once("http://") {
                let address = url.split('/').next().expect("an address");
                break address.parse().expect("an address");
            }
        };
        Server {
            child,
            address,
            err,
        }
    }

    /// Says this, and reads until the other end hangs up.
    fn say(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .expect("a socket");
        // It may refuse before it has read everything.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Answer {
            status: status.unwrap_or_default(),
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        }
    }

    /// One request with these headers beside the usual ones; `Host` is set unless they say it.
    fn ask(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let has = |name: &str| {
            headers
                .iter()
                .any(|(known, _)| known.eq_ignore_ascii_case(name))
        };
        let mut request = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
        if !has("host") {
            request += &format!("Host: {}\r\n", self.address);
        }
        if !body.is_empty() && !has("content-type") {
            request += "Content-Type: application/json\r\n";
        }
        if !body.is_empty() || line.starts_with("POST") {
            request += &format!("Content-Length: {}\r\n", body.len());
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        self.say(format!("{request}\r\n{body}").as_bytes())
    }

    fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path}"), &[], "")
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask(&format!("POST {path}"), &[], &body.to_string())
    }

    /// A request of MCP in the newest revision.
    fn mcp(&self, path: &str, method: &str, mut params: Value, headers: &[(&str, &str)]) -> Answer {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "curl", "version": "8"},
        });
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut all = vec![
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", method),
        ];
        if !name.is_empty() {
            all.push(("Mcp-Name", &name));
        }
        all.extend(headers);
        self.ask(&format!("POST {path}"), &all, &body.to_string())
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it is there");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// An error with these words, and what to do.
    #[track_caller]
    fn is_refused(&self, status: u16, words: &str) {
        assert_eq!(self.status, status, "{self:?}");
        let error = &self.json()["error"];
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(words), "{self:?}");
        assert!(
            !error["hint"].as_str().unwrap_or_default().is_empty(),
            "{self:?}"
        );
    }

    #[track_caller]
    fn is(&self, status: u16) -> &Answer {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

#[test]
fn a_script_stores_recalls_and_reads_the_log() {
    let world = World::new();
    let server = Server::of(&world, &[]);
    let stored = server.post(
        "/store",
        &json!({"topic": "db", "content": "the pool holds 20", "keywords": "max,limit"}),
    );
    let id = stored.is(200).json()["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert_eq!(stored.json()["action"], "stored");

    let by_query = server
        .get("/recall?query=pool+holds&limit=3")
        .is(200)
        .json();
    let by_body = server
        .post("/recall", &json!({"query": "limit"}))
        .is(200)
        .json();
    for found in [by_query, by_body] {
        assert_eq!(found["results"][0]["id"], id.as_str(), "{found}");
        assert_eq!(found["results"][0]["content"], "the pool holds 20");
    }
    let log = server.get("/log?kind=memory.stored").is(200).json();
    assert_eq!(log["events"][0]["kind"], "memory.stored", "{log}");
    // The command line sees the same.
    assert_eq!(world.json(["get", &id])["content"], "the pool holds 20");
}

#[test]
fn a_recall_over_http_keeps_to_a_floor() {
    let world = World::with_memories();
    let server = Server::of(&world, &[]);
    let ask = |floor: &str| {
        let path = format!("/recall?query=payment+records&floor={floor}");
        server.get(&path).is(200).json()
    };
    let all = ask("0");
    let best = &all["results"][0];
    assert!(
        best["fit"].is_number() && best["matched"] == json!([]),
        "{all}"
    );
    assert_eq!(all.get("nearest"), None);
    let none = ask("0.95");
    assert_eq!(none["results"], json!([]));
    assert_eq!(none["nearest"]["id"], best["id"], "{none}");
    assert_eq!(none["nearest"]["content"], best["content"], "{none}");
    let body = json!({"query": "payment records", "floor": 0.95});
    let posted = server.post("/recall", &body).is(200).json();
    assert_eq!(posted["nearest"], none["nearest"]);
    let document = server.get("/openapi.json").is(200).json();
    let parameters = document["paths"]["/recall"]["get"]["parameters"].clone();
    let floor = parameters.as_array().expect("a list").iter();
    let floor = floor.filter(|it| it["name"] == "floor").count();
    assert_eq!(floor, 1, "{parameters}");
}

#[test]
fn the_document_is_as_before() {
    let world = World::new();
    let server = Server::of(&world, &[]);
    let document = server.get("/openapi.json").is(200).json();
    let document = serde_json::to_string_pretty(&document).unwrap();
    crate::frozen::check("openapi.json", &format!("{document}\n"));
}

#[test]
fn the_same_request_is_done_once() {
    let world = World::new();
    let server = Server::of(&world, &[]);
    let body = json!({"topic": "t", "content": "once"}).to_string();
    let ask = |body: &str| server.ask("POST /store", &[("Idempotency-Key", "k-1")], body);
    let first = ask(&body).is(200).json();
    assert_eq!(ask(&body).is(200).json()["id"], first["id"]);
    ask(&json!({"topic": "t", "content": "another"}).to_string()).is_refused(409, "k-1");
    let both = json!({"topic": "t", "content": "x", "request_id": "k-2"}).to_string();
    ask(&both).is_refused(400, "differ");
    assert_eq!(world.json(["stats"])["memories"], 1);
}

#[test]
fn what_is_not_right_is_told_with_what_to_do() {
    let world = World::with_memories();
    let server = Server::of(&world, &[]);
    server
        .post("/store", &json!({"topic": "t"}))
        .is_refused(400, "content");
    server
        .post(
            "/store",
            &json!({"topic": "t", "content": "c", "colour": 1}),
        )
        .is_refused(400, "colour");
    server
        .post("/store", &json!({"topic": [1], "content": "c"}))
        .is_refused(400, "topic");
    server.post("/store", &json!([1])).is_refused(400, "object");
    server
        .ask("POST /store", &[], "{\"topic\": ")
        .is_refused(400, "JSON");
    server
        .ask("POST /store", &[("Content-Type", "text/plain")], "{}")
        .is_refused(415, "JSON");
    server.get("/recall").is_refused(400, "query");
    server
        .get("/recall?query=a&query=b")
        .is_refused(400, "twice");
    server
        .get("/recall?query=a&limit=many")
        .is_refused(400, "limit");
    for floor in ["2", "-1", "x", "nan"] {
        server
            .get(&format!("/recall?query=a&floor={floor}"))
            .is_refused(400, "`floor` must be a number from 0 to 1");
    }
    server
        .get("/recall?query=a&colour=red")
        .is_refused(400, "colour");
    server
        .get("/recall?query=a&as_of=someday")
        .is_refused(400, "someday");
    server
        .get("/log?id=01ARZ3NDEKTSV4RRFFQ69G5FAV")
        .is_refused(404, "01ARZ3");
    server.get("/nothing").is_refused(404, "path");
    server.get("/store").is_refused(405, "method");
    let key = format!("AKIA{}", "QRSTUVWX23456742");
    server
        .post("/store", &json!({"topic": "t", "content": key}))
        .is_refused(422, "secret");
    assert_eq!(world.json(["stats"])["memories"], 3);
}

#[test]
fn who_asks_as_somebody_else_is_not_answered() {
    let world = World::with_memories();
    let server = Server::of(
        &world,
        &[
            "--allow-origin",
            "https://good.example",
            "--allow-host",
            "memory.example",
        ],
    );
    let port = server.address.port();
    let asked = |headers: &[(&str, &str)]| server.ask("GET /recall?query=billing", headers, "");

    for host in [
        "evil.example",
        "evil.example:80",
        "127.0.0.1.evil.example",
        "a@localhost",
        "",
        "0.0.0.0",
    ] {
        asked(&[("Host", host)]).is_refused(403, "name");
    }
    for host in ["localhost", "LOCALHOST:1", "[::1]:80", "memory.example"] {
        asked(&[("Host", host)]).is(200);
    }
    asked(&[("Host", "localhost"), ("Host", "evil.example")]).is_refused(403, "name");
    let absolute = "GET http://evil.example/recall?query=a";
    server
        .ask(absolute, &[("Host", "localhost")], "")
        .is_refused(403, "name");
    server
        .say(b"GET /health HTTP/1.0\r\n\r\n")
        .is_refused(403, "name");

    for origin in [
        "http://evil.example",
        "null",
        "https://localhost",
        "http://localhost.evil.example",
        "http://good.example",
        "https://good.example:444",
        "https://a@good.example",
        "file://",
        "http://localhost:port",
        "",
    ] {
        asked(&[("Origin", origin)]).is_refused(403, "pages");
    }
    // What a page embeds names no origin.
    for site in ["cross-site", "same-site", "else", ""] {
        asked(&[("Sec-Fetch-Site", site)]).is_refused(403, "pages");
    }
    for site in ["none", "same-origin"] {
        asked(&[("Sec-Fetch-Site", site)]).is(200);
    }
    let ours = format!("http://127.0.0.1:{port}");
    for origin in [ours.as_str(), "http://localhost", "http://[::1]:3000"] {
        let answer = asked(&[("Origin", origin)]);
        // Answered, but no browser shows it to the page.
        assert!(
            !answer.is(200).head.contains("access-control-allow-origin"),
            "{answer:?}"
        );
    }
    let good = asked(&[("Origin", "https://good.example")]);
    assert!(
        good.is(200)
            .head
            .contains("access-control-allow-origin: https://good.example"),
        "{good:?}"
    );
    let before = |origin: &str| {
        let headers = [
            ("Origin", origin),
            ("Access-Control-Request-Method", "POST"),
        ];
        server.ask("OPTIONS /mcp", &headers, "")
    };
    assert!(
        before("https://good.example")
            .is(204)
            .head
            .contains("authorization")
    );
    before("https://evil.example").is_refused(403, "pages");
}

#[test]
fn without_the_token_nothing_but_health_is_answered() {
    let world = World::with_memories();
    let server = Server::with(&world, &[], &[("ICM_TOKEN", TOKEN)]);
    let asked = |authorization: &str| {
        server.ask(
            "GET /recall?query=billing",
            &[("Authorization", authorization)],
            "",
        )
    };
    for path in [
        "/recall?query=a",
        "/log",
        "/metrics",
        "/openapi.json",
        "/nothing",
    ] {
        let answer = server.get(path);
        answer.is_refused(401, "required");
        assert!(
            answer
                .head
                .contains("www-authenticate: bearer realm=\"icm\""),
            "{answer:?}"
        );
    }
    server
        .mcp("/mcp", "tools/list", json!({}), &[])
        .is_refused(401, "required");
    let long = "a".repeat(8_000);
    for wrong in ["wrong", &TOKEN[1..], &format!("{TOKEN}x"), &long, ""] {
        asked(&format!("Bearer {wrong}")).is_refused(401, "");
    }
    asked(&format!("Basic {TOKEN}")).is_refused(401, "required");
    asked(TOKEN).is_refused(401, "required");
    let right = ("Authorization", &*format!("Bearer {TOKEN}"));
    server
        .ask("GET /log", &[right, ("Authorization", "Bearer wrong")], "")
        .is_refused(401, "");
    asked(&format!("bearer {TOKEN}")).is(200);
    server.ask("GET /metrics", &[right], "").is(200);
    server
        .mcp("/mcp", "tools/list", json!({}), &[right])
        .is(200);
    let health = server.get("/health").is(200).json();
    assert_eq!(health["status"], "ok");
}

#[test]
fn a_token_file_is_made_once_and_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let world = World::with_memories();
    let path = world.path("token");
    let file = path.to_str().expect("text");
    drop(Server::of(&world, &["--token-file", file]));
    let token = std::fs::read_to_string(&path).expect("it was made");
    assert_eq!(token.trim().len(), 64);
    let mode = |path| {
        std::fs::metadata(path)
            .expect("a file")
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode(&path), 0o600);
    let server = Server::of(&world, &["--token-file", file]);
    assert_eq!(std::fs::read_to_string(&path).expect("it stays"), token);
    let right = format!("Bearer {}", token.trim());
    server
        .ask("GET /log", &[("Authorization", &right)], "")
        .is(200);
    drop(server);

    let serve = |args: &[&str]| {
        let mut all = vec!["serve", "--http", "127.0.0.1:0"];
        all.extend(args);
        world.icm(all)
    };
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    serve(&["--token-file", file]).fails(2, "other users can read");
    let short = world.write("short", "secret\n");
    std::fs::set_permissions(&short, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    serve(&["--token-file", short.to_str().expect("text")]).fails(2, "16 to 512");
    serve(&["--token-file", "no/such/folder/token"]).fails(2, "no/such/folder");
    serve(&["--token-file", "."]).fails(2, "not a regular file");
}

#[test]
fn where_it_cannot_or_must_not_listen_is_told() {
    let world = World::with_memories();
    let server = Server::of(&world, &[]);
    let taken = server.address.to_string();
    let serve = |args: &[&str]| world.icm([&["serve", "--http"], args].concat());
    serve(&[&taken]).fails(2, "in use");
    serve(&["0.0.0.0:0"]).fails(2, "no token is set");
    serve(&["[::]:0"]).fails(2, "no token is set");
    serve(&["192.0.2.1:7437"]).fails(2, "no token is set");
    serve(&["127.0.0.1:0", "--allow-origin", "good.example"]).fails(2, "not an origin");
    serve(&["127.0.0.1:0", "--allow-host", "http://good.example"]).fails(2, "not the name");
    let mut unset = world.command(["serve", "--http", "127.0.0.1:0"]);
    run(unset.env("ICM_TOKEN", ""), b"").fails(2, "ICM_TOKEN is set, and empty");
    let mut short = world.command(["serve", "--http", "0"]);
    run(short.env("ICM_TOKEN", "short"), b"").fails(2, "ICM_TOKEN: the token must be");
    for wrong in ["nowhere", "127.0.0.1", "127.0.0.1:99999", ""] {
        assert_eq!(serve(&[wrong]).code, 2, "{wrong}");
    }
}

#[test]
fn too_much_at_once_is_refused_and_the_server_goes_on() {
    let world = World::with_memories();
    let server = Server::of(&world, &[]);
    let large = json!({"topic": "t", "content": "a".repeat(2 << 20)});
    server.post("/store", &large).is_refused(413, "1048576");
    // It is not waited for what its header says is too much.
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
fn mcp_is_the_same_as_on_stdin() {
    let world = World::with_memories();
    let server = Server::of(&world, &["--toolsets", "core", "--structured"]);
    let tools = |path: &str| {
        let list = server
            .mcp(path, "tools/list", json!({}), &[])
            .is(200)
            .json();
        let tools = list["result"]["tools"].as_array().expect("a list").clone();
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let (all, reading) = (tools("/mcp"), tools("/mcp/readonly"));
    assert!(all.contains(&"icm_memory_store".to_owned()), "{all:?}");
    assert!(
        !reading.contains(&"icm_memory_store".to_owned()),
        "{reading:?}"
    );
    assert!(
        reading.contains(&"icm_memory_recall".to_owned()),
        "{reading:?}"
    );

    let store =
        json!({"name": "icm_memory_store", "arguments": {"topic": "t", "content": "by HTTP"}});
    let stored = server
        .mcp("/mcp", "tools/call", store.clone(), &[])
        .is(200)
        .json();
    assert_eq!(
        stored["result"]["structuredContent"]["action"], "stored",
        "{stored}"
    );
    let refused = server.mcp("/mcp/readonly", "tools/call", store, &[]).json();
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    let log = world.json(["log", "-l", "1"]);
    assert_eq!(log["actor"], "agent:curl", "{log}");

    // A header that contradicts the body, another revision, and what is no method.
    let recall = json!({"name": "icm_memory_recall", "arguments": {"query": "billing"}});
    let other = server.mcp(
        "/mcp",
        "tools/call",
        recall,
        &[("Mcp-Method", "tools/list")],
    );
    assert_eq!(other.status, 400, "{other:?}");
    assert_eq!(server.mcp("/mcp", "tools/none", json!({}), &[]).status, 404);
    let legacy = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"},
    }});
    let accept = [("Accept", "application/json, text/event-stream")];
    let hello = server.ask("POST /mcp", &accept, &legacy.to_string());
    assert_eq!(
        hello.is(200).json()["result"]["protocolVersion"],
        "2025-11-25"
    );
    assert!(!hello.head.contains("mcp-session-id"), "{hello:?}");
    assert_eq!(
        server
            .ask("POST /mcp", &[("Accept", "text/html")], &legacy.to_string())
            .status,
        406
    );
    let plain = [accept[0], ("Content-Type", "text/plain")];
    assert_eq!(
        server.ask("POST /mcp", &plain, &legacy.to_string()).status,
        415
    );
    assert_eq!(server.ask("GET /mcp", &accept, "").status, 405);
}

/// Whoever sent an id gets an answer with it, as on stdin.
#[test]
fn what_is_no_message_has_an_answer_all_the_same() {
    let world = World::with_memories();
    let server = Server::of(&world, &[]);
    let accept = [("Accept", "application/json, text/event-stream")];
    let ask = |body: &str| server.ask("POST /mcp", &accept, body);
    for (body, code, id) in [
        ("garbage", -32700, json!(null)),
        (r#"{"jsonrpc":"2.0","id":3,"method":"#, -32700, json!(3)),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            -32600,
            json!(1),
        ),
        (
            r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#,
            -32600,
            json!(5),
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            -32600,
            json!(null),
        ),
        ("17", -32600, json!(null)),
        (" ", -32600, json!(null)),
    ] {
        let answer = ask(body);
        let reply = answer.is(400).json();
        assert_eq!(reply["error"]["code"], code, "{body}: {answer:?}");
        assert_eq!(reply["id"], id, "{body}: {answer:?}");
    }
    // Half of a surrogate pair, as JavaScript sends a text that was cut.
    let cut = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"icm_memory_store","arguments":{"topic":"t","content":"\ud83d"}}}"#;
    let reply = ask(cut).is(200).json();
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    let text = reply["result"]["content"][0]["text"]
        .as_str()
        .expect("a text");
    assert!(text.contains("surrogate"), "{text}");
}

#[test]
fn a_server_that_only_reads_changes_nothing() {
    let world = World::with_memories();
    let before = world.now();
    let server = Server::of(&world, &["--read-only"]);
    server
        .post("/store", &json!({"topic": "t", "content": "c"}))
        .is_refused(403, "only reads");
    server.get("/recall?query=billing").is(200);
    let document = server.get("/openapi.json").is(200).json();
    assert!(document["paths"]["/store"].is_null(), "{document}");
    assert!(
        document["paths"]["/recall"]["get"]["parameters"].is_array(),
        "{document}"
    );
    drop(server);
    assert_eq!(world.now(), before);
}

#[test]
fn what_a_damaged_log_says_is_not_all_and_says_so() {
    let world = World::with_memories();
    let server = Server::of(&world, &[]);
    let damage = |value: &Value| value["damage"].as_str().map(str::to_owned);
    let recall = || server.get("/recall?query=billing").is(200).json();
    assert_eq!(damage(&recall()), None);
    drop(server);
    let files = tree(&world.store().join("log")).into_iter();
    let mut paths = files.map(|(path, _)| path);
    let path = paths.find(|path| path.extension().is_some());
    let path = path.expect("a segment");
    let mut bytes = std::fs::read(&path).expect("it reads");
    bytes[100] ^= 1;
    std::fs::write(&path, bytes).expect("it writes");

    let server = Server::of(&world, &["--structured"]);
    // Nobody has asked for anything that met it.
    let health = server.get("/health").is(503).json();
    assert_eq!(health["status"], "damaged");
    let said = damage(&server.get("/recall?query=billing").is(200).json());
    assert!(said.is_some_and(|it| it.contains("the log is damaged")));
    let recall = json!({"name": "icm_memory_recall", "arguments": {"query": "billing"}});
    let answer = server.mcp("/mcp", "tools/call", recall, &[]).is(200).json();
    let text = answer["result"]["content"][0]["text"].as_str();
    assert!(
        text.is_some_and(|text| text.starts_with("note: the log is damaged")),
        "{answer}"
    );
    assert!(damage(&answer["result"]["structuredContent"]).is_some());
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
    let mut command = world.command(["--json", "serve", "--http", "0"]);
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

#[test]
fn a_monitor_reads_how_many_were_answered() {
    let world = World::with_memories();
    let before = world.json(["stats"])["positions"]
        .as_u64()
        .expect("a number");
    let server = Server::of(&world, &[]);
    server.get("/recall?query=billing").is(200);
    server.get("/a/path/that/somebody/made/up").is(404);
    let metrics = server.get("/metrics");
    let text = &metrics.is(200).body;
    for line in [
        "icm_http_requests_total{path=\"/recall\",method=\"GET\",status=\"200\"} 1",
        "icm_http_requests_total{path=\"other\",method=\"GET\",status=\"404\"} 1",
        "icm_http_request_duration_seconds_count{path=\"/recall\"} 1",
        "# EOF",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    assert!(!text.contains("made"), "{text}");
    let events = text
        .lines()
        .find_map(|line| line.strip_prefix("icm_log_events "));
    let events: u64 = events.and_then(|n| n.parse().ok()).expect("a number");
    // The recall may be noted by now.
    assert!([before, before + 1].contains(&events), "{text}");
}
