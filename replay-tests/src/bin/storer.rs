//! Appends numbered events to a store for ever and prints each number once it is acknowledged. `tests/kill.rs` kills
//! it.
//!
//! `storer DIR SEED FIRST`
#![allow(clippy::print_stdout, reason = "its parent reads what it prints")]

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use icm_log::disk::RealDisk;
use icm_log::env::Env;
use icm_log::{Batch, CommandId, Durability, Log, RequestKey, SessionId};
use replay_tests::env::SimEnv;
use replay_tests::logbed::numbered;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, seed, first] = &arguments[..] else {
        panic!("storer DIR SEED FIRST")
    };
    let env = SimEnv::new(seed.parse().expect("a number"));
    let log = Log::open(Arc::new(RealDisk), Path::new(dir)).expect("it opens");
    let mut out = std::io::stdout().lock();
    for number in first.parse::<u64>().expect("a number").. {
        env.advance_ms(1);
        let mut command = [0; 16];
        env.fill_random(&mut command);
        let mut writer = log
            .begin(&env, Duration::from_secs(5))
            .expect("its turn comes");
        let events = (0..1 + number % 3).map(|_| numbered(number, 300)).collect();
        writer
            .append(&Batch {
                command: CommandId(command),
                actor: "user",
                session: SessionId::ZERO,
                request: RequestKey::ZERO,
                events,
            })
            .expect("it appends");
        writer.commit(Durability::Synced).expect("it commits");
        writeln!(out, "{number}")
            .and_then(|()| out.flush())
            .expect("somebody reads");
    }
}
