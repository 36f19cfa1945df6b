//! Applies ticks of decay. A tick is stored by itself, so it costs the same for any number of memories. Its effect on a
//! memory is computed when the memory is shown (see [`decay`](crate::fold::decay)).

use icm_log::facts::MemoryDecayed;
use icm_log::{Event, Position};

use super::{Applied, Folder};
use crate::error::Result;
use crate::fold::decay::Tick;
use crate::fold::keep::Keep;
use crate::fold::state_hash::tick_digest;

impl<K: Keep> Folder<K> {
    pub(super) fn decayed(
        &mut self,
        event: &Event<'_>,
        facts: &MemoryDecayed,
        in_force: bool,
    ) -> Result<Applied> {
        self.tally.ticks += 1;
        let tick = Tick::of(event, facts);
        match in_force {
            true => self.turn_tick(tick, event.position),
            false => self.kept.tick(tick),
        }
        Ok(Applied::default())
    }

    /// Records that a tick comes into force, or goes out of it, from a position on.
    pub(in crate::fold) fn turn_tick(&mut self, mut tick: Tick, position: Position) {
        let holds = !tick.held.is_open();
        tick.held.turn(holds, position);
        match holds {
            true => self.tally.sum.add(tick_digest(&tick)),
            false => self.tally.sum.remove(tick_digest(&tick)),
        }
        self.kept.tick(tick);
    }
}
