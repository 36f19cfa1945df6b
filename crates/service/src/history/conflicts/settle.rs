//! Settling conflicts: choosing one of the values that were written, and writing it for all.

use icm_log::EventId;
use icm_log::facts::fields;
use icm_projections::Views;
use icm_projections::fold::{EntityId, Family, Version, changed};

use super::Disputed;
use super::open::{OF_VALUE, Open, WrittenValues, field_name};
use crate::command::{Choice, RequestKeyOf, receipt, settled, still_forgotten};
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::{Action, Caller, SettleReceipt, SettleRequest};

impl Service {
    /// Settles the conflicts of a memory, a memoir or a concept. The change names all the writes that it settles, so it
    /// holds on every machine that learns of it. It can be undone. Of a fact, the chosen value becomes the current one.
    ///
    /// # Errors
    /// `NotFound`; `Nothing` if nothing is in conflict, or the chosen value is withheld; `Invalid` if other values than
    /// `seen` are in conflict.
    pub fn settle_conflict(
        &self,
        caller: &Caller,
        request: &SettleRequest,
    ) -> Result<SettleReceipt> {
        self.refuse_unknown(&request.id)?;
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let entity = self.find_any(views, &request.id)?;
            let newest = views.tally().position;
            let disputed = self.open_of(views, &[entity], newest)?.pop();
            let Some(Disputed { row, mut open, .. }) = disputed else {
                return Err(self.no_conflict(views, entity)?.into());
            };
            let name = |open: &Open| field_name(row.family(), open.field);
            if let Some(unknown) = (request.fields.iter())
                .find(|field| open.iter().all(|open| name(open) != field.as_str()))
            {
                let names: Vec<_> = open.iter().map(name).collect();
                return Err(ServiceError::nothing(
                    format!("`{unknown}` of {} is in no conflict", id_text(row.id)),
                    format!("in conflict: {}; see `icm conflicts`", names.join(", ")),
                )
                .into());
            }
            let is_of_value = |field: u32| row.is_fact() && OF_VALUE & field != 0;
            if !request.fields.is_empty() {
                open.retain(|open| request.fields.iter().any(|field| name(open) == field));
            }
            refuse_unseen(&request.seen, &open)?;
            let taken = match &request.take {
                Some(given) => Some(self.taken(views, &open, given)?),
                None => None,
            };
            // Fields that the event did not write stay open.
            if let Some(event) = taken {
                open.retain(|open| open.by(event).is_some());
            }
            let mut choices = Vec::with_capacity(open.len());
            for open in &open {
                let said = taken.and_then(|event| open.by(event));
                let said = said.unwrap_or(&open.shown);
                if open.field == changed::ALIVE && said.writer.stamp != open.shown.writer.stamp {
                    return Err(forgotten(&row).into());
                }
                if said.is_withheld(open.field) {
                    return Err(withheld(&row, open, said).into());
                }
                choices.push(Choice {
                    field: open.field,
                    row: &said.row,
                    written: said.writer.fields,
                });
            }
            // A text and its valid time are one value.
            let value;
            if let Some(at) = choices.iter().position(|it| is_of_value(it.field)) {
                let written = choices[at].written;
                value = self.value_to_hold(views, entity, &row, choices[at].row)?;
                choices.retain(|it| !is_of_value(it.field));
                choices.extend([fields::CONTENT, fields::OCCURRED_AT].map(|field| Choice {
                    field,
                    row: &value,
                    written,
                }));
            }
            let (event, action) = match open[0].field {
                changed::ALIVE => (still_forgotten(&row), Action::Forgotten),
                _ => {
                    let (event, digest) = settled(&row, &choices);
                    if digest != row.name {
                        self.refuse_taken_name(views, &row, digest)?;
                    }
                    (event, Action::Updated)
                }
            };
            let moved = choices.iter().find(|choice| choice.field == fields::TOPIC);
            let topic = moved.and_then(|choice| choice.row.topic.clone());
            let appended = command.append(views, vec![event])?;
            Ok(SettleReceipt {
                receipt: receipt(&row, appended[0], action, topic),
                settled: open.iter().map(|open| name(open).to_owned()).collect(),
            })
        })
    }

    /// Returns the event that a user means, among the events with values in conflict.
    fn taken(&self, views: &Views, open: &[Open], given: &str) -> QueryResult<EventId> {
        let prefix = given.trim().to_ascii_lowercase();
        let mut events: Vec<EventId> = (open.iter().flat_map(Open::all))
            .map(|said| said.writer.stamp.event)
            .collect();
        events.sort_unstable();
        events.dedup();
        let mut fit = events
            .iter()
            .filter(|event| event.to_string().starts_with(&prefix));
        if let (Some(event), None) = (fit.next().filter(|_| !prefix.is_empty()), fit.next()) {
            return Ok(*event);
        }
        let position = self.event_named(views, given)?;
        let mut named = None;
        views.events_at(&self.log, &[position], &mut |event| named = Some(event.id))?;
        let found = named.filter(|event| events.contains(event));
        found.ok_or_else(|| {
            ServiceError::nothing(
                format!("event {given} wrote nothing of what is in conflict"),
                "`icm conflicts` shows the events that did",
            )
            .into()
        })
    }

    fn no_conflict(&self, views: &Views, entity: EntityId) -> QueryResult<ServiceError> {
        let row = views.version_at(entity, views.tally().position)?;
        let id = id_text(row.map_or(entity, |row| row.id));
        Ok(ServiceError::nothing(
            format!("nothing of {id} is in conflict"),
            "`icm conflicts` lists what is",
        ))
    }
}

/// Refuses a choice by a caller who saw other values in conflict.
fn refuse_unseen(seen: &[String], open: &[Open]) -> Result<()> {
    let now = open.iter().flat_map(Open::all);
    let now = now.map(|said| said.writer.stamp.event.to_string());
    match seen.is_empty() || now.eq(seen.iter().cloned()) {
        true => Ok(()),
        false => Err(ServiceError::invalid_with(
            "other values are in conflict than the page showed, so nothing was settled",
            "load its page again, and choose there",
        )),
    }
}

fn withheld(row: &Version, open: &Open, said: &WrittenValues) -> ServiceError {
    let id = id_text(row.id);
    let name = field_name(row.family(), open.field);
    let event = said.writer.stamp.event.to_string();
    let other = open.all().find(|it| !it.is_withheld(open.field));
    let hint = match other {
        Some(other) => format!(
            "take another one: `icm conflicts settle {id} --field {name} --take {}`",
            &other.writer.stamp.event.to_string()[..12]
        ),
        None => "write it anew: `icm update`".to_owned(),
    };
    ServiceError::nothing(
        format!(
            "the {name} of {id} that event {} wrote is withheld",
            &event[..12]
        ),
        hint,
    )
}

/// Returns the error for a choice of what was written to a row that is still forgotten.
fn forgotten(row: &Version) -> ServiceError {
    let id = id_text(row.id);
    let shown = |text: &Option<String>| text.clone().unwrap_or_default();
    let way = match row.family() {
        Family::Memory | Family::Feedback => format!("icm revive {id}"),
        Family::Memoir => format!("icm memoir revive '{}'", shown(&row.topic)),
        Family::Concept => format!(
            "icm memoir revive-concept -m '{}' -n '{}'",
            shown(&row.topic),
            shown(&row.key)
        ),
    };
    ServiceError::nothing(
        format!("{id} is forgotten"),
        format!("`{way}` brings it back with what was written meanwhile"),
    )
}
