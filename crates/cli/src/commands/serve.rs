//! `icm serve`

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use icm_server::mcp::{self, McpOptions};

use crate::app::App;
use crate::error::{CliError, Outcome};

/// Serve MCP on stdin and stdout
///
/// For an agent's configuration; ends when the agent closes stdin.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Short answers, to save the agent's context
    #[arg(long)]
    compact: bool,
    /// Offer nothing that changes the store
    #[arg(long)]
    read_only: bool,
}

pub(crate) fn run(args: ServeArgs, app: &App) -> Result<Outcome, CliError> {
    let service = if args.read_only {
        app.service_read_only()?
    } else {
        app.service()?
    };
    if std::io::stdin().is_terminal() {
        app.ui.remark(format_args!(
            "waiting for an MCP client on stdin; this is for an agent's configuration, Ctrl-D ends it"
        ));
    }
    // Long before it ends is when they matter.
    app.pass_on_notices(service);

    // The agent's project is where it was started, wherever the server runs.
    let folder = match std::env::var_os("CLAUDE_PROJECT_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => Some(PathBuf::from(dir)),
        None => std::env::current_dir().ok(),
    };
    mcp::serve_stdio(
        Arc::clone(service),
        app.caller_in(folder.as_deref())?,
        McpOptions {
            compact: args.compact,
            read_only: args.read_only,
        },
    )?;
    Ok(Outcome::Fine)
}
