//! Names of client programs, and the agents that these programs are in the log.
//!
//! All programs of an agent are one actor in the log, for instance `agent:codex`. Older logs hold the names that the
//! programs gave: [`same_actor`] returns `true` for the old and the new name of an actor.

/// Prefix of the names of actors that are agents.
pub const AGENT: &str = "agent:";

/// Pairs of a name from the MCP handshake and its agent. A program may append `-` and the name of the server, as Qwen
/// Code does.
const AGENTS: [(&str, &str); 11] = [
    ("codex-mcp-client", "codex"),
    ("gemini-cli-mcp-client", "gemini-cli"),
    ("qwen-cli-mcp-client", "qwen-code"),
    ("@cline/core", "cline"),
    ("continue-cli-client", "continue"),
    ("continue-client", "continue"),
    ("factory-cli", "factory"),
    ("claude-ai", "claude-desktop"),
    ("cursor-vscode", "cursor"),
    ("visual-studio-code", "vscode"),
    ("windsurf-client", "windsurf"),
];

/// Returns the agent for the name of a client program, or the name itself if the table lacks it.
pub fn agent_name(client: &str) -> &str {
    let is_named = |known: &str| {
        let given = client.get(..known.len());
        given.is_some_and(|given| given.eq_ignore_ascii_case(known))
            && matches!(client.as_bytes().get(known.len()), None | Some(b'-'))
    };
    let known = AGENTS.iter().find(|(name, _)| is_named(name));
    known.map_or(client, |(_, agent)| agent)
}

/// Returns `true` if both names mean the same actor; the case of an agent's name does not count.
pub fn same_actor(one: &str, other: &str) -> bool {
    let agent = |actor: &'_ str| {
        actor
            .strip_prefix(AGENT)
            .map(|name| agent_name(name).to_owned())
    };
    one == other
        || match (agent(one), agent(other)) {
            (Some(one), Some(other)) => one.eq_ignore_ascii_case(&other),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_its_name_and_with_more_behind_it() {
        for (client, agent) in [
            ("codex-mcp-client", "codex"),
            ("gemini-cli-mcp-client", "gemini-cli"),
            ("qwen-cli-mcp-client-icm", "qwen-code"),
            ("@cline/core", "cline"),
            ("Visual-Studio-Code", "vscode"),
            ("Visual-Studio-Code---Insiders", "vscode"),
            ("claude-code", "claude-code"),
            ("codex-mcp-clients", "codex-mcp-clients"),
            ("my-codex-mcp-client", "my-codex-mcp-client"),
            ("mcp", "mcp"),
            ("é", "é"),
        ] {
            assert_eq!(agent_name(client), agent);
        }
    }

    #[test]
    fn an_agent_is_the_same_under_its_old_name() {
        for (one, other, same) in [
            ("agent:codex", "agent:codex-mcp-client", true),
            ("agent:qwen-cli-mcp-client-icm", "agent:qwen-code", true),
            ("agent:cline", "agent:cline", true),
            ("agent:Cursor", "agent:cursor-vscode", true),
            ("User", "user", false),
            ("user", "user", true),
            ("codex", "codex-mcp-client", false),
            ("agent:codex", "agent:cline", false),
            ("user", "agent:user", false),
        ] {
            assert_eq!(same_actor(one, other), same, "{one} {other}");
            assert_eq!(same_actor(other, one), same, "{other} {one}");
        }
    }
}
