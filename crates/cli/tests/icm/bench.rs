//! Measuring recall, on small conversations that are written here.

use serde_json::{Value, json};

use crate::world::World;

/// Lines of JSON.
fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// The name of the folder that a world is in.
fn folder(world: &World) -> String {
    let path = world.path(".").canonicalize().unwrap();
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// The rankings of a file.
fn rankings(world: &World, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(world.path(file)).unwrap();
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().unwrap()
}

/// A conversation of which every word stands in one memory, and questions about it.
fn pair(world: &World, name: &str) {
    let memories: Vec<Value> = ["heron", "violin", "marble"]
        .iter()
        .zip(1..)
        .map(|(word, n)| json!({ "key": format!("D1:{n}"), "topic": "s1", "content": format!("{word}!") }))
        .collect();
    world.write(&format!("{name}.memories.jsonl"), lines(&memories));
    let questions = [
        // Found first.
        json!({ "query": "heron", "category": 1, "evidence": ["D1:1"] }),
        // One of two is found.
        json!({ "query": "violin", "category": 2, "evidence": ["D1:2", "D1:3", "D1:2"] }),
        // Not found.
        json!({ "query": "approval", "category": 2, "evidence": ["D1:3"] }),
        json!({ "query": "who knows", "category": 2, "evidence": [] }),
        // Found, but half of the evidence is no memory.
        json!({ "query": "marble", "category": "odd", "evidence": ["D1:3", "D9:9"] }),
    ];
    world.write(&format!("{name}.questions.jsonl"), lines(&questions));
}

#[test]
fn a_pair_is_scored_by_category_and_overall() {
    let world = World::new();
    pair(&world, "c");
    let mut report = world.json([
        "bench",
        "recall",
        ".",
        "--k",
        "3,1,3",
        "--set",
        "ranking.expand=0",
    ]);
    let latency = report["latency_ms"].take();
    assert!(latency["p50"].as_f64() <= latency["p95"].as_f64());
    assert!(latency["p50"].as_f64() > Some(0.0));
    let sets = report["sets"].take();
    assert_eq!(sets.as_array().map(Vec::len), Some(1), "{sets}");
    assert_eq!(
        (&sets[0]["name"], &sets[0]["n"]),
        (&json!(folder(&world)), &json!(4))
    );
    assert_eq!(sets[0]["latency_ms"], latency);
    let mut all = report["all"].take();
    assert_eq!(all["name"].take(), "all");
    let mut set = sets[0].clone();
    set["name"].take();
    assert_eq!(all, set, "one set is all of them");
    for (figure, mean) in [
        (&all["any_at"]["1"], 0.75),
        (&all["any_at"]["10"], 0.75),
        (&all["evidence_at"]["10"], 0.5),
        (&all["mrr"], 0.75),
    ] {
        assert_eq!(figure["mean"], mean, "{all}");
        assert!(figure["low"].as_f64() < Some(mean), "{all}");
        assert!(figure["high"].as_f64() > Some(mean), "{all}");
    }
    let fit = &all["fit"];
    assert_eq!(fit["own"]["of"], 3, "{fit}");
    assert_eq!(
        (&fit["same_set"]["of"], &fit["other_set"]["of"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(fit["right"]["of"], 3, "{fit}");
    assert_eq!(fit["curve"].as_array().map(Vec::len), Some(20));
    let ndcg = report["overall"]["ndcg_at_10"].take().as_f64().unwrap();
    // 1, 1 / (1 + 1/log2(3)) twice, 0; of four questions.
    assert!((ndcg - 0.556_573_5).abs() < 1e-6, "{ndcg}");
    for (name, scores) in report["categories"].as_object_mut().unwrap() {
        assert!(scores["ndcg_at_10"].take().is_number(), "{name}");
    }
    let scores = |n: u64, skipped: u64, any: f64, all: f64, share: f64| {
        json!({
            "n": n, "skipped": skipped, "mrr": any, "ndcg_at_10": null,
            "any_at": { "1": any, "3": any }, "all_at": { "1": all, "3": all },
            "evidence_at": { "1": share, "3": share },
            "evidence_in_tokens": { "1000": share, "2000": share, "4000": share },
        })
    };
    let expected = json!({
        "stores": 1, "memories": 3, "questions": 4,
        "skipped": { "no_evidence": 1, "abstention": 0 },
        "unknown_evidence": 1, "cut": 0, "limit": 10, "only": null, "latency_ms": null,
        "floor": 0.0, "sets": null, "all": null,
        "overall": scores(4, 1, 0.75, 0.25, 0.5),
        "categories": {
            "1": scores(1, 0, 1.0, 1.0, 1.0),
            "2": scores(2, 1, 0.5, 0.0, 0.25),
            "odd": scores(1, 0, 1.0, 0.0, 0.5),
        },
    });
    assert_eq!(report, expected);
    assert!(!world.store().exists(), "the user's store was touched");
}

#[test]
fn people_get_tables_and_notes() {
    let world = World::new();
    pair(&world, "c");
    // Either file names the pair, and it is measured once.
    let run = world.icm([
        "bench",
        "recall",
        "c.questions.jsonl",
        "c.memories.jsonl",
        "--set",
        "ranking.expand=0",
    ]);
    let run = run.ok();
    for line in [
        "evidence@k  n  skipped      @1      @3      @5     @10     @20",
        "1           1        0  100.00  100.00  100.00  100.00  100.00",
        "2           2        1   25.00   25.00   25.00   25.00   25.00",
        "all         4        1   50.00   50.00   50.00   50.00   50.00",
    ] {
        assert!(run.out.lines().any(|l| l == line), "{line}\n{}", run.out);
    }
    let first: Vec<&str> = run.out.lines().take(2).collect();
    let [head, row] = first[..] else {
        panic!("{}", run.out)
    };
    let names: Vec<&str> = head.split_whitespace().take(7).collect();
    assert_eq!(
        names,
        ["set", "n", "any@1", "any@5", "any@10", "evidence@10", "MRR"]
    );
    let cells: Vec<&str> = row
        .split("  ")
        .map(str::trim)
        .filter(|cell| !cell.is_empty())
        .collect();
    assert_eq!(&cells[..2], ["c", "4"], "{row}");
    assert!(
        cells[2].starts_with("75.0 [") && cells[2].ends_with(']'),
        "{row}"
    );
    assert!(cells[5].starts_with("50.0 ["), "{row}");
    for title in ["floor ", "fit ", "0.00 ", "0.95 ", "at floor "] {
        assert!(
            run.out.lines().any(|l| l.starts_with(title)),
            "{title}\n{}",
            run.out
        );
    }
    assert!(
        run.out.contains("a recall of 20 results: p50 "),
        "{}",
        run.out
    );
    for words in [
        "4 questions on 3 memories in 1 store; skipped: 1 without evidence, 0 abstentions",
        "note: 1 piece of evidence names no memory: it counts as never found",
    ] {
        assert!(run.err.contains(words), "{words}\n{}", run.err);
    }
}

#[test]
fn rankings_can_be_scored_by_others() {
    let world = World::new();
    pair(&world, "c");
    world
        .icm([
            "bench",
            "recall",
            "c.memories.jsonl",
            "--rankings",
            "r.jsonl",
            "--only",
            "text",
        ])
        .ok();
    let rankings = rankings(&world, "r.jsonl");
    assert_eq!(rankings.len(), 4);
    let mut second = rankings[1].clone();
    let score = second["ranked"][0]["score"].take();
    assert!(score.as_f64() > Some(0.0), "{score}");
    let fit = second["ranked"][0]["fit"].take();
    assert!(fit.is_number(), "{fit}");
    if let Some(result) = second["ranked"][0].as_object_mut() {
        result.remove("features");
    }
    let expected = json!({
        "set": "c", "store": "c", "topic": "s1", "question": "2", "query": "violin", "category": "2", "granularity": null,
        "evidence": ["D1:2", "D1:3"],
        "ranked": [{ "key": "D1:2", "score": null, "fit": null, "tokens": 2 }],
    });
    assert_eq!(second, expected);
    assert_eq!(rankings[2]["ranked"], json!([]));
}

/// Every store of a folder is asked what the others are asked, without the names of those who speak.
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

    let report = world.json(["bench", "recall", "talk", "notes", "--rankings", "r.jsonl"]);
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
    // `marble is dear` has no word of `linen` and `copper` but `dear`, so each half answers what it is not asked for.
    assert_eq!(report["sets"][1]["fit"]["curve"][0]["same_set"], 1.0);

    let report = world.json(["bench", "recall", "talk", "notes", "--no-foreign"]);
    assert_eq!(of(&report["all"]), [0, 0]);
}

/// With a floor only what fits is scored, and what fit is worth is told without one.
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
        let report = world.json([&args[..], &[&floor]].concat());
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
    assert_eq!(report["all"]["evidence_in_tokens"]["4000"], 0.5);
    assert_eq!(report["all"]["fit"], open["all"]["fit"]);

    for floor in ["2", "-0.1", "NaN"] {
        let floor = format!("--floor={floor}");
        world
            .icm(["bench", "recall", "c.memories.jsonl", &floor])
            .fails(2, "it must be from 0 to 1");
    }
}

/// As LongMemEval has it: names give the answer away, and one question is about nothing.
fn long_mem_eval() -> Value {
    let turn = |content: &str, has_answer: bool| json!({ "role": "user", "content": content, "has_answer": has_answer });
    let sessions = json!([
        [turn("I keep bees", false), turn("", true)],
        [
            turn("My violin is old", false),
            turn("I tune it at dawn", true)
        ],
    ]);
    let question = |id: &str, text: &str, evidence: &[&str]| {
        json!({
            "question_id": id, "question_type": "single-session-user", "question": text,
            "answer": 7, "question_date": "2023/05/30 (Tue) 23:40",
            "haystack_session_ids": ["chat_1", "answer_2"],
            "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 12:00"],
            "haystack_sessions": sessions, "answer_session_ids": evidence,
        })
    };
    json!([
        question("q1", "when is the violin tuned", &["answer_2"]),
        question("q2_abs", "which answer is there", &["answer_2"]),
        question("q3", "answer", &["answer_2", "gone_9"]),
    ])
}

#[test]
fn a_long_mem_eval_question_has_a_store_of_its_own() {
    let world = World::new();
    world.write("lme.json", long_mem_eval().to_string());
    let ask = |args: &[&str]| {
        let mut all = vec!["bench", "recall", "lme.json", "--rankings", "r.jsonl"];
        all.extend(args);
        let report = world.json(all);
        let rankings = std::fs::read_to_string(world.path("r.jsonl")).unwrap();
        let first: Value = serde_json::from_str(rankings.lines().next().unwrap()).unwrap();
        let second: Value = serde_json::from_str(rankings.lines().nth(1).unwrap()).unwrap();
        (report, first, second)
    };

    // Turns are marked, so a turn is a memory; one that says nothing is none.
    let (report, first, second) = ask(&[]);
    assert_eq!(report["stores"], 2);
    assert_eq!(report["memories"], 6);
    assert_eq!(report["questions"], 2);
    assert_eq!(
        report["skipped"],
        json!({ "no_evidence": 0, "abstention": 1 })
    );
    assert_eq!(report["unknown_evidence"], 2);
    assert_eq!(first["store"], "lme.json");
    assert_eq!(first["question"], "q1");
    assert_eq!(first["granularity"], "turn");
    assert_eq!(first["evidence"], json!(["answer_2:2", "chat_1:2"]));
    let keys: Vec<&Value> = first["ranked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| &hit["key"])
        .collect();
    assert_eq!(keys, ["answer_2:1", "answer_2:2"]);
    // What a session is called is nothing that can be found.
    assert_eq!(second["query"], "answer");
    assert_eq!(second["ranked"], json!([]));
    assert_eq!(report["categories"]["single-session-user"]["n"], 2);
    assert_eq!(report["categories"]["single-session-user"]["skipped"], 1);

    let (report, first, second) = ask(&["--granularity", "session"]);
    assert_eq!(report["memories"], 4);
    assert_eq!(report["unknown_evidence"], 1);
    assert_eq!(first["granularity"], "session");
    assert_eq!(first["evidence"], json!(["answer_2"]));
    assert_eq!(first["ranked"][0]["key"], "answer_2");
    assert_eq!(second["evidence"], json!(["answer_2", "gone_9"]));
    assert_eq!(report["overall"]["all_at"]["1"], 0.5);
}

#[test]
fn without_marked_turns_a_session_is_a_memory_and_a_long_one_is_cut() {
    let world = World::new();
    let mut questions = long_mem_eval();
    for question in questions.as_array_mut().unwrap() {
        for turn in question["haystack_sessions"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .flat_map(|s| s.as_array_mut().unwrap())
        {
            turn.as_object_mut().unwrap().remove("has_answer");
        }
    }
    // Cut within a character of two bytes.
    questions[0]["haystack_sessions"][0][0]["content"] = format!("a{}", "ж".repeat(40_000)).into();
    world.write("lme.json", questions.to_string());
    let run = world.icm(["bench", "recall", "lme.json"]).ok();
    assert!(
        run.err
            .contains("note: 1 text was longer than a memory may be"),
        "{}",
        run.err
    );
    let report = world.json(["bench", "recall", "lme.json"]);
    assert_eq!(report["memories"], 4);
    assert_eq!(report["cut"], 1);
}

#[test]
fn where_nothing_can_be_asked_the_answer_is_no() {
    let world = World::new();
    world.write(
        "c.memories.jsonl",
        lines(&[json!({ "key": "a", "topic": "t", "content": "x" })]),
    );
    world.write("c.questions.jsonl", lines(&[json!({ "query": "x" })]));
    let run = world
        .icm(["bench", "recall", "c.memories.jsonl", "--json"])
        .ends(1);
    assert_eq!(run.json()["overall"]["n"], 0);
    assert_eq!(run.json()["categories"]["none"]["skipped"], 1);
    assert_eq!(run.json()["overall"]["any_at"]["20"], 0.0);
}

#[test]
fn what_is_wrong_with_the_files_is_named_with_its_place() {
    let world = World::new();
    std::fs::create_dir(world.path("empty")).unwrap();
    world
        .icm(["bench", "recall", "empty"])
        .fails(2, "there is no `NAME.memories.jsonl` in empty");
    world
        .icm(["bench", "recall", "gone"])
        .fails(2, "cannot read gone: No such file");
    world
        .icm(["bench", "recall", "gone.memories.jsonl"])
        .fails(2, "cannot read gone.questions.jsonl");
    world.write("notes.txt", "");
    world
        .icm(["bench", "recall", "notes.txt"])
        .fails(2, "notes.txt is nothing to measure on");

    let good = json!({ "key": "a", "topic": "t", "content": "x" }).to_string();
    let asked = json!({ "query": "x", "evidence": ["a"] }).to_string();
    world.write("alone.memories.jsonl", &good);
    world
        .icm(["bench", "recall", "."])
        .fails(2, "alone.memories.jsonl lacks its ./alone.questions.jsonl");
    std::fs::remove_file(world.path("alone.memories.jsonl")).unwrap();
    world.write("alone.questions.jsonl", &asked);
    world
        .icm(["bench", "recall", "."])
        .fails(2, "alone.questions.jsonl lacks its ./alone.memories.jsonl");

    let twice = json!({ "key": "a", "topic": "other", "content": "y" });
    for (memories, questions, words) in [
        (
            format!("{good}\nnonsense\n"),
            asked.clone(),
            "c.memories.jsonl:2: not JSON",
        ),
        (
            format!("{good}\n{twice}\n"),
            format!("\n{asked}\n"),
            "c.questions.jsonl:2: the evidence `a` names 2 memories",
        ),
        (
            "\n".to_owned(),
            asked.clone(),
            "c.memories.jsonl: no memory is in it",
        ),
        (
            good.clone(),
            format!("{asked}\n[]\n"),
            "c.questions.jsonl:2: not a JSON object",
        ),
        (
            good.clone(),
            "{}".to_owned(),
            "c.questions.jsonl:1: `query` is missing",
        ),
        (
            good.clone(),
            r#"{"query": 1}"#.to_owned(),
            "c.questions.jsonl:1: `query` is not text",
        ),
        (
            good.clone(),
            r#"{"query": " "}"#.to_owned(),
            "c.questions.jsonl:1: the query is empty",
        ),
        (
            good.clone(),
            r#"{"query": "x", "category": []}"#.to_owned(),
            ":1: `category` is neither text nor a number",
        ),
        (
            good.clone(),
            r#"{"query": "x", "evidence": "a"}"#.to_owned(),
            ":1: `evidence` is not a list of keys",
        ),
        (
            good.clone(),
            r#"{"query": "x", "evidence": [1]}"#.to_owned(),
            ":1: a piece of evidence is not text",
        ),
    ] {
        world.write("c.memories.jsonl", memories);
        world.write("c.questions.jsonl", questions);
        world
            .icm(["bench", "recall", "c.memories.jsonl"])
            .fails(2, words);
    }

    let mut short = long_mem_eval();
    short[1]["haystack_session_ids"] = json!(["chat_1"]);
    let mut dated = long_mem_eval();
    dated[0]["haystack_dates"][1] = "tomorrow-ish".into();
    let mut empty = long_mem_eval();
    empty[2]["question"] = "".into();
    let whole = long_mem_eval().to_string();
    for (file, words) in [
        (
            "{}".to_owned(),
            "lme.json:1: after 0 questions: invalid type: map, expected an array of questions",
        ),
        (
            "[{}]".to_owned(),
            "lme.json:1: after 0 questions: missing field `question_id`",
        ),
        (
            whole[..whole.len() - 9].to_owned(),
            "lme.json:1: after 2 questions: ",
        ),
        (
            format!("{whole} x"),
            "lme.json:1: after 3 questions: trailing characters",
        ),
        (
            short.to_string(),
            "lme.json: question 2 (q2_abs): 2 sessions, but 1 ids and 2 dates",
        ),
        (
            dated.to_string(),
            "lme.json: question 1 (q1):2: `tomorrow-ish` is no point in time",
        ),
        (
            empty.to_string(),
            "lme.json: question 3 (q3): the query is empty",
        ),
    ] {
        world.write("lme.json", file);
        world.icm(["bench", "recall", "lme.json"]).fails(2, words);
    }
    assert!(!world.store().exists());
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let world = World::new();
    pair(&world, "c");
    for (args, words) in [
        (vec!["--only", "luck"], "luck"),
        (vec!["--k", "0"], "from 1 to 1000"),
        (
            vec!["--k", "50", "--limit", "20"],
            "the limit is 20, it must be from 50 to 1000",
        ),
        (
            vec!["--limit", "9"],
            "the limit is 9, it must be from 20 to 1000",
        ),
        (
            vec!["--limit", "9", "--k", "1"],
            "the limit is 9, it must be from 10 to 1000",
        ),
        (vec!["--granularity", "turn"], "only of LongMemEval files"),
        (
            vec!["--set", "recall.limit=3"],
            "`recall.limit` changes nothing of what is found",
        ),
        (
            vec!["--set", "ranking.candidates=0"],
            "must be a number from 1 to 10000",
        ),
        (
            vec!["--rankings", "c.questions.jsonl"],
            "c.questions.jsonl is no place for rankings",
        ),
        (
            vec!["--only", "vectors", "--set", "embedding.model=none"],
            "without a model there are no vectors to rank by",
        ),
        (
            vec!["--rankings", "no/such/r.jsonl"],
            "there is no folder no/such",
        ),
    ] {
        let mut all = vec!["bench", "recall", "."];
        all.extend(args);
        world.icm(all).fails(2, words);
    }
    let report = world.json(["bench", "recall", ".", "--k", "500"]);
    assert_eq!(report["limit"], 500);
}

/// Words alone find what has the word, vectors alone what means the same; weights of the config file
/// count where neither is asked for.
#[test]
fn one_signal_alone_finds_what_is_its_own() {
    let world = World::new();
    let memories = [
        json!({ "key": "dog", "topic": "a", "content": "our office dog is called Biscuit" }),
        json!({ "key": "linker", "topic": "b", "content": "the linker fails with E0382" }),
        json!({ "key": "lot", "topic": "c", "content": "the parking lot closes at nine" }),
    ];
    world.write("c.memories.jsonl", lines(&memories));
    let questions = [
        json!({ "query": "name of the pet", "category": "meaning", "evidence": ["dog"] }),
        json!({ "query": "E0382", "category": "words", "evidence": ["linker"] }),
    ];
    world.write("c.questions.jsonl", lines(&questions));
    world.write("words.toml", "[ranking]\nmeaning = 0\n");
    let first = |more: &[&str]| {
        let args = [&["bench", "recall", ".", "--k", "1"], more].concat();
        let report = world.json(args);
        let of = |category: &str| report["categories"][category]["any_at"]["1"].clone();
        (of("meaning"), of("words"))
    };
    assert_eq!(first(&[]), (json!(1.0), json!(1.0)));
    assert_eq!(first(&["--only", "text"]), (json!(0.0), json!(1.0)));
    assert_eq!(first(&["--only", "vectors"]).0, json!(1.0));
    let config = ["--config", "words.toml"];
    assert_eq!(first(&config), (json!(0.0), json!(1.0)));
}

/// A setting is tried on the recalls that the store has recorded, at the moments of their answers.
#[test]
fn recorded_recalls_are_asked_again_with_other_settings() {
    let world = World::new();
    world.icm(["bench", "replay"]).ends(1);
    for (topic, content) in [
        ("a", "the heron stood in the pond"),
        ("a", "nobody saw it leave"),
        ("b", "a bird with long legs waits for fish"),
    ] {
        world.icm(["store", "-t", topic, "-c", content]).ok();
    }
    world.json(["recall", "heron", "-t", "a"]);
    world.json(["recall", "long legs", "-i", "low", "--since", "2020-01-01"]);
    // What is stored since then changes no answer of then.
    world
        .icm(["store", "-t", "a", "-c", "a heron, a heron, a heron"])
        .ok();
    let events = world.json(["stats"])["events"].take();
    let report = world.json(["bench", "replay"]);
    assert_eq!(report["recalls"], 2, "{report}");
    assert_eq!(
        report["since"],
        json!({ "same": 2, "same_first": 2, "same_set": 2, "overlap": 1.0, "of": 2 })
    );
    assert_eq!(report["changed"], json!([]));
    let report = world.json(["bench", "replay", "--set", "ranking.meaning=0"]);
    assert_eq!(report["other"]["of"], 2);
    // Settings that are in force by now are compared with what was shown then.
    world.write("now.toml", "[ranking]\nfloor = 1\n");
    let report = world.json(["--config", "now.toml", "bench", "replay"]);
    assert_eq!(
        report["changed"][0]["went"][0]["content"], "a bird with long legs waits for fish",
        "{report}"
    );
    let args = ["bench", "replay", "--set", "ranking.floor=1", "--last", "2"];
    let report = world.json(args);
    // Nothing is as sure as that.
    assert_eq!(
        (&report["other"]["same"], &report["other"]["overlap"]),
        (&json!(0), &json!(0.0)),
        "{report}"
    );
    let changed = report["changed"].as_array().unwrap();
    assert_eq!(
        (changed.len(), &changed[0]["query"]),
        (2, &json!("long legs"))
    );
    assert_eq!(
        changed[0]["went"][0]["content"],
        "a bird with long legs waits for fish"
    );
    assert_eq!(changed[0]["came"], json!([]));
    assert_eq!(
        world.json(["stats"])["events"],
        events,
        "nothing is recorded"
    );

    world
        .icm(["bench", "replay", "--set", "ranking.neighbors=1"])
        .fails(2, "unknown key `ranking.neighbors`");
    world
        .icm(["bench", "replay", "--set", "ranking.floor"])
        .fails(2, "is no setting");
}

#[test]
fn the_model_in_the_binary_needs_no_embedding_in_advance() {
    let world = World::with_memories();
    let status = world.json(["embed", "--status"]);
    assert_eq!(
        (&status["versions"], &status["embedded"]),
        (&json!(3), &json!(3))
    );
    let report = world.json(["embed"]);
    assert_eq!((&report["new"], &report["dim"]), (&json!(0), &json!(256)));
    let text = world.icm(["embed"]).ok().out;
    assert!(text.contains("3 of 3 versions embedded"), "{text}");
}
