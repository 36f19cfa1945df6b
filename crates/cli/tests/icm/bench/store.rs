//! Foreign questions.

use serde_json::{Value, json};

use super::{lines, rankings};
use crate::world::{Look, World};

/// Every store of a folder is asked the questions of the others, without the names of speakers.
#[test]
fn stores_are_asked_what_others_know() {
    let world = World::new();
    std::fs::create_dir(world.path("talk")).unwrap();
    std::fs::create_dir(world.path("notes")).unwrap();
    for (name, who, what) in [("one", "Ada", "violin"), ("two", "Grace Hopper", "heron")] {
        let said = [
            format!("{who}: I saw a {what}"),
            format!("{who}: goodbye then"),
        ];
        let memories: Vec<Value> = said
            .iter()
            .zip(1..)
            .map(|(said, n)| json!({ "key": format!("D{n}"), "topic": "s1", "content": said }))
            .collect();
        world.write(&format!("talk/{name}.memories.jsonl"), lines(&memories));
        let question = format!("When did {who} see her {what}?");
        let asked = [
            json!({ "query": question, "evidence": ["D1"] }),
            json!({ "query": "who knows", "evidence": [] }),
        ];
        world.write(&format!("talk/{name}.questions.jsonl"), lines(&asked));
    }
    let notes: Vec<Value> = ["marble", "copper", "linen"]
        .iter()
        .zip(0..)
        .map(|(what, n)| json!({ "key": what, "topic": format!("notes-{n}-0"), "content": format!("{what} is dear") }))
        .collect();
    world.write("notes/stuff.memories.jsonl", lines(&notes));
    let asked = ["marble", "copper"]
        .map(|what| json!({ "query": format!("is {what} dear"), "evidence": [what] }));
    world.write("notes/stuff.questions.jsonl", lines(&asked));

    let report = world.json("bench recall talk notes --rankings r.jsonl");
    assert_eq!(
        (&report["stores"], &report["memories"], &report["questions"]),
        (&json!(3), &json!(7), &json!(4)),
        "halves are no stores of their own"
    );
    let mut foreign: Vec<[String; 4]> = rankings(&world, "r.jsonl")
        .iter()
        .filter(|ranking| ranking["foreign"] == true)
        .map(|ranking| {
            ["set", "store", "from", "query"].map(|name| ranking[name].as_str().unwrap().to_owned())
        })
        .collect();
    foreign.sort();
    let expected = [
        ["notes", "stuff", "notes/stuff", "is copper dear"],
        ["notes", "stuff", "notes/stuff", "is marble dear"],
        [
            "notes",
            "stuff",
            "talk/one",
            "When did someone see her violin?",
        ],
        [
            "notes",
            "stuff",
            "talk/two",
            "When did someone see her heron?",
        ],
        ["talk", "one", "notes/stuff", "is copper dear"],
        ["talk", "one", "notes/stuff", "is marble dear"],
        ["talk", "one", "talk/two", "When did someone see her heron?"],
        ["talk", "two", "notes/stuff", "is copper dear"],
        ["talk", "two", "notes/stuff", "is marble dear"],
        [
            "talk",
            "two",
            "talk/one",
            "When did someone see her violin?",
        ],
    ];
    assert_eq!(foreign, expected);
    let of = |set: &Value| {
        [
            &set["fit"]["same_set"]["of"],
            &set["fit"]["other_set"]["of"],
        ]
        .map(|of| of.as_u64().unwrap())
    };
    assert_eq!(of(&report["sets"][0]), [2, 4]);
    assert_eq!(of(&report["sets"][1]), [2, 2]);
    assert_eq!(of(&report["all"]), [4, 6]);
    // `marble is dear` shares only `dear` with `linen` and `copper`, so each half answers a question of the other.
    assert_eq!(report["sets"][1]["fit"]["curve"][0]["same_set"], 1.0);

    let report = world.json("bench recall talk notes --no-foreign");
    assert_eq!(of(&report["all"]), [0, 0]);
}

/// With a floor only fitting results are scored; the scores of the fit are computed without it.
#[test]
fn a_floor_leaves_out_what_fits_less() {
    let world = World::new();
    let memories = [
        json!({ "key": "heron", "topic": "a", "content": "the heron stood in the pond at noon" }),
        json!({ "key": "violin", "topic": "b", "content": "a violin lies in the attic" }),
    ];
    world.write("c.memories.jsonl", lines(&memories));
    let questions = [
        json!({ "query": "the heron stood in the pond at noon", "evidence": ["heron"] }),
        json!({ "query": "opening hours of the violin repair shop on Tuesday", "evidence": ["violin"] }),
    ];
    world.write("c.questions.jsonl", lines(&questions));
    let ask = |floor: f64| {
        let floor = format!("--floor={floor}");
        let args = [
            "bench",
            "recall",
            "c.memories.jsonl",
            "--no-foreign",
            "--rankings",
            "r.jsonl",
        ];
        let report = world.json((&args, [&floor]));
        let keys: Vec<Vec<Value>> = rankings(&world, "r.jsonl")
            .iter()
            .map(|ranking| {
                ranking["ranked"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|hit| hit["key"].clone())
                    .collect()
            })
            .collect();
        (report, keys)
    };
    let (open, _) = ask(0.0);
    assert_eq!(open["all"]["any_at"]["1"]["mean"], 1.0);
    let firsts = rankings(&world, "r.jsonl");
    let [exact, vague] = [0, 1].map(|n| firsts[n]["ranked"][0]["fit"].as_f64().unwrap());
    assert!(vague < exact, "{vague} and {exact}");

    let floor = f64::midpoint(vague, exact);
    let (report, keys) = ask(floor);
    assert_eq!(keys, [vec![json!("heron")], vec![]]);
    assert_eq!(report["floor"], floor);
    for figure in ["any_at", "evidence_at"] {
        assert_eq!(report["all"][figure]["10"]["mean"], 0.5, "{figure}");
    }
    report["all"].has(json!({"/evidence_in_tokens/4000": 0.5, "fit": open["all"]["fit"]}));

    for floor in ["2", "-0.1", "NaN"] {
        let floor = format!("--floor={floor}");
        world
            .icm(format!("bench recall c.memories.jsonl '{floor}'"))
            .fails(2, "it must be from 0 to 1");
    }
}
