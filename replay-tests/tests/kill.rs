//! Kills processes (`kill -9`) that append on the real disk, one at a time and two at a time. Every printed number is
//! there after reopening, whole.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use icm_log::Log;
use icm_log::disk::RealDisk;
use replay_tests::logbed::{self, Seen};
use replay_tests::rng::Rng;

fn spawn(dir: &Path, seed: u64, first: u64) -> Child {
    Command::new(env!("CARGO_BIN_EXE_storer"))
        .arg(dir)
        .args([seed.to_string(), first.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the helper starts")
}

/// Returns the numbers that a killed process printed in whole lines.
fn printed(child: &mut Child) -> Vec<u64> {
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    let (mut numbers, mut line) = (Vec::new(), String::new());
    while out.read_line(&mut line).expect("it is read") > 0 {
        if let Some(number) = line.strip_suffix('\n') {
            numbers.push(number.parse().expect("a number"));
        }
        line.clear();
    }
    numbers
}

fn kill_in_a_loop(processes: u64, rounds: u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = folder.path().join("store");
    let mut rng = Rng::new(processes);
    let mut acknowledged = Vec::new();
    for round in 0..rounds {
        let mut children: Vec<_> = (0..processes)
            .map(|process| spawn(&dir, round * 10 + process, (round * 10 + process) << 32))
            .collect();
        thread::sleep(Duration::from_millis(20 + rng.below(120)));
        for child in &mut children {
            child.kill().expect("it is killed");
            child.wait().expect("it is gone");
        }
        for child in &mut children {
            acknowledged.extend(printed(child));
        }
        let log = Log::open(Arc::new(RealDisk), &dir).expect("it opens");
        assert_eq!(log.refusal(), None);
        let (seen, ended) = logbed::read(&log);
        assert!(ended.is_none(), "{ended:?}");
        logbed::check_chain(&seen).unwrap_or_else(|why| panic!("round {round}: {why}"));
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        for number in seen.iter().filter_map(Seen::number) {
            *counts.entry(number).or_default() += 1;
        }
        for number in &acknowledged {
            let whole = Some(1 + number % 3);
            assert_eq!(
                counts.get(number).copied(),
                whole,
                "round {round}: number {number}"
            );
        }
        let report = log.verify(&mut |_| {}).expect("it verifies");
        assert!(report.ok(), "round {round}: {:?}", report.findings);
    }
    assert!(
        acknowledged.len() as u64 > rounds,
        "{} acknowledged",
        acknowledged.len()
    );
}

#[test]
fn one_process_is_killed_again_and_again() {
    kill_in_a_loop(1, 15);
}

#[test]
fn two_processes_write_at_a_time_and_are_killed() {
    kill_in_a_loop(2, 10);
}
