//! Tests against a server within the test: its answers, and their effects.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use super::*;

/// The reaction of the server to a request.
enum Reply {
    Json(u16, Value),
    Text(u16, &'static str),
    /// 429, with the seconds until the next try.
    Later(u64),
    /// No answer; the connection ends.
    Close,
    /// Half an answer.
    Cut,
    /// No answer for longer than any timeout.
    Hang,
}

struct Asked {
    texts: Vec<String>,
    body: Value,
    head: String,
}

/// A server that answers each request, numbered from 0, by a function.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    fn new(mut reply: impl FnMut(usize, &[String]) -> Reply + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let log = Arc::clone(&asked);
        // The thread ends with the process of the test.
        thread::spawn(move || {
            let mut held = Vec::new();
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(request) = read(&mut stream) else {
                    continue;
                };
                let mut log = log.lock().unwrap();
                let reply = reply(log.len(), &request.texts);
                log.push(request);
                drop(log);
                match reply {
                    Reply::Json(status, value) => {
                        write(&mut stream, status, "", &value.to_string())
                    }
                    Reply::Text(status, text) => write(&mut stream, status, "", text),
                    Reply::Later(s) => {
                        write(&mut stream, 429, &format!("Retry-After: {s}\r\n"), "{}")
                    }
                    Reply::Close => {}
                    Reply::Cut => {
                        let _ = stream
                            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{\"da");
                    }
                    Reply::Hang => held.push(stream),
                }
            }
        });
        Server { url, asked }
    }

    fn endpoint(&self) -> Endpoint {
        Endpoint {
            url: self.url.clone(),
            model: "tiny".into(),
            key_env: None,
            dim: Some(2),
            timeout: Duration::from_secs(5),
        }
    }

    fn embedder(&self) -> EndpointEmbedder {
        quick(&self.endpoint())
    }

    fn requests(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

/// Returns an embedder with short pauses.
fn quick(endpoint: &Endpoint) -> EndpointEmbedder {
    let mut embedder = EndpointEmbedder::new(endpoint).unwrap();
    embedder.pause_min = Duration::from_millis(1);
    embedder
}

fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    let mut len = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            len = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; len];
    reader.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).unwrap();
    let texts = body["input"].as_array().unwrap().iter();
    let texts = texts
        .map(|text| text.as_str().unwrap().to_owned())
        .collect();
    Some(Asked { texts, body, head })
}

fn write(stream: &mut TcpStream, status: u16, headers: &str, body: &str) {
    let _ = write!(
        stream,
        "HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
}

/// Answers with the vectors (length of the text, 1), last text first.
fn vectors(texts: &[String]) -> Reply {
    let vector = |(at, text): (usize, &String)| json!({ "index": at, "embedding": [text.len(), 1], "object": "embedding" });
    let data: Vec<Value> = texts.iter().enumerate().rev().map(vector).collect();
    Reply::Json(200, json!({ "object": "list", "data": data }))
}

fn data(embeddings: Value) -> Reply {
    let items = embeddings.as_array().unwrap().iter().enumerate();
    let items = items.map(|(at, vector)| json!({ "index": at, "embedding": vector }));
    Reply::Json(200, json!({ "data": items.collect::<Vec<_>>() }))
}

fn said(error: &EmbedError) -> String {
    let EmbedError::Unavailable { hint, .. } = error else {
        panic!("{error:?}");
    };
    let hint = hint.as_deref().unwrap();
    let said = format!("{error}; {hint}");
    assert!(!said.contains('\n'), "{said}");
    said
}

#[test]
fn vectors_come_in_the_order_of_the_texts_and_of_length_one() {
    let server = Server::new(|_, texts| vectors(texts));
    let embedder = server.embedder();
    let found = embedder.embed(&["four", "", "seventy", " \n"]).unwrap();
    assert_eq!(found.len(), 4);
    for (vector, x) in [(&found[0], 4.0f32), (&found[2], 7.0)] {
        let length = (x * x + 1.0).sqrt();
        assert!((vector[0] - x / length).abs() < 1e-6, "{vector:?}");
        assert!((vector[1] - 1.0 / length).abs() < 1e-6, "{vector:?}");
    }
    assert_eq!(found[1], [0.0, 0.0]);
    assert_eq!(found[3], [0.0, 0.0]);
    assert_eq!(embedder.embed_query("four").unwrap(), found[0]);
    assert_eq!(embedder.embed_query("").unwrap(), [0.0, 0.0]);
    assert_eq!(embedder.embed(&[]).unwrap(), Vec::<Vec<f32>>::new());
    let asked = server.asked.lock().unwrap();
    assert_eq!(asked.len(), 2, "what is empty is not sent");
    assert_eq!(asked[0].texts, ["four", "seventy"]);
    assert_eq!(asked[0].body["model"], "tiny");
    assert!(
        asked[0].head.starts_with("POST /v1/embeddings "),
        "{}",
        asked[0].head
    );
    assert!(!asked[0].head.to_lowercase().contains("authorization"));
}

#[test]
fn texts_go_in_batches_of_bounded_size() {
    let server = Server::new(|_, texts| vectors(texts));
    let texts: Vec<String> = (0..150).map(|n| "x".repeat(n + 1)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let found = server.embedder().embed(&texts).unwrap();
    for (n, vector) in found.iter().enumerate() {
        assert!((vector[0] / vector[1] - (n + 1) as f32).abs() < 0.01 * (n + 1) as f32);
    }
    let sizes = |server: &Server| -> Vec<usize> {
        let asked = server.asked.lock().unwrap();
        asked.iter().map(|asked| asked.texts.len()).collect()
    };
    assert_eq!(sizes(&server), [64, 64, 22]);
    let server = Server::new(|_, texts| vectors(texts));
    let long = "y".repeat(100 * 1024);
    server.embedder().embed(&[long.as_str(); 5]).unwrap();
    assert_eq!(sizes(&server), [2, 2, 1]);
}

#[test]
fn addresses_with_and_without_v1() {
    for (given, asked) in [
        ("http://h", "http://h/v1/embeddings"),
        ("http://h/", "http://h/v1/embeddings"),
        ("https://h:1/v1", "https://h:1/v1/embeddings"),
        ("http://h/api/v1/", "http://h/api/v1/embeddings"),
        ("http://h/openai/embeddings", "http://h/openai/embeddings"),
    ] {
        let server = Endpoint {
            url: given.into(),
            model: "m".into(),
            key_env: None,
            dim: Some(2),
            timeout: Duration::from_secs(1),
        };
        assert_eq!(EndpointEmbedder::new(&server).unwrap().wire.url, asked);
    }
    for given in [
        "",
        "h",
        "ftp://h",
        "http://",
        "http://a:secret@h",
        "http://h?x=1",
        "http://h h",
    ] {
        let server = Endpoint {
            url: given.into(),
            model: "m".into(),
            key_env: None,
            dim: Some(2),
            timeout: Duration::from_secs(1),
        };
        let error = EndpointEmbedder::new(&server).err().expect(given);
        assert!(said(&error).contains("embedding.url"), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[test]
fn ids_differ_by_server_model_and_dimension_and_are_names_of_files() {
    let ids = [
        id("http://a/v1/embeddings", "m", 2),
        id("http://b/v1/embeddings", "m", 2),
        id("http://a/v1/embeddings", "n/../x y", 2),
        id("http://a/v1/embeddings", "m", 3),
    ];
    for (at, id) in ids.iter().enumerate() {
        assert!(!ids[..at].contains(id));
        assert_eq!(*id, plain_name(id));
    }
}

#[test]
fn errors_that_may_pass_are_tried_again() {
    let server = Server::new(|n, texts| match n {
        0 => Reply::Later(0),
        1 => Reply::Json(503, json!({ "error": "loading" })),
        2 => Reply::Close,
        _ => vectors(texts),
    });
    server.embedder().embed(&["a"]).unwrap();
    assert_eq!(server.requests(), 4);
}

#[test]
fn errors_that_do_not_pass_end_the_request() {
    let server = Server::new(|_, _| Reply::Json(500, json!({ "error": { "message": "boom" } })));
    let error = server.embedder().embed(&["a"]).unwrap_err();
    assert!(said(&error).contains("out of order (500): boom"), "{error}");
    assert_eq!(server.requests(), 1 + TRIES_AGAIN);
    let error = server.embedder().embed_query("a").unwrap_err();
    assert!(said(&error).contains("(500)"), "{error}");
    assert_eq!(
        server.requests(),
        1 + TRIES_AGAIN + 2,
        "a question is asked twice at most"
    );
}

#[test]
fn each_mistake_is_named_once_and_with_a_remedy() {
    type Make = fn(usize, &[String]) -> Reply;
    let cases: [(Make, &str, &str); 14] = [
        (
            |_, _| Reply::Text(401, "no sk-12345"),
            "does not let us in",
            "embedding.key_env",
        ),
        (
            |_, _| Reply::Text(403, ""),
            "does not let us in",
            "embedding.key_env",
        ),
        (
            |_, _| {
                Reply::Json(
                    404,
                    json!({"error": {"message": "model \"tiny\" not found"}}),
                )
            },
            "model \"tiny\" not found",
            "embedding.endpoint_model",
        ),
        (
            |_, _| Reply::Text(302, ""),
            "refuses the request (302)",
            "embedding.url",
        ),
        (
            |_, _| Reply::Json(400, json!({"error": {"message": "no\nsuch thing"}})),
            "(400): no such thing",
            "embedding model",
        ),
        (
            |_, _| data(json!([])),
            "0 vectors for 1 texts",
            "embedding.url",
        ),
        (
            |_, _| data(json!([[1, 2], [1, 2]])),
            "2 vectors for 1 texts",
            "embedding.url",
        ),
        (
            |_, _| data(json!([[1, 2, 3]])),
            "3 numbers, not of 2",
            "embedding.dim",
        ),
        (
            |_, _| data(json!([[]])),
            "0 numbers, not of 2",
            "embedding.dim",
        ),
        (
            |_, _| data(json!([[1e39, 0]])),
            "out of range",
            "embedding.url",
        ),
        (
            |_, _| data(json!([[null, 0]])),
            "something else than embeddings",
            "embedding.url",
        ),
        (
            |_, _| Reply::Text(200, "{\"data\": [NaN"),
            "something else",
            "embedding.url",
        ),
        (
            |_, _| Reply::Text(200, "<html>"),
            "something else",
            "embedding.url",
        ),
        (
            |_, _| Reply::Json(200, json!({"data": [{"index": 7, "embedding": [1, 2]}]})),
            "index 7",
            "embedding.url",
        ),
    ];
    for (reply, why, hint) in cases {
        let server = Server::new(reply);
        let error = server.embedder().embed(&["a"]).unwrap_err();
        let said = said(&error);
        assert!(said.contains(why) && said.contains(hint), "{why}: {said}");
        assert!(!said.contains("sk-12345"), "{said}");
        // One more request checks whether the server refuses only this text.
        let asked = 1 + usize::from(why.contains("(400)"));
        assert_eq!(server.requests(), asked, "{why}: tried again");
    }
}

#[test]
fn a_connection_that_ends_early_or_is_refused_is_down() {
    for reply in [|| Reply::Close, || Reply::Cut] {
        let server = Server::new(move |_, _| reply());
        let error = server.embedder().embed(&["a"]).unwrap_err();
        assert!(said(&error).contains("does not answer"), "{error}");
        assert_eq!(server.requests(), 1 + TRIES_AGAIN);
    }
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let endpoint = Endpoint {
        url: format!("http://{free}/v1"),
        model: "tiny".into(),
        key_env: None,
        dim: Some(2),
        timeout: Duration::from_secs(5),
    };
    let error = quick(&endpoint).embed(&["a"]).unwrap_err();
    assert!(said(&error).contains("start the server"), "{error}");
}

#[test]
fn a_slow_server_is_asked_once() {
    let server = Server::new(|_, _| Reply::Hang);
    let mut endpoint = server.endpoint();
    endpoint.timeout = Duration::from_millis(100);
    let error = quick(&endpoint).embed(&["a"]).unwrap_err();
    assert!(said(&error).contains("took too long"), "{error}");
    let error = quick(&endpoint).embed_query("a").unwrap_err();
    assert!(said(&error).contains("embedding.timeout_s"), "{error}");
    assert_eq!(server.requests(), 2);
}

#[test]
fn a_text_that_is_too_long_is_halved_until_it_fits() {
    let server = Server::new(
        |_, texts| match texts.iter().any(|text| text.len() > 10_000) {
            true => Reply::Json(400, json!({"error": {"message": "too many tokens"}})),
            false => vectors(texts),
        },
    );
    let long = "я".repeat(32 * 1024);
    let found = server.embedder().embed(&["short", &long]).unwrap();
    assert!((found[0][0] / found[0][1] - 5.0).abs() < 0.01);
    assert!(
        (found[1][0] / found[1][1] - 8192.0).abs() < 10.0,
        "{:?}",
        found[1]
    );
    // Both texts; the short one; the long one, cut to 64, 32, 16 and 8 KiB.
    assert_eq!(server.requests(), 6);
}

#[test]
fn a_text_that_is_never_taken_is_a_zero_vector_but_a_server_that_takes_nothing_is_an_error() {
    let refused = || Reply::Json(400, json!({"error": {"message": "no"}}));
    let server = Server::new(
        move |_, texts| match texts.iter().any(|text| text.contains('#')) {
            true => refused(),
            false => vectors(texts),
        },
    );
    let odd = "#".repeat(1_000);
    let found = server.embedder().embed(&["short", &odd, "more"]).unwrap();
    assert_eq!(found[1], [0.0, 0.0]);
    assert!(found[0] != found[1] && found[2] != found[1]);
    let server = Server::new(move |_, _| refused());
    let error = server.embedder().embed(&["short", "more"]).unwrap_err();
    assert!(said(&error).contains("400"), "{error}");
}

#[test]
fn the_key_is_sent_and_never_shown() {
    // `PATH` stands for the key: the variable is always set, and its value is known.
    let key = std::env::var("PATH").unwrap();
    let server = Server::new(|n, texts| match n {
        0 => vectors(texts),
        _ => Reply::Json(
            400,
            json!({"error": {"message": format!("bad key {}", std::env::var("PATH").unwrap())}}),
        ),
    });
    let mut endpoint = server.endpoint();
    endpoint.key_env = Some("PATH".into());
    let embedder = quick(&endpoint);
    embedder.embed(&["a"]).unwrap();
    let head = server.asked.lock().unwrap()[0].head.clone();
    assert!(head.contains(&format!("Bearer {key}")), "{head}");
    let said = said(&embedder.embed(&["a"]).unwrap_err());
    assert!(said.contains("bad key …"), "{said}");
    assert!(!said.contains(&key), "{said}");

    endpoint.key_env = Some("ICM_NO_SUCH_VARIABLE".into());
    let error = EndpointEmbedder::new(&endpoint).err().expect("no key");
    assert!(
        error
            .to_string()
            .contains("ICM_NO_SUCH_VARIABLE holds no key"),
        "{error}"
    );
}

#[test]
fn a_probe_asks_for_the_dimension() {
    let server = Server::new(|_, texts| vectors(texts));
    let mut endpoint = server.endpoint();
    assert_eq!(EndpointEmbedder::probe(&endpoint).unwrap(), 2);
    endpoint.dim = Some(3);
    let error = EndpointEmbedder::probe(&endpoint).unwrap_err();
    assert!(said(&error).contains("2 numbers, not of 3"), "{error}");
    endpoint.dim = None;
    assert_eq!(EndpointEmbedder::probe(&endpoint).unwrap(), 2);
    let error = EndpointEmbedder::new(&endpoint)
        .err()
        .expect("no dimension");
    assert!(said(&error).contains("icm model use endpoint"), "{error}");
}
