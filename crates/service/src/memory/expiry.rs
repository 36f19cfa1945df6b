//! Hidden memories: the ones that are expired at a moment, facts before their time, and the record that a file made a
//! memory expire.
//!
//! Time, period and recalls are a filter at the moment of an answer. A file is looked at by the origin that set the
//! condition; `memory.expired` tells the others.

use std::cell::{OnceCell, RefCell};

use icm_log::facts::{self, Condition, MemoryExpired};
use icm_log::{EventId, Kind, NewEvent, Position, SubjectId, payload};
use icm_projections::fold::{EntityId, Expiry, Version};
use icm_projections::{LooksCloser, Moment, Row, Views};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::command::{RECORD_WAIT, came_true};
use crate::history::basis::At;
use crate::service::{PendingExpiry, Service, locked};
use crate::snapshot::{QueryError, QueryResult};
use icm_api::Caller;
use icm_api::expiry::is_within_week;
use icm_api::ids::id_text;

/// The memories that are hidden at a basis: expired ones, and facts whose value is not valid yet. A store without
/// conditions and planned values pays nothing.
pub(crate) struct Expired<'a> {
    service: &'a Service,
    views: &'a Views,
    at: At,
    /// The versions that were looked at closer.
    known: RefCell<FxHashMap<(EntityId, Position), bool>>,
    /// The memories that a file made expire, as far as files were looked at.
    gone: RefCell<FxHashSet<SubjectId>>,
    /// `true` if this process cannot record that a file made a memory expire. Then every answer has to look at files, also
    /// one that only counts.
    is_mute: OnceCell<bool>,
    failed: RefCell<Option<QueryError>>,
}

impl<'a> Expired<'a> {
    /// Returns the memories that are expired at a basis.
    pub(crate) fn at(service: &'a Service, views: &'a Views, at: &At) -> Expired<'a> {
        Expired {
            service,
            views,
            at: *at,
            known: RefCell::default(),
            gone: RefCell::default(),
            is_mute: OnceCell::new(),
            failed: RefCell::default(),
        }
    }

    /// Returns the memories that are expired now.
    pub(crate) fn now(service: &'a Service, views: &'a Views) -> Expired<'a> {
        Expired::at(service, views, &service.now(views))
    }

    /// Returns `true` if a memory has or had a condition, or a planned value.
    pub(crate) fn is_possible(&self) -> bool {
        self.views.tally().depends_on_moment()
    }

    /// Returns the moment for a search.
    pub(crate) fn moment(&self) -> Option<Moment<'_>> {
        self.is_possible().then_some(Moment {
            ms: self.at.moment_ms,
            closer: self,
        })
    }

    /// Returns `true` if a version is hidden: it is expired, or a fact before its time. After an error it returns `false`;
    /// see [`Expired::checked`].
    pub(crate) fn hides(&self, version: &Version) -> bool {
        version.is_planned_at(self.at.moment_ms) || self.is_expired(version)
    }

    /// Returns `true` if the condition of a version came true. After an error it returns `false`, as [`Expired::hides`]
    /// does.
    pub(crate) fn is_expired(&self, version: &Version) -> bool {
        version.expires_ms() <= self.at.moment_ms
            || version.expires_by_more()
                && self.look(version).unwrap_or_else(|error| self.fail(error))
    }

    /// Returns `true` if the version of these row facts is hidden, as [`Expired::hides`] does.
    pub(crate) fn hides_row(&self, row: &Row) -> bool {
        let moment = self.moment();
        moment.is_some_and(|moment| moment.hides(&row.facts, row.entity, row.from))
    }

    /// Returns `true` if the row facts are those of a fact whose value is planned.
    pub(crate) fn is_planned_row(&self, row: &Row) -> bool {
        let starts_later = i128::from(row.facts.time_ms) > i128::from(self.at.moment_ms);
        row.facts.is_planned && starts_later
    }

    /// Returns `true` if a version is expired for good: no later moment shows it again.
    pub(crate) fn is_over(&self, version: &Version) -> bool {
        let by_usage = version
            .expiry
            .as_ref()
            .is_some_and(|expiry| expiry.facts.condition == Condition::USAGE);
        version.expires_ms() <= self.at.moment_ms || by_usage && self.is_expired(version)
    }

    /// Returns `true` if a version that would be shown is hidden, as [`Expired::hides`] does. Also looks at the file of
    /// its condition, if this origin set it, and queues the record for [`Service::record_recalls`].
    pub(crate) fn hides_shown(&self, version: &Version) -> bool {
        version.is_planned_at(self.at.moment_ms) || self.is_expired_shown(version)
    }

    /// Returns `true` if the condition of a version that would be shown came true; looks at its file, as
    /// [`Expired::hides_shown`] does.
    pub(crate) fn is_expired_shown(&self, version: &Version) -> bool {
        if self.is_expired(version) {
            return true;
        }
        let by_file = self.at.looks_at_files && self.service.is_expired_by_file(version);
        if by_file {
            match self.is_mute() {
                true => self.service.tell_of_file(version),
                false => self.service.queue_expired(version, self.at.position),
            }
            self.gone.borrow_mut().insert(version.id);
            self.known.borrow_mut().clear();
        }
        by_file
    }

    fn is_mute(&self) -> bool {
        *self.is_mute.get_or_init(|| !self.service.may_append())
    }

    /// Looks at the files of memories that would be shown, by their ids. Returns `true` if one of them is expired: it is
    /// hidden from now on.
    ///
    /// # Errors
    /// If a memory cannot be read.
    pub(crate) fn finds_gone(&self, ids: &[SubjectId]) -> QueryResult<bool> {
        if !self.is_possible() || !self.at.looks_at_files {
            return Ok(false);
        }
        let mut found = false;
        for id in ids {
            let entity = self.views.resolve(*id)?;
            let version = self.views.version_at(entity, self.at.position)?;
            found |= version.is_some_and(|version| self.hides_shown(&version));
        }
        self.checked()?;
        Ok(found)
    }

    /// Returns the views of the basis.
    pub(crate) fn views(&self) -> &'a Views {
        self.views
    }

    /// Returns the basis.
    pub(crate) fn basis(&self) -> At {
        self.at
    }

    /// Returns the first error that a look at a version met.
    ///
    /// # Errors
    /// That error.
    pub(crate) fn checked(&self) -> QueryResult<()> {
        match self.failed.take() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn fail(&self, error: QueryError) -> bool {
        self.failed.borrow_mut().get_or_insert(error);
        false
    }

    fn look(&self, version: &Version) -> QueryResult<bool> {
        let Some(Expiry {
            facts,
            zone,
            set_by,
            ..
        }) = version.expiry.as_deref()
        else {
            return Ok(false);
        };
        Ok(match facts.condition {
            Condition::PERIOD => self.at.moment_ms < facts.first,
            Condition::WEEKLY => !is_within_week(facts, zone.as_deref(), self.at.moment_ms),
            Condition::USAGE => self.is_used_up(version, facts, *set_by)?,
            _ => self.is_gone(version),
        })
    }

    /// Returns `true` if the file of a condition was seen to make a memory expire.
    fn is_gone(&self, version: &Version) -> bool {
        if self.gone.borrow().contains(&version.id) {
            return true;
        }
        let is_gone =
            self.at.looks_at_files && self.is_mute() && self.service.is_expired_by_file(version);
        if is_gone {
            self.service.tell_of_file(version);
            self.gone.borrow_mut().insert(version.id);
        }
        is_gone
    }

    /// Returns `true` if enough recalls showed a memory since its condition was set: recalls that the author of the
    /// condition did not know, with a later time or by an author who knew the condition. An earlier recall of another
    /// machine may be learnt at any time.
    fn is_used_up(
        &self,
        version: &Version,
        facts: &facts::Expiry,
        set_by: EventId,
    ) -> QueryResult<bool> {
        let entity = self.views.resolve(version.id)?;
        let (log, position) = (&self.service.log, self.at.position);
        let (recalls, _) = self.views.accesses_at(log, entity, position)?;
        if recalls < facts.second.saturating_add(facts.first) {
            return Ok(false);
        }
        let mut writers = version.writers.iter();
        let Some(writer) = writers.find(|writer| writer.stamp.event == set_by) else {
            return Ok(true);
        };
        let since = (writer.stamp.time, set_by);
        let at = (entity, position);
        Ok(self.views.recalls_since(log, at, since, facts.first)? >= facts.first)
    }

    fn look_up(&self, entity: EntityId, from: Position) -> QueryResult<bool> {
        if let Some(known) = self.known.borrow().get(&(entity, from)) {
            return Ok(*known);
        }
        let version = self.views.version_from(entity, from)?;
        let is_expired = self.look(&version)?;
        self.known.borrow_mut().insert((entity, from), is_expired);
        Ok(is_expired)
    }
}

impl LooksCloser for Expired<'_> {
    fn is_expired(&self, entity: EntityId, from: Position) -> bool {
        self.look_up(entity, from)
            .unwrap_or_else(|error| self.fail(error))
    }
}

impl Service {
    /// Returns `true` if the file of a condition that was set here made a memory expire. A condition was set here if its
    /// origin was minted for this machine and folder: the clock may have been set back since. Nobody looks at the files of
    /// a copy or of a restored store.
    fn is_expired_by_file(&self, version: &Version) -> bool {
        let Some(expiry) = version.expiry.as_deref() else {
            return false;
        };
        if self.log.known_by().is_some() {
            return false;
        }
        let is_open = version.expired != Some(expiry.set_by) && expiry.facts.condition.is_of_file();
        let mut writers = version.writers.iter();
        let writer = writers.find(|writer| writer.stamp.event == expiry.set_by);
        let Some(writer) = writer.filter(|_| is_open) else {
            return false;
        };
        let here = self.log.origins_here(&*self.ground.env);
        here.is_ok_and(|here| here.contains(&writer.stamp.origin)) && came_true(expiry)
    }

    /// Says that this process hides a memory whose file is changed or gone.
    fn tell_of_file(&self, version: &Version) {
        let path = version.expiry.as_deref().and_then(|it| it.path.as_deref());
        let line = format!(
            "memory {} is hidden: `{}` is changed or gone; a command that may write records it",
            id_text(version.id),
            path.unwrap_or_default(),
        );
        if !locked(&self.notices).contains(&line) {
            self.notice(line);
        }
    }

    /// Queues the record that the condition of a memory came true.
    fn queue_expired(&self, version: &Version, position: Position) {
        let Some(expiry) = version.expiry.as_deref() else {
            return;
        };
        let mut refs = version.observed();
        refs.retain(|event| *event != expiry.set_by);
        refs.insert(0, expiry.set_by);
        let event = NewEvent {
            kind: Kind::MEMORY_EXPIRED,
            subject: version.id,
            refs,
            facts: MemoryExpired {
                condition: expiry.facts.condition,
            }
            .encode(),
            payload: payload::encode(&payload::Nothing {}),
        };
        let mut pending = locked(&self.pending_expiries);
        // An earlier look at the memory may be out of date.
        pending.retain(|known| known.event.subject != version.id);
        pending.push(PendingExpiry {
            event,
            position,
            read: self.log.rewritten(),
        });
    }

    /// Writes the `memory.expired` events of files that were looked at. Returns `true` if it wrote some. An event is dropped
    /// if something was written since its memory was read, or another process keeps the lock: the next answer looks again.
    pub(crate) fn record_expiries(&self) -> bool {
        let mut pending = std::mem::take(&mut *locked(&self.pending_expiries));
        if pending.is_empty() {
            return false;
        }
        let newest = self.newest_position().map(Position);
        pending.retain(|pending| newest.as_ref().is_ok_and(|at| *at == pending.position));
        let Some(read) = pending.first().map(|first| first.read.clone()) else {
            return false;
        };
        let events = pending.into_iter().map(|pending| pending.event).collect();
        let written = self.append_lazily(&Caller::default(), events, &read, RECORD_WAIT);
        written.unwrap_or_else(|error| {
            tracing::debug!(%error, "an expired memory was not recorded");
            false
        })
    }
}

#[cfg(test)]
mod tests;
