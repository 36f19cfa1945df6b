//! Verifies one segment: its header and its records.

use std::path::Path;

use super::record::Met;
use super::{Expect, Severity, Verify};
use crate::cases::Case;
use crate::chain::SegmentFile;
use crate::disk::OpenMode;
use crate::error::{Result, at};
use crate::scan::{SegmentScan, Step};
use icm_event::id::{OriginId, Position, Seq};
use icm_event::segment::{HEADER_LEN, HeaderError, SegmentHeader};

impl Verify<'_> {
    /// Verifies a segment. Returns `false` if the chain cannot be followed beyond it.
    #[allow(
        clippy::too_many_arguments,
        reason = "the state of a walk through segments"
    )]
    pub(super) fn segment(
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
            if resync {
                let common = record.common();
                (expect.seq, expect.prev) = (common.seq, common.prev);
                match explained {
                    // A batch may be cut, and positions may be lost.
                    true => (expect.batch, expect.blind) = (None, true),
                    false => expect.time = None,
                }
                resync = false;
            }
            let met = Met {
                record: &record,
                id,
                offset,
                segment,
                origin,
                walked,
                until,
            };
            self.record(&met, expect);
            if until == Some(record.seq()) {
                *at_until = Some(expect.position);
            }
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

    /// Reports a tail that the next writer sets aside.
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

    /// Reports bytes that are not a record.
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
}
