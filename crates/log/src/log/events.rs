//! Scans of a log's events, in this machine's order of learning.

use std::ops::ControlFlow;

use super::{Log, State};
use crate::error::{LogError, Result};
use crate::recover::Tip;
use crate::walk::{Cursor, Event, Splice, Walk, Waypoints, origins_of};
use icm_event::id::{OriginId, Position, Seq};

impl Log {
    fn walk(&self) -> Walk<'_> {
        self.walk_of(&self.lock_state())
    }

    /// Returns a walk that hands out own events only.
    fn own_walk(&self) -> Walk<'_> {
        Walk {
            splice: Splice::Nothing,
            ..self.walk()
        }
    }

    pub(crate) fn walk_of(&self, state: &State) -> Walk<'_> {
        Walk {
            disk: &*self.disk,
            store: &self.dir,
            parts: state.parts.clone(),
            tip: state.tip.clone(),
            segments: state.segments.clone(),
            file: state.hold.file.clone(),
            holes: self.explainer(
                origins_of(&state.parts),
                state.tip.as_ref().map(|place| place.tip.event),
            ),
            branches: &self.own_branches,
            splice: Splice::All,
        }
    }

    /// Hands out every event after `from`, in the order of positions, up to the tip of the last refresh. Stops when
    /// `each` breaks. Returns the place after the last own event handed out; after a break within an imported range,
    /// the next scan starts that range again.
    ///
    /// # Errors
    /// `StaleCursor` if the log no longer holds the event that `from` names. `Damaged` or `NewerFormat` at an event
    /// that cannot be read; the events before it were handed out.
    pub fn scan(
        &self,
        from: &Cursor,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<Cursor> {
        self.walk().forward(from, each)
    }

    /// Like [`Log::scan`] from the start, for own events only.
    pub(crate) fn scan_own(
        &self,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        (self.own_walk()).forward(&Cursor::START, each).map(drop)
    }

    /// Like [`Log::scan`], for callers that need no event before `position`. Imported ranges before it are not read.
    /// The imported range that contains it is read from the last waypoint in `known` on.
    pub fn scan_from<'a>(
        &'a self,
        from: &Cursor,
        (position, known): (Position, &'a dyn Waypoints),
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<Cursor> {
        let mut walk = self.walk();
        walk.splice = Splice::From(position, known);
        walk.forward(from, each)
    }

    /// Like [`Log::scan`], but returns the place that it reached even if it ended with an error.
    pub fn scan_whole(
        &self,
        from: &Cursor,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> (Cursor, Option<LogError>) {
        let mut cursor = *from;
        let stopped = self.walk().forward_to(&mut cursor, each).err();
        (cursor, stopped)
    }

    /// Hands out every event at or before `from` (the tip if `None`), newest first. Costs one pass over each segment
    /// that it touches.
    pub fn scan_back(
        &self,
        from: Option<Position>,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.walk()
            .backward(from.unwrap_or(Position(u64::MAX)), &(), each)
    }

    /// Like [`Log::scan_back`]. Of each segment it reads the part after a waypoint in `known` first, and the parts before
    /// that as far as they are needed. Damage in a part that is not needed is not found.
    pub fn scan_back_from(
        &self,
        (from, known): (Position, &dyn Waypoints),
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.walk().backward(from, known, each)
    }

    /// Returns the place before the own event that has `position` or imported it. A scan from there hands out the event
    /// at `position`, perhaps after some earlier events.
    pub fn cursor_before(&self, position: Position, known: &dyn Waypoints) -> Result<Cursor> {
        self.own_walk().cursor_before(position, known)
    }

    /// Returns a place before `position` without reading the events in between. [`Log::scan_from`] there first hands
    /// out some own events: those since the last valid waypoint, or those of a segment.
    pub fn place_before(&self, position: Position, known: &dyn Waypoints) -> Result<Cursor> {
        self.own_walk().start_before(position, known)
    }

    /// Returns the position of event `seq` of a walked chain; `None` if the walk does not reach the event.
    pub fn position_of(
        &self,
        origin: OriginId,
        seq: Seq,
        known: &dyn Waypoints,
    ) -> Result<Option<Position>> {
        self.walk().position_of(origin, seq, known)
    }

    /// Returns `true` if the log still holds the event that `cursor` names, in the same place.
    pub fn holds(&self, cursor: &Cursor) -> Result<bool> {
        self.walk().holds(cursor)
    }

    /// Returns the place after the tip.
    pub fn end(&self) -> Cursor {
        self.walk().end()
    }

    /// Returns the last event of the walked chains with a time at or before `ms` (milliseconds since 1970-01-01 UTC),
    /// or the end of its batch. Searches the newest chain first. `None` if all events are later.
    pub fn at_time(&self, ms: u64, known: &dyn Waypoints) -> Result<Option<Tip>> {
        self.walk().at_time(ms, known)
    }

    /// Returns the own event at the end of what `position` stands for: the last event of its batch, or the
    /// `log.imported` that brought it. `None` for 0 and beyond the tip.
    pub fn at_position(&self, position: Position, known: &dyn Waypoints) -> Result<Option<Tip>> {
        self.own_walk().at_position(position, known)
    }
}
