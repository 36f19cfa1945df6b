//! Reads folded events from the log again.

use std::ops::ControlFlow;

use icm_log::facts::UndoneRange;
use icm_log::{Event, Log, Position, Waypoint, Waypoints};

use super::waypoints::Both;
use crate::error::Result;
use crate::fold::Past;

/// Positions that are read in one go if they lie at most this far apart: 64. A larger value reads more bytes in vain.
const NEAR: u64 = 64;

/// The log, with its known waypoints.
pub(super) struct LogPast<'a> {
    pub(super) log: &'a Log,
    /// The waypoints up to some place, and those beyond it.
    pub(super) older: &'a dyn Waypoints,
    pub(super) newer: &'a Both<Vec<Waypoint>>,
}

impl Waypoints for LogPast<'_> {
    fn last(&self, before: &dyn Fn(&Waypoint) -> bool) -> Option<Waypoint> {
        (self.newer.last(before)).or_else(|| self.older.last(before))
    }

    fn last_imported(&self, position: Position) -> Option<Waypoint> {
        let newer = self.newer.last_imported(position);
        newer.or_else(|| self.older.last_imported(position))
    }
}

impl Past for LogPast<'_> {
    fn events_at(&self, positions: &[Position], take: &mut dyn FnMut(&Event<'_>)) -> Result<()> {
        let mut rest = positions;
        while let Some(first) = rest.first() {
            let from = self.log.place_before(*first, self)?;
            self.log.scan_from(&from, (*first, self), &mut |event| {
                while let Some((next, after)) = rest.split_first()
                    && *next <= event.position
                {
                    if *next == event.position {
                        take(event);
                    }
                    rest = after;
                }
                match rest.first() {
                    Some(next)
                        if event.position < *first
                            || next.0.saturating_sub(event.position.0) <= NEAR =>
                    {
                        ControlFlow::Continue(())
                    }
                    _ => ControlFlow::Break(()),
                }
            })?;
            if rest.first() == Some(first) {
                // The log does not reach that position.
                return Ok(());
            }
        }
        Ok(())
    }

    fn events_in(&self, range: &UndoneRange, take: &mut dyn FnMut(&Event<'_>)) -> Result<()> {
        let first = self.log.position_of(range.origin, range.from_seq, self)?;
        let Some(first) = first else {
            return Ok(());
        };
        let from = self.log.place_before(first, self)?;
        self.log.scan_from(&from, (first, self), &mut |event| {
            let (origin, seq) = (event.head.origin(), event.head.seq());
            if event.own && range.holds(origin, seq) {
                take(event);
            }
            match event.own && origin == range.origin && seq >= range.to_seq {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(())
    }
}
