//! The living memories of a position, read from their row facts without the table.

use icm_log::{Position, SubjectId};
use icm_text::Signature;
use rustc_hash::FxHashSet;

use super::Views;
use crate::error::Result;
use crate::fold::{EntityId, Family, Link, Version};
use crate::rows::{Row, damaged};

impl Views {
    /// Gives the row facts of every memory that lives now to `each`, in the order of ordinals. Reads 104 bytes
    /// a version.
    ///
    /// # Errors
    /// `Unusable` for a damaged record; any error of `each`.
    pub fn each_living<E: From<crate::ViewError>>(
        &self,
        each: &mut dyn FnMut(&Row) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        self.each_living_at(self.tally().position, &mut |_, row| each(row))
    }

    /// Gives ordinal and row facts of every memory that lived at `position` to `each`, in the order of ordinals. Reads
    /// 104 bytes a version.
    ///
    /// # Errors
    /// `Unusable` for a damaged record; any error of `each`.
    pub fn each_living_at<E: From<crate::ViewError>>(
        &self,
        position: Position,
        each: &mut dyn FnMut(u64, &Row) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let overlay = &self.tail.folder.kept;
        // A row that a later commit closed in the file still holds in this snapshot, whose positions end before that
        // commit.
        let is_open = |ordinal: u64| {
            overlay.closed.is_empty()
                || (overlay.closed.get(&ordinal)).is_none_or(|end| position < end.at)
        };
        let lives = |ordinal: u64, row: &Row| {
            row.facts.family == Family::Memory && row.holds_at(position) && is_open(ordinal)
        };
        let filed = &self.files.rows;
        for ordinal in 0..filed.count() {
            let row = filed.get(ordinal).ok_or_else(|| damaged(ordinal))?;
            if lives(ordinal, &row) {
                each(ordinal, &row)?;
            }
        }
        for (ordinal, entity, from) in &overlay.opened {
            if let Some(version) = overlay.version_from(*entity, *from) {
                let row = Row::of(*entity, version, self.signature(*ordinal));
                if lives(*ordinal, &row) {
                    each(*ordinal, &row)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the row facts of an ordinal.
    ///
    /// # Errors
    /// `Unusable` for a damaged record, and for an ordinal that was not given yet.
    pub fn row(&self, ordinal: u64) -> Result<Row> {
        let row = match ordinal.checked_sub(self.files.base.tally.next_ordinal) {
            None => self.files.rows.get(ordinal),
            Some(at) => (self.opened(at))
                .zip(self.tail.folder.kept.opened.get(at as usize))
                .map(|(version, (_, entity, _))| {
                    Row::of(*entity, version, self.signature(ordinal))
                }),
        };
        row.ok_or_else(|| damaged(ordinal))
    }

    /// Returns the signature of a text in the tail.
    fn signature(&self, ordinal: u64) -> Option<Signature> {
        self.tail.signature(ordinal)
    }

    /// Returns the version of a row.
    ///
    /// # Errors
    /// `Unusable` if the table lacks the version, or cannot be read.
    pub fn version_of_row(&self, row: &Row) -> Result<Version> {
        self.version_from(row.entity, row.from)
    }

    /// Returns the version of a memory that holds from a position.
    ///
    /// # Errors
    /// As [`Views::version_of_row`].
    pub fn version_from(&self, entity: EntityId, from: Position) -> Result<Version> {
        let newer = self.tail.folder.kept.version_from(entity, from);
        let version = match newer {
            Some(version) => Some(version.clone()),
            None => self.table()?.reader()?.get(entity, from)?,
        };
        version.ok_or_else(|| crate::ViewError::Unusable {
            view: "table",
            why: "a row has no version".to_owned(),
        })
    }

    /// Gives every link between memories that held at `position` to `each`, in no order. The caller checks whether its
    /// ends are visible. The links are not collected in memory.
    ///
    /// # Errors
    /// `Unusable` if the table cannot be read.
    pub fn each_link_at(&self, position: Position, each: &mut dyn FnMut(&Link)) -> Result<()> {
        if self.tally().links == 0 {
            return Ok(());
        }
        let newer = &self.tail.folder.kept.links;
        let is_newer = |link: &Link| {
            (newer.get(&link.from)).is_some_and(|links| links.contains_key(&link.position))
        };
        if self.files.base.tally.links > 0 {
            self.table()?.each_link(&mut |link| {
                if !is_newer(&link) && link.held_at(position) {
                    each(&link);
                }
            })?;
        }
        // Each link stands under both of its ends.
        for (id, newer) in newer {
            let held = |link: &&Link| link.from == *id && link.held_at(position);
            newer.values().filter(held).for_each(&mut *each);
        }
        Ok(())
    }

    /// Returns the memories that recalls showed, alive or not, including recalls that no longer count. Reads the keys
    /// of the accesses.
    ///
    /// # Errors
    /// `Unusable` if the table cannot be read.
    pub fn shown_by_recalls(&self) -> Result<FxHashSet<EntityId>> {
        let mut ids: FxHashSet<SubjectId> = FxHashSet::default();
        if self.files.base.tally.recalls > 0 {
            ids.extend(self.table()?.shown_by_recalls()?);
        }
        ids.extend(self.tail.folder.kept.accesses.keys());
        ids.into_iter().map(|id| self.resolve(id)).collect()
    }
}
