//! Scopes: memories of projects and sessions, and global ones.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::world::{Args, Look, Run, Says, World, run};

/// Makes a folder that is marked as a project.
fn project(world: &World, name: &str) -> std::path::PathBuf {
    let folder = world.path(name);
    std::fs::create_dir_all(folder.join("src")).unwrap();
    std::fs::write(folder.join(".icm-project"), format!("{name}\n")).unwrap();
    folder.join("src")
}

fn icm_in(world: &World, folder: &Path, session: &str, args: impl Args) -> Run {
    let mut command = world.command(args);
    command.current_dir(folder);
    if !session.is_empty() {
        command.env("ICM_SESSION", session);
    }
    run(&mut command, b"")
}

/// Returns the scopes and the contents of a recall in a folder.
fn found(world: &World, folder: &Path, session: &str, args: impl Args) -> (Value, Vec<String>) {
    let run = icm_in(world, folder, session, ("recall colour --json", args));
    let answer = run.json();
    let results = answer["results"].as_array().unwrap();
    let contents = results
        .iter()
        .map(|hit| hit["content"].as_str().unwrap().to_owned());
    (answer["scope"].clone(), contents.collect())
}

#[test]
fn a_project_sees_its_own_and_what_is_global() {
    let world = World::new();
    let (shop, bank) = (project(&world, "shop"), project(&world, "bank"));
    let store = |folder: &Path, content: &str, scope: &str| {
        let args = ["store", "-t", "design", "-c", content, "--scope", scope];
        icm_in(&world, folder, "", args).ok();
    };
    store(&shop, "the colour is blue", "global");
    store(&shop, "the colour is green", "project");
    store(&bank, "the colour is red", "project");

    let (scope, seen) = found(&world, &shop, "", "");
    assert_eq!(scope, json!(["global", "project:shop"]));
    // Among equally fitting memories the project's own come first.
    assert_eq!(seen, ["the colour is green", "the colour is blue"]);
    let (scope, seen) = found(&world, &world.path(""), "", "");
    assert_eq!(scope, json!(["global"]));
    assert_eq!(seen, ["the colour is blue"]);
    // A small limit does not leave out the own scope.
    let (_, seen) = found(&world, &bank, "", "-l 1");
    assert_eq!(seen, ["the colour is red"]);

    let (scope, seen) = found(&world, &shop, "", "--scope all");
    assert_eq!(scope, json!(["all"]));
    let [own, common, elsewhere] = ["green", "blue", "red"].map(|it| format!("the colour is {it}"));
    assert_eq!(seen, [own, common, elsewhere]);
    let answer = icm_in(&world, &shop, "", "recall colour --scope '*' --json").json();
    let marked = |at: usize| answer["results"][at].get("elsewhere").is_some();
    assert_eq!([marked(0), marked(1), marked(2)], [false, false, true]);
    let shown = icm_in(&world, &shop, "", "recall colour --scope all").ok();
    shown.out.says("elsewhere: project:bank");
    shown.err.says("3 found in all scopes as of");
    let shown = icm_in(&world, &shop, "", "recall colour").ok();
    shown.err.says("found in global, project:shop as of");

    let (scope, seen) = found(&world, &shop, "", "--scope project:bank");
    assert_eq!(scope, json!(["global", "project:bank"]));
    assert_eq!(seen, ["the colour is red", "the colour is blue"]);
    let (_, seen) = found(&world, &shop, "", "--scope global");
    assert_eq!(seen, ["the colour is blue"]);
    icm_in(&world, &world.path(""), "", "recall x --scope project")
        .fails(2, "no project was found here");

    // Commands about the whole store show all scopes.
    assert_eq!(world.count("list --all"), 3);
    assert_eq!(world.json("topics")[0]["memories"], 3);
    let listed = world.json("list --scope project:bank");
    assert_eq!(listed.count(), 1);
    world.ok("rebuild");
    let (_, seen) = found(&world, &shop, "", "");
    assert_eq!(seen.len(), 2);
    world.ok("verify");
}

#[test]
fn a_session_sees_its_parents_and_children_alone() {
    let world = World::new();
    let here = world.path("");
    for scope in ["a", "a/b", "a/b/c", "a/d", "ab"] {
        let (content, scope) = (format!("colour {scope}"), format!("session:{scope}"));
        let args = [
            "store",
            "-t",
            scope.as_str(),
            "-c",
            &content,
            "--scope",
            &scope,
        ];
        world.icm(args).ok();
    }
    let seen = |session: &str, args: &str| {
        let mut seen = found(&world, &here, session, args).1;
        seen.sort();
        seen
    };
    assert!(seen("", "").is_empty());
    assert_eq!(seen("a/b", ""), ["colour a", "colour a/b", "colour a/b/c"]);
    assert_eq!(seen("a/d", ""), ["colour a", "colour a/d"]);
    assert_eq!(seen("ab", ""), ["colour ab"]);
    let all = ["colour a", "colour a/b", "colour a/b/c", "colour a/d"];
    assert_eq!(seen("", "--scope session:a"), all);
    assert_eq!(seen("a", "--scope session"), all);
    let (scope, _) = found(&world, &here, "a/b", "");
    assert_eq!(
        scope,
        json!(["global", "session:a", "session:a/b", "session:a/b/*"])
    );
    let listed = world.json("list --scope session:a");
    assert_eq!(listed.count(), 4);

    for bad in ["a//b", "/a", "a/", "a/ /b"] {
        let scope = format!("session:{bad}");
        let store = ["store", "-t", "t", "-c", "c", "--scope", &scope];
        world.icm(store).fails(2, "is empty");
        world.fails(format!("recall c --scope '{scope}' => 2: is empty"));
    }
    let bogus = world.icm("recall colour --scope bogus");
    bogus.err.says("`all`, `global`, `project`, `session`");

    // The scopes are recorded, so the recall can be asked again.
    let recorded = world.ok("log --kind memory.recalled -l 1 --json");
    let event = recorded.json_lines()[0]["event"]
        .as_str()
        .unwrap()
        .to_owned();
    let payload = world.json(format!("log show '{event}'"))["payload"].clone();
    assert_eq!(payload["scopes"], scope);
    if cfg!(feature = "bench") {
        let again = world.json("bench replay");
        assert_eq!(again["since"]["same"], again["recalls"], "{again}");
    }
}

#[test]
fn a_git_repository_is_the_same_project_wherever_it_lies() {
    let world = World::new();
    let path = std::env::var_os("PATH").unwrap();
    let git = |folder: &Path, args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=x", "-c", "user.email=x@example.org"])
            .args(args);
        git.current_dir(folder)
            .env("HOME", world.path(""))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let done = git.output().expect("git");
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    let first = world.path("first");
    std::fs::create_dir(&first).unwrap();
    git(&first, &["init", "-q"]);
    git(&first, &["commit", "-q", "--allow-empty", "-m", "one"]);
    let root = git(&first, &["rev-parse", "HEAD"]);
    git(&first, &["commit", "-q", "--allow-empty", "-m", "two"]);
    git(&world.path(""), &["clone", "-q", "first", "second"]);
    let icm = |folder: &Path, path: &std::ffi::OsStr, args: &[&str]| {
        let mut command = world.command(args);
        run(command.current_dir(folder).env("PATH", path), b"").ok()
    };
    let store = [
        "store",
        "-t",
        "x",
        "-c",
        "the colour is blue",
        "--scope",
        "project",
    ];
    icm(&first, &path, &store);
    let second = world.path("second");
    let recall = ["recall", "colour", "--json"];
    let scope = json!(["global", format!("project:{root}")]);
    let answer = icm(&second, &path, &recall).json();
    assert_eq!(answer["scope"], scope);
    assert_eq!(answer["results"].count(), 1);
    // The cache knows the project by now, so git is not asked.
    assert_eq!(
        icm(&first, "/nowhere".as_ref(), &recall).json()["scope"],
        scope
    );
    std::fs::remove_dir_all(world.store().join("cache")).unwrap();
    let answer = world
        .command(recall)
        .current_dir(&first)
        .env("PATH", "/nowhere")
        .output();
    let answer: Value = serde_json::from_slice(&answer.unwrap().stdout).unwrap();
    assert_eq!(answer["scope"], json!(["global"]));
    // A shallow clone lacks the first commit, and the hint says so.
    let from = format!("file://{}", first.display());
    for (args, at) in [
        (
            &["clone", "-q", "--depth", "1", &from, "shallow"][..],
            "shallow",
        ),
        (
            &["-C", "shallow", "worktree", "add", "-q", "../tree"],
            "tree",
        ),
    ] {
        git(&world.path(""), args);
        for command in [&store[..], &["recall", "colour", "--scope", "project"]] {
            let mut command = world.command(command);
            let refused = run(command.current_dir(world.path(at)).env("PATH", &path), b"");
            let refused = refused.fails(2, "shallow clone");
            refused.err.says("`git fetch --unshallow`");
            refused.err.says("`.icm-project`");
        }
    }
    let plain = world.path("plain");
    std::fs::create_dir(&plain).unwrap();
    let mut command = world.command(store);
    let refused = run(command.current_dir(&plain).env("PATH", &path), b"");
    assert!(!refused.fails(2, "no project").err.contains("shallow"));
    git(&world.path("shallow"), &["fetch", "-q", "--unshallow"]);
    let answer = icm(&world.path("shallow"), &path, &recall).json();
    assert_eq!(answer["scope"], scope);

    let shown = icm(&second, &path, &["recall", "colour"]);
    let short = format!("project:{}…", &root[..12]);
    shown.err.says(&short);
}

#[test]
fn a_server_is_in_the_project_that_its_agent_is_in() {
    let world = World::new();
    let shop = project(&world, "shop");
    let bank = project(&world, "bank");
    let args = [
        "store",
        "-t",
        "design",
        "-c",
        "the colour is red",
        "--scope",
        "project",
    ];
    icm_in(&world, &bank, "", args).ok();
    let call = |tool: &str, arguments: Value| {
        let calls = [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"}}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                "params": {"name": tool, "arguments": arguments}}),
        ];
        let input: String = calls.iter().map(|call| format!("{call}\n")).collect();
        let mut command = world.command("serve --structured");
        command
            .env("CLAUDE_PROJECT_DIR", &shop)
            .stdin(std::process::Stdio::piped());
        let answers = run(&mut command, input.as_bytes()).ok().json_lines();
        let result = answers.last().unwrap()["result"].clone();
        assert_eq!(result["isError"], false, "{result}");
        result
    };
    let stored = json!({"topic": "design", "content": "the colour is green", "scope": "project"});
    let id = call("icm_memory_store", stored)["structuredContent"]["id"].clone();
    let memory = world.json(format!("get {}", id.as_str().unwrap()));
    assert_eq!(memory["scope"], "project:shop");

    let found = call("icm_memory_recall", json!({"query": "colour"}));
    let answer = &found["structuredContent"];
    assert_eq!(answer["scope"], json!(["global", "project:shop"]));
    assert_eq!(answer["results"].count(), 1);
    let found = call(
        "icm_memory_recall",
        json!({"query": "colour", "scope": "all"}),
    );
    let text = found["content"][0]["text"].as_str().unwrap();
    text.says("elsewhere: project:bank");
    assert_eq!(found["structuredContent"]["results"][1]["elsewhere"], true);
}

#[test]
fn ones_own_session_is_before_its_parents_and_children_and_those_before_the_rest() {
    let world = World::new();
    let here = world.path("");
    // The same text in all scopes; the older ones would come first.
    for scope in ["global", "session:a/b/c", "session:a", "session:a/b"] {
        let text = ["-t", "tea", "-c", "green tea at four"];
        let args = [["store", "--scope", scope].as_slice(), &text].concat();
        world.icm(args).ok();
    }
    let scopes = |session: &str| -> Vec<String> {
        let run = icm_in(&world, &here, session, "recall 'green tea' --json");
        let answer = run.ok().json();
        let results = answer["results"].as_array().expect("results");
        let scope = |hit: &Value| hit["scope"].as_str().expect("a scope").to_owned();
        results.iter().map(scope).collect()
    };
    assert_eq!(
        scopes("a/b"),
        ["session:a/b", "session:a/b/c", "session:a", "global"]
    );
    assert_eq!(
        scopes("a"),
        ["session:a", "session:a/b/c", "session:a/b", "global"]
    );
    assert_eq!(scopes("a/b/c")[0], "session:a/b/c");
    // The shorter text has the larger share of matching words.
    let nested = World::new();
    for session in ["a", "a/b", "a/b/c"] {
        let text = format!("Session {session} tests something");
        let args = ["store", "-t", "s", "--scope", "session", "-c", &text];
        icm_in(&nested, &here, session, args).ok();
    }
    for session in ["a", "a/b", "a/b/c"] {
        let args = ["recall", "tests something", "--json", "--no-record"];
        let answer = icm_in(&nested, &here, session, args).ok().json();
        assert_eq!(answer["results"][0]["scope"], format!("session:{session}"));
    }
    let run = icm_in(&world, &here, "a/b", "recall 'green tea' --explain");
    run.ok()
        .out
        .says("its session is a parent or child of yours");
}
