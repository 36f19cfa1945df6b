//! The record of a recall. It follows the answer, unless the answer uses a memory up.

use std::time::Duration;

use icm_log::disk::DiskLock;
use icm_log::facts::{Condition, Front, MemoryRecalled, Recalled};
use icm_log::{EventId, Kind, NewEvent, SubjectId, facts, payload};

use crate::command::RECORD_WAIT;
use crate::recall::tag_filter::not_tags;
use crate::service::{PendingRecall, Service, locked};
use icm_api::error::{Result, ServiceError};
use icm_api::{Importance, Trust};

/// Name of the lock file. It is not in the folder of deletable files: a redaction deletes that folder.
const LOCK: &str = "usage.lock";
/// The beginning of the note of an answer whose recall is not counted yet. The record may follow it.
const UNCOUNTED: &str =
    "this recall is not counted for `usage` yet, so a memory may be shown more often";

/// The process that shows an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownBy {
    /// This one.
    This,
    /// The one that asked this one.
    Peer,
}

/// The turn of an answer that shows a memory which expires by recalls. Until it is dropped, no other such answer of the
/// store is made.
pub(super) struct Turn {
    /// The lock, or why it could not be taken.
    claim: std::result::Result<Box<dyn DiskLock>, String>,
    /// The events that set the conditions.
    conditions: Vec<EventId>,
}

impl Service {
    /// Returns what `find` finds. If it counts and has a memory that expires by recalls, the answer is found again in
    /// its turn, so that it knows the records of the turns before.
    ///
    /// # Errors
    /// Any error of `find`. `Invalid` if a peer shows an answer that needs a turn. A turn that cannot be taken is no error.
    pub(super) fn in_turn<T>(
        &self,
        (counts, by): (bool, ShownBy),
        mut find: impl FnMut() -> Result<T>,
        ids: impl Fn(&T) -> Result<Vec<SubjectId>>,
    ) -> Result<(T, Option<Turn>)> {
        let mut found = find()?;
        // The basis of an answer that hides the memory of a changed file is after the event that says so.
        if self.record_expiries() {
            self.read_log()?;
            found = find()?;
        }
        if !counts || self.options.read_only {
            return Ok((found, None));
        }
        let mut conditions = self.usage_conditions(&ids(&found)?)?;
        if conditions.is_empty() {
            return Ok((found, None));
        }
        if by == ShownBy::Peer {
            let why = "whoever shows a memory that expires by recalls records it";
            return Err(ServiceError::invalid(why));
        }
        let claim = self.claim(LOCK, "a recall cannot be counted");
        if claim.is_ok() {
            self.read_log()?;
            found = find()?;
            conditions = self.usage_conditions(&ids(&found)?)?;
        }
        let claim = claim.map_err(|error| error.to_string());
        Ok((found, Some(Turn { claim, conditions })))
    }

    /// Returns the events that set the conditions of those memories that expire by recalls.
    fn usage_conditions(&self, ids: &[SubjectId]) -> Result<Vec<EventId>> {
        self.with_views(|views| {
            if !views.tally().depends_on_moment() {
                return Ok(Vec::new());
            }
            let now = self.now(views);
            let mut conditions = Vec::new();
            for id in ids {
                let version = views.version_at(views.resolve(*id)?, now.position)?;
                let expiry = version.and_then(|version| version.expiry);
                let usage = expiry.filter(|expiry| expiry.facts.condition == Condition::USAGE);
                conditions.extend(usage.map(|expiry| expiry.set_by));
            }
            Ok(conditions)
        })
    }

    /// Keeps the record of an answer: queued, or in the log if the answer has a turn. Returns the note of an answer that
    /// could not be counted.
    pub(super) fn keep_record(
        &self,
        mut record: PendingRecall,
        turn: Option<Turn>,
    ) -> Option<String> {
        let Some(Turn { claim, conditions }) = turn else {
            locked(&self.pending_recalls).push(record);
            return None;
        };
        record.conditions = conditions;
        let recorded = match claim {
            Ok(_turn) => {
                let recorded = self.record(&record, None, self.options.lock_wait);
                recorded.map_err(|error| error.to_string())
            }
            Err(why) => Err(why),
        };
        let why = match recorded {
            Ok(true) => return None,
            Ok(false) => String::new(),
            Err(why) => format!(": {why}"),
        };
        locked(&self.pending_recalls).push(record);
        Some(format!("{UNCOUNTED}{why}"))
    }

    /// Writes the `memory.recalled` events of answers that are out. A record is dropped if another process keeps the
    /// lock: such an answer did not wait for its record, and a record never fails an answer.
    pub fn record_recalls(&self) {
        self.record_expiries();
        let pending = std::mem::take(&mut *locked(&self.pending_recalls));
        if pending.is_empty() {
            return;
        }
        // The tick goes with the first record: the views do not follow in between.
        let mut tick = self.tick_due();
        for recall in pending {
            if let Err(error) = self.record(&recall, tick.take(), RECORD_WAIT) {
                tracing::debug!(%error, "a recall was not recorded");
            }
        }
    }

    /// Appends the record of a recall, and a tick before it. Returns `false` if log files were rewritten since the answer.
    fn record(
        &self,
        recall: &PendingRecall,
        tick: Option<NewEvent>,
        wait: Duration,
    ) -> Result<bool> {
        let first = u16::try_from(recall.request.offset + 1).unwrap_or(u16::MAX);
        let results = (first..)
            .zip(&recall.results)
            .map(|(rank, id)| Recalled { id: *id, rank })
            .collect();
        let facts = MemoryRecalled {
            basis_position: recall.basis.0,
            basis_event: recall.basis.1,
            results,
            shown: Some(facts::Shown {
                front: match recall.request.front {
                    Front::UNSAID => Front::RECALL,
                    front => front,
                },
                tokens: recall.tokens,
            }),
            moment_ms: recall.moment_ms,
        };
        let request = &recall.request;
        let payload = payload::MemoryRecalled {
            query: &request.query,
            topic: request.topic.as_deref(),
            keyword: request.tags.all.first().map(String::as_str),
            more_keywords: request
                .tags
                .all
                .iter()
                .skip(1)
                .map(String::as_str)
                .collect(),
            any_keywords: request.tags.any.iter().map(String::as_str).collect(),
            last_keywords: not_tags(&request.tags, false),
            excluded_keywords: not_tags(&request.tags, true),
            scope: request.scope.as_deref(),
            scopes: recall.scopes.iter().map(String::as_str).collect(),
            links: !request.no_links,
            limit: request.limit.and_then(|limit| u32::try_from(limit).ok()),
            importance: request.importance.map(Importance::name),
            trust: request.trust.map(Trust::name),
            since_ms: recall.facts.since_ms,
            until_ms: recall.facts.until_ms,
            query_len: recall.whole_len,
            floor_ppm: request.floor.map(ppm),
            fits_ppm: recall.fits.iter().copied().map(ppm).collect(),
        };
        let event = NewEvent {
            kind: Kind::MEMORY_RECALLED,
            subject: SubjectId::ZERO,
            refs: recall.conditions.clone(),
            facts: facts.encode(),
            payload: payload::encode(&payload),
        };
        let events = tick.into_iter().chain([event]).collect();
        self.append_lazily(&recall.caller, events, &recall.read, wait)
    }
}

/// Returns a share as the log keeps it.
fn ppm(share: f64) -> u32 {
    (share.clamp(0.0, 1.0) * 1e6).round() as u32
}
