//! `icm explore`

#[cfg(feature = "explore")]
use std::sync::Arc;

use clap::Args;
#[cfg(feature = "explore")]
use icm_api::Caller;

use crate::app::App;
use crate::error::{CliError, Outcome};

/// Open the store in the browser: what an agent believes, since when, from whom
///
/// The pages show memories, the log, the graph, sessions and findings, now or at any moment of the log. They follow the
/// log while agents work. Changes made there are events of this user, and `icm undo` takes them back,
/// except redactions.
///
/// The first line of stdout is the whole address. It works once, in one browser of this machine. Ctrl-C ends the pages.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  icm explore                        # opens the browser
  icm explore --no-open --port 7440  # prints the address to open
  icm explore --read-only")]
pub(crate) struct ExploreArgs {
    /// The port of this machine to serve at; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Only print the address
    #[arg(long)]
    no_open: bool,
    /// Offer and accept no change
    #[arg(long)]
    read_only: bool,
}

#[cfg(feature = "explore")]
pub(crate) fn run(args: ExploreArgs, app: &App) -> Result<Outcome, CliError> {
    let service = match args.read_only {
        true => app.service_read_only()?,
        false => app.service_to_serve()?,
    };
    service.check_folder()?;
    app.pass_on_notices(service);
    // The person in front of the browser, even if an agent started the explorer.
    let caller = Caller {
        actor: "user".to_owned(),
        ..app.caller_in(None)?
    };
    let explorer = icm_explorer::Explorer::new(Arc::clone(service), caller, args.read_only)?;
    icm_server::http::serve_pages(
        Arc::clone(service),
        args.port,
        |stop| icm_explorer::routes(explorer, stop),
        |address| {
            // A closed stdout does not stop the server.
            let _ = print(app, &address);
            let opens = !args.no_open && app.ui.is_terminal();
            if opens && open::that_detached(&address).is_err() {
                app.ui
                    .remark(format_args!("no browser was found: open the address"));
            }
            app.ui.remark(format_args!("Ctrl-C ends the pages"));
        },
    )?;
    Ok(Outcome::Fine)
}

#[cfg(feature = "explore")]
fn print(app: &App, address: &str) -> Result<(), CliError> {
    match app.ui.json {
        true => app
            .ui
            .json_line(&serde_json::json!({ "address": address }))?,
        false => app.ui.line(format_args!("{address}"))?,
    }
    app.ui.flush()
}

/// A build without the explorer accepts the command, and its error says how to get it.
#[cfg(not(feature = "explore"))]
pub(crate) fn run(_: ExploreArgs, _: &App) -> Result<Outcome, CliError> {
    Err(crate::error::not_in_this_build("explorer"))
}
