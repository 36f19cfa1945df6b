//! Random commands, one after the other, on the service and on the reference model.

use proptest::prelude::*;
use replay_tests::generate;
use replay_tests::judge::{self, Judge};

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..judge::config(64) })]

    #[test]
    fn the_service_does_what_the_model_does(script in generate::script(generate::change(), 1..40)) {
        let mut judge = Judge::new();
        for command in &script.0 {
            judge.step(command).map_err(TestCaseError::fail)?;
            judge.same_now().map_err(TestCaseError::fail)?;
        }
        judge.same_always().map_err(TestCaseError::fail)?;
    }

    #[test]
    fn scripts_print_as_they_read(script in generate::script(
        prop_oneof![generate::change(), generate::look(), generate::mishap()], 0..30
    )) {
        prop_assert_eq!(script.to_string().parse(), Ok(script));
    }
}
