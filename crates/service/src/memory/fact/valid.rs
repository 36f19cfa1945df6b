//! The values of facts at the moment of an answer: a planned value takes the place of the stored one once it is valid.

use std::borrow::Cow;

use icm_log::facts::fields;
use icm_projections::Views;
use icm_projections::fold::{EntityId, Family, PLANNED, Version};

use super::validity::{FactRow, Spell, Statements};
use crate::command::Change;
use crate::history::basis::At;
use crate::service::Service;
use crate::snapshot::QueryResult;

impl Service {
    /// Returns views in which the memory of each fact has the value that is valid at the moment of a basis, as far as the
    /// fact ever had a planned value. They are for answers at that basis. Reads the events about those facts; a store
    /// without any pays nothing.
    pub(crate) fn views_at<'v>(&self, views: &'v Views, at: &At) -> QueryResult<Cow<'v, Views>> {
        let moment_ms = moment_of(at);
        let mut changed = Vec::new();
        self.each_once_planned(views, at, &mut |entity, row, names, statements| {
            // Before its first value a fact is planned, and has that value.
            let spell = statements.valid_at(moment_ms).or(statements.first());
            let valid = spell.map(|spell| with_value(&row, &names, &spell));
            changed.extend(
                valid
                    .filter(|valid| *valid != row)
                    .map(|valid| (entity, valid)),
            );
        })?;
        match changed.is_empty() {
            true => Ok(Cow::Borrowed(views)),
            false => Ok(Cow::Owned(views.with_versions(changed)?)),
        }
    }

    /// Returns the number of values of living facts that are not valid yet at the moment of a basis.
    pub(crate) fn planned_values(&self, views: &Views, at: &At) -> QueryResult<u64> {
        let moment_ms = moment_of(at);
        let mut planned = 0;
        self.each_once_planned(views, at, &mut |_, _, _, statements| {
            let spells = statements.spells().into_iter();
            let is_planned =
                |it: &Spell<'_>| it.corrected_by.is_none() && it.statement.from_ms > moment_ms;
            planned += spells.filter(is_planned).count() as u64;
        })?;
        Ok(planned)
    }

    /// Calls `each` for the living facts that ever had a planned value, as of a basis. Reads the events about them.
    fn each_once_planned(
        &self,
        views: &Views,
        at: &At,
        each: &mut dyn FnMut(EntityId, Version, FactRow, Statements),
    ) -> QueryResult<()> {
        if views.tally().planned == 0 {
            return Ok(());
        }
        let mut entities = Vec::new();
        for id in views.members(PLANNED)? {
            entities.push(views.resolve(id)?);
        }
        entities.sort_unstable();
        entities.dedup();
        for entity in entities {
            let Some(row) = views.version_at(entity, at.position)? else {
                continue;
            };
            let Some(names) = FactRow::of(&row) else {
                continue;
            };
            if row.is_alive() && row.family() == Family::Memory {
                let statements = self.statements_of(views, entity, &row, at.position)?;
                each(entity, row, names, statements);
            }
        }
        Ok(())
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

    /// Returns a change of a fact's text as one that corrects the value that is valid now, and the fields that it writes
    /// also if they are unchanged. The change names the first moment of that value, so it stays there if another value is
    /// undone. `open` are the fields that are in conflict. Reads the events about the fact.
    pub(crate) fn of_valid_value(
        &self,
        views: &Views,
        change: Change,
        before: &Version,
        open: u32,
    ) -> QueryResult<(Change, u32)> {
        let is_of_text = change.content.is_some() && change.occurred_at_ms.is_none();
        // Without any time of its own, each value of the memory is valid from its event on.
        if !is_of_text || !before.is_fact() || before.occurred_at_ms.is_none() {
            return Ok((change, open));
        }
        let entity = views.resolve(before.id)?;
        let from_ms = self.start_of_valid(views, entity, before)?;
        let is_other = change.content != before.content || from_ms != before.occurred_at_ms;
        let settles = open & (fields::CONTENT | fields::OCCURRED_AT) != 0;
        if from_ms.is_none() || !(is_other || settles) {
            return Ok((change, open));
        }
        let change = Change {
            occurred_at_ms: from_ms,
            ..change
        };
        Ok((change, open | fields::OCCURRED_AT))
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
