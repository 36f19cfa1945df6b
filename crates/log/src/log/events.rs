//! The events of a log, in this machine's order of learning.

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

    /// A walk that hands out own events alone.
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

    /// Hands out every event after `from`, in the order of positions, up to the tip as of the last
    /// refresh. Stops when `each` breaks. Returns the place after the last own event handed out,
    /// so a break within an imported range is taken up again from the range's start.
    ///
    /// # Errors
    /// `StaleCursor` when the log no longer holds what `from` names, `Damaged` and `NewerFormat`
    /// at an event that cannot be read; what is before it was handed out.
    pub fn scan(
        &self,
        from: &Cursor,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<Cursor> {
        self.walk().forward(from, each)
    }

    /// As [`Log::scan`] from the start, but own events alone.
    pub(crate) fn scan_own(
        &self,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        (self.own_walk()).forward(&Cursor::START, each).map(drop)
    }

    /// As [`Log::scan`], for who wants nothing before `position`: of the imported ranges before it nothing is
    /// read, and of the one that holds it no more than from the last of the `known` waypoints on.
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

    /// As [`Log::scan`], but says how far it came and, apart from that, why it stopped early.
    pub fn scan_whole(
        &self,
        from: &Cursor,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> (Cursor, Option<LogError>) {
        let mut cursor = *from;
        let stopped = self.walk().forward_to(&mut cursor, each).err();
        (cursor, stopped)
    }

    /// Hands out every event at or before `from` (the tip when `None`), newest first. Costs one
    /// pass over each segment that it touches.
    pub fn scan_back(
        &self,
        from: Option<Position>,
        each: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.walk()
            .backward(from.unwrap_or(Position(u64::MAX)), each)
    }

    /// The place before the own event that holds `position` or brought it; a scan from there hands
    /// out `position` and perhaps some events before it.
    pub fn cursor_before(&self, position: Position, known: &dyn Waypoints) -> Result<Cursor> {
        self.own_walk().cursor_before(position, known)
    }

    /// A place before `position` that is found without reading what lies between; [`Log::scan_from`] there hands out
    /// some own events first: those since the last waypoint that holds, or of a segment.
    pub fn place_before(&self, position: Position, known: &dyn Waypoints) -> Result<Cursor> {
        self.own_walk().start_before(position, known)
    }

    /// The position of event `seq` of a chain that is walked; `None` when the walk does not come by
    /// there.
    pub fn position_of(
        &self,
        origin: OriginId,
        seq: Seq,
        known: &dyn Waypoints,
    ) -> Result<Option<Position>> {
        self.walk().position_of(origin, seq, known)
    }

    /// Whether the log still holds the event that `cursor` names, where it names it.
    pub fn holds(&self, cursor: &Cursor) -> Result<bool> {
        self.walk().holds(cursor)
    }

    /// The place after the tip.
    pub fn end(&self) -> Cursor {
        self.walk().end()
    }

    /// The last event of the walked chains with a time at or before `ms` (milliseconds since the
    /// epoch), widened to the end of its batch; searched newest chain first. `None` when all are
    /// later.
    pub fn at_time(&self, ms: u64, known: &dyn Waypoints) -> Result<Option<Tip>> {
        self.walk().at_time(ms, known)
    }

    /// The event at the end that `position` means: the last of its batch, or the `log.imported`
    /// that brought it. `None` beyond the tip and for 0.
    pub fn at_position(&self, position: Position, known: &dyn Waypoints) -> Result<Option<Tip>> {
        self.own_walk().at_position(position, known)
    }
}
