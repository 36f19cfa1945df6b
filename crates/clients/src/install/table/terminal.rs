//! Agents in a terminal. Sources: the clients themselves, run with an entry, and their documentation of November 2026.

use super::common::{BARE, GROUPS, MCP, MODULE, PLAIN, SKILLS, TYPED, WHOLE};
use super::{Hooks, Member, Pair, Row, Server, Shape, Style};
use crate::install::format::Format;
use crate::names::Client;

pub(super) const ROWS: &[Row] = &[
    Row {
        client: Client::ClaudeCode,
        seen: &["{claude}", "{claude.json}"],
        programs: &["claude"],
        has_local: true,
        servers: &[Server {
            user: &["{claude.json}"],
            project: &[".mcp.json"],
            shape: TYPED,
            ..MCP
        }],
        hooks: Some(Hooks {
            user: &["{claude}/settings.json"],
            project: &[".claude/settings.json"],
            ..GROUPS
        }),
        rules: Pair {
            user: "{claude}/CLAUDE.md",
            project: "CLAUDE.md",
        },
        skills: Pair {
            user: "{claude}/skills",
            project: ".claude/skills",
        },
        check: "`claude mcp list`",
        ..BARE
    },
    Row {
        client: Client::Codex,
        seen: &["{codex}"],
        programs: &["codex"],
        drops_env: true,
        servers: &[Server {
            user: &["{codex}/config.toml"],
            project: &[".codex/config.toml"],
            format: Format::Toml,
            keys: &["mcp_servers"],
            ..MCP
        }],
        hooks: Some(Hooks {
            user: &["{codex}/hooks.json"],
            project: &[".codex/hooks.json"],
            limit: Some(("SessionEnd", 3)),
            ..GROUPS
        }),
        rules: Pair {
            user: "{codex}/AGENTS.md",
            project: "AGENTS.md",
        },
        skills: SKILLS,
        check: "`codex mcp list`; accept the hooks with `/hooks` in Codex",
        ..BARE
    },
    Row {
        client: Client::GeminiCli,
        seen: &[
            "~/.gemini/settings.json",
            "~/.gemini/trustedFolders.json",
            "~/.gemini/installation_id",
        ],
        programs: &["gemini"],
        servers: &[Server {
            user: &["~/.gemini/settings.json"],
            project: &[".gemini/settings.json"],
            ..MCP
        }],
        hooks: Some(Hooks {
            user: &["~/.gemini/settings.json"],
            project: &[".gemini/settings.json"],
            per_second: 1000,
            ..GROUPS
        }),
        rules: Pair {
            user: "~/.gemini/GEMINI.md",
            project: "GEMINI.md",
        },
        skills: SKILLS,
        check: "`gemini mcp list` in a folder that Gemini trusts",
        ..BARE
    },
    Row {
        client: Client::CopilotCli,
        seen: &["{copilot}"],
        programs: &["copilot"],
        servers: &[Server {
            user: &["{copilot}/mcp-config.json"],
            project: &[".mcp.json", ".github/mcp.json"],
            shape: Shape {
                before: &[
                    Member::Texts("tools", &["*"]),
                    Member::Text("type", "local"),
                ],
                ..PLAIN
            },
            ..MCP
        }],
        hooks: Some(Hooks {
            user: &["{copilot}/hooks/icm.json"],
            project: &[".github/hooks/icm.json"],
            style: Style::Shells,
            ..GROUPS
        }),
        rules: Pair {
            user: "{copilot}/copilot-instructions.md",
            project: "AGENTS.md",
        },
        skills: SKILLS,
        check: "`copilot mcp list`",
        ..BARE
    },
    Row {
        client: Client::OpenCode,
        seen: &["{config}/opencode"],
        programs: &["opencode"],
        servers: &[Server {
            user: &[
                "{config}/opencode/opencode.jsonc",
                "{config}/opencode/opencode.json",
            ],
            project: &["opencode.jsonc", "opencode.json"],
            keys: &["mcp"],
            shape: WHOLE,
            ..MCP
        }],
        hooks: Some(Hooks {
            user: &["{config}/opencode/plugins/icm.js"],
            project: &[".opencode/plugins/icm.js"],
            ..MODULE
        }),
        rules: Pair {
            user: "{config}/opencode/AGENTS.md",
            project: "AGENTS.md",
        },
        skills: SKILLS,
        check: "`opencode mcp list`",
        ..BARE
    },
    Row {
        client: Client::Amp,
        seen: &["{config}/amp", "~/.amp"],
        programs: &["amp"],
        servers: &[
            Server {
                user: &["{config}/amp/settings.json"],
                project: &[".amp/settings.json"],
                seen: &["{config}/amp"],
                keys: &["amp.mcpServers"],
                ..MCP
            },
            Server {
                user: &["~/.amp/settings.json"],
                seen: &["~/.amp/settings.json"],
                ..MCP
            },
        ],
        rules: Pair {
            user: "{config}/amp/AGENTS.md",
            project: "AGENTS.md",
        },
        skills: SKILLS,
        check: "`amp mcp list`",
        ..BARE
    },
    Row {
        client: Client::AmazonQ,
        seen: &["~/.aws/amazonq"],
        programs: &["q"],
        servers: &[Server {
            user: &["~/.aws/amazonq/mcp.json"],
            project: &[".amazonq/mcp.json"],
            ..MCP
        }],
        rules: Pair {
            user: "",
            project: ".amazonq/rules/icm.md",
        },
        check: "`q mcp list`",
        ..BARE
    },
    Row {
        client: Client::Goose,
        seen: &["{goose}"],
        programs: &["goose"],
        servers: &[Server {
            user: &["{goose}/config.yaml"],
            format: Format::Yaml,
            keys: &["extensions"],
            shape: Shape {
                before: &[
                    Member::Text("name", "icm"),
                    Member::Text("type", "stdio"),
                    Member::Yes("enabled"),
                ],
                command: "cmd",
                env: "envs",
                after: &[Member::Number("timeout", 300)],
                ..PLAIN
            },
            ..MCP
        }],
        rules: Pair {
            user: "{goose}/.goosehints",
            project: ".goosehints",
        },
        check: "`goose configure`, Toggle Extensions",
        ..BARE
    },
    Row {
        client: Client::QwenCode,
        seen: &["~/.qwen"],
        programs: &["qwen"],
        servers: &[Server {
            user: &["~/.qwen/settings.json"],
            project: &[".qwen/settings.json"],
            ..MCP
        }],
        hooks: Some(Hooks {
            user: &["~/.qwen/settings.json"],
            project: &[".qwen/settings.json"],
            ..GROUPS
        }),
        rules: Pair {
            user: "~/.qwen/QWEN.md",
            project: "QWEN.md",
        },
        skills: Pair {
            user: "~/.qwen/skills",
            project: ".qwen/skills",
        },
        check: "`qwen mcp list`",
        ..BARE
    },
    Row {
        client: Client::KimiCode,
        seen: &["~/.kimi-code"],
        programs: &["kimi"],
        servers: &[Server {
            user: &["~/.kimi-code/mcp.json"],
            project: &[".kimi-code/mcp.json"],
            ..MCP
        }],
        hooks: Some(Hooks {
            user: &["~/.kimi-code/config.toml"],
            style: Style::Tables,
            ..GROUPS
        }),
        check: "`/mcp` in Kimi Code, and `kimi doctor`",
        ..BARE
    },
    Row {
        client: Client::Crush,
        seen: &["{crush}"],
        programs: &["crush"],
        servers: &[Server {
            user: &["{crush}/crush.json"],
            project: &["crush.json", ".crush.json"],
            keys: &["mcp"],
            shape: TYPED,
            ..MCP
        }],
        check: "restart Crush; its side bar lists the servers",
        ..BARE
    },
    Row {
        client: Client::Factory,
        seen: &["~/.factory"],
        programs: &["droid"],
        servers: &[Server {
            user: &["~/.factory/mcp.json"],
            project: &[".factory/mcp.json"],
            shape: TYPED,
            ..MCP
        }],
        hooks: Some(Hooks {
            user: &["~/.factory/settings.json", "~/.factory/hooks.json"],
            project: &[".factory/settings.json", ".factory/hooks.json"],
            ..GROUPS
        }),
        rules: Pair {
            user: "~/.factory/AGENTS.md",
            project: "AGENTS.md",
        },
        skills: Pair {
            user: "~/.factory/skills",
            project: ".factory/skills",
        },
        check: "`droid mcp list`",
        ..BARE
    },
    Row {
        client: Client::Qoder,
        seen: &["~/.qoder"],
        programs: &["qodercli", "qoder"],
        servers: &[Server {
            user: &["~/.qoder/settings.json"],
            project: &[".mcp.json"],
            shape: TYPED,
            ..MCP
        }],
        hooks: Some(Hooks {
            user: &["~/.qoder/settings.json"],
            project: &[".qoder/settings.json"],
            ..GROUPS
        }),
        check: "`qodercli mcp list`",
        ..BARE
    },
    Row {
        client: Client::Aider,
        seen: &["~/.aider.conf.yml", "~/.aider"],
        programs: &["aider"],
        rules: Pair {
            user: "~/.aider.icm.md",
            project: "CONVENTIONS.md",
        },
        check: "`aider --read` with the file of the rules, or `read:` in `.aider.conf.yml`",
        ..BARE
    },
    Row {
        client: Client::Pi,
        seen: &["~/.pi"],
        programs: &["pi"],
        servers: &[Server {
            user: &["~/.pi/agent/mcp.json"],
            project: &[".pi/mcp.json"],
            ..MCP
        }],
        rules: Pair {
            user: "~/.pi/agent/AGENTS.md",
            project: "AGENTS.md",
        },
        check: "restart Pi",
        ..BARE
    },
];
