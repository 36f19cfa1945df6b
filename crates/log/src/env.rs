//! What the log asks of the world around it. Read only at the edge (server, command line, tests),
//! handed in everywhere else: that is what makes a replay exact.

/// Clock, randomness and the name of the machine.
pub trait Env: Send + Sync {
    /// Milliseconds since 1970-01-01 UTC.
    fn now_ms(&self) -> u64;
    /// Fills `bytes` with random bytes.
    fn fill_random(&self, bytes: &mut [u8]);
    /// What tells this machine from another, if anything does.
    fn machine_id(&self) -> Option<String>;
}

/// Sixteen random bytes.
pub fn random_16(env: &dyn Env) -> [u8; 16] {
    let mut bytes = [0; 16];
    env.fill_random(&mut bytes);
    bytes
}
