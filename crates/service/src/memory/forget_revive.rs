//! Forgetting and reviving memories: by id, or a whole topic after its plan was shown.

use std::collections::BTreeSet;

use icm_log::Kind;
use icm_projections::Views;
use icm_projections::fold::Version;

use crate::command::secrets::Guard;
use crate::command::{
    Change, Command, NewExpiry, RequestKeyOf, plan_for, receipt, refuse_other_plan, turned,
    unchanged,
};
use crate::memory::expiry::Expired;
use crate::memory::lookup::{hidden_error, newest_of_topic};
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::limits::{TOPIC_LEN_MAX, text};
use icm_api::{Action, Caller, Receipt, Turn, TurnTopicAnswer, TurnTopicRequest};

impl Service {
    /// Forgets memories: they become tombstones, which `revive` brings back.
    pub fn forget(&self, caller: &Caller, ids: &[String]) -> Result<Vec<Receipt>> {
        self.turn_named(caller, ids, Turn::Forget, None)
    }

    /// Brings a forgotten memory back.
    pub fn revive(&self, caller: &Caller, id: &str) -> Result<Receipt> {
        let mut receipts = self.revive_all(caller, &[id.to_owned()])?;
        receipts
            .pop()
            .ok_or_else(|| ServiceError::Internal("no receipt".to_owned()))
    }

    /// Brings forgotten and expired memories back, in one command.
    pub fn revive_all(&self, caller: &Caller, ids: &[String]) -> Result<Vec<Receipt>> {
        self.revive_with(caller, ids, None)
    }

    /// Brings forgotten and expired memories back, in one command. They get the condition `expires`. Without one, an
    /// expired memory loses its condition.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a condition that cannot be set.
    pub fn revive_with(
        &self,
        caller: &Caller,
        ids: &[String],
        expires: Option<&str>,
    ) -> Result<Vec<Receipt>> {
        let expires = self.condition_to_set(expires)?;
        self.turn_named(caller, ids, Turn::Revive, expires.as_ref())
    }

    fn condition_to_set(&self, expires: Option<&str>) -> Result<Option<NewExpiry>> {
        let mut guard = Guard::new(&self.settings.secrets, false);
        guard.condition(expires)?;
        expires.map(|text| self.new_expiry(text)).transpose()
    }

    fn turn_named(
        &self,
        caller: &Caller,
        ids: &[String],
        to: Turn,
        expires: Option<&NewExpiry>,
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
            let mut met = BTreeSet::new();
            for id in ids {
                let version = self.newest(views, id)?;
                if version.hidden {
                    return Err(hidden_error(&version).into());
                }
                if version.is_part() {
                    return Err(ServiceError::NotFound {
                        what: "memory",
                        id: id.clone(),
                        nearest: Vec::new(),
                    }
                    .into());
                }
                if met.insert(version.id) {
                    versions.push(version);
                }
            }
            turn_all(command, views, &versions, to, expires)
        })
    }

    /// Forgets all living memories of a topic, or revives all forgotten and expired ones, in one command; or returns the
    /// plan of that. Memories that come back by themselves, outside of their hours or before their period, are no expired
    /// ones here. Up to 16,384 of them (32 MiB of events) turn together or not at all. More are done in several such steps.
    ///
    /// # Errors
    /// `OtherPlan` if the plan differs from the one that was shown.
    pub fn turn_topic(
        &self,
        caller: &Caller,
        request: &TurnTopicRequest,
    ) -> Result<TurnTopicAnswer> {
        // With a `/` at its end the text may be longer than a topic.
        text("the topic", &request.topic, TOPIC_LEN_MAX + 1)?;
        let expires = self.condition_to_set(request.expires.as_deref())?;
        let look = |views: &Views| -> QueryResult<_> {
            let topic = self.topic_filter(views, &request.topic)?;
            let request = &TurnTopicRequest {
                topic,
                ..request.clone()
            };
            let mut versions = newest_of_topic(views, &request.topic)?;
            let expired = Expired::now(self, views);
            versions.retain(|version| match request.to {
                Turn::Forget => version.is_alive(),
                Turn::Revive => {
                    version.is_forgotten() || version.is_alive() && expired.is_over(version)
                }
            });
            expired.checked()?;
            versions.sort_by_key(|version| version.id);
            let answer = self.turning(views, request, &versions)?;
            Ok((answer, versions))
        };
        if request.dry_run || self.is_empty()? {
            return self.with_views(|views| Ok(look(views)?.0));
        }
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let (mut answer, versions) = look(views)?;
            refuse_other_plan(request.plan.as_deref(), &answer.plan)?;
            answer.receipts = turn_all(command, views, &versions, request.to, expires.as_ref())?;
            if let Some(last) = answer.receipts.last() {
                answer.event = Some(last.event.clone());
                answer.position = Some(last.position);
            }
            Ok(answer)
        })
    }

    fn turning(
        &self,
        views: &Views,
        request: &TurnTopicRequest,
        versions: &[Version],
    ) -> QueryResult<TurnTopicAnswer> {
        let topics = versions.iter().map(|version| version.topic.as_deref());
        let topics: BTreeSet<_> = topics.collect();
        let shown = match request.dry_run {
            true => request.shown,
            false => 0,
        };
        Ok(TurnTopicAnswer {
            dry_run: request.dry_run,
            topic: request.topic.clone(),
            plan: plan_for(&[&request.topic], versions),
            memories: versions.len() as u64,
            topics: topics.len() as u64,
            shown: self.last_of(views, versions, shown)?,
            event: None,
            position: None,
            receipts: Vec::new(),
        })
    }
}

/// Forgets or revives memories, which get the condition `expires`. Memories that are in that state already stay as they are.
fn turn_all(
    command: &mut Command<'_>,
    views: &Views,
    versions: &[Version],
    to: Turn,
    expires: Option<&NewExpiry>,
) -> QueryResult<Vec<Receipt>> {
    let (alive, kind, action) = match to {
        Turn::Forget => (true, Kind::MEMORY_FORGOTTEN, Action::Forgotten),
        Turn::Revive => (false, Kind::MEMORY_REVIVED, Action::Revived),
    };
    let service = command.service;
    let expired = Expired::now(service, views);
    let mut counts = Vec::with_capacity(versions.len());
    let mut warnings = Vec::with_capacity(versions.len());
    let mut events = Vec::new();
    for version in versions {
        let before = events.len();
        let turns = version.is_alive() == alive;
        // A forgotten memory keeps the hours in which it is shown.
        let is_expired = match turns {
            true => expired.is_over(version),
            false => expired.is_expired(version),
        };
        let is_back = turns || is_expired;
        if turns {
            events.push(turned(version, kind));
        }
        if to == Turn::Revive && (expires.is_some() || is_expired) {
            let change = Change {
                expires: Some(expires.cloned()),
                ..Change::default()
            };
            events.extend(service.counted(views, change, version)?.event(version));
        }
        let planned = match to == Turn::Revive && events.len() == before {
            true => service.planned_value(views, version)?,
            false => None,
        };
        warnings.push(Vec::from_iter(planned));
        let action = if is_back { action } else { Action::Updated };
        counts.push((events.len() - before, action));
    }
    expired.checked()?;
    let mut appended = command.append_all(views, events)?.into_iter();
    let receipts = versions.iter().zip(counts).zip(warnings);
    let receipts = receipts.map(|((version, (count, action)), warnings)| {
        let last = appended.by_ref().take(count).last();
        let receipt = match last {
            Some(event) => receipt(version, event, action, None),
            None => unchanged(version),
        };
        Receipt {
            expires: expires.map(NewExpiry::to_text),
            warnings,
            ..receipt
        }
    });
    Ok(receipts.collect())
}
