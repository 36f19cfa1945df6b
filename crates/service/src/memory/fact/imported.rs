//! Values of facts that the lines of an import state.

use icm_log::NewEvent;
use icm_projections::Views;
use icm_projections::fold::Version;

use super::set::{Wanted, change_to_current, stating};
use super::validity::{FactRow, subject_of};
use crate::command::{Change, ValidatedStore};
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::Result;
use icm_api::{fact_value, ids::id_text};

/// The events of a line about a known fact. They are those of [`Service::set_fact`]; a value that was stated before writes
/// none.
#[derive(Default)]
pub(crate) struct LineOfFact {
    /// The event that states the value; `None` if the value was stated before.
    pub(crate) states: Option<NewEvent>,
    /// The change that gives the memory its current value after that event.
    pub(crate) restores: Option<Change>,
}

impl Service {
    /// Returns what a line writes that states a value of the fact `row`; `None` if the line is not about this fact.
    ///
    /// A value that was stated for the same moment before writes nothing, also if it was corrected since. The other fields of
    /// the line count if its value is the current one.
    ///
    /// # Errors
    /// The inner result is `Invalid` if the current value is withheld, and this one is not the current one.
    pub(crate) fn line_of_fact(
        &self,
        views: &Views,
        row: &Version,
        checked: &ValidatedStore,
    ) -> QueryResult<Option<Result<LineOfFact>>> {
        let now_ms = i64::try_from(self.now_ms()).unwrap_or(i64::MAX);
        let attribute = checked.key.as_deref().unwrap_or_default();
        let wanted = Wanted {
            checked,
            value: fact_value(subject_of(&checked.topic), attribute, &checked.content),
            from_ms: checked.occurred_at_ms.unwrap_or(now_ms),
            is_from_given: checked.occurred_at_ms.is_some(),
            now_ms,
            actor: "",
        };
        let names = wanted.names(&id_text(row.id));
        if !row.is_fact() || FactRow::of(row).as_ref() != Some(&names) {
            return Ok(None);
        }
        let entity = views.resolve(row.id)?;
        let mut statements = self.statements_of(views, entity, row, views.tally().position)?;
        if let Err(refused) = wanted.refuse_beside_withheld(&statements) {
            return Ok(Some(Err(refused)));
        }
        if wanted.was_stated(&statements) {
            return Ok(Some(Ok(LineOfFact::default())));
        }
        statements
            .0
            .push(wanted.statement(String::new(), 0, now_ms));
        let of_value = Change {
            content: Some(checked.content.clone()),
            occurred_at_ms: Some(wanted.from_ms),
            ..Change::default()
        };
        let is_current = (statements.valid_at(now_ms))
            .is_some_and(|spell| spell.statement.from_ms == wanted.from_ms);
        let change = match is_current {
            true => Change {
                occurred_at_ms: of_value.occurred_at_ms,
                ..Change::of_store(checked)
            },
            false => of_value,
        };
        let states = Some(stating(row, &change, row.observed()));
        let shown = (Some(wanted.value.to_owned()), Some(wanted.from_ms));
        let restores = change_to_current(&statements, now_ms, &shown, &names);
        Ok(Some(Ok(LineOfFact { states, restores })))
    }
}
