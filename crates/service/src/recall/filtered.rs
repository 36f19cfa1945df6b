//! A recall whose results the caller filters. The record holds only the results that stay.

use icm_log::{EventId, Position, SubjectId};
use jiff::Timestamp;

use super::query::tokens_of;
use super::question::notes;
use crate::recall::record::ShownBy;
use crate::recall::scopes::Scopes;
use crate::service::{PendingRecall, Service};
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_range;
use icm_api::{Caller, RecallAnswer, RecallHit, RecallRequest};

/// Further pages of results that are read to fill an answer. Raised, a rare condition costs more searches.
const FURTHER_PAGES_MAX: usize = 2;

impl Service {
    /// Returns an answer with the results for which `keep` is true. Asks for further results, two times at most, until
    /// there are as many as the request wants. With `request.record` the recall is queued for the log, as
    /// [`Service::recall`] does. A result that `keep` drops was not shown, so it does not count as used.
    ///
    /// # Errors
    /// As [`Service::recall`].
    pub fn recall_where(
        &self,
        caller: &Caller,
        request: &RecallRequest,
        mut keep: impl FnMut(&RecallHit) -> bool,
    ) -> Result<RecallAnswer> {
        // A redaction after this drops the record.
        let read = self.log.rewritten();
        // The owner, too, must not record what is dropped here.
        let unrecorded = RecallRequest {
            record: false,
            ..request.clone()
        };
        let find = || {
            let mut answer = self.recall(caller, &unrecorded)?;
            answer.results.retain(&mut keep);
            let wanted = request.limit.unwrap_or_default();
            for _ in 0..FURTHER_PAGES_MAX {
                let left = wanted.saturating_sub(answer.results.len());
                let Some(offset) = answer.next.filter(|_| left > 0) else {
                    break;
                };
                let further = RecallRequest {
                    offset,
                    limit: Some(left),
                    at: Some(format!("@{}", answer.basis.position)),
                    together: false,
                    ..unrecorded.clone()
                };
                let page = self.recall(caller, &further)?;
                answer.next = page.next;
                let kept = page.results.into_iter().filter(&mut keep);
                answer.results.extend(kept);
            }
            Ok(answer)
        };
        let counts = request.record && request.front.is_asked();
        let (mut answer, turn) = self.in_turn((counts, ShownBy::This), find, ids_of)?;
        if request.record && answer.basis.position > 0 && !self.options.read_only {
            let mut pending = self.pending_recall(caller, request, &answer)?;
            pending.read = read;
            answer.note = notes(answer.note, self.keep_record(pending, turn));
        }
        Ok(answer)
    }

    /// Returns the record of an answer that may have come from the owner.
    fn pending_recall(
        &self,
        caller: &Caller,
        request: &RecallRequest,
        answer: &RecallAnswer,
    ) -> Result<PendingRecall> {
        let basis = &answer.basis;
        let event = EventId::parse_hex(&basis.event).ok_or_else(|| broken("event"))?;
        let moment = |text: &String| {
            let time: Option<Timestamp> = text.parse().ok();
            time.and_then(|time| u64::try_from(time.as_millisecond()).ok())
        };
        let question = self.what_counts(&request.query)?;
        let topic = request.topic.as_deref();
        let counted = RecallRequest {
            query: question.text.to_string(),
            topic: self.with_views(|views| self.topic_filter_if_any(views, topic))?,
            tags: request.tags.checked()?,
            no_links: request.no_links || !self.settings.links,
            ..request.clone()
        };
        let scopes = Scopes::of(caller, request.scope.as_deref())?;
        Ok(PendingRecall {
            caller: caller.clone(),
            request: self.without_secrets(&counted),
            facts: self.fact_filter(request)?,
            scopes: self.without_secret_each(scopes.to_record()),
            basis: (Position(basis.position), event),
            moment_ms: basis.moment.as_ref().and_then(moment),
            results: ids_of(answer)?,
            conditions: Vec::new(),
            fits: answer.results.iter().map(|hit| hit.fit).collect(),
            tokens: u32::try_from(tokens_of(&answer.results)).unwrap_or(u32::MAX),
            whole_len: question.whole_len,
            read: self.log.rewritten(),
        })
    }
}

fn ids_of(answer: &RecallAnswer) -> Result<Vec<SubjectId>> {
    let ids = answer.results.iter().map(|hit| {
        let ids = id_range(&hit.memory.id).ok_or_else(|| broken("id"))?;
        Ok(ids.0)
    });
    ids.collect()
}

fn broken(what: &str) -> ServiceError {
    ServiceError::Internal(format!("an answer has no {what}"))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use icm_api::StoreRequest;
    use serde_json::value::RawValue;

    use super::*;
    use crate::peer::Peer;
    use crate::service::locked;
    use crate::service::tests::service;

    /// A peer that answers nothing and keeps what it was asked.
    #[derive(Default)]
    struct Asked(Mutex<Vec<String>>);

    impl Peer for Asked {
        fn is_for(&self, _: bool) -> bool {
            true
        }

        fn ask(
            &self,
            _: &str,
            params: &mut dyn FnMut() -> Option<Box<RawValue>>,
        ) -> Option<Box<RawValue>> {
            let params = params().expect("parameters");
            locked(&self.0).push(params.get().to_owned());
            None
        }

        fn leave_views(&self) -> bool {
            false
        }

        fn is_of_another(&self) -> bool {
            true
        }

        fn left_unanswered(&self) -> bool {
            false
        }

        fn ask_again(&self) {}
    }

    #[test]
    fn only_what_stays_is_recorded_also_with_an_owner() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("store");
        let caller = Caller::default();
        {
            let service = service(&dir);
            for n in 0..8 {
                let text = format!("The parser keeps rule number {n} in a table of its own");
                let topic = if n < 4 { "old" } else { "new" };
                service
                    .store(&caller, StoreRequest::new(topic, text))
                    .expect("stored");
            }
        }
        let peer = Arc::new(Asked::default());
        let service = service(&dir).asking(Arc::clone(&peer) as Arc<dyn Peer>);
        let request = RecallRequest {
            limit: Some(4),
            record: true,
            ..RecallRequest::new("parser rule table")
        };
        let answer = service
            .recall_where(&caller, &request, |hit| hit.memory.topic == "new")
            .expect("an answer");
        assert_eq!(answer.results.len(), 4);
        let asked = locked(&peer.0);
        assert!(asked.len() >= 2, "{asked:?}");
        let records = |params: &&String| params.contains("\"record\":true");
        assert_eq!(asked.iter().filter(records).count(), 0, "{asked:?}");
        let pending = locked(&service.pending_recalls);
        let [recall] = &pending[..] else {
            panic!("{} records", pending.len());
        };
        let shown: Vec<String> = (answer.results.iter())
            .map(|hit| hit.memory.id.clone())
            .collect();
        let recorded: Vec<String> = recall
            .results
            .iter()
            .map(|id| icm_api::ids::id_text(*id))
            .collect();
        assert_eq!(recorded, shown);
        assert_eq!(recall.basis.0.0, answer.basis.position);
        assert!(recall.tokens > 20, "{}", recall.tokens);
    }
}
