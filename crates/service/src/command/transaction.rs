//! The store while one thread holds it for writing: the thread decides one command after another, and all of them share
//! a sync.

use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::time::Duration;

use icm_log::{CommandId, Durability, Log, RequestKey, Writer, hash};
use icm_projections::Views;

use super::RequestKeyOf;
use crate::command::batch::{Command, actor_of, check_caller};
use crate::command::secrets::Guard;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::Caller;
use icm_api::error::{Result, ServiceError};

/// The caller, the id and the idempotency key of a command.
#[derive(Clone, Copy)]
pub(crate) struct CommandIdentity<'a> {
    pub caller: &'a Caller,
    /// The command's id, if several transactions are one command.
    pub id: Option<CommandId>,
    pub request: RequestKeyOf<'a>,
}

/// The lock of the log, and the commands that are decided under it.
pub(crate) struct Transaction<'a> {
    service: &'a Service,
    writer: Option<Writer<'a>>,
    wrote: bool,
    /// `true` once the views' files were checked under this lock.
    looked: bool,
}

/// A transaction whose lock is free again and whose events are not durable yet. Others may decide meanwhile.
pub(crate) struct Uncommitted<'a> {
    service: &'a Service,
    writer: Option<Writer<'a>>,
    wrote: bool,
}

impl Service {
    /// Takes the lock and runs a command on views that have seen every event. The events it appended are durable on
    /// return.
    pub(crate) fn command<T>(
        &self,
        caller: &Caller,
        id: Option<CommandId>,
        request: RequestKeyOf<'_>,
        run: impl Fn(&mut Command<'_>, &Views) -> QueryResult<T>,
    ) -> Result<T> {
        let asked = CommandIdentity {
            caller,
            id,
            request,
        };
        self.command_within(self.options.lock_wait, asked, run)
    }

    /// Runs a command as [`Service::command`] does, with another wait for the lock.
    pub(crate) fn command_within<'a, T>(
        &'a self,
        wait: Duration,
        asked: CommandIdentity<'a>,
        run: impl Fn(&mut Command<'_>, &Views) -> QueryResult<T>,
    ) -> Result<T> {
        self.refuse_read_only()?;
        self.check_caller(asked.caller)?;
        self.refuse_foreign_folder()?;
        let mut held = self.begin_transaction(wait)?;
        let answer = held.run(asked, run)?;
        held.release().commit()?;
        Ok(answer)
    }

    /// Refuses a caller whose names the log does not take, or that hold a secret.
    pub(crate) fn check_caller(&self, caller: &Caller) -> Result<()> {
        check_caller(caller)?;
        Guard::new(&self.settings.secrets, false).caller(caller)
    }

    /// Takes the lock, and waits up to `wait` for its holder.
    pub(crate) fn begin_transaction(&self, wait: Duration) -> Result<Transaction<'_>> {
        self.until_free(wait, |wait| {
            let mut writer = self.begin(wait)?;
            // A redaction that was begun, even while this thread waited, is finished before the command. Finishing
            // takes the lock.
            while self.log.redaction_pending() {
                drop(writer);
                let is_finished = self.resume_redaction()?;
                writer = self.begin(wait)?;
                if !is_finished {
                    break;
                }
            }
            Ok(Transaction {
                service: self,
                writer: Some(writer),
                wrote: false,
                looked: false,
            })
        })
    }
}

impl<'a> Transaction<'a> {
    /// Runs one command. If it fails, the commands before it stay decided.
    pub(crate) fn run<T>(
        &mut self,
        asked: CommandIdentity<'a>,
        run: impl Fn(&mut Command<'_>, &Views) -> QueryResult<T>,
    ) -> Result<T> {
        let service = self.service;
        let writer = self.writer.take().ok_or_else(lost)?;
        let request = match asked.request.0 {
            Some(text) => hash::request_key(&writer.secret(), actor_of(asked.caller), text),
            None => RequestKey::ZERO,
        };
        let command = Command::new(service, writer, asked.caller, asked.id, request);
        let command = RefCell::new(command);
        let stale: fn(&Views, &Log) -> bool = match self.looked {
            false => Views::are_stale_for_commands,
            true => |_, _| false,
        };
        let answer = service.ask_newest(stale, |views| {
            if let Some(newer) = &views.tally().newer {
                return Err(ServiceError::NewerFormat {
                    what: newer.clone(),
                }
                .into());
            }
            if let Some(why) = views.stopped() {
                return Err(ServiceError::Damaged {
                    what: why.to_owned(),
                }
                .into());
            }
            let mut command = command.borrow_mut();
            if command.appended {
                // A panic or a view error after the append is a bug of ours: the command must not run again.
                let why = "a view failed after the command was written".to_owned();
                return Err(ServiceError::Internal(why).into());
            }
            run(&mut command, views)
        });
        let command = command.into_inner();
        self.wrote |= command.appended;
        self.writer = Some(command.writer);
        self.looked = true;
        answer.map(|(answer, _)| answer)
    }

    /// Gives the lock up, so that others can decide.
    pub(crate) fn release(self) -> Uncommitted<'a> {
        Uncommitted {
            service: self.service,
            writer: self.writer,
            wrote: self.wrote,
        }
    }
}

impl Uncommitted<'_> {
    /// Makes the events durable.
    pub(crate) fn commit(self) -> Result<()> {
        let writer = self.writer.ok_or_else(lost)?;
        writer.commit(Durability::Synced)?;
        if self.wrote {
            self.service.wrote.store(true, Ordering::Relaxed);
            self.service.written.notify_one();
        }
        Ok(())
    }
}

/// A command that panicked took the lock with it.
fn lost() -> ServiceError {
    ServiceError::Internal("the lock was lost".to_owned())
}
