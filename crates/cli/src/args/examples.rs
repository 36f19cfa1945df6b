//! Every command's help has a short first line, and examples that the parser accepts.

use clap::{Command, CommandFactory, Parser};

use super::Cli;

/// Longest first line of a help text, in characters. Raised, lists of commands wrap on a terminal of 100 columns.
const ABOUT_MAX: usize = 80;

/// Longest line of an example, in characters: the width at which help texts are wrapped. Raised, an example breaks.
const LINE_MAX: usize = 100;

/// Appends the names of all commands below `command`, with their descriptions.
fn walk<'c>(command: &'c Command, path: &str, found: &mut Vec<(String, &'c Command)>) {
    found.push((path.to_owned(), command));
    for below in command.get_subcommands() {
        walk(below, &format!("{path} {}", below.get_name()), found);
    }
}

/// Returns the lines of the last part of a help text, which has to be `Examples:`.
fn examples(command: &Command) -> Option<Vec<String>> {
    let text = command.get_after_help()?.to_string();
    let (_, lines) = text.rsplit_once("Examples:\n")?;
    Some(lines.lines().map(str::to_owned).collect())
}

/// Splits a line of shell into commands of words: quotes are taken off, redirections and remarks are left out.
fn shell(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars().chain([' ']) {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '|' | ';' | '&') => {
                let last = commands.last_mut().expect("one command at least");
                last.extend(word.take());
                if c != ' ' {
                    commands.push(Vec::new());
                }
            }
            (None, _) => word.get_or_insert_default().push(c),
        }
    }
    assert_eq!(quote, None, "an open quote: {line}");
    for words in &mut commands {
        if let Some(redirection) = words.iter().position(|word| word == ">" || word == "<") {
            words.drain(redirection..redirection + 2);
        }
    }
    commands
}

/// Returns the arguments of each `icm` that the line runs, here or by way of `ssh`, the program's name first.
fn calls(line: &str) -> Vec<Vec<String>> {
    let of_icm = |mut words: Vec<String>| {
        let at = words.iter().position(|word| word == "icm")?;
        Some(words.split_off(at))
    };
    shell(line).into_iter().filter_map(of_icm).collect()
}

#[test]
fn every_help_has_a_short_first_line_and_examples_that_parse() {
    let mut whole = Cli::command();
    whole.build();
    let mut found = Vec::new();
    walk(&whole, "icm", &mut found);
    assert!(found.len() > 80, "{}", found.len());

    let mut wrong = Vec::new();
    for (path, command) in &found {
        let about = command.get_about().map(ToString::to_string);
        let about = about.unwrap_or_default();
        if about.is_empty() || about.chars().count() > ABOUT_MAX || about.ends_with('.') {
            wrong.push(format!("{path}: first line `{about}`"));
        }
        let lines = examples(command).unwrap_or_default();
        if !(2..=3).contains(&lines.len()) {
            wrong.push(format!("{path}: {} examples", lines.len()));
        }
        let own: Vec<&str> = path.split(' ').collect();
        let mut is_shown = false;
        for line in &lines {
            if !line.starts_with("  ") || line.chars().count() > LINE_MAX {
                wrong.push(format!("{path}: form of `{line}`"));
            }
            let calls = calls(line);
            if calls.is_empty() {
                wrong.push(format!("{path}: no call of icm in `{line}`"));
            }
            for call in calls {
                is_shown |= call.len() >= own.len() && call[..own.len()] == own;
                if let Err(error) = Cli::try_parse_from(&call) {
                    wrong.push(format!("{path}: `{line}`: {error}"));
                }
            }
        }
        if !is_shown {
            wrong.push(format!("{path}: no example of the command itself"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lines_of_shell_are_split_as_a_shell_does() {
    let line =
        "ssh desk icm log export --since 'a b' - | icm log import - > \"x y\" && icm why # said";
    let found = calls(line);
    assert_eq!(
        found,
        [
            vec!["icm", "log", "export", "--since", "a b", "-"],
            vec!["icm", "log", "import", "-"],
            vec!["icm", "why"],
        ]
    );
}
