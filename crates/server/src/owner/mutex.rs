//! Mutexes of the owner: a thread that panicked leaves what they guard in order.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Returns what the mutex guards, also after a thread panicked with it.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
