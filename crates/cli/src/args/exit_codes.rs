//! The exit codes of the help text and of the guide are those of the code.

use super::ENVIRONMENT;
use crate::checked_in::{check, with_rows};
use crate::error::{CliError, ErrorKind, Outcome};

/// Returns the outcome with the next code.
fn next(outcome: &Outcome) -> Option<Outcome> {
    match outcome {
        Outcome::Fine => Some(Outcome::No),
        Outcome::No => Some(Outcome::Usage),
        Outcome::Usage => Some(Outcome::Damage),
        Outcome::Damage => None,
    }
}

#[test]
fn the_exit_codes_are_as_checked_in() {
    let outcomes = std::iter::successors(Some(Outcome::Fine), next);
    let codes: Vec<String> = outcomes.map(|it| it.exit_code().to_string()).collect();
    let (_, list) = ENVIRONMENT.split_once("Exit codes:\n").unwrap();
    let (list, _) = list.split_once("\n\n").unwrap();
    let list: Vec<_> = list
        .lines()
        .map(|line| line.trim().split_once("  ").unwrap())
        .collect();
    let in_help: Vec<&str> = list.iter().map(|(code, _)| *code).collect();
    assert_eq!(in_help, codes);
    for kind in [
        ErrorKind::ClosedPipe,
        ErrorKind::NotFound,
        ErrorKind::Failed,
        ErrorKind::Damage,
    ] {
        let code = CliError::failed("").of_kind(kind).exit_code().to_string();
        assert!(codes.contains(&code), "{kind:?} ends with {code}");
    }
    let row = |(code, meaning): &(&str, &str)| format!("| {code} | {meaning} |\n");
    let rows: String = list.iter().map(row).collect();
    check("exit-codes.md", |page| with_rows(page, &rows));
}
