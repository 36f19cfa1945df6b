//! `icm hook`, and the commands that report it: sessions, injections, tokens.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::world::{Run, World};

/// A client's session in a project folder.
struct Session<'w> {
    world: &'w World,
    client: &'static str,
    id: &'static str,
    project: PathBuf,
    transcript: PathBuf,
}

impl<'w> Session<'w> {
    fn new(world: &'w World, client: &'static str, id: &'static str) -> Session<'w> {
        let project = world.path("widgets");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        Session {
            world,
            client,
            id,
            project,
            transcript: world.path("transcript.jsonl"),
        }
    }

    fn hook(&self, event: &str, more: Value) -> Run {
        let mut input = json!({
            "session_id": self.id,
            "transcript_path": self.transcript,
            "cwd": self.project,
            "hook_event_name": event,
        });
        let fields = input.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        self.raw(event, input.to_string().as_bytes())
    }

    fn raw(&self, event: &str, input: &[u8]) -> Run {
        self.world.icm_with(["hook", self.client, event], input)
    }

    /// Returns the context of an answer; empty without one.
    fn context(&self, event: &str, more: Value) -> String {
        let run = self.hook(event, more).ok();
        assert_eq!(run.err, "", "{event}");
        if run.out.is_empty() {
            return String::new();
        }
        let answer: Value = serde_json::from_str(&run.out).expect("JSON");
        let told = &answer["hookSpecificOutput"];
        assert_eq!(told["hookEventName"], event);
        told["additionalContext"].as_str().unwrap().to_owned()
    }

    fn prompt(&self, prompt: &str) -> String {
        self.context("UserPromptSubmit", json!({ "prompt": prompt }))
    }

    fn start(&self, source: &str) -> String {
        self.context("SessionStart", json!({ "source": source }))
    }

    fn says(&self, role: &str, text: &str) {
        let line = json!({
            "type": role,
            "message": { "role": role, "content": text },
            "uuid": format!("u{}", text.len()),
            "sessionId": self.id,
        });
        let before = std::fs::read_to_string(&self.transcript).unwrap_or_default();
        std::fs::write(&self.transcript, format!("{before}{line}\n")).unwrap();
    }
}

fn stored(world: &World, args: &[&str]) -> String {
    let receipt = world.json([&["store"], args].concat());
    receipt["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_session_is_played_through() {
    let world = World::new();
    let rule = stored(
        &world,
        &[
            "-t",
            "rules",
            "-c",
            "Never push to main on Fridays",
            "-i",
            "critical",
        ],
    );
    let port = stored(
        &world,
        &[
            "-t",
            "ops",
            "-c",
            "The staging database listens on port 5433",
        ],
    );
    let session = Session::new(&world, "claude-code", "s1");

    let woken = session.start("startup");
    assert!(
        woken.contains(&rule) && woken.contains("(critical, "),
        "{woken}"
    );
    assert!(!woken.contains(&port), "{woken}");

    let told = session.prompt("which port does the staging database listen on?");
    assert!(told.contains(&port), "{told}");
    assert!(told.starts_with("<memories nonce="), "{told}");
    // A memory that the session has seen is not shown again, and a memory that does not fit is not shown at all.
    assert_eq!(
        session.prompt("the port of the staging database, please"),
        ""
    );
    assert_eq!(session.prompt("write a haiku about the sea"), "");

    session.says(
        "user",
        "We decided to keep invoices in PostgreSQL 16 because of its JSON support.",
    );
    session.says("assistant", "Let me look at the tests. Should we cache it?");
    assert_eq!(
        session
            .hook("PreCompact", json!({"trigger": "auto"}))
            .ok()
            .out,
        ""
    );
    let learned = world.json(["list", "-t", "sessions/"]);
    assert_eq!(learned.as_array().unwrap().len(), 1, "{learned}");
    assert_eq!(learned[0]["trust"], "external");
    assert_eq!(learned[0]["source"]["session"], "s1");

    let again = session.start("compact");
    assert!(again.contains("keep invoices in PostgreSQL 16"), "{again}");
    assert!(again.contains("of this session"), "{again}");
    // The compaction has removed the context of the earlier prompt.
    assert!(
        session
            .prompt("which port does the staging database listen on?")
            .contains(&port)
    );

    session
        .hook("Stop", json!({"stop_hook_active": false}))
        .ok();
    session.hook("SessionEnd", json!({"reason": "logout"})).ok();
    let learned = world.json(["list", "-t", "sessions/"]);
    assert_eq!(
        learned.as_array().unwrap().len(),
        1,
        "nothing is stored twice: {learned}"
    );

    let injected = world
        .icm(["log", "--injected", "--session", "s1", "--json"])
        .ok()
        .json_lines();
    let fronts: Vec<_> = injected
        .iter()
        .map(|it| it["front"].as_str().unwrap())
        .collect();
    assert_eq!(fronts, ["hook", "wake-up", "hook", "wake-up"]);
    let words = injected[0]["words"].as_str().unwrap();
    assert!(
        words.contains("staging") && !words.contains("which"),
        "the prompt is not logged: {words}"
    );

    let sessions = world.json(["sessions"]);
    let it = &sessions[0];
    assert_eq!(
        [&it["name"], &it["client"], &it["project"], &it["ended"]],
        ["s1", "claude-code", "widgets", "logout"]
    );
    assert_eq!(
        (it["stored"].as_u64(), it["starts"].as_u64()),
        (Some(1), Some(2))
    );
    assert!(it["tokens"].as_u64() > Some(0));

    // An injection does not count as a recall.
    let why = world.json(["why", &port]);
    assert_eq!(why["recalls_total"], 0);
    assert_eq!(why["injections_total"], 2);
    assert_eq!(world.json(["get", &port])["access_count"], 0);
    let tokens = world.json(["stats", "--tokens"]);
    assert_eq!(tokens["by_front"]["hook"]["times"], 2);
    assert_eq!(tokens["by_client"]["claude-code"]["times"], 4);

    world.icm(["undo", "--session", "s1", "--yes"]).ok();
    assert_eq!(world.json(["list", "-t", "sessions/"]), json!([]));
    assert_eq!(world.json(["list"]).as_array().unwrap().len(), 2);
}

#[test]
fn a_sub_agent_is_a_session_of_its_parent() {
    let world = World::new();
    stored(
        &world,
        &[
            "-t",
            "rules",
            "-c",
            "Never push to main on Fridays",
            "-i",
            "critical",
        ],
    );
    let session = Session::new(&world, "claude-code", "s1");
    session.start("startup");
    let agent = json!({"agent_id": "a7", "agent_type": "Explore"});
    let woken = session.context("SubagentStart", agent.clone());
    assert!(woken.contains("Never push to main"), "{woken}");
    session.hook("SubagentStop", agent).ok();

    let sessions = world.json(["sessions", "s1"]);
    let all = sessions.as_array().unwrap();
    let of = |name: &str| all.iter().find(|it| it["name"] == name).unwrap();
    let (parent, child) = (of("s1"), of("s1/a7"));
    assert_eq!(child["parent"], parent["id"]);
    assert_eq!(parent["children"], json!([child["id"]]));
    assert_eq!(
        (&child["agent"], &child["ended"]),
        (&json!("Explore"), &json!("subagent"))
    );
    assert_eq!(parent["ended"], Value::Null);
    let text = world.icm(["sessions"]).ok().out;
    assert!(
        text.lines().nth(1).unwrap().starts_with("└ s1/a7"),
        "{text}"
    );
    world
        .icm(["sessions", "nobody"])
        .fails(1, "no event is of the session `nobody`");
}

#[test]
fn a_session_is_told_once_by_the_hooks_of_two_files() {
    let world = World::new();
    let rule = stored(
        &world,
        &[
            "-t",
            "rules",
            "-c",
            "Never push to main on Fridays",
            "-i",
            "critical",
        ],
    );
    let port = stored(
        &world,
        &[
            "-t",
            "ops",
            "-c",
            "The staging database listens on port 5433",
        ],
    );
    let own = Session::new(&world, "claude-code", "s1");
    let plugin = Session::new(&world, "plugin", "s1");
    assert!(own.start("startup").contains(&rule));
    assert_eq!(plugin.start("startup"), "");
    let prompt = "which port does the staging database listen on?";
    assert!(plugin.prompt(prompt).contains(&port));
    assert_eq!(own.prompt(prompt), "");
    // Another moment is answered, however soon it follows.
    assert!(plugin.start("compact").contains(&rule));
    assert!(own.prompt(prompt).contains(&port));

    // Cursor runs the hooks of Claude Code beside its own.
    let cursor = json!({"conversation_id": "c1", "cursor_version": "2.4.1"});
    let of_claude = Session::new(&world, "claude-code", "c1");
    for event in ["SessionStart", "UserPromptSubmit", "Stop"] {
        assert_eq!(
            of_claude.hook(event, cursor.clone()).ok().out,
            "",
            "{event}"
        );
    }
    assert!(!world.icm(["sessions"]).ok().out.contains("c1"));
    let of_cursor = Session::new(&world, "cursor", "c1");
    let told = of_cursor.hook("sessionStart", cursor).ok().out;
    assert!(
        told.contains(&rule) && told.contains("additional_context"),
        "{told}"
    );
    let injected = world.icm(["log", "--injected", "--json"]).ok().json_lines();
    assert_eq!(injected.len(), 5, "{injected:?}");
}

#[test]
fn what_a_client_shows_to_no_model_is_not_recorded_as_shown() {
    let world = World::new();
    let rule = stored(
        &world,
        &[
            "-t",
            "rules",
            "-c",
            "The staging database listens on port 5433",
            "-i",
            "critical",
        ],
    );
    let kimi = Session::new(&world, "kimi-code", "k1");
    assert_eq!(
        kimi.hook("SessionStart", json!({"source": "startup"}))
            .ok()
            .out,
        ""
    );
    assert_eq!(world.json(["sessions"])[0]["name"], "k1");
    assert_eq!(world.icm(["log", "--injected"]).ends(1).out, "");
    let prompt = json!({"prompt": "which port does the staging database listen on?"});
    let told = || kimi.hook("UserPromptSubmit", prompt.clone()).ok().out;
    assert!(told().contains(&rule));
    // After a compaction the model no longer has the context.
    kimi.hook("PostCompact", json!({})).ok();
    assert!(told().contains(&rule));

    let cursor = Session::new(&world, "cursor", "c1");
    let run = cursor.hook("beforeSubmitPrompt", prompt.clone()).ok();
    assert_eq!(run.out, r#"{"continue":true}"#);
    let injected = world.icm(["log", "--injected", "--session", "c1"]);
    assert!(!injected.out.contains(&rule), "{injected:?}");

    let opencode = Session::new(&world, "opencode", "o1");
    opencode.hook("session.created", json!({})).ok();
    let again = opencode.hook("session.compacted", json!({})).ok().out;
    assert!(again.contains(&rule), "{again}");
}

#[test]
fn whatever_goes_wrong_the_client_goes_on() {
    let world = World::with_memories();
    let session = Session::new(&world, "claude-code", "s1");
    let huge = vec![b'x'; 17 << 20];
    let cut_off = br#"{"session_id":"s1","prom"#;
    let other = br#"{"session_id":7,"prompt":"a"}"#;
    let inputs: [(&str, &[u8]); 8] = [
        ("UserPromptSubmit", b""),
        ("UserPromptSubmit", b"not json"),
        ("UserPromptSubmit", b"[]"),
        ("UserPromptSubmit", cut_off),
        ("UserPromptSubmit", other),
        ("UserPromptSubmit", &huge),
        ("NoSuchEvent", b"{}"),
        ("", b"{}"),
    ];
    let mut lines = 0;
    for (event, input) in inputs {
        let run = session.raw(event, input).ok();
        assert_eq!((run.out.as_str(), run.err.as_str()), ("", ""), "{event}");
        lines += 1;
        let journal = std::fs::read_to_string(world.store().join("cache/hooks.log")).unwrap();
        assert_eq!(journal.lines().count(), lines, "{journal}");
    }
    for args in [
        &["hook", "no-client", "Stop"][..],
        &["hook", "codex", "Stop", "--what"],
    ] {
        assert_eq!(world.icm_with(args, b"{}").ok().out, "", "{args:?}");
    }
    // An invalid config file, and an unreadable log.
    world.write("config.toml", "[recall]\nlimit = 'many'\n");
    let config = world.path("config.toml");
    let args = [
        "--config",
        config.to_str().unwrap(),
        "hook",
        "claude-code",
        "Stop",
    ];
    world.icm_with(args, b"{}").ok();
    let logs: Vec<_> = crate::world::tree(&world.store())
        .into_iter()
        .filter(|(path, _)| path.extension().is_some_and(|it| it == "icmlog"))
        .collect();
    assert!(!logs.is_empty());
    for (path, bytes) in logs {
        std::fs::write(world.store().join(path), &bytes[..bytes.len() / 3]).unwrap();
    }
    let run = session
        .hook("UserPromptSubmit", json!({"prompt": "tea"}))
        .ok();
    assert_eq!(run.err, "");
}

#[test]
fn hooks_are_switched_off_and_on() {
    let world = World::new();
    let port = stored(
        &world,
        &[
            "-t",
            "ops",
            "-c",
            "The staging database listens on port 5433",
        ],
    );
    let session = Session::new(&world, "claude-code", "s1");
    let prompt = "which port does the staging database listen on?";
    let events = || world.icm(["log", "--json"]).ok().json_lines().len();
    let before = events();

    world.icm(["hook", "off"]).ok();
    assert_eq!(session.start("startup") + &session.prompt(prompt), "");
    assert_eq!(events(), before, "nothing is recorded while hooks are off");
    assert_eq!(world.json(["hook", "on"])["changed"], true);
    assert_eq!(world.json(["hook", "on"])["changed"], false);

    world.write("widgets/.icm-ignore", "");
    assert_eq!(session.prompt(prompt), "");
    std::fs::remove_file(world.path("widgets/.icm-ignore")).unwrap();
    assert!(session.prompt(prompt).contains(&port));
}

#[test]
fn a_try_shows_what_a_prompt_would_bring_and_why() {
    let world = World::new();
    let port = stored(
        &world,
        &[
            "-t",
            "ops",
            "-c",
            "The staging database listens on port 5433",
        ],
    );
    let before = world.icm(["log", "--json"]).ok().out;
    let tried = world
        .icm([
            "hook",
            "codex",
            "UserPromptSubmit",
            "--try",
            "port of the staging database",
        ])
        .ok();
    assert!(tried.out.contains(&format!("{port}  fit ")), "{tried:?}");
    assert!(
        tried.out.contains("has port, staging, database"),
        "{tried:?}"
    );
    let nothing = world.icm([
        "hook",
        "codex",
        "UserPromptSubmit",
        "--try",
        "which wine goes with cheese and bread at a port by the sea in summer",
    ]);
    let nothing = nothing.ends(1);
    assert!(
        nothing.err.contains("nothing has a fit of 0.30"),
        "{nothing:?}"
    );
    assert_eq!(
        world.icm(["log", "--json"]).ok().out,
        before,
        "nothing is recorded"
    );
    world
        .icm(["hook", "emacs", "x", "--try", "y"])
        .fails(2, "unknown client `");
}

#[test]
fn every_client_is_answered_in_its_own_shape() {
    let world = World::new();
    stored(
        &world,
        &[
            "-t",
            "ops",
            "-c",
            "The staging database listens on port 5433",
        ],
    );
    let prompt = "which port does the staging database listen on?";
    for (client, event, input, place) in [
        (
            "codex",
            "UserPromptSubmit",
            json!({"session_id": "c1", "prompt": prompt}),
            "/hookSpecificOutput/additionalContext",
        ),
        (
            "gemini-cli",
            "BeforeAgent",
            json!({"session_id": "g1", "prompt": prompt}),
            "/hookSpecificOutput/additionalContext",
        ),
        (
            "copilot-cli",
            "userPromptSubmitted",
            json!({"sessionId": "p1", "prompt": prompt}),
            "/additionalContext",
        ),
        (
            "qwen-code",
            "UserPromptSubmit",
            json!({"session_id": "q1", "prompt": prompt}),
            "/hookSpecificOutput/additionalContext",
        ),
    ] {
        let run = world
            .icm_with(["hook", client, event], input.to_string().as_bytes())
            .ok();
        let answer: Value =
            serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{client}: {run:?}"));
        let told = answer
            .pointer(place)
            .and_then(Value::as_str)
            .unwrap_or_default();
        assert!(told.contains("port 5433"), "{client}: {answer}");
    }
    let clients: Vec<String> = world
        .json(["sessions"])
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["client"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(clients.len(), 4, "{clients:?}");
}

#[cfg(unix)]
#[test]
fn a_full_disk_lets_the_client_go_on() {
    let world = World::with_memories();
    let session = Session::new(&world, "claude-code", "s1");
    session.start("startup");
    let before = world.icm(["log", "--json"]).ok().out;
    let input = json!({
        "session_id": "s2", "cwd": session.project, "hook_event_name": "SessionStart", "source": "startup",
    });
    for event in ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"] {
        let icm = env!("CARGO_BIN_EXE_icm");
        let mut command = world.command(["hook"]);
        let mut shell = std::process::Command::new("sh");
        shell
            .args([
                "-c",
                &format!("ulimit -f 0; exec {icm} hook claude-code {event}"),
            ])
            .env_clear()
            .envs(
                command
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .current_dir(world.path(""))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        command.stdin(std::process::Stdio::null());
        let run = crate::world::run(&mut shell, input.to_string().as_bytes()).ok();
        assert_eq!(run.out, "", "{event}: {run:?}");
    }
    assert_eq!(
        world.icm(["log", "--json"]).ok().out,
        before,
        "nothing is half written"
    );
    world.icm(["verify"]).ok();
}

#[test]
fn a_client_that_keeps_the_start_from_its_model_is_woken_at_the_first_prompt() {
    let world = World::new();
    stored(
        &world,
        &[
            "-t",
            "rules",
            "-c",
            "Never push to main on Fridays",
            "-i",
            "critical",
        ],
    );
    stored(
        &world,
        &[
            "-t",
            "ops",
            "-c",
            "The staging database listens on port 5433",
        ],
    );
    let hook = |event: &str, more: Value| {
        let mut input = json!({"session_id": "k1", "hook_event_name": event});
        input
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        world
            .icm_with(["hook", "kimi-code", event], input.to_string().as_bytes())
            .ok()
            .out
    };
    assert_eq!(hook("SessionStart", json!({"source": "startup"})), "");
    let prompt = json!({"prompt": "which port does the staging database listen on?"});
    let told = hook("UserPromptSubmit", prompt.clone());
    assert!(
        told.contains("Never push to main") && told.contains("5433"),
        "{told}"
    );
    assert_eq!(hook("UserPromptSubmit", prompt), "", "both were seen");
    let injected = world.icm(["log", "--injected", "--json"]).ok().json_lines();
    assert_eq!(injected.len(), 2, "{injected:?}");
}

#[test]
fn only_the_command_hook_never_fails() {
    let world = World::with_memories();
    world.icm(["recall", "hook"]).ends(1);
    world.icm(["get", "hook"]).ends(1);
    world.icm(["--db", "hook", "get", "x"]).ends(1);
    world.icm(["hook", "off", "--what"]).ends(2);
    world
        .icm(["hook", "of"])
        .fails(2, "names no event of a client");
    world
        .icm(["hook", "claude-code", "on"])
        .fails(2, "names no event of a client");
    let store = world.store();
    let args = [
        "--db",
        store.to_str().unwrap(),
        "--json",
        "hook",
        "codex",
        "NoSuchEvent",
    ];
    world.icm_with(args, b"{}").ok();
}

#[test]
fn an_injection_names_its_session() {
    let world = World::new();
    let id = stored(
        &world,
        &[
            "-t",
            "billing",
            "-i",
            "critical",
            "-c",
            "Invoices live in PostgreSQL",
        ],
    );
    let session = Session::new(&world, "claude-code", "a-name-of-a-session");
    assert!(session.start("startup").contains("PostgreSQL"));
    for command in [
        &["log", "--injected"][..],
        &["log", "--injected", "--session", session.id],
        &["stats", "--tokens"],
        &["why", &id],
    ] {
        let out = world.icm(command).ok().out;
        assert!(out.contains(session.id), "{command:?}: {out}");
    }
    // The first session has no events; the second one was shown nothing.
    let run = world.icm(["log", "--injected", "--session", "zzz"]).ends(1);
    assert!(
        run.err.contains("no event is of the session `zzz`"),
        "{run:?}"
    );
    let idle = Session::new(&world, "claude-code", "idle");
    let mut command = world.command(["store", "-t", "t", "-c", "of idle"]);
    crate::world::run(command.env("ICM_SESSION", idle.id), b"").ok();
    let run = world
        .icm(["log", "--injected", "--session", idle.id])
        .ends(1);
    assert!(run.err.contains("nothing was injected"), "{run:?}");
}

#[test]
fn a_session_is_named_by_the_beginning_of_its_id() {
    let world = World::new();
    for name in ["s1", "s2"] {
        let session = Session::new(&world, "claude-code", name);
        session.start("startup");
        let mut command = world.command(["store", "-t", "t", "-c", &format!("of {name}")]);
        crate::world::run(command.env("ICM_SESSION", name), b"").ok();
    }
    let sessions = world.json(["sessions"]);
    let id = sessions[0]["id"].as_str().unwrap();
    for given in [id, &id[..8]] {
        assert_eq!(world.json(["sessions", given]).as_array().unwrap().len(), 1);
        let of_it = world
            .icm(["log", "--session", given, "--json"])
            .ok()
            .json_lines();
        assert_eq!(of_it.len(), 3, "{of_it:?}");
        assert!(of_it.iter().all(|event| event["session"] == id));
    }
    world.icm(["undo", "--session", &id[..8], "--yes"]).ok();
    assert_eq!(world.json(["list"]).as_array().unwrap().len(), 1);
}

#[test]
fn every_client_has_a_fresh_context_after_a_compaction() {
    let prompt = json!({"prompt": "which port does the staging database listen on?"});
    for (client, start, ask, compaction) in [
        (
            "claude-code",
            "SessionStart",
            "UserPromptSubmit",
            &[("PreCompact", "auto"), ("SessionStart", "compact")][..],
        ),
        (
            "codex",
            "SessionStart",
            "UserPromptSubmit",
            &[("PreCompact", "auto"), ("SessionStart", "compact")],
        ),
        (
            "copilot-cli",
            "sessionStart",
            "userPromptSubmitted",
            &[("preCompact", "auto")],
        ),
        (
            "kimi-code",
            "SessionStart",
            "UserPromptSubmit",
            &[("PreCompact", "auto"), ("PostCompact", "auto")],
        ),
    ] {
        let world = World::new();
        let port = stored(
            &world,
            &[
                "-t",
                "ops",
                "-c",
                "The staging database listens on port 5433",
            ],
        );
        let hook = |event: &str, more: Value| {
            let mut input =
                json!({"session_id": "s1", "sessionId": "s1", "hook_event_name": event});
            input
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            world
                .icm_with(["hook", client, event], input.to_string().as_bytes())
                .ok()
                .out
        };
        hook(start, json!({"source": "startup"}));
        assert!(hook(ask, prompt.clone()).contains(&port), "{client}");
        // The same prompt would count as the hook of a second file.
        let other = json!({"prompt": "the port of the staging database, please"});
        assert!(!hook(ask, other).contains(&port), "{client}: it was seen");
        for (event, why) in compaction {
            hook(event, json!({"trigger": why, "source": why}));
        }
        assert!(
            hook(ask, prompt.clone()).contains(&port),
            "{client}: its context is fresh"
        );
    }
}

#[test]
fn what_a_client_keeps_from_its_model_is_not_injected() {
    let world = World::new();
    stored(
        &world,
        &[
            "-t",
            "ops",
            "-c",
            "The staging database listens on port 5433",
            "-i",
            "high",
        ],
    );
    let input = json!({"conversation_id": "c1", "session_id": "c1", "prompt": "port of the staging database"});
    let run = world
        .icm_with(
            ["hook", "cursor", "beforeSubmitPrompt"],
            input.to_string().as_bytes(),
        )
        .ok();
    assert!(!run.out.contains("5433"), "{run:?}");
    world.icm(["log", "--injected"]).ends(1);
    let tried = world.icm([
        "hook",
        "cursor",
        "beforeSubmitPrompt",
        "--try",
        "port of the staging database",
    ]);
    assert!(
        tried.ends(1).err.contains("Cursor shows its model nothing"),
        "it is told"
    );
    world
        .icm(["hook", "codex", "NoSuchEvent", "--try", "x"])
        .fails(2, "no event `NoSuchEvent`");
    let woken = world
        .icm(["hook", "codex", "SessionStart", "--try", "x"])
        .ok();
    assert!(woken.out.contains("  high"), "{woken:?}");
}

#[test]
fn a_prompt_leaves_no_secret_and_no_word_that_no_memory_has() {
    let world = World::new();
    stored(
        &world,
        &["-t", "ops", "-c", "The staging server uses port 8443"],
    );
    let session = Session::new(&world, "claude-code", "s1");
    session.start("startup");
    let secret = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let prompt = format!(
        "which port does the staging server use? password=xK9vQ2mZ7pLw4RtB token {secret} zebra"
    );
    assert!(session.prompt(&prompt).contains("8443"));
    let log = world.icm(["log", "--json"]).ok().out;
    for word in ["xK9vQ2mZ7pLw4RtB", "a1B2c3D4", "zebra", "password"] {
        assert!(!log.contains(word), "{word}: {log}");
    }
    assert!(log.contains("port") && log.contains("staging"));
    let files = crate::world::tree(&world.store());
    assert!(files.len() > 3);
    for (path, bytes) in files {
        let text = String::from_utf8_lossy(&bytes);
        assert!(
            !text.contains("xK9vQ2mZ7pLw4RtB") && !text.contains("zebra"),
            "{}",
            path.display()
        );
    }
}

#[test]
fn a_config_file_that_cannot_be_read_switches_hooks_off() {
    let world = World::new();
    stored(
        &world,
        &["-t", "rules", "-c", "Never push to main", "-i", "critical"],
    );
    let config = world.write("config.toml", "[hooks]\nenabled = false\nnosuch = 1\n");
    let config = config.to_str().unwrap();
    let before = world.icm(["log", "--json"]).ok().out;
    let input = br#"{"session_id":"s1","source":"startup"}"#;
    let run = world
        .icm_with(
            ["--config", config, "hook", "claude-code", "SessionStart"],
            input,
        )
        .ok();
    assert_eq!(run.out, "");
    assert_eq!(world.icm(["log", "--json"]).ok().out, before);
    let journal = std::fs::read_to_string(world.store().join("cache/hooks.log")).unwrap();
    assert!(journal.contains("nosuch"), "{journal}");
}

#[test]
fn an_input_that_does_not_end_is_not_waited_for() {
    let world = World::new();
    stored(
        &world,
        &["-t", "rules", "-c", "Never push to main", "-i", "critical"],
    );
    for input in ["", r#"{"session_id":"s1","source":"startup"}"#] {
        let mut command = world.command(["hook", "claude-code", "SessionStart"]);
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut pipe, input.as_bytes()).unwrap();
        // The pipe stays open until the hook has ended.
        let output = child.wait_with_output().unwrap();
        drop(pipe);
        assert!(output.status.success());
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            told.contains("Never push to main"),
            !input.is_empty(),
            "{told}"
        );
    }
}

#[test]
fn what_was_redacted_is_not_found_in_the_transcript_again() {
    let world = World::new();
    let session = Session::new(&world, "claude-code", "s1");
    session.start("startup");
    session.says(
        "user",
        "We decided that Alice owns the invoices service in Berlin.",
    );
    session.hook("Stop", json!({})).ok();
    let learned = world.json(["list", "-t", "sessions/"]);
    world
        .icm(["redact", learned[0]["id"].as_str().unwrap(), "--yes"])
        .ok();
    session.says("user", "thanks");
    session.hook("Stop", json!({})).ok();
    let log = world.icm(["log", "--json"]).ok().out;
    assert!(!log.contains("Alice"), "{log}");
}

#[test]
fn what_a_model_recites_is_not_learned_and_a_folder_without_a_project_keeps_it_to_the_session() {
    let world = World::new();
    let session = Session::new(&world, "claude-code", "s1");
    let id = stored(
        &world,
        &[
            "-t",
            "decisions",
            "-c",
            "We decided to use port 9443 for the canary server",
        ],
    );
    session.start("startup");
    session.says(
        "assistant",
        &format!(
            "- {id} [decisions] We decided to use port 9443 for the canary server (high, 3 d ago)"
        ),
    );
    session.hook("Stop", json!({})).ok();
    assert_eq!(world.json(["list", "-t", "sessions/"]), json!([]));
    session.says("user", "We decided to keep invoices in PostgreSQL 16.");
    session.hook("Stop", json!({})).ok();
    let learned = world.json(["list", "-t", "sessions/"]);
    assert_eq!(learned[0]["scope"], "session:s1", "{learned}");
}
