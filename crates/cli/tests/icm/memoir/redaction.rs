//! Concepts and memoirs that are redacted.

use serde_json::Value;

use super::{memoir, system};

#[test]
fn a_concept_is_redacted_from_every_byte() {
    let world = system();
    let secret = "the cellar key hangs behind the boiler";
    memoir(
        &world,
        &["refine", "-m", "system", "-n", "api", "-d", secret],
    );
    world
        .icm(["--yes", "redact", "--match", "behind the boiler"])
        .ok();
    let shown = memoir(&world, &["inspect", "-m", "system", "api"]);
    assert_eq!(shown["concept"]["definition"], Value::Null);
    for (path, bytes) in crate::world::tree(&world.store()) {
        let found = bytes.windows(10).any(|window| window == b"the boiler");
        assert!(!found, "{}", path.display());
    }
    world.icm(["verify"]).ok();
}

#[test]
fn a_concept_and_a_memoir_are_redacted_by_their_ids() {
    let world = system();
    let inspect = ["inspect", "-m", "system", "invoices"];
    let concept = memoir(&world, &inspect)["concept"]["id"].clone();
    memoir(
        &world,
        &[
            "refine",
            "-m",
            "system",
            "-n",
            "invoices",
            "-d",
            "kept in the cellar",
        ],
    );
    let has = |text: &str| {
        let files = crate::world::tree(&world.store());
        let has = |bytes: &[u8]| bytes.windows(text.len()).any(|it| it == text.as_bytes());
        files.iter().any(|(_, bytes)| has(bytes))
    };
    assert!(has("Rows in PostgreSQL") && has("kept in the cellar") && has("hangs together"));
    world
        .icm(["--yes", "redact", concept.as_str().unwrap()])
        .ok();
    assert!(!has("Rows in PostgreSQL") && !has("kept in the cellar") && has("hangs together"));
    let whole = memoir(&world, &["show", "system"])["id"].clone();
    world.icm(["--yes", "redact", whole.as_str().unwrap()]).ok();
    assert!(!has("hangs together"));
    world.icm(["verify"]).ok();
    // A second redaction finds the text redacted already.
    world
        .icm(["--yes", "redact", whole.as_str().unwrap()])
        .fails(1, "redacted already");
}
