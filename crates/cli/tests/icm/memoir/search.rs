//! Searches of concepts, and their pages.

use serde_json::{Value, json};

use super::{memoir, names, system};
use crate::world::{Look, Says, World};

#[test]
fn concepts_are_found_by_words_meaning_and_label() {
    let world = system();
    world.json("memoir create -n other");
    world.json("memoir add-concept -m other -n ledger -d 'Kept in PostgreSQL too'");
    let one = world.json("memoir search -m system PostgreSQL");
    assert_eq!(names(&one["results"]), ["invoices"]);
    let all = world.json("memoir search-all PostgreSQL");
    let mut found = names(&all["results"]);
    found.sort_unstable();
    assert_eq!(found, ["invoices", "ledger"]);
    let pet = world.json("memoir search-all 'name of the pet'");
    assert_eq!(names(&pet["results"])[0], "mascot");
    let labelled = world.json("memoir search-all -L Kind:Data");
    assert_eq!(names(&labelled["results"]), ["invoices"]);
    let both = world.json("memoir search -m system -L kind:service front");
    assert_eq!(names(&both["results"]), ["api"]);
    world.icm("memoir search -m system ledger").ends(1);

    // A deleted memoir is not found, nor are its concepts.
    let then = world.now();
    world.ok("--yes memoir delete other");
    let all = world.json("memoir search-all PostgreSQL");
    assert_eq!(names(&all["results"]), ["invoices"]);
    let before = world.json(format!("memoir search-all PostgreSQL --at '{then}'"));
    assert_eq!(before["results"].count(), 2);
    world.ok("rebuild");
    let all = world.json("memoir search-all PostgreSQL");
    assert_eq!(names(&all["results"]), ["invoices"]);
}

#[test]
fn a_search_of_concepts_says_how_well_each_fits() {
    let world = system();
    let search = "memoir search -m system relational tables";
    let with = |more: &'static str| (search, more);
    let all = world.json(search);
    let best = &all["results"][0];
    assert_eq!(best["matched"], json!([]), "{all}");
    let fit = best["fit"].as_f64().unwrap();
    let shown = world.icm(search).ok().out;
    let end = format!("near in meaning, fit {fit:.2}");
    shown.lines().next().unwrap().finishes(&end);

    let none = world.icm(with("--floor 0.95 --json")).ends(1).json();
    assert_eq!(none["results"], json!([]));
    let nearest = json!({
        "id": best["id"], "fit": fit, "memoir": "system", "name": best["name"],
    });
    assert_eq!(none["nearest"], nearest);
    let run = world.icm(with("--floor 0.95")).ends(1);
    let said = format!(
        "nothing fits; nearest: {} (fit {fit:.2}), --floor 0 shows it",
        best["name"].as_str().unwrap()
    );
    assert!(run.err.lines().any(|line| line == said), "{run:?}");
    world
        .icm(with("--floor 2"))
        .fails(2, "give a number from 0 to 1");

    let labelled = ["memoir", "search-all", "-L", "kind:data"];
    assert_eq!(world.json(labelled)["results"][0]["fit"], json!(1.0));
    let shown = world.icm(labelled).ok().out;
    shown.lacks("fit");
}

#[test]
fn a_search_goes_on_page_by_page_until_everything_was_shown() {
    let world = World::new();
    world.json("memoir create -n parts");
    // More concepts than one ranking holds.
    let names_of = |results: &Value| -> Vec<String> {
        names(results).into_iter().map(str::to_owned).collect()
    };
    for n in 0..90 {
        let (name, definition) = (format!("part {n}"), format!("A bolt of {n} mm"));
        let add = [
            "add-concept",
            "-m",
            "parts",
            "-n",
            &name,
            "-d",
            &definition,
            "-L",
            "kind:bolt",
        ];
        memoir(&world, add);
    }
    for what in [["bolt"].as_slice(), &["-L", "kind:bolt"]] {
        let first = [["search", "-m", "parts", "-l", "7"].as_slice(), what].concat();
        let mut page = memoir(&world, &first);
        let mut shown = names_of(&page["results"]);
        // A concept that was added meanwhile is on none of these pages.
        let later = format!("later {}", what[0]);
        world.json(format!(
            "memoir add-concept -m parts -n '{later}' -d 'A bolt' -L kind:bolt"
        ));
        while let Some(next) = page["next"].as_str() {
            let next = next.to_owned();
            page = memoir(&world, [first.as_slice(), &["--after", &next]].concat());
            assert_eq!(page["offset"], shown.len());
            shown.extend(names_of(&page["results"]));
        }
        let total = shown.len();
        shown.sort();
        shown.dedup();
        assert_eq!(shown.len(), total, "{what:?}");
        let at = page["basis"]["position"].as_u64().unwrap();
        let there = world.json(format!("memoir show parts --at @{at}"));
        assert_eq!(there["concepts"], total, "{what:?}");
        assert!(total >= 90);
    }
    let said = world.ok("memoir search -m parts bolt");
    said.err.says("there are more: `--after ");
    world
        .icm("memoir search -m parts bolt --after x")
        .fails(2, "`x` is no place where a search goes on");
    let said = world.fails("memoir search -m parts => 2: the query is empty");
    let hint = "or a label with `-L LABEL`";
    said.err.says(hint);
}
