//! Ticks of decay: each stands for itself, so one costs the same however many memories there are. What
//! they come to for a memory is asked when it is shown (see [`decay`](super::decay)).

use icm_log::facts::MemoryDecayed;
use icm_log::{Event, Position, Seq};
use serde::{Deserialize, Serialize};

use super::apply::{Applied, Folder, Keep};
use super::decay::{Rates, day_of};
use super::memory::stamp_of;
use super::record::Stamp;
use super::state_hash::tick_digest;
use super::stretches::Stretches;
use crate::error::Result;

/// A tick, with all that became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// Its position.
    pub position: Position,
    /// The event.
    pub stamp: Stamp,
    /// Its place in the author's chain.
    pub seq: Seq,
    /// The last day that it is for, never after that of its own time.
    pub as_of_day: u32,
    /// How memories fade.
    pub rates: Rates,
    /// Where it held.
    pub held: Stretches,
}

impl Tick {
    fn of(event: &Event<'_>, facts: &MemoryDecayed) -> Tick {
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

    /// From a position on a tick that was in force is not, or the other way round.
    pub(super) fn turn_tick(&mut self, mut tick: Tick, position: Position) {
        let holds = !tick.held.is_open();
        tick.held.turn(holds, position);
        match holds {
            true => self.tally.sum.add(tick_digest(&tick)),
            false => self.tally.sum.remove(tick_digest(&tick)),
        }
        self.kept.tick(tick);
    }
}
