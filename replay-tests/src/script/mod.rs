//! The script language: one command a line, which drives the service, and the text of its answers.
//!
//! ```text
//! store $a -t prefs -c "likes green tea" -i high -k tea,drink --key k1
//! clock +5m
//! update $a -c "likes black tea"
//! mark %then
//! forget $a
//! list --at %then
//! ```
//! Memories have aliases (`$a`), moments have marks (`%then`), so a script needs neither ids nor the API. In random
//! scripts `$12` is the 12th memory and `%12` the 12th position, both counted round. The clock stands still within a
//! command and moves one second before each. `#` starts a comment line. Every command answers with lines; [`check`]
//! compares all of them with the expectation, which `UPDATE_EXPECT=1 cargo test` rewrites in place.

mod command;
mod parse;
mod render;
mod run;

use expect_test::Expect;

pub use command::{Command, Damage, Script};
pub use run::Run;

/// Runs a script in a new store and compares its answers.
///
/// # Panics
/// If the script has a mistake or the answers differ.
#[track_caller]
pub fn check(script: &str, expected: Expect) {
    expected.assert_eq(&transcript(script));
}

/// Returns the answers of a script in a new store.
///
/// # Panics
/// If the script has a mistake.
pub fn transcript(script: &str) -> String {
    let script: Script = script.parse().unwrap_or_else(|error| panic!("{error}"));
    let mut run = Run::new(0);
    script.0.iter().map(|command| run.step(command)).collect()
}
