//! The checked-in schemas match the types.

use replay_tests::schemas;

#[test]
fn checked_in_schemas_are_those_of_the_types() {
    let stale = schemas::stale().expect("the folder is read");
    assert!(
        stale.is_empty(),
        "run `cargo run -p replay-tests --bin schemas`: {stale:?}"
    );
    assert!(
        schemas::current().len() >= 8,
        "a schema for every kind that is known"
    );
}
