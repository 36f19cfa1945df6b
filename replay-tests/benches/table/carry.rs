//! Measures carrying a million events to another machine, and one more event through a folder.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;

use crate::clock::cpu_of_children;
use crate::{Target, data, fresh, icm, row};

/// The cost of a command: seconds of wall time and of CPU, and its answer.
struct Cost {
    wall: f64,
    cpu: f64,
    answer: Value,
}

fn timed(db: &Path, words: &[&str]) -> Cost {
    let before = cpu_of_children();
    let start = Instant::now();
    let output = Command::new(icm())
        .arg("--db")
        .arg(db)
        .args(words)
        .arg("--json")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("it starts");
    let wall = start.elapsed().as_secs_f64();
    assert!(output.status.success(), "{words:?}: {output:?}");
    Cost {
        wall,
        cpu: (cpu_of_children() - before).as_secs_f64(),
        answer: serde_json::from_slice(&output.stdout).expect("it is JSON"),
    }
}

pub(crate) fn run(dir: &Path) {
    let store = data::million(dir);
    let carried = fresh(dir, "carried");
    let (other, third) = (carried.join("other"), carried.join("third"));
    let file = carried.join("all.icmx");
    let file = file.to_str().expect("a path of ours is text");
    let told = |path: &str, cost: &Cost, events: f64, peer: &str| {
        let rate = events / cost.cpu / 1e6;
        row(
            path,
            &format!("{:.1} s wall, {:.1} s CPU", cost.wall, cost.cpu),
            peer,
            rate,
            ("told (M events/s CPU)", Target::None),
        );
    };

    let verified = timed(&store, &["log", "verify"]);
    let events = verified.answer["events"].as_f64().expect("a number");
    let export = timed(&store, &["log", "export", file]);
    let bytes = export.answer["bytes"].as_f64().expect("a number");
    let import = timed(&other, &["log", "import", file]);
    assert_eq!(import.answer["added"].as_f64(), Some(events));
    let again = timed(&other, &["log", "import", file]);
    assert_eq!(again.answer["added"].as_f64(), Some(0.0));
    let folded = timed(&other, &["verify"]);
    let here = timed(&store, &["verify"]);
    assert_eq!(folded.answer["state_hash"], here.answer["state_hash"]);

    told("`icm log verify`, 1 M events", &verified, events, "");
    let size = format!("a file of {:.0} MB", bytes / 1e6);
    told("`icm log export`, 1 M events", &export, events, &size);
    told(
        "`icm log import` into nothing, 1 M events",
        &import,
        events,
        "",
    );
    told(
        "the same file once more",
        &again,
        events,
        "nothing is added",
    );
    told(
        "`icm verify` of what came: the log and a fresh fold",
        &folded,
        events,
        "",
    );

    let target = carried.join("target");
    std::fs::create_dir(&target).expect("it is made");
    let target = target.to_str().expect("a path of ours is text");
    let first = timed(&store, &["sync", target]);
    told(
        "`icm sync FOLDER`, the first one, 1 M events",
        &first,
        events,
        "",
    );
    let first = timed(&third, &["sync", target]);
    told(
        "`icm sync FOLDER` of a new machine, 1 M events",
        &first,
        events,
        "",
    );
    timed(
        &third,
        &["store", "-t", "notes", "-c", "one more thing to know"],
    );
    timed(&third, &["sync", target]);
    timed(&store, &["sync", target]);
    timed(&store, &["store", "-t", "notes", "-c", "and another one"]);
    let sent = timed(&store, &["sync", target]);
    let received = timed(&third, &["sync", target]);
    let moved = sent.answer["sent"]["bytes"].as_f64().expect("a number");
    let came = received.answer["received"]["bytes"]
        .as_f64()
        .expect("a number");
    row(
        "`icm sync FOLDER` after one store: what is written there",
        &format!(
            "{moved:.0} B; {:.2} s wall, {:.2} s CPU",
            sent.wall, sent.cpu
        ),
        &format!("a store of {events:.0} events"),
        moved / 1024.0,
        ("KiB, not the store: ≤ 64", Target::AtMost(64.0)),
    );
    row(
        "… and read by the other machine",
        &format!(
            "{came:.0} B; {:.2} s wall, {:.2} s CPU",
            received.wall, received.cpu
        ),
        "",
        came / 1024.0,
        ("KiB, not the store: ≤ 64", Target::AtMost(64.0)),
    );
}
