//! The environment of the log: clock, randomness, machine.
//!
//! Only the edge (server, command line, tests) reads them; all other code gets them as an argument. This makes a replay
//! exact.

/// Clock, randomness and id of the machine.
pub trait Env: Send + Sync {
    /// Returns the milliseconds since 1970-01-01 UTC.
    fn now_ms(&self) -> u64;
    /// Fills `bytes` with random bytes.
    fn fill_random(&self, bytes: &mut [u8]);
    /// Returns an id that differs between machines, if the machine has one.
    fn machine_id(&self) -> Option<String>;
}

/// Returns sixteen random bytes.
pub fn random_16(env: &dyn Env) -> [u8; 16] {
    let mut bytes = [0; 16];
    env.fill_random(&mut bytes);
    bytes
}
