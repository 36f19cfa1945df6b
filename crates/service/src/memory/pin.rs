//! Pins: memories that every session sees when it wakes up.

use icm_log::{Kind, NewEvent, facts, payload};
use icm_projections::fold::Version;

use crate::command::{RequestKeyOf, receipt, unchanged};
use crate::service::Service;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::{Action, Caller, Receipt};

impl Service {
    /// Pins living memories until a time in milliseconds since the epoch, or until they are unpinned.
    ///
    /// # Errors
    /// `Invalid` for a forgotten memory and for a time that has passed, `NotFound`.
    pub fn pin(
        &self,
        caller: &Caller,
        ids: &[String],
        until_ms: Option<u64>,
    ) -> Result<Vec<Receipt>> {
        if until_ms.is_some_and(|until| until <= self.now_ms()) {
            return Err(ServiceError::invalid_with(
                "a memory cannot be pinned until a time that has passed",
                "give a duration such as `7d`",
            ));
        }
        self.set_pins(caller, ids, Some(until_ms.unwrap_or(0)))
    }

    /// Unpins memories.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn unpin(&self, caller: &Caller, ids: &[String]) -> Result<Vec<Receipt>> {
        self.set_pins(caller, ids, None)
    }

    fn set_pins(
        &self,
        caller: &Caller,
        ids: &[String],
        pinned_until_ms: Option<u64>,
    ) -> Result<Vec<Receipt>> {
        let Some(first) = ids.first() else {
            return Err(ServiceError::invalid_with(
                "no memory was named",
                "name one by its id, as `icm list` shows it",
            ));
        };
        self.refuse_unknown(first)?;
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let mut versions: Vec<Version> = Vec::new();
            for id in ids {
                let version = self.newest(views, id)?;
                if pinned_until_ms.is_some() && !version.is_alive() {
                    let id = id_text(version.id);
                    return Err(ServiceError::invalid_with(
                        format!("memory {id} is forgotten"),
                        format!("bring it back with `icm revive {id}` first"),
                    )
                    .into());
                }
                if versions.iter().all(|known| known.id != version.id) {
                    versions.push(version);
                }
            }
            let changes = |version: &&Version| version.pinned_until_ms != pinned_until_ms;
            let events = versions.iter().filter(changes);
            let events: Vec<_> = events
                .map(|version| event(version, pinned_until_ms))
                .collect();
            let mut appended = command.append_all(views, events)?.into_iter();
            let action = match pinned_until_ms {
                Some(_) => Action::Pinned,
                None => Action::Unpinned,
            };
            let receipts = versions.iter().map(|version| match changes(&version) {
                true => {
                    let event = appended.next().expect("one event for each changed memory");
                    receipt(version, event, action, None)
                }
                false => unchanged(version),
            });
            Ok(receipts.collect())
        })
    }
}

fn event(version: &Version, pinned_until_ms: Option<u64>) -> NewEvent {
    let (kind, facts) = match pinned_until_ms {
        Some(until_ms) => (
            Kind::MEMORY_PINNED,
            facts::MemoryPinned { until_ms }.encode(),
        ),
        None => (Kind::MEMORY_UNPINNED, Vec::new()),
    };
    NewEvent {
        kind,
        subject: version.id,
        refs: version.observed(),
        facts,
        payload: payload::encode(&payload::MemoryForgotten { reason: None }),
    }
}
