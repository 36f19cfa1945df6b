//! Counts of the log: events by time and family, ends of commands, sessions, chains, alerts, days.
//!
//! A page of a large log cannot walk it. [`Heads`] keeps the counts in memory, and each request adds the events that are
//! new. The walk reads heads and facts; it decodes the payloads of a few kinds only, those that name a session or an
//! actor.
//!
//! Under the slider, an imported event stands at the time at which this machine learned it, as `--at` means it: the moment
//! before an import does not show what was imported. In the counts by day it stands on the day on which it was written.

mod alerts;
mod chains;
mod density;
mod family;
mod tally;

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use icm_agents::sessions::Sessions;
use icm_api::error::Result;
use icm_log::{Cursor, Event, EventId, Log, LogError, Position, Rewritten};

pub(crate) use alerts::{AlertSeen, Alerts};
pub(crate) use chains::{Chain, Chains};
pub(crate) use density::{Column, Density};
pub(crate) use family::{FAMILIES, Family};
pub(crate) use tally::{Day, Shown, Sums, Tally};

/// The counts, kept between requests.
#[derive(Default)]
pub(crate) struct Heads(Mutex<Seen>);

/// The counts of the events so far.
pub(crate) struct Seen {
    /// The place after the last own event.
    cursor: Cursor,
    /// The mark of the log files at the walk: a rewritten log is walked again.
    rewritten: Rewritten,
    /// Families of the imported events whose `log.imported` comes next.
    learning: Vec<Family>,
    /// Number of events.
    pub(crate) events: u64,
    /// Times of the first and the last own event, in milliseconds since the epoch.
    pub(crate) span_ms: Option<(u64, u64)>,
    /// Positions at which a moment can be: the last event of each command.
    pub(crate) ends: Vec<u64>,
    /// The first bytes of the id of each event, and its position.
    ids: Vec<(u64, u64)>,
    /// Events by time and family.
    pub(crate) density: Density,
    /// Sessions and their actors.
    pub(crate) sessions: Sessions,
    /// Chains and who wrote them.
    pub(crate) chains: Chains,
    /// Alerts and their deliveries.
    pub(crate) alerts: Alerts,
    /// Counts by day.
    pub(crate) tally: Tally,
}

/// The sessions and chains of a moment.
pub(crate) struct Then<'a> {
    pub(crate) sessions: &'a Sessions,
    pub(crate) chains: &'a Chains,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen {
            cursor: Cursor::START,
            rewritten: Rewritten::default(),
            learning: Vec::new(),
            events: 0,
            span_ms: None,
            ends: Vec::new(),
            ids: Vec::new(),
            density: Density::default(),
            sessions: Sessions::default(),
            chains: Chains::default(),
            alerts: Alerts::default(),
            tally: Tally::default(),
        }
    }
}

impl Heads {
    /// Counts the events that are new, and returns what `look` makes of the counts. The first call walks the whole log.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(crate) fn with<T>(&self, log: &Log, look: impl FnOnce(&Seen) -> T) -> Result<T> {
        log.refresh()?;
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rewritten = log.rewritten();
        if seen.rewritten != rewritten {
            *seen = Seen {
                rewritten,
                ..Seen::default()
            };
        }
        if let Err(error) = seen.catch_up(log) {
            let rewritten = std::mem::take(&mut seen.rewritten);
            // Half of an import may be counted.
            *seen = Seen {
                rewritten,
                ..Seen::default()
            };
            match error {
                LogError::StaleCursor { .. } => seen.catch_up(log)?,
                error => return Err(error.into()),
            }
        }
        Ok(look(&seen))
    }

    /// Returns what `look` makes of the sessions and chains up to a position; `None` for now. Those up to an earlier
    /// position than the newest are not kept: the log is walked up to there.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub(crate) fn until<T>(
        &self,
        log: &Log,
        position: Option<u64>,
        look: impl FnOnce(&Then<'_>) -> T,
    ) -> Result<T> {
        log.refresh()?;
        let newest = log.tip().map_or(0, |tip| tip.position.0);
        let Some(position) = position.filter(|position| *position < newest) else {
            return self.with(log, |seen| {
                look(&Then {
                    sessions: &seen.sessions,
                    chains: &seen.chains,
                })
            });
        };
        let (mut sessions, mut chains) = (Sessions::default(), Chains::default());
        log.scan(&Cursor::START, &mut |event| {
            if event.position > Position(position) {
                return ControlFlow::Break(());
            }
            sessions.take(event, true);
            chains.take(event);
            ControlFlow::Continue(())
        })?;
        Ok(look(&Then {
            sessions: &sessions,
            chains: &chains,
        }))
    }
}

impl Seen {
    fn catch_up(&mut self, log: &Log) -> std::result::Result<(), LogError> {
        let from = self.cursor;
        self.cursor = log.scan(&from, &mut |event| {
            self.take(event);
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    fn take(&mut self, event: &Event<'_>) {
        let head = &event.head;
        let family = Family::of(head.kind());
        self.events += 1;
        self.ids.push((start_of(event.id), event.position.0));
        self.sessions.take(event, true);
        self.chains.take(event);
        self.alerts.take(event);
        self.tally.take(event, family, &self.sessions);
        let ms = head.time().ms();
        if !event.own {
            self.learning.push(family);
            return;
        }
        self.span_ms = Some((self.span_ms.map_or(ms, |(first, _)| first), ms));
        for learned in self.learning.drain(..) {
            self.density.add(ms, learned);
        }
        self.density.add(ms, family);
        if head.batch_index() + 1 == head.batch_count() {
            self.ends.push(event.position.0);
        }
    }

    /// Returns the position of the event whose id begins as `id` does. The caller compares the whole id.
    pub(crate) fn position_of(&self, id: EventId) -> Option<u64> {
        let start = start_of(id);
        let found = self.ids.iter().find(|(of, _)| *of == start);
        found.map(|(_, position)| *position)
    }

    /// Returns the moments one command before and one command after a position.
    pub(crate) fn around(&self, position: u64) -> (Option<u64>, Option<u64>) {
        let at = self.ends.partition_point(|end| *end < position);
        let after = self.ends.partition_point(|end| *end <= position);
        let before = at.checked_sub(1);
        let end = |index: usize| self.ends.get(index).copied();
        (before.and_then(end), end(after))
    }
}

fn start_of(id: EventId) -> u64 {
    id.0.iter()
        .take(8)
        .fold(0, |start, byte| start << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests;
