//! The neighbours of a concept, page by page.

use serde_json::Value;

use crate::world::{Args, Says, World};

fn memoir(world: &World, args: impl Args) -> Value {
    world.json(("memoir", args))
}

#[test]
fn pages_around_a_concept_go_on_until_everything_was_shown() {
    let world = World::new();
    world.json("memoir create -n wheel -d 'It turns'");
    let spokes: Vec<String> = (0..12).map(|n| format!("spoke {n:02}")).collect();
    let add = |name: &str| {
        let concept = [
            "add-concept",
            "-m",
            "wheel",
            "-n",
            name,
            "-d",
            "A part of it",
        ];
        memoir(&world, concept);
    };
    let link = |from: &str, to: &str| {
        let link = [
            "link",
            "-m",
            "wheel",
            "--from",
            from,
            "--to",
            to,
            "-r",
            "depends_on",
        ];
        memoir(&world, link);
    };
    add("hub");
    for spoke in &spokes {
        add(spoke);
        link(spoke, "hub");
    }
    // Links along the rim, so that a second step reaches known concepts.
    for (n, spoke) in spokes.iter().enumerate() {
        link(spoke, &spokes[(n + 1) % spokes.len()]);
    }
    let texts = |list: &Value, field: &str| -> Vec<String> {
        let list = list.as_array().unwrap().iter();
        list.map(|it| it[field].to_string()).collect()
    };
    for depth in ["1", "2"] {
        let whole = ["inspect", "-m", "wheel", "hub", "-D", depth];
        let seen = memoir(&world, whole);
        assert_eq!(seen["truncated"], false);
        assert!(seen.get("next").is_none(), "{seen}");
        let first = [whole.as_slice(), &["-l", "5"]].concat();
        let mut page = memoir(&world, &first);
        let (mut around, mut links, mut pages) = (Vec::new(), Vec::new(), 0);
        loop {
            assert_eq!(page["offset"].as_u64().unwrap_or(0), around.len() as u64);
            around.extend(texts(&page["around"], "name"));
            links.extend(texts(&page["links"], "event"));
            pages += 1;
            let Some(next) = page.get("next").and_then(Value::as_str) else {
                break;
            };
            assert_eq!(page["truncated"], true);
            let next = [first.as_slice(), &["--after", next]].concat();
            page = memoir(&world, &next);
        }
        assert_eq!(pages, 3);
        assert_eq!(around, texts(&seen["around"], "name"));
        let mut every = texts(&seen["links"], "event");
        every.sort();
        links.sort();
        assert_eq!(links, every, "each once, depth {depth}");
    }
    let said = ["memoir", "inspect", "-m", "wheel", "hub", "-l", "5"];
    let run = world.icm(said).ok();
    run.err.says("there are more: `--after ");
    world
        .icm([said.as_slice(), &["--after", "x"]].concat())
        .fails(2, "`x` is no place where what is around a concept goes on");
}
