//! The least fit of a result: `--floor`, and the answer if no result reaches it.

use serde_json::{Value, json};

use crate::world::{Look, Says, World};

/// Words that no memory has; one memory is near in meaning.
const OTHER_WORDS: [&str; 2] = ["payment", "records"];
/// A floor that no result without a word of the query reaches.
const HIGH: &str = "0.95";

fn asked<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = [command].into_iter().chain(OTHER_WORDS);
    words.chain(more.iter().copied()).collect()
}

fn results(answer: &Value) -> &[Value] {
    answer["results"].as_array().unwrap()
}

#[test]
fn a_recall_that_nothing_fits_names_the_nearest_and_the_floor_that_shows_it() {
    let world = World::with_memories();
    let all = world.json(asked("recall", &["--floor", "0"]));
    let best = &results(&all)[0];
    let run = world.icm(asked("recall", &["--floor", HIGH])).ends(1);
    assert_eq!(run.out, "");
    let said = format!(
        "nothing fits; nearest: \"{}\" (fit {:.2}), --floor 0 shows it",
        best["content"].as_str().unwrap(),
        best["fit"].as_f64().unwrap(),
    );
    assert!(run.err.lines().any(|line| line == said), "{run:?}");
    run.err.says("nothing found in global");

    let run = world
        .icm(asked("recall", &["--floor", HIGH, "--json"]))
        .ends(1);
    let answer = run.json();
    assert_eq!(answer["results"], json!([]));
    let nearest = json!({
        "id": best["id"], "fit": best["fit"], "topic": best["topic"], "content": best["content"],
    });
    assert_eq!(answer["nearest"], nearest);
    assert_eq!(all.get("nearest"), None, "what was found was shown");

    // Another moment, and another command.
    let now = world.now();
    let replayed = asked("replay", &["--at", &now, "--floor", HIGH, "--json"]);
    let replayed = world.icm(replayed).ends(1).json();
    assert_eq!(replayed["nearest"], nearest);
    let shown = world.json(asked("replay", &["--at", &now, "--floor", "0"]));
    assert_eq!(results(&shown)[0]["id"], best["id"]);
}

#[test]
fn an_empty_store_has_no_nearest() {
    let world = World::with_memories();
    let run = world.icm(format!("recall billing -t nowhere --floor '{HIGH}' --json"));
    assert_eq!(run.ends(1).json().get("nearest"), None);
    let run = world.icm(format!("recall billing -t nowhere --floor '{HIGH}'"));
    assert!(!run.ends(1).err.contains("nearest"));
}

#[test]
fn each_result_says_how_well_it_fits() {
    let world = World::with_memories();
    let own = "Prices are integer cents";
    let answer = world.json(format!("recall '{own}' --floor 0"));
    let hits = results(&answer);
    assert_eq!(hits[0]["content"], own);
    assert!(hits[0]["fit"].as_f64().unwrap() > 0.5, "{answer}");
    for hit in hits {
        let fit = hit["fit"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&fit), "{hit}");
        assert_eq!((fit * 1e3).round() / 1e3, fit, "in thousandths");
    }
    let run = world.ok(format!("recall '{own}' --floor 0"));
    let heads: Vec<&str> = run.out.lines().filter(|it| it.starts_with("01")).collect();
    assert_eq!(heads.len(), hits.len(), "{run:?}");
    for (head, hit) in heads.iter().zip(hits) {
        let fit = format!("  fit {:.2}", hit["fit"].as_f64().unwrap());
        assert!(head.ends_with(&fit), "{head} {hit}");
        let matched = hit["matched"].as_array().unwrap();
        let by = if matched.is_empty() {
            "  near in meaning  "
        } else {
            "  matched "
        };
        assert!(head.contains(by), "{head} {hit}");
    }

    // A result added by a link has no fit of its own.
    let (from, to) = (world.id("money"), world.id("owner"));
    world.ok(format!("link '{from}' '{to}' -r contradicts"));
    world.write("words.toml", "[ranking]\nmeaning = 0\n");
    let words = ["--config", "words.toml", "recall", own];
    let linked = world.json(words);
    let brought = results(&linked).iter().find(|hit| hit["id"] == json!(to));
    let brought = brought.unwrap();
    assert_eq!(brought["via"]["relation"], "contradicts", "{linked}");
    assert_eq!(brought["fit"], json!(0.0));
    let run = world.icm(words).ok();
    let head = run.out.lines().find(|line| line.starts_with(&to)).unwrap();
    head.lacks("fit");
}

#[test]
fn a_floor_is_from_0_to_1() {
    let world = World::with_memories();
    for command in ["recall", "recall-context"] {
        for floor in ["2", "-1", "x", "nan", "inf", "1.0001", ""] {
            world
                .icm(format!("'{command}' invoices --floor '{floor}'"))
                .fails(2, "give a number from 0 to 1");
        }
        for floor in ["0", "0.0", "1e-3"] {
            world.ok(format!("'{command}' invoices --floor '{floor}'"));
        }
    }
    world.fails("replay --at now --floor 0.5 => 2: required arguments");
}

#[test]
fn a_prompt_gets_nothing_of_what_does_not_fit() {
    let world = World::with_memories();
    let run = world
        .icm(asked("recall-context", &["--floor", HIGH]))
        .ends(1);
    assert_eq!(run.out, "");
    assert_eq!(run.err.lines().count(), 1, "{run:?}");
    run.err.begins("nothing fits; nearest: \"");
    run.err.finishes(", --floor 0 shows it\n");
    let run = world
        .icm(asked("recall-context", &["--floor", HIGH, "-q"]))
        .ends(1);
    assert_eq!((&*run.out, &*run.err), ("", ""));

    let run = world.icm(asked("recall-context", &["--floor", HIGH, "--json"]));
    let context = run.ends(1).json();
    context.has(json!({"text": "", "tokens": 0, "results": []}));
    assert!(context["nearest"]["id"].is_string(), "{context}");

    let all = world.json(asked("recall-context", &["--floor", "0"]));
    assert_eq!(results(&all)[0]["id"], context["nearest"]["id"]);
    assert_eq!(all.get("nearest"), None);
    let text = all["text"].as_str().unwrap();
    text.says("(just now, near in meaning)");
    for format in ["text", "markdown"] {
        let run = world.icm(format!(
            "recall-context 'who owns billing' --format '{format}'"
        ));
        let line = run.ok().out;
        line.says("just now, matched owns, billing");
    }
}

#[test]
fn only_the_beginning_of_a_long_memory_is_told() {
    let world = World::new();
    let long = format!(
        "Invoices  live\nin PostgreSQL {}",
        "and MongoDB ".repeat(40)
    );
    world.ok(format!("store -t finance -c '{long}'"));
    let words = asked("recall", &["--floor", HIGH, "--json"]);
    let answer = world.icm(words).ends(1).json();
    let told = answer["nearest"]["content"].as_str().unwrap();
    told.begins("Invoices  live in PostgreSQL and MongoDB");
    assert!(told.ends_with('…') && told.chars().count() == 80, "{told}");
}

/// The log records the floor and the fit of each result; a recall that is asked again uses the same floor.
#[test]
fn a_recall_is_recorded_with_its_floor_and_the_fits() {
    let world = World::with_memories();
    let answer = world.json("recall 'integer cents' --floor 0.25");
    let ppm = |hit: &Value| (hit["fit"].as_f64().unwrap() * 1e6).round() as u64;
    let fits: Vec<u64> = results(&answer).iter().map(ppm).collect();
    assert!(!fits.is_empty() && fits[0] > 250_000, "{answer}");
    let show = |position: &str| world.json(format!("log show {position}"))["payload"].clone();
    let payload = show(&world.now());
    payload.has(json!({"floor_ppm": 250_000, "fits_ppm": fits}));

    world.json("recall 'integer cents'");
    assert_eq!(show(&world.now())["floor_ppm"], Value::Null);

    world.icm(asked("recall", &["--floor", HIGH])).ends(1);
    if cfg!(feature = "bench") {
        let report = world.json("bench replay --last 1");
        report.has(json!({"/since/same": 1, "changed": []}));
    }
}

/// The answer of the owner is the same as that of the process itself.
#[cfg(unix)]
#[test]
fn a_server_answers_a_command_with_the_same_floor() {
    let world = World::with_memories();
    let words = asked("recall", &["--floor", HIGH, "--no-record", "--json"]);
    let all = asked("recall", &["--floor", "0", "--no-record"]);
    let alone = (world.icm(&words).ends(1).json(), world.json(&all));
    let _owner = crate::owner::Owner::of(&world);
    let run = crate::owner::asking(&world, &words);
    assert!(crate::owner::was_answered(&run, "recall"), "{run:?}");
    let basis = |mut answer: Value| {
        answer["basis"].take();
        answer
    };
    assert_eq!(basis(run.ends(1).json()), basis(alone.0));
    assert_eq!(basis(world.json(&all)), basis(alone.1));
}
