//! Ranges of positions at which a link or a tick held.

use icm_log::Position;
use serde::{Deserialize, Serialize};

/// Ranges of positions, oldest first; each from a position on, up to and without a second one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretches(Vec<(Position, Option<Position>)>);

impl Stretches {
    /// Returns `true` if the newest range has no end.
    pub fn is_open(&self) -> bool {
        self.0.last().is_some_and(|(_, to)| to.is_none())
    }

    /// Returns `true` if a range contains a position.
    pub fn holds(&self, position: Position) -> bool {
        let mut stretches = self.0.iter();
        stretches.any(|(from, to)| *from <= position && to.is_none_or(|to| position < to))
    }

    /// Records that the state changes at `position`: from there on it holds if `holds`, else it does not.
    pub(super) fn turn(&mut self, holds: bool, position: Position) {
        match (holds, self.0.last_mut()) {
            (true, _) => self.0.push((position, None)),
            (false, Some(last)) => last.1 = Some(position),
            (false, None) => {}
        }
    }
}
