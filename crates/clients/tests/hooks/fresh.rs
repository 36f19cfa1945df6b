//! Sessions of every client with a compaction: tests which events mark a new context.

use icm_clients::hooks::{self, Cause, EventRow, Moment};
use icm_clients::names::Client;

const BEFORE: Moment = Moment::BeforeCompaction;
const AFTER: Moment = Moment::AfterCompaction;
const AGAIN: Moment = Moment::SessionStart {
    cause: Cause::Compact,
};

/// Returns the events of a compaction in order, each with a field of its input and the expected moment.
fn compaction(client: Client) -> &'static [(&'static str, &'static str, Moment)] {
    match client {
        Client::ClaudeCode | Client::Codex | Client::Qoder | Client::QwenCode => &[
            ("PreCompact", r#""trigger":"auto""#, BEFORE),
            ("SessionStart", r#""source":"compact""#, AGAIN),
        ],
        // Factory documents a start with source `compact` but never sends it.
        Client::Factory | Client::VsCode | Client::Cline => {
            &[("PreCompact", r#""trigger":"auto""#, BEFORE)]
        }
        Client::CopilotCli | Client::Cursor => &[("preCompact", r#""trigger":"auto""#, BEFORE)],
        Client::KimiCode => &[
            ("PreCompact", r#""trigger":"auto""#, BEFORE),
            ("PostCompact", r#""trigger":"auto""#, AFTER),
        ],
        Client::Kiro => &[
            ("preCompact", r#""trigger":"auto""#, BEFORE),
            ("postCompact", r#""trigger":"auto""#, AFTER),
        ],
        Client::OpenCode | Client::Kilo => &[
            ("experimental.session.compacting", r#""cwd":"/src""#, BEFORE),
            ("session.compacted", r#""cwd":"/src""#, AFTER),
        ],
        _ => &[],
    }
}

/// Returns the first default event with such a moment.
fn event(client: Client, is: fn(Moment) -> bool) -> Option<&'static EventRow> {
    let mut rows = hooks::events(client).iter();
    rows.find(|row| row.by_default && is(row.moment))
}

/// Plays an event on the state `seen` of a memory, and returns the moment that was read.
fn play(client: Client, event: &str, fields: &str, seen: &mut bool) -> Moment {
    let stdin = format!(r#"{{"session_id":"s","invocationNum":0,{fields}}}"#);
    let input = hooks::read(client, event, stdin.as_bytes()).expect("an input");
    if hooks::freshens(client, event) {
        *seen = false;
    }
    if input.moment == Moment::Prompt {
        *seen = true;
    }
    input.moment
}

#[test]
fn one_event_of_each_compaction_tells_that_the_context_is_new() {
    let (mut told, mut untold) = (Vec::new(), Vec::new());
    for client in Client::ALL {
        let rows = hooks::events(*client);
        if rows.is_empty() {
            continue;
        }
        let mut seen = true;
        if let Some(start) = event(*client, |it| matches!(it, Moment::SessionStart { .. })) {
            play(*client, start.name, r#""cwd":"/src""#, &mut seen);
            assert!(!seen, "{client:?}: a start");
        }
        let prompt = rows.iter().find(|row| row.moment == Moment::Prompt);
        let prompt = prompt.map_or("PreInvocation", |row| row.name);
        play(*client, prompt, r#""prompt":"where?""#, &mut seen);
        let events = compaction(*client);
        let mut fresh = 0;
        for (event, fields, moment) in events {
            seen = true;
            assert_eq!(
                play(*client, event, fields, &mut seen),
                *moment,
                "{client:?}"
            );
            fresh += usize::from(!seen);
        }
        // Only the last event: memories that are recalled again before it would be lost.
        match events.is_empty() {
            true => untold.push(*client),
            false => {
                assert!(fresh == 1 && !seen, "{client:?}: {fresh} events");
                told.push(*client);
            }
        }
        // The table above has every default event of a compaction.
        for row in rows.iter().filter(|row| row.by_default) {
            let of_compaction = matches!(row.moment, BEFORE | AFTER);
            let is_listed = events.iter().any(|(event, ..)| *event == row.name);
            assert!(is_listed || !of_compaction, "{client:?} {}", row.name);
        }
    }
    assert_eq!(
        untold,
        [Client::GeminiCli, Client::Antigravity, Client::Windsurf]
    );
    assert_eq!(told.len(), 13);
}

#[test]
fn no_other_event_tells_that_the_context_is_new() {
    let mut others = 0;
    for client in Client::ALL {
        for row in hooks::events(*client) {
            let may = match row.moment {
                Moment::SessionStart { .. } | Moment::SubagentStart | AFTER | BEFORE => continue,
                _ => hooks::freshens(*client, row.name),
            };
            assert!(!may, "{client:?} {}", row.name);
            others += 1;
        }
    }
    assert!(others > 50, "{others}");
    for (client, event) in [
        (Client::GeminiCli, "PreCompress"),
        (Client::Codex, "later"),
        (Client::Zed, "SessionStart"),
    ] {
        assert!(!hooks::freshens(client, event), "{client:?} {event}");
    }
    // The names of Claude Code mean the same in a plugin.
    assert!(hooks::freshens(Client::CopilotCli, "PreCompact"));
    assert!(hooks::freshens(Client::KimiCode, "post-compact"));
    assert!(!hooks::freshens(Client::KimiCode, "pre-compact"));
}
