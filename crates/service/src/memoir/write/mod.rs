//! Commands that change memoirs and concepts, a file for each. This file has the parts that both need.

mod concept;
mod memoir;

use icm_log::{Appended, Kind, payload};
use icm_projections::Views;
use icm_projections::fold::Version;

use crate::command::{Command, turned};
use crate::memoir::Place;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::{Action, Caller};

fn place(appended: &Appended) -> Place {
    (appended.event.to_string(), appended.position.0)
}

impl Service {
    /// Returns `NotFound` if the store is empty. Asking for a memoir does not make a store.
    pub(in crate::memoir) fn refuse_no_memoirs(&self, name: &str) -> Result<()> {
        match self.is_empty()? {
            false => Ok(()),
            true => Err(ServiceError::NotFound {
                what: "memoir",
                id: name.to_owned(),
                nearest: Vec::new(),
            }),
        }
    }
}

/// Forgets or revives a row. Returns `None` if the row is in that state already.
fn turn(
    command: &mut Command<'_>,
    views: &Views,
    version: &Version,
    kind: Kind,
) -> QueryResult<Option<(Place, Action)>> {
    if version.hidden {
        return Err(ServiceError::invalid_with(
            "what stored it is undone",
            "undo the undo: see `icm log --kind log.undone`",
        )
        .into());
    }
    let revives = matches!(kind, Kind::MEMOIR_REVIVED | Kind::CONCEPT_REVIVED);
    if version.is_alive() == revives {
        return Ok(None);
    }
    let appended = command.append(views, vec![turned(version, kind)])?;
    let action = match revives {
        true => Action::Revived,
        false => Action::Forgotten,
    };
    Ok(Some((place(&appended[0]), action)))
}

fn source_of(caller: &Caller) -> payload::SourceText<'_> {
    payload::SourceText {
        agent: (!caller.actor.is_empty()).then_some(caller.actor.as_str()),
        client: caller.client.as_deref(),
        session: caller.session.as_deref(),
        project: caller.project.as_deref(),
        file: None,
    }
}
