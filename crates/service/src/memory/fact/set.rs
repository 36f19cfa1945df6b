//! Setting a fact.

use icm_log::{EventId, Kind, NewEvent};
use icm_projections::Views;
use icm_projections::fold::{EntityId, Version};

use super::validity::{FactRow, Statement, Statements, subject_of};
use crate::command::batch::actor_of;
use crate::command::{Change, Command, RequestKeyOf, ValidatedStore, receipt, turned, unchanged};
use crate::memory::expiry::Expired;
use crate::memory::store_over::store_in;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::limits::{self, CONTENT_LEN_MAX};
use icm_api::when::{self, DayMeans};
use icm_api::{
    Action, Caller, FactReceipt, FactRequest, Receipt, StoreRequest, fact_key, fact_text,
    fact_topic, fact_value,
};

/// The warning if the memory of a fact was in another topic or scope.
const MOVED_BACK: &str =
    "the memory of this fact was in another topic or scope; it is back with its history";

/// A value to be set.
pub(super) struct Wanted<'a> {
    pub(super) checked: &'a ValidatedStore,
    pub(super) value: &'a str,
    /// First moment of its validity, in milliseconds since the epoch.
    pub(super) from_ms: i64,
    /// `true` if the caller gave that moment.
    pub(super) is_from_given: bool,
    pub(super) now_ms: i64,
    pub(super) actor: &'a str,
}

impl Service {
    /// Sets a fact. The value is valid from the given moment, or from now, until the next value that is known.
    ///
    /// The memory of the fact keeps the value that is valid now: if the new one is not, a second event of the command
    /// gives the memory that value back. A value that holds already changes nothing. The receipt names the last event of
    /// the command, [`FactReceipt::set`] the one that states the value.
    ///
    /// # Errors
    /// `Invalid` for names and values that are no good, and for a secret.
    pub fn set_fact(&self, caller: &Caller, request: FactRequest) -> Result<FactReceipt> {
        limits::text("the value", &request.value, CONTENT_LEN_MAX)?;
        let (topic, key) = (fact_topic(&request.subject)?, fact_key(&request.attribute)?);
        let mut store = StoreRequest {
            content: fact_text(subject_of(&topic), &key, &request.value),
            topic,
            key: Some(key),
            occurred_at: request.from.map(|from| self.moment_to_come(from)),
            scope: request.scope,
            source: request.source,
            trust: request.trust,
            allow_secret: request.allow_secret,
            ..StoreRequest::default()
        };
        let warnings = self.guard_store(&mut store)?;
        let checked = self.check_store(caller, &store)?;
        let attribute = checked.key.as_deref().unwrap_or_default();
        let value = fact_value(subject_of(&checked.topic), attribute, &checked.content);
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let now_ms = i64::try_from(self.now_ms()).unwrap_or(i64::MAX);
            let wanted = Wanted {
                checked: &checked,
                value,
                from_ms: checked.occurred_at_ms.unwrap_or(now_ms),
                is_from_given: checked.occurred_at_ms.is_some(),
                now_ms,
                actor: actor_of(caller),
            };
            let mut told = self.decide_fact(command, views, &wanted)?;
            let of_fact = std::mem::replace(&mut told.receipt.warnings, warnings.clone());
            told.receipt.warnings.extend(of_fact);
            Ok(told)
        })
    }

    /// Returns a time to come, such as `in 2 days`, as RFC 3339; other texts are returned unchanged.
    fn moment_to_come(&self, text: String) -> String {
        let (now, zone) = (self.now_ms(), self.zone());
        match when::past_or_to_come(&text, now, &zone, DayMeans::Start) {
            Ok(Some(ms)) => when::rfc3339_signed(ms),
            _ => text,
        }
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
        // A redaction may have taken the names.
        let mut named = row.clone();
        named.topic = Some(wanted.checked.topic.clone());
        named.key.clone_from(&wanted.checked.key);
        let mut statements = self.statements_of(views, entity, &named, views.tally().position)?;
        let mut warnings = Vec::new();
        if !row.is_alive() {
            warnings.extend(begins_anew(&statements, &id_text(row.id)));
            statements = Statements::default();
        }
        wanted.refuse_beside_withheld(&statements)?;
        let is_moved = wanted.is_moved(row);
        if is_moved {
            warnings.push(MOVED_BACK.to_owned());
        }
        let wanted = &wanted.said_again(&statements, is_moved);
        let names = wanted.names(&id_text(row.id));
        let mut shown = (
            row.content.as_deref().map(|text| names.value_of(text)),
            row.occurred_at_ms,
        );
        let mut seen = row.observed();
        let mut receipt_of_set = None;
        let expired = Expired::now(self, views);
        let is_over = expired.is_over(row);
        expired.checked()?;
        if !row.is_alive() || is_over || is_moved || !wanted.holds(&statements) {
            let change = Change {
                // Set again, an expired fact is back.
                expires: is_over.then_some(None),
                ..wanted.change()
            };
            let mut events = vec![stating(row, &change, seen.clone())];
            let action = match row.is_alive() && !is_over {
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
            shown = (Some(wanted.value.to_owned()), Some(wanted.from_ms));
            let topic = Some(wanted.checked.topic.clone());
            receipt_of_set = Some(receipt(row, stated, action, topic));
        }
        if let Some(change) = change_to_current(&statements, wanted.now_ms, &shown, &names) {
            let appended = command.append(views, vec![stating(row, &change, seen)])?;
            let last = receipt(row, appended[0], Action::Updated, None);
            // The command is whole from its last event on: `--at` that position shows what holds after it.
            receipt_of_set = Some(match receipt_of_set {
                Some(first) => Receipt {
                    event: last.event,
                    position: last.position,
                    ..first
                },
                None => last,
            });
        }
        let receipt = Receipt {
            warnings,
            ..receipt_of_set.unwrap_or_else(|| unchanged(row))
        };
        told(wanted, receipt, &statements)
    }
}

impl Wanted<'_> {
    /// Returns `true` if the memory of the fact was moved to another topic or scope. A redaction may have taken the topic.
    fn is_moved(&self, row: &Version) -> bool {
        let is_other = |topic: &String| *topic != self.checked.topic;
        row.topic.as_ref().is_some_and(is_other) || row.scope_text() != self.checked.scope.to_text()
    }

    /// Returns what is to be stated. A value that holds already, of a memory that was moved, is stated for its own moment.
    fn said_again(&self, statements: &Statements, is_moved: bool) -> Wanted<'_> {
        let holding = statements.valid_at(self.now_ms);
        let holding = holding.filter(|_| is_moved && !self.is_from_given && self.holds(statements));
        Wanted {
            from_ms: holding.map_or(self.from_ms, |spell| spell.statement.from_ms),
            ..*self
        }
    }

    /// Returns `true` if nothing new would be stated: the value holds from the given moment, or, without one, it is the
    /// current one.
    fn holds(&self, statements: &Statements) -> bool {
        self.spell_in(statements)
            .is_some_and(|value| value == self.value)
    }

    /// Returns `true` if the value was stated for the given moment before; without one, for any moment. A value that was
    /// corrected since counts.
    pub(super) fn was_stated(&self, statements: &Statements) -> bool {
        let is_same = |it: &Statement| {
            let is_of_moment = !self.is_from_given || it.from_ms == self.from_ms;
            is_of_moment && it.value.as_deref() == Some(self.value)
        };
        statements.0.iter().any(is_same)
    }

    /// Checks that the memory can show the current value beside this one.
    ///
    /// # Errors
    /// `Invalid` if the current value is withheld, and this one is not the current one.
    pub(super) fn refuse_beside_withheld(&self, statements: &Statements) -> Result<()> {
        let current = statements
            .valid_at(self.now_ms)
            .map(|spell| spell.statement);
        let is_beside = |current: &Statement| {
            let is_current = (current.from_ms..=self.now_ms).contains(&self.from_ms);
            current.value.is_none() && !is_current
        };
        match current.is_some_and(is_beside) {
            true => Err(ServiceError::invalid_with(
                "the current value of this fact is withheld",
                "set the current value first, then the earlier or planned one",
            )),
            false => Ok(()),
        }
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
            key: self.checked.key.clone(),
            content: Some(self.checked.content.clone()),
            occurred_at_ms: Some(self.from_ms),
            ..Change::default()
        }
    }

    /// Returns the names of the fact, whose memory has this id.
    pub(super) fn names(&self, id: &str) -> FactRow {
        FactRow {
            id: id.to_owned(),
            scope: self.checked.scope.to_text(),
            subject: subject_of(&self.checked.topic).to_owned(),
            attribute: self.checked.key.clone().unwrap_or_default(),
        }
    }

    pub(super) fn statement(&self, event: String, position: u64, learned_ms: i64) -> Statement {
        Statement {
            value: Some(self.value.to_owned()),
            from_ms: self.from_ms,
            event,
            position: icm_log::Position(position),
            learned_ms: u64::try_from(learned_ms).unwrap_or(0),
            actor: self.actor.to_owned(),
        }
    }
}

/// Returns the warning that a forgotten fact begins anew; `None` if it has no earlier values.
fn begins_anew(statements: &Statements, id: &str) -> Option<String> {
    let values = match statements.spells().len() {
        0 => return None,
        1 => "the earlier value counts".to_owned(),
        several => format!("the {several} earlier values count"),
    };
    Some(format!(
        "the fact was forgotten, so it begins anew: {values} no more; undo this command and `icm revive {id}` to keep the history"
    ))
}

/// Returns an event that writes text and valid time, also unchanged ones: each statement stands for itself. `seen` are
/// the events that it observed.
pub(super) fn stating(row: &Version, change: &Change, mut seen: Vec<EventId>) -> NewEvent {
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

/// Returns the event that gives a memory its current value, after it has also seen these events.
pub(crate) fn event_to_current(
    row: &Version,
    change: &Change,
    seen: impl IntoIterator<Item = EventId>,
) -> NewEvent {
    let mut all = row.observed();
    all.extend(seen);
    stating(row, change, all)
}

/// Returns the change that gives the memory the value that is valid at a time; `None` if it shows that value, or if that
/// value is withheld.
pub(super) fn change_to_current(
    statements: &Statements,
    now_ms: i64,
    shown: &(Option<String>, Option<i64>),
    names: &FactRow,
) -> Option<Change> {
    let current = statements.valid_at(now_ms)?.statement;
    let wanted = (Some(current.value.clone()?), Some(current.from_ms));
    (wanted != *shown).then(|| Change {
        content: wanted.0.map(|value| names.text_of(&value)),
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
    let names = wanted.names(&receipt.id);
    let current = statements.valid_at(wanted.now_ms);
    let set = match wanted.is_from_given {
        true => statements.valid_from(wanted.from_ms),
        false => current,
    };
    let set = set.ok_or_else(|| ServiceError::Internal("a fact without its value".to_owned()))?;
    Ok(FactReceipt {
        receipt,
        set: set.fact(&names, wanted.now_ms),
        current: current.map(|spell| spell.fact(&names, wanted.now_ms)),
    })
}
