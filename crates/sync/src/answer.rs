//! What a sync did.

use icm_api::{ChainPlace, LogImportAnswer};
use serde::Serialize;

use crate::index::Listed;
use crate::refused::Refused;

/// What a sync did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SyncAnswer {
    /// The target, as it was given.
    pub target: String,
    /// Nothing was done.
    pub dry_run: bool,
    /// Machines that have files there.
    pub machines: u64,
    /// What came.
    pub received: Taken,
    /// What went.
    pub sent: Sent,
    /// Files that were left alone, for what they hold is not what their machine wrote.
    pub refused: Vec<Refused>,
    /// Files that are not there, or not all of them, yet: the target may be on its way.
    pub not_there: Vec<Refused>,
}

/// What came from a target.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Taken {
    /// Files that were read, or would be.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Events that are new here; without doing it, that may be.
    pub events: u64,
    /// Texts of this store that were taken out, since a redaction came along.
    pub redacted: u64,
    /// Texts that were left out, since a redaction names them.
    pub left_out: u64,
    /// Events and texts that were lost here and came back.
    pub refilled: u64,
    /// Where chains branch that are new.
    pub forks: Vec<ChainPlace>,
    /// What was left out, by the first event of each chain: it lies too far in the future, nothing vouches for it,
    /// or it undoes what is not here.
    pub held_back: Vec<ChainPlace>,
    /// Where this machine's own chain goes on otherwise there, from events that are gone here: that is left out.
    pub own_forks: Vec<ChainPlace>,
    /// Newest position of this store after it; `None` where nothing was appended.
    pub position: Option<u64>,
    /// Fields that are in conflict now and were not before, as far as they were looked for.
    pub conflicts: u64,
}

impl Taken {
    /// One more file was read.
    pub(crate) fn read(&mut self, listed: &Listed) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(listed.bytes);
    }

    pub(crate) fn add(&mut self, import: LogImportAnswer) {
        self.events += import.added;
        self.redacted += import.redacted;
        self.left_out += import.left_out;
        self.refilled += import.refilled_events + import.refilled_payloads;
        self.forks.extend(import.forks);
        let back = [import.later, import.unproven, import.waiting];
        self.held_back.extend(back.into_iter().flatten());
        self.own_forks.extend(import.own_forks);
        self.position = import.position.or(self.position);
        self.conflicts += import.conflicts.unwrap_or(0);
    }
}

/// What went to a target.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Sent {
    /// Events that nobody had there.
    pub events: u64,
    /// Files that were written.
    pub files: u64,
    /// Their bytes, of bundles alone.
    pub bytes: u64,
    /// Files were written anew, since texts were redacted that they held, or on request.
    pub anew: bool,
    /// Earlier origins of this store whose files there may hold what was redacted since. They may be those of another
    /// copy of it, so that they are removed on request alone.
    pub outdated: Vec<String>,
    /// What another store that answers left out, by the first event of each chain: as `held_back` of what came.
    pub held_back: Vec<ChainPlace>,
    /// Origins of whose events some are damaged or missing here: what comes after them was left out.
    pub incomplete: Vec<String>,
}
