//! Events by time and family.

use super::family::{FAMILIES, Family};

/// Most times that are kept apart. Raised, the columns of a long log are finer and each page adds up more counts.
const TIMES_MAX: usize = 4_096;
/// Width of a time at first, in milliseconds. Raised, a log of a few minutes is drawn in coarser columns.
const WIDTH_MS_MIN: u64 = 1_000;

/// Number of events of each family, in the order of [`FAMILIES`].
pub(crate) type Counts = [u64; FAMILIES.len()];

/// Events by time and family. Times are kept to a second at first, and more coarsely the longer the log is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Density {
    times_max: usize,
    width_ms: u64,
    /// Times that have events, as multiples of the width, in their order.
    times: Vec<(u64, Counts)>,
}

/// The events of a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Column {
    /// Its first millisecond since the epoch.
    pub(crate) from_ms: u64,
    /// The first millisecond after it.
    pub(crate) to_ms: u64,
    pub(crate) counts: Counts,
}

impl Column {
    /// Returns the number of all its events.
    pub(crate) fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

impl Default for Density {
    fn default() -> Density {
        Density::with_times(TIMES_MAX)
    }
}

impl Density {
    pub(super) fn with_times(times_max: usize) -> Density {
        Density {
            times_max,
            width_ms: WIDTH_MS_MIN,
            times: Vec::new(),
        }
    }

    /// Counts an event.
    pub(super) fn add(&mut self, ms: u64, family: Family) {
        let time = ms / self.width_ms;
        // Own events come in the order of their times, so this is nearly always the last one.
        let at = match self.times.last() {
            Some((last, _)) if *last == time => self.times.len() - 1,
            Some((last, _)) if *last > time => {
                match self.times.binary_search_by_key(&time, |(time, _)| *time) {
                    Ok(at) => at,
                    Err(at) => {
                        self.times.insert(at, (time, Counts::default()));
                        at
                    }
                }
            }
            _ => {
                self.times.push((time, Counts::default()));
                self.times.len() - 1
            }
        };
        self.times[at].1[family as usize] += 1;
        while self.times.len() > self.times_max {
            self.widen();
        }
    }

    fn widen(&mut self) {
        self.width_ms *= 2;
        self.times.dedup_by(|(later, counts), (kept, sum)| {
            let is_same = *later / 2 == *kept / 2;
            if is_same {
                add(sum, counts);
            }
            is_same
        });
        for (time, _) in &mut self.times {
            *time /= 2;
        }
    }

    /// Returns at most `most` columns of equal width with all events, oldest first. Columns without events are left out.
    pub(crate) fn columns(&self, most: u64) -> Vec<Column> {
        let (Some((first, _)), Some((last, _))) = (self.times.first(), self.times.last()) else {
            return Vec::new();
        };
        let each = (last - first + 1).div_ceil(most.max(1));
        let mut columns: Vec<Column> = Vec::new();
        for (time, counts) in &self.times {
            let start = first + (time - first) / each * each;
            let from_ms = start * self.width_ms;
            match columns.last_mut() {
                Some(column) if column.from_ms == from_ms => add(&mut column.counts, counts),
                _ => columns.push(Column {
                    from_ms,
                    to_ms: (start + each) * self.width_ms,
                    counts: *counts,
                }),
            }
        }
        columns
    }
}

fn add(sum: &mut Counts, more: &Counts) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum += more;
    }
}
