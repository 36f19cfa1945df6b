//! Verifies a log: hashes every head, follows every chain, compares every body with its commitment. Only reads, and
//! never panics, on any bytes.

mod after;
mod branch;
mod chain;
mod record;
mod repaired;
mod report;
mod segment;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::acked;
use crate::cases::{Action, Case};
use crate::chain::SegmentFile;
use crate::error::{LogError, Result};
use crate::holes::{Explained, Holes};
use crate::layout;
use crate::log::Log;
use crate::recover::{self, Trouble};
use crate::redacted::Redactions;
use crate::strays;
use crate::walk;
use icm_event::facts::ImportedRange;
use icm_event::id::{EventId, OriginId, Position, Seq, Time};

pub use report::{Finding, Report, Severity, VerifiedHead};

/// The values that the next event of a chain must have.
#[derive(Clone)]
struct Expect {
    seq: Seq,
    prev: EventId,
    time: Option<Time>,
    /// Position of the newest event of the walk.
    position: Position,
    batch: Option<(u16, u16)>,
    /// `true` if the head of the event before cannot be read; batch and position then start afresh.
    blind: bool,
}

struct Verify<'a> {
    log: &'a Log,
    report: Report,
    progress: &'a mut dyn FnMut(u64),
    slot: Option<acked::Slot>,
    /// Ids of the events at places that an import or a continuation names.
    wanted: BTreeMap<(OriginId, Seq), Vec<EventId>>,
    imported: Vec<ImportedRange>,
    /// Places from which a newer chain continues, each with the event that must be there.
    continued: Vec<(OriginId, Seq, EventId)>,
    /// Chains with bytes that only a newer version can read. The rest of such a chain is not judged.
    newer: BTreeSet<OriginId>,
    /// The bytes that the next writer sets aside.
    torn: Option<Trouble>,
    /// The end of the newest segment when the verification began. Later appends are not examined.
    end: Option<(PathBuf, u64)>,
    redactions: Redactions,
    /// Withheld bodies, to be compared with the redactions once all are known.
    withheld: Vec<Withheld>,
    /// The holes that repairs have explained; read when a gap is met.
    holes: Option<Arc<Holes>>,
    walked: Vec<OriginId>,
    /// The explained holes in which chains end, and the chains whose end was reported.
    ends: Vec<Explained>,
    told: BTreeSet<OriginId>,
}

/// An event whose body is withheld.
struct Withheld {
    id: EventId,
    head: Vec<u8>,
    path: PathBuf,
    offset: u64,
    seq: Seq,
    walked: bool,
}

impl Log {
    /// Reads the whole log and returns a report. Calls `progress` now and then with the number of bytes read since its
    /// last call.
    ///
    /// # Errors
    /// Only if the disk cannot be read; damage is a finding.
    pub fn verify(&self, progress: &mut dyn FnMut(u64)) -> Result<Report> {
        let mut verify = Verify {
            log: self,
            report: Report::default(),
            progress,
            slot: acked::read(&*self.disk, &self.dir)?,
            wanted: BTreeMap::new(),
            imported: Vec::new(),
            continued: Vec::new(),
            newer: BTreeSet::new(),
            torn: None,
            end: None,
            redactions: Redactions::default(),
            withheld: Vec::new(),
            holes: None,
            walked: Vec::new(),
            ends: Vec::new(),
            told: BTreeSet::new(),
        };
        verify.run()?;
        Ok(verify.report)
    }
}

impl Log {
    /// Returns the newest segment and its end, if nothing is wrong there.
    fn end_that_is_whole(&self) -> Option<(PathBuf, u64)> {
        let state = self.lock_state();
        let place = state.tip.as_ref()?;
        let is_whole = state.trouble.is_none() && state.refusal.is_none();
        is_whole.then(|| (place.segment.path.clone(), place.end))
    }
}

impl Verify<'_> {
    fn run(&mut self) -> Result<()> {
        // Refreshed after the slot was read, so that the slot's event is there.
        self.log.refresh()?;
        self.end = self.log.end_that_is_whole();
        let parts: Vec<_> = self.log.lock_state().parts.clone();
        if let Some(refusal) = self.log.refusal() {
            let error = refusal.to_error(&self.log.dir);
            match error {
                LogError::NewerFormat { what } => {
                    self.find(
                        None,
                        "newer_format",
                        Severity::Newer,
                        Path::new(""),
                        0,
                        None,
                        what,
                    );
                }
                LogError::NotWritable { why, .. } => {
                    let file = Path::new(layout::STORE_FILE);
                    self.find(None, "store_file", Severity::Damage, file, 0, None, why);
                }
                // Damage is reported where it is met below.
                _ => {}
            }
        }
        let mut origins = crate::chain::origins(&*self.log.disk, &self.log.dir)?;
        let walked = walk::origins_of(&parts);
        self.walked.clone_from(&walked);
        origins.retain(|origin| !walked.contains(origin));
        if let Some(slot) = self.slot {
            self.want(slot.origin, slot.seq);
        }
        let own = walked.last().copied();
        if let Some(origin) = own {
            let slot = self.slot.as_ref();
            let explainer = self.log.explainer(walked.clone(), None);
            let examined = recover::examine(&explainer, origin, slot, None)?;
            self.torn = examined
                .trouble
                .filter(|trouble| trouble.case.action() == Action::SetAside);
            if self.torn.is_some() {
                self.end = None;
            }
        }
        self.stray_files()?;
        let mut position = Some(Position(0));
        for part in &parts {
            if let Some(until) = part.until {
                self.want(part.origin, until);
                self.continued.push((part.origin, until, part.event));
            }
            // An older chain may go on after the place from which the next one continues (a copy of the store).
            let is_own = own == Some(part.origin);
            position = self.chain(part.origin, true, position, part.until, is_own)?;
        }
        self.report.positions = position.unwrap_or_default();
        for origin in &origins {
            self.chain(*origin, false, None, None, false)?;
        }
        self.check_learned(&origins);
        self.check_ends();
        self.check_withheld()?;
        self.check_redacted()?;
        self.check_slot()?;
        self.check_continued()?;
        self.check_imported()
    }

    /// Reports names below `log/` that are neither a chain nor a segment. Their contents are not read.
    fn stray_files(&mut self) -> Result<()> {
        let strays = strays::strays(&*self.log.disk, &self.log.dir)?;
        let dirs: BTreeSet<&Path> = strays
            .iter()
            .filter(|stray| stray.is_dir)
            .map(|stray| stray.path.as_path())
            .collect();
        let within = |path: &Path| path.parent().is_some_and(|dir| dirs.contains(dir));
        for stray in strays.iter().filter(|stray| !within(&stray.path)) {
            let message = "not the name of a chain or a segment: it is not read".to_owned();
            let notice = Severity::Notice;
            self.find(None, "stray_file", notice, &stray.path, 0, None, message);
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "a finding has that many parts")]
    fn find(
        &mut self,
        case: Option<Case>,
        code: &str,
        severity: Severity,
        file: &Path,
        offset_bytes: u64,
        seq: Option<Seq>,
        message: String,
    ) {
        self.report.findings.push(Finding {
            case,
            code: code.to_owned(),
            severity,
            file: layout::relative(&self.log.dir, file),
            offset_bytes,
            seq,
            message,
        });
    }

    fn find_newer(
        &mut self,
        origin: OriginId,
        code: &str,
        path: &Path,
        offset: u64,
        seq: Option<Seq>,
        message: String,
    ) {
        self.newer.insert(origin);
        self.find(
            Some(Case::G),
            code,
            Severity::Newer,
            path,
            offset,
            seq,
            message,
        );
    }

    fn torn_in(&self, segment: Option<&SegmentFile>) -> bool {
        let torn = self.torn.as_ref().map(|torn| &torn.file);
        segment
            .map(|segment| layout::relative(&self.log.dir, &segment.path))
            .as_ref()
            == torn
    }

    fn slot_covers(&self, origin: OriginId, seq: u64) -> bool {
        self.slot
            .is_some_and(|slot| slot.origin == origin && slot.seq.0 >= seq)
    }
}
