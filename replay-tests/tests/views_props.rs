//! Invariants 15 to 19, and 6: views are killed, dropped, cut and flipped at any moment, and every answer stays that of
//! the reference model.

use proptest::prelude::*;
use replay_tests::generate;
use replay_tests::judge::{self, Judge};
use replay_tests::script::{Command, Script};

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..judge::config(64)
    }
}

/// Returns a script of changes, with mishaps of the views in between.
fn eventful() -> impl Strategy<Value = Script> {
    let command = prop_oneof![3 => generate::change(), 2 => generate::mishap()];
    generate::script(command, 1..25)
}

proptest! {
    #![proptest_config(config())]

    /// 15 and 17: after any mishap a view catches up to the result of a rebuild.
    #[test]
    fn views_are_never_wrong(script in eventful()) {
        let mut judge = Judge::new();
        for command in &script.0 {
            judge.step(command).map_err(TestCaseError::fail)?;
            judge.same_now().map_err(TestCaseError::fail)?;
        }
        judge.same_always().map_err(TestCaseError::fail)?;
        // The first recall that needs vectors makes them again; otherwise verify would report them.
        judge.answers();
        judge.verifies().map_err(TestCaseError::fail)?;
        let before = judge.state_hash();
        judge.step(&Command::DropViews).map_err(TestCaseError::fail)?;
        prop_assert_eq!(&before, &judge.state_hash(), "the state after dropping all views");
        judge.step(&Command::Rebuild).map_err(TestCaseError::fail)?;
        prop_assert_eq!(&before, &judge.state_hash(), "the state after a rebuild");
        judge.same_always().map_err(TestCaseError::fail)?;
    }

    /// Deleting `views/` and asking again gives the same answers to the last byte, with order and scores.
    #[test]
    fn answers_are_the_same_after_a_rebuild(script in eventful()) {
        let mut judge = Judge::new();
        for command in &script.0 {
            judge.step(command).map_err(TestCaseError::fail)?;
        }
        let before = judge.answers();
        for command in [Command::DropViews, Command::Rebuild, Command::DropViews] {
            judge.step(&command).map_err(TestCaseError::fail)?;
            prop_assert_eq!(&judge.answers(), &before, "after {}", command);
        }
    }

    /// 16 and 18: the text search finds exactly the live rows, whatever was asked and settled before.
    #[test]
    fn text_and_rows_agree(script in generate::script(prop_oneof![
        4 => generate::change(), 1 => generate::look(), 2 => generate::mishap()
    ], 1..20)) {
        let mut judge = Judge::new();
        for command in &script.0 {
            judge.step(command).map_err(TestCaseError::fail)?;
            judge.text_agrees().map_err(TestCaseError::fail)?;
        }
    }

    /// 19: no view is ever ahead of the log, and a view left by a killed process catches up.
    #[test]
    fn no_view_is_ahead(script in eventful()) {
        let mut judge = Judge::new();
        for command in &script.0 {
            judge.step(command).map_err(TestCaseError::fail)?;
            judge.step(&Command::Kill).map_err(TestCaseError::fail)?;
            judge.no_view_is_ahead().map_err(TestCaseError::fail)?;
        }
    }

    /// 6: the same request returns the first receipt; with other content it is a conflict.
    #[test]
    fn requests_are_done_once(script in generate::script(generate::change(), 1..12), pick in any::<prop::sample::Index>()) {
        let mut judge = Judge::new();
        for command in &script.0 {
            judge.step(command).map_err(TestCaseError::fail)?;
        }
        judge.requests_are_done_once(pick.index(4) as u64).map_err(TestCaseError::fail)?;
    }
}
