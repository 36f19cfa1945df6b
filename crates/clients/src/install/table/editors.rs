//! Editors, their extensions, and desktop programs. Sources: the clients themselves, run with an entry, and their documentation of November 2026.

use super::common::{BARE, GROUPS, MCP, MODULE, NONE, PLAIN, TYPED, WHOLE};
use super::{Hooks, Member, Pair, Row, Server, Shape, Style};
use crate::install::format::Format;
use crate::names::Client;

pub(super) const ROWS: &[Row] = &[
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
        hooks: Some(Hooks {
            user: &["~/.codeium/windsurf/hooks.json"],
            project: &[".windsurf/hooks.json"],
            style: Style::Quiet,
            ..GROUPS
        }),
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
            ..GROUPS
        }),
        rules: Pair {
            user: "~/Documents/Cline/Rules/icm.md",
            project: "AGENTS.md",
        },
        check: "look at the MCP servers in Cline",
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
        check: "look at the MCP servers in Roo Code",
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
        check: "look at the tools in Continue",
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
        check: "look at the MCP servers in Junie",
        ..BARE
    },
];
