//! The waiting loop and its pauses.

use std::thread;
use std::time::Duration;

use crate::Deadline;

/// First pause, 100 µs. Raised, a record that is being written and a lock that is held for one sync are seen later;
/// lowered, a wait begins with more looks.
pub const PAUSE_MIN: Duration = Duration::from_micros(100);
/// Longest pause, 5 ms. Raised, a process that waits for the lock of a busy store loses its turn to later ones;
/// lowered, a long wait costs more CPU (200 looks a second at 5 ms).
pub const PAUSE_MAX: Duration = Duration::from_millis(5);

/// Calls `look` until it returns `Some`, with pauses that double, and a last time when the deadline is over. Returns
/// `None` if the last look found nothing. Looks at least once.
pub fn until<T>(deadline: Deadline, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let mut next = PAUSE_MIN;
    loop {
        let left = deadline.left();
        if let Some(found) = look() {
            return Some(found);
        }
        if left.is_zero() {
            return None;
        }
        thread::sleep(next.min(left));
        next = (next * 2).min(PAUSE_MAX);
    }
}

/// Sleeps for a time that is given from outside: by a server that said when to ask again, or a user who chose how
/// often to look.
pub fn pause(time: Duration) {
    thread::sleep(time);
}

/// Like [`pause`], in an async task.
#[cfg(feature = "tokio")]
pub async fn pause_async(time: Duration) {
    tokio::time::sleep(time).await;
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn something_is_looked_for_until_it_is_there() {
        let mut looks = 0;
        let found = until(Deadline::never(), || {
            looks += 1;
            (looks == 5).then_some(looks)
        });
        assert_eq!(found, Some(5));
    }

    #[test]
    fn a_deadline_without_time_allows_one_look() {
        let mut looks = 0;
        let none = until(Deadline::after(Duration::ZERO), || {
            looks += 1;
            None::<()>
        });
        assert_eq!((none, looks), (None, 1));
    }

    #[test]
    fn the_last_look_comes_after_the_deadline_and_no_pause_passes_it() {
        let wait = Duration::from_millis(30);
        let begun = Instant::now();
        let (mut looks, mut last) = (0_u32, Duration::ZERO);
        let none = until(Deadline::after(wait), || {
            looks += 1;
            last = begun.elapsed();
            None::<()>
        });
        assert!(none.is_none());
        assert!(last >= wait, "{last:?}");
        // 0.1, 0.2, 0.4, 0.8, 1.6, 3.2 ms, then 5 ms: a machine that is slow makes fewer looks.
        assert!((2..=13).contains(&looks), "{looks}");
    }
}
