//! The events of the whole log by time: the density that is drawn, and the days to go to.

use icm_log::kind::family_of;
use jiff::civil::Date;

use crate::clock::Clock;

/// The family of an event's kind, as far as the view tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// Changes of memories.
    Memory,
    Recall,
    /// Memoirs and concepts.
    Graph,
    Session,
    Other,
}

impl Family {
    /// Returns the family of a kind such as `memory.stored`.
    pub(crate) fn of(kind: &str) -> Family {
        match family_of(kind) {
            "memory" if kind == "memory.recalled" => Family::Recall,
            "memory" => Family::Memory,
            "memoir" | "concept" => Family::Graph,
            "transcript" | "session" => Family::Session,
            _ => Family::Other,
        }
    }
}

/// An event in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Instant {
    pub(crate) position: u64,
    pub(crate) ms: u64,
    pub(crate) family: Family,
}

/// A day with events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) date: Date,
    pub(crate) memory: u64,
    pub(crate) recall: u64,
    pub(crate) graph: u64,
    pub(crate) session: u64,
    pub(crate) other: u64,
}

impl Day {
    fn new(date: Date) -> Day {
        Day {
            date,
            memory: 0,
            recall: 0,
            graph: 0,
            session: 0,
            other: 0,
        }
    }

    /// Returns the number of all events.
    pub(crate) fn events(&self) -> u64 {
        self.memory + self.recall + self.graph + self.session + self.other
    }

    fn add(&mut self, family: Family) {
        *match family {
            Family::Memory => &mut self.memory,
            Family::Recall => &mut self.recall,
            Family::Graph => &mut self.graph,
            Family::Session => &mut self.session,
            Family::Other => &mut self.other,
        } += 1;
    }
}

/// The events of the log that were read so far, by position.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    events: Vec<Instant>,
    first_ms: u64,
    last_ms: u64,
}

impl Timeline {
    /// Adds events behind those that are there.
    pub(crate) fn add(&mut self, events: &[Instant]) {
        let newest = self.events.last().map_or(0, |event| event.position);
        for event in events.iter().filter(|event| event.position > newest) {
            if self.events.is_empty() {
                (self.first_ms, self.last_ms) = (event.ms, event.ms);
            }
            self.first_ms = self.first_ms.min(event.ms);
            self.last_ms = self.last_ms.max(event.ms);
            self.events.push(*event);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Returns the number of events in each of `columns` equal parts of the time from the first to the last event.
    pub(crate) fn density(&self, columns: usize) -> Vec<u64> {
        let mut parts = vec![0; columns];
        for event in &self.events {
            if let Some(part) = parts.get_mut(self.column(event.ms, columns)) {
                *part += 1;
            }
        }
        parts
    }

    /// Returns the part that a time falls into.
    pub(crate) fn column(&self, ms: u64, columns: usize) -> usize {
        let span = self.last_ms.saturating_sub(self.first_ms).max(1);
        let into = ms.saturating_sub(self.first_ms).min(span);
        let column = u128::from(into) * columns as u128 / (u128::from(span) + 1);
        (column as usize).min(columns.saturating_sub(1))
    }

    /// Returns the first day after this one that has an event.
    pub(crate) fn day_after(&self, date: Date, clock: &Clock) -> Option<Date> {
        let days = self.events.iter();
        let days = days.filter_map(|event| clock.day_of(event.ms));
        days.filter(|day| *day > date).min()
    }

    /// Returns the days with events, newest first.
    pub(crate) fn days(&self, clock: &Clock) -> Vec<Day> {
        let mut days: std::collections::BTreeMap<Date, Day> = std::collections::BTreeMap::new();
        // The calendar is asked once for neighbours of the same quarter of an hour, in which no zone has two days.
        let mut known: Option<(u64, Date)> = None;
        for event in &self.events {
            let quarter = event.ms / 900_000;
            let date = match known {
                Some((of, date)) if of == quarter => date,
                _ => match clock.day_of(event.ms) {
                    Some(date) => date,
                    None => continue,
                },
            };
            known = Some((quarter, date));
            days.entry(date)
                .or_insert_with(|| Day::new(date))
                .add(event.family);
        }
        days.into_values().rev().collect()
    }
}

/// Returns a bar of one column for a number of events. Roots are compared, so that few events beside many can be seen.
pub(crate) fn bar(events: u64, most: u64) -> char {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    if events == 0 || most == 0 {
        return ' ';
    }
    let share = (events as f64 / most as f64).sqrt();
    BARS[((share * 8.0).ceil() as usize).clamp(1, 8) - 1]
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::*;

    const DAY_MS: u64 = 86_400_000;

    fn timeline() -> Timeline {
        let mut timeline = Timeline::default();
        let event = |(at, ms): (usize, u64)| Instant {
            position: at as u64 + 1,
            ms,
            family: Family::of(["memory.stored", "memory.recalled"][at % 2]),
        };
        let times = [
            0,
            1000,
            DAY_MS / 2,
            3 * DAY_MS,
            3 * DAY_MS + 5,
            10 * DAY_MS - 1,
        ];
        let events: Vec<Instant> = times.into_iter().enumerate().map(event).collect();
        timeline.add(&events[..4]);
        // An overlap adds nothing twice.
        timeline.add(&events[2..]);
        timeline
    }

    #[test]
    fn the_density_counts_every_event_once() {
        for columns in [1, 2, 3, 10, 97, 1000] {
            let density = timeline().density(columns);
            assert_eq!(density.len(), columns);
            assert_eq!(density.iter().sum::<u64>(), 6, "{columns}");
            assert!(density[0] > 0 && density[columns - 1] > 0, "{columns}");
        }
        assert_eq!(timeline().density(10), [3, 0, 0, 2, 0, 0, 0, 0, 0, 1]);
        assert_eq!(timeline().density(0), [0; 0]);
        assert_eq!(Timeline::default().density(3), [0, 0, 0]);
    }

    #[test]
    fn days_without_events_are_passed_over() {
        let clock = Clock {
            now_ms: 20 * DAY_MS,
            zone: TimeZone::UTC,
        };
        let days = timeline().days(&clock);
        let shown: Vec<_> = days
            .iter()
            .map(|day| (day.date.day(), day.events()))
            .collect();
        assert_eq!(shown, [(10, 1), (4, 2), (1, 3)]);
        assert_eq!((days[2].memory, days[2].recall), (2, 1));
        let after = timeline().day_after(days[2].date, &clock);
        assert_eq!(after, Some(days[1].date));
        assert_eq!(timeline().day_after(days[0].date, &clock), None);
    }

    #[test]
    fn a_bar_shows_the_smallest_number() {
        assert_eq!(bar(0, 9), ' ');
        assert_eq!(bar(1, 100_000), '▁');
        assert_eq!(bar(100_000, 100_000), '█');
    }
}
