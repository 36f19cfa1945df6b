//! Scores: by category, of rankings, of one signal.

use serde_json::json;

use super::{folder, lines, pair, rankings};
use crate::world::{Look, Says, World};

#[test]
fn a_pair_is_scored_by_category_and_overall() {
    let world = World::new();
    pair(&world, "c");
    let mut report = world.json("bench recall . --k 3,1,3 --set ranking.expand=0");
    let latency = report["latency_ms"].take();
    assert!(latency["p50"].as_f64() <= latency["p95"].as_f64());
    assert!(latency["p50"].as_f64() > Some(0.0));
    let sets = report["sets"].take();
    assert_eq!(sets.count(), 1, "{sets}");
    sets[0].has(json!({"name": folder(&world), "n": 4, "latency_ms": latency}));
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
    fit.has(json!({"/own/of": 3, "/same_set/of": 0, "/other_set/of": 0, "/right/of": 3}));
    assert_eq!(fit["curve"].count(), 20);
    let ndcg = report["overall"]["ndcg_at_10"].take().as_f64().unwrap();
    // 1, 1 / (1 + 1/log2(3)) twice, and 0; the mean over four questions.
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
    // Either file names the pair, and the pair is measured once.
    let run = world.icm("bench recall c.questions.jsonl c.memories.jsonl --set ranking.expand=0");
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
    run.out.says("a recall of 20 results: p50 ");
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
    world.ok("bench recall c.memories.jsonl --rankings r.jsonl --only text");
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

/// The text signal finds the memory with the words, the vector signal the one with the same meaning. Without `--only`
/// the weights of the config file count.
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
