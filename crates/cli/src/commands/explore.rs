//! `icm explore`

#[cfg(feature = "explore")]
use std::io::{self, Write};
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
    // The file is removed when the pages end; its key is spent by then.
    let mut leading = None;
    icm_server::http::serve_pages(
        Arc::clone(service),
        args.port,
        |stop| icm_explorer::routes(explorer, stop),
        |address| {
            // A closed stdout does not stop the server.
            let _ = print(app, &address);
            let opens = !args.no_open && app.ui.is_terminal();
            if opens {
                match in_browser(&address) {
                    Ok(file) => leading = Some(file),
                    Err(_) => app
                        .ui
                        .remark(format_args!("no browser was found: open the address")),
                }
            }
            app.ui.remark(format_args!("Ctrl-C ends the pages"));
        },
    )?;
    drop(leading);
    Ok(Outcome::Fine)
}

/// Opens a browser with a file that leads to the address. Other users of the machine can read the arguments of a
/// process, and the address has the key.
#[cfg(feature = "explore")]
fn in_browser(address: &str) -> io::Result<tempfile::NamedTempFile> {
    let file = leading_to(address)?;
    open::that_detached(file.path())?;
    Ok(file)
}

/// Returns a file that this user alone can read: a page that leads to the address.
#[cfg(feature = "explore")]
fn leading_to(address: &str) -> io::Result<tempfile::NamedTempFile> {
    let mut name = tempfile::Builder::new();
    let mut file = name.prefix("icm-explore-").suffix(".html").tempfile()?;
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>icm</title>\
         <meta name=\"referrer\" content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0;url={address}\">\
         </head><body><a href=\"{address}\">Open the explorer</a></body></html>\n"
    );
    file.write_all(page.as_bytes())?;
    file.flush()?;
    Ok(file)
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

#[cfg(all(test, feature = "explore", unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn the_file_for_the_browser_is_read_by_this_user_alone() {
        let file = super::leading_to("http://127.0.0.1:7000/?key=00").expect("a file");
        let path = file.path().to_owned();
        let mode = path.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let page = std::fs::read_to_string(&path).expect("it can be read");
        assert!(page.contains("content=\"0;url=http://127.0.0.1:7000/?key=00\""));
        drop(file);
        assert!(!path.exists());
    }
}
