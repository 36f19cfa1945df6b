//! Texts with a secret are refused. The secrets are made up here, from pieces.

use serde_json::{Value, json};

use crate::world::{Args, Look, Says, World, run, tree};

/// The part of a token that no file may contain.
const BODY: &str = "Zk3fQ9vT7bLm2Xc8Rw5Ny1Hd6Jp4Sg0UaEiO";

fn token() -> String {
    ["gh", "p_", BODY].concat()
}

fn with_action(action: &str) -> World {
    let world = World::new();
    configure(&world, &format!("action = '{action}'"));
    world
}

fn configure(world: &World, line: &str) {
    let file = world.write("icm.toml", format!("[secrets]\n{line}\n"));
    let args = ["config", "show", "--config", file.to_str().unwrap()];
    world.icm(args).ok();
}

/// Runs `icm` with the written config file.
fn icm(world: &World, args: impl Args, input: &[u8]) -> crate::world::Run {
    let mut command = world.command(args);
    command.env("ICM_CONFIG", world.path("icm.toml"));
    if !input.is_empty() {
        command.stdin(std::process::Stdio::piped());
    }
    run(&mut command, input)
}

/// Returns `true` if any file of the store contains the secret; the store must have files.
fn is_in_store(world: &World) -> bool {
    let files = tree(&world.store());
    assert!(!files.is_empty());
    let body = BODY.as_bytes();
    (files.iter()).any(|(_, bytes)| bytes.windows(body.len()).any(|part| part == body))
}

#[test]
fn a_secret_is_refused_wherever_it_stands_and_nothing_is_written() {
    let world = World::new();
    let secret = token();
    let metadata = json!({ "a": [{ "b": secret }] }).to_string();
    let assigned = json!({ "password": "Zk3fQ9vT7bLm" }).to_string();
    let session = format!("session:{secret}");
    for (field, args) in [
        ("content", vec!["-t", "a", "-c", &secret]),
        ("topic", vec!["-t", &secret, "-c", "x"]),
        ("key", vec!["-t", "a", "-c", "x", "--key", &secret]),
        ("scope", vec!["-t", "a", "-c", "x", "--scope", &session]),
        ("keywords", vec!["-t", "a", "-c", "x", "-k", &secret]),
        ("raw excerpt", vec!["-t", "a", "-c", "x", "--raw", &secret]),
        (
            "source's agent",
            vec!["-t", "a", "-c", "x", "--source", &secret],
        ),
        (
            "metadata",
            vec!["-t", "a", "-c", "x", "--metadata", &metadata],
        ),
        (
            "metadata",
            vec!["-t", "a", "-c", "x", "--metadata", &assigned],
        ),
    ] {
        for json in [false, true] {
            let mut command = world.command("store");
            command.args(&args).args(json.then_some("--json"));
            let run = run(&mut command, b"").ends(2);
            run.err.says(format!("the {field} holds"));
            run.err.says("--allow-secret");
            run.err.lacks(BODY);
            run.err.lacks("Zk3fQ9vT7bLm");
            assert_eq!(run.out, "");
        }
        assert!(!world.store().exists(), "{field}");
    }
    for name in ["ICM_ACTOR", "ICM_SESSION"] {
        let mut command = world.command("store -t a -c x");
        run(command.env(name, &secret), b"").fails(2, "looks like a secret (github-pat)");
    }
    assert!(!world.store().exists());

    world.ok("store -t a -c x --key k");
    let before = tree(&world.store());
    let id = world.id("k");
    for args in [
        ["-c", &secret],
        ["-t", &secret],
        ["-k", &secret],
        ["--scope", &session],
    ] {
        let mut command = world.command(format!("update {id}"));
        run(command.args(args), b"").fails(2, "github-pat");
    }
    assert_eq!(tree(&world.store()), before);
}

#[test]
fn a_reason_of_a_link_holds_no_secret() {
    let world = World::with_memories();
    configure(&world, "action = 'refuse'");
    let (a, b) = (world.id("database"), world.id("money"));
    world.ok("memoir create -n m -d x");
    for name in ["one", "two"] {
        let add = ["memoir", "add-concept", "-m", "m", "-n", name, "-d", "x"];
        world.icm(add).ok();
    }
    let memories = vec![a.as_str(), &b, "-r", "contradicts"];
    let concepts = vec![
        "-m",
        "m",
        "--from",
        "one",
        "--to",
        "two",
        "-r",
        "depends_on",
    ];
    let secret = token();
    for (of, what) in [(vec![], memories), (vec!["memoir"], concepts)] {
        let with = |verb, more: &[&str]| {
            let args = [of.as_slice(), &[verb], what.as_slice(), more].concat();
            icm(&world, &args, b"")
        };
        for verb in ["link", "unlink"] {
            let before = tree(&world.store());
            let run = with(verb, &["--reason", &secret]);
            let run = run.fails(2, "the reason holds what looks like a secret (github-pat)");
            run.err.says("--allow-secret");
            run.err.lacks(BODY);
            assert_eq!(tree(&world.store()), before, "{verb}");
            with(verb, &[]).ok();
        }
        configure(&world, "action = 'mask'");
        let run = with("link", &["--reason", &secret]).ok();
        run.err.says("a secret in the reason was masked");
        assert!(!is_in_store(&world));
        configure(&world, "action = 'refuse'");
    }
    let args = [
        "unlink",
        &a,
        &b,
        "-r",
        "contradicts",
        "--allow-secret",
        "--reason",
        &secret,
    ];
    world.icm(args).ok();
    assert!(is_in_store(&world));
}

#[test]
fn allowed_text_is_stored() {
    let world = World::new();
    let text = format!("token {}", token());
    let args = [
        "store",
        "-t",
        "a",
        "--key",
        "k",
        "--allow-secret",
        "-c",
        &text,
    ];
    let receipt = world.json(args);
    assert_eq!(receipt["action"], "stored");
    assert_eq!(receipt.get("warnings"), None);
    assert!(is_in_store(&world));
    let changed = format!("{text} and more");
    let id = world.id("k");
    world.fails(format!("update {id} -c '{changed}' => 2: github-pat"));
    world.ok(format!("update {id} -c '{changed}' --allow-secret"));

    let world = with_action("refuse");
    configure(&world, "allow = ['^gh._Zk3f']");
    icm(&world, ["store", "-t", "a", "-c", &text], b"").ok();
    let world = with_action("off");
    icm(&world, ["store", "-t", "a", "-c", &text], b"").ok();
}

#[test]
fn a_warning_is_in_the_receipt_and_on_stderr() {
    let world = with_action("warn");
    let text = format!("token {}", token());
    let said = "the content holds what looks like a secret (github-pat)";
    let run = icm(&world, ["store", "-t", "a", "-c", &text], b"").ok();
    assert_eq!(run.err, format!("note: {said}\n"));
    let run = icm(&world, ["store", "-t", "a", "-c", &text, "--json"], b"").ok();
    assert_eq!(run.json()["warnings"], json!([said]));
    assert!(is_in_store(&world));
}

#[test]
fn masked_secrets_reach_no_file() {
    let world = with_action("mask");
    let secret = token();
    let text = format!("use {secret} here");
    let metadata = json!({ "token": secret, "n": 1, "password": "Zk3fQ9vT7bLm" }).to_string();
    let args = [
        "store",
        "-t",
        "a",
        "-c",
        &text,
        "--raw",
        &text,
        "-k",
        &secret,
        "--source",
        &secret,
        "--metadata",
        &metadata,
        "--request-id",
        "r1",
        "--json",
    ];
    let first = icm(&world, args, b"").ok().json();
    let warnings = first["warnings"].as_array().unwrap();
    let said = json!("a secret in the content was masked (github-pat)");
    assert!(warnings.contains(&said) && warnings.len() == 6, "{first}");
    assert_eq!(
        icm(&world, args, b"").ok().json(),
        first,
        "a retry says the same"
    );
    let memory = world.json(format!("get {}", first["id"].as_str().unwrap()));
    let mask = "[secret: github-pat]";
    memory.has(json!({
        "content": format!("use {mask} here"), "keywords": [mask],
        "metadata": { "token": mask, "n": 1, "password": "[secret: password-assignment]" },
    }));
    for args in [["-t", &secret, "--key", "k"], ["-t", "a", "--key", &secret]] {
        let mut args = args.to_vec();
        args.splice(0..0, ["store", "-c", "x"]);
        icm(&world, &args, b"").fails(2, "github-pat");
    }
    let id = first["id"].as_str().unwrap();
    let update = ["update", id, "-c", &format!("{text}, really")];
    let run = icm(&world, update, b"").ok();
    run.err.says("was masked");
    world.ok("rebuild");
    assert!(!is_in_store(&world));
}

#[test]
fn lines_of_an_import_are_looked_at_one_by_one() {
    let line = |content: &str| json!({ "topic": "a", "content": content }).to_string();
    let secret = format!("the token is {}", token());
    let lines = [line("one"), line(&secret), line("two")].join("\n");
    let import = ["import", "jsonl", "-", "--json"];

    let world = World::new();
    let run = world.icm_with(import, lines.as_bytes()).ends(1);
    let report = run.json();
    report.has(json!({"added": 2, "/rejected/0/line": 2}));
    let why = report["rejected"][0]["why"].as_str().unwrap();
    why.says("github-pat");
    run.out.lacks(BODY);
    why.says("`--allow-secret`");
    let said = world.icm_with("import jsonl -", lines.as_bytes());
    assert!(said.ends(1).err.contains("`--allow-secret`"));
    assert!(!is_in_store(&world));
    let allowed = ["import", "jsonl", "-", "--allow-secret"];
    world.icm_with(allowed, lines.as_bytes()).ok();
    assert!(is_in_store(&world));

    let world = with_action("mask");
    for added in [3, 0] {
        let report = icm(&world, import, lines.as_bytes()).ok().json();
        assert_eq!(report["added"], added);
        let warning = "stdin:2: a secret in the content was masked (github-pat)";
        assert_eq!(report["warnings"], json!([warning]));
    }
    assert!(!is_in_store(&world));
}

#[test]
fn a_recall_is_answered_and_recorded_without_the_secret() {
    for (action, kept) in [
        ("refuse", false),
        ("warn", false),
        ("mask", false),
        ("off", true),
    ] {
        let world = with_action(action);
        icm(
            &world,
            ["store", "-t", "a", "-c", "deploy keys rotate"],
            b"",
        )
        .ok();
        let query = format!("deploy {}", token());
        let run = icm(&world, ["recall", &query, "--json"], b"").ok();
        assert_eq!(run.json()["results"].count(), 1);
        let log = world.ok("log --kind memory.recalled --json");
        let recalls = log.json_lines();
        let recorded = recalls[0]["payload"]["query"].as_str().unwrap();
        assert_eq!(recorded.contains(BODY), kept, "{action}: {recorded}");
        assert_eq!(recorded == "deploy [secret: github-pat]", !kept, "{action}");
        assert_eq!(is_in_store(&world), kept, "{action}");
    }
}

#[test]
fn an_agent_is_told_and_may_insist() {
    let call = |id: u32, allow: bool| {
        let mut arguments = json!({ "topic": "a", "content": format!("use {}", token()) });
        if allow {
            arguments["allow_secret"] = true.into();
        }
        let params = json!({ "name": "icm_memory_store", "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    let hello = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"#,
        r#""2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    );
    let serve = |world: &World, calls: &[String]| -> Vec<Value> {
        let input = format!("{hello}\n{}\n", calls.join("\n"));
        let run = icm(world, "serve --structured", input.as_bytes()).ok();
        let mut answers = run.json_lines();
        answers.sort_by_key(|answer| answer["id"].as_i64());
        answers.remove(0);
        answers
    };

    let world = with_action("refuse");
    let answers = serve(&world, &[call(2, false)]);
    let result = &answers[0]["result"];
    assert_eq!(result["isError"], true, "{answers:?}");
    let text = result["content"][0]["text"].as_str().unwrap();
    text.says("github-pat");
    text.says("allow_secret");
    answers[0].to_string().lacks(BODY);
    assert!(!world.store().exists());
    let answers = serve(&world, &[call(2, true)]);
    answers[0]["result"]["structuredContent"].has(json!({"action": "stored"}));
    assert!(is_in_store(&world));

    let world = with_action("mask");
    let answers = serve(&world, &[call(2, false)]);
    let result = &answers[0]["result"];
    let text = result["content"][0]["text"].as_str().unwrap();
    text.says("warning: a secret in the content was masked");
    result["structuredContent"]["warnings"].has(json!({
        "/0": "a secret in the content was masked (github-pat)",
    }));
    assert!(!is_in_store(&world));
}
