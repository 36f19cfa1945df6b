//! Decides a checked write: is it known, is the name or the text there already, which event does it become?

use icm_log::Name;
use icm_log::facts::ScopeKind;
use icm_projections::Views;
use icm_projections::fold::Version;

use super::{Prepared, ValidatedWrite};
use crate::command::batch::Command;
use crate::command::{
    Change, NewExpiry, RequestKeyOf, ValidatedStore, earlier_receipt, first_receipt, receipt,
    unchanged,
};
use crate::memory::present::updated_at;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::{Action, Crowded, OnSimilar, Receipt};

impl Service {
    pub(super) fn decide(
        &self,
        command: &mut Command<'_>,
        views: &Views,
        prepared: &Prepared,
    ) -> QueryResult<Receipt> {
        let earlier = earlier_receipt(&self.log, views, prepared.attempt, self.now_ms())?;
        let receipt = match (&prepared.what, earlier) {
            (ValidatedWrite::Store(checked), Some(receipt)) => {
                self.told_of_first(views, checked, receipt)
            }
            (ValidatedWrite::Update { .. }, Some(receipt)) => Ok(receipt),
            (ValidatedWrite::Store(checked), None) => {
                self.decide_store(command, views, checked, prepared.request())
            }
            (ValidatedWrite::Update { id, change }, None) => {
                self.decide_update(command, views, id, change, prepared.request())
            }
        }?;
        let set = prepared.what.expires().map(NewExpiry::to_text);
        Ok(Receipt {
            // The receipt of an earlier attempt has the condition that it set.
            expires: set.map(|set| receipt.expires.unwrap_or(set)),
            warnings: prepared.warnings.clone(),
            ..receipt
        })
    }

    fn decide_store(
        &self,
        command: &mut Command<'_>,
        views: &Views,
        checked: &ValidatedStore,
        request: RequestKeyOf<'_>,
    ) -> QueryResult<Receipt> {
        if let Some(receipt) = first_receipt(command, views, &checked.request_digest, request)? {
            return self.told_of_first(views, checked, receipt);
        }
        let looked = self.look_for(views, checked)?;
        let was_said = looked.was_said;
        let receipt = self.store_once(command, views, checked, looked)?;
        let receipt = self.seems_to_replace(views, checked, receipt, was_said)?;
        let crowded = self.crowded(views, checked, &receipt)?;
        Ok(Receipt { crowded, ..receipt })
    }

    /// Adds the near and the replaced memories that the first receipt of a store named.
    fn told_of_first(
        &self,
        views: &Views,
        checked: &ValidatedStore,
        receipt: Receipt,
    ) -> QueryResult<Receipt> {
        let similar = self.similar_of_first(views, checked, &receipt)?;
        let may_be_said = checked.key.is_none() && self.settings.dedup.on_similar != OnSimilar::Off;
        let receipt = Receipt { similar, ..receipt };
        self.seems_to_replace(views, checked, receipt, may_be_said)
    }

    fn decide_update(
        &self,
        command: &mut Command<'_>,
        views: &Views,
        id: &str,
        change: &Change,
        request: RequestKeyOf<'_>,
    ) -> QueryResult<Receipt> {
        if let Some(receipt) = first_receipt(command, views, &change.request_digest, request)? {
            return Ok(receipt);
        }
        let before = self.living(views, id)?;
        refuse_unseen(change, &before)?;
        let name = change.name_after(&before);
        self.refuse_taken_name(views, &before, name)?;
        let open = self.open_fields(views, &before, views.tally().position)?;
        let change = self.counted(views, change.clone(), &before)?;
        let (change, also) = self.of_valid_value(views, change, &before, open)?;
        match change.event_settling(&before, also) {
            Some(event) => {
                let topic = change.topic.clone();
                let appended = command.append(views, vec![event])?;
                Ok(receipt(&before, appended[0], Action::Updated, topic))
            }
            None => Ok(unchanged(&before)),
        }
    }

    /// Returns a change whose condition does not count the recalls that showed the memory before.
    pub(crate) fn counted(
        &self,
        views: &Views,
        change: Change,
        before: &Version,
    ) -> QueryResult<Change> {
        if !change.counts_recalls() {
            return Ok(change);
        }
        let entity = views.resolve(before.id)?;
        let (recalls, _) = views.accesses_at(&self.log, entity, views.tally().position)?;
        Ok(change.counted_from(recalls))
    }

    /// Refuses a move that would give two memories one name, as memories of one name are one memory.
    pub(crate) fn refuse_taken_name(
        &self,
        views: &Views,
        before: &Version,
        name: Name,
    ) -> QueryResult<()> {
        let own = views.resolve(before.id)?;
        let Some(other) = views.named(name)?.filter(|other| *other != own) else {
            return Ok(());
        };
        let hint = "update that one and forget this one, or keep the topic as it is";
        Err(ServiceError::invalid_with(
            format!(
                "the topic has (or had) another memory with that key, {}",
                id_text(other)
            ),
            format!("{hint}; storing the topic and key anew brings a forgotten one back"),
        )
        .into())
    }

    /// Returns a hint if the topic of a new memory has many memories of its scope. `views` have not seen the new one.
    fn crowded(
        &self,
        views: &Views,
        checked: &ValidatedStore,
        receipt: &Receipt,
    ) -> QueryResult<Option<Crowded>> {
        if self.settings.hint_over == 0 || receipt.action != Action::Stored {
            return Ok(None);
        }
        let all = views.living_in(&receipt.topic, None)?;
        if all < self.settings.hint_over {
            return Ok(None);
        }
        let scope = checked.scope.to_text();
        let mut here = views.living_in(&receipt.topic, Some(&scope))?;
        let tally = views.tally();
        if checked.scope.kind == ScopeKind::Global && tally.memoirs + tally.concepts > 0 {
            // The concepts of a memoir of that name are counted too, all of them global; the table knows how many other
            // members there are.
            here -= here.min(all.saturating_sub(views.listed(&receipt.topic)?.0));
        }
        Ok((here >= self.settings.hint_over).then(|| Crowded {
            memories: here + 1,
            scope: (here < all).then_some(scope),
        }))
    }
}

/// Refuses a change by a caller who saw the memory as it was before.
fn refuse_unseen(change: &Change, before: &Version) -> Result<()> {
    match &change.if_updated_at {
        Some(seen) if *seen != updated_at(before) => Err(ServiceError::invalid_with(
            "this memory was changed since the page was made, so nothing was updated",
            "load its page again, and repeat the change there",
        )),
        _ => Ok(()),
    }
}
