//! The answer of a sync: counts of the events and files that were received and sent.

use icm_api::{ChainPlace, LogImportAnswer};
use serde::Serialize;

use crate::index::Listed;
use crate::refused::Refused;

/// The result of a sync, or of a dry run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SyncAnswer {
    /// The target, as it was given.
    pub target: String,
    /// `true` if nothing was changed.
    pub dry_run: bool,
    /// Number of machines with an index at the target.
    pub machines: u64,
    /// Events received by this store.
    pub received: Taken,
    /// Events sent to the target.
    pub sent: Sent,
    /// Files that were not imported: changed files, files of a newer version, and indexes that cannot be read.
    pub refused: Vec<Refused>,
    /// Files that are missing, cut short or unreadable at the moment, and bundles that go on from events not yet there.
    pub not_there: Vec<Refused>,
}

/// Counts of the events received from a target.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Taken {
    /// Bundles read; in a dry run, bundles to read.
    pub files: u64,
    /// Total length of these bundles, in bytes.
    pub bytes: u64,
    /// Events that are new here; a dry run gives an upper bound.
    pub events: u64,
    /// Texts taken out of this store because a received redaction names them.
    pub redacted: u64,
    /// Received texts left out because a redaction names them.
    pub left_out: u64,
    /// Events and texts that were lost here and came back.
    pub refilled: u64,
    /// Points at which a chain has a new branch.
    pub forks: Vec<ChainPlace>,
    /// The first event of each chain that was left out, because its time lies too far in the future, because no event
    /// vouches for it, or because it undoes events that are missing here.
    pub held_back: Vec<ChainPlace>,
    /// Points at which the target has other events of this machine's own chain, after events that are lost here. These
    /// branches are left out.
    pub own_forks: Vec<ChainPlace>,
    /// Newest position of this store after the sync; `None` if no event was appended.
    pub position: Option<u64>,
    /// Fields that this sync put in conflict, as far as they were looked for.
    pub conflicts: u64,
}

impl Taken {
    /// Counts a bundle that was read.
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

/// Counts of the events sent to a target.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Sent {
    /// Events that no machine had at the target.
    pub events: u64,
    /// Bundles written.
    pub files: u64,
    /// Total length of these bundles, in bytes.
    pub bytes: u64,
    /// `true` if all bundles of this machine were written anew: on request, or because they held redacted texts.
    pub anew: bool,
    /// Earlier origins of this store whose files at the target may hold texts redacted since. Another copy of the store
    /// may have written these files, so they are removed on request only.
    pub outdated: Vec<String>,
    /// The first event of each chain that another store left out, with the reasons of [`Taken::held_back`].
    pub held_back: Vec<ChainPlace>,
    /// Origins with damaged or missing events here: the events after these were left out.
    pub incomplete: Vec<String>,
}
