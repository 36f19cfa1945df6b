//! `icm memoir`: knowledge as a graph.

use serde_json::{Value, json};

use crate::world::World;

fn memoir(world: &World, args: &[&str]) -> Value {
    world.json([["memoir"].as_slice(), args].concat())
}

/// A memoir with three concepts and two links.
fn system() -> World {
    let world = World::new();
    memoir(
        &world,
        &["create", "-n", "system", "-d", "How billing hangs together"],
    );
    for (name, definition, labels) in [
        ("invoices", "Rows in PostgreSQL", "kind:data,team:billing"),
        ("api", "The HTTP front for customers", "kind:service"),
        ("mascot", "The office dog called Biscuit", "people"),
    ] {
        let add = [
            "add-concept",
            "-m",
            "system",
            "-n",
            name,
            "-d",
            definition,
            "-l",
            labels,
        ];
        memoir(&world, &add);
    }
    link(&world, "link", "api", "invoices", "dependsOn");
    link(&world, "link", "invoices", "api", "part-of");
    world
}

fn link(world: &World, verb: &str, from: &str, to: &str, relation: &str) -> Value {
    memoir(
        world,
        &[
            verb, "-m", "system", "--from", from, "--to", to, "-r", relation,
        ],
    )
}

fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().unwrap();
    list.iter().map(|it| it["name"].as_str().unwrap()).collect()
}

#[test]
fn a_concept_is_added_refined_labelled_linked_and_seen_as_it_was() {
    let world = system();
    let then = world.now();
    let refined = memoir(
        &world,
        &[
            "refine",
            "-m",
            "system",
            "-n",
            "invoices",
            "-d",
            "Rows in PostgreSQL 17",
            "-l",
            "new",
        ],
    );
    assert_eq!(refined["revision"], 2);
    assert_eq!(refined["confidence"], 0.6);
    memoir(
        &world,
        &[
            "label",
            "-m",
            "system",
            "-n",
            "invoices",
            "-r",
            "new,kind:data",
            "-a",
            "x:y",
        ],
    );

    let now = memoir(&world, &["inspect", "-m", "system", "invoices"]);
    assert_eq!(now["concept"]["definition"], "Rows in PostgreSQL 17");
    assert_eq!(
        now["concept"]["labels"],
        serde_json::json!(["team:billing", "x:y"])
    );
    let definitions = now["definitions"].as_array().unwrap();
    assert_eq!(definitions.len(), 2, "{now}");
    assert_eq!(definitions[0]["definition"], "Rows in PostgreSQL");
    assert_eq!(definitions[1]["revision"], 2);
    assert_eq!(names(&now["around"]), ["api"]);
    let links = now["links"].as_array().unwrap();
    let said: Vec<_> = links
        .iter()
        .map(|it| it["relation"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["depends_on", "part_of"]);

    let before = memoir(
        &world,
        &["inspect", "-m", "system", "invoices", "--at", &then],
    );
    assert_eq!(before["concept"]["definition"], "Rows in PostgreSQL");
    assert_eq!(
        before["concept"]["labels"],
        serde_json::json!(["kind:data", "team:billing"])
    );

    // The same definition says nothing new; a link is there once.
    let again = memoir(
        &world,
        &[
            "refine",
            "-m",
            "system",
            "-n",
            "invoices",
            "-d",
            "Rows in PostgreSQL 17",
        ],
    );
    assert_eq!(again["action"], "unchanged");
    assert_eq!(
        link(&world, "link", "api", "invoices", "depends_on")["action"],
        "unchanged"
    );
    assert_eq!(
        link(&world, "unlink", "api", "invoices", "depends_on")["action"],
        "unlinked"
    );
    let now = memoir(&world, &["inspect", "-m", "system", "api"]);
    assert_eq!(now["links"].as_array().unwrap().len(), 1);

    // No concept is a memory, and the store is in order.
    assert_eq!(world.json(["list", "--all"]), serde_json::json!([]));
    assert_eq!(world.json(["topics"]), serde_json::json!([]));
    let stats = world.json(["stats"]);
    assert_eq!(
        (&stats["memoirs"], &stats["concepts"]),
        (&1.into(), &3.into())
    );
    assert_eq!(stats["memories"], 0);
    world.icm(["recall", "PostgreSQL"]).ends(1);
    world.icm(["verify"]).ok();
}

#[test]
fn concepts_are_found_by_words_meaning_and_label() {
    let world = system();
    memoir(&world, &["create", "-n", "other"]);
    memoir(
        &world,
        &[
            "add-concept",
            "-m",
            "other",
            "-n",
            "ledger",
            "-d",
            "Kept in PostgreSQL too",
        ],
    );
    let one = memoir(&world, &["search", "-m", "system", "PostgreSQL"]);
    assert_eq!(names(&one["results"]), ["invoices"]);
    let all = memoir(&world, &["search-all", "PostgreSQL"]);
    let mut found = names(&all["results"]);
    found.sort_unstable();
    assert_eq!(found, ["invoices", "ledger"]);
    let pet = memoir(&world, &["search-all", "name of the pet"]);
    assert_eq!(names(&pet["results"])[0], "mascot");
    let labelled = memoir(&world, &["search-all", "-L", "Kind:Data"]);
    assert_eq!(names(&labelled["results"]), ["invoices"]);
    let both = memoir(
        &world,
        &["search", "-m", "system", "-L", "kind:service", "front"],
    );
    assert_eq!(names(&both["results"]), ["api"]);
    world
        .icm(["memoir", "search", "-m", "system", "ledger"])
        .ends(1);

    // What is deleted is not found, and what is in it neither.
    let then = world.now();
    world.icm(["--yes", "memoir", "delete", "other"]).ok();
    let all = memoir(&world, &["search-all", "PostgreSQL"]);
    assert_eq!(names(&all["results"]), ["invoices"]);
    let before = memoir(&world, &["search-all", "PostgreSQL", "--at", &then]);
    assert_eq!(before["results"].as_array().unwrap().len(), 2);
    world.icm(["rebuild"]).ok();
    let all = memoir(&world, &["search-all", "PostgreSQL"]);
    assert_eq!(names(&all["results"]), ["invoices"]);
}

#[test]
fn a_search_of_concepts_says_how_well_each_fits() {
    let world = system();
    let search = ["memoir", "search", "-m", "system", "relational", "tables"];
    let with = |more: &[&'static str]| [search.as_slice(), more].concat();
    let all = world.json(search);
    let best = &all["results"][0];
    assert_eq!(best["matched"], json!([]), "{all}");
    let fit = best["fit"].as_f64().unwrap();
    let shown = world.icm(search).ok().out;
    let end = format!("near in meaning, fit {fit:.2}");
    assert!(shown.lines().next().unwrap().ends_with(&end), "{shown}");

    let none = world
        .icm(with(&["--floor", "0.95", "--json"]))
        .ends(1)
        .json();
    assert_eq!(none["results"], json!([]));
    let nearest = json!({
        "id": best["id"], "fit": fit, "memoir": "system", "name": best["name"],
    });
    assert_eq!(none["nearest"], nearest);
    let run = world.icm(with(&["--floor", "0.95"])).ends(1);
    let said = format!(
        "nothing fits; nearest: {} (fit {fit:.2}), --floor 0 shows it",
        best["name"].as_str().unwrap()
    );
    assert!(run.err.lines().any(|line| line == said), "{run:?}");
    world
        .icm(with(&["--floor", "2"]))
        .fails(2, "give a number from 0 to 1");

    let labelled = ["memoir", "search-all", "-L", "kind:data"];
    assert_eq!(world.json(labelled)["results"][0]["fit"], json!(1.0));
    let shown = world.icm(labelled).ok().out;
    assert!(!shown.contains("fit"), "{shown}");
}

#[test]
fn a_search_goes_on_page_by_page_until_everything_was_shown() {
    let world = World::new();
    memoir(&world, &["create", "-n", "parts"]);
    // More than are ranked together.
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
        memoir(&world, &add);
    }
    for what in [["bolt"].as_slice(), &["-L", "kind:bolt"]] {
        let first = [["search", "-m", "parts", "-l", "7"].as_slice(), what].concat();
        let mut page = memoir(&world, &first);
        let mut shown = names_of(&page["results"]);
        // What is added meanwhile is not of these pages.
        let later = format!("later {}", what[0]);
        memoir(
            &world,
            &[
                "add-concept",
                "-m",
                "parts",
                "-n",
                &later,
                "-d",
                "A bolt",
                "-L",
                "kind:bolt",
            ],
        );
        while let Some(next) = page["next"].as_str() {
            let next = next.to_owned();
            page = memoir(&world, &[first.as_slice(), &["--after", &next]].concat());
            assert_eq!(page["offset"], shown.len());
            shown.extend(names_of(&page["results"]));
        }
        let total = shown.len();
        shown.sort();
        shown.dedup();
        assert_eq!(shown.len(), total, "{what:?}");
        let at = page["basis"]["position"].as_u64().unwrap();
        let there = memoir(&world, &["show", "parts", "--at", &format!("@{at}")]);
        assert_eq!(there["concepts"], total, "{what:?}");
        assert!(total >= 90);
    }
    let said = world.icm(["memoir", "search", "-m", "parts", "bolt"]).ok();
    assert!(
        said.err.contains("there are more: `--after "),
        "{}",
        said.err
    );
    world
        .icm(["memoir", "search", "-m", "parts", "bolt", "--after", "x"])
        .fails(2, "`x` is no place where a search goes on");
    let said = world
        .icm(["memoir", "search", "-m", "parts"])
        .fails(2, "the query is empty");
    let hint = "or a label with `-L LABEL`";
    assert!(said.err.contains(hint), "{}", said.err);
}

#[test]
fn a_refinement_may_leave_the_definition_alone() {
    let world = World::with_memories();
    memoir(&world, &["create", "-n", "system"]);
    let of = ["-m", "system", "-n", "db"];
    let verb = |verb: &'static str, rest: &[&str]| {
        memoir(&world, &[[verb].as_slice(), &of, rest].concat())
    };
    verb("add-concept", &["-d", "PostgreSQL", "-l", "kind:data"]);
    let labelled = verb("refine", &["-L", "team:billing"]);
    assert_eq!(labelled["action"], "updated");
    verb("refine", &["-s", &world.id("database")]);
    let surer = verb("refine", &["--confidence", "0.9"]);
    assert_eq!(
        (&surer["revision"], &surer["confidence"]),
        (&2.into(), &0.9.into())
    );
    let seen = memoir(&world, &["inspect", "-m", "system", "db"]);
    assert_eq!(seen["concept"]["definition"], "PostgreSQL");
    assert_eq!(
        seen["concept"]["labels"],
        serde_json::json!(["kind:data", "team:billing"])
    );
    assert_eq!(seen["sources"].as_array().map(Vec::len), Some(1));
    assert_eq!(seen["definitions"].as_array().map(Vec::len), Some(2));
    verb("label", &["-a", "old", "-r", "kind:data"]);
    verb("label", &["-L", "new", "-R", "old"]);
    let seen = memoir(&world, &["inspect", "-m", "system", "db"]);
    assert_eq!(
        seen["concept"]["labels"],
        serde_json::json!(["team:billing", "new"])
    );
    let refine = [["memoir", "refine"].as_slice(), &of].concat();
    let said = world
        .icm(refine.clone())
        .fails(2, "nothing to refine is named");
    let options = "give at least one of `-d`, `-L`, `-s` and `--confidence`";
    assert!(said.err.contains(options), "{}", said.err);
    let long = "x".repeat(65);
    world
        .icm([refine.as_slice(), &["-L", &long]].concat())
        .fails(2, "a label is 65 bytes long");
    let secret = "password = hunter2hunter2X9";
    world
        .icm([refine.as_slice(), &["-L", secret]].concat())
        .fails(2, "the label holds what looks like a secret");
    world.icm(["verify"]).ok();
    world.icm(["rebuild"]).ok();
    let again = memoir(&world, &["inspect", "-m", "system", "db"]);
    assert_eq!(again["concept"], seen["concept"]);
}

#[test]
fn a_deleted_memoir_hides_what_is_in_it_and_comes_back_whole() {
    let world = system();
    let then = world.now();
    let whole = |at: &[&str]| {
        let export = [["memoir", "export", "-m", "system"].as_slice(), at].concat();
        let mut graph = world.icm(export).ok().json();
        graph.as_object_mut().unwrap().remove("basis");
        graph["memoir"]
            .as_object_mut()
            .unwrap()
            .remove("updated_at");
        graph
    };
    let before = whole(&[]);
    world
        .icm(["memoir", "delete", "system"])
        .fails(2, "has to be confirmed");
    let gone = world
        .icm(["--yes", "memoir", "delete", "system", "--json"])
        .ok()
        .json();
    assert_eq!(
        (&gone["action"], &gone["concepts"]),
        (&"forgotten".into(), &3.into())
    );
    assert_eq!(memoir(&world, &["list"])["memoirs"], serde_json::json!([]));
    let stats = world.json(["stats"]);
    assert_eq!(
        (&stats["memoirs"], &stats["concepts"]),
        (&0.into(), &0.into())
    );
    world
        .icm(["memoir", "inspect", "-m", "system", "api"])
        .fails(1, "memoir `system` was deleted");
    world
        .icm(["memoir", "create", "-n", "system"])
        .fails(2, "its name is kept for it");
    assert_eq!(whole(&["--at", &then]), before);
    assert_eq!(memoir(&world, &["revive", "system"])["action"], "revived");
    assert_eq!(whole(&[]), before);

    // A concept goes with its links, and so it comes back.
    let verb = |verb: &str| memoir(&world, &[verb, "-m", "system", "-n", "api"]);
    assert_eq!(verb("delete-concept")["action"], "forgotten");
    let left = memoir(&world, &["inspect", "-m", "system", "invoices"]);
    assert_eq!(left["links"], serde_json::json!([]));
    assert_eq!(verb("delete-concept")["action"], "unchanged");
    assert_eq!(verb("revive-concept")["action"], "revived");
    let links = memoir(&world, &["inspect", "-m", "system", "invoices"]);
    assert_eq!(links["links"].as_array().unwrap().len(), 2);
}

#[test]
fn a_memoir_that_is_created_again_says_what_came_back() {
    let world = World::new();
    let created = memoir(&world, &["create", "-n", "A"]);
    assert_eq!(created["action"], "stored");
    assert!(created.get("concepts").is_none_or(Value::is_null));
    memoir(&world, &["add-concept", "-m", "A", "-n", "x", "-d", "kept"]);
    let event = created["event"].as_str().unwrap();
    world.icm(["undo", "--yes", "--only", event]).ok();
    let again = memoir(&world, &["create", "-n", "A"]);
    assert_eq!(again["action"], "revived", "{again}");
    assert_eq!(again["concepts"], 1, "{again}");
    assert_eq!(again["id"], created["id"]);
    let shown = memoir(&world, &["show", "A"]);
    assert_eq!(shown["concept_list"][0]["definition"], "kept");
}

#[test]
fn changes_of_the_graph_are_compared_and_undone() {
    let world = system();
    let then = world.now();
    memoir(
        &world,
        &[
            "refine",
            "-m",
            "system",
            "-n",
            "api",
            "-d",
            "The HTTP and gRPC front",
        ],
    );
    memoir(
        &world,
        &[
            "add-concept",
            "-m",
            "system",
            "-n",
            "new",
            "-d",
            "Something",
        ],
    );
    link(&world, "link", "new", "api", "caused_by");
    link(&world, "unlink", "api", "invoices", "depends_on");
    world
        .icm(["memoir", "delete-concept", "-m", "system", "-n", "mascot"])
        .ok();

    let diff = &world.json(["diff", &then])["graph"];
    assert_eq!(names(&diff["added"]), ["new"]);
    assert_eq!(names(&diff["forgotten"]), ["mascot"]);
    assert_eq!(diff["changed"][0]["name"], "api");
    assert_eq!(
        diff["changed"][0]["fields"],
        serde_json::json!(["definition", "confidence"])
    );
    assert_eq!(diff["linked"][0]["relation"], "caused_by");
    assert_eq!(diff["unlinked"][0]["relation"], "depends_on");
    let said = world.icm(["diff", &then]).ok().out;
    assert!(said.contains("added      system / new"), "{said}");
    assert!(
        said.contains("linked     system / new caused_by api"),
        "{said}"
    );

    let first = 1 + then[1..].parse::<u64>().unwrap();
    let range = format!("@{first}..{}", world.now());
    let undone = world.icm(["--yes", "undo", &range, "--json"]);
    let undone = undone.ok().json();
    assert_eq!(undone["changes"][0]["of"], "concept", "{undone}");
    let changes = undone["changes"].as_array().unwrap();
    let of = |name: &str| {
        let named = |row: &Value| row["name"] == name && row["memoir"] == "system";
        let change = changes
            .iter()
            .find(|it| named(&it["before"]) || named(&it["after"]));
        change.unwrap_or_else(|| panic!("{name}: {undone}"))
    };
    let api = of("api");
    assert_eq!(
        api["fields"],
        serde_json::json!(["definition", "confidence", "revision", "links"])
    );
    assert_eq!(api["before"]["definition"], "The HTTP and gRPC front");
    assert_eq!(api["after"]["labels"], serde_json::json!(["kind:service"]));
    assert!(api["after"].get("topic").is_none() && api["after"].get("keywords").is_none());
    assert_eq!(of("new")["action"], "gone");
    assert_eq!(of("mascot")["action"], "back");
    let again = world.json(["diff", &then]);
    assert!(again.get("graph").is_none(), "{again}");
    let api = memoir(&world, &["inspect", "-m", "system", "api"]);
    assert_eq!(api["concept"]["definition"], "The HTTP front for customers");
    assert_eq!(api["concept"]["revision"], 1);
    world.icm(["verify"]).ok();
}

#[test]
fn the_log_says_which_link_was_taken_away() {
    let world = system();
    let id = |name: &str| {
        let seen = memoir(&world, &["inspect", "-m", "system", name]);
        seen["concept"]["id"].as_str().unwrap().to_owned()
    };
    link(&world, "unlink", "api", "invoices", "depends_on");
    let log = world.icm(["log", "--kind", "concept.unlinked"]).ok().out;
    let said = format!("depends_on {}", id("invoices"));
    assert!(log.contains(&said), "{log}");
    let detail = world.json(["log", "show", &world.now()]);
    assert_eq!(detail["facts"]["other"], id("invoices"));
    assert_eq!(detail["subject"], id("api"));
    let text = world.icm(["log", "show", &world.now()]).ok().out;
    assert!(text.contains(&said), "{text}");
}

#[test]
fn a_memoir_is_compared_told_of_and_undone_by_its_name() {
    let world = system();
    let then = world.now();
    memoir(&world, &["create", "-n", "other"]);
    memoir(
        &world,
        &[
            "add-concept",
            "-m",
            "other",
            "-n",
            "api",
            "-d",
            "Not this one",
        ],
    );
    world
        .icm(["store", "-t", "system", "-c", "A memory of that name"])
        .ok();
    memoir(
        &world,
        &["refine", "-m", "system", "-n", "api", "-L", "new:one"],
    );
    memoir(
        &world,
        &["add-concept", "-m", "system", "-n", "gate", "-d", "Lets in"],
    );
    link(&world, "link", "gate", "api", "part_of");
    link(&world, "link", "invoices", "gate", "depends_on");

    let diff = world.json(["diff", &then, "--memoir", "system"]);
    assert_eq!(diff["added"], serde_json::json!([]));
    assert_eq!(names(&diff["graph"]["added"]), ["gate"]);
    assert_eq!(diff["graph"]["changed"][0]["memoir"], "system");
    assert_eq!(
        diff["graph"]["changed"][0]["fields"],
        serde_json::json!(["labels"])
    );
    assert_eq!(diff["graph"]["linked"].as_array().map(Vec::len), Some(2));
    assert!(
        diff["graph"]["memoirs_added"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let said = world.icm(["diff", &then, "--memoir", "system"]).ok().out;
    assert!(said.contains("labels: +new:one"), "{said}");
    world
        .icm(["diff", &then, "--memoir", "systm"])
        .fails(1, "no memoir systm");

    let since = format!("@{}", 1 + then[1..].parse::<u64>().unwrap());
    let log = world.icm(["log", "--memoir", "system", "--since", &since, "--json"]);
    let kinds: Vec<String> = (log.ok().out.lines())
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["kind"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .filter(|kind| !kind.starts_with("log."))
        .collect();
    assert_eq!(
        kinds,
        [
            "concept.linked",
            "concept.linked",
            "concept.added",
            "concept.labelled"
        ],
    );

    // A concept that goes takes its links with it, and they are named.
    let added = world.icm([
        "log",
        "--memoir",
        "system",
        "--kind",
        "concept.added",
        "-l",
        "1",
        "--json",
    ]);
    let added: Value = serde_json::from_str(added.ok().out.trim()).unwrap();
    let added = format!("@{}", added["position"]);
    let plan = world.json(["undo", &added, "--dry-run"]);
    let change = &plan["changes"][0];
    assert_eq!(change["before"]["name"], "gate");
    let mut links: Vec<_> = change["links"]
        .as_array()
        .unwrap()
        .iter()
        .map(|link| {
            (
                link["relation"].as_str().unwrap(),
                link["name"].as_str().unwrap(),
                link["from"].is_null(),
            )
        })
        .collect();
    links.sort_unstable();
    assert_eq!(
        links,
        [("depends_on", "invoices", false), ("part_of", "api", true)]
    );
    let said = world.icm(["undo", &added, "--dry-run"]).ok().out;
    assert!(
        said.contains("- part_of api") && said.contains("- invoices depends_on"),
        "{said}"
    );

    let undo = [
        "--yes", "undo", "--memoir", "system", "--since", &since, "--json",
    ];
    let undone = world.icm(undo).ok().json();
    assert_eq!(
        undone["selector"],
        format!("--memoir system --since {since}")
    );
    assert_eq!(undone["events"], 4);
    let left = world.json(["diff", &then]);
    assert_eq!(names(&left["graph"]["memoirs_added"]), ["other"]);
    assert_eq!(names(&left["graph"]["added"]), ["api"]);
    assert_eq!(left["graph"]["linked"], serde_json::json!([]));
    assert_eq!(left["added"].as_array().map(Vec::len), Some(1));
    world
        .icm(["undo", "--memoir", "system", "-t", "system", "--dry-run"])
        .fails(2, "cannot be used with");
}

#[test]
fn a_memoir_is_written_out_in_every_format() {
    let world = system();
    memoir(
        &world,
        &[
            "add-concept",
            "-m",
            "system",
            "-n",
            "odd <\"name\">",
            "-d",
            "a & b -->\nline",
        ],
    );
    for (format, has) in [
        ("json", "\"definition\": \"Rows in PostgreSQL\""),
        ("dot", "c1 [label=\"invoices\""),
        ("dot", "\\\"name\\\""),
        ("mermaid", "c0 -->|\"depends_on\"| c1"),
        ("mermaid", "odd #lt;#quot;name#quot;#gt;"),
        ("ascii", "│   └── invoices (part_of): Rows in PostgreSQL"),
        ("ascii", "depends_on → invoices"),
        (
            "markdown",
            "## invoices\n\n> Rows in PostgreSQL\n\n- labels: kind:data, team:billing",
        ),
        (
            "graphml",
            "<data key=\"definition\">a &amp; b --&gt;\nline</data>",
        ),
    ] {
        let out = world
            .icm(["memoir", "export", "-m", "system", "-f", format])
            .ok()
            .out;
        assert!(out.contains(has), "{format}: {out}");
    }
    let file = world.path("graph.dot");
    let file = file.to_str().unwrap();
    world
        .icm(["memoir", "export", "-m", "system", "-f", "dot", "-o", file])
        .ok();
    assert!(
        std::fs::read_to_string(file)
            .unwrap()
            .starts_with("digraph \"system\" {")
    );
}

#[test]
fn a_concept_knows_the_memories_it_is_taken_from() {
    let world = World::with_memories();
    memoir(&world, &["create", "-n", "system"]);
    let source = world.id("database");
    let add = [
        "add-concept",
        "-m",
        "system",
        "-n",
        "db",
        "-d",
        "PostgreSQL",
        "-s",
        &source,
    ];
    memoir(&world, &add);
    let again = [
        "refine",
        "-m",
        "system",
        "-n",
        "db",
        "-d",
        "PostgreSQL 17",
        "-s",
        &source,
    ];
    memoir(&world, &again);
    let other = world.id("money");
    let more = [
        "refine",
        "-m",
        "system",
        "-n",
        "db",
        "-d",
        "PostgreSQL 17",
        "-s",
        &other,
    ];
    memoir(&world, &more);
    let inspect = ["inspect", "-m", "system", "db"];
    let mut sources = [source.clone(), other];
    sources.sort_unstable();
    let shown = memoir(&world, &inspect);
    let mut found: Vec<_> = shown["sources"].as_array().unwrap().iter().collect();
    found.sort_by_key(|it| it.as_str());
    assert_eq!(
        found,
        sources.iter().map(String::as_str).collect::<Vec<_>>()
    );
    assert_eq!(shown["links"], serde_json::json!([]));
    // The memory says nothing of it, and no recall of memories brings a concept.
    assert!(world.json(["get", &source]).get("related").is_none());
    let recalled = world.json(["recall", "invoices PostgreSQL"]);
    let topics: Vec<_> = recalled["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["topic"])
        .collect();
    assert!(topics.iter().all(|topic| *topic != "system"), "{topics:?}");
    world.icm(["forget", &source]).ok();
    assert_eq!(
        memoir(&world, &inspect)["sources"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn an_export_has_sources_history_labels_and_reasons() {
    let world = World::with_memories();
    memoir(
        &world,
        &["create", "-n", "system", "-d", "How billing hangs together"],
    );
    let (kept, taken) = (world.id("database"), world.id("money"));
    let sources = format!("{kept},{taken}");
    for (name, definition) in [("db", "PostgreSQL"), ("api", "The front")] {
        memoir(
            &world,
            &[
                "add-concept",
                "-m",
                "system",
                "-n",
                name,
                "-d",
                definition,
                "-L",
                "kind:it",
                "-s",
                &sources,
            ],
        );
    }
    memoir(
        &world,
        &["refine", "-m", "system", "-n", "db", "-d", "PostgreSQL 17"],
    );
    memoir(
        &world,
        &[
            "link",
            "-m",
            "system",
            "--from",
            "api",
            "--to",
            "db",
            "-r",
            "depends_on",
            "--reason",
            "every \"call\" reads",
        ],
    );
    link(&world, "link", "api", "db", "caused_by");
    link(&world, "link", "db", "api", "contradicts");
    world.icm(["--yes", "redact", &taken]).ok();

    // What was taken out is told of as that.
    let seen = memoir(&world, &["inspect", "-m", "system", "db"]);
    assert_eq!(seen["sources"], serde_json::json!([kept]));
    assert_eq!(seen["sources_withheld"], serde_json::json!([taken]));
    let said = world
        .icm(["memoir", "inspect", "-m", "system", "db"])
        .ok()
        .out;
    assert!(
        said.contains(&format!("from {kept}, {taken} (withheld)")),
        "{said}"
    );
    assert!(
        said.contains("depends_on db (every \"call\" reads)"),
        "{said}"
    );
    // Of a neighbour every relation.
    assert!(
        said.contains("→ contradicts, ← caused_by, ← depends_on"),
        "{said}"
    );
    let relations = &seen["around"][0]["relations"];
    assert_eq!(relations.as_array().map(Vec::len), Some(3), "{seen}");
    assert_eq!(relations[2]["relation"], "depends_on");
    assert_eq!(relations[2]["direction"], "in");
    let with_reason = seen["links"].as_array().unwrap().iter();
    let with_reason: Vec<_> = with_reason
        .filter(|link| !link["reason"].is_null())
        .collect();
    assert_eq!(with_reason.len(), 1);
    assert_eq!(with_reason[0]["reason"], "every \"call\" reads");

    let whole = memoir(&world, &["export", "-m", "system"]);
    let db = &whole["concepts"][1];
    assert_eq!(db["name"], "db");
    assert_eq!(db["definitions"][0]["definition"], "PostgreSQL");
    assert_eq!(db["definitions"][1]["revision"], 2);
    assert_eq!(db["sources"], serde_json::json!([kept]));
    assert_eq!(db["sources_withheld"], serde_json::json!([taken]));
    assert_eq!(whole["links"][1]["reason"], "every \"call\" reads");
    for (format, has) in [
        ("dot", "label=\"How billing hangs together\";"),
        ("dot", "xlabel=\"kind:it\""),
        ("dot", "tooltip=\"every \\\"call\\\" reads\""),
        ("mermaid", "accDescr: How billing hangs together"),
        ("mermaid", "[\"api<br/>kind:it\"]"),
        ("ascii", "system: How billing hangs together\n"),
        ("ascii", "PostgreSQL 17 [kind:it]"),
        ("markdown", "- revision 2, confidence 0.60\n"),
        ("markdown", "- depends_on: db (every \"call\" reads)"),
        (
            "graphml",
            "<data key=\"reason\">every &quot;call&quot; reads</data>",
        ),
        (
            "graphml",
            "<data key=\"description\">How billing hangs together</data>",
        ),
    ] {
        let out = world.icm(["memoir", "export", "-m", "system", "-f", format]);
        let out = out.ok().out;
        assert!(out.contains(has), "{format}: {out}");
    }
    for format in ["markdown", "graphml"] {
        let out = world.icm(["memoir", "export", "-m", "system", "-f", format]);
        let out = out.ok().out;
        assert!(
            out.contains(&format!("{kept}, {taken} (withheld)")),
            "{format}: {out}"
        );
    }
}

#[test]
fn a_memoir_changes_with_what_is_in_it() {
    let world = system();
    let updated = |at: &[&str]| {
        let list = memoir(&world, &[["list"].as_slice(), at].concat());
        let at = list["memoirs"][0]["updated_at"]
            .as_str()
            .unwrap()
            .to_owned();
        let show = memoir(&world, &["show", "system"]);
        (at, show["updated_at"].as_str().unwrap().to_owned())
    };
    let (first, then) = (updated(&[]), world.now());
    assert_eq!(first.0, first.1);
    let mut last = first.0.clone();
    for change in [
        ["refine", "-m", "system", "-n", "api", "-d", "Another"].as_slice(),
        &["label", "-m", "system", "-n", "api", "-L", "new"],
        &["delete-concept", "-m", "system", "-n", "api"],
        &["describe", "-n", "system", "-d", "Another"],
    ] {
        memoir(&world, change);
        let now = updated(&[]);
        assert_eq!(now.0, now.1, "{change:?}");
        assert!(now.0 > last, "{change:?}: {now:?} after {last}");
        last = now.0;
    }
    assert_eq!(updated(&["--at", &then]).0, first.0);
    world.icm(["rebuild"]).ok();
    assert_eq!(updated(&[]).0, last);
}

#[test]
fn two_concepts_in_each_others_place_are_warned_of() {
    let world = system();
    let first = link(&world, "link", "api", "invoices", "superseded_by");
    assert!(first.get("warnings").is_none(), "{first}");
    let args = [
        "memoir",
        "link",
        "-m",
        "system",
        "--from",
        "invoices",
        "--to",
        "api",
        "-r",
        "superseded_by",
    ];
    let said = world.icm(args).ok();
    let unlink = "icm memoir unlink -m 'system' --from 'api' --to 'invoices' -r superseded_by";
    assert!(said.err.contains(unlink), "{}", said.err);
    let again = link(&world, "link", "invoices", "api", "superseded_by");
    assert_eq!(again["action"], "unchanged");
    assert_eq!(again["warnings"].as_array().map(Vec::len), Some(1));
    link(&world, "unlink", "api", "invoices", "superseded_by");
    let alone = link(&world, "link", "invoices", "api", "superseded_by");
    assert!(alone.get("warnings").is_none(), "{alone}");
}

#[test]
fn bad_input_is_told_in_a_line() {
    let world = system();
    let events = world.json(["stats"])["events"].clone();
    for (args, words) in [
        (
            ["memoir", "create", "-n", "system"].as_slice(),
            "a memoir `system` already",
        ),
        (&["memoir", "create", "-n", "a/"], "ends with `/`"),
        (
            &["memoir", "create", "-n", " "],
            "the memoir's name is empty",
        ),
        (&["memoir", "show", "systm"], "no memoir systm"),
        (
            &["memoir", "inspect", "-m", "system", "invoces"],
            "no concept invoces",
        ),
        (
            &["memoir", "search", "-m", "system", "", "-L", ""],
            "the query is empty",
        ),
        (
            &["memoir", "search", "-m", "system", "rows", "-L", " "],
            "the label is empty",
        ),
        (
            &[
                "memoir", "label", "-m", "system", "-n", "api", "-a", "x", "-r", "x,y",
            ],
            "the label `x` is to be added and taken away",
        ),
        (
            &["memoir", "inspect", "-m", "system", "api", "-D", "11"],
            "from 0 to 10",
        ),
        (
            &[
                "memoir",
                "add-concept",
                "-m",
                "system",
                "-n",
                "api",
                "-d",
                "x",
            ],
            "has a concept `api` already",
        ),
        (
            &["memoir", "add-concept", "-m", "no", "-n", "api", "-d", "x"],
            "no memoir no",
        ),
        (
            &[
                "memoir",
                "refine",
                "-m",
                "system",
                "-n",
                "api",
                "-d",
                "x",
                "--confidence",
                "1.5",
            ],
            "from 0 to 1",
        ),
        (
            &[
                "memoir", "label", "-m", "system", "-n", "api", "-a", "kind:",
            ],
            "is no label",
        ),
        (
            &[
                "memoir", "link", "-m", "system", "--from", "api", "--to", "api", "-r", "refines",
            ],
            "cannot be linked to itself",
        ),
        (
            &[
                "memoir", "link", "-m", "system", "--from", "api", "--to", "invoices", "-r", "eats",
            ],
            "`eats` is no relation",
        ),
        (
            &[
                "memoir",
                "create",
                "-n",
                "k",
                "-d",
                "password = hunter2hunter2X9",
            ],
            "looks like a secret",
        ),
    ] {
        let code = if words.starts_with("no ") { 1 } else { 2 };
        world.icm(args).fails(code, words);
    }
    assert_eq!(world.json(["stats"])["events"], events);
    // Nothing is made by asking.
    let empty = World::new();
    empty.icm(["memoir", "show", "x"]).fails(1, "no memoir x");
    assert!(!empty.store().exists());
    assert_eq!(memoir(&empty, &["list"])["memoirs"], serde_json::json!([]));

    // A concept is no memory, and a memory's commands say so.
    let id = memoir(&world, &["inspect", "-m", "system", "api"])["concept"]["id"].clone();
    let id = id.as_str().unwrap();
    for verb in ["get", "forget", "revive"] {
        world
            .icm([verb, id])
            .fails(2, "is the concept `api` of memoir `system`, not a memory");
    }
    let by_id = memoir(&world, &["inspect", "-m", "system", id]);
    assert_eq!(by_id["concept"]["name"], "api");
}

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
    // Again: now it is so.
    world
        .icm(["--yes", "redact", whole.as_str().unwrap()])
        .fails(1, "redacted already");
}
