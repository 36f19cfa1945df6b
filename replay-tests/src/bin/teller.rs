//! Stores numbered memories for ever, redacts each fourth again, and prints each change once it is acknowledged.
//! `tests/snapshots.rs` kills it.
//!
//! `teller DIR NAME`
#![allow(clippy::print_stdout, reason = "its parent reads what it prints")]

use std::io::Write;
use std::path::Path;

use icm_api::{Caller, RedactRequest, StoreRequest};
use replay_tests::store::open_here;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, name] = &arguments[..] else {
        panic!("teller DIR NAME")
    };
    let service = open_here(Path::new(dir)).expect("it opens");
    let caller = Caller::default();
    let mut out = std::io::stdout().lock();
    let mut say = |line: String| {
        writeln!(out, "{line}")
            .and_then(|()| out.flush())
            .expect("somebody reads");
    };
    for number in 0_u64.. {
        // A word that no other text has.
        let word = format!("{name}x{number}x");
        let request = StoreRequest::new(name.clone(), format!("The word of the day is {word}"));
        let receipt = service.store(&caller, request).expect("it stores");
        say(format!("stored {} {word}", receipt.id));
        if number % 4 == 3 {
            let request = RedactRequest {
                targets: vec![receipt.id.clone()],
                ..RedactRequest::default()
            };
            service.redact(&caller, &request).expect("it redacts");
            say(format!("redacted {} {word}", receipt.id));
        }
    }
}
