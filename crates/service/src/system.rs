//! The clock, randomness and machine id of this process.

use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use icm_log::env::Env;

/// The [`Env`] of this machine.
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
        getrandom::fill(bytes).expect("the operating system gives random bytes");
    }

    fn machine_id(&self) -> Option<String> {
        static MACHINE: LazyLock<Option<String>> = LazyLock::new(machine_id);
        MACHINE.clone()
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
