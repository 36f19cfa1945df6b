//! Runs the program, from the arguments to the exit code.

use std::ffi::OsString;

use clap::error::ErrorKind as ClapKind;

use crate::app::App;
use crate::args::Command;
use crate::error::{CliError, Outcome};
use crate::{error, logging, panic, question};

/// Runs `icm` with these arguments, the program's name first, and returns its exit code.
pub(crate) fn run(arguments: Vec<OsString>) -> u8 {
    let arguments = asks_for_help(arguments);
    // Errors of the parser depend on `--json`, so the flag is looked for before parsing.
    let json = arguments
        .iter()
        .skip(1)
        .take_while(|a| *a != "--")
        .any(|a| a == "--json");
    panic::install_hook();
    let is_hook = is_hook(&arguments);
    let result = panic::catch(|| parse_and_run(arguments, json));
    match result {
        // Another code would stop the client of the hook: 2 blocks a prompt.
        Err(error) if is_hook => {
            error::report(&error, json);
            0
        }
        Ok(_) if is_hook => 0,
        Ok(outcome) => outcome.exit_code(),
        Err(error) => {
            error::report(&error, json);
            error.exit_code()
        }
    }
}

/// Returns `true` if a client runs a hook: the command is `hook`, with neither `on`, `off`, `--try` nor a request for
/// help. The arguments may be invalid, so the parser is not used.
fn is_hook(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    let command = loop {
        match words.next() {
            // The only global options with a value.
            Some("--db" | "--config") => _ = words.next(),
            Some(option) if option.starts_with('-') => {}
            command => break command,
        }
    };
    let is_asked = |word: &str| {
        matches!(word, "on" | "off" | "--help" | "-h" | "--try") || word.starts_with("--try=")
    };
    // A client gives its name and the event.
    let given: Vec<&str> = words.collect();
    let named = given.iter().filter(|word| !word.starts_with('-')).count();
    command == Some("hook") && named >= 2 && !given.into_iter().any(is_asked)
}

fn parse_and_run(arguments: Vec<OsString>, json: bool) -> Result<Outcome, CliError> {
    let cli = match question::parse(&arguments) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &arguments, json),
    };
    logging::init(cli.global.verbose, cli.command.logs())?;
    let mut global = cli.global;
    global.ignores_config = cli.command.ignores_config();
    global.tolerates_config = matches!(cli.command, Command::Doctor(_)) || cli.command.is_hook();
    global.quiet |= cli.command.is_hook();
    global.tolerates_absence = matches!(cli.command, Command::Serve(_));
    let app = App::new(global)?;
    let result = cli.command.run(&app);
    app.close(result)
}

/// Turns `icm help log show` into `icm log show --help`. Clap's own `help` command would repeat the whole tree of
/// commands in completions and manual pages.
fn asks_for_help(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let at = arguments.iter().position(|a| a == "help");
    let only_flags_before = |at: usize| {
        arguments[1..at].iter().all(|a| {
            matches!(
                a.to_str(),
                Some("--json" | "-q" | "--quiet" | "-v" | "--yes")
            )
        })
    };
    if let Some(at) = at.filter(|at| *at > 0 && only_flags_before(*at)) {
        arguments.remove(at);
        arguments.push("--help".into());
    }
    arguments
}

/// Prints help and version as answers. Other errors keep clap's text, which names the argument, the nearest valid one
/// and the usage.
fn usage(error: &clap::Error, arguments: &[OsString], json: bool) -> Result<Outcome, CliError> {
    match error.kind() {
        ClapKind::DisplayHelp | ClapKind::DisplayVersion => {
            // A closed pipe means that the reader has seen enough.
            let _ = error.print();
            Ok(Outcome::Fine)
        }
        ClapKind::InvalidUtf8 => Err(not_utf8(arguments)),
        _ if json => Err(from_clap(error)),
        _ => {
            let _ = error.print();
            Ok(Outcome::Usage)
        }
    }
}

fn not_utf8(arguments: &[OsString]) -> CliError {
    let culprit = arguments
        .iter()
        .enumerate()
        .find(|(_, a)| a.to_str().is_none())
        .map_or_else(String::new, |(i, a)| {
            format!(" {i} (`{}`)", a.to_string_lossy())
        });
    CliError::invalid(format!("argument{culprit} is not valid UTF-8")).with_hint(
        "text of another encoding can be converted with `iconv` and piped in with `-c -`",
    )
}

fn from_clap(error: &clap::Error) -> CliError {
    let text = error.render().to_string();
    let mut paragraphs = text.split("\n\n").map(str::trim);
    let message = paragraphs
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ");
    let hint = paragraphs.find_map(|p| p.strip_prefix("tip: "));
    let error = CliError::invalid(crate::text::one_line(message));
    match hint {
        Some(hint) => error.with_hint(crate::text::one_line(hint)),
        None => error.with_hint("see `icm --help`"),
    }
}
