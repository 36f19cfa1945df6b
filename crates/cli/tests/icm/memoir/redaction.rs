//! Concepts and memoirs that are redacted.

use serde_json::Value;

use super::{memoir, system};

#[test]
fn a_concept_is_redacted_from_every_byte() {
    let world = system();
    let secret = "the cellar key hangs behind the boiler";
    world.json(format!("memoir refine -m system -n api -d '{secret}'"));
    world.ok("--yes redact --match 'behind the boiler'");
    let shown = world.json("memoir inspect -m system api");
    assert_eq!(shown["concept"]["definition"], Value::Null);
    for (path, bytes) in crate::world::tree(&world.store()) {
        let found = bytes.windows(10).any(|window| window == b"the boiler");
        assert!(!found, "{}", path.display());
    }
    world.ok("verify");
}

#[test]
fn a_concept_and_a_memoir_are_redacted_by_their_ids() {
    let world = system();
    let inspect = ["inspect", "-m", "system", "invoices"];
    let concept = memoir(&world, inspect)["concept"]["id"].clone();
    world.json("memoir refine -m system -n invoices -d 'kept in the cellar'");
    let has = |text: &str| {
        let files = crate::world::tree(&world.store());
        let has = |bytes: &[u8]| bytes.windows(text.len()).any(|it| it == text.as_bytes());
        files.iter().any(|(_, bytes)| has(bytes))
    };
    assert!(has("Rows in PostgreSQL") && has("kept in the cellar") && has("hangs together"));
    world.ok(format!("--yes redact {}", concept.as_str().unwrap()));
    assert!(!has("Rows in PostgreSQL") && !has("kept in the cellar") && has("hangs together"));
    let whole = world.json("memoir show system")["id"].clone();
    world.ok(format!("--yes redact {}", whole.as_str().unwrap()));
    assert!(!has("hangs together"));
    world.ok("verify");
    // A second redaction finds the text redacted already.
    world.fails(format!(
        "--yes redact {} => 1: redacted already",
        whole.as_str().unwrap()
    ));
}
