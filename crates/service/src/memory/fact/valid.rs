//! The values of facts at the moment of an answer: a planned value takes the place of the stored one once it is valid.

use std::borrow::Cow;

use icm_log::facts::fields;
use icm_projections::Views;
use icm_projections::fold::{EntityId, Family, PLANNED, Version};

use super::validity::{FactRow, Spell};
use crate::command::Change;
use crate::history::basis::At;
use crate::service::Service;
use crate::snapshot::QueryResult;

impl Service {
    /// Returns views in which the memory of each fact has the value that is valid at the moment of a basis, as far as the
    /// fact ever had a planned value. They are for answers at that basis. Reads the events about those facts; a store
    /// without any pays nothing.
    pub(crate) fn views_at<'v>(&self, views: &'v Views, at: &At) -> QueryResult<Cow<'v, Views>> {
        if views.tally().planned == 0 {
            return Ok(Cow::Borrowed(views));
        }
        let moment_ms = moment_of(at);
        let mut entities = Vec::new();
        for id in views.members(PLANNED)? {
            entities.push(views.resolve(id)?);
        }
        entities.sort_unstable();
        entities.dedup();
        let mut changed = Vec::new();
        for entity in entities {
            let Some(row) = views.version_at(entity, at.position)? else {
                continue;
            };
            let Some(names) = FactRow::of(&row) else {
                continue;
            };
            if !row.is_alive() || row.family() != Family::Memory {
                continue;
            }
            let statements = self.statements_of(views, entity, &row, at.position)?;
            // Before its first value a fact is planned, and has that value.
            let Some(spell) = statements.valid_at(moment_ms).or(statements.first()) else {
                continue;
            };
            let valid = with_value(&row, &names, &spell);
            if valid != row {
                changed.push((entity, valid));
            }
        }
        match changed.is_empty() {
            true => Ok(Cow::Borrowed(views)),
            false => Ok(Cow::Owned(views.with_versions(changed)?)),
        }
    }

    /// Returns words for a living memory whose fact has only planned values: it comes by itself. `None` for another one.
    pub(crate) fn planned_value(
        &self,
        views: &Views,
        version: &Version,
    ) -> QueryResult<Option<String>> {
        let at = self.now(views);
        if !version.is_alive() || !version.is_planned_at(at.moment_ms) {
            return Ok(None);
        }
        let views = &*self.views_at(views, &at)?;
        let shown = views.version_at(views.resolve(version.id)?, at.position)?;
        let from = shown.and_then(|shown| shown.occurred_at_ms);
        Ok(from.map(|from_ms| {
            let from = self.local(from_ms);
            format!("nothing to bring back: the fact is planned, valid from {from}")
        }))
    }

    /// Returns a change of a fact's text as one that corrects the value that is valid now. If that is not the stored one,
    /// the change names its first moment, and also if `open` says that this moment is in conflict. Reads the events about
    /// the fact.
    pub(crate) fn of_valid_value(
        &self,
        views: &Views,
        change: Change,
        before: &Version,
        open: u32,
    ) -> QueryResult<Change> {
        let is_of_text = change.content.is_some() && change.occurred_at_ms.is_none();
        // Without any time of its own, each value of the memory is valid from its event on.
        if !is_of_text || !before.is_fact() || before.occurred_at_ms.is_none() {
            return Ok(change);
        }
        let entity = views.resolve(before.id)?;
        let from_ms = self.start_of_valid(views, entity, before)?;
        let is_open = open & fields::OCCURRED_AT != 0;
        Ok(Change {
            occurred_at_ms: from_ms.filter(|_| is_open || from_ms != before.occurred_at_ms),
            ..change
        })
    }

    /// Returns a row of a fact with a value as it is to be written to become the current one: it corrects the value that is
    /// valid now.
    pub(crate) fn value_to_hold(
        &self,
        views: &Views,
        entity: EntityId,
        row: &Version,
        chosen: &Version,
    ) -> QueryResult<Version> {
        let mut value = chosen.clone();
        if let Some(from_ms) = self.start_of_valid(views, entity, row)? {
            value.occurred_at_ms = Some(from_ms);
        }
        Ok(value)
    }

    /// Returns the first moment of the value that is valid now, in milliseconds since the epoch; `None` if there is none.
    fn start_of_valid(
        &self,
        views: &Views,
        entity: EntityId,
        row: &Version,
    ) -> QueryResult<Option<i64>> {
        let at = self.now(views);
        let moment_ms = moment_of(&at);
        let statements = self.statements_of(views, entity, row, at.position)?;
        let valid = statements.valid_at(moment_ms);
        Ok(valid.map(|spell| spell.statement.from_ms))
    }
}

/// Returns the moment of a basis, in milliseconds since the epoch.
pub(super) fn moment_of(at: &At) -> i64 {
    i64::try_from(at.moment_ms).unwrap_or(i64::MAX)
}

/// Returns the row of a fact with a value in place of the stored one.
fn with_value(row: &Version, names: &FactRow, spell: &Spell<'_>) -> Version {
    let statement = spell.statement;
    let shown = row.content.as_deref().map(|text| names.value_of(text));
    let mut valid = row.clone();
    if shown != statement.value {
        valid.content = statement.value.as_deref().map(|value| names.text_of(value));
        valid.withheld = match statement.value {
            Some(_) => valid.withheld & !fields::CONTENT,
            None => valid.withheld | fields::CONTENT,
        };
    }
    // A memory without any time of its own has values that are valid from the times of their events.
    if row.occurred_at_ms.is_some() {
        valid.occurred_at_ms = Some(statement.from_ms);
    }
    valid
}
