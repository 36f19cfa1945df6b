//! Invariants 22 to 24 and 27: any moment can be asked, and the answer never changes.

use proptest::prelude::*;
use replay_tests::generate;
use replay_tests::judge::{self, Judge};
use replay_tests::model;
use replay_tests::script::Command;

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..judge::config(64)
    }
}

fn commands() -> impl Strategy<Value = Command> {
    prop_oneof![8 => generate::change(), 1 => Just(Command::Reopen), 1 => Just(Command::Settle)]
}

proptest! {
    #![proptest_config(config())]

    /// 22: at(now) = now, and at(@p) is the fold of the prefix that ends at p, for every p.
    #[test]
    fn every_position_can_be_asked(script in generate::script(commands(), 1..20)) {
        let mut judge = Judge::new();
        for command in &script.0 {
            judge.step(command).map_err(TestCaseError::fail)?;
        }
        let now = judge.run.basis();
        if now.position > 0 {
            let at = format!("@{}", now.position);
            prop_assert_eq!(model::rows_of(&judge.run, Some(&at)), model::rows_of(&judge.run, None));
        }
        judge.same_always().map_err(TestCaseError::fail)?;
    }

    /// 23: an answer as of a position stays the same after anything that follows.
    #[test]
    fn the_past_stays(first in generate::script(commands(), 1..10), then in generate::script(commands(), 1..10)) {
        let mut judge = Judge::new();
        for command in &first.0 {
            judge.step(command).map_err(TestCaseError::fail)?;
        }
        let Some(past) = judge.past() else { return Ok(()) };
        for command in judge::renamed(&then).0 {
            judge.step(&command).map_err(TestCaseError::fail)?;
        }
        prop_assert_eq!(judge.past_again(&past), past);
    }

    /// 24: the state by event time is the state now for the end of time, and the state then for each moment.
    #[test]
    fn happened_by(script in generate::script(commands(), 1..15)) {
        let mut judge = Judge::new();
        for command in &script.0 {
            judge.step(command).map_err(TestCaseError::fail)?;
        }
        judge.happened_by_agrees().map_err(TestCaseError::fail)?;
    }

    /// 27: the same basis and query give the same results, before and after the views are rebuilt. Their order may
    /// change with other memories in the index, and not otherwise.
    #[test]
    fn a_basis_repeats_its_answer(
        script in generate::script(commands(), 1..12),
        then in generate::script(commands(), 0..6),
        query in prop::sample::select(&["tea", "green coffee", "zebra", "E0308"][..]),
    ) {
        let mut judge = Judge::new();
        for command in &script.0 {
            judge.step(command).map_err(TestCaseError::fail)?;
        }
        let Some(answer) = judge.answer(query, None) else { return Ok(()) };
        prop_assert_eq!(judge.answer(query, Some(&answer)), Some(answer.clone()));
        for command in judge::renamed(&then).0 {
            judge.step(&command).map_err(TestCaseError::fail)?;
        }
        for rebuilt in [false, true] {
            if rebuilt {
                judge.step(&Command::DropViews).map_err(TestCaseError::fail)?;
            }
            let again = judge.answer(query, Some(&answer)).expect("the store has events");
            let mut basis = again.basis.clone();
            // A condition that was set since makes the answer name its moment, too.
            if answer.basis.moment.is_none() {
                basis.moment = None;
            }
            prop_assert_eq!(&basis, &answer.basis);
            prop_assert_eq!(judge::results(&again), judge::results(&answer), "rebuilt: {}", rebuilt);
        }
    }
}

#[test]
fn the_future_and_the_time_before_the_first_event_are_errors() {
    let mut judge = Judge::new();
    for line in ["store $a -t prefs -c tea", "store $b -t prefs -c coffee"] {
        judge
            .step(&line.parse().expect("a command"))
            .expect("it is done");
    }
    for at in ["@0", "@99", "2099-01-01", "2025-12-31"] {
        let command = format!("list --at {at}").parse().expect("a command");
        let answer = judge.run.step(&command);
        assert!(answer.starts_with("error: "), "--at {at}: {answer}");
    }
}
