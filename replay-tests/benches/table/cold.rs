//! Measures a recall by a new process against a process that does nothing.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::clock::{cpu_of_children, p50};
use crate::data::{self, Text};
use crate::{Target, row};

const RUNS: usize = 150;

/// Returns microseconds to the first byte of the answer, to its end, and of CPU.
fn timed(command: &mut Command) -> [f64; 3] {
    let before = cpu_of_children();
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut out = child.stdout.take().expect("it is piped");
    let mut bytes = [0; 1];
    let read = out.read(&mut bytes).expect("it reads");
    let answer = start.elapsed();
    let mut rest = Vec::new();
    out.read_to_end(&mut rest).expect("it reads");
    let status = child.wait().expect("it ends");
    let end = start.elapsed();
    assert!(
        status.success() && (read == 0 || !rest.is_empty()),
        "it answers"
    );
    let cpu = cpu_of_children() - before;
    [answer, end, cpu].map(|time| time.as_secs_f64() * 1e6)
}

pub(crate) fn run(dir: &Path) {
    let nothing = dir.join("nothing");
    let store = data::sized(dir, 100_000);
    let mut text = Text::new(5);
    // The columns: nothing, help without a store, recall without and with its record.
    let mut figures: [[Vec<f64>; 3]; 4] = Default::default();
    for run in 0..RUNS + 5 {
        let query = text.query();
        for (column, figures) in figures.iter_mut().enumerate() {
            let mut command = match column {
                0 => Command::new(&nothing),
                _ => Command::new(crate::icm()),
            };
            match column {
                0 => {}
                1 => {
                    command.arg("--version");
                }
                _ => {
                    command.arg("--db").arg(&store).arg("recall").arg(&query);
                }
            }
            if column == 2 {
                command.arg("--no-record");
            }
            let times = timed(&mut command);
            if run >= 5 {
                figures
                    .iter_mut()
                    .zip(times)
                    .for_each(|(all, time)| all.push(time));
            }
        }
    }
    let mut middle = figures.map(|column| column.map(|mut times| p50(&mut times)));
    middle[0][0] = middle[0][1];
    let [nothing, version, quiet, recorded] = middle;
    let peer = format!(
        "empty process {:.0} µs wall, {:.0} µs CPU",
        nothing[1], nothing[2]
    );
    let aim = || {
        (
            "aim ≤ 5×, holds ≤ 10×",
            Target::Aim {
                holds: 10.0,
                aim: 5.0,
            },
        )
    };
    row(
        "`icm --version`, for comparison",
        &format!("{:.0} µs wall, {:.0} µs CPU", version[1], version[2]),
        &peer,
        version[1] / nothing[1],
        ("told", Target::None),
    );
    row(
        "cold `icm recall --no-record`, 100 k memories",
        &format!("{:.0} µs wall, {:.0} µs CPU", quiet[1], quiet[2]),
        &peer,
        quiet[1] / nothing[1],
        aim(),
    );
    row(
        "cold `icm recall`, to the answer, 100 k memories",
        &format!("{:.0} µs wall", recorded[0]),
        &peer,
        recorded[0] / nothing[1],
        aim(),
    );
    row(
        "cold `icm recall`, to the end, recorded",
        &format!("{:.0} µs wall, {:.0} µs CPU", recorded[1], recorded[2]),
        &peer,
        recorded[1] / nothing[1],
        aim(),
    );
}
