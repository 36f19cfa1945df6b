//! A simulated environment: clock and randomness without chance.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use icm_log::env::Env;

use crate::rng::Rng;

/// 2026-01-01T00:00:00Z, the start of every test.
pub const START_MS: u64 = 1_767_225_600_000;

/// A clock that only the test moves, and seeded randomness.
#[derive(Debug)]
pub struct SimEnv {
    now_ms: AtomicU64,
    rng: Mutex<Rng>,
    machine: String,
}

impl SimEnv {
    /// Returns the environment of `seed`.
    pub fn new(seed: u64) -> SimEnv {
        SimEnv {
            now_ms: AtomicU64::new(START_MS),
            rng: Mutex::new(Rng::new(seed)),
            machine: "machine of the tests".to_owned(),
        }
    }

    /// Moves the clock, forwards or back.
    pub fn advance_ms(&self, by: i64) {
        let now = self.now_ms.load(Ordering::Relaxed);
        self.now_ms
            .store(now.saturating_add_signed(by), Ordering::Relaxed);
    }
}

impl Env for SimEnv {
    fn now_ms(&self) -> u64 {
        self.now_ms.load(Ordering::Relaxed)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.rng.lock().expect("filling does not panic").fill(bytes);
    }

    fn machine_id(&self) -> Option<String> {
        Some(self.machine.clone())
    }
}
