//! `icm completions`

use clap::{Args, Command};
use clap_complete::Shell;

use crate::app::App;
use crate::error::{CliError, Outcome};

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  icm completions bash > ~/.local/share/bash-completion/completions/icm
  icm completions fish > ~/.config/fish/completions/icm.fish")]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Prints the completion script of the whole program.
pub(crate) fn run(
    args: CompletionsArgs,
    mut whole: Command,
    app: &App,
) -> Result<Outcome, CliError> {
    // The generator panics if a pipe is closed, so it writes into memory first.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut whole, "icm", &mut script);
    app.ui
        .with_writer(|out| out.write_all(&script))
        .map_err(|e| CliError::output(&e))?;
    Ok(Outcome::Fine)
}
