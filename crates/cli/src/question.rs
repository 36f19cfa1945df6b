//! Parses questions that contain words like options: `icm recall what does --force do`.
//!
//! The parser decides first. An option that it does not know becomes a word of the question, but only after a plain
//! word, and only if it is no misspelt known option. `--` still ends options.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, CommandFactory, Error, FromArgMatches, Parser};

use crate::args::Cli;

/// The name of the argument with the words of a question.
const QUESTION: &str = "query";

/// Parses the arguments, of which the first is the program's name.
///
/// # Errors
/// The parser's errors, after options within the question were taken as words.
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
    let Some((question, at)) = question_in(&whole, arguments) else {
        return Err(error);
    };
    let mut words = BTreeSet::new();
    // Each round turns one more argument into a word.
    while let Some(option) = unknown_option(&error)
        && let Some(word) = behind_a_word(question, &arguments[at..], &words, &option)
    {
        words.insert(word);
        error = match Cli::try_parse_from(with_words_last(question, arguments, at, &words)) {
            Ok(cli) => return Ok(cli),
            Err(error) => error,
        };
    }
    Err(error)
}

/// Returns the command that takes a question, and the index of its first argument.
fn question_in<'c>(whole: &'c Command, arguments: &[OsString]) -> Option<(&'c Command, usize)> {
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
    asks.then_some((command, at))
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

/// Most letters in which a misspelt option differs from a known one. The parser also suggests options that only begin
/// alike, such as `--format` for `--force`. Raised, fewer unknown options become words of a question.
const MISSPELT_MAX: usize = 2;

/// Returns the option that the parser does not know; `None` for a misspelt known one.
fn unknown_option(error: &Error) -> Option<String> {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let is_misspelt = match error.get(ContextKind::SuggestedArg) {
        Some(ContextValue::String(known)) => {
            strsim::damerau_levenshtein(option, known) <= MISSPELT_MAX
        }
        other => other.is_some(),
    };
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    (is_unknown && !is_misspelt).then(|| option.clone())
}

/// Returns the index of an unknown option that stands after a plain word and is not in `words`.
fn behind_a_word(
    question: &Command,
    arguments: &[OsString],
    words: &BTreeSet<usize>,
    option: &str,
) -> Option<usize> {
    let mut seen_word = false;
    let mut at = 0;
    while let Some(argument) = arguments.get(at) {
        match read(question, argument) {
            Read::Plain => seen_word = true,
            Read::Option { takes_next: true } => at += 1,
            Read::Option { .. } => {}
            Read::Unknown => {
                // For combined letters and for an option with a value the error names only the first part.
                let named = argument.to_string_lossy().starts_with(option);
                if seen_word && named && !words.contains(&at) {
                    return Some(at);
                }
            }
            Read::End => break,
        }
        at += 1;
    }
    None
}

/// Returns the arguments with the words of the question after `--`, in their order, including those in `words`.
fn with_words_last(
    question: &Command,
    arguments: &[OsString],
    from: usize,
    words: &BTreeSet<usize>,
) -> Vec<OsString> {
    let (before, rest) = arguments.split_at(from);
    let mut options = before.to_vec();
    let mut last = vec![OsString::from("--")];
    let mut at = 0;
    while let Some(argument) = rest.get(at) {
        match read(question, argument) {
            Read::Plain => last.push(argument.clone()),
            Read::Unknown if words.contains(&at) => last.push(argument.clone()),
            Read::Option { takes_next: true } => {
                options.push(argument.clone());
                at += 1;
                options.extend(rest.get(at).cloned());
            }
            Read::Option { .. } | Read::Unknown => options.push(argument.clone()),
            Read::End => {
                last.extend(rest[at + 1..].iter().cloned());
                break;
            }
        }
        at += 1;
    }
    options.extend(last);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<String, Error> {
        let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        parse(&arguments).map(|cli| format!("{cli:?}"))
    }

    #[test]
    fn words_that_look_like_options_belong_to_the_question() {
        for (line, same) in [
            (
                "icm recall what does --force do",
                "icm recall -- what does --force do",
            ),
            (
                "icm --db x recall -l 1 what does --force do --explain -t a",
                "icm --db x recall -l 1 --explain -t a -- what does --force do",
            ),
            (
                "icm recall tar -xzf --zstd=9 a",
                "icm recall -- tar -xzf --zstd=9 a",
            ),
            (
                "icm recall is --force --force-with -1",
                "icm recall -- is --force --force-with -1",
            ),
            (
                "icm recall is --force -- --explain",
                "icm recall -- is --force --explain",
            ),
            (
                "icm recall-context why --amend --budget 300",
                "icm recall-context --budget 300 -- why --amend",
            ),
            (
                "icm recall-context what does --force do",
                "icm recall-context -- what does --force do",
            ),
            (
                "icm recall what does --version print",
                "icm recall -- what does --version print",
            ),
            (
                "icm replay --at @3 why --amend",
                "icm replay --at @3 -- why --amend",
            ),
            (
                "icm memoir search -m a what is --amend",
                "icm memoir search -m a -- what is --amend",
            ),
            (
                "icm memoir search-all what is --amend",
                "icm memoir search-all -- what is --amend",
            ),
        ] {
            assert_eq!(
                parsed(line).expect(line),
                parsed(same).expect(same),
                "{line}"
            );
        }
    }

    #[test]
    fn a_misspelt_option_is_named_and_other_commands_take_no_words() {
        for (line, named) in [
            ("icm recall invoices --explian", "--explain"),
            ("icm recall --explian invoices", "--explain"),
            ("icm recall what does --force do --explian", "--explain"),
            ("icm recall --force", "--force"),
            ("icm recall --force do", "--force"),
            ("icm recall x --limit nine", "nine"),
            ("icm recall x --topic", "--topic"),
            ("icm store -t a -c b --force", "--force"),
            ("icm memoir show a --force", "--force"),
        ] {
            let error = parsed(line).expect_err(line).to_string();
            assert!(error.contains(named), "{line}: {error}");
        }
    }
}
