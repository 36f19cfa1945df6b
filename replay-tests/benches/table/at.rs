//! Measures a recall at an earlier moment against a recall now, in one warm process.

use std::path::Path;

use icm_api::{Caller, RecallRequest};
use icm_service::Service;

use crate::clock::{cpu_s, p50};
use crate::data::{self, AGED, Text, VERSIONS};
use crate::{Target, row};

const QUERIES: usize = 400;

/// Returns the CPU time of a recall, in microseconds.
fn recall(service: &Service, query: &str, at: Option<u64>) -> f64 {
    let request = RecallRequest {
        query: query.to_owned(),
        at: at.map(|position| format!("@{position}")),
        ..Default::default()
    };
    let caller = Caller {
        actor: "user".to_owned(),
        ..Default::default()
    };
    let (seconds, answer) = cpu_s(|| service.recall(&caller, &request).expect("it answers"));
    assert!(!answer.results.is_empty(), "`{query}` finds something");
    seconds * 1e6
}

/// Measures recalls now in two stores by turns, with no work in between that would slow down either.
fn beside(one: &Service, other: &Service) -> (f64, f64) {
    let mut figures: [Vec<f64>; 2] = Default::default();
    let mut text = Text::new(9);
    for run in 0..4 * QUERIES {
        let query = text.query();
        let stores = [(0, one), (1, other)];
        // The second recall finds more of the program in the cache, so the order alternates.
        let order = if run % 2 == 0 { [0, 1] } else { [1, 0] };
        for place in order {
            let (figure, store) = stores[place];
            let time = recall(store, &query, None);
            if run >= QUERIES {
                figures[figure].push(time);
            }
        }
    }
    let [one, other] = figures.map(|mut times| p50(&mut times));
    (one, other)
}

pub(crate) fn run(dir: &Path) {
    let one = data::service(&data::sized(dir, 100_000));
    let few = data::service(&dir.join("aged-1"));
    let many = data::service(&dir.join("aged-10"));
    let newest = |service: &Service| service.basis(None).expect("it is not empty").position;
    let (newest_one, newest_many) = (newest(&one), newest(&many));
    let (plain, aged) = beside(&few, &many);
    let mut figures: [Vec<f64>; 7] = Default::default();
    let mut text = Text::new(8);
    for run in 0..QUERIES + 20 {
        let query = text.query();
        let times = [
            recall(&one, &query, None),
            recall(&one, &query, Some(newest_one - 1)),
            recall(&one, &query, Some(newest_one / 2)),
            recall(&many, &query, None),
            recall(&many, &query, Some(newest_many - 1)),
            recall(&many, &query, Some(newest_many / 2)),
            recall(&many, &query, Some(AGED as u64)),
        ];
        if run >= 20 {
            figures
                .iter_mut()
                .zip(times)
                .for_each(|(all, time)| all.push(time));
        }
    }
    let [
        now,
        before,
        half,
        aged_now,
        aged_before,
        aged_half,
        aged_first,
    ] = figures.map(|mut times| p50(&mut times));
    let told = |path: &str, time: f64, peer: (&str, f64), most: f64| {
        let words = format!("≤ {most}×");
        row(
            path,
            &format!("{time:.0} µs CPU"),
            &format!("{} {:.0} µs", peer.0, peer.1),
            time / peer.1,
            (&words, Target::AtMost(most)),
        );
    };
    told(
        "recall `--at` the event before the last, 100 k memories, 1 version",
        before,
        ("now", now),
        2.0,
    );
    told(
        "recall `--at` half of the log, 100 k memories, 1 version",
        half,
        ("now", now),
        2.0,
    );
    let many = |what: &str| {
        format!(
            "recall `--at` {what}, {} k memories, {VERSIONS} versions",
            AGED / 1_000
        )
    };
    told(
        &many("the event before the last"),
        aged_before,
        ("now", aged_now),
        2.0,
    );
    told(&many("half of the log"), aged_half, ("now", aged_now), 2.0);
    told(
        &many("the end of the first versions"),
        aged_first,
        ("now", aged_now),
        2.0,
    );
    told(
        &format!(
            "recall now, {} k memories, {VERSIONS} versions",
            AGED / 1_000
        ),
        aged,
        ("without history", plain),
        1.1,
    );
}
