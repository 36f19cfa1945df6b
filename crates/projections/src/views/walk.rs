//! Walks versions in the order in which they were made.

use std::ops::Range;

use icm_log::Position;
use icm_log::facts::Importance;

use super::parts::parts;
use super::{Table, Views};
use crate::error::{Result, ViewError};
use crate::fold::{EntityId, Family, Version};
use crate::moment::Moment;
use crate::rows::{self, Row, RowFacts, Rows, TopicTag};

/// The conditions of a memory that stands out; one of them is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandsOut {
    /// The least importance; a pinned memory passes, too.
    pub importance: Importance,
    /// The topics.
    pub topics: Vec<TopicTag>,
    /// The position after which the memory changed.
    pub after: Option<Position>,
}

impl StandsOut {
    fn fits(&self, facts: &RowFacts, topic: TopicTag, from: Position) -> bool {
        facts.family == Family::Memory
            && (facts.is_pinned
                || facts.importance >= self.importance
                || self.after.is_some_and(|after| from > after)
                || self.topics.contains(&topic))
    }
}

/// Calls `each` with every version of the files that has one of these ordinals.
///
/// # Errors
/// `Unusable` if rows or table lack a version; any error of `each`.
pub(super) fn each_filed(
    table: &Table,
    rows: &Rows,
    ordinals: Range<u64>,
    each: &mut dyn FnMut(u64, Row, Version) -> Result<()>,
) -> Result<()> {
    if ordinals.is_empty() {
        return Ok(());
    }
    let versions = table.reader()?;
    for ordinal in ordinals {
        let row = rows.get(ordinal).ok_or_else(|| missing(ordinal, "rows"))?;
        let version = versions.get(row.entity, row.from)?;
        each(
            ordinal,
            row,
            version.ok_or_else(|| missing(ordinal, "table"))?,
        )?;
    }
    Ok(())
}

impl Views {
    /// Returns the texts of these passages, from the files or the tail.
    pub(super) fn texts(&self, passages: Range<u64>) -> Result<Vec<String>> {
        if passages.is_empty() {
            return Ok(Vec::new());
        }
        let known = &self.tail.passages;
        let (first, skipped) = known.version(passages.start);
        let ordinals = first..known.version(passages.end - 1).0 + 1;
        let mut texts = Vec::new();
        self.each_of(ordinals, &mut |version| {
            let parts = parts(version).into_iter();
            texts.extend(parts.map(|part| version.meaning_of(&part).into_owned()));
        })?;
        texts.drain(..texts.len().min(skipped as usize));
        texts.truncate((passages.end - passages.start) as usize);
        Ok(texts)
    }

    /// Returns the whole texts of these versions, of the files and of the tail.
    pub(super) fn whole_texts(&self, ordinals: Range<u64>) -> Result<Vec<String>> {
        let mut texts = Vec::new();
        self.each_of(ordinals, &mut |version| {
            texts.push(version.meaning_text().into_owned());
        })?;
        Ok(texts)
    }

    /// Calls `each` with every version that has one of these ordinals.
    fn each_of(&self, ordinals: Range<u64>, each: &mut dyn FnMut(&Version)) -> Result<()> {
        let next = self.files.base.tally.next_ordinal;
        let filed = ordinals.start..ordinals.end.min(next);
        if !filed.is_empty() {
            each_filed(
                self.table()?,
                &self.files.rows,
                filed,
                &mut |_, _, version| {
                    each(&version);
                    Ok(())
                },
            )?;
        }
        for ordinal in ordinals.start.max(next)..ordinals.end {
            let version = self.opened(ordinal - next);
            each(version.ok_or_else(|| missing(ordinal, "tail"))?);
        }
        Ok(())
    }

    /// Calls `each` with every living memory that stands out and is not expired at `moment`, the last changed first. Of
    /// other memories it reads only the row facts.
    ///
    /// # Errors
    /// `Unusable` for a damaged record, or if the table lacks a version; any error of `each`.
    pub fn each_that_stands_out(
        &self,
        by: &StandsOut,
        moment: Option<Moment<'_>>,
        each: &mut dyn FnMut(&Version) -> Result<()>,
    ) -> Result<()> {
        let overlay = &self.tail.folder.kept;
        let is_open = |ordinal: u64| !overlay.closed.contains_key(&ordinal);
        let is_hidden = |facts: &RowFacts, entity: EntityId, from: Position| {
            moment.is_some_and(|moment| moment.hides(facts, entity, from))
        };
        for (ordinal, entity, from) in overlay.opened.iter().rev() {
            let version = overlay.version_from(*entity, *from);
            let version = version.ok_or_else(|| missing(*ordinal, "tail"))?;
            let facts = RowFacts::of(version);
            let fits = by.fits(&facts, TopicTag::of(version), *from);
            if is_open(*ordinal) && fits && !is_hidden(&facts, *entity, *from) {
                each(version)?;
            }
        }
        // A row that a later commit closed in the file still holds in this snapshot.
        let now = self.tally().position;
        let mut found = Vec::new();
        for ordinal in (0..self.files.base.tally.next_ordinal).rev() {
            let row = self.files.rows.get(ordinal);
            let row = row.ok_or_else(|| rows::damaged(ordinal))?;
            let fits = by.fits(&row.facts, TopicTag(row.topic), row.from);
            let holds = row.holds_at(now) && is_open(ordinal);
            if fits && holds && !is_hidden(&row.facts, row.entity, row.from) {
                found.push((ordinal, row));
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        let versions = self.table()?.reader()?;
        for (ordinal, row) in found {
            let version = versions.get(row.entity, row.from)?;
            each(&version.ok_or_else(|| missing(ordinal, "table"))?)?;
        }
        Ok(())
    }

    /// Returns the version of the tail with this number.
    pub(super) fn opened(&self, at: u64) -> Option<&Version> {
        let overlay = &self.tail.folder.kept;
        let (_, entity, from) = overlay.opened.get(at as usize)?;
        overlay.version_from(*entity, *from)
    }
}

pub(super) fn missing(ordinal: u64, view: &'static str) -> ViewError {
    ViewError::Unusable {
        view,
        why: format!("ordinal {ordinal} is not in it"),
    }
}
