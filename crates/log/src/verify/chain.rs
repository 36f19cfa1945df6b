//! Verifies one chain, segment by segment.

use super::branch::Ends;
use super::{Expect, Severity, VerifiedHead, Verify};
use crate::cases::Case;
use crate::chain;
use crate::error::Result;
use icm_event::id::{EventId, OriginId, Position, Seq};

impl Verify<'_> {
    /// Verifies a chain. Returns the position of the walk at its end (or at `until`), if known.
    pub(super) fn chain(
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
            // Events of another branch are as foreign as imported events.
            self.take_branch(segment, &mut expect, &mut ends)?;
            self.segment(origin, segment, false, false, None, &mut expect, &mut None)?;
        }
        Ok(match until {
            Some(_) => at_until,
            None => Some(position),
        })
    }
}
