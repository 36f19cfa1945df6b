//! Changes of the graph: differences, log and undo.

use serde_json::{Value, json};

use super::{link, memoir, names, system};
use crate::world::{Look, Says};

#[test]
fn changes_of_the_graph_are_compared_and_undone() {
    let world = system();
    let then = world.now();
    world.json("memoir refine -m system -n api -d 'The HTTP and gRPC front'");
    world.json("memoir add-concept -m system -n new -d Something");
    link(&world, "link", "new", "api", "caused_by");
    link(&world, "unlink", "api", "invoices", "depends_on");
    world.ok("memoir delete-concept -m system -n mascot");

    let diff = &world.json(format!("diff '{then}'"))["graph"];
    assert_eq!(names(&diff["added"]), ["new"]);
    assert_eq!(names(&diff["forgotten"]), ["mascot"]);
    diff.has(json!({
        "/changed/0/name": "api", "/changed/0/fields": ["definition", "confidence"],
        "/linked/0/relation": "caused_by", "/unlinked/0/relation": "depends_on",
    }));
    let said = world.out(format!("diff '{then}'"));
    said.says("added      system / new");
    said.says("linked     system / new caused_by api");

    let first = 1 + then[1..].parse::<u64>().unwrap();
    let range = format!("@{first}..{}", world.now());
    let undone = world.icm(format!("--yes undo '{range}' --json"));
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
    api.has(json!({
        "fields": ["definition", "confidence", "revision", "links"],
        "/before/definition": "The HTTP and gRPC front", "/after/labels": ["kind:service"],
    }));
    assert!(api["after"].get("topic").is_none() && api["after"].get("keywords").is_none());
    assert_eq!(of("new")["action"], "gone");
    assert_eq!(of("mascot")["action"], "back");
    let again = world.json(format!("diff '{then}'"));
    assert!(again.get("graph").is_none(), "{again}");
    let api = world.json("memoir inspect -m system api");
    api["concept"].has(json!({"definition": "The HTTP front for customers", "revision": 1}));
    world.ok("verify");
}

#[test]
fn the_log_says_which_link_was_taken_away() {
    let world = system();
    let id = |name: &str| {
        let seen = world.json(format!("memoir inspect -m system '{name}'"));
        seen["concept"]["id"].as_str().unwrap().to_owned()
    };
    link(&world, "unlink", "api", "invoices", "depends_on");
    let log = world.out("log --kind concept.unlinked");
    let said = format!("depends_on {}", id("invoices"));
    log.says(&said);
    let detail = world.json(format!("log show {}", world.now()));
    detail.has(json!({"/facts/other": id("invoices"), "subject": id("api")}));
    let text = world.out(format!("log show {}", world.now()));
    text.says(&said);
}

#[test]
fn a_memoir_is_compared_told_of_and_undone_by_its_name() {
    let world = system();
    let then = world.now();
    world.json("memoir create -n other");
    world.json("memoir add-concept -m other -n api -d 'Not this one'");
    world.ok("store -t system -c 'A memory of that name'");
    world.json("memoir refine -m system -n api -L new:one");
    world.json("memoir add-concept -m system -n gate -d 'Lets in'");
    link(&world, "link", "gate", "api", "part_of");
    link(&world, "link", "invoices", "gate", "depends_on");

    let diff = world.json(format!("diff '{then}' --memoir system"));
    assert_eq!(diff["added"], serde_json::json!([]));
    assert_eq!(names(&diff["graph"]["added"]), ["gate"]);
    diff["graph"]["changed"][0].has(json!({"memoir": "system", "fields": ["labels"]}));
    assert_eq!(diff["graph"]["linked"].count(), 2);
    assert!(
        diff["graph"]["memoirs_added"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    let said = world.out(format!("diff '{then}' --memoir system"));
    said.says("labels: +new:one");
    world.fails(format!(
        "diff '{then}' --memoir systm => 1: no memoir systm"
    ));

    let since = format!("@{}", 1 + then[1..].parse::<u64>().unwrap());
    let log = world.icm(format!("log --memoir system --since '{since}' --json"));
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

    // An undone concept takes its links with it, and the preview names them.
    let added = world.icm("log --memoir system --kind concept.added -l 1 --json");
    let added: Value = serde_json::from_str(added.ok().out.trim()).unwrap();
    let added = format!("@{}", added["position"]);
    let plan = world.json(format!("undo '{added}' --dry-run"));
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
    let said = world.out(format!("undo '{added}' --dry-run"));
    said.says("- part_of api");
    said.says("- invoices depends_on");

    let undo = [
        "--yes", "undo", "--memoir", "system", "--since", &since, "--json",
    ];
    let undone = world.icm(undo).ok().json();
    undone.has(json!({"selector": format!("--memoir system --since {since}"), "events": 4}));
    let left = world.json(format!("diff '{then}'"));
    assert_eq!(names(&left["graph"]["memoirs_added"]), ["other"]);
    assert_eq!(names(&left["graph"]["added"]), ["api"]);
    assert_eq!(left["graph"]["linked"], serde_json::json!([]));
    assert_eq!(left["added"].count(), 1);
    world.fails("undo --memoir system -t system --dry-run => 2: cannot be used with");
}

#[test]
fn a_memoir_changes_with_what_is_in_it() {
    let world = system();
    let updated = |at: &[&str]| {
        let list = memoir(&world, [["list"].as_slice(), at].concat());
        let at = list["memoirs"][0]["updated_at"]
            .as_str()
            .unwrap()
            .to_owned();
        let show = world.json("memoir show system");
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
    world.ok("rebuild");
    assert_eq!(updated(&[]).0, last);
}
