//! The living memories in numbers: from their row facts, without reading the table.

use icm_log::SubjectId;
use rustc_hash::FxHashSet;

use super::Views;
use crate::error::Result;
use crate::fold::{EntityId, Family};
use crate::rows::{Row, damaged};

impl Views {
    /// Hands out the row facts of every memory that lives now, in the order of ordinals. Reads 64 bytes a version.
    ///
    /// # Errors
    /// `Unusable` for a damaged record; what `each` fails with.
    pub fn each_living<E: From<crate::ViewError>>(
        &self,
        each: &mut dyn FnMut(&Row) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        // A row that a later commit closed in the files holds in this snapshot.
        let now = self.tally().position;
        let closed = &self.tail.folder.kept.closed;
        let mut take = |ordinal: u64, row: &Row| {
            let lives = row.holds_at(now) && row.facts.family == Family::Memory;
            match lives && !closed.contains_key(&ordinal) {
                true => each(row),
                false => Ok(()),
            }
        };
        for ordinal in 0..self.files.rows.count() {
            let row = self
                .files
                .rows
                .get(ordinal)
                .ok_or_else(|| damaged(ordinal))?;
            take(ordinal, &row)?;
        }
        let overlay = &self.tail.folder.kept;
        for (ordinal, entity, from) in &overlay.opened {
            if let Some(version) = overlay.version_from(*entity, *from) {
                take(*ordinal, &Row::of(*entity, version))?;
            }
        }
        Ok(())
    }

    /// The memories that recalls showed, whether they live or not, and whether those recalls count or not. Reads the keys
    /// of the recalls' table.
    ///
    /// # Errors
    /// `Unusable` where the table cannot be read.
    pub fn shown_by_recalls(&self) -> Result<FxHashSet<EntityId>> {
        let mut ids: FxHashSet<SubjectId> = FxHashSet::default();
        if self.files.base.tally.recalls > 0 {
            ids.extend(self.table()?.shown_by_recalls()?);
        }
        ids.extend(self.tail.folder.kept.accesses.keys());
        ids.into_iter().map(|id| self.resolve(id)).collect()
    }
}
