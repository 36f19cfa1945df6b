//! Storing and changing memories, one or many at once.

use std::time::{Duration, Instant};

use icm_log::facts::ScopeKind;
use icm_projections::Views;

use super::command::Command;
use super::hold::{Asked, Decided};
use super::{
    Change, Checked, RequestKeyOf, Scope, digest_of, first_receipt, receipt, request_shape,
    unchanged, update_shape,
};
use crate::api::{Action, Caller, Crowded, Receipt, StoreRequest, UpdateRequest};
use crate::error::{Result, ServiceError};
use crate::ids::id_text;
use crate::limits::{self, CONTENT_LEN_MAX, KEY_LEN_MAX, RAW_EXCERPT_LEN_MAX};
use crate::owner::Forwarded;
use crate::secrets::Guard;
use crate::service::{Ask, Service};
use crate::when::{self, DayMeans};

/// How long the lock is waited for before it is asked again who may be the owner.
const OWNER_LOOK: Duration = Duration::from_millis(20);

/// What somebody wants written.
#[derive(Debug)]
pub(crate) enum Write {
    Store(StoreRequest),
    Update(UpdateRequest),
}

/// The same, looked at.
pub(crate) struct Prepared {
    what: What,
    request_id: Option<String>,
    warnings: Vec<String>,
}

enum What {
    Store(Box<Checked>),
    Update { id: String, change: Box<Change> },
}

/// What was decided of many; see [`Service::decide_all`].
pub(crate) struct Receipts<'a> {
    receipts: Vec<Result<Receipt>>,
    decided: Decided<'a>,
}

impl Receipts<'_> {
    /// The receipts, once all that they tell of is durable.
    ///
    /// # Errors
    /// Where that fails: then none of them counts.
    pub(crate) fn commit(self) -> Result<Vec<Result<Receipt>>> {
        self.decided.commit()?;
        Ok(self.receipts)
    }
}

impl Service {
    /// Stores a memory; with a key that its topic has already, updates that one.
    pub fn store(&self, caller: &Caller, request: StoreRequest) -> Result<Receipt> {
        self.ask_or_write(caller, request, Write::Store)
    }

    /// Changes a memory.
    pub fn update(&self, caller: &Caller, request: UpdateRequest) -> Result<Receipt> {
        self.ask_or_write(caller, request, Write::Update)
    }

    /// Asks the owner, where there is one; else does it here. Who holds the lock meanwhile may have become the
    /// owner: then that one is asked again, and not its lock waited for.
    fn ask_or_write<R: Forwarded + Clone>(
        &self,
        caller: &Caller,
        mut request: R,
        wrap: fn(R) -> Write,
    ) -> Result<Receipt> {
        let begun = Instant::now();
        loop {
            if let Some(receipt) = self.ask_owner(caller, &mut request) {
                return Ok(receipt);
            }
            self.read_log()?;
            let left = self.options.lock_wait.saturating_sub(begun.elapsed());
            let wait = match self.owner.is_for::<R>() {
                true => left.min(OWNER_LOOK),
                false => left,
            };
            match self.write(caller, wrap(request.clone()), wait) {
                Err(ServiceError::Busy { .. }) if wait < left => {}
                Err(ServiceError::Busy { .. }) => {
                    let waited_ms = begun.elapsed().as_millis() as u64;
                    return Err(ServiceError::Busy { waited_ms });
                }
                other => return other,
            }
        }
    }

    fn write(&self, caller: &Caller, write: Write, wait: Duration) -> Result<Receipt> {
        let prepared = self.prepare_write(caller, write)?;
        if let What::Update { id, .. } = &prepared.what {
            self.refuse_unknown(id)?;
        }
        let asked = Asked {
            caller,
            id: None,
            request: prepared.request(),
        };
        self.command_within(wait, asked, |command, views| {
            self.decide(command, views, &prepared)
        })
    }

    /// Decides one after another under one hold of the store. One that fails is not written; the others are,
    /// once the receipts are committed.
    ///
    /// # Errors
    /// Where the store cannot be written at all.
    pub(crate) fn decide_all<'a>(
        &'a self,
        writes: impl Iterator<Item = (&'a Caller, &'a Prepared)>,
    ) -> Result<Receipts<'a>> {
        self.refuse_read_only()?;
        self.refuse_foreign_folder()?;
        let mut held = self.hold(self.options.lock_wait)?;
        let receipts = writes.map(|(caller, prepared)| {
            let asked = Asked {
                caller,
                id: None,
                request: prepared.request(),
            };
            self.check_caller(caller)?;
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

    /// Looks at what somebody wants written, but not at the store.
    pub(crate) fn prepare_write(&self, caller: &Caller, write: Write) -> Result<Prepared> {
        match write {
            Write::Store(mut request) => {
                let warnings = self.guard_store(&mut request)?;
                let checked = self.check_store(caller, &request)?;
                Ok(Prepared {
                    what: What::Store(Box::new(checked)),
                    request_id: request.request_id,
                    warnings,
                })
            }
            Write::Update(mut request) => {
                let mut guard = Guard::new(&self.secrets, request.allow_secret);
                guard.update(&mut request)?;
                let change = Self::check_update(&request)?;
                Ok(Prepared {
                    what: What::Update {
                        id: request.id,
                        change: Box::new(change),
                    },
                    request_id: request.request_id,
                    warnings: guard.warnings(),
                })
            }
        }
    }

    fn decide(
        &self,
        command: &mut Command<'_>,
        views: &Views,
        prepared: &Prepared,
    ) -> std::result::Result<Receipt, Ask> {
        let receipt = match &prepared.what {
            What::Store(checked) => self.decide_store(command, views, checked, prepared.request()),
            What::Update { id, change } => {
                self.decide_update(command, views, id, change, prepared.request())
            }
        }?;
        Ok(Receipt {
            warnings: prepared.warnings.clone(),
            ..receipt
        })
    }

    fn decide_store(
        &self,
        command: &mut Command<'_>,
        views: &Views,
        checked: &Checked,
        request: RequestKeyOf<'_>,
    ) -> std::result::Result<Receipt, Ask> {
        if let Some(receipt) = first_receipt(command, views, &checked.request_digest, request)? {
            let similar = self.similar_of_first(views, checked, &receipt)?;
            return Ok(Receipt { similar, ..receipt });
        }
        let receipt = self.store_once(command, views, checked)?;
        let crowded = self.crowded(views, checked, &receipt)?;
        Ok(Receipt { crowded, ..receipt })
    }

    fn decide_update(
        &self,
        command: &mut Command<'_>,
        views: &Views,
        id: &str,
        change: &Change,
        request: RequestKeyOf<'_>,
    ) -> std::result::Result<Receipt, Ask> {
        if let Some(receipt) = first_receipt(command, views, &change.request_digest, request)? {
            return Ok(receipt);
        }
        let before = self.living(views, id)?;
        let name = change.name_after(&before);
        let own = views.resolve(before.id)?;
        if let Some(other) = views.named(name)?.filter(|other| *other != own) {
            let hint = "update that one and forget this one, or keep the topic as it is";
            return Err(ServiceError::invalid_with(
                format!(
                    "the topic has (or had) another memory with that key, {}",
                    id_text(other)
                ),
                format!("{hint}; storing the topic and key anew brings a forgotten one back"),
            )
            .into());
        }
        match change.event(&before) {
            Some(event) => {
                let topic = change.topic.clone();
                let appended = command.append(views, vec![event])?;
                Ok(receipt(&before, appended[0], Action::Updated, topic))
            }
            None => Ok(unchanged(&before)),
        }
    }

    fn check_update(request: &UpdateRequest) -> Result<Change> {
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
            keywords: match &request.keywords {
                Some(words) => Some(limits::keywords(words)?),
                None => None,
            },
            scope: match &request.scope {
                Some(scope) => Some(Scope::parse(Some(scope))?),
                None => None,
            },
            request_digest: digest_of(&request.request_id, &update_shape(request))?,
            ..Change::default()
        })
    }

    pub(in crate::service) fn check_store(
        &self,
        caller: &Caller,
        request: &StoreRequest,
    ) -> Result<Checked> {
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
        Ok(Checked {
            topic: limits::topic(&request.topic)?,
            content: request.content.clone(),
            importance: request.importance.map(Into::into),
            keywords: limits::keywords(&request.keywords)?,
            raw_excerpt,
            key,
            occurred_at_ms,
            source: self.check_source(caller, &request.source)?,
            metadata,
            scope: Scope::parse(request.scope.as_deref())?,
            trust: request.trust.into(),
            nth_line: None,
            request_digest: digest_of(&request.request_id, &request_shape(request))?,
        })
    }

    /// That the topic of a new memory has many of its scope with it. `views` have not seen it.
    fn crowded(
        &self,
        views: &Views,
        checked: &Checked,
        receipt: &Receipt,
    ) -> std::result::Result<Option<Crowded>, Ask> {
        if self.hint_over == 0 || receipt.action != Action::Stored {
            return Ok(None);
        }
        let all = views.living_in(&receipt.topic, None)?;
        if all < self.hint_over {
            return Ok(None);
        }
        let scope = checked.scope.to_text();
        let mut here = views.living_in(&receipt.topic, Some(&scope))?;
        let tally = views.tally();
        if checked.scope.kind == ScopeKind::Global && tally.memoirs + tally.concepts > 0 {
            // The concepts of a memoir of that name are counted, too, all global; the table knows how
            // many others there are.
            here -= here.min(all.saturating_sub(views.listed(&receipt.topic)?.0));
        }
        Ok((here >= self.hint_over).then(|| Crowded {
            memories: here + 1,
            scope: (here < all).then_some(scope),
        }))
    }

    /// Sees to the secrets of a store; what is to be told of them.
    pub(in crate::service) fn guard_store(
        &self,
        request: &mut StoreRequest,
    ) -> Result<Vec<String>> {
        let mut guard = Guard::new(&self.secrets, request.allow_secret);
        guard.store(request)?;
        Ok(guard.warnings())
    }
}

impl Prepared {
    fn request(&self) -> RequestKeyOf<'_> {
        RequestKeyOf(self.request_id.as_deref())
    }
}
