//! Broken input gives one clear line, and never a panic.

use icm_clients::hooks::{self, HookError, INPUT_LEN_MAX};
use icm_clients::names::Client;

use super::samples;

/// Returns the message of the error, after a check that it is one line.
fn said(client: Client, event: &str, stdin: &[u8]) -> String {
    let error = hooks::read(client, event, stdin).expect_err("an error");
    let text = error.to_string();
    assert!(!text.contains('\n') && text.len() < 500, "{text}");
    text
}

#[test]
fn each_kind_of_broken_input_says_so() {
    let claude = |stdin: &[u8]| said(Client::ClaudeCode, "UserPromptSubmit", stdin);
    let empty = "no input: Claude Code gives its hooks JSON on stdin; use `--try TEXT` to see what a prompt gets";
    for stdin in ["", " \r\n\t", "\u{feff}"] {
        assert_eq!(claude(stdin.as_bytes()), empty);
    }
    assert_eq!(
        claude(br#"{"prompt": "where do inv"#),
        "the input is cut off after 24 bytes; the client may have ended while it wrote"
    );
    assert_eq!(
        claude(b"prompt=where"),
        "the input is no JSON: expected value at line 1 column 1; the hook must be given what the client writes, \
         unchanged"
    );
    assert!(claude(b"{} {}").starts_with("the input is no JSON: trailing characters"));
    assert!(claude(b"\xff\xfe{\0}\0").starts_with("the input is no JSON: "));
    assert!(claude(b"{\"prompt\":\"\xff\"}").starts_with("the input is no JSON: "));
    assert!(
        claude(&[b"[".repeat(100_000), b"]".repeat(100_000)].concat()).contains("recursion limit")
    );
    assert_eq!(
        claude(b"[1]"),
        "the input is a list, but Claude Code gives an object; the hook must be given what the client writes, unchanged"
    );
    assert_eq!(
        claude(b"null"),
        "the input is null, but Claude Code gives an object; the hook must be given what the client writes, unchanged"
    );
    assert_eq!(
        claude(br#"{"session_id": 7}"#),
        "`session_id` is a number, but Claude Code gives a text; this version of the client may need a newer icm"
    );
    assert!(
        claude(br#"{"prompt": ["a", 7]}"#)
            .starts_with("`prompt` is a number, but Claude Code gives a text or")
    );
    assert!(claude(br#"{"prompt": {"text": "a"}}"#).starts_with("`prompt` is an object"));
    assert!(
        said(
            Client::Windsurf,
            "pre_user_prompt",
            br#"{"tool_info": {"user_prompt": true}}"#
        )
        .starts_with("`tool_info.user_prompt` is a boolean, but Windsurf gives a text")
    );
}

#[test]
fn unknown_events_and_clients_without_hooks_are_named() {
    assert!(
        said(Client::Codex, "Sessionstarted", b"{}")
            .starts_with("Codex CLI has no event `Sessionstarted` that")
    );
    assert!(
        said(Client::Codex, "", b"{}")
            .starts_with("Codex CLI has no event `` that icm knows; it has SessionStart")
    );
    assert!(
        said(Client::Zed, "Stop", b"{}")
            .starts_with("Zed has no hooks that icm knows; clients with hooks: ")
    );
}

#[test]
fn input_above_the_limit_is_refused_before_it_is_parsed() {
    let body = |len: usize| [b"{\"prompt\":\"", vec![b'a'; len - 13].as_slice(), b"\"}"].concat();
    let most = body(INPUT_LEN_MAX);
    assert_eq!(most.len(), INPUT_LEN_MAX);
    assert!(hooks::read(Client::ClaudeCode, "UserPromptSubmit", &most).is_ok());
    assert_eq!(
        hooks::read(
            Client::ClaudeCode,
            "UserPromptSubmit",
            &body(INPUT_LEN_MAX + 1)
        ),
        Err(HookError::TooLarge {
            len_bytes: INPUT_LEN_MAX + 1,
            limit_bytes: INPUT_LEN_MAX,
        })
    );
}

/// A client that is killed while it writes leaves a prefix of its input.
#[test]
fn each_beginning_of_each_sample_is_cut_off() {
    let mut cuts = 0;
    for sample in samples() {
        let text = sample.bytes.trim_ascii_end();
        for len in 1..text.len() {
            let error =
                hooks::read(sample.client, sample.event(), &text[..len]).expect_err("an error");
            assert_eq!(
                error,
                HookError::CutOff { len_bytes: len },
                "{} {}",
                sample.client.name(),
                sample.name
            );
            cuts += 1;
        }
    }
    assert!(cuts > 10_000, "{cuts}");
}
