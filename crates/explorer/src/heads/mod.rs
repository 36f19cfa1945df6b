//! Counts of the log: events by time and family, ends of commands, sessions, tokens.
//!
//! A page of a large log cannot walk it. [`Heads`] keeps the counts in memory, and each request adds the events that are
//! new. The walk reads heads and facts; it decodes the payloads of a few kinds only, those that name a session or an
//! actor.
//!
//! An imported event counts at the time at which this machine learned it, as `--at` means it: the moment before an import
//! does not show what was imported.

mod density;
mod family;
mod sessions;

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use icm_api::error::Result;
use icm_log::facts::{Facts, MemoryRecalled};
use icm_log::{Cursor, Event, Kind, Log, LogError, Rewritten};

pub(crate) use density::{Column, Density};
pub(crate) use family::{FAMILIES, Family};
pub(crate) use sessions::{SessionSeen, Sessions, Shown, Tokens};

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
    /// Events by time and family.
    pub(crate) density: Density,
    /// Sessions and their actors.
    pub(crate) sessions: Sessions,
    /// Tokens that agents were shown, by time.
    pub(crate) tokens: Tokens,
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
            density: Density::default(),
            sessions: Sessions::default(),
            tokens: Tokens::default(),
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
        self.sessions.take(event);
        if head.kind() == Kind::MEMORY_RECALLED
            && let Ok(Facts::Recalled(facts)) = Facts::of(head)
        {
            self.tokens.take(head.time().ms(), &facts);
            self.sessions.shown(head.session(), &facts);
        }
        if !event.own {
            self.learning.push(family);
            return;
        }
        let ms = head.time().ms();
        self.span_ms = Some((self.span_ms.map_or(ms, |(first, _)| first), ms));
        for learned in self.learning.drain(..) {
            self.density.add(ms, learned);
        }
        self.density.add(ms, family);
        if head.batch_index() + 1 == head.batch_count() {
            self.ends.push(event.position.0);
        }
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

/// Tokens of a recall, and the number of memories that it showed; `None` for an injection without memories, which nobody
/// counts.
fn shown_by(facts: &MemoryRecalled) -> Option<(u64, u64)> {
    let asked = facts.shown.is_none_or(|shown| shown.front.is_asked());
    let memories = facts.results.len() as u64;
    let tokens = facts.shown.map_or(0, |shown| u64::from(shown.tokens));
    (asked || memories > 0).then_some((memories, tokens))
}

#[cfg(test)]
mod tests;
