//! `icm serve`

mod list_tools;
mod over_http;
mod unit;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use icm_api::Caller;
use icm_api::limits::{SOURCE_LEN_MAX, label};
use icm_server::mcp;
use icm_server::mcp::{McpOptions, Offer};

use crate::app::App;
use crate::caller::variable;
use crate::error::{CliError, Outcome};
use crate::logging::Wanted;
use over_http::HttpArgs;

/// Serve MCP on stdin and stdout, or over HTTP
///
/// Write this command into the configuration of an agent. The server ends when the agent closes stdin or has ended. The
/// tools are fixed when the server starts: `--toolsets` and `--tools` name them, `--exclude-tools` and `--read-only`
/// remove some. With fewer tools, an agent needs fewer tokens and chooses more easily. This is no protection: the agent
/// may still run `icm` by itself.
///
/// Several servers may use one store. The first server also answers other processes of this user. When it ends, another
/// server takes its place. After SIGTERM or Ctrl-C a server still answers the calls that it has received.
#[derive(Debug, Args)]
#[command(after_help = toolsets())]
pub(crate) struct ServeArgs {
    /// Short answers, to save the agent's context
    #[arg(long)]
    compact: bool,
    /// Answer with JSON beside the text, for programs
    ///
    /// Some agents show their model this JSON instead of the text, and the JSON does not mark memories as data.
    #[arg(long, env = "ICM_STRUCTURED", value_parser = yes_or_no, action = clap::ArgAction::SetTrue)]
    structured: bool,
    /// Longest answer, in characters (4000 to 500000)
    ///
    /// A longer answer shows the parts of its memories around the matched words, and says how to read on. A character
    /// beyond ASCII counts as its two to four bytes.
    #[arg(long, value_name = "CHARS", env = "ICM_ANSWER_MAX", default_value_t = mcp::ANSWER_MAX_BYTES, value_parser = answer_max)]
    answer_max: usize,
    /// The toolsets to offer (see below) [default: default, unless --tools is given]
    #[arg(long, value_name = "SETS", env = "ICM_TOOLSETS", value_delimiter = ',')]
    toolsets: Vec<String>,
    /// More tools to offer
    #[arg(long, value_name = "NAMES", env = "ICM_TOOLS", value_delimiter = ',')]
    tools: Vec<String>,
    /// Tools that are never offered
    #[arg(
        long,
        value_name = "NAMES",
        env = "ICM_EXCLUDE_TOOLS",
        value_delimiter = ','
    )]
    exclude_tools: Vec<String>,
    /// Print the tools on offer and all toolsets, with the tokens that they take in a prompt, and end
    #[arg(long)]
    list_tools: bool,
    /// Offer no tool that changes the store
    #[arg(long, env = "ICM_READ_ONLY", value_parser = yes_or_no, action = clap::ArgAction::SetTrue)]
    read_only: bool,
    /// Log to files in this folder, as JSON lines, one file a day for seven days
    #[arg(long, value_name = "DIR", env = "ICM_LOG_DIR")]
    log_dir: Option<PathBuf>,
    #[command(flatten)]
    http: HttpArgs,
}

impl ServeArgs {
    /// Returns the logging of a server: over HTTP at least warnings, because nobody sees the notes of a background
    /// service.
    pub(crate) fn logs(&self) -> Wanted<'_> {
        Wanted {
            warnings: self.http.is_wanted(),
            dir: self.log_dir.as_deref(),
        }
    }
}

/// Returns the text after `--help`: the toolsets and examples.
fn toolsets() -> String {
    let mut text = "Toolsets:".to_owned();
    for (name, about) in Offer::sets() {
        text.push_str(&format!("\n  {name:8} {about}"));
    }
    text + "

Examples:
  icm serve --toolsets default,memoir
  icm serve --toolsets sediment --list-tools    # its tools, with their tokens
  icm serve --http 127.0.0.1:7437 --print-unit systemd"
}

/// Parses the value of an environment variable; empty means no.
fn yes_or_no(text: &str) -> Result<bool, &'static str> {
    match text.trim().to_ascii_lowercase().as_str() {
        "1" | "y" | "yes" | "t" | "true" | "on" => Ok(true),
        "" | "0" | "n" | "no" | "f" | "false" | "off" => Ok(false),
        _ => Err("write yes or no"),
    }
}

/// Parses the value of `--answer-max`.
fn answer_max(text: &str) -> Result<usize, String> {
    let range = mcp::ANSWER_BYTES;
    let given = text
        .trim()
        .parse()
        .ok()
        .filter(|chars| range.contains(chars));
    given.ok_or_else(|| format!("write a number from {} to {}", range.start(), range.end()))
}

/// Returns the names without blanks, and without empty names.
fn names(given: &[String]) -> Vec<String> {
    let names = given.iter().map(|name| name.trim().to_owned());
    names.filter(|name| !name.is_empty()).collect()
}

pub(crate) fn run(args: ServeArgs, app: &App) -> Result<Outcome, CliError> {
    let offer = Offer::of(
        &names(&args.toolsets),
        &names(&args.tools),
        &names(&args.exclude_tools),
    )?;
    let offer = match args.read_only {
        true => offer.that_read()?,
        false => offer,
    };
    if args.list_tools {
        return list_tools::print(&args, offer, app);
    }
    if args.http.prints_unit() {
        return unit::print(&args, app);
    }
    let service = if args.read_only {
        app.service_read_only()?
    } else {
        app.service_to_serve()?
    };
    if !args.read_only {
        service.check_folder()?;
    }
    let options = options(&args, offer, app);
    if !service.is_there() {
        let (dir, origin) = app.db()?;
        tracing::info!(dir = %dir.display(), %origin, "there is no store; the first write makes one");
    }
    if args.http.is_wanted() {
        app.pass_on_notices(service);
        args.http.serve(app, Arc::clone(service), options)?;
        return Ok(Outcome::Fine);
    }
    if std::io::stdin().is_terminal() {
        app.ui.remark(format_args!(
            "waiting for an MCP client on stdin; this is for an agent's configuration, Ctrl-D ends it"
        ));
    }
    // The notices are of use now, not at the end of the server.
    app.pass_on_notices(service);

    // The agent's project is the folder of the agent, even if the server runs elsewhere.
    let folder = match std::env::var_os("CLAUDE_PROJECT_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => Some(PathBuf::from(dir)),
        None => std::env::current_dir().ok(),
    };
    let mut caller = app.caller_in(folder.as_deref())?;
    if names(&args.toolsets).iter().any(|set| set == MII) {
        caller = mii_session(caller, variable)?;
    }
    mcp::serve_stdio(Arc::clone(service), caller, options)?;
    Ok(Outcome::Fine)
}

/// Returns the settings of a server that offers these tools.
fn options(args: &ServeArgs, offer: Offer, app: &App) -> McpOptions {
    McpOptions {
        nudge_after: app.config.mcp.nudge_after,
        compact: args.compact,
        read_only: args.read_only,
        structured: args.structured,
        answer_max_bytes: args.answer_max,
        offer,
    }
}

/// The toolset of mii-memory.
const MII: &str = "mii";

/// Returns the caller with the session that mii-memory has: `MII_MEMORY_SESSION` names it, else the session of icm, else
/// a new one. It lies below the session in `MII_MEMORY_SESSION_PARENT`.
fn mii_session(
    mut caller: Caller,
    variable: impl Fn(&str) -> Result<Option<String>, CliError>,
) -> Result<Caller, CliError> {
    if let Some(session) = variable("MII_MEMORY_SESSION")? {
        caller.session = Some(session);
    }
    if let Some(parent) = variable("MII_MEMORY_SESSION_PARENT")? {
        caller = mcp::in_a_session(caller);
        let session = caller.session.unwrap_or_default();
        let is_below = session
            .strip_prefix(&parent)
            .is_some_and(|rest| rest.starts_with('/'));
        caller.session = Some(match is_below {
            true => session,
            false => format!("{parent}/{session}"),
        });
    }
    if let Some(session) = &caller.session {
        label("the session", session, SOURCE_LEN_MAX)?;
    }
    Ok(caller)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_of_mii_memory_lies_below_its_parent() {
        let of = |own: Option<&str>, session: Option<&str>, parent: Option<&str>| {
            let caller = Caller {
                session: own.map(str::to_owned),
                ..Caller::default()
            };
            let variable = |name: &str| {
                let value = match name {
                    "MII_MEMORY_SESSION" => session,
                    _ => parent,
                };
                Ok(value.map(str::to_owned))
            };
            mii_session(caller, variable).expect("a session").session
        };
        for (own, session, parent, named) in [
            (None, None, None, None),
            (Some("own"), None, None, Some("own")),
            (Some("own"), Some("given"), None, Some("given")),
            (None, Some("sub"), Some("parent"), Some("parent/sub")),
            (None, Some("parent/sub"), Some("parent"), Some("parent/sub")),
            (
                None,
                Some("parents"),
                Some("parent"),
                Some("parent/parents"),
            ),
            (Some("own"), None, Some("parent"), Some("parent/own")),
        ] {
            assert_eq!(of(own, session, parent).as_deref(), named);
        }
        let made = of(None, None, Some("parent")).expect("a session");
        assert!(made.starts_with("parent/mcp-"), "{made}");
    }
}
