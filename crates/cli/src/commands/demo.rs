//! `icm demo`

mod stage;

use std::path::{Path, PathBuf};

use clap::Args;

use crate::app::App;
use crate::error::{CliError, Outcome};
use stage::Stage;

/// About forty memories of a team that builds a shop. The questions and changes of the demo refer to them.
const SAMPLE: &str = include_str!("../../demo/sample.jsonl");

/// Key of the memory that the demo changes, and its new text.
const CHANGED_KEY: &str = "invoice-store";
const NEW_TEXT: &str = "Invoices moved from MongoDB to PostgreSQL 17 in schema billing; \
                        MongoDB is read-only until June and then goes away.";
/// Key of the memory that the demo forgets.
const FORGOTTEN_KEY: &str = "staging-freeze";

/// Take a short tour of icm in a folder of its own
///
/// Runs real commands on a sample of forty memories, and shows them as you would type them: import, recall, update,
/// forget, and a look back at an earlier moment. The store is kept, so you can try more.
#[derive(Debug, Args)]
#[command(after_help = "\
The store is made in the temporary folder, or in the folder of `--db` if it is empty or absent.

Examples:
  icm demo
  icm demo --db /tmp/tour")]
pub(crate) struct DemoArgs {}

pub(crate) fn run(_: DemoArgs, app: &App) -> Result<Outcome, CliError> {
    let folder = work_folder()?;
    let store = match &app.global.db {
        Some(dir) => empty_store(dir)?,
        None => folder.join("store"),
    };
    let sample = folder.join("sample.jsonl");
    std::fs::write(&sample, SAMPLE)
        .map_err(|e| CliError::io(format!("cannot write {}", sample.display()), &e))?;

    let mut stage = Stage::new(app, &folder, &store)?;
    stage.say("A memory whose only truth is a log. Its folder, for what follows:")?;
    stage.show(&format!("cd {}", stage::quote(&folder.to_string_lossy())))?;
    stage.show(&format!(
        "export ICM_DB={}",
        stage::quote(&store.to_string_lossy())
    ))?;

    stage.say("Forty memories of a team that builds a shop:")?;
    stage.run(&["import", "jsonl", "sample.jsonl"])?;
    stage.run(&["topics"])?;

    stage.say("Ask in plain words:")?;
    stage.run(&["recall", "where", "do", "invoices", "live", "-l", "2"])?;

    // The ids differ from run to run, so the demo asks for them.
    let changed = stage.id_of(CHANGED_KEY)?;
    let forgotten = stage.id_of(FORGOTTEN_KEY)?;
    let before = stage.position()?;
    let before = format!("@{before}");

    stage.say("The team moves the invoices, and the memory with them:")?;
    stage.run(&["update", &changed.id, "-c", NEW_TEXT])?;
    let ask = ["recall", "where", "do", "invoices", "live", "-l", "1"];
    stage.run(&ask)?;
    stage.check_first(&ask, &changed.with_content(NEW_TEXT))?;

    stage.say("What no longer matters is forgotten:")?;
    stage.run(&["forget", &forgotten.id])?;
    stage.run_any(&["recall", "autumn campaign", "-t", "releases", "-l", "1"])?;

    stage.say("But nothing is lost. As of the moment before, it is still known:")?;
    stage.run(&[
        "recall",
        "autumn campaign",
        "-t",
        "releases",
        "-l",
        "1",
        "--at",
        &before,
    ])?;

    stage.say("The history of the memory about the invoices:")?;
    stage.run(&["history", &changed.id])?;

    stage
        .say("Everything above is an event of the log, every recall included. The newest ones:")?;
    stage.run_head(5, &["log"])?;

    stage.say("The chain of events is whole, and the memories agree with it:")?;
    stage.run(&["verify"])?;

    stage.say("And this is what an agent would have been told before the move:")?;
    let last = [
        "recall", "where", "do", "invoices", "live", "-l", "1", "--at", &before,
    ];
    stage.run(&last)?;
    stage.check_first(&last, &changed)?;

    stage.end(&folder, &store)?;
    Ok(Outcome::Fine)
}

/// Makes a folder for the sample, and for the store if none is named.
fn work_folder() -> Result<PathBuf, CliError> {
    let temp = std::env::temp_dir();
    let failed = |e| CliError::io(format!("cannot make a folder in {}", temp.display()), &e);
    let mut number = std::process::id();
    loop {
        let folder = temp.join(format!("icm-demo-{number}"));
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {
                number = number.wrapping_add(1);
            }
            Err(e) => return Err(failed(e)),
        }
    }
}

/// Returns the absolute path of the named folder, because the commands run in another folder. The folder must be empty
/// or absent.
fn empty_store(dir: &Path) -> Result<PathBuf, CliError> {
    let failed = |e| CliError::io(format!("cannot read {}", dir.display()), &e);
    match std::fs::read_dir(dir) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                return Err(CliError::invalid(format!("{} is not empty", dir.display()))
                    .with_hint(
                        "the demo changes the store in its folder; name an empty or absent folder",
                    ));
            }
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(failed(e)),
    }
    std::path::absolute(dir).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_what_the_demo_counts_on() {
        let lines: Vec<serde_json::Value> = SAMPLE
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 40);
        let topics: std::collections::BTreeSet<_> = lines
            .iter()
            .map(|line| line["topic"].as_str().unwrap())
            .collect();
        assert_eq!(topics.len(), 6, "{topics:?}");
        for key in [CHANGED_KEY, FORGOTTEN_KEY] {
            assert_eq!(lines.iter().filter(|l| l["key"] == key).count(), 1, "{key}");
        }
        for line in &lines {
            assert!(!line["content"].as_str().unwrap().is_empty(), "{line}");
        }
    }
}
