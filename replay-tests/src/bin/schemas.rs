//! Writes `schemas/*.schema.json` from the types of `icm-log`; with `--check` lists the files that differ.
//!
//! `cargo run -p replay-tests --bin schemas [-- --check]`
#![allow(clippy::print_stdout, reason = "a tool for developers")]

use std::process::ExitCode;
use std::{env, fs, io};

use replay_tests::schemas;

fn main() -> io::Result<ExitCode> {
    let stale = schemas::stale()?;
    if env::args().any(|argument| argument == "--check") {
        for name in &stale {
            println!("schemas/{name} is not what the types say");
        }
        return Ok(if stale.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        });
    }
    let current = schemas::current();
    for name in &stale {
        let path = schemas::dir().join(name);
        match current.get(name) {
            Some(text) => fs::write(path, text)?,
            None => fs::remove_file(path)?,
        }
        println!("wrote schemas/{name}");
    }
    Ok(ExitCode::SUCCESS)
}
