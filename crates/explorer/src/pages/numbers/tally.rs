//! Counts by day, kept between requests: events by family, stores, recalls, and the tokens that agents were shown.

use std::collections::{BTreeMap, HashMap};
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::{Mutex, PoisonError};

use icm_api::error::Result;
use icm_log::facts::{Facts, Front};
use icm_log::{ActorId, Cursor, Event, Kind, Log, LogError, Rewritten, SessionId, payload};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::days::number_of;
use crate::heads::{FAMILIES, Family};

/// Milliseconds of a stretch of time within which no day of any time zone begins. Raised, some days would be wrong.
const QUARTER_MS: u64 = 15 * 60 * 1_000;
/// Clients that are told apart. Raised, actors with ever new names take more memory.
const CLIENTS: usize = 500;

/// The counts, kept between requests.
#[derive(Default)]
pub(crate) struct Tally(Mutex<Walked>);

/// The counts of a day.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Day {
    /// Events by family, in the order of [`FAMILIES`].
    pub(super) families: [u64; FAMILIES.len()],
    /// New memories.
    pub(super) stored: u64,
    /// Recalls that were asked for.
    pub(super) recalled: u64,
    /// Injections: hooks and wake-up packs that showed memories unasked.
    pub(super) injected: u64,
}

/// Recalls and injections with their tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) times: u64,
    pub(super) tokens: u64,
}

/// The counts of some days, as they were known at a position.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    /// Days with an event.
    pub(super) days: BTreeMap<i32, Day>,
    /// By client.
    pub(super) clients: BTreeMap<String, Shown>,
    /// By front: `recall`, `context`, `wake-up`, `hook`, `unsaid`.
    pub(super) fronts: BTreeMap<String, Shown>,
    /// First day with an event, also before these days.
    pub(super) first: Option<i32>,
}

/// An event, as far as it is counted.
struct Counted {
    position: u64,
    day: i32,
    tokens: u32,
    client: u16,
    family: u8,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Stored,
    Shown { front: Front, memories: bool },
    Other,
}

#[derive(Default)]
struct Walked {
    cursor: Option<Cursor>,
    rewritten: Rewritten,
    events: Vec<Counted>,
    clients: Vec<String>,
    by_name: HashMap<String, u16>,
    by_session: HashMap<SessionId, u16>,
    actors: HashMap<ActorId, String>,
    /// A quarter of an hour with its day.
    last: Option<(u64, i32)>,
}

impl Tally {
    /// Returns the counts of some days, as they were known at a position. The first call walks the log, each later one
    /// the events that are new.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(super) fn sums(
        &self,
        log: &Log,
        zone: &TimeZone,
        position: u64,
        days: &RangeInclusive<i32>,
    ) -> Result<Sums> {
        log.refresh()?;
        let mut walked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rewritten = log.rewritten();
        if walked.rewritten != rewritten {
            *walked = Walked {
                rewritten,
                ..Walked::default()
            };
        }
        match walked.catch_up(log, zone) {
            Ok(()) => {}
            Err(LogError::StaleCursor { .. }) => {
                *walked = Walked {
                    rewritten: std::mem::take(&mut walked.rewritten),
                    ..Walked::default()
                };
                walked.catch_up(log, zone)?;
            }
            Err(error) => {
                // Events after the cursor may be counted.
                *walked = Walked::default();
                return Err(error.into());
            }
        }
        Ok(walked.sums(position, days))
    }
}

impl Walked {
    fn catch_up(&mut self, log: &Log, zone: &TimeZone) -> std::result::Result<(), LogError> {
        let from = self.cursor.unwrap_or(Cursor::START);
        let cursor = log.scan(&from, &mut |event| {
            self.take(event, zone);
            ControlFlow::Continue(())
        })?;
        self.cursor = Some(cursor);
        Ok(())
    }

    fn take(&mut self, event: &Event<'_>, zone: &TimeZone) {
        let head = &event.head;
        self.learn_names(event);
        let (what, tokens) = match head.kind() {
            Kind::MEMORY_STORED => (What::Stored, 0),
            Kind::MEMORY_RECALLED => match Facts::of(head) {
                Ok(Facts::Recalled(facts)) => {
                    let shown = facts.shown;
                    let what = What::Shown {
                        front: shown.map_or(Front::UNSAID, |shown| shown.front),
                        memories: !facts.results.is_empty(),
                    };
                    (what, shown.map_or(0, |shown| shown.tokens))
                }
                _ => (What::Other, 0),
            },
            _ => (What::Other, 0),
        };
        let client = match what {
            What::Shown { .. } => self.client(head.session(), head.actor()),
            What::Stored | What::Other => 0,
        };
        let counted = Counted {
            position: event.position.0,
            day: self.day(head.time().ms(), zone),
            tokens,
            client,
            family: Family::of(head.kind()) as u8,
            what,
        };
        self.events.push(counted);
    }

    fn learn_names(&mut self, event: &Event<'_>) {
        let head = &event.head;
        let Some(bytes) = event.body.payload() else {
            return;
        };
        match head.kind() {
            Kind::LOG_ACTOR_NAMED => {
                if let Ok(named) = payload::decode::<payload::LogActorNamed<'_>>(bytes) {
                    let actor = ActorId(head.subject().0);
                    self.actors.insert(actor, named.name.to_owned());
                }
            }
            Kind::SESSION_STARTED => {
                if let Ok(told) = payload::decode::<payload::SessionStarted<'_>>(bytes)
                    && let Some(client) = told.client
                {
                    let client = self.named(client);
                    self.by_session.insert(head.session(), client);
                }
            }
            _ => {}
        }
    }

    /// Returns the client of a session, or else its actor.
    fn client(&mut self, session: SessionId, actor: ActorId) -> u16 {
        if let Some(client) = self.by_session.get(&session) {
            return *client;
        }
        let name = self.actors.get(&actor).cloned();
        let name = name.unwrap_or_else(|| "(no name)".to_owned());
        self.named(name.strip_prefix("agent:").unwrap_or(&name))
    }

    fn named(&mut self, name: &str) -> u16 {
        if let Some(place) = self.by_name.get(name) {
            return *place;
        }
        let name = if self.clients.len() < CLIENTS {
            name
        } else {
            "(other)"
        };
        let next = self.clients.len() as u16;
        let place = *self.by_name.entry(name.to_owned()).or_insert(next);
        if place == next {
            self.clients.push(name.to_owned());
        }
        place
    }

    fn day(&mut self, ms: u64, zone: &TimeZone) -> i32 {
        let quarter = ms / QUARTER_MS;
        match self.last {
            Some((last, day)) if last == quarter => day,
            _ => {
                let ms = i64::try_from(ms).unwrap_or(i64::MAX);
                let time = Timestamp::from_millisecond(ms).unwrap_or(Timestamp::MAX);
                let day = number_of(time.to_zoned(zone.clone()).date());
                self.last = Some((quarter, day));
                day
            }
        }
    }

    fn sums(&self, position: u64, days: &RangeInclusive<i32>) -> Sums {
        let mut sums = Sums::default();
        let mut clients = vec![Shown::default(); self.clients.len()];
        let known = self
            .events
            .iter()
            .take_while(|event| event.position <= position);
        for event in known {
            sums.first = Some(sums.first.map_or(event.day, |first| first.min(event.day)));
            if !days.contains(&event.day) {
                continue;
            }
            let day = sums.days.entry(event.day).or_default();
            day.families[usize::from(event.family)] += 1;
            match event.what {
                What::Stored => day.stored += 1,
                What::Shown { front, memories } if front.is_asked() || memories => {
                    match front.is_asked() {
                        true => day.recalled += 1,
                        false => day.injected += 1,
                    }
                    let front = front.name().unwrap_or("unknown");
                    if !sums.fronts.contains_key(front) {
                        sums.fronts.insert(front.to_owned(), Shown::default());
                    }
                    let of_front = sums.fronts.get_mut(front);
                    let of_client = clients.get_mut(usize::from(event.client));
                    for shown in of_front.into_iter().chain(of_client) {
                        shown.times += 1;
                        shown.tokens += u64::from(event.tokens);
                    }
                }
                What::Shown { .. } | What::Other => {}
            }
        }
        let named = self.clients.iter().cloned().zip(clients);
        sums.clients = named.filter(|(_, shown)| shown.times > 0).collect();
        sums
    }
}
