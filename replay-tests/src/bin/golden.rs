//! Adds missing golden samples; never changes an existing one.
//!
//! `cargo run -p replay-tests --bin golden`
#![allow(clippy::print_stdout, reason = "a tool for developers")]

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use replay_tests::{folder, golden};

fn main() -> io::Result<()> {
    let events = golden::dir().join("events");
    fs::create_dir_all(&events)?;
    for (name, kind) in golden::sample_names() {
        let bytes = golden::sample(kind).expect("every known kind has a sample");
        add(
            &events.join(format!("{name}.hex")),
            golden::to_lines(&bytes).as_bytes(),
        )?;
        let described = golden::describe(&bytes).map_err(io::Error::other)?;
        add(
            &events.join(format!("{name}.json")),
            golden::pretty(&described).as_bytes(),
        )?;
    }
    for name in golden::STORES {
        let dir = golden::dir().join("stores").join(name);
        if !dir.exists() {
            folder::write(&dir, &golden::build(name));
        }
    }
    for name in golden::store_names() {
        let dir = golden::dir().join("stores").join(name);
        let files = golden::store(name);
        let expected = golden::pretty(&golden::describe_store(&files));
        add(&dir.join(golden::EXPECTED), expected.as_bytes())?;
        let bundles = golden::dir().join("bundles");
        fs::create_dir_all(&bundles)?;
        let export = golden::export(&files);
        add(&bundles.join(format!("{name}.icmx")), &export)?;
        let cloudevents = golden::dir().join("cloudevents");
        fs::create_dir_all(&cloudevents)?;
        let lines = golden::cloudevents(&files);
        add(&cloudevents.join(format!("{name}.jsonl")), &lines)?;
        let hash = golden::state_hash(&files);
        add(&dir.join(golden::state_hash_file()), hash.as_bytes())?;
    }
    Ok(())
}

fn add(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => {
            println!("added {}", path.display());
            file.write_all(bytes)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}
