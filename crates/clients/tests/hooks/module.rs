//! The plugin file for OpenCode and Kilo, run by Node with a program in place of icm.

#![cfg(unix)]
#![allow(clippy::print_stderr)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use icm_clients::hooks::{self, Moment};
use icm_clients::names::Client;
use serde_json::Value;

/// A program that records its input and answers with a text of the environment.
///
/// The answer comes in two pieces; the second has the last three bytes.
const HOOK: &str = r#"#!/bin/sh
{ cat; echo; } >> "$HOOK_CALLS"
len=$(printf '%s' "$HOOK_ANSWER" | wc -c)
printf '%s' "$HOOK_ANSWER" | head -c $((len > 3 ? len - 3 : len))
sleep 0.02
test $len -le 3 || printf '%s' "$HOOK_ANSWER" | tail -c 3
"#;

/// Plays the sessions of `module.mjs` with hooks that answer `answer`.
///
/// Returns the inputs of the hooks and the texts that each session was shown; `None` without Node.
fn play(answer: &str) -> Option<(Vec<Value>, Value)> {
    let node = Command::new("node").arg("--version").output();
    if !node.is_ok_and(|node| node.status.success()) {
        eprintln!("skipped: there is no `node` in PATH");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (hook, calls) = (folder.path().join("hook"), folder.path().join("calls"));
    fs::write(&hook, HOOK).expect("it is written");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("it can be run");
    let module = include_str!("../../src/install/texts/module.js")
        .replace("%COMMAND%", &Value::from(hook.to_str()).to_string())
        .replace("%MORE%", "[]")
        .replace("%CLIENT%", "\"opencode\"");
    let file = folder.path().join("icm.mjs");
    fs::write(&file, module).expect("it is written");
    let player = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hooks/module.mjs");
    let run = Command::new("node")
        .args([&player, &file])
        .env("HOOK_CALLS", &calls)
        .env("HOOK_ANSWER", answer)
        .output()
        .expect("it runs");
    assert!(run.status.success(), "{run:?}");
    let calls = fs::read_to_string(&calls).expect("hooks have run");
    let calls = calls
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    let shown = serde_json::from_slice(&run.stdout).expect("JSON");
    Some((calls.collect(), shown))
}

/// OpenCode names the parent only in some of its events; the plugin file names it in each.
#[test]
fn a_sub_agent_is_one_session_in_every_event() {
    let Some((calls, _)) = play("{}") else { return };
    let mut of_child = Vec::new();
    for call in &calls {
        let event = call["hook_event_name"].as_str().expect("an event");
        let stdin = call.to_string();
        let input = hooks::read(Client::OpenCode, event, stdin.as_bytes()).expect("an input");
        assert_eq!(input.session.as_deref(), Some("main"), "{call}");
        match input.agent {
            Some(agent) => of_child.push((agent.id, input.event, input.moment)),
            None => assert_eq!(call["session_id"], "main"),
        }
    }
    let child = |event: &str, moment| ("child".to_owned(), event.to_owned(), moment);
    let before = Moment::BeforeCompaction;
    assert_eq!(
        of_child,
        [
            child("session.created", Moment::SubagentStart),
            child("chat.message", Moment::Prompt),
            child("experimental.session.compacting", before),
            child("session.compacted", Moment::AfterCompaction),
            child("chat.message", Moment::Prompt),
            child("session.idle", Moment::SubagentStop),
            child("session.deleted", Moment::SessionEnd),
            (
                "old".to_owned(),
                "session.idle".to_owned(),
                Moment::SubagentStop
            ),
        ]
    );
    assert_eq!(calls.len(), of_child.len() + 3);
}

#[test]
fn the_answers_to_a_start_and_a_prompt_are_shown() {
    let Some((_, shown)) = play(r#"{"additionalContext":"é"}"#) else {
        return;
    };
    assert_eq!(
        shown,
        serde_json::json!({"main": ["é\né"], "child": ["é\né"]})
    );
}

/// A hook that is killed while it writes leaves a prefix of its answer, with an open frame.
#[test]
fn an_answer_that_is_cut_off_is_dropped() {
    for answer in [
        r#"{"additionalContext":"<memories>\nInvoices li"#,
        "words",
        "7",
        "null",
        "",
    ] {
        let Some((_, shown)) = play(answer) else {
            return;
        };
        assert_eq!(
            shown,
            serde_json::json!({"main": [], "child": []}),
            "{answer}"
        );
    }
}
