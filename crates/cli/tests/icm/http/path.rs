//! The plain paths for scripts.

use serde_json::{Value, json};

use super::Server;
use crate::world::{Look, World, tree};

#[test]
fn a_script_stores_recalls_and_reads_the_log() {
    let world = World::new();
    let server = Server::of(&world, "");
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
        found["results"][0].has(json!({"id": id.as_str(), "content": "the pool holds 20"}));
    }
    let log = server.get("/log?kind=memory.stored").is(200).json();
    assert_eq!(log["events"][0]["kind"], "memory.stored", "{log}");
    // The command line shows the same.
    assert_eq!(
        world.json(format!("get {id}"))["content"],
        "the pool holds 20"
    );
}

#[test]
fn a_recall_over_http_keeps_to_a_floor() {
    let world = World::with_memories();
    let server = Server::of(&world, "");
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
    none["nearest"].has(json!({"id": best["id"], "content": best["content"]}));
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
    let server = Server::of(&world, "");
    let document = server.get("/openapi.json").is(200).json();
    let document = serde_json::to_string_pretty(&document).unwrap();
    crate::frozen::check("openapi.json", &format!("{document}\n"));
}

#[test]
fn the_same_request_is_done_once() {
    let world = World::new();
    let server = Server::of(&world, "");
    let body = json!({"topic": "t", "content": "once"}).to_string();
    let ask = |body: &str| server.ask("POST /store", &[("Idempotency-Key", "k-1")], body);
    let first = ask(&body).is(200).json();
    assert_eq!(ask(&body).is(200).json()["id"], first["id"]);
    ask(&json!({"topic": "t", "content": "another"}).to_string()).is_refused(409, "k-1");
    let both = json!({"topic": "t", "content": "x", "request_id": "k-2"}).to_string();
    ask(&both).is_refused(400, "differ");
    assert_eq!(world.json("stats")["memories"], 1);
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let world = World::with_memories();
    let server = Server::of(&world, "");
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
    assert_eq!(world.json("stats")["memories"], 3);
}

#[test]
fn answers_of_a_damaged_log_say_that_they_lack_events() {
    let world = World::with_memories();
    let server = Server::of(&world, "");
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

    let server = Server::of(&world, "--structured");
    // No request has met the damage yet.
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
