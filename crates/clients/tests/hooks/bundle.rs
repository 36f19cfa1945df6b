//! The plugin folders that clients install agree with the code.

use std::path::{Path, PathBuf};

use icm_clients::hooks::{EventRow, PLUGIN, events};
use icm_clients::names::Client;
use serde_json::{Value, json};

fn plugins() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins")
}

fn text(path: &str) -> String {
    std::fs::read_to_string(plugins().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn json(path: &str) -> Value {
    serde_json::from_str(&text(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Checks that a file of hooks has the default events of `rows`, each with one command.
fn has_hooks_of(
    path: &str,
    rows: &[EventRow],
    client: &str,
    timeouts: std::ops::RangeInclusive<u64>,
) {
    let file = json(path);
    let hooks = file["hooks"].as_object().expect("hooks");
    let mut wanted: Vec<_> = rows
        .iter()
        .filter(|row| row.by_default)
        .map(|row| row.name)
        .collect();
    wanted.sort_unstable();
    let mut found: Vec<_> = hooks.keys().collect();
    found.sort_unstable();
    assert_eq!(found, wanted, "{path}");
    for (event, groups) in hooks {
        let timeout = groups[0]["hooks"][0]["timeout"]
            .as_u64()
            .expect("a timeout");
        assert!(timeouts.contains(&timeout), "{path}: {event}: {timeout}");
        // Codex ignores `args`, so the command is one text, without keys that a client may not know.
        let command = format!("icm hook {client} {event}");
        let handler = json!({ "type": "command", "command": command, "timeout": timeout });
        assert_eq!(groups, &json!([{ "hooks": [handler] }]), "{path}: {event}");
    }
}

#[test]
fn the_hooks_are_the_events_that_icm_uses() {
    // Seconds. Qwen Code takes values from 1,000 as milliseconds, and Codex ends a session's last hook after 3.
    has_hooks_of(
        "icm/hooks/hooks.json",
        events(Client::ClaudeCode),
        PLUGIN,
        3..=60,
    );
    // Milliseconds.
    let gemini = events(Client::GeminiCli);
    has_hooks_of(
        "gemini/hooks/hooks.json",
        gemini,
        Client::GeminiCli.name(),
        3_000..=60_000,
    );
}

#[test]
fn the_manifests_agree() {
    let plugin = json("icm/.claude-plugin/plugin.json");
    let extension = json("gemini/gemini-extension.json");
    let market = json(".claude-plugin/marketplace.json");
    let entry = json!({ "command": "icm", "args": ["serve"] });
    for manifest in [&plugin, &extension] {
        assert_eq!(manifest["name"], "icm");
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(manifest["description"], market["plugins"][0]["description"]);
    }
    assert_eq!(plugin["license"], env!("CARGO_PKG_LICENSE"));
    assert_eq!(
        json("icm/.mcp.json"),
        json!({ "mcpServers": { "icm": entry } })
    );
    assert_eq!(extension["mcpServers"], json!({ "icm": entry }));
    assert!(market["description"].is_string() && market["owner"]["name"].is_string());
    assert_eq!(
        (
            &market["plugins"][0]["name"],
            &market["plugins"][0]["source"]
        ),
        (&json!("icm"), &json!("./icm"))
    );
}

#[test]
fn the_skill_has_what_clients_ask_of_one() {
    let skill = text("icm/skills/icm/SKILL.md");
    assert_eq!(skill, text("gemini/skills/icm/SKILL.md"));
    let mut lines = skill.lines();
    assert_eq!(lines.next(), Some("---"));
    assert_eq!(lines.next(), Some("name: icm"));
    let description = lines
        .next()
        .and_then(|line| line.strip_prefix("description: "))
        .expect("a description");
    assert!((1..=1024).contains(&description.chars().count()));
    assert_eq!(lines.next(), Some("---"));
}

/// Claude Code's directory requires a square icon of 512 to 2,048 pixels, and a page of 40 words.
#[test]
fn the_folder_has_what_a_directory_asks_for() {
    let icon = std::fs::read(plugins().join("icm/.claude-plugin/icon.png")).expect("an icon");
    assert!(icon.starts_with(b"\x89PNG\r\n\x1a\n") && icon.len() < 2_000_000);
    let side = |at: usize| {
        icon[at..at + 4]
            .iter()
            .fold(0, |sum, byte| sum * 256 + u32::from(*byte))
    };
    assert_eq!(side(16), side(20));
    assert!((512..=2_048).contains(&side(16)));
    assert!(text("icm/README.md").split_whitespace().count() >= 40);
}
