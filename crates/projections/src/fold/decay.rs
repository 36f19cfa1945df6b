//! Decay: the loss of a memory's weight over time. It is a pure function of the ticks in force, the day on which the
//! memory was stored, its importance, and the days on which recalls showed it.
//!
//! For each UTC day after the day of its creation, up to the last day of a tick, a memory keeps
//! `1 − rate × factor / (1 + 0.1 × recalls of earlier days)` of its weight. Rate and factor come from the tick with the least `as_of` at or
//! after the day. Of several ticks with one `as_of`, the greatest (time, origin, event id) counts. So one tick after a
//! month off equals thirty ticks, and two ticks for one day equal one.
//!
//! All numbers are whole, in parts per billion. The loss of a day is rounded down, and so is the rest after it. The
//! weight that is shown is rounded to the nearest part per million.

use std::collections::BTreeMap;

use icm_log::facts::{Importance, MemoryDecayed};
use icm_log::{Event, Position, Seq};
use serde::{Deserialize, Serialize};

use super::memory::stamp_of;
use super::record::Stamp;
use super::stretches::Stretches;

/// The full weight, in parts per billion.
const FULL_PPB: u64 = 1_000_000_000;
const DAY_MS: u64 = 86_400_000;

/// Returns the UTC day of a time, in whole days since 1970-01-01.
pub fn day_of(ms: u64) -> u32 {
    u32::try_from(ms / DAY_MS).unwrap_or(u32::MAX)
}

/// The rate of decay, in parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    /// The loss per day of a memory with factor 1 and without recalls.
    pub rate_ppm: u32,
    /// Factors of the rate by importance, low to critical.
    pub factors_ppm: [u32; 4],
}

impl From<MemoryDecayed> for Rates {
    fn from(facts: MemoryDecayed) -> Rates {
        Rates {
            rate_ppm: facts.rate_ppm,
            // In the order of the codes of importance.
            factors_ppm: [
                facts.low_ppm,
                facts.medium_ppm,
                facts.high_ppm,
                facts.critical_ppm,
            ],
        }
    }
}

impl Rates {
    /// Returns the factor of an importance.
    pub fn factor_ppm(&self, importance: Importance) -> u32 {
        self.factors_ppm[usize::from(importance.code() - 1)]
    }

    /// Returns the loss of a day, in parts per billion of the weight, after `recalls` recalls.
    fn fade_ppb(&self, importance: Importance, recalls: u64) -> u64 {
        // ppm × ppm is 10^12, ppb 10^9, and 1 / (1 + n / 10) is 10 / (10 + n).
        let fade = u128::from(self.rate_ppm) * u128::from(self.factor_ppm(importance)) / 100;
        let fade = fade / (10 + u128::from(recalls));
        u64::try_from(fade).map_or(FULL_PPB, |fade| fade.min(FULL_PPB))
    }
}

/// A tick, with the positions at which it held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// The position of the event.
    pub position: Position,
    /// The stamp of the event.
    pub stamp: Stamp,
    /// The event's place in the author's chain.
    pub seq: Seq,
    /// The last day that the tick covers, never after the day of its own time.
    pub as_of_day: u32,
    /// The rates of decay.
    pub rates: Rates,
    /// The positions at which the tick held.
    pub held: Stretches,
}

impl Tick {
    pub(super) fn of(event: &Event<'_>, facts: &MemoryDecayed) -> Tick {
        let stamp = stamp_of(event);
        Tick {
            position: event.position,
            stamp,
            seq: event.head.seq(),
            as_of_day: facts.as_of_day.min(day_of(stamp.time.ms())),
            rates: Rates::from(*facts),
            held: Stretches::default(),
        }
    }
}

/// The ticks in force at a basis that have an effect: rates by day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The last day of each span, and its rates from the day after the span before; ascending. Neighbouring spans have
    /// different rates.
    spans: Vec<(u32, Rates)>,
}

impl Schedule {
    /// Returns the schedule of these ticks, which must all be in force.
    pub fn of<'a>(ticks: impl IntoIterator<Item = &'a Tick>) -> Schedule {
        let mut by_day: BTreeMap<u32, (Stamp, Rates)> = BTreeMap::new();
        for tick in ticks {
            let known = by_day
                .entry(tick.as_of_day)
                .or_insert((tick.stamp, tick.rates));
            if tick.stamp > known.0 {
                *known = (tick.stamp, tick.rates);
            }
        }
        let mut spans: Vec<(u32, Rates)> = Vec::new();
        for (day, (_, rates)) in by_day {
            match spans.last_mut() {
                Some(last) if last.1 == rates => last.0 = day,
                _ => spans.push((day, rates)),
            }
        }
        Schedule { spans }
    }

    /// Returns the last day that a tick covers; `None` without ticks.
    pub fn last_day(&self) -> Option<u32> {
        self.spans.last().map(|(day, _)| *day)
    }

    /// Returns the rates of a day; `None` if no tick covers the day.
    pub fn rates_of(&self, day: u32) -> Option<Rates> {
        let mut spans = self.spans.iter();
        spans
            .find(|(last, _)| day <= *last)
            .map(|(_, rates)| *rates)
    }

    /// Returns `true` if a memory without recalls, stored on a day, has lost weight.
    pub fn reaches(&self, created_day: u32, importance: Importance) -> bool {
        let first = self.first_after(created_day);
        let mut spans = self.spans[first..].iter();
        spans.any(|(_, rates)| rates.fade_ppb(importance, 0) > 0)
    }

    fn first_after(&self, day: u32) -> usize {
        self.spans.partition_point(|(last, _)| *last <= day)
    }

    /// Returns the rest, in parts per million, of a memory's weight that was full on the day it was stored. `recalls`
    /// are the days of the recalls in force that showed the memory, ascending. Costs a few nanoseconds a day until no
    /// weight is left.
    pub fn weight_ppm(&self, created_day: u32, importance: Importance, recalls: &[u32]) -> u32 {
        let mut left = FULL_PPB;
        let mut done = created_day;
        let mut seen = 0;
        for (last, rates) in &self.spans[self.first_after(created_day)..] {
            while done < *last && left > 0 {
                // The next days of this span with the same number of earlier recalls.
                seen += recalls[seen..].partition_point(|day| *day <= done);
                let until = recalls.get(seen).map_or(*last, |day| *last.min(day));
                let fade = rates.fade_ppb(importance, seen as u64);
                if fade > 0 {
                    left = faded(left, fade, until - done);
                }
                done = until;
            }
        }
        u32::try_from((left + 500) / 1_000).expect("no more than the full weight")
    }
}

fn faded(mut left: u64, fade_ppb: u64, days: u32) -> u64 {
    let keeps = FULL_PPB - fade_ppb;
    for _ in 0..days {
        left = left * keeps / FULL_PPB;
        if left == 0 {
            break;
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use icm_log::{EventId, OriginId, Position, Seq, Time};

    use super::*;
    use crate::fold::stretches::Stretches;

    const MEDIUM: Importance = Importance::Medium;

    fn tick(as_of_day: u32, rate_ppm: u32, ms: u64) -> Tick {
        Tick {
            position: Position(1),
            stamp: Stamp {
                time: Time(ms << 16),
                origin: OriginId([1; 16]),
                event: EventId([1; 32]),
            },
            seq: Seq(1),
            as_of_day,
            rates: Rates {
                rate_ppm,
                factors_ppm: [2_000_000, 1_000_000, 500_000, 0],
            },
            held: Stretches::default(),
        }
    }

    #[test]
    fn a_day_takes_what_the_formula_says() {
        let ticks = [tick(101, 50_000, 0)];
        let one = Schedule::of(&ticks);
        let weights = [
            Importance::Low,
            MEDIUM,
            Importance::High,
            Importance::Critical,
        ]
        .map(|importance| one.weight_ppm(100, importance, &[]));
        assert_eq!(weights, [900_000, 950_000, 975_000, 1_000_000]);
        assert_eq!(one.weight_ppm(100, MEDIUM, &[100, 100]), 958_333);
        assert_eq!(one.weight_ppm(100, MEDIUM, &[101]), 950_000, "of that day");
        assert_eq!(one.weight_ppm(101, MEDIUM, &[]), 1_000_000, "of its day");
        assert_eq!(one.weight_ppm(500, MEDIUM, &[]), 1_000_000);
        assert_eq!(one.weight_ppm(99, MEDIUM, &[]), 902_500);
        assert!(one.reaches(100, MEDIUM) && !one.reaches(101, MEDIUM));
        assert!(!one.reaches(0, Importance::Critical));
        assert_eq!(Schedule::default().weight_ppm(0, MEDIUM, &[]), 1_000_000);
    }

    /// Compares with the formula, day by day.
    #[test]
    fn ten_years_of_changing_rates_and_recalls() {
        let recalls: Vec<u32> = (0..60).map(|n| 50 + n * n).collect();
        let day_and_rate = |n: u32| (n * 7, [500, 2_000, 2_000, 0, 1_000][n as usize % 5]);
        let ticks = (1..500).map(day_and_rate);
        let ticks: Vec<Tick> = ticks.map(|(day, rate)| tick(day, rate, 0)).collect();
        let schedule = Schedule::of(ticks.iter().rev());
        assert_eq!(schedule.last_day(), Some(3_493));
        for created in [0, 60, 3_400] {
            let mut left = 1.0;
            for day in created + 1..=3_493_u32 {
                let (_, rate) = day_and_rate(day.div_ceil(7));
                let seen = recalls.iter().filter(|recall| **recall < day).count();
                left *= 1.0 - f64::from(rate) / 1e6 * 2.0 / (1.0 + 0.1 * seen as f64);
            }
            let weight = schedule.weight_ppm(created, Importance::Low, &recalls);
            let off = f64::from(weight) - left * 1e6;
            assert!(off.abs() < 2.0, "{weight} and {left} from day {created}");
        }
    }

    #[test]
    fn a_month_off_is_thirty_days_and_one_day_counts_once() {
        let recalls = [103, 103, 110, 120];
        let daily: Vec<Tick> = (101..=130).map(|day| tick(day, 50_000, 0)).collect();
        let once = [tick(130, 50_000, 0)];
        let weight = |ticks: &[Tick]| Schedule::of(ticks).weight_ppm(100, MEDIUM, &recalls);
        assert_eq!(weight(&daily), weight(&once));
        assert!((250_000..400_000).contains(&weight(&once)));
        let twice: Vec<Tick> = daily.iter().chain(&daily).cloned().collect();
        assert_eq!(weight(&twice), weight(&once));
        // The latest tick of a day counts, in either order.
        let both = [tick(130, 10_000, 7), tick(130, 50_000, 8)];
        assert_eq!(weight(&both), weight(&once));
        let turned = [both[1].clone(), both[0].clone()];
        assert_eq!(weight(&turned), weight(&once));
    }

    #[test]
    fn rates_that_nobody_should_give_take_all_and_no_more() {
        let mut all = tick(u32::MAX, u32::MAX, 0);
        all.rates.factors_ppm = [u32::MAX; 4];
        let schedule = Schedule::of([&all]);
        assert_eq!(schedule.weight_ppm(7, MEDIUM, &[]), 0);
        assert_eq!(schedule.weight_ppm(7, MEDIUM, &[3; 500]), 0);
        let slow = Schedule::of([&tick(u32::MAX, 1, 0)]);
        assert_eq!(slow.weight_ppm(u32::MAX - 1, MEDIUM, &[]), 999_999);
    }
}
