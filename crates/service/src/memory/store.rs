//! Storing and changing memories, one or many at once.

use std::time::{Duration, Instant};

use icm_log::facts::ScopeKind;
use icm_log::{CommandId, Name};
use icm_projections::Views;
use icm_projections::fold::Version;

use crate::command::batch::Command;
use crate::command::secrets::Guard;
use crate::command::transaction::{CommandIdentity, Uncommitted};
use crate::command::{
    Change, NewExpiry, RequestKeyOf, Scope, ValidatedStore, digest_of, earlier_receipt,
    first_receipt, receipt, request_shape, unchanged, update_shape,
};
use crate::peer::{Attempt, Forwarded};
use crate::service::{LOCK_LOOK, Service, Write, locked};
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::limits;
use icm_api::limits::{CONTENT_LEN_MAX, KEY_LEN_MAX, RAW_EXCERPT_LEN_MAX};
use icm_api::when;
use icm_api::when::DayMeans;
use icm_api::{Action, Caller, Crowded, OnSimilar, Receipt, StoreRequest, UpdateRequest};

/// A write that was validated.
pub struct Prepared {
    what: ValidatedWrite,
    request_id: Option<String>,
    warnings: Vec<String>,
    attempt: Option<Attempt>,
}

enum ValidatedWrite {
    Store(Box<ValidatedStore>),
    Update { id: String, change: Box<Change> },
}

impl ValidatedWrite {
    /// Returns the condition to expire that the write sets.
    fn expires(&self) -> Option<&NewExpiry> {
        match self {
            ValidatedWrite::Store(checked) => checked.expires.as_ref(),
            ValidatedWrite::Update { change, .. } => change.expires.as_ref()?.as_ref(),
        }
    }
}

/// The receipts of writes that were decided together; see [`Service::decide_all`].
pub struct Receipts<'a> {
    receipts: Vec<Result<Receipt>>,
    decided: Uncommitted<'a>,
}

impl Receipts<'_> {
    /// Returns the receipts once all their events are durable.
    ///
    /// # Errors
    /// If making them durable fails; then none of the receipts counts.
    pub fn commit(self) -> Result<Vec<Result<Receipt>>> {
        self.decided.commit()?;
        Ok(self.receipts)
    }
}

impl Service {
    /// Stores a memory. If the topic already has its key, that memory is updated.
    pub fn store(&self, caller: &Caller, request: StoreRequest) -> Result<Receipt> {
        let content = match self.settings.judge {
            Some(_) => self.guarded_content(&request),
            None => String::new(),
        };
        let receipt = self.ask_or_write(caller, request, Write::Store)?;
        Ok(self.judged(&content, receipt))
    }

    /// Changes a memory.
    pub fn update(&self, caller: &Caller, request: UpdateRequest) -> Result<Receipt> {
        self.ask_or_write(caller, request, Write::Update)
    }

    /// Asks the owner to do a write, if there is one; else does it here. A process that holds the lock meanwhile may
    /// have become the owner: it is then asked, so that the wait for its lock ends.
    fn ask_or_write<R: Forwarded + Clone>(
        &self,
        caller: &Caller,
        request: R,
        wrap: fn(R) -> Write,
    ) -> Result<Receipt> {
        let begun = Instant::now();
        let mut attempt = None;
        loop {
            if let Some(receipt) = self.ask_owner(caller, &request, &mut attempt) {
                return Ok(receipt);
            }
            if let Some(done) = self.queue_own(caller, &request, wrap, &mut attempt) {
                return done;
            }
            self.read_log()?;
            // An owner waits for the lock as long as this process would.
            let left = self.options.lock_wait.saturating_sub(begun.elapsed());
            let wait = match self.peer.is_of_another() {
                true => left.min(LOCK_LOOK),
                false => left,
            };
            // The peer may have written it and died before the answer.
            let own = attempt.map(|asked| Attempt {
                is_again: true,
                ..asked
            });
            match self.write(caller, wrap(request.clone()), wait, own) {
                // An owner that did not answer may hold the lock, and be running again by now.
                Err(ServiceError::Busy { .. }) if wait < left => self.peer.ask_again(),
                Err(ServiceError::Busy { .. }) => {
                    let waited_ms = begun.elapsed().as_millis() as u64;
                    return Err(ServiceError::Busy { waited_ms });
                }
                Err(ServiceError::Stopped { pid, .. }) => {
                    let asked = self.peer.left_unanswered();
                    return Err(ServiceError::Stopped { pid, asked });
                }
                other => return other,
            }
        }
    }

    /// Puts a write into the owner's queue, if this process is the owner. Returns `None` if the write was not decided.
    fn queue_own<R: Forwarded + Clone>(
        &self,
        caller: &Caller,
        request: &R,
        wrap: fn(R) -> Write,
        attempt: &mut Option<Attempt>,
    ) -> Option<Result<Receipt>> {
        let queue = locked(&self.own_queue).clone()?;
        let now = self.begin_attempt(attempt);
        queue(caller.clone(), wrap(request.clone()), now)
    }

    fn write(
        &self,
        caller: &Caller,
        write: Write,
        wait: Duration,
        attempt: Option<Attempt>,
    ) -> Result<Receipt> {
        let prepared = self.prepare_write(caller, write)?.attempted(attempt);
        if let ValidatedWrite::Update { id, .. } = &prepared.what {
            self.refuse_unknown(id)?;
        }
        let asked = CommandIdentity {
            caller,
            id: prepared.command(),
            request: prepared.request(),
        };
        self.command_within(wait, asked, |command, views| {
            self.decide(command, views, &prepared)
        })
    }

    /// Decides several writes under one lock. A write that fails is left out; the others count once the receipts are
    /// committed.
    ///
    /// # Errors
    /// If the store cannot be written at all.
    pub fn decide_all<'a>(&'a self, writes: &'a [(Caller, Prepared)]) -> Result<Receipts<'a>> {
        self.refuse_read_only()?;
        self.refuse_foreign_folder()?;
        let mut held = self.begin_transaction(self.options.lock_wait)?;
        let receipts = writes.iter().map(|(caller, prepared)| {
            self.check_caller(caller)?;
            let asked = CommandIdentity {
                caller,
                id: prepared.command(),
                request: prepared.request(),
            };
            held.run(asked, |command, views| {
                self.decide(command, views, prepared)
            })
        });
        let receipts = receipts.collect();
        Ok(Receipts {
            receipts,
            decided: held.release(),
        })
    }

    /// Checks a write without looking at the store.
    pub fn prepare_write(&self, caller: &Caller, write: Write) -> Result<Prepared> {
        match write {
            Write::Store(mut request) => {
                let warnings = self.guard_store(&mut request)?;
                limits::refuse_commas(&request.keywords)?;
                let checked = self.check_store(caller, &request)?;
                Ok(Prepared {
                    what: ValidatedWrite::Store(Box::new(checked)),
                    request_id: request.request_id,
                    warnings,
                    attempt: None,
                })
            }
            Write::Update(mut request) => {
                let mut guard = Guard::new(&self.settings.secrets, request.allow_secret);
                guard.update(&mut request)?;
                limits::refuse_commas(request.keywords.as_deref().unwrap_or_default())?;
                let change = self.check_update(&request)?;
                Ok(Prepared {
                    what: ValidatedWrite::Update {
                        id: request.id,
                        change: Box::new(change),
                    },
                    request_id: request.request_id,
                    warnings: guard.warnings(),
                    attempt: None,
                })
            }
        }
    }

    fn decide(
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
        let name = change.name_after(&before);
        self.refuse_taken_name(views, &before, name)?;
        let open = self.open_fields(views, &before, views.tally().position)?;
        let change = self.counted(views, change.clone(), &before)?;
        let change = self.of_valid_value(views, change, &before)?;
        match change.event_settling(&before, open) {
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

    fn check_update(&self, request: &UpdateRequest) -> Result<Change> {
        Ok(Change {
            topic: match &request.topic {
                Some(topic) => Some(limits::topic(topic)?),
                None => None,
            },
            content: match &request.content {
                Some(content) => {
                    limits::text("the content", content, CONTENT_LEN_MAX)?;
                    Some(content.clone())
                }
                None => None,
            },
            importance: request.importance.map(Into::into),
            trust: request.trust.map(Into::into),
            keywords: match &request.keywords {
                Some(words) => Some(limits::keywords(words)?),
                None => None,
            },
            scope: match &request.scope {
                Some(scope) => Some(Scope::parse(Some(scope))?),
                None => None,
            },
            expires: match request.expires.as_deref() {
                Some(text) if text.trim().is_empty() => Some(None),
                Some(text) => Some(Some(self.new_expiry(text)?)),
                None => None,
            },
            request_digest: digest_of(&request.request_id, &update_shape(request))?,
            ..Change::default()
        })
    }

    pub(crate) fn check_store(
        &self,
        caller: &Caller,
        request: &StoreRequest,
    ) -> Result<ValidatedStore> {
        limits::text("the content", &request.content, CONTENT_LEN_MAX)?;
        let raw_excerpt = request.raw_excerpt.clone().filter(|text| !text.is_empty());
        if let Some(text) = &raw_excerpt {
            limits::optional_text("the raw excerpt", text, RAW_EXCERPT_LEN_MAX)?;
        }
        let key = match &request.key {
            Some(key) => Some(limits::name("the key", key, KEY_LEN_MAX)?),
            None => None,
        };
        let now = self.now_ms();
        let occurred_at_ms = match &request.occurred_at {
            Some(text) => Some(
                when::parse_moment(text, now, &self.zone(), DayMeans::Start)
                    .map_err(|error| self.without_its_secrets(error))?,
            ),
            None => None,
        };
        let metadata = match &request.metadata {
            Some(value) => Some(limits::metadata(value)?),
            None => None,
        };
        Ok(ValidatedStore {
            topic: limits::topic(&request.topic)?,
            content: request.content.clone(),
            importance: request.importance.map(Into::into),
            keywords: limits::keywords(&request.keywords)?,
            raw_excerpt,
            key,
            occurred_at_ms,
            source: self.check_source(caller, &request.source)?,
            metadata,
            expires: match &request.expires {
                Some(text) => Some(self.new_expiry(text)?),
                None => None,
            },
            scope: Scope::parse(request.scope.as_deref())?,
            trust: request.trust.into(),
            nth_line: None,
            carried: None,
            request_digest: digest_of(&request.request_id, &request_shape(request))?,
        })
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

    /// Returns the content of a store as it is kept; empty if the store is refused.
    fn guarded_content(&self, request: &StoreRequest) -> String {
        let mut guarded = request.clone();
        match self.guard_store(&mut guarded) {
            Ok(_) => guarded.content,
            Err(_) => String::new(),
        }
    }

    /// Checks a store for secrets. Returns the warnings for the receipt.
    pub(crate) fn guard_store(&self, request: &mut StoreRequest) -> Result<Vec<String>> {
        let mut guard = Guard::new(&self.settings.secrets, request.allow_secret);
        guard.store(request)?;
        Ok(guard.warnings())
    }
}

impl Prepared {
    /// Marks this write as an attempt of a command.
    #[must_use]
    pub fn attempted(self, attempt: Option<Attempt>) -> Prepared {
        Prepared { attempt, ..self }
    }

    fn command(&self) -> Option<CommandId> {
        self.attempt.map(|attempt| attempt.command)
    }

    fn request(&self) -> RequestKeyOf<'_> {
        RequestKeyOf(self.request_id.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::value::RawValue;

    use super::*;
    use crate::peer::{Peer, PeerParams};
    use crate::service::tests::service;
    use icm_api::Dedup;

    fn memory(content: &str) -> StoreRequest {
        StoreRequest::new("t", content)
    }

    /// Decides writes under one lock. Returns the action and position of each.
    fn done(service: &Service, writes: Vec<Write>) -> Vec<Result<(Action, u64)>> {
        let prepared = writes.into_iter().map(|write| {
            let caller = Caller::default();
            let prepared = service.prepare_write(&caller, write).expect("it is fine");
            (caller, prepared)
        });
        let prepared: Vec<_> = prepared.collect();
        let receipts = service.decide_all(&prepared).expect("they are decided");
        let receipts = receipts.commit().expect("they are durable");
        let fates = receipts.into_iter();
        fates
            .map(|receipt| receipt.map(|receipt| (receipt.action, receipt.position)))
            .collect()
    }

    #[test]
    fn each_of_many_sees_what_was_decided_before_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        let first = service
            .store(&Caller::default(), memory("one"))
            .expect("it stores");
        let keyed = StoreRequest {
            request_id: Some("again".to_owned()),
            ..memory("two words")
        };
        let update = |id: &str, content: &str| {
            Write::Update(UpdateRequest {
                id: id.to_owned(),
                content: Some(content.to_owned()),
                ..UpdateRequest::default()
            })
        };
        let fates = done(
            &service,
            vec![
                Write::Store(keyed.clone()),
                update(&first.id, "one, changed"),
                update("01ZZZZZZZZZZZZZZZZZZZZZZZZ", "nobody's"),
                Write::Store(keyed),
                Write::Store(memory("one, changed")),
                Write::Store(memory("three")),
            ],
        );
        let at = |fate: &Result<(Action, u64)>| *fate.as_ref().expect("it is done");
        let before = first.position;
        assert_eq!(at(&fates[0]), (Action::Stored, before + 1));
        assert_eq!(at(&fates[1]), (Action::Updated, before + 2));
        assert!(matches!(fates[2], Err(ServiceError::NotFound { .. })));
        // Earlier writes of the same batch had stored this request and this text.
        assert_eq!(at(&fates[3]), (Action::Stored, before + 1));
        assert_eq!(at(&fates[4]), (Action::Unchanged, before + 2));
        assert_eq!(at(&fates[5]), (Action::Stored, before + 3));
        let kept = service.list(&icm_api::ListRequest::default());
        assert_eq!(kept.expect("it lists").len(), 3);
    }

    #[test]
    fn a_text_is_found_among_many_of_one_pattern() {
        let folder = tempfile::tempdir().expect("a folder");
        let service = service(folder.path());
        let words = [
            "deployment",
            "production",
            "environment",
            "configuration",
            "successfully",
            "verification",
            "integration",
            "monitoring",
            "dashboards",
            "responsible",
            "engineering",
            "department",
            "documentation",
            "registration",
            "certificate",
            "authentication",
            "infrastructure",
            "availability",
            "performance",
            "measurement",
        ];
        let text = |n: usize| format!("run {n} by Ann: {}", words.join(" "));
        let store = |n| {
            service
                .store(&Caller::default(), memory(&text(n)))
                .expect("it stores")
        };
        let receipts: Vec<Receipt> = (0..20).map(store).collect();
        assert!(
            receipts
                .iter()
                .all(|receipt| receipt.action == Action::Stored)
        );
        for n in [0, 7, 19] {
            let again = store(n);
            assert_eq!(
                (again.action, &again.id),
                (Action::Unchanged, &receipts[n].id)
            );
        }
    }

    /// A peer that does what it is asked and dies before it answers.
    struct DyingPeer(Service);

    impl Peer for DyingPeer {
        fn is_for(&self, writes: bool) -> bool {
            writes
        }

        fn ask(
            &self,
            _: &str,
            params: &mut dyn FnMut() -> Option<Box<RawValue>>,
        ) -> Option<Box<RawValue>> {
            let params = params()?;
            let asked: PeerParams<StoreRequest> =
                serde_json::from_str(params.get()).expect("it is a store");
            let prepared = self
                .0
                .prepare_write(&asked.caller, Write::Store(asked.request.clone()));
            let prepared = prepared.expect("it is fine").attempted(asked.attempt());
            let writes = [(asked.caller, prepared)];
            let decided = self.0.decide_all(&writes);
            decided
                .expect("it is decided")
                .commit()
                .expect("it is durable");
            None
        }

        fn leave_views(&self) -> bool {
            false
        }

        fn is_of_another(&self) -> bool {
            false
        }

        fn left_unanswered(&self) -> bool {
            true
        }

        fn ask_again(&self) {}
    }

    #[test]
    fn writes_of_a_dying_peer_are_no_news_of_an_earlier_memory() {
        let folder = tempfile::tempdir().expect("a folder");
        let dying = DyingPeer(service(folder.path()));
        let asks = service(folder.path()).asking(Arc::new(dying));
        let receipt = asks.store(&Caller::default(), memory("said once"));
        assert_eq!(receipt.expect("it stores").action, Action::Stored);
    }

    #[test]
    fn a_command_that_an_earlier_attempt_wrote_is_known_again() {
        let folder = tempfile::tempdir().expect("a folder");
        // Without the search for near texts, a second memory with the same words would show.
        let service = service(folder.path()).with_dedup(Dedup {
            on_similar: OnSimilar::Off,
            ..Dedup::default()
        });
        let first = Attempt {
            command: CommandId([7; 16]),
            asked_ms: service.now_ms(),
            is_again: false,
        };
        let again = Attempt {
            is_again: true,
            ..first
        };
        let store = |attempt| {
            let write = Write::Store(memory("said once"));
            let prepared = service.prepare_write(&Caller::default(), write);
            let prepared = prepared.expect("it is fine").attempted(Some(attempt));
            let write = [(Caller::default(), prepared)];
            let receipts = service.decide_all(&write);
            let receipts = receipts.expect("it is decided").commit();
            let receipt = receipts.expect("it is durable").remove(0);
            receipt.expect("it stores")
        };
        let stored = store(first);
        assert_eq!(stored.action, Action::Stored);
        // Others write meanwhile.
        done(&service, vec![Write::Store(memory("said by another"))]);
        let known = store(again);
        assert_eq!(
            (known.action, &known.event),
            (Action::Stored, &stored.event)
        );
        assert_eq!(known.position, stored.position);
        // The asker gave the peer up and wrote the memory itself before the peer came to it.
        let late = Attempt {
            asked_ms: first.asked_ms - 1_000,
            ..first
        };
        assert_eq!(store(late).event, stored.event);
        // Another command with the same text is another command.
        let other = Attempt {
            command: CommandId([8; 16]),
            ..again
        };
        let other = store(other);
        assert_eq!(other.action, Action::Stored);
        assert_ne!(other.event, stored.event);
    }
}
