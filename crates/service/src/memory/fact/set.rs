//! Setting a fact.

use icm_log::{EventId, Kind, NewEvent};
use icm_projections::Views;
use icm_projections::fold::{EntityId, Version};

use super::validity::{FactRow, Statement, Statements, subject_of};
use crate::command::batch::actor_of;
use crate::command::{Change, Command, RequestKeyOf, ValidatedStore, receipt, turned, unchanged};
use crate::memory::store_over::store_in;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::limits::{self, CONTENT_LEN_MAX};
use icm_api::{
    Action, Caller, FactReceipt, FactRequest, Receipt, StoreRequest, fact_key, fact_topic,
};

/// A value to be set.
struct Wanted<'a> {
    checked: &'a ValidatedStore,
    /// First moment of its validity, in milliseconds since the epoch.
    from_ms: i64,
    /// `true` if the caller gave that moment.
    is_from_given: bool,
    now_ms: i64,
    actor: &'a str,
}

impl Service {
    /// Sets a fact. The value is valid from the given moment, or from now, until the next value that is known.
    ///
    /// The memory of the fact keeps the value that is valid now: if the new one is not, a second event of the command
    /// gives the memory that value back. A value that holds already changes nothing.
    ///
    /// # Errors
    /// `Invalid` for names and values that are no good, and for a secret.
    pub fn set_fact(&self, caller: &Caller, request: FactRequest) -> Result<FactReceipt> {
        limits::text("the value", &request.value, CONTENT_LEN_MAX)?;
        let mut store = StoreRequest {
            topic: fact_topic(&request.subject)?,
            key: Some(fact_key(&request.attribute)?),
            content: request.value,
            occurred_at: request.from,
            scope: request.scope,
            source: request.source,
            trust: request.trust,
            allow_secret: request.allow_secret,
            ..StoreRequest::default()
        };
        let warnings = self.guard_store(&mut store)?;
        let checked = self.check_store(caller, &store)?;
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let now_ms = i64::try_from(self.now_ms()).unwrap_or(i64::MAX);
            let wanted = Wanted {
                checked: &checked,
                from_ms: checked.occurred_at_ms.unwrap_or(now_ms),
                is_from_given: checked.occurred_at_ms.is_some(),
                now_ms,
                actor: actor_of(caller),
            };
            let told = self.decide_fact(command, views, &wanted)?;
            Ok(FactReceipt {
                receipt: Receipt {
                    warnings: warnings.clone(),
                    ..told.receipt
                },
                ..told
            })
        })
    }

    fn decide_fact(
        &self,
        command: &mut Command<'_>,
        views: &Views,
        wanted: &Wanted<'_>,
    ) -> QueryResult<FactReceipt> {
        let newest = views.tally().position;
        let known = match views.named(wanted.checked.name())? {
            Some(entity) => views.version_at(entity, newest)?.map(|row| (entity, row)),
            None => None,
        };
        match known.filter(|(_, row)| !row.hidden) {
            Some((entity, row)) => self.set_again(command, views, wanted, (entity, &row)),
            None => {
                let checked = ValidatedStore {
                    occurred_at_ms: Some(wanted.from_ms),
                    ..wanted.checked.clone()
                };
                let receipt = store_in(command, views, &checked)?;
                let event = receipt.event.clone();
                let statement = wanted.statement(event, receipt.position, wanted.now_ms);
                told(wanted, receipt, &Statements(vec![statement]))
            }
        }
    }

    /// Sets a fact that the store has, maybe as a forgotten one.
    fn set_again(
        &self,
        command: &mut Command<'_>,
        views: &Views,
        wanted: &Wanted<'_>,
        (entity, row): (EntityId, &Version),
    ) -> QueryResult<FactReceipt> {
        let mut statements = self.statements_of(views, entity, row, views.tally().position)?;
        let mut shown = (row.content.clone(), row.occurred_at_ms);
        let mut seen = row.observed();
        let mut receipt_of_set = None;
        if !row.is_alive() || !wanted.holds(&statements) {
            let mut events = vec![stating(row, &wanted.change(), seen.clone())];
            let action = match row.is_alive() {
                true => Action::Updated,
                false => Action::Stored,
            };
            if !row.is_alive() {
                events.push(turned(row, Kind::MEMORY_REVIVED));
            }
            let appended = command.append(views, events)?;
            seen.extend(appended.iter().map(|event| event.event));
            let stated = appended[0];
            let ms = i64::try_from(stated.time.ms()).unwrap_or(i64::MAX);
            let event = stated.event.to_string();
            statements
                .0
                .push(wanted.statement(event, stated.position.0, ms));
            shown = (Some(wanted.checked.content.clone()), Some(wanted.from_ms));
            let topic = Some(wanted.checked.topic.clone());
            receipt_of_set = Some(receipt(row, stated, action, topic));
        }
        if let Some(change) = restoring(&statements, wanted.now_ms, &shown) {
            let appended = command.append(views, vec![stating(row, &change, seen)])?;
            let updated = || receipt(row, appended[0], Action::Updated, None);
            receipt_of_set.get_or_insert_with(updated);
        }
        let receipt = receipt_of_set.unwrap_or_else(|| unchanged(row));
        told(wanted, receipt, &statements)
    }
}

impl Wanted<'_> {
    /// Returns `true` if nothing new would be stated: the value holds from the given moment, or, without one, it is the
    /// current one.
    fn holds(&self, statements: &Statements) -> bool {
        self.spell_in(statements)
            .is_some_and(|value| value == self.checked.content)
    }

    fn spell_in<'s>(&self, statements: &'s Statements) -> Option<&'s str> {
        let spell = match self.is_from_given {
            true => statements.valid_from(self.from_ms),
            false => statements.valid_at(self.now_ms),
        };
        spell?.statement.value.as_deref()
    }

    /// Returns the change that states the value. A fact that was moved comes back to its subject and scope.
    fn change(&self) -> Change {
        Change {
            topic: Some(self.checked.topic.clone()),
            scope: Some(self.checked.scope.clone()),
            content: Some(self.checked.content.clone()),
            occurred_at_ms: Some(self.from_ms),
            ..Change::default()
        }
    }

    fn statement(&self, event: String, position: u64, learned_ms: i64) -> Statement {
        Statement {
            value: Some(self.checked.content.clone()),
            from_ms: self.from_ms,
            event,
            position: icm_log::Position(position),
            learned_ms: u64::try_from(learned_ms).unwrap_or(0),
            actor: self.actor.to_owned(),
        }
    }
}

/// Returns an event that writes text and valid time, also unchanged ones: each statement stands for itself. `seen` are
/// the events that it observed.
fn stating(row: &Version, change: &Change, mut seen: Vec<EventId>) -> NewEvent {
    let mut bare = row.clone();
    bare.content = None;
    bare.occurred_at_ms = None;
    let event = change
        .event(&bare)
        .expect("a text differs from none at all");
    seen.sort_unstable();
    seen.dedup();
    NewEvent {
        refs: seen,
        ..event
    }
}

/// Returns the change that gives the memory the value that is valid at a time; `None` if it shows that value, or if that
/// value is withheld.
fn restoring(
    statements: &Statements,
    now_ms: i64,
    shown: &(Option<String>, Option<i64>),
) -> Option<Change> {
    let current = statements.valid_at(now_ms)?.statement;
    let wanted = (Some(current.value.clone()?), Some(current.from_ms));
    (wanted != *shown).then(|| Change {
        content: wanted.0,
        occurred_at_ms: wanted.1,
        ..Change::default()
    })
}

/// Returns the receipt with the value that was set and the one that is valid now.
fn told(
    wanted: &Wanted<'_>,
    receipt: Receipt,
    statements: &Statements,
) -> QueryResult<FactReceipt> {
    let checked = wanted.checked;
    let names = FactRow {
        id: receipt.id.clone(),
        scope: checked.scope.to_text(),
        subject: subject_of(&checked.topic).to_owned(),
        attribute: checked.key.clone().unwrap_or_default(),
    };
    let current = statements.valid_at(wanted.now_ms);
    let set = match wanted.is_from_given {
        true => statements.valid_from(wanted.from_ms),
        false => current,
    };
    let set = set.ok_or_else(|| ServiceError::Internal("a fact without its value".to_owned()))?;
    Ok(FactReceipt {
        receipt,
        set: set.fact(&names),
        current: current.map(|spell| spell.fact(&names)),
    })
}
