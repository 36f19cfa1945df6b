//! Counts of a moment by day: events by family, stores, recalls, and the tokens that agents were shown.
//!
//! An event counts on the day on which it was written, also if another machine wrote it. `--since` means the same time.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use icm_agents::sessions::Sessions;
use icm_log::facts::{Facts, Front, MemoryRecalled};
use icm_log::{Event, Kind};

use super::density::Counts;
use super::family::Family;

/// Milliseconds of a stretch of time by which events are counted: a quarter of an hour. Days of every time zone begin at
/// one. Raised, a day of some zones would begin within one.
const QUARTER_MS: u64 = 15 * 60 * 1_000;
/// Clients that are told apart. Raised, actors with ever new names take more memory.
const CLIENTS: usize = 500;

/// The events of the log, as far as they are counted by day, in the order of their positions.
#[derive(Default)]
pub(crate) struct Tally {
    events: Vec<Counted>,
    shown: Vec<Showing>,
    clients: Clients,
}

/// The counts of a day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Day {
    /// Events by family.
    pub(crate) families: Counts,
    /// New memories.
    pub(crate) stored: u64,
    /// Recalls that were asked for.
    pub(crate) recalled: u64,
    /// Injections: hooks and wake-up packs that showed memories unasked.
    pub(crate) injected: u64,
}

/// Recalls and injections, with their memories and tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) times: u64,
    pub(crate) memories: u64,
    pub(crate) tokens: u64,
}

/// The counts of some days, as they were known at a position.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Days with an event.
    pub(crate) days: BTreeMap<i32, Day>,
    /// By client.
    pub(crate) clients: BTreeMap<String, Shown>,
    /// By front: `recall`, `context`, `wake-up`, `hook`, `unsaid`.
    pub(crate) fronts: BTreeMap<&'static str, Shown>,
    /// First day with an event, also before these days.
    pub(crate) first: Option<i32>,
}

struct Counted {
    position: u64,
    quarter: u32,
    family: Family,
    is_stored: bool,
}

/// A recall or an injection.
struct Showing {
    position: u64,
    quarter: u32,
    tokens: u32,
    memories: u32,
    client: u16,
    front: Front,
}

impl Tally {
    /// Counts the next event of the log. `sessions` holds it already.
    pub(super) fn take(&mut self, event: &Event<'_>, family: Family, sessions: &Sessions) {
        let head = &event.head;
        let position = event.position.0;
        let quarter = quarter(head.time().ms());
        self.events.push(Counted {
            position,
            quarter,
            family,
            is_stored: head.kind() == Kind::MEMORY_STORED,
        });
        if head.kind() == Kind::MEMORY_RECALLED
            && let Ok(Facts::Recalled(facts)) = Facts::of(head)
            && counts(&facts)
        {
            let name = sessions.client(head.session());
            let name = name.or_else(|| sessions.actor(head.actor()));
            let name = name.map_or("(no name)", |name| {
                name.strip_prefix("agent:").unwrap_or(name)
            });
            self.shown.push(Showing {
                position,
                quarter,
                tokens: facts.shown.map_or(0, |shown| shown.tokens),
                memories: facts.results.len() as u32,
                client: self.clients.named(name),
                front: facts.shown.map_or(Front::UNSAID, |shown| shown.front),
            });
        }
    }

    /// Returns what agents were shown since a time, which begins a quarter of an hour, as it was known at a position.
    pub(crate) fn shown_since(&self, ms: u64, position: u64) -> Shown {
        let since = quarter(ms);
        let mut sum = Shown::default();
        for showing in up_to(&self.shown, position, |it| it.position) {
            if showing.quarter >= since {
                sum.add(showing);
            }
        }
        sum
    }

    /// Returns the counts of some days, as they were known at a position. `day_of` returns the day of a time in
    /// milliseconds since the epoch.
    pub(crate) fn sums(
        &self,
        position: u64,
        days: &RangeInclusive<i32>,
        day_of: impl Fn(u64) -> i32,
    ) -> Sums {
        let mut sums = Sums::default();
        // Most events are of the same quarter as the one before.
        let mut last = None;
        let mut day_of = |quarter: u32| match last {
            Some((known, day)) if known == quarter => day,
            _ => {
                let day = day_of(u64::from(quarter) * QUARTER_MS);
                last = Some((quarter, day));
                day
            }
        };
        for event in up_to(&self.events, position, |it| it.position) {
            let day = day_of(event.quarter);
            sums.first = Some(sums.first.map_or(day, |first| first.min(day)));
            if days.contains(&day) {
                let day = sums.days.entry(day).or_default();
                day.families[event.family as usize] += 1;
                day.stored += u64::from(event.is_stored);
            }
        }
        let mut clients = vec![Shown::default(); self.clients.names.len()];
        for showing in up_to(&self.shown, position, |it| it.position) {
            let day = day_of(showing.quarter);
            if !days.contains(&day) {
                continue;
            }
            let day = sums.days.entry(day).or_default();
            match showing.front.is_asked() {
                true => day.recalled += 1,
                false => day.injected += 1,
            }
            let front = showing.front.name().unwrap_or("unknown");
            sums.fronts.entry(front).or_default().add(showing);
            clients[usize::from(showing.client)].add(showing);
        }
        let named = self.clients.names.iter().cloned().zip(clients);
        sums.clients = named.filter(|(_, shown)| shown.times > 0).collect();
        sums
    }
}

impl Shown {
    fn add(&mut self, showing: &Showing) {
        self.times += 1;
        self.memories += u64::from(showing.memories);
        self.tokens += u64::from(showing.tokens);
    }
}

/// Returns `false` for an injection without memories, which nobody counts.
fn counts(facts: &MemoryRecalled) -> bool {
    facts.is_asked() || !facts.results.is_empty()
}

fn quarter(ms: u64) -> u32 {
    u32::try_from(ms / QUARTER_MS).unwrap_or(u32::MAX)
}

/// Returns the part of a list up to a position.
fn up_to<T>(all: &[T], position: u64, of: impl Fn(&T) -> u64) -> &[T] {
    &all[..all.partition_point(|one| of(one) <= position)]
}

/// The names of clients, each with its place.
#[derive(Default)]
struct Clients {
    names: Vec<String>,
    places: HashMap<String, u16>,
}

impl Clients {
    /// Returns the place of a name. Names beyond the first [`CLIENTS`] share one.
    fn named(&mut self, name: &str) -> u16 {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let name = match self.names.len() < CLIENTS {
            true => name,
            false => "(other)",
        };
        let next = self.names.len() as u16;
        let place = *self.places.entry(name.to_owned()).or_insert(next);
        if place == next {
            self.names.push(name.to_owned());
        }
        place
    }
}
