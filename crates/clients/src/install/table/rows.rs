//! The rows. Sources: the clients themselves, run with an entry, and their documentation of November 2026.

use super::{Hooks, Member, Pair, Row, Server, Shape, Style};
use crate::install::format::Format;
use crate::names::Client;

const PLAIN: Shape = Shape {
    before: &[],
    command: "command",
    args: Some("args"),
    env: "env",
    after: &[],
    in_list: false,
};
const TYPED: Shape = Shape {
    before: &[Member::Text("type", "stdio")],
    ..PLAIN
};
const WHOLE: Shape = Shape {
    before: &[Member::Text("type", "local")],
    args: None,
    env: "environment",
    after: &[Member::Yes("enabled")],
    ..PLAIN
};

const MCP: Server = Server {
    user: &[],
    project: &[],
    seen: &[],
    format: Format::Json,
    keys: &["mcpServers"],
    shape: PLAIN,
};

const NONE: Pair = Pair {
    user: "",
    project: "",
};
const AGENTS: Pair = Pair {
    user: "",
    project: "AGENTS.md",
};
const SKILLS: Pair = Pair {
    user: "~/.agents/skills",
    project: ".agents/skills",
};

const BARE: Row = Row {
    client: Client::Aider,
    seen: &[],
    programs: &[],
    drops_env: false,
    servers: &[],
    hooks: None,
    rules: AGENTS,
    skills: NONE,
    check: "",
};

const CLAUDE_EVENTS: &[&str] = &[
    "SessionStart",
    "UserPromptSubmit",
    "PreCompact",
    "Stop",
    "SubagentStart",
    "SubagentStop",
    "SessionEnd",
];
const GROUPS: Hooks = Hooks {
    user: &[],
    project: &[],
    style: Style::Groups,
    events: CLAUDE_EVENTS,
    per_second: 1,
    limit: None,
};
const MODULE: Hooks = Hooks {
    style: Style::Module,
    events: &[
        "session.created",
        "chat.message",
        "experimental.session.compacting",
        "session.idle",
    ],
    ..GROUPS
};

pub(super) const ROWS: &[Row] = &[
    Row {
        client: Client::ClaudeCode,
        seen: &["{claude}", "{claude.json}"],
        programs: &["claude"],
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
        client: Client::ClaudeDesktop,
        seen: &["{app}/Claude"],
        drops_env: true,
        servers: &[Server {
            user: &["{app}/Claude/claude_desktop_config.json"],
            ..MCP
        }],
        rules: NONE,
        check: "restart Claude Desktop, then look into Settings, Developer",
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
            events: &["SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"],
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
        client: Client::Antigravity,
        seen: &[
            "~/.gemini/config",
            "~/.gemini/antigravity",
            "{app}/Antigravity",
        ],
        programs: &["agy", "antigravity"],
        servers: &[Server {
            user: &[
                "~/.gemini/config/mcp_config.json",
                "~/.gemini/antigravity/mcp_config.json",
            ],
            project: &[".agents/mcp_config.json", ".agent/mcp_config.json"],
            ..MCP
        }],
        rules: Pair {
            user: "~/.gemini/GEMINI.md",
            project: "AGENTS.md",
        },
        check: "restart Antigravity, then look into its MCP servers",
        ..BARE
    },
    Row {
        client: Client::Cursor,
        seen: &["~/.cursor", "{app}/Cursor"],
        programs: &["cursor", "cursor-agent"],
        servers: &[Server {
            user: &["~/.cursor/mcp.json"],
            project: &[".cursor/mcp.json"],
            ..MCP
        }],
        hooks: Some(Hooks {
            user: &["~/.cursor/hooks.json"],
            project: &[".cursor/hooks.json"],
            style: Style::Flat,
            events: &["sessionStart", "preCompact", "stop", "sessionEnd"],
            ..GROUPS
        }),
        check: "restart Cursor, then look into Settings, MCP",
        ..BARE
    },
    Row {
        client: Client::Windsurf,
        seen: &["~/.codeium/windsurf", "{app}/Windsurf"],
        programs: &["windsurf"],
        servers: &[Server {
            user: &["~/.codeium/windsurf/mcp_config.json"],
            project: &[".windsurf/mcp_config.json"],
            ..MCP
        }],
        rules: Pair {
            user: "~/.codeium/windsurf/memories/global_rules.md",
            project: "AGENTS.md",
        },
        check: "restart Windsurf, then look into its MCP servers",
        ..BARE
    },
    Row {
        client: Client::VsCode,
        seen: &[
            "{app}/Code/User",
            "{app}/Code - Insiders/User",
            "{app}/VSCodium/User",
        ],
        programs: &["code", "code-insiders", "codium"],
        servers: &[
            Server {
                user: &["{app}/Code/User/mcp.json"],
                project: &[".vscode/mcp.json"],
                seen: &["{app}/Code/User"],
                keys: &["servers"],
                shape: TYPED,
                ..MCP
            },
            Server {
                user: &["{app}/Code - Insiders/User/mcp.json"],
                seen: &["{app}/Code - Insiders/User"],
                keys: &["servers"],
                shape: TYPED,
                ..MCP
            },
            Server {
                user: &["{app}/VSCodium/User/mcp.json"],
                seen: &["{app}/VSCodium/User"],
                keys: &["servers"],
                shape: TYPED,
                ..MCP
            },
        ],
        check: "`MCP: List Servers` in VS Code",
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
            events: &[
                "sessionStart",
                "userPromptSubmitted",
                "preCompact",
                "agentStop",
                "subagentStart",
                "subagentStop",
                "sessionEnd",
            ],
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
        client: Client::Zed,
        seen: &["{zed}"],
        programs: &["zed", "zeditor"],
        servers: &[Server {
            user: &["{zed}/settings.json"],
            project: &[".zed/settings.json"],
            keys: &["context_servers"],
            shape: Shape {
                before: &[Member::Text("source", "custom")],
                ..PLAIN
            },
            ..MCP
        }],
        rules: Pair {
            user: "{zed}/AGENTS.md",
            project: "AGENTS.md",
        },
        check: "`agent: open settings` in Zed",
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
        client: Client::Cline,
        seen: &["~/.cline", "{editor}/globalStorage/saoudrizwan.claude-dev"],
        programs: &["cline"],
        servers: &[
            Server {
                user: &["~/.cline/data/settings/cline_mcp_settings.json"],
                seen: &["~/.cline"],
                ..MCP
            },
            Server {
                user: &[
                    "{editor}/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                ],
                seen: &["{editor}/globalStorage/saoudrizwan.claude-dev"],
                ..MCP
            },
        ],
        hooks: Some(Hooks {
            user: &["~/.cline/hooks"],
            style: Style::Scripts,
            events: &["TaskStart", "UserPromptSubmit", "TaskComplete"],
            ..GROUPS
        }),
        rules: Pair {
            user: "~/Documents/Cline/Rules/icm.md",
            project: "AGENTS.md",
        },
        check: "the MCP servers in Cline",
        ..BARE
    },
    Row {
        client: Client::Roo,
        seen: &[
            "~/.roo",
            "{editor}/globalStorage/rooveterinaryinc.roo-cline",
        ],
        servers: &[Server {
            user: &["{editor}/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"],
            project: &[".roo/mcp.json"],
            ..MCP
        }],
        rules: Pair {
            user: "~/.roo/rules/icm.md",
            project: "AGENTS.md",
        },
        check: "the MCP servers in Roo Code",
        ..BARE
    },
    Row {
        client: Client::Kilo,
        seen: &["{config}/kilo", "{editor}/globalStorage/kilocode.kilo-code"],
        programs: &["kilo"],
        servers: &[
            Server {
                user: &["{config}/kilo/kilo.jsonc", "{config}/kilo/kilo.json"],
                project: &["kilo.jsonc", ".kilo/kilo.jsonc", "kilo.json"],
                seen: &["{config}/kilo"],
                keys: &["mcp"],
                shape: WHOLE,
                ..MCP
            },
            Server {
                user: &["{editor}/globalStorage/kilocode.kilo-code/settings/mcp_settings.json"],
                seen: &["{editor}/globalStorage/kilocode.kilo-code/settings/mcp_settings.json"],
                ..MCP
            },
        ],
        hooks: Some(Hooks {
            user: &["{config}/kilo/plugins/icm.js"],
            ..MODULE
        }),
        rules: Pair {
            user: "{config}/kilo/AGENTS.md",
            project: "AGENTS.md",
        },
        check: "`kilo mcp list`",
        ..BARE
    },
    Row {
        client: Client::Continue,
        seen: &["~/.continue"],
        programs: &["cn"],
        servers: &[Server {
            user: &["~/.continue/config.yaml"],
            project: &[".continue/mcpServers/icm.yaml"],
            format: Format::Yaml,
            shape: Shape {
                in_list: true,
                ..PLAIN
            },
            ..MCP
        }],
        rules: Pair {
            user: "~/.continue/rules/icm.md",
            project: ".continue/rules/icm.md",
        },
        check: "the tools in Continue",
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
        client: Client::Kiro,
        seen: &["~/.kiro"],
        programs: &["kiro", "kiro-cli"],
        servers: &[Server {
            user: &["~/.kiro/settings/mcp.json"],
            project: &[".kiro/settings/mcp.json"],
            ..MCP
        }],
        rules: Pair {
            user: "~/.kiro/steering/icm.md",
            project: ".kiro/steering/icm.md",
        },
        check: "`kiro-cli mcp list`, or the MCP servers in Kiro",
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
        client: Client::Junie,
        seen: &["~/.junie"],
        programs: &["junie"],
        servers: &[Server {
            user: &["~/.junie/mcp/mcp.json"],
            project: &[".junie/mcp/mcp.json"],
            ..MCP
        }],
        rules: Pair {
            user: "",
            project: ".junie/AGENTS.md",
        },
        check: "the MCP servers in Junie",
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
            events: &[
                "SessionStart",
                "UserPromptSubmit",
                "PreCompact",
                "Stop",
                "SubagentStop",
                "SessionEnd",
            ],
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
