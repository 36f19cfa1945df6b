//! Makes a store whose memories were written some days ago, to measure decay and prune:
//!
//! ```text
//! cargo run --release -p replay-tests --example aged_data -- DIR MEMORIES DAYS
//! ```
//!
//! Three of four memories are of low importance, which fade twice as fast as medium ones; the others are high.

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use icm_api::{Caller, NoProgress};
use icm_log::env::Env;
use icm_service::{Ground, OpenOptions, Service, SystemEnv};

const DAY_MS: u64 = 86_400_000;

/// The clock of this machine, so many milliseconds ago.
struct Ago(u64);

impl Env for Ago {
    fn now_ms(&self) -> u64 {
        SystemEnv.now_ms() - self.0
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        SystemEnv.fill_random(bytes);
    }

    fn machine_id(&self) -> Option<String> {
        SystemEnv.machine_id()
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().expect("DIR is missing"));
    let mut number = |what: &str| -> u64 {
        let given = args.next().and_then(|text| text.parse().ok());
        given.unwrap_or_else(|| panic!("{what} is missing"))
    };
    let (memories, days) = (number("MEMORIES"), number("DAYS"));
    let options = OpenOptions {
        dir,
        lock_wait: Duration::from_secs(5),
        read_only: false,
    };
    let ground = Ground {
        env: Arc::new(Ago(days * DAY_MS)),
        ..Ground::system()
    };
    let service = Service::open_on(options, ground).expect("a folder for a store");
    let line = |n: u64| {
        let importance = if n.is_multiple_of(4) { "high" } else { "low" };
        format!(
            "{{\"topic\":\"project-{}\",\"content\":\"note {n}: part {} is kept in hall {}\",\
             \"importance\":\"{importance}\"}}\n",
            n % 50,
            n % 997,
            n % 31
        )
    };
    let lines: String = (0..memories).map(line).collect();
    let files = vec![("lines".to_owned(), Box::new(Cursor::new(lines)) as _)];
    let report = service.import_jsonl(&Caller::default(), files, false, &NoProgress);
    assert_eq!(report.expect("it imports").added, memories);
}
