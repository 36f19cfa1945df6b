//! Reads events that were folded before, including those of imports and other branches.

use icm_log::facts::UndoneRange;
use icm_log::{Event, Position};

use crate::error::Result;
use crate::fold::apply::Folder;
use crate::fold::base::{Base, Learned};
use crate::fold::branches::{Named, Places};
use crate::fold::overlay::Overlay;
use crate::fold::undos::Undo;

/// A reader of folded events.
pub trait Past {
    /// Gives the events at these positions, which ascend, to `take`.
    fn events_at(&self, positions: &[Position], take: &mut dyn FnMut(&Event<'_>)) -> Result<()>;
    /// Gives the events of a range that are in the walked chains to `take`, ascending.
    fn events_in(&self, range: &UndoneRange, take: &mut dyn FnMut(&Event<'_>)) -> Result<()>;
}

impl Folder<Overlay> {
    fn learned(&self, base: &dyn Base) -> Result<Vec<Learned>> {
        let mut learned = base.imported()?;
        learned.extend(&self.kept.imported);
        Ok(learned)
    }

    /// Records for each undo which learned events stand on other branches than the named ones.
    pub(super) fn tell_branches(
        &self,
        base: &dyn Base,
        past: &dyn Past,
        undos: &mut [Undo],
    ) -> Result<()> {
        if self.tally.imports == 0 || undos.is_empty() {
            return Ok(());
        }
        let places = Places::imported(self.learned(base)?.iter());
        for undo in undos {
            let mut beside = Vec::new();
            for range in undo.facts() {
                let imported = places.within(&range);
                if imported.is_empty() {
                    continue;
                }
                let mut branches = places.branch_in(&range);
                past.events_in(&range, &mut |event| {
                    let (seq, mut imported) = (event.head.seq(), imported.iter());
                    branches |= imported.any(|(from, to)| *from <= seq && seq <= *to);
                })?;
                if branches {
                    let mut named = Named::default();
                    self.each_of(base, past, &range, &mut |event| {
                        if event.position <= self.tally.position {
                            named.add(event);
                        }
                    })?;
                    beside.extend(named.beside(&range));
                }
            }
            undo.is_beside(beside);
        }
        Ok(())
    }

    /// Gives the events of a range that were learned so far to `take`: those of the walked chains, and those of
    /// imports.
    pub(super) fn each_of(
        &self,
        base: &dyn Base,
        past: &dyn Past,
        range: &UndoneRange,
        take: &mut dyn FnMut(&Event<'_>),
    ) -> Result<()> {
        past.events_in(range, take)?;
        if self.tally.imports == 0 {
            return Ok(());
        }
        let mut positions = Vec::new();
        for learned in self
            .learned(base)?
            .iter()
            .filter(|one| one.origin == range.origin)
        {
            let first = range.from_seq.max(learned.from_seq).0;
            let last = range.to_seq.min(learned.to_seq).0;
            let position = |seq: u64| Position(learned.first.0 + (seq - learned.from_seq.0));
            positions.extend((first..=last).map(position));
        }
        positions.sort_unstable();
        past.events_at(&positions, take)
    }
}
