//! The moment at which waiting ends.

use std::time::{Duration, Instant};

/// The moment at which waiting ends, and the moment at which it began.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    begun: Instant,
    wait: Duration,
}

impl Deadline {
    /// Returns the moment that is `wait` from now. [`Duration::MAX`] never comes.
    #[must_use]
    pub fn after(wait: Duration) -> Deadline {
        Deadline {
            begun: Instant::now(),
            wait,
        }
    }

    /// Returns a moment that never comes.
    #[must_use]
    pub fn never() -> Deadline {
        Deadline::after(Duration::MAX)
    }

    /// Returns the time since the waiting began.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Returns the time that is left; zero once the deadline is over.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.wait.saturating_sub(self.waited())
    }

    /// Whether no time is left.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.left().is_zero()
    }
}
