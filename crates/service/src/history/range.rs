//! A part of the log, from one moment to another.

use icm_log::{Event, Position};

use crate::service::Service;
use icm_api::error::Result;
use icm_api::when::{self, DayMeans, When};

/// The events from one moment to another, both included. A moment is a time or a position.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EventRange {
    since_ms: Option<u64>,
    since: Option<Position>,
    until_ms: Option<u64>,
    until: Option<Position>,
}

impl EventRange {
    /// Returns `true` if an event is in the range.
    pub fn holds(&self, event: &Event<'_>) -> bool {
        self.has_begun(event) && self.has_not_ended(event)
    }

    /// Returns `true` if an event is not older than the range.
    pub fn has_begun(&self, event: &Event<'_>) -> bool {
        let ms = event.head.time().ms();
        self.since_ms.is_none_or(|since| ms >= since)
            && self.since.is_none_or(|since| event.position >= since)
    }

    /// Returns `true` if an event is not newer than the range.
    pub fn has_not_ended(&self, event: &Event<'_>) -> bool {
        let ms = event.head.time().ms();
        self.until_ms.is_none_or(|until| ms <= until) && !self.ends_before(event.position)
    }

    /// Returns `true` if the range has no event from this position on. A range that ends with a time can have some.
    pub fn ends_before(&self, position: Position) -> bool {
        self.until.is_some_and(|until| position > until)
    }
}

impl Service {
    /// Returns the range that `since` and `until` mean, as `--since` and `--until` take them. `None` means the start of
    /// the log, and its end. The beginning of an event's id costs a walk through the log.
    ///
    /// # Errors
    /// `Invalid` for a text that is no moment; `NotFound` and `Ambiguous` for the id of no event, or of several.
    pub fn event_range(&self, since: Option<&str>, until: Option<&str>) -> Result<EventRange> {
        let (since_ms, since) = self.end_of_range(since, DayMeans::Start)?;
        let (until_ms, until) = self.end_of_range(until, DayMeans::End)?;
        Ok(EventRange {
            since_ms,
            since,
            until_ms,
            until,
        })
    }

    fn end_of_range(
        &self,
        text: Option<&str>,
        day: DayMeans,
    ) -> Result<(Option<u64>, Option<Position>)> {
        let Some(text) = text else {
            return Ok((None, None));
        };
        let when = when::parse(text, self.now_ms(), &self.zone(), day);
        Ok(
            match when.map_err(|error| self.without_its_secrets(error))? {
                When::Time(ms) => (Some(ms), None),
                When::Position(position) => (None, Some(Position(position))),
                When::Event(prefix) => (None, Some(self.find_event(&prefix)?)),
            },
        )
    }
}
