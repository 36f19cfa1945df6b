//! Parts that most rows share.

use super::{Hooks, Member, Pair, Row, Server, Shape, Style};
use crate::install::format::Format;
use crate::names::Client;

pub(super) const PLAIN: Shape = Shape {
    before: &[],
    command: "command",
    args: Some("args"),
    env: "env",
    after: &[],
    in_list: false,
};
pub(super) const TYPED: Shape = Shape {
    before: &[Member::Text("type", "stdio")],
    ..PLAIN
};
pub(super) const WHOLE: Shape = Shape {
    before: &[Member::Text("type", "local")],
    args: None,
    env: "environment",
    after: &[Member::Yes("enabled")],
    ..PLAIN
};

pub(super) const MCP: Server = Server {
    user: &[],
    project: &[],
    seen: &[],
    format: Format::Json,
    keys: &["mcpServers"],
    shape: PLAIN,
};

pub(super) const NONE: Pair = Pair {
    user: "",
    project: "",
};
pub(super) const AGENTS: Pair = Pair {
    user: "",
    project: "AGENTS.md",
};
pub(super) const SKILLS: Pair = Pair {
    user: "~/.agents/skills",
    project: ".agents/skills",
};

pub(super) const BARE: Row = Row {
    client: Client::Aider,
    seen: &[],
    programs: &[],
    drops_env: false,
    has_local: false,
    servers: &[],
    hooks: None,
    rules: AGENTS,
    skills: NONE,
    check: "",
};

pub(super) const GROUPS: Hooks = Hooks {
    user: &[],
    project: &[],
    style: Style::Groups,
    per_second: 1,
    limit: None,
};
pub(super) const MODULE: Hooks = Hooks {
    style: Style::Module,
    ..GROUPS
};
