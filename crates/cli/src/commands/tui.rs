//! `icm tui`

use clap::Args;

use crate::app::App;
use crate::error::{CliError, Outcome};

/// Look at the store in the terminal: memories, log, any moment
///
/// Shows what agents store and recall while they work, memories with their versions, and the log. The line at the top
/// goes to any moment. `u` undoes an event after a preview. Looking records no recall.
///
/// Needs 80 columns and 24 lines to look well, and works with less. `?` lists the keys, `q` ends. The terminal is left
/// as it was, also if the view is killed.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  icm tui
  icm tui --read-only")]
pub(crate) struct TuiArgs {
    /// Offer no change
    #[arg(long)]
    read_only: bool,
}

#[cfg(feature = "tui")]
pub(crate) fn run(args: TuiArgs, app: &App) -> Result<Outcome, CliError> {
    if !app.ui.is_terminal() {
        return Err(CliError::invalid("stdout is no terminal")
            .with_hint("start it in a terminal; `icm list` and `icm log` print lines"));
    }
    if std::env::var_os("TERM").is_some_and(|kind| kind == "dumb") {
        return Err(
            CliError::invalid("this terminal cannot be drawn on (TERM=dumb)").with_hint(
                "set `TERM` to its kind, such as `xterm`; `icm list` and `icm log` print lines",
            ),
        );
    }
    // The store is opened by the process that draws.
    if let Some(code) = icm_tui::watch()? {
        return match code {
            0 => Ok(Outcome::Fine),
            killed @ 129.. => {
                let signal = killed - 128;
                app.ui.say(format_args!(
                    "error: the view was killed by signal {signal}; the terminal is as before"
                ));
                std::process::exit(killed.into())
            }
            // The other process has printed its error.
            code => std::process::exit(code.into()),
        };
    }
    let service = match args.read_only {
        true => app.service_read_only()?,
        false => app.service_to_serve()?,
    };
    service.check_folder()?;
    let caller = app.caller_in(None)?;
    let manner = icm_tui::Manner {
        read_only: args.read_only,
        paints: app.ui.paints(),
    };
    if icm_tui::run(service, &caller, manner)? == icm_tui::End::Alone {
        app.ui.say(format_args!(
            "error: the view was killed; press Enter to see the prompt"
        ));
    }
    Ok(Outcome::Fine)
}

/// A build without the terminal view accepts the command, and its error says how to get it.
#[cfg(not(feature = "tui"))]
pub(crate) fn run(_: TuiArgs, _: &App) -> Result<Outcome, CliError> {
    Err(crate::error::not_in_this_build("terminal view"))
}
