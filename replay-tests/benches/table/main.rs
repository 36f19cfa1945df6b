//! Prints one table: the cost of each path, beside the limit of the machine or a peer, measured in the same run.
//! `docs/benchmarks/run` builds and runs it.
//!
//! `table DIR SECTION…`; the section `prepare` makes the stores in DIR once, for all other sections.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints a table"
)]

mod append;
mod at;
mod carry;
mod clock;
mod cold;
mod data;
mod floor;
mod http;
mod mcp;
mod owner;
mod reads;
mod rebuild;
mod scan;

use std::path::{Path, PathBuf};

/// The rule by which a figure holds.
enum Target {
    /// At most this.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
    /// At most the first holds; the second is the aim.
    Aim { holds: f64, aim: f64 },
    /// None; the figure is for the reader.
    None,
}

/// Prints a row. `judged` is the figure that the target is about.
fn row(path: &str, measured: &str, peer: &str, judged: f64, target: (&str, Target)) {
    let (words, target) = target;
    let holds = match target {
        Target::AtMost(most) => {
            if judged <= most {
                "yes"
            } else {
                "**no**"
            }
        }
        Target::AtLeast(least) => {
            if judged >= least {
                "yes"
            } else {
                "**no**"
            }
        }
        Target::Aim { aim, .. } if judged <= aim => "yes",
        Target::Aim { holds, .. } if judged <= holds => "yes, aim missed",
        Target::Aim { .. } => "**no**",
        Target::None => "",
    };
    let ratio = if judged.is_nan() {
        String::new()
    } else {
        format!("{judged:.2}")
    };
    println!("| {path} | {measured} | {peer} | {ratio} | {words} | {holds} |");
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| a != "--bench")
        .collect();
    let [dir, sections @ ..] = &arguments[..] else {
        panic!("table DIR SECTION…")
    };
    let dir = Path::new(dir);
    for section in sections {
        eprintln!("… {section}");
        match &section[..] {
            "prepare" => data::prepare(dir),
            "header" => {
                println!("| path | measured | limit or peer, same run | ratio | target | holds? |");
                println!("|---|---|---|---|---|---|");
            }
            "append" => append::run(dir),
            "scan" => scan::run(dir),
            "fold" => rebuild::fold(dir),
            "rebuild" => rebuild::run(dir),
            "cold" => cold::run(dir),
            "mcp" => mcp::run(dir),
            "floor" => floor::run(dir),
            // The second process of `floor`.
            "floor-server" => floor::serve(dir),
            "owner" => owner::run(dir),
            "stores" => owner::stores(dir),
            "commands" => owner::commands(dir),
            "takeover" => owner::takeover(dir),
            "many" => owner::many(dir),
            "at" => at::run(dir),
            "carry" => carry::run(dir),
            "reads" => reads::run(dir),
            other => panic!("no section `{other}`"),
        }
    }
}

/// Returns the path of the `icm` built beside this bench.
fn icm() -> PathBuf {
    let bench = std::env::current_exe().expect("this program has a path");
    let release = bench
        .parent()
        .and_then(Path::parent)
        .expect("target/release/deps/table");
    release.join("icm")
}

/// Returns an empty folder for one run.
fn fresh(dir: &Path, name: &str) -> PathBuf {
    let path = dir.join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("it is ours");
    }
    std::fs::create_dir_all(&path).expect("the folder can be written");
    path
}
