//! Samples of hook inputs of each client, from its schema, its documentation or a run of it.

use std::fmt::Write as _;
use std::path::Path;

use icm_clients::hooks::{self, Cause, Input, Moment};
use icm_clients::names::Client;

use super::{folder, samples};

/// Returns the input as text, one line per field with a value.
fn told(input: &Input) -> String {
    let mut text = format!("  {} = {:?}\n", input.event, input.moment);
    let path = |path: &Option<std::path::PathBuf>| path.as_ref().map(|it| it.display().to_string());
    let agent = input
        .agent
        .as_ref()
        .map(|it| format!("{} {:?}", it.id, it.kind));
    for (name, value) in [
        ("session", input.session.clone()),
        ("agent", agent),
        ("folder", path(&input.folder)),
        ("transcript", path(&input.transcript)),
        ("prompt", input.prompt.clone()),
        ("reason", input.reason.clone()),
        ("last message", input.last_message.clone()),
    ] {
        if let Some(value) = value {
            writeln!(text, "  {name}: {value}").expect("a text");
        }
    }
    text
}

/// `UPDATE_EXPECT=1` writes the expected state anew.
#[test]
fn each_sample_is_read_as_expected() {
    let mut found = String::new();
    for sample in samples() {
        let input = hooks::read(sample.client, sample.event(), &sample.bytes);
        let input =
            input.unwrap_or_else(|error| panic!("{:?} {}: {error}", sample.client, sample.name));
        write!(
            found,
            "{} {}\n{}",
            sample.client.name(),
            sample.name,
            told(&input)
        )
        .expect("a text");
    }
    let path = folder().join("read.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &found).expect("the expected state");
    }
    let expected = std::fs::read_to_string(&path).expect("the expected state");
    for (nth, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "line {} of {}", nth + 1, path.display());
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn each_event_of_each_client_has_a_sample() {
    let names: Vec<_> = samples()
        .into_iter()
        .map(|it| (it.client, it.name))
        .collect();
    let mut events = 0;
    for client in Client::ALL {
        for row in hooks::events(*client) {
            events += 1;
            assert!(
                names.contains(&(*client, row.name.to_owned())),
                "no sample for {} {}",
                client.name(),
                row.name
            );
        }
    }
    assert!(events > 90, "{events}");
}

#[test]
fn a_start_has_the_cause_that_the_client_gives() {
    for (source, cause) in [
        (r#""startup""#, Cause::Startup),
        (r#""new""#, Cause::Startup),
        (r#""resume""#, Cause::Resume),
        (r#""clear""#, Cause::Clear),
        (r#""compact""#, Cause::Compact),
        (r#""fork""#, Cause::Fork),
        (r#""moon""#, Cause::Other),
        ("null", Cause::Startup),
        (r#""""#, Cause::Startup),
    ] {
        let stdin = format!(r#"{{"session_id":"s","source":{source}}}"#);
        let input =
            hooks::read(Client::ClaudeCode, "SessionStart", stdin.as_bytes()).expect("an input");
        assert_eq!(input.moment, Moment::SessionStart { cause }, "{source}");
    }
}

/// Qwen Code also runs the prompt hook without a prompt, after each tool call.
#[test]
fn an_empty_prompt_is_none() {
    for prompt in [r#""""#, "null", "[]", r#"[{"type":"image","url":"x"}]"#] {
        let stdin = format!(r#"{{"prompt":{prompt}}}"#);
        let input =
            hooks::read(Client::QwenCode, "UserPromptSubmit", stdin.as_bytes()).expect("an input");
        assert_eq!(input.prompt, None, "{prompt}");
    }
}

#[test]
fn texts_of_a_prompt_in_blocks_are_joined() {
    let stdin = br#"{"prompt":[{"type":"text","text":"one"},{"type":"image"},{"type":"text","text":"two"},"three"]}"#;
    let input = hooks::read(Client::KimiCode, "UserPromptSubmit", stdin).expect("an input");
    assert_eq!(input.prompt.as_deref(), Some("one\ntwo\nthree"));
}

/// Gemini CLI puts the context of an earlier hook before the prompt; the context must not recall itself.
#[test]
fn the_context_of_an_earlier_hook_is_no_part_of_a_prompt() {
    for (prompt, words) in [
        ("<hook_context>a</hook_context>\n\nwhere?", Some("where?")),
        (
            "<hook_context>a</hook_context>\n<hook_context>b\nc</hook_context> where?",
            Some("where?"),
        ),
        ("<hook_context>a</hook_context>\n", None),
        ("<hook_context> where?", Some("<hook_context> where?")),
        (
            "what is <hook_context>a</hook_context>?",
            Some("what is <hook_context>a</hook_context>?"),
        ),
        (" where?\n", Some(" where?\n")),
    ] {
        let stdin = serde_json::json!({ "prompt": prompt }).to_string();
        let input =
            hooks::read(Client::GeminiCli, "BeforeAgent", stdin.as_bytes()).expect("an input");
        assert_eq!(input.prompt.as_deref(), words, "{prompt}");
        let other =
            hooks::read(Client::QwenCode, "UserPromptSubmit", stdin.as_bytes()).expect("an input");
        assert_eq!(other.prompt.as_deref(), Some(prompt));
    }
}

#[test]
fn a_session_with_a_parent_is_its_sub_agent() {
    for (event, moment) in [
        ("session.created", Moment::SubagentStart),
        ("chat.message", Moment::Prompt),
        ("session.idle", Moment::SubagentStop),
    ] {
        for stdin in [
            r#"{"session_id":"child","parent_id":"main","agent":"explore"}"#,
            r#"{"sessionID":"child","parentID":"main","agent":"explore"}"#,
        ] {
            let input = hooks::read(Client::OpenCode, event, stdin.as_bytes()).expect("an input");
            assert_eq!(
                (input.moment, input.session.as_deref()),
                (moment, Some("main"))
            );
            let agent = input.agent.expect("a sub-agent");
            assert_eq!(
                (agent.id.as_str(), agent.kind.as_deref()),
                ("child", Some("explore"))
            );
        }
    }
    let main = hooks::read(
        Client::OpenCode,
        "session.idle",
        br#"{"session_id":"main","parent_id":""}"#,
    );
    assert_eq!(
        main.map(|input| (input.moment, input.agent)),
        Ok((Moment::Stop, None))
    );
}

/// Claude Code tells its model about the end of a background task by a prompt that nobody wrote.
#[test]
fn a_notice_of_claude_code_is_no_prompt() {
    for (fields, prompt) in [
        (r#""prompt":"<task-notification>\n<task-id>a61""#, None),
        (r#""source":"system","prompt":"where?""#, None),
        (r#""source":"poll_event","prompt":"where?""#, None),
        (r#""source":"user","prompt":"where?""#, Some("where?")),
        (
            r#""source":"loop_wakeup","prompt":"where?""#,
            Some("where?"),
        ),
        (
            r#""prompt":"what is <task-notification>?""#,
            Some("what is <task-notification>?"),
        ),
    ] {
        let stdin = format!(r#"{{"session_id":"s",{fields}}}"#);
        let input = hooks::read(Client::ClaudeCode, "UserPromptSubmit", stdin.as_bytes())
            .expect("an input");
        assert_eq!(
            (input.moment, input.prompt.as_deref()),
            (Moment::Prompt, prompt),
            "{fields}"
        );
    }
}

#[test]
fn an_agent_of_claude_code_that_compacts_is_no_moment() {
    for (kind, moment) in [
        (r#","agent_type":"""#, Moment::Other),
        (r#","agent_type":"Explore""#, Moment::SubagentStop),
        ("", Moment::SubagentStop),
    ] {
        let stdin = format!(r#"{{"agent_id":"a"{kind}}}"#);
        let input =
            hooks::read(Client::ClaudeCode, "SubagentStop", stdin.as_bytes()).expect("an input");
        assert_eq!(input.moment, moment, "{kind}");
    }
}

#[test]
fn a_sub_agent_of_copilot_belongs_to_the_session_of_its_parent() {
    for (stdin, session) in [
        (
            r#"{"session_id":"sub","agent_id":"sub","agent_type":"explore","parent_agent_id":"main"}"#,
            "main",
        ),
        (
            r#"{"sessionId":"sub","agentId":"sub","agentType":"explore","parentAgentId":"main"}"#,
            "main",
        ),
        (
            r#"{"sessionId":"main","agent_id":"sub","parent_agent_id":"main"}"#,
            "main",
        ),
        (r#"{"sessionId":"sub","agent_id":"sub"}"#, "sub"),
    ] {
        let input = hooks::read(Client::CopilotCli, "UserPromptSubmit", stdin.as_bytes())
            .expect("an input");
        assert_eq!(input.session.as_deref(), Some(session), "{stdin}");
        assert_eq!(input.agent.expect("a sub-agent").id, "sub", "{stdin}");
    }
}

/// Gemini CLI signals a compaction before every request, so this is not a moment to store.
#[test]
fn a_compression_of_gemini_is_no_moment() {
    let sample = samples()
        .into_iter()
        .find(|it| it.name == "PreCompress")
        .expect("a sample");
    let input = hooks::read(Client::GeminiCli, "PreCompress", &sample.bytes).expect("an input");
    assert_eq!(input.moment, Moment::Other);
    assert_eq!(hooks::answer(&input, "context"), b"{}");
}

#[test]
fn only_the_first_request_of_antigravity_is_a_start() {
    for (nth, start) in [
        ("0", true),
        ("0.0", true),
        ("1", false),
        ("0.5", false),
        (r#""0""#, false),
        ("null", false),
    ] {
        let stdin = format!(r#"{{"conversationId":"c","invocationNum":{nth}}}"#);
        let input =
            hooks::read(Client::Antigravity, "PreInvocation", stdin.as_bytes()).expect("an input");
        assert_eq!(
            matches!(input.moment, Moment::SessionStart { .. }),
            start,
            "{nth}"
        );
        assert_eq!(hooks::answer(&input, "context") != b"{}", start, "{nth}");
    }
}

#[test]
fn the_transcript_of_a_sub_agent_is_its_own_at_its_end() {
    let stdin = br#"{"agent_id":"a","agent_transcript_path":"/own","transcript_path":"/main"}"#;
    for (event, path) in [("SubagentStop", "/own"), ("Stop", "/main")] {
        let input = hooks::read(Client::Codex, event, stdin).expect("an input");
        assert_eq!(
            input.transcript.as_deref(),
            Some(Path::new(path)),
            "{event}"
        );
    }
    let without = hooks::read(
        Client::Codex,
        "SubagentStop",
        br#"{"transcript_path":"/main"}"#,
    )
    .expect("an input");
    assert_eq!((without.transcript, without.agent), (None, None));
}

#[test]
fn the_main_agent_of_cline_is_no_sub_agent() {
    for (parent, is_sub) in [("null", false), (r#""agent_0""#, true)] {
        let stdin = format!(r#"{{"taskId":"t","agent_id":"agent_1","parent_agent_id":{parent}}}"#);
        let input = hooks::read(Client::Cline, "TaskStart", stdin.as_bytes()).expect("an input");
        assert_eq!(input.agent.is_some(), is_sub, "{parent}");
    }
}

#[test]
fn unknown_fields_and_a_byte_order_mark_are_passed_over() {
    let stdin = "\u{feff} {\"session_id\":\"s\",\"brand_new\":{\"deep\":[1,2]}}\r\n";
    let input = hooks::read(Client::ClaudeCode, "stop", stdin.as_bytes()).expect("an input");
    assert_eq!(input.session.as_deref(), Some("s"));
    let old = hooks::read(Client::ClaudeCode, "Stop", b"{}").expect("an input of an older client");
    assert_eq!((old.session, old.transcript), (None, None));
}

/// The session's file has the words of the main agent, and they would count as read.
#[test]
fn no_sub_agent_ends_with_the_transcript_of_its_session() {
    let mut ends = 0;
    for sample in samples() {
        let input = hooks::read(sample.client, sample.event(), &sample.bytes).expect("an input");
        if input.moment != Moment::SubagentStop {
            continue;
        }
        let path = input.transcript.unwrap_or_default();
        let session = input.session.expect("a session");
        let is_of_session = path.to_string_lossy().contains(&session);
        assert!(
            !is_of_session,
            "{} {}: {}",
            sample.client.name(),
            sample.name,
            path.display()
        );
        ends += 1;
    }
    assert!(ends > 8, "{ends}");
}
