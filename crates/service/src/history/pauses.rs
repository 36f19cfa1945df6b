//! Pauses of the log: days without an event. A store that is not used has pauses, and so has a store whose clock was
//! wrong: memories from before such a pause seem older by its length.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use icm_log::{Cursor, Log, LogError};
use icm_projections::fold::day_of;

/// Two UTC days with events, and none between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pause {
    pub(crate) from_day: u32,
    pub(crate) to_day: u32,
}

impl Pause {
    /// Returns the days from one to the other.
    pub(crate) fn days(self) -> u32 {
        self.to_day - self.from_day
    }
}

/// The UTC days of a log's events.
#[derive(Debug, Default)]
pub(crate) struct EventDays(BTreeSet<u32>);

impl EventDays {
    /// Reads the days up to `last`; costs a pass over the heads of all events.
    ///
    /// # Errors
    /// If an event cannot be read.
    pub(crate) fn read(log: &Log, last: u32) -> Result<EventDays, LogError> {
        let mut days = BTreeSet::new();
        log.scan(&Cursor::START, &mut |event| {
            let day = day_of(event.head.time().ms());
            if day <= last {
                days.insert(day);
            }
            ControlFlow::Continue(())
        })?;
        Ok(EventDays(days))
    }

    /// Returns the longest pause that begins on `day` or later; of several the first one.
    pub(crate) fn longest_since(&self, day: u32) -> Option<Pause> {
        let days = self.0.range(day..);
        let pauses = days.clone().zip(days.skip(1));
        let pauses = pauses.map(|(from, to)| Pause {
            from_day: *from,
            to_day: *to,
        });
        pauses.reduce(|longest, next| match next.days() > longest.days() {
            true => next,
            false => longest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pause_is_found() {
        let days = EventDays(BTreeSet::from([10, 11, 20, 21, 30, 31]));
        let longest = |since| {
            let pause = days.longest_since(since);
            pause.map(|pause| (pause.from_day, pause.to_day))
        };
        assert_eq!(longest(0), Some((11, 20)));
        assert_eq!(longest(12), Some((21, 30)));
        assert_eq!(longest(30), Some((30, 31)));
        assert_eq!(longest(31), None);
        assert_eq!(longest(32), None);
    }
}
