//! Storing and changing memories, one or many at once.

mod checks;
mod decide;

use std::time::{Duration, Instant};

use icm_log::CommandId;

use crate::command::secrets::Guard;
use crate::command::transaction::{CommandIdentity, Uncommitted};
use crate::command::{Change, NewExpiry, RequestKeyOf, ValidatedStore};
use crate::peer::{Attempt, Forwarded};
use crate::service::{LOCK_LOOK, Service, Write, locked};
use icm_api::error::{Result, ServiceError};
use icm_api::limits;
use icm_api::{Caller, Receipt, StoreRequest, UpdateRequest};

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
mod tests;
