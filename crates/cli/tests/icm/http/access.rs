//! Access control: tokens, hosts and web pages.

use serde_json::json;

use super::{Server, TOKEN};
use crate::world::{Says, World};

#[test]
fn requests_as_somebody_else_are_not_answered() {
    let world = World::with_memories();
    let server = Server::of(
        &world,
        "--allow-origin https://good.example --allow-host memory.example",
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
    // Requests of embedded content have no `Origin`.
    for site in ["cross-site", "same-site", "else", ""] {
        asked(&[("Sec-Fetch-Site", site)]).is_refused(403, "pages");
    }
    for site in ["none", "same-origin"] {
        asked(&[("Sec-Fetch-Site", site)]).is(200);
    }
    let ours = format!("http://127.0.0.1:{port}");
    for origin in [ours.as_str(), "http://localhost", "http://[::1]:3000"] {
        let answer = asked(&[("Origin", origin)]);
        // The server answers, but no browser shows the answer to the page.
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
    let server = Server::with(&world, "", &[("ICM_TOKEN", TOKEN)]);
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
        answer.head.says("www-authenticate: bearer realm=\"icm\"");
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
    drop(Server::of(&world, format!("--token-file '{file}'")));
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
    let server = Server::of(&world, format!("--token-file '{file}'"));
    assert_eq!(std::fs::read_to_string(&path).expect("it stays"), token);
    let right = format!("Bearer {}", token.trim());
    server
        .ask("GET /log", &[("Authorization", &right)], "")
        .is(200);
    drop(server);

    let serve = |args: &str| world.icm(("serve --http 127.0.0.1:0", args));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    serve(&format!("--token-file '{file}'")).fails(2, "other users can read");
    let short = world.write("short", "secret\n");
    std::fs::set_permissions(&short, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    serve(&format!("--token-file '{}'", short.to_str().expect("text"))).fails(2, "16 to 512");
    serve("--token-file no/such/folder/token").fails(2, "no/such/folder");
    serve("--token-file .").fails(2, "not a regular file");
}

#[test]
fn a_server_that_only_reads_changes_nothing() {
    let world = World::with_memories();
    let before = world.now();
    let server = Server::of(&world, "--read-only");
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
