//! `icm hook`, and the commands that report it: sessions, injections, tokens.

mod mistake;
mod transcript;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::world::{Look, Run, Says, World};

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

#[test]
fn a_session_is_played_through() {
    let world = World::new();
    let rule = world.stored("-t rules -c 'Never push to main on Fridays' -i critical");
    let port = world.stored("-t ops -c 'The staging database listens on port 5433'");
    let session = Session::new(&world, "claude-code", "s1");

    let woken = session.start("startup");
    woken.says(&rule);
    woken.says("(critical, ");
    woken.lacks(&port);

    let told = session.prompt("which port does the staging database listen on?");
    told.says(&port);
    told.begins("<memories nonce=");
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
    let learned = world.json("list -t sessions/");
    assert_eq!(learned.count(), 1, "{learned}");
    learned[0].has(json!({"trust": "external", "/source/session": "s1"}));

    let again = session.start("compact");
    again.says("keep invoices in PostgreSQL 16");
    again.says("of this session");
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
    let learned = world.json("list -t sessions/");
    assert_eq!(learned.count(), 1, "nothing is stored twice: {learned}");

    let injected = world.ok("log --injected --session s1 --json").json_lines();
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

    let sessions = world.json("sessions");
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
    let why = world.json(format!("why {port}"));
    why.has(json!({"recalls_total": 0, "injections_total": 2}));
    assert_eq!(world.json(format!("get {port}"))["access_count"], 0);
    let tokens = world.json("stats --tokens");
    tokens.has(json!({"/by_front/hook/times": 2, "/by_client/claude-code/times": 4}));

    world.ok("undo --session s1 --yes");
    assert_eq!(world.json("list -t sessions/"), json!([]));
    assert_eq!(world.count("list"), 2);
}

#[test]
fn a_sub_agent_is_a_session_of_its_parent() {
    let world = World::new();
    world.stored("-t rules -c 'Never push to main on Fridays' -i critical");
    let session = Session::new(&world, "claude-code", "s1");
    session.start("startup");
    let agent = json!({"agent_id": "a7", "agent_type": "Explore"});
    let woken = session.context("SubagentStart", agent.clone());
    woken.says("Never push to main");
    session.hook("SubagentStop", agent).ok();

    let sessions = world.json("sessions s1");
    let all = sessions.as_array().unwrap();
    let of = |name: &str| all.iter().find(|it| it["name"] == name).unwrap();
    let (parent, child) = (of("s1"), of("s1/a7"));
    assert_eq!(child["parent"], parent["id"]);
    assert_eq!(parent["children"], json!([child["id"]]));
    child.has(json!({"agent": "Explore", "ended": "subagent"}));
    assert_eq!(parent["ended"], Value::Null);
    let text = world.out("sessions");
    assert!(
        text.lines().nth(1).unwrap().starts_with("└ s1/a7"),
        "{text}"
    );
    world.fails("sessions nobody => 1: no event is of the session `nobody`");
}

#[test]
fn a_session_is_told_once_by_the_hooks_of_two_files() {
    let world = World::new();
    let rule = world.stored("-t rules -c 'Never push to main on Fridays' -i critical");
    let port = world.stored("-t ops -c 'The staging database listens on port 5433'");
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
    assert!(!world.out("sessions").contains("c1"));
    let of_cursor = Session::new(&world, "cursor", "c1");
    let told = of_cursor.hook("sessionStart", cursor).ok().out;
    told.says(&rule);
    told.says("additional_context");
    let injected = world.ok("log --injected --json").json_lines();
    assert_eq!(injected.len(), 5, "{injected:?}");
}

#[test]
fn text_shown_to_no_model_is_not_recorded_as_shown() {
    let world = World::new();
    let rule = world.stored("-t rules -c 'The staging database listens on port 5433' -i critical");
    let kimi = Session::new(&world, "kimi-code", "k1");
    assert_eq!(
        kimi.hook("SessionStart", json!({"source": "startup"}))
            .ok()
            .out,
        ""
    );
    assert_eq!(world.json("sessions")[0]["name"], "k1");
    assert_eq!(world.icm("log --injected").ends(1).out, "");
    let prompt = json!({"prompt": "which port does the staging database listen on?"});
    let told = || kimi.hook("UserPromptSubmit", prompt.clone()).ok().out;
    assert!(told().contains(&rule));
    // After a compaction the model no longer has the context.
    kimi.hook("PostCompact", json!({})).ok();
    assert!(told().contains(&rule));

    let cursor = Session::new(&world, "cursor", "c1");
    let run = cursor.hook("beforeSubmitPrompt", prompt.clone()).ok();
    assert_eq!(run.out, r#"{"continue":true}"#);
    let injected = world.icm("log --injected --session c1");
    injected.out.lacks(&rule);

    let opencode = Session::new(&world, "opencode", "o1");
    opencode.hook("session.created", json!({})).ok();
    let again = opencode.hook("session.compacted", json!({})).ok().out;
    again.says(&rule);
}

#[test]
fn hooks_are_switched_off_and_on() {
    let world = World::new();
    let port = world.stored("-t ops -c 'The staging database listens on port 5433'");
    let session = Session::new(&world, "claude-code", "s1");
    let prompt = "which port does the staging database listen on?";
    let events = || world.ok("log --json").json_lines().len();
    let before = events();

    world.ok("hook off");
    assert_eq!(session.start("startup") + &session.prompt(prompt), "");
    assert_eq!(events(), before, "nothing is recorded while hooks are off");
    assert_eq!(world.json("hook on")["changed"], true);
    assert_eq!(world.json("hook on")["changed"], false);

    world.write("widgets/.icm-ignore", "");
    assert_eq!(session.prompt(prompt), "");
    std::fs::remove_file(world.path("widgets/.icm-ignore")).unwrap();
    assert!(session.prompt(prompt).contains(&port));
}

#[test]
fn a_try_shows_what_a_prompt_would_bring_and_why() {
    let world = World::new();
    let port = world.stored("-t ops -c 'The staging database listens on port 5433'");
    let before = world.out("log --json");
    let tried = world.ok("hook codex UserPromptSubmit --try 'port of the staging database'");
    tried.out.says(format!("{port}  fit "));
    tried.out.says("has port, staging, database");
    let nothing = world.icm("hook codex UserPromptSubmit --try 'which wine goes with cheese and bread at a port by the sea in summer'");
    let nothing = nothing.ends(1);
    nothing.err.says("nothing has a fit of 0.30");
    assert_eq!(world.out("log --json"), before, "nothing is recorded");
    world.fails("hook emacs x --try y => 2: unknown client `");
}

#[test]
fn every_client_is_answered_in_its_own_shape() {
    let world = World::new();
    world.stored("-t ops -c 'The staging database listens on port 5433'");
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
            .icm_with(
                format!("hook '{client}' '{event}'"),
                input.to_string().as_bytes(),
            )
            .ok();
        let answer: Value =
            serde_json::from_str(&run.out).unwrap_or_else(|_| panic!("{client}: {run:?}"));
        let told = answer
            .pointer(place)
            .and_then(Value::as_str)
            .unwrap_or_default();
        assert!(told.contains("port 5433"), "{client}: {answer}");
    }
    let clients = world.json("sessions").texts("client");
    assert_eq!(clients.len(), 4, "{clients:?}");
}

#[test]
fn a_client_that_keeps_the_start_from_its_model_is_woken_at_the_first_prompt() {
    let world = World::new();
    world.stored("-t rules -c 'Never push to main on Fridays' -i critical");
    world.stored("-t ops -c 'The staging database listens on port 5433'");
    let hook = |event: &str, more: Value| {
        let mut input = json!({"session_id": "k1", "hook_event_name": event});
        input
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        world
            .icm_with(
                format!("hook kimi-code '{event}'"),
                input.to_string().as_bytes(),
            )
            .ok()
            .out
    };
    assert_eq!(hook("SessionStart", json!({"source": "startup"})), "");
    let prompt = json!({"prompt": "which port does the staging database listen on?"});
    let told = hook("UserPromptSubmit", prompt.clone());
    told.says("Never push to main");
    told.says("5433");
    assert_eq!(hook("UserPromptSubmit", prompt), "", "both were seen");
    let injected = world.ok("log --injected --json").json_lines();
    assert_eq!(injected.len(), 2, "{injected:?}");
}

#[test]
fn an_injection_names_its_session() {
    let world = World::new();
    let id = world.stored("-t billing -i critical -c 'Invoices live in PostgreSQL'");
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
    let run = world.icm("log --injected --session zzz").ends(1);
    run.err.says("no event is of the session `zzz`");
    let idle = Session::new(&world, "claude-code", "idle");
    let mut command = world.command("store -t t -c 'of idle'");
    crate::world::run(command.env("ICM_SESSION", idle.id), b"").ok();
    let run = world
        .icm(format!("log --injected --session {}", idle.id))
        .ends(1);
    run.err.says("nothing was injected");
}

#[test]
fn a_session_is_named_by_the_beginning_of_its_id() {
    let world = World::new();
    for name in ["s1", "s2"] {
        let session = Session::new(&world, "claude-code", name);
        session.start("startup");
        let mut command = world.command(format!("store -t t -c 'of {name}'"));
        crate::world::run(command.env("ICM_SESSION", name), b"").ok();
    }
    let sessions = world.json("sessions");
    let id = sessions[0]["id"].as_str().unwrap();
    for given in [id, &id[..8]] {
        assert_eq!(world.count(format!("sessions '{given}'")), 1);
        let of_it = world
            .ok(format!("log --session '{given}' --json"))
            .json_lines();
        assert_eq!(of_it.len(), 3, "{of_it:?}");
        assert!(of_it.iter().all(|event| event["session"] == id));
    }
    world.ok(format!("undo --session {} --yes", &id[..8]));
    assert_eq!(world.count("list"), 1);
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
        let port = world.stored("-t ops -c 'The staging database listens on port 5433'");
        let hook = |event: &str, more: Value| {
            let mut input =
                json!({"session_id": "s1", "sessionId": "s1", "hook_event_name": event});
            input
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            world
                .icm_with(
                    format!("hook '{client}' '{event}'"),
                    input.to_string().as_bytes(),
                )
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
fn text_hidden_from_the_model_is_not_injected() {
    let world = World::new();
    world.stored("-t ops -c 'The staging database listens on port 5433' -i high");
    let input = json!({"conversation_id": "c1", "session_id": "c1", "prompt": "port of the staging database"});
    let run = world
        .icm_with(
            "hook cursor beforeSubmitPrompt",
            input.to_string().as_bytes(),
        )
        .ok();
    run.out.lacks("5433");
    world.icm("log --injected").ends(1);
    let tried = world.icm("hook cursor beforeSubmitPrompt --try 'port of the staging database'");
    assert!(
        tried.ends(1).err.contains("Cursor shows its model nothing"),
        "it is told"
    );
    world.fails("hook codex NoSuchEvent --try x => 2: no event `NoSuchEvent`");
    let woken = world.ok("hook codex SessionStart --try x");
    woken.out.says("  high");
}

#[test]
fn a_prompt_leaves_no_secret_and_no_word_that_no_memory_has() {
    let world = World::new();
    world.stored("-t ops -c 'The staging server uses port 8443'");
    let session = Session::new(&world, "claude-code", "s1");
    session.start("startup");
    let secret = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let prompt = format!(
        "which port does the staging server use? password=xK9vQ2mZ7pLw4RtB token {secret} zebra"
    );
    assert!(session.prompt(&prompt).contains("8443"));
    let log = world.out("log --json");
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
