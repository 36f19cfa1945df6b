//! Parsing without building what is not needed.
//!
//! Describing all commands to clap takes half a millisecond, more than the rest of a start. So the
//! command's name is looked for first and only that command is described. Whatever does not parse
//! this way (a mistake, help) goes to the whole parser, which then has the last word; see the test
//! for what must hold.

use std::ffi::OsString;

use clap::{Args, FromArgMatches};

use crate::args::{Cli, Command, GlobalArgs};

/// The arguments, if they are those of one well-formed command.
pub(crate) fn parse(arguments: &[OsString]) -> Option<Cli> {
    let name = name(arguments)?;
    match name {
        "store" => one(name, Command::Store, arguments),
        "recall" => one(name, Command::Recall, arguments),
        "recall-context" => one(name, Command::RecallContext, arguments),
        "get" => one(name, Command::Get, arguments),
        "list" => one(name, Command::List, arguments),
        "update" => one(name, Command::Update, arguments),
        "forget" => one(name, Command::Forget, arguments),
        "link" => one(name, Command::Link, arguments),
        "unlink" => one(name, Command::Unlink, arguments),
        "topics" => one(name, Command::Topics, arguments),
        "stats" => one(name, Command::Stats, arguments),
        "health" => one(name, Command::Health, arguments),
        "conflicts" => one(name, Command::Conflicts, arguments),
        "history" => one(name, Command::History, arguments),
        "why" => one(name, Command::Why, arguments),
        "diff" => one(name, Command::Diff, arguments),
        "log" => one(name, Command::Log, arguments),
        "replay" => one(name, Command::Replay, arguments),
        _ => None,
    }
}

/// The first argument that is no flag and no value of a flag that may stand before a command.
fn name(arguments: &[OsString]) -> Option<&str> {
    let mut rest = arguments.iter().skip(1).map(|a| a.to_str());
    loop {
        match rest.next()?? {
            "--db" | "--config" => {
                rest.next();
            }
            "--" => return None,
            flag if flag.starts_with('-') => {}
            name => return Some(name),
        }
    }
}

fn one<A: Args>(name: &str, wrap: fn(A) -> Command, arguments: &[OsString]) -> Option<Cli> {
    let command = A::augment_args(clap::Command::new(name.to_string()));
    let parser = GlobalArgs::augment_args(clap::Command::new("icm"))
        .disable_help_subcommand(true)
        .subcommand(command);
    let mut matches = parser.try_get_matches_from(arguments).ok()?;
    let global = GlobalArgs::from_arg_matches_mut(&mut matches).ok()?;
    let (_, mut matches) = matches.remove_subcommand()?;
    let command = wrap(A::from_arg_matches_mut(&mut matches).ok()?);
    Some(Cli { global, command })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn arguments(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn it_says_what_the_whole_parser_says() {
        for line in [
            "icm recall where do invoices live",
            "icm --json recall -t a -k b -l 3 --at @3 --explain x -q",
            "icm --db dir -v recall x --db other",
            "icm --config file recall x -- --json",
            "icm recall-context some words --budget 300 --format markdown -t a",
            "icm store -t a -c b -i high -k c,d -k e --metadata {}",
            "icm store -t a",
            "icm store -t a -c -b",
            "icm update id -c --- -t a",
            "icm get id --at yesterday",
            "icm list --all --sort weight",
            "icm update id -k c",
            "icm forget a b c --yes",
            "icm forget --topic a",
            "icm link a b -r related --reason x",
            "icm unlink a b --relation related",
            "icm topics",
            "icm stats --json",
            "icm topics --depth 2 --prefix a --flat",
            "icm health -t a/ --stale-days 30 --at @3",
            "icm history id",
            "icm why id -l 3",
            "icm diff @3 yesterday -t a/",
            "icm log --kind memory -l 3",
            "icm log --json verify --expect file",
            "icm --json log show @3",
            "icm replay --at @3",
            "icm replay --at @3 some words -vv",
        ] {
            let quick = parse(&arguments(line)).expect(line);
            let whole = Cli::try_parse_from(arguments(line)).expect(line);
            assert_eq!(format!("{quick:?}"), format!("{whole:?}"), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_or_help_is_left_to_the_whole_parser() {
        for line in [
            "icm",
            "icm recall",
            "icm recall --help",
            "icm recall x -h",
            "icm --version",
            "icm --db recall",
            "icm store -t a --topik b",
            "icm forget",
            "icm forget a --topic b",
            "icm list --all -l 3",
            "icm log nonsense",
            "icm nonsense",
            "icm -- recall x",
            "icm verify",
        ] {
            assert!(parse(&arguments(line)).is_none(), "{line}");
        }
    }
}
