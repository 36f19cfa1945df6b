//! `icm serve`, as an agent starts it.

use std::process::Stdio;

use serde_json::json;

use crate::world::{Look, Says, World, run};

const HELLO: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
    r#""capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    "\n",
);

#[test]
fn it_answers_on_stdout_and_ends_with_stdin() {
    let world = World::with_memories();
    for args in ["serve", "serve --read-only", "serve --compact"] {
        let run = world.icm_with(args, HELLO.as_bytes()).ok();
        let answers = run.json_lines();
        let ids: Vec<i64> = answers.iter().filter_map(|a| a["id"].as_i64()).collect();
        assert_eq!(ids, [1, 2], "{run:?}");
        let tools = answers[1]["result"]["tools"].as_array().unwrap();
        assert!(!tools.is_empty());
    }
}

#[test]
fn nothing_on_stdin_is_no_failure() {
    let world = World::new();
    let run = world.ok("serve");
    assert_eq!(run.out, "");
    assert!(!world.store().exists());
}

#[test]
fn a_server_offers_the_tools_that_it_is_told_to() {
    let world = World::new();
    let tools = |args: &str, env: &[(&str, &str)]| -> Vec<String> {
        let mut command = world.command(("serve", args));
        command.envs(env.iter().copied());
        command.stdin(Stdio::piped());
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
        let call = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"icm_memory_health"}}"#;
        let done = run(
            &mut command,
            format!("{hello}\n{list}\n{call}\n").as_bytes(),
        )
        .ok();
        let answers = done.json_lines();
        let answer = |id: u64| {
            let mut answers = answers.iter();
            let found = answers.find(|answer| answer["id"] == id);
            found.unwrap_or_else(|| panic!("{id}: {done:?}"))
        };
        let tools = answer(2)["result"]["tools"].as_array().unwrap();
        let names = tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned());
        let names: Vec<String> = names.collect();
        // A tool outside the list cannot be called either.
        let has_health = names.iter().any(|name| name == "icm_memory_health");
        assert_eq!(answer(3)["result"]["isError"], !has_health);
        names
    };
    let default = tools("", &[]);
    assert_eq!(default.len(), 10);
    assert_eq!(tools("--toolsets icm", &[]).len(), 22);
    let sediment = ["forget", "list", "recall", "store"];
    assert_eq!(tools("--toolsets sediment", &[]), sediment);
    let reading = tools("--toolsets mii --read-only", &[]);
    assert_eq!(reading, ["alerts_get", "list_tags", "memory_get"]);
    assert_eq!(tools("--toolsets all", &[]).len(), 42);
    let core = tools("--toolsets core", &[]);
    assert_eq!(tools("", &[("ICM_TOOLSETS", " core , ")]), core);
    let more = "--toolsets core --tools icm_memory_stats --exclude-tools icm_undo";
    let more = tools(more, &[]);
    assert!(more.contains(&"icm_memory_stats".into()) && !more.contains(&"icm_undo".into()));
    assert_eq!(tools("--tools icm_memory_stats", &[]), ["icm_memory_stats"]);
    let reading = tools("--toolsets core", &[("ICM_READ_ONLY", "1")]);
    assert_eq!(
        reading,
        ["icm_log", "icm_memory_list_topics", "icm_memory_recall"]
    );
    let mut odd = world.command("serve");
    let odd = odd.env("ICM_READ_ONLY", "maybe").output();
    let odd = odd.expect("it runs");
    let said = String::from_utf8_lossy(&odd.stderr);
    assert_eq!(odd.status.code(), Some(2));
    said.says("yes or no");
    said.says("--read-only");
    let unit = ["serve", "--http", "0", "--print-unit", "systemd"];
    let why = match cfg!(feature = "http") {
        true => "another port at each start",
        false => "this build of icm has no HTTP",
    };
    world.icm(unit).fails(2, why);
    for (args, why) in [
        (["--toolsets", "cores"], "there is no toolset `cores`"),
        (["--tools", "recall"], "there is no tool `recall`"),
        (["--exclude-tools", "icm_x"], "there is no tool `icm_x`"),
    ] {
        world.icm(("serve", &args)).fails(2, why);
    }
    let help = world.out("serve --help");
    help.says("  core     store, recall, change");
}

#[test]
fn the_tools_and_toolsets_are_listed_with_their_tokens() {
    let world = World::new();
    let listed = world.json("serve --toolsets sediment --list-tools");
    let names = listed["tools"].texts("name");
    assert_eq!(names, ["forget", "list", "recall", "store"]);
    let sets = listed["toolsets"].as_array().unwrap();
    let set = |name: &str| {
        let mut sets = sets.iter();
        sets.find(|set| set["name"] == name).expect("a set").clone()
    };
    assert_eq!(set("sediment")["tokens"], listed["tokens"]);
    for (name, tools) in [
        ("default", 10),
        ("icm", 22),
        ("all", 42),
        ("spec", 6),
        ("mii", 5),
    ] {
        assert_eq!(set(name)["tools"], tools, "{name}");
    }
    for name in ["default", "mii", "sediment", "spec"] {
        let tokens = set(name)["tokens"].as_u64().unwrap();
        assert!((100..=2_500).contains(&tokens), "{name}: {tokens}");
    }
    let text = world.out("serve --toolsets sediment --list-tools");
    text.says("together");
    text.says("store, recall, list, forget, as Sediment has them");
    assert!(!world.store().exists());
}

#[test]
fn a_session_of_mii_memory_comes_from_its_variables() {
    let world = World::new();
    let set = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"memory_set","arguments":{"content":"one","tags":["a"],"mode":"session"}}}"#;
    for (session, scope) in [("sub", "session:parent/sub"), ("", "session:parent/mcp-")] {
        let mut command = world.command("serve --toolsets mii");
        command.env("MII_MEMORY_SESSION_PARENT", "parent");
        command.env("MII_MEMORY_SESSION", session);
        command.stdin(Stdio::piped());
        run(&mut command, format!("{HELLO}{set}\n").as_bytes()).ok();
        let newest = world.json("list -l 1")[0]["scope"].clone();
        newest.as_str().unwrap().begins(scope);
    }
}

/// The order holds with and without an owner.
#[test]
fn requests_in_a_row_are_done_in_that_order() {
    let world = World::new();
    let stored = world.json("store -t t -c step");
    let id = stored["id"].as_str().unwrap();
    let mut lines = HELLO.to_owned();
    for step in 1..=20 {
        let arguments = json!({"id": id, "content": format!("the step is {step}")});
        let update = json!({"name": "icm_memory_update", "arguments": arguments});
        let call =
            json!({"jsonrpc": "2.0", "id": 2 * step + 1, "method": "tools/call", "params": update});
        let read = json!({"uri": format!("icm://memory/{id}")});
        let read = json!({"jsonrpc": "2.0", "id": 2 * step + 2, "method": "resources/read", "params": read});
        lines += &format!("{call}\n{read}\n");
    }
    let serve = || {
        let answers = world.icm_with("serve", lines.as_bytes()).ok().json_lines();
        for step in 1..=20 {
            let mut answers = answers.iter();
            let read = answers.find(|answer| answer["id"] == 2 * step + 2).unwrap();
            let text = read["result"]["contents"][0]["text"].as_str().unwrap();
            // Later updates may have been done already.
            let (_, seen) = text
                .split_once("the step is ")
                .unwrap_or_else(|| panic!("{text}"));
            let digits: String = seen.chars().take_while(char::is_ascii_digit).collect();
            assert!(digits.parse::<i64>().unwrap() >= step, "{step}: {text}");
        }
        assert_eq!(world.json(format!("get {id}"))["content"], "the step is 20");
    };
    serve();
    #[cfg(unix)]
    let _owner = crate::owner::Owner::of(&world);
    for _ in 0..4 {
        serve();
    }
}

#[test]
fn questions_are_in_no_log() {
    let world = World::with_memories();
    let secret = "ghp_r7Jk29XbQwLm4ZtPv8sYcNd3HfUe6Ga1KxTo";
    let arguments = json!({"topic": "t", "content": format!("the token is {secret}")});
    let store = json!({"name": "icm_memory_store", "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": store});
    let recall = json!({"name": "icm_memory_recall", "arguments": {"query": "invoices"}});
    let recall = json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": recall});
    for filter in ["debug", "trace"] {
        let mut command = world.command("serve");
        command.env("ICM_LOG", filter).stdin(Stdio::piped());
        let run = run(
            &mut command,
            format!("{HELLO}{call}\n{recall}\n").as_bytes(),
        )
        .ok();
        assert!(run.out.contains("github"), "it is refused: {}", run.out);
        run.err.says("DEBUG");
        run.err.lacks(secret);
    }
}

#[test]
fn a_client_that_names_no_session_gets_one_that_is_no_scope() {
    let world = World::new();
    let store = |id: u64, more: serde_json::Value| {
        let mut arguments = json!({"topic": "t", "content": format!("fact number {id}")});
        let fields = arguments.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        let params = json!({"name": "icm_memory_store", "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    let input = format!(
        "{HELLO}{}\n{}\n{}\n",
        store(10, json!({})),
        store(11, json!({})),
        store(12, json!({"scope": "session"}))
    );
    let run = world.icm_with("serve", input.as_bytes()).ok();
    let answers = run.json_lines();
    let answer = |id: u64| answers.iter().find(|it| it["id"] == id).unwrap();
    assert_eq!(answer(12)["result"]["isError"], true, "{run:?}");
    assert!(answer(12).to_string().contains("there is no session here"));
    world
        .icm_with(
            "serve",
            format!("{HELLO}{}\n", store(13, json!({}))).as_bytes(),
        )
        .ok();

    let memories = world.json("list");
    let sessions: Vec<_> = memories
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["source"]["session"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(sessions.len(), 3, "{memories}");
    assert!(
        sessions.iter().all(|name| name.starts_with("mcp-")),
        "{sessions:?}"
    );
    assert!(
        sessions[1] == sessions[2] && sessions[0] != sessions[1],
        "{sessions:?}"
    );
    assert_eq!(world.count("sessions"), 2);
}
