//! Decay and prune: invariant 26, weights against the formula, and the effects of undo and of earlier moments on both.

use std::sync::Arc;

use icm_api::NoProgress;
use icm_log::disk::RealDisk;
use icm_log::env::Env;
use icm_log::facts::MemoryDecayed;
use icm_log::{Durability, Kind, Log, NewEvent, SubjectId};
use proptest::prelude::*;
use replay_tests::judge;
use replay_tests::logbed;
use replay_tests::script::{Command, Run, Script};

const DAY_MS: u64 = 86_400_000;

fn config() -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..judge::config(64)
    }
}

fn steps(run: &mut Run, script: &str) -> String {
    let script: Script = script.parse().expect("a script");
    script.0.iter().map(|command| run.step(command)).collect()
}

fn after(script: &str) -> (Run, String) {
    let mut run = Run::new(0);
    let text = steps(&mut run, script);
    (run, text)
}

fn weight(run: &Run, alias: &str) -> f64 {
    let memory = run.service().get(&run.id(alias), None);
    memory.expect("it was stored").weight
}

fn verified(run: &Run) -> String {
    let report = run.service().verify(&NoProgress).expect("it verifies");
    assert!(report.ok, "{report:#?}");
    report.state_hash.expect("it folds")
}

fn today(run: &Run) -> u64 {
    run.env().now_ms() / DAY_MS
}

/// An action on one memory.
#[derive(Debug, Clone)]
enum Op {
    Days(u64),
    /// A tick with this rate, in thousandths a day.
    Tick(u32),
    Recall,
    Weigh(usize),
    Reopen,
}

const IMPORTANCES: [(&str, f64); 4] = [
    ("low", 2.0),
    ("medium", 1.0),
    ("high", 0.5),
    ("critical", 0.0),
];

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => (0..40_u64).prop_map(Op::Days),
        4 => prop::sample::select(&[0, 5, 50, 50, 600][..]).prop_map(Op::Tick),
        3 => Just(Op::Recall),
        1 => (0..IMPORTANCES.len()).prop_map(Op::Weigh),
        1 => Just(Op::Reopen),
    ];
    prop::collection::vec(op, 1..25)
}

proptest! {
    #![proptest_config(config())]

    /// A weight equals the formula, computed day by day in the simplest way.
    #[test]
    fn weights_are_as_the_formula_says(ops in ops()) {
        let (mut run, _) = after("store $a -t x -c tea");
        let created = today(&run);
        let (mut ticks, mut recalls, mut factor) = (Vec::new(), Vec::new(), 1.0);
        for op in &ops {
            match op {
                Op::Days(days) => run.env().advance_ms((days * DAY_MS) as i64),
                Op::Tick(thousandths) => {
                    let rate = f64::from(*thousandths) / 1000.0;
                    steps(&mut run, &format!("decay --rate {rate}"));
                    ticks.push((today(&run), rate));
                }
                Op::Recall => {
                    steps(&mut run, "recall tea --record");
                    recalls.push(today(&run));
                }
                Op::Weigh(importance) => {
                    let (name, times) = IMPORTANCES[*importance];
                    steps(&mut run, &format!("update $a -i {name}"));
                    factor = times;
                }
                Op::Reopen => _ = steps(&mut run, "settle\nreopen"),
            }
        }
        let last = ticks.iter().map(|(day, _)| *day).max().unwrap_or(0);
        let mut left = 1.0;
        for day in created + 1..=last {
            let next = ticks.iter().map(|(day, _)| *day).filter(|of| *of >= day).min();
            // If several ticks have the same day, the last one counts.
            let (_, rate) = ticks.iter().rev().find(|(of, _)| Some(*of) == next).expect("there is one");
            let seen = recalls.iter().filter(|recall| **recall < day).count();
            left *= 1.0 - (rate * factor / (1.0 + 0.1 * seen as f64)).min(1.0);
        }
        let weight = weight(&run, "$a");
        prop_assert!((weight - left).abs() < 2e-6, "{weight}, not {left}");
    }
}

#[test]
fn a_month_off_is_thirty_days() {
    let recall = "clock +2d\nrecall tea --record\n";
    let (mut daily, _) = after(&format!("store $a -t x -c tea\n{recall}"));
    for _ in 0..30 {
        steps(&mut daily, "clock +1d\ndecay");
    }
    let (mut once, _) = after(&format!("store $a -t x -c tea\n{recall}"));
    assert_eq!(
        steps(&mut once, "clock +30d\ndecay"),
        "decayed to 2026-02-02: 1 at 0.05\n"
    );
    assert_eq!(weight(&daily, "$a"), weight(&once, "$a"));
    assert!((0.2..0.3).contains(&weight(&once, "$a")));
}

/// Invariant 26.
#[test]
fn fifty_runs_in_three_seconds_change_nothing_twice() {
    let (mut run, _) = after("store $a -t x -c tea\nclock +1d\ndecay");
    let (before, weighs) = (run.basis(), weight(&run, "$a"));
    assert_eq!(weighs, 0.95);
    for _ in 0..50 {
        assert_eq!(steps(&mut run, "decay"), "unchanged\n");
        run.env().advance_ms(-940);
    }
    assert_eq!((run.basis(), weight(&run, "$a")), (before, weighs));
    // A second tick with another rate replaces the first one, until it is undone.
    let hash = verified(&run);
    steps(&mut run, "decay --rate 0.5");
    assert_ne!(verified(&run), hash);
    assert_eq!(weight(&run, "$a"), 0.5);
    steps(&mut run, "undo --last 1");
    assert_eq!((weight(&run, "$a"), run.basis().position), (0.95, 6));
    assert_eq!(verified(&run), hash);
    steps(&mut run, "rebuild");
    assert_eq!(verified(&run), hash);
    assert_eq!(weight(&run, "$a"), 0.95);
}

#[test]
fn a_weight_is_as_of_the_basis() {
    let (mut run, _) = after(
        "store $a -t x -c tea\nclock +1d\ndecay\nmark %one\nclock +1d\ndecay\nmark %two\n\
         recall tea --record\nundo --last 2",
    );
    let text = steps(
        &mut run,
        "get $a --at @3\nget $a --at %one\nget $a --at %two\nget $a",
    );
    let weights: Vec<&str> = text
        .lines()
        .map(|line| line.rsplit(' ').next().unwrap_or(""))
        .collect();
    assert_eq!(weights[1..3], ["0.950000", "0.902500"], "{text}");
    assert!(!weights[0].starts_with("0."), "{text}");
    assert_eq!(weight(&run, "$a"), 1.0, "both ticks are undone");
    steps(&mut run, "drop-views");
    let again = steps(
        &mut run,
        "get $a --at @3\nget $a --at %one\nget $a --at %two\nget $a",
    );
    assert_eq!(again, text);
}

#[test]
fn a_recall_that_is_undone_slows_nothing_down() {
    let (mut run, _) =
        after("store $a -t x -c tea\nrecall tea --record\nmark %shown\nclock +10d\ndecay");
    let slowed = weight(&run, "$a");
    steps(&mut run, "undo @4 --only");
    let plain = weight(&run, "$a");
    let (other, _) = after("store $a -t x -c tea\nclock +10d\ndecay");
    assert_eq!(plain, weight(&other, "$a"));
    assert!(slowed > plain);
    steps(&mut run, "undo --last 1");
    assert_eq!(weight(&run, "$a"), slowed);
    verified(&run);
}

#[test]
fn a_tick_from_the_future_is_one_of_its_own_day() {
    let (mut run, _) = after("store $a -t x -c tea\nclock +3d");
    let facts = MemoryDecayed {
        as_of_day: u32::MAX,
        rate_ppm: 100_000,
        critical_ppm: 0,
        high_ppm: 0,
        medium_ppm: 1_000_000,
        low_ppm: 0,
    };
    let event = NewEvent {
        kind: Kind::MEMORY_DECAYED,
        subject: SubjectId::ZERO,
        refs: Vec::new(),
        facts: facts.encode(),
        payload: vec![0x80],
    };
    let log = Log::open(Arc::new(RealDisk), &run.dir()).expect("it opens");
    logbed::append(&log, &**run.env(), vec![event], Durability::Synced).expect("it appends");
    assert_eq!(weight(&run, "$a"), 0.729, "three days");
    assert_eq!(
        steps(&mut run, "clock +1d\ndecay"),
        "decayed to 2026-01-05: 1 at 0.05\n"
    );
    assert_eq!(weight(&run, "$a"), 0.692_55);
}

#[test]
fn a_prune_covers_every_one_and_comes_back_whole() {
    let mut run = Run::new(0);
    for n in 0..600 {
        let importance = ["low", "medium", "high", "critical"][n % 4];
        let line = format!("store $m{n} -t x -c \"zebra {n}\" -i {importance}");
        run.step(&line.parse().expect("a command"));
    }
    steps(&mut run, "clock +50d\ndecay");
    let before = steps(&mut run, "list");
    let hash = verified(&run);
    let position = run.basis().position;
    steps(&mut run, "prune");
    assert_eq!(run.shown().len(), 300);
    assert_eq!(
        run.basis().position,
        position + 2,
        "events, 256 memories each"
    );
    assert_eq!(steps(&mut run, "list").lines().count(), 300);
    verified(&run);
    assert_eq!(steps(&mut run, "prune"), "pruned \n");
    assert_eq!(run.basis().position, position + 2);
    steps(&mut run, "undo --last 1");
    assert_eq!(steps(&mut run, "list"), before);
    assert_eq!(verified(&run), hash);
    run.step(&Command::DropViews);
    assert_eq!(steps(&mut run, "list"), before);
}
