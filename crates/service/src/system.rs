//! The world as it is: the clock, randomness and machine of this process.

use std::cell::RefCell;
use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use icm_log::env::Env;

/// The real [`Env`].
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemEnv;

impl Env for SystemEnv {
    fn now_ms(&self) -> u64 {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        AHEAD.with_borrow_mut(|ahead| ahead.fill(bytes));
    }

    fn machine_id(&self) -> Option<String> {
        static MACHINE: LazyLock<Option<String>> = LazyLock::new(machine_id);
        MACHINE.clone()
    }
}

/// Random bytes that a thread was given ahead: a store takes three ids, and each question to the system costs as much as
/// making one.
struct Ahead {
    bytes: [u8; 512],
    /// So many of them, the last ones, were not given out yet.
    left: usize,
}

thread_local! {
    static AHEAD: RefCell<Ahead> = const {
        RefCell::new(Ahead {
            bytes: [0; 512],
            left: 0,
        })
    };
}

impl Ahead {
    /// Gives each byte to one only.
    fn fill(&mut self, bytes: &mut [u8]) {
        let ask = |bytes: &mut [u8]| {
            getrandom::fill(bytes).expect("the operating system gives random bytes");
        };
        if bytes.len() > self.bytes.len() {
            return ask(bytes);
        }
        if bytes.len() > self.left {
            ask(&mut self.bytes);
            self.left = self.bytes.len();
        }
        let rest = self.left - bytes.len();
        let given = &mut self.bytes[rest..self.left];
        bytes.copy_from_slice(given);
        given.fill(0);
        self.left = rest;
    }
}

fn machine_id() -> Option<String> {
    if let Ok(id) = std::env::var("ICM_MACHINE_ID")
        && !id.is_empty()
    {
        return Some(id);
    }
    ["/etc/machine-id", "/var/lib/dbus/machine-id"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok())
        .map(|id| id.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn random_bytes_are_given_out_once() {
        let mut seen = BTreeSet::new();
        for len in (0..1_000).map(|n| [16, 32, 100, 511, 512, 513, 3_000][n % 7]) {
            let mut bytes = vec![0; len];
            SystemEnv.fill_random(&mut bytes);
            for part in bytes.chunks_exact(8) {
                assert_ne!(part, [0; 8]);
                assert!(seen.insert(part.to_vec()), "{part:?} twice");
            }
        }
    }
}
