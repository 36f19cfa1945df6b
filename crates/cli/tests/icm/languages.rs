//! Compares recall with and without the built-in model, on sets in other languages. The sets lie beside a development
//! checkout; without them each test prints that it skips.

#![allow(clippy::print_stderr)]

use std::path::Path;

use serde_json::Value;

use crate::world::World;

/// Returns the share of a set's questions with evidence at the first place.
fn first_right(set: &Path, settings: &[&str]) -> f64 {
    let world = World::new();
    let settings: String = settings.iter().map(|it| format!(" --set {it}")).collect();
    let command = ["bench", "recall", set.to_str().unwrap()];
    let more = format!("--no-foreign --k 1 --limit 10{settings}");
    let report: Value = world.json((command, more));
    report["overall"]["any_at"]["1"].as_f64().unwrap()
}

/// Checks that the model costs a set at most 2 points at the first place.
fn check(name: &str) {
    let set = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let set = set.join(name);
    if !set.is_dir() {
        eprintln!("SKIPPED: {} is not there", set.display());
        return;
    }
    let (with, without) = (
        first_right(&set, &[]),
        first_right(&set, &["ranking.meaning=0"]),
    );
    assert!(with > 0.0, "nothing was found");
    assert!(
        with >= without - 0.02,
        "{name}: {with} with meaning, {without} without"
    );
}

macro_rules! languages {
    ($($test:ident: $set:literal;)*) => {
        $(#[test]
        fn $test() {
            check($set);
        })*
    };
}

languages! {
    meaning_does_not_cost_arabic: "xquad-ar";
    meaning_does_not_cost_chinese: "xquad-zh";
    meaning_does_not_cost_dutch: "debfaq-nl";
    meaning_does_not_cost_french: "piaf-fr";
    meaning_does_not_cost_german: "xquad-de";
    meaning_does_not_cost_italian: "debfaq-it";
    meaning_does_not_cost_japanese: "jsquad-ja";
    meaning_does_not_cost_korean: "debfaq-ko";
    meaning_does_not_cost_portuguese: "debfaq-pt";
    meaning_does_not_cost_russian: "xquad-ru";
    meaning_does_not_cost_spanish: "xquad-es";
    meaning_does_not_cost_turkish: "xquad-tr";
}
