//! Verifying a log: every head hashed, every chain followed, every body held against its
//! commitment. Reads only, never panics, on any bytes.

mod after;
mod branch;
mod repaired;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::acked;
use crate::cases::{Action, Case};
use crate::chain::{self, SegmentFile};
use crate::disk::OpenMode;
use crate::error::{LogError, Result, at};
use crate::holes::{Explained, Holes};
use crate::layout;
use crate::log::Log;
use crate::recover::{self, Trouble};
use crate::redacted::Redactions;
use crate::scan::{SegmentScan, Step};
use crate::strays;
use crate::walk;
use icm_event::facts::{Facts, ImportedRange};
use icm_event::head::HeadError;
use icm_event::id::{EventId, OriginId, Position, Seq, Time};
use icm_event::record::Body;
use icm_event::segment::{HEADER_LEN, HeaderError, SegmentHeader};

use branch::Ends;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing to repair.
    Notice,
    /// Written by a newer version: not judged.
    Newer,
    /// Something is lost or cannot be trusted.
    Damage,
}

/// Something that verify found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Row of the case table, where one fits.
    pub case: Option<Case>,
    /// Short stable name.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// File, relative to the store.
    pub file: PathBuf,
    /// Where in the file, in bytes.
    pub offset_bytes: u64,
    /// Event it concerns, or the one that should stand there.
    pub seq: Option<Seq>,
    /// One line.
    pub message: String,
}

/// The newest event of a chain, as far as it verifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifiedHead {
    /// The chain.
    pub origin: OriginId,
    /// Its newest event's place.
    pub seq: Seq,
    /// Its newest event.
    pub event: EventId,
    /// The chain that this machine writes.
    pub own: bool,
}

/// What verify saw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Events whose head was hashed and found in its place.
    pub events: u64,
    /// Newest position of the walk.
    pub positions: Position,
    /// Bytes read.
    pub bytes: u64,
    /// One a chain.
    pub heads: Vec<VerifiedHead>,
    /// Events whose body is withheld or damaged.
    pub missing_bodies: u64,
    /// What was found, chain by chain.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether nothing is damaged.
    pub fn ok(&self) -> bool {
        self.findings
            .iter()
            .all(|finding| finding.severity != Severity::Damage)
    }
}

/// What the chain must go on with.
#[derive(Clone)]
struct Expect {
    seq: Seq,
    prev: EventId,
    time: Option<Time>,
    /// Position of the newest event of the walk.
    position: Position,
    batch: Option<(u16, u16)>,
    /// The event before has a head that cannot be read: batch and position start afresh.
    blind: bool,
}

struct Verify<'a> {
    log: &'a Log,
    report: Report,
    progress: &'a mut dyn FnMut(u64),
    slot: Option<acked::Slot>,
    /// Ids of the events of each chain, where an import or a continuation asks for one.
    wanted: BTreeMap<(OriginId, Seq), Vec<EventId>>,
    imported: Vec<ImportedRange>,
    /// Where an older chain is continued: the event that must stand there.
    continued: Vec<(OriginId, Seq, EventId)>,
    /// Chains with something that only a newer version can read: what lies beyond is not judged.
    newer: BTreeSet<OriginId>,
    /// What the next writer sets aside.
    torn: Option<Trouble>,
    /// Where the newest segment ended when this began: what is appended meanwhile is not looked at.
    end: Option<(PathBuf, u64)>,
    redactions: Redactions,
    /// Bodies that are withheld, to be held against the redactions once all are known.
    withheld: Vec<Withheld>,
    /// What repairs have explained; read when a gap is met.
    holes: Option<Arc<Holes>>,
    walked: Vec<OriginId>,
    /// Holes in which chains end, as they were read, and the chains whose end was told of.
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
    /// Reads the whole log and reports. `progress` is told how many bytes were read, now and then.
    ///
    /// # Errors
    /// Only when the disk cannot be read; damage is a finding.
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
    /// The newest segment and where it ends, where nothing is wrong there.
    fn end_that_is_whole(&self) -> Option<(PathBuf, u64)> {
        let state = self.lock_state();
        let place = state.tip.as_ref()?;
        let is_whole = state.trouble.is_none() && state.refusal.is_none();
        is_whole.then(|| (place.segment.path.clone(), place.end))
    }
}

impl Verify<'_> {
    fn run(&mut self) -> Result<()> {
        // After the slot was read, so that what it names is there.
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
                // Damage shows below, where it is met.
                _ => {}
            }
        }
        let mut origins = chain::origins(&*self.log.disk, &self.log.dir)?;
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
            // Where the next chain carries on, an older one may go on by itself (a copy).
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

    /// Names below `log/` that are neither a chain nor a segment: what they hold is not read.
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

    /// Verifies a chain. Returns the position of the walk at its end (or at `until`); `None` where
    /// that is not known.
    fn chain(
        &mut self,
        origin: OriginId,
        walked: bool,
        position: Option<Position>,
        until: Option<Seq>,
        own: bool,
    ) -> Result<Option<Position>> {
        let mut expect = Expect {
            seq: Seq(1),
            prev: EventId::ZERO,
            time: None,
            position: position.unwrap_or_default(),
            batch: None,
            blind: position.is_none(),
        };
        let mut at_until = None;
        let all = chain::segments(&*self.log.disk, &self.log.dir, origin)?;
        let segments = match self.log.part(origin).filter(|_| walked) {
            Some(part) => self.log.own_segments(part, all.clone())?,
            None => all.clone(),
        };
        let mut ends = Ends::default();
        for (index, segment) in segments.iter().enumerate() {
            let newest = index + 1 == segments.len();
            if all.len() > segments.len() || !walked {
                self.take_branch(segment, &mut expect, &mut ends)?;
            }
            if !self.segment(
                origin,
                segment,
                newest,
                walked,
                until,
                &mut expect,
                &mut at_until,
            )? {
                break;
            }
        }
        let told = self.newer.contains(&origin)
            || self.torn_in(segments.last())
            || self.end_is_explained(origin, &expect, until)?;
        if let (Some((have, count)), Some(segment), false) = (expect.batch, segments.last(), told) {
            let message = format!("the last batch has {have} of its {count} events");
            let durable = self.slot_covers(origin, expect.seq.0.saturating_sub(1));
            let (case, severity) = match durable {
                true => (Case::C, Severity::Damage),
                false => (Case::K, Severity::Notice),
            };
            let seq = Some(expect.seq);
            self.find(
                Some(case),
                "incomplete_batch",
                severity,
                &segment.path,
                0,
                seq,
                message,
            );
        }
        let seq = Seq(expect.seq.0.wrapping_sub(1));
        if seq.0 > 0 {
            self.report.heads.push(VerifiedHead {
                origin,
                seq,
                event: expect.prev,
                own,
            });
        }
        let position = expect.position;
        for segment in all.iter().filter(|segment| !segments.contains(segment)) {
            // What another branch holds is as foreign as what is imported.
            self.take_branch(segment, &mut expect, &mut ends)?;
            self.segment(origin, segment, false, false, None, &mut expect, &mut None)?;
        }
        Ok(match until {
            Some(_) => at_until,
            None => Some(position),
        })
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

    /// Verifies a segment; false when the chain cannot be followed beyond it.
    #[allow(
        clippy::too_many_arguments,
        reason = "the state of a walk through segments"
    )]
    fn segment(
        &mut self,
        origin: OriginId,
        segment: &SegmentFile,
        newest: bool,
        walked: bool,
        until: Option<Seq>,
        expect: &mut Expect,
        at_until: &mut Option<Position>,
    ) -> Result<bool> {
        let path = &segment.path;
        let torn_from = match &self.torn {
            Some(torn) if self.torn_in(Some(segment)) => torn.cut,
            _ => u64::MAX,
        };
        if torn_from == 0 {
            self.torn_tail(path);
            return Ok(false);
        }
        if !self.header(origin, segment, newest)? {
            return Ok(false);
        }
        let explained =
            segment.name.first_seq >= expect.seq && self.is_bridged(origin, segment, expect)?;
        if segment.name.first_seq != expect.seq && !explained {
            let message = format!(
                "events {} to {} are missing before this segment",
                expect.seq.0,
                segment.name.first_seq.0.saturating_sub(1)
            );
            let seq = Some(expect.seq);
            self.find(
                Some(Case::E),
                "segment_gap",
                Severity::Damage,
                path,
                0,
                seq,
                message,
            );
            if segment.name.first_seq < expect.seq {
                return Ok(true); // an overlap: what it repeats is not counted twice
            }
        }
        let mut resync = segment.name.first_seq != expect.seq || explained;
        let limit = match &self.end {
            Some((of, end)) if newest && of == path => *end,
            _ => u64::MAX,
        };
        let mut scan =
            SegmentScan::open(&*self.log.disk, path, HEADER_LEN as u64, limit)?.hashing();
        let mut told: u64 = 0;
        loop {
            let (offset, record, id) = match scan.step()? {
                Step::Record { offset, .. } | Step::Bad { offset } if offset >= torn_from => {
                    self.torn_tail(path);
                    return Ok(false);
                }
                Step::Record { offset, record, id } => (offset, record, id),
                Step::End => return Ok(true),
                Step::Newer { offset } => {
                    let message = "a newer version of icm wrote this record".to_owned();
                    let seq = Some(expect.seq);
                    self.find_newer(origin, "newer_format", path, offset, seq, message);
                    return Ok(false);
                }
                Step::Bad { offset } => {
                    self.bad_record(segment, offset, expect.seq);
                    return Ok(false);
                }
            };
            told += record.bytes.len() as u64;
            self.report.bytes += record.bytes.len() as u64;
            if told >= 1 << 20 {
                (self.progress)(told);
                told = 0;
            }
            let common = record.common();
            let mut wrong: Vec<(Case, &str, String)> = Vec::new();
            if common.origin != origin {
                wrong.push((
                    Case::F,
                    "wrong_origin",
                    "the event is another origin's".into(),
                ));
            }
            if resync {
                (expect.seq, expect.prev) = (common.seq, common.prev);
                match explained {
                    // A batch may be cut, and positions may have been lost.
                    true => (expect.batch, expect.blind) = (None, true),
                    false => expect.time = None,
                }
                resync = false;
            }
            if common.seq != expect.seq {
                let message = format!(
                    "event {} stands where {} should",
                    common.seq.0, expect.seq.0
                );
                wrong.push((Case::F, "out_of_sequence", message));
            }
            if common.prev != expect.prev {
                let message = "it names another event before it than there is".to_owned();
                wrong.push((Case::F, "broken_chain", message));
            }
            if expect.time.is_some_and(|time| common.time <= time) {
                wrong.push((
                    Case::F,
                    "time_not_rising",
                    "its time is not after the one before".into(),
                ));
            }
            if offset == HEADER_LEN as u64 && segment.name.first_event[..] != id.0[..8] {
                let message = "the file's name says another first event".to_owned();
                wrong.push((Case::F, "wrong_name", message));
            }
            match record.parse_head() {
                Ok(head) => {
                    let (index, count) = (head.batch_index(), head.batch_count());
                    let follows = match expect.batch {
                        None => index == 0,
                        Some((have, all)) => index == have && count == all,
                    };
                    if !follows && !expect.blind {
                        let message = "it is out of place in its batch".to_owned();
                        wrong.push((Case::F, "out_of_batch", message));
                    }
                    expect.batch = (index + 1 < count).then_some((index + 1, count));
                    self.body(&record, &head, path, offset, walked);
                    self.redactions.note(&head);
                    match Facts::of(&head) {
                        Ok(Facts::Imported(facts)) if walked => {
                            expect.position.0 += facts.count();
                            // What an older chain learned after it was continued is not ours.
                            if until.is_none_or(|until| common.seq <= until) {
                                for range in &facts.ranges {
                                    self.want(range.origin, range.to_seq);
                                }
                                self.imported.extend(facts.ranges);
                            }
                        }
                        Ok(Facts::Repaired(facts)) => self.note_ends(&head, &facts),
                        Ok(_) => {}
                        Err(error) => {
                            wrong.push((Case::F, "unreadable_facts", error.to_string()));
                        }
                    }
                    if walked {
                        let want = Position(expect.position.0 + 1);
                        if head.position() != want && !expect.blind {
                            let message =
                                format!("it says position {}, it is {want}", head.position());
                            wrong.push((Case::F, "wrong_position", message));
                        }
                        expect.position = head.position();
                    }
                    expect.blind = false;
                    let unknown = !head.kind().is_understood(head.kind_version());
                    if unknown && head.kind().is_critical() {
                        let message = recover::newer_kind(head.kind(), head.kind_version());
                        let seq = Some(common.seq);
                        self.find_newer(origin, "newer_kind", path, offset, seq, message);
                    }
                }
                Err(error @ (HeadError::NewerFormat { .. } | HeadError::Field { .. })) => {
                    let seq = Some(common.seq);
                    let message = error.to_string();
                    self.find_newer(origin, "newer_format", path, offset, seq, message);
                    (expect.blind, expect.batch) = (true, None);
                }
                Err(error) => {
                    wrong.push((Case::F, "unreadable_head", error.to_string()));
                    (expect.blind, expect.batch) = (true, None);
                }
            }
            for (case, code, message) in wrong {
                let seq = Some(common.seq);
                self.find(
                    Some(case),
                    code,
                    Severity::Damage,
                    path,
                    offset,
                    seq,
                    message,
                );
            }
            if let Some(found) = self.wanted.get_mut(&(origin, common.seq)) {
                found.push(id);
            }
            if until == Some(common.seq) {
                *at_until = Some(expect.position);
            }
            expect.seq = Seq(common.seq.0.wrapping_add(1));
            expect.prev = id;
            expect.time = Some(common.time);
            self.report.events += 1;
        }
    }

    fn header(&mut self, origin: OriginId, segment: &SegmentFile, newest: bool) -> Result<bool> {
        let path = &segment.path;
        let file = self
            .log
            .disk
            .open(path, OpenMode::Read)
            .map_err(at("reading", path))?;
        let mut bytes = [0; HEADER_LEN];
        let read = file.read_at(&mut bytes, 0).map_err(at("reading", path))?;
        let first = Some(segment.name.first_seq);
        match SegmentHeader::parse(&bytes[..read]) {
            Ok(header) if header.origin == origin && header.first_seq == segment.name.first_seq => {
                return Ok(true);
            }
            Ok(_) => {
                let message = "the header names another origin or first event".to_owned();
                let damage = Severity::Damage;
                self.find(
                    Some(Case::C),
                    "wrong_header",
                    damage,
                    path,
                    0,
                    first,
                    message,
                );
            }
            Err(error @ (HeaderError::NewerFormat { .. } | HeaderError::Field { .. })) => {
                let message = error.to_string();
                self.find_newer(origin, "newer_format", path, 0, first, message);
            }
            Err(HeaderError::Bad) => {
                let durable = !newest || self.slot_covers(origin, segment.name.first_seq.0);
                let (case, severity) = match durable || read == HEADER_LEN {
                    true => (Case::C, Severity::Damage),
                    false => (Case::D, Severity::Notice),
                };
                let message = "the segment's header is not whole".to_owned();
                self.find(
                    Some(case),
                    "damaged_header",
                    severity,
                    path,
                    0,
                    first,
                    message,
                );
            }
        }
        Ok(false)
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

    /// A tail that the next writer sets aside.
    fn torn_tail(&mut self, path: &Path) {
        let Some(torn) = self.torn.clone() else {
            return;
        };
        let message = format!(
            "an append that was never acknowledged ends here: {}",
            torn.what
        );
        let (seq, notice) = (Some(torn.seq), Severity::Notice);
        self.find(
            Some(torn.case),
            "torn_tail",
            notice,
            path,
            torn.cut,
            seq,
            message,
        );
    }

    /// Bytes that are no record.
    fn bad_record(&mut self, segment: &SegmentFile, offset: u64, seq: Seq) {
        let message = format!("bytes that are no record; events from {seq} on cannot be read");
        let (path, damage) = (&segment.path, Severity::Damage);
        self.find(
            Some(Case::C),
            "damaged_record",
            damage,
            path,
            offset,
            Some(seq),
            message,
        );
    }

    fn body(
        &mut self,
        record: &icm_event::record::Record<'_>,
        head: &icm_event::head::Head<'_>,
        path: &Path,
        offset: u64,
        walked: bool,
    ) {
        let seq = Some(head.seq());
        match record.body {
            Body::Present { .. } if record.keeps_commitment(head) => {}
            Body::Present { .. } | Body::Damaged => {
                self.report.missing_bodies += 1;
                let message =
                    "the payload is not what was written; it shows as withheld".to_owned();
                let damage = Severity::Damage;
                self.find(
                    Some(Case::H),
                    "damaged_payload",
                    damage,
                    path,
                    offset,
                    seq,
                    message,
                );
            }
            Body::Withheld => {
                self.report.missing_bodies += 1;
                self.withheld.push(Withheld {
                    id: head.id(),
                    head: head.bytes().to_vec(),
                    path: path.to_owned(),
                    offset,
                    seq: head.seq(),
                    walked,
                });
            }
        }
    }
}
