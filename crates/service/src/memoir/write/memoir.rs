//! Commands that change memoirs.

use icm_log::facts::{MemoirCreated, MemoirDescribed, fields};
use icm_log::{Kind, NewEvent, hash, payload};
use icm_projections::fold::Version;

use super::{place, source_of, turn};
use crate::command::RequestKeyOf;
use crate::command::secrets::Guard;
use crate::memoir::{receipt, receipt_of, shown, unchanged};
use crate::service::Service;
use icm_api::error::{Result, ServiceError};
use icm_api::limits;
use icm_api::limits::{CONTENT_LEN_MAX, TOPIC_LEN_MAX};
use icm_api::{Action, Caller, GraphReceipt, MemoirRequest};

impl Service {
    /// Creates a memoir. A memoir whose creation was undone comes back with its concepts.
    ///
    /// # Errors
    /// `Invalid` for a name that is taken, also by a deleted memoir; `Secret`.
    pub fn memoir_create(&self, caller: &Caller, request: &MemoirRequest) -> Result<GraphReceipt> {
        let (name, description, warnings) = self.check_memoir(request)?;
        let answer = self.command(caller, None, RequestKeyOf(None), |command, views| {
            let digest = hash::memoir_name(&name);
            let newest = views.tally().position;
            let (known, concepts) = match views.named(digest)? {
                Some(entity) => (
                    views.version_at(entity, newest)?,
                    self.concept_count(views, entity, newest)?,
                ),
                None => (None, 0),
            };
            if let Some(known) = known.as_ref().filter(|known| !known.hidden) {
                return Err(taken(known).into());
            }
            // A memoir that was undone and is created again is the same memoir.
            let (id, refs) = match &known {
                Some(hidden) => (hidden.id, hidden.observed()),
                None => (command.new_id(), Vec::new()),
            };
            let event = NewEvent {
                kind: Kind::MEMOIR_CREATED,
                subject: id,
                refs,
                facts: MemoirCreated {
                    fields: fields::TOPIC | fields::CONTENT | fields::SOURCE,
                    causal_length: 1,
                    name: digest,
                }
                .encode(),
                payload: payload::encode(&payload::MemoirCreated {
                    name: &name,
                    description: &description,
                    source: source_of(caller),
                }),
            };
            let appended = command.append(views, vec![event])?;
            let action = match &known {
                Some(_) => Action::Revived,
                None => Action::Stored,
            };
            Ok(GraphReceipt {
                concepts: known.is_some().then_some(concepts),
                ..receipt_of(id, name.clone(), None, place(&appended[0]), action)
            })
        })?;
        Ok(GraphReceipt { warnings, ..answer })
    }

    /// Gives a memoir another description.
    ///
    /// # Errors
    /// `NotFound` and `Invalid` for a missing memoir; `Secret`.
    pub fn memoir_describe(
        &self,
        caller: &Caller,
        request: &MemoirRequest,
    ) -> Result<GraphReceipt> {
        let (name, description, warnings) = self.check_memoir(request)?;
        self.refuse_no_memoirs(&name)?;
        let answer = self.command(caller, None, RequestKeyOf(None), |command, views| {
            let (_, memoir) = self.memoir_at(views, &name, views.tally().position)?;
            if memoir.content.as_deref() == Some(&description) {
                return Ok(unchanged(&memoir, None));
            }
            let event = NewEvent {
                kind: Kind::MEMOIR_DESCRIBED,
                subject: memoir.id,
                refs: memoir.observed(),
                facts: MemoirDescribed {
                    fields: fields::CONTENT,
                }
                .encode(),
                payload: payload::encode(&payload::MemoirDescribed {
                    description: Some(&description),
                }),
            };
            let appended = command.append(views, vec![event])?;
            Ok(receipt(&memoir, None, place(&appended[0]), Action::Updated))
        })?;
        Ok(GraphReceipt { warnings, ..answer })
    }

    /// Deletes a memoir. Its concepts and links are hidden with it until it is revived.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn memoir_forget(&self, caller: &Caller, name: &str) -> Result<GraphReceipt> {
        self.turn_memoir(caller, name, Kind::MEMOIR_FORGOTTEN)
    }

    /// Brings a deleted memoir back, with its concepts and links.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn memoir_revive(&self, caller: &Caller, name: &str) -> Result<GraphReceipt> {
        self.turn_memoir(caller, name, Kind::MEMOIR_REVIVED)
    }

    fn turn_memoir(&self, caller: &Caller, name: &str, kind: Kind) -> Result<GraphReceipt> {
        self.refuse_no_memoirs(name)?;
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let newest = views.tally().position;
            let (entity, memoir) = self.any_memoir_at(views, name, newest)?;
            let concepts = Some(self.concept_count(views, entity, newest)?);
            let receipt = match turn(command, views, &memoir, kind)? {
                Some((event, action)) => receipt(&memoir, None, event, action),
                None => unchanged(&memoir, None),
            };
            Ok(GraphReceipt {
                concepts,
                ..receipt
            })
        })
    }

    fn check_memoir(&self, request: &MemoirRequest) -> Result<(String, String, Vec<String>)> {
        let name = limits::visible_name("the memoir's name", &request.name, TOPIC_LEN_MAX)?;
        if name.ends_with('/') {
            return Err(ServiceError::invalid_with(
                format!("the memoir's name `{name}` ends with `/`"),
                "leave that out",
            ));
        }
        limits::optional_text("the description", &request.description, CONTENT_LEN_MAX)?;
        let mut description = request.description.clone();
        let mut guard = Guard::new(&self.settings.secrets, request.allow_secret);
        guard.graph(&name, "description", Some(&mut description), &mut [])?;
        Ok((name, description, guard.warnings()))
    }
}

fn taken(known: &Version) -> ServiceError {
    let name = shown(known.topic.as_ref());
    match known.is_alive() {
        true => ServiceError::invalid_with(
            format!("there is a memoir `{name}` already"),
            format!("`icm memoir describe -n '{name}' -d …` changes what it is about"),
        ),
        false => ServiceError::invalid_with(
            format!("memoir `{name}` was deleted, and its name is kept for it"),
            format!("bring it back with its concepts: `icm memoir revive '{name}'`"),
        ),
    }
}
