//! Going through versions in the order in which they came to be.

use std::ops::Range;

use super::{Table, Views};
use crate::error::{Result, ViewError};
use crate::fold::Version;
use crate::rows::{Row, Rows};

/// Calls `each` with every version of the files that has one of these ordinals.
///
/// # Errors
/// `Unusable` where rows or table lack one; what `each` fails with.
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
    /// The texts of the versions of these ordinals, whether in the files or in the tail.
    pub(super) fn texts(&self, ordinals: Range<u64>) -> Result<Vec<String>> {
        let next = self.base.tally.next_ordinal;
        let mut texts = Vec::new();
        let mut add = |version: &Version| texts.push(version.meaning_text().into_owned());
        let filed = ordinals.start..ordinals.end.min(next);
        if !filed.is_empty() {
            each_filed(self.table()?, &self.rows, filed, &mut |_, _, version| {
                add(&version);
                Ok(())
            })?;
        }
        for ordinal in ordinals.start.max(next)..ordinals.end {
            let version = self.opened(ordinal - next);
            add(version.ok_or_else(|| missing(ordinal, "tail"))?);
        }
        Ok(texts)
    }

    /// The version of the tail with this number.
    pub(super) fn opened(&self, at: u64) -> Option<&Version> {
        let overlay = &self.tail.folder.kept;
        let (_, entity, from) = overlay.opened.get(at as usize)?;
        overlay.version_from(*entity, *from)
    }
}

fn missing(ordinal: u64, view: &'static str) -> ViewError {
    ViewError::Unusable {
        view,
        why: format!("ordinal {ordinal} is not in it"),
    }
}
