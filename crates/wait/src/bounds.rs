//! Times that are worth waiting. A time is listed here once if several places wait for the same kind of thing.

use std::time::Duration;

/// Pause between two looks at something that sends no signal, for a person or a client: 100 ms. Raised, news no longer
/// feels immediate; lowered, an idle process wakes up more often.
pub const LOOK_EVERY: Duration = Duration::from_millis(100);

/// For something that takes no time unless it hangs: 500 ms. Raised, a hook or a command beside a stopped process feels
/// stuck; lowered, a busy machine is taken for a stopped one.
pub const MOMENT: Duration = Duration::from_millis(500);

/// For a step of a hook, while an agent's client waits: 2 s. Raised, the client gives up the hook or makes its user
/// wait; lowered, more work is left to the next hook.
pub const HOOK: Duration = Duration::from_secs(2);

/// For another process of this machine, such as a writer that holds the lock: 5 s. Raised, a command takes longer to say
/// that the store is busy; lowered, it fails beside a large import.
pub const PROCESS: Duration = Duration::from_secs(5);

/// For the other end of a connection, and for a process that writes views or syncs: 10 s. Raised, a silent client keeps
/// its place longer; lowered, slow networks are cut off. Clients kill a server that takes longer to end.
pub const PEER: Duration = Duration::from_secs(10);

/// For an answer that may take work: 30 s. Raised, a peer that hangs is noticed later; lowered, a large request fails.
pub const ANSWER: Duration = Duration::from_secs(30);

/// For the next bytes of an answer over the network: 60 s. Raised, a dead connection is noticed later; lowered, a slow
/// object store is given up.
pub const SILENCE: Duration = Duration::from_secs(60);
