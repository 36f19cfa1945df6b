//! The moment at which waiting ends.

use std::time::{Duration, Instant};

/// The end of a wait, and its start.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    begun: Instant,
    wait: Duration,
}

impl Deadline {
    /// Returns the deadline `wait` from now; with [`Duration::MAX`] it never comes.
    #[must_use]
    pub fn after(wait: Duration) -> Deadline {
        Deadline {
            begun: Instant::now(),
            wait,
        }
    }

    /// Returns a deadline that never comes.
    #[must_use]
    pub fn never() -> Deadline {
        Deadline::after(Duration::MAX)
    }

    /// Returns the time since the wait began.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Returns the time left; zero once the deadline is over.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.wait.saturating_sub(self.waited())
    }

    /// Returns `true` if no time is left.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }
}
