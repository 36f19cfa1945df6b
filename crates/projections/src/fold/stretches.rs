//! Where in the order of positions something held.

use icm_log::Position;
use serde::{Deserialize, Serialize};

/// Stretches of positions, oldest first: from one on, up to before another one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretches(Vec<(Position, Option<Position>)>);

impl Stretches {
    /// Whether the newest one goes on.
    pub fn is_open(&self) -> bool {
        self.0.last().is_some_and(|(_, to)| to.is_none())
    }

    /// Whether one holds a position.
    pub fn holds(&self, position: Position) -> bool {
        let mut stretches = self.0.iter();
        stretches.any(|(from, to)| *from <= position && to.is_none_or(|to| position < to))
    }

    /// From `position` on it holds, or does not, which is the other way round than before.
    pub(super) fn turn(&mut self, holds: bool, position: Position) {
        match (holds, self.0.last_mut()) {
            (true, _) => self.0.push((position, None)),
            (false, Some(last)) => last.1 = Some(position),
            (false, None) => {}
        }
    }
}
