//! `icm model` without a network.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use crate::world::{Args, Look, Run, Says, World, run};

/// Makes a folder that looks like a model to everything except ONNX Runtime.
fn fake(folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    for (name, text) in [
        ("model.onnx", "no model at all ".repeat(20).as_str()),
        ("tokenizer.json", "{}"),
        ("config.json", r#"{"hidden_size": 4}"#),
        ("special_tokens_map.json", "{}"),
        ("tokenizer_config.json", "{}"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
}

/// Makes a world whose store has an invalid library, so that nothing is fetched.
fn with_a_library() -> World {
    let world = World::new();
    world.ok("store -t a -c 'a memory'");
    fs::create_dir(world.store().join("lib")).unwrap();
    fs::write(world.store().join("lib/libonnxruntime.so"), "none").unwrap();
    world
}

/// Returns the text of the config file; empty if absent.
fn config(world: &World) -> String {
    let path = world.json("config show")[0]["value"].clone();
    fs::read_to_string(path.as_str().unwrap()).unwrap_or_default()
}

fn row(listed: &Value, name: &str) -> Value {
    let rows = listed["models"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name);
    row.unwrap_or_else(|| panic!("{name}: {listed}")).clone()
}

fn with_config(world: &World, args: impl Args) -> Run {
    let mut command = world.command(args);
    command.env("ICM_CONFIG", world.path("icm.toml"));
    run(&mut command, b"")
}

#[test]
fn the_list_has_what_there_is_and_what_can_be_had() {
    let world = World::new();
    let listed = world.json("model list");
    assert_eq!(listed["in_use"], "static");
    let built_in = row(&listed, "static");
    built_in.has(json!({"in_use": true, "dim": 256}));
    assert_eq!(row(&listed, "none")["in_use"], false);
    assert_eq!(row(&listed, "all-MiniLM-L6-v2")["kind"], "known");
    assert_eq!(row(&listed, "multilingual-e5-small")["dim"], 384);
    let text = world.ok("model list");
    text.out.begins("*  static");
    assert!(!world.store().exists(), "nothing is made");
}

#[test]
fn a_choice_is_written_and_the_rest_of_the_file_stays() {
    let world = World::new();
    let text = "# mine\ndb = 'store' # here\n\n[recall]\nlimit = 3\n";
    world.write("icm.toml", text);
    let using = with_config(&world, "model use none").ok();
    using.out.begins("using none");
    let changed = fs::read_to_string(world.path("icm.toml")).unwrap();
    changed.begins(text);
    changed.finishes("[embedding]\nmodel = \"none\"\n");
    let listed = with_config(&world, "model list --json").ok().json();
    assert_eq!(listed["in_use"], "none");
    with_config(&world, "model use static").ok();
    let back = fs::read_to_string(world.path("icm.toml")).unwrap();
    assert_eq!(back, changed.replace("none", "static"));

    // The config file is made if absent.
    assert_eq!(config(&world), "");
    let answer = world.json("model use none");
    answer.has(json!({"model": "none", "dim": null}));
    assert!(config(&world).contains("[embedding]\nmodel = \"none\"\n"));
    assert_eq!(world.json("model use STATIC")["model"], "static");
    assert_eq!(world.json("model use None")["model"], "none");
    let shown = world.json("config show");
    let shown = shown.as_array().unwrap();
    let model = shown
        .iter()
        .find(|s| s["key"] == "embedding.model")
        .unwrap();
    model.has(json!({"value": "none", "from": "config file"}));
}

#[test]
fn absent_programs_are_not_chosen() {
    let world = World::new();
    let unknown = world.fails("model use gpt => 2: there is no model `gpt`");
    unknown
        .err
        .says("none is installed; known are all-MiniLM-L6-v2");
    unknown
        .err
        .says("static, none and endpoint are always available");
    let removed = world.icm("model remove all-minilm-l6-v2 --yes");
    removed.fails(2, "all-MiniLM-L6-v2 is not installed");
    world.fails("model remove Static --yes => 2: `Static` cannot be removed");
    let absent = world.icm("model use all-minilm-l6-v2");
    let absent = absent.fails(2, "is not installed");
    absent.err.says("icm model install all-minilm-l6-v2");
    world.fails("model use ./none => 2: there is no such folder");
    world.fails("model use '' => 2: no model is named");
    world.fails("model use endpoint => 2: needs `embedding.url`");
    world.fails("model use none --url http://h => 2: belong to `endpoint`");
    world.fails("model install gpt => 2: there is no model `gpt`");
    world.fails("model remove gpt => 2: there is no model `gpt`");
    world.fails("model remove static => 2: cannot be removed");
    assert_eq!(config(&world), "");
    assert!(!world.store().exists());
}

#[test]
fn a_folder_that_is_no_model_is_told_and_leaves_nothing() {
    let world = with_a_library();
    let from = |folder: &str| world.icm(format!("model install tiny --from '{folder}'"));
    from("absent").fails(2, "there is no such folder");
    fs::create_dir(world.path("empty")).unwrap();
    let empty = from("empty").fails(2, "it has no `model.onnx`");
    empty.err.says("hint: a model is a folder with");
    fake(&world.path("half"));
    fs::remove_file(world.path("half/tokenizer.json")).unwrap();
    from("half").fails(2, "it has no `tokenizer.json`");
    fake(&world.path("fake"));
    let fake = from("fake").fails(2, "is no ONNX Runtime that fits");
    fake.err.says("ORT_DYLIB_PATH");
    let bad = world.icm("model install static --from fake");
    bad.fails(2, "a model cannot be called `static`");
    let models: Vec<_> = fs::read_dir(world.store().join("models"))
        .unwrap()
        .collect();
    assert_eq!(models.len(), 1, "only the lock: {models:?}");

    let mut command = world.command("model install tiny --from fake");
    command.env("ORT_DYLIB_PATH", world.path("absent.so"));
    run(&mut command, b"").fails(2, "ORT_DYLIB_PATH names");
}

#[test]
fn a_folder_that_is_somebody_elses_is_left_alone() {
    let world = World::new();
    fs::create_dir_all(world.path("theirs/lib")).unwrap();
    fs::write(world.path("theirs/lib/code.py"), "x").unwrap();
    fake(&world.path("fake"));
    let install = [
        "model", "install", "tiny", "--from", "fake", "--db", "theirs",
    ];
    world.icm(install).fails(2, "is not a store and not empty");
    world.fails("store -t a -c b --db theirs => 2: `lib`");
    fs::remove_dir_all(world.path("theirs/lib")).unwrap();
    fs::create_dir_all(world.path("theirs/models/theirs")).unwrap();
    world.icm(install).fails(2, "is not a store and not empty");
    assert!(!world.path("theirs/models/.lock").exists());
}

#[test]
fn a_store_can_be_made_where_models_are_already() {
    let world = World::new();
    let folder = world.store().join("models/tiny");
    fake(&folder);
    fs::create_dir(world.store().join("lib")).unwrap();
    fs::write(world.store().join("lib/libonnxruntime.so"), "none").unwrap();
    let store = ["store", "-t", "a", "-c", "b"];
    world.icm(store).fails(2, "is not a store and not empty");
    fs::write(folder.join("model.toml"), "").unwrap();
    world.icm(store).ok();
}

#[test]
fn a_folder_of_the_users_can_be_chosen() {
    let world = World::new();
    fake(&world.path("fake"));
    let answer = world.json("model use ./fake");
    assert_eq!(answer["dim"], 4);
    let real = world.path("fake").canonicalize().unwrap();
    let written = Path::new(answer["model"].as_str().unwrap()).canonicalize();
    assert_eq!(written.unwrap(), real);
    let listed = world.json("model list");
    let chosen = listed["models"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["in_use"] == true);
    assert_eq!(chosen.unwrap()["kind"], "folder");
}

#[test]
fn an_installed_model_is_used_listed_and_removed() {
    let world = with_a_library();
    // The files of `install` are written by hand, because no model can be tried here.
    let folder = world.store().join("models/tiny");
    fake(&folder);
    world.fails("model use tiny => 2: has no model.toml");
    let record = RECORD.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    fs::write(folder.join("model.toml"), record).unwrap();
    let refused = world.fails("model use tiny => 2: its id is not that of what it names");
    let row_of = |name: &str| row(&world.json("model list"), name);
    assert!(
        row_of("tiny")["problem"]
            .as_str()
            .unwrap()
            .contains("damaged"),
        "{refused:?}"
    );

    assert_eq!(row_of("tiny")["in_default_store"], false);

    // Other commands know the folder: it is neither stray, nor reported, nor backed up.
    world.ok("doctor");
    let list = world.json("list");
    let id = list[0]["id"].as_str().unwrap();
    let redacted = world.json(format!("redact {id} --yes"));
    let stray = redacted["out_of_reach"].to_string();
    stray.lacks("models");
    stray.lacks("lib");
    let backup = world.json("backup b.tar.zst");
    assert!(backup["bytes"].as_u64().unwrap() < 20_000, "{backup}");
    world.ok("restore b.tar.zst --db again");
    assert!(!world.path("again/models").exists());

    let config = world.write("icm.toml", "[embedding]\nmodel = 'TINY' # fast\n");
    let asked = with_config(&world, "model remove tiny");
    let asked = asked.fails(2, "removing tiny, which is in use");
    asked.err.says("--yes");
    assert!(folder.exists());
    let gone = with_config(&world, "model remove tiny --yes --json")
        .ok()
        .json();
    assert_eq!(gone["was_in_use"], true);
    assert!(gone["bytes"].as_u64().unwrap() > 300);
    assert!(!folder.exists());
    let text = fs::read_to_string(config).unwrap();
    assert_eq!(text, "[embedding]\nmodel = \"static\" # fast\n");
}

#[test]
fn a_model_that_is_chosen_and_gone_shows_in_the_list() {
    let world = World::new();
    world.write("icm.toml", "[embedding]\nmodel = 'tiny'\n");
    let listed = with_config(&world, "model list --json").ok().json();
    assert!(
        row(&listed, "tiny")["problem"]
            .as_str()
            .unwrap()
            .contains("not installed")
    );
}

/// A valid record that belongs to another model.
const RECORD: &str = r#"format = 1
    name = "tiny"
    id = "tiny-0000000000000000"
    dim = 4
    pooling = "mean"
    max_tokens = 512
    weights = "model.onnx"
    [[files]]
    name = "model.onnx"
    len_bytes = 320
    blake3 = ""
    [[files]]
    name = "tokenizer.json"
    len_bytes = 2
    blake3 = ""
    [[files]]
    name = "config.json"
    len_bytes = 18
    blake3 = ""
    [[files]]
    name = "special_tokens_map.json"
    len_bytes = 2
    blake3 = ""
    [[files]]
    name = "tokenizer_config.json"
    len_bytes = 2
    blake3 = ""
"#;

/// Answers every request with a vector of three numbers for each text, or with 401 for a missing key.
fn server(needs_key: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut len, mut key) = (0, false);
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                let line = line.to_lowercase();
                if let Some(value) = line.strip_prefix("content-length:") {
                    len = value.trim().parse().unwrap();
                }
                key |= line.trim() == "authorization: bearer s3cret";
                if line.trim().is_empty() {
                    break;
                }
            }
            let mut body = vec![0; len];
            stream.read_exact(&mut body).unwrap();
            let asked: Value = serde_json::from_slice(&body).unwrap();
            let texts = asked["input"].as_array().map_or(1, Vec::len);
            let vector = |at| json!({"index": at, "embedding": [1, 2, 3]});
            let vectors: Vec<Value> = (0..texts).map(vector).collect();
            let (status, body) = match key || !needs_key {
                true => (200, json!({ "data": vectors }).to_string()),
                false => (401, "who are you".to_owned()),
            };
            let _ = write!(
                stream.get_mut(),
                "HTTP/1.1 {status} x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
        }
    });
    url
}

#[test]
fn a_server_is_asked_and_what_it_is_is_written() {
    let world = World::new();
    world.write("icm.toml", "[embedding]\ndim = 7 # of another one\n");
    let url = server(false);
    let endpoint = ["model", "use", "endpoint"];
    let with = [&endpoint[..], &["--url", &url, "--endpoint-model", "m"]].concat();
    let using = with_config(&world, &with).ok();
    using.out.begins("using endpoint, 3 numbers a vector");
    let text = fs::read_to_string(world.path("icm.toml")).unwrap();
    text.says("model = \"endpoint\"");
    text.says("dim = 3");
    text.lacks("dim = 7");
    with_config(&world, endpoint).ok();

    // The dimension that the server reports wins over the config file, and the file is not changed silently.
    let wrong = text.replace("dim = 3", "dim = 4");
    world.write("icm.toml", &wrong);
    let refused = with_config(&world, endpoint).fails(2, "3 numbers, not of 4");
    refused.err.says("embedding.dim");
    assert_eq!(fs::read_to_string(world.path("icm.toml")).unwrap(), wrong);
}

/// Counts are called by their names: passages, or texts.
#[test]
fn a_long_text_is_embedded_by_passages_or_once() {
    let paragraph = |at: usize| format!("Part {at} {}.", ["word"; 118].join(" "));
    let text = (0..5).map(paragraph).collect::<Vec<_>>().join("\n\n");
    let url = server(false);
    for (passages, embeds, of, later) in [(true, "passages", 6, 7), (false, "texts", 2, 3)] {
        let world = World::new();
        let settings = format!(
            "[embedding]\nmodel = 'endpoint'\nurl = '{url}'\nendpoint_model = 'm'\ndim = 3\npassages = {passages}\n"
        );
        world.write("icm.toml", settings);
        world.ok(format!("store -t a -c '{text}'"));
        world.ok("store -t a -c 'a short one'");
        let embedded = with_config(&world, "embed").ok().out;
        let begins = format!("embedded {of} {embeds}\n");
        embedded.begins(&begins);
        let ends = format!("{of} of {of} {embeds} embedded, 3 numbers each\n");
        embedded.finishes(&ends);
        let status = with_config(&world, "embed --status --json").ok();
        let status: Value = serde_json::from_str(&status.out).unwrap();
        let counts = [&status["embeds"], &status["versions"], &status["embedded"]];
        assert_eq!(counts, [&json!(embeds), &json!(of), &json!(of)]);

        world.ok("store -t a -c 'one more word'");
        let explained = with_config(&world, "recall word --explain").ok().out;
        let lag =
            format!("has embedded {of} of {later} {embeds}; the others by the built-in model");
        explained.says(&lag);
    }
}

#[test]
fn a_server_that_is_down_or_wants_a_key_is_not_chosen() {
    let world = World::new();
    let url = server(true);
    let with = [
        "model",
        "use",
        "endpoint",
        "--url",
        &url,
        "--endpoint-model",
        "m",
    ];
    let refused = world.icm(with).fails(2, "does not let us in");
    refused.err.says("embedding.key_env");
    let key = [&with[..], &["--key-env", "ICM_TEST_KEY"]].concat();
    world.icm(&key[..]).fails(2, "ICM_TEST_KEY holds no key");
    assert_eq!(config(&world), "");
    let mut command = world.command(&key[..]);
    let using = run(command.env("ICM_TEST_KEY", "s3cret"), b"").ok();
    assert!(config(&world).contains("key_env = \"ICM_TEST_KEY\""));
    assert!(!config(&world).contains("s3cret") && !using.out.contains("s3cret"));

    let world = World::new();
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let url = format!("http://{free}");
    let with = [
        "model",
        "use",
        "endpoint",
        "--url",
        &url,
        "--endpoint-model",
        "m",
    ];
    world.icm(with).fails(2, "does not answer");
    world.fails("model use endpoint --url h --endpoint-model m => 2: no http address");
}
