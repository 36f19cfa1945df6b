//! Parses the arguments, and explains unknown options in questions: `icm recall what does --force do`.
//!
//! Words of a question need no quotes, so an option behind them may be meant as a word, or as an option that the command
//! does not have. Taken as a word, a filter would be lost without notice, so it is an error that names the fix.

use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, FromArgMatches, Parser};

use crate::args::Cli;

/// The name of the argument with the words of a question.
const QUESTION: &str = "query";

/// Parses the arguments, of which the first is the program's name.
///
/// # Errors
/// The parser's errors. An unknown option of a command that takes a question is told how to become a word of it.
pub(crate) fn parse(arguments: &[OsString]) -> Result<Cli, Error> {
    let mut error = match Cli::try_parse_from(arguments) {
        Ok(cli) => return Ok(cli),
        Err(error) => error,
    };
    if error.kind() == ErrorKind::DisplayVersion {
        return Err(error);
    }
    let mut whole = Cli::command();
    whole.build();
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    ) {
        // The list of commands has a line for each; the line is the command's own description.
        return whole
            .try_get_matches_from(arguments)
            .and_then(|matches| Cli::from_arg_matches(&matches));
    }
    if error.kind() == ErrorKind::UnknownArgument
        && let Some(question) = question_in(&whole, arguments)
        && let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg)
    {
        let name = question.get_bin_name().unwrap_or("icm recall");
        let tip = format!(
            "if '{option}' is a word of the question, put '--' before the question: '{name} -- …'"
        );
        let tips = ContextValue::StyledStrs(vec![tip.into()]);
        error.insert(ContextKind::Suggested, tips);
    }
    Err(error)
}

/// Returns the command of these arguments if it takes a question.
fn question_in<'c>(whole: &'c Command, arguments: &[OsString]) -> Option<&'c Command> {
    let mut command = whole;
    let mut at = 1;
    while command.has_subcommands() {
        let argument = arguments.get(at)?;
        at += match read(command, argument) {
            Read::Option { takes_next: true } => 2,
            Read::Option { .. } => 1,
            Read::Plain => {
                command = command.find_subcommand(argument)?;
                1
            }
            Read::Unknown | Read::End => return None,
        };
    }
    let asks = command
        .get_positionals()
        .any(|argument| argument.get_id() == QUESTION);
    asks.then_some(command)
}

/// The role of an argument for a command.
enum Read {
    /// An option that the command knows.
    Option {
        /// `true` if the value is the next argument.
        takes_next: bool,
    },
    Plain,
    Unknown,
    /// `--`
    End,
}

fn read(command: &Command, argument: &OsStr) -> Read {
    let text = argument.to_string_lossy();
    let takes_value = |option: &Arg| option.get_action().takes_values();
    if text == "--" {
        return Read::End;
    }
    if let Some(long) = text.strip_prefix("--") {
        let (name, has_value) = match long.split_once('=') {
            Some((name, _)) => (name, true),
            None => (long, false),
        };
        let is_it = |option: &&Arg| {
            let mut names = option.get_long_and_visible_aliases().into_iter().flatten();
            names.any(|known| known == name)
        };
        return match command.get_arguments().find(is_it) {
            Some(option) => Read::Option {
                takes_next: takes_value(option) && !has_value,
            },
            None => Read::Unknown,
        };
    }
    let Some(short) = text.strip_prefix('-').filter(|short| !short.is_empty()) else {
        return Read::Plain;
    };
    let mut letters = short.chars();
    while let Some(letter) = letters.next() {
        let known = command
            .get_arguments()
            .find(|option| option.get_short() == Some(letter));
        match known {
            None => return Read::Unknown,
            // The rest of the argument is the value.
            Some(option) if takes_value(option) => {
                let takes_next = letters.next().is_none();
                return Read::Option { takes_next };
            }
            Some(_) => {}
        }
    }
    Read::Option { takes_next: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<String, Error> {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        parse(&arguments).map(|cli| format!("{cli:?}"))
    }

    #[test]
    fn an_unknown_option_in_a_question_is_an_error_with_the_fix() {
        for (line, option, fix) in [
            (
                "icm recall who is on call --valid-at 2026-01-01",
                "'--valid-at'",
                "'icm recall -- …'",
            ),
            (
                "icm --db x recall -l 1 what does --force do",
                "'--force'",
                "'icm recall -- …'",
            ),
            ("icm recall tar -xzf a", "'-x'", "'icm recall -- …'"),
            ("icm recall is -1", "'-1'", "'icm recall -- …'"),
            (
                "icm recall-context why --amend",
                "'--amend'",
                "'icm recall-context -- …'",
            ),
            (
                "icm replay --at @3 why --amend",
                "'--amend'",
                "'icm replay -- …'",
            ),
            (
                "icm memoir search -m a what is --amend",
                "'--amend'",
                "'icm memoir search -- …'",
            ),
            (
                "icm memoir search-all what is --amend",
                "'--amend'",
                "'icm memoir search-all -- …'",
            ),
        ] {
            let error = parsed(line).expect_err(line).to_string();
            assert!(error.contains(option), "{line}: {error}");
            assert!(error.contains(fix), "{line}: {error}");
        }
        let misspelt = parsed("icm recall invoices --explian").expect_err("misspelt");
        let misspelt = misspelt.to_string();
        for tip in ["'--explain'", "'icm recall -- …'"] {
            assert!(misspelt.contains(tip), "{misspelt}");
        }
    }

    #[test]
    fn words_behind_two_dashes_belong_to_the_question() {
        for line in [
            "icm recall -- what does --force do",
            "icm --db x recall -l 1 -t a -- what does --force do",
            "icm recall what does -- --force -1",
            "icm memoir search -m a -- what is --amend",
        ] {
            parsed(line).expect(line);
        }
    }

    #[test]
    fn other_commands_take_no_words() {
        for (line, named) in [
            ("icm recall --force", "--force"),
            ("icm recall x --limit nine", "nine"),
            ("icm recall x --topic", "--topic"),
            ("icm store -t a -c b --force", "--force"),
            ("icm memoir show a --force", "--force"),
        ] {
            let error = parsed(line).expect_err(line).to_string();
            assert!(error.contains(named), "{line}: {error}");
        }
        let plain = parsed("icm store -t a -c b --force").expect_err("no such option");
        assert!(!plain.to_string().contains("question"), "{plain}");
    }
}
