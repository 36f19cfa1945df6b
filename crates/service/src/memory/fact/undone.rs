//! The values of facts that an undo changes.

use std::collections::BTreeSet;

use icm_log::facts::LogUndone;
use icm_log::{EventId, Kind, NewEvent, SubjectId};
use icm_projections::Views;
use icm_projections::fold::{Family, InChain};

use super::set::{change_to_current, event_to_current};
use super::valid::moment_of;
use super::validity::{FactRow, Statements};
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::ids::id_range;
use icm_api::when::rfc3339_signed;
use icm_api::{FACTS, UndoFact};

/// A time in which an undo changes the value of a fact, and the values before and after.
#[derive(Debug, PartialEq)]
struct ChangedSpell<'a> {
    from_ms: i64,
    until_ms: Option<i64>,
    before: Option<&'a str>,
    after: Option<&'a str>,
}

impl Service {
    /// Returns the values that facts lose and get if events are undone. `undone` are the events with kind and subject. Facts
    /// for which `is_shown` is true are left out: their memories go or come back.
    pub(crate) fn undone_values(
        &self,
        views: &Views,
        undone: &[(InChain, Kind, SubjectId)],
        is_shown: &dyn Fn(SubjectId) -> bool,
    ) -> QueryResult<Vec<UndoFact>> {
        let events: BTreeSet<EventId> = undone.iter().map(|(at, ..)| at.event).collect();
        let mut entities = BTreeSet::new();
        for (_, kind, subject) in undone {
            match *kind {
                Kind::MEMORY_STORED | Kind::MEMORY_UPDATED | Kind::MEMORY_REVIVED => {
                    entities.insert(views.resolve(*subject)?);
                }
                // An undo of an undo may give back a value of any fact.
                Kind::LOG_UNDONE => entities.extend(views.members(FACTS)?),
                _ => {}
            }
        }
        let newest = views.tally().position;
        let undos = views.undos()?;
        let was_undone = |at: &InChain| undos.is_undone(at);
        let is_undone = |at: &InChain| {
            let mut staying = undos.in_force(at);
            events.contains(&at.event) || staying.any(|undo| !events.contains(&undo.event))
        };
        let mut facts = Vec::new();
        for entity in entities.into_iter().filter(|entity| !is_shown(*entity)) {
            let Some(row) = views.version_at(entity, newest)? else {
                continue;
            };
            let Some(names) = FactRow::of(&row).filter(|_| row.is_alive()) else {
                continue;
            };
            if row.family() != Family::Memory || views.resolve(entity)? != entity {
                continue;
            }
            let before = self.statements_where(views, entity, &row, newest, &was_undone)?;
            let after = self.statements_where(views, entity, &row, newest, &is_undone)?;
            facts.extend(changed(&before, &after).iter().map(|spell| UndoFact {
                id: names.id.clone(),
                subject: names.subject.clone(),
                attribute: names.attribute.clone(),
                valid_from: rfc3339_signed(spell.from_ms),
                valid_until: spell.until_ms.map(rfc3339_signed),
                before: spell.before.map(str::to_owned),
                after: spell.after.map(str::to_owned),
            }));
        }
        Ok(facts)
    }

    /// Returns the events that give memories of these facts their current values after undos, which are the `written`
    /// events. Without them a memory could still repeat an undone value: a late or planned value had written it again.
    pub(crate) fn restored_by_undo(
        &self,
        views: &Views,
        facts: &[UndoFact],
        undos: &[LogUndone],
        written: &[EventId],
    ) -> QueryResult<Vec<NewEvent>> {
        if facts.is_empty() {
            return Ok(Vec::new());
        }
        let facts: BTreeSet<&str> = facts.iter().map(|fact| &*fact.id).collect();
        let now_ms = moment_of(&self.now(views));
        let newest = views.tally().position;
        let after = views.undos()?.with(undos);
        let is_undone = |at: &InChain| after.is_undone(at);
        let rows = views.what_if_undone(&self.log, undos)?;
        let mut events = Vec::new();
        for id in facts {
            let Some((id, _)) = id_range(id) else {
                continue;
            };
            let entity = views.resolve(id)?;
            let Some(before) = views.version_at(entity, newest)? else {
                continue;
            };
            let change = rows.iter().find(|change| change.entity == entity);
            let row = change.map_or(&before, |change| &change.after);
            // Without any time of its own, each value of the memory is valid from its event on.
            let Some(names) = FactRow::of(row).filter(|_| row.occurred_at_ms.is_some()) else {
                continue;
            };
            let statements = self.statements_where(views, entity, row, newest, &is_undone)?;
            let value = row.content.as_deref().map(|text| names.value_of(text));
            let shown = (value, row.occurred_at_ms);
            if let Some(change) = change_to_current(&statements, now_ms, &shown, &names) {
                let seen = before.observed().into_iter().chain(written.iter().copied());
                events.push(event_to_current(row, &change, seen));
            }
        }
        Ok(events)
    }
}

/// Returns the times in which the value of a fact differs, in their order.
fn changed<'a>(before: &'a Statements, after: &'a Statements) -> Vec<ChangedSpell<'a>> {
    let spells = before.spells().into_iter().chain(after.spells());
    let starts: BTreeSet<i64> = spells.map(|spell| spell.statement.from_ms).collect();
    let value_at = |statements: &'a Statements, ms| {
        let spell = statements.valid_at(ms)?;
        Some(spell.statement.value.as_deref().unwrap_or("(withheld)"))
    };
    let mut changed: Vec<ChangedSpell<'a>> = Vec::new();
    for from_ms in starts {
        let (was, is) = (value_at(before, from_ms), value_at(after, from_ms));
        if let Some(last) = changed.last_mut() {
            if (last.before, last.after) == (was, is) {
                continue;
            }
            last.until_ms = Some(from_ms);
        }
        changed.push(ChangedSpell {
            from_ms,
            until_ms: None,
            before: was,
            after: is,
        });
    }
    changed.retain(|spell| spell.before != spell.after);
    changed
}
