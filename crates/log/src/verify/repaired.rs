//! Reports the losses that repairs have explained, as notices and not as damage.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Expect, Severity, Verify, Withheld};
use crate::cases::Case;
use crate::chain::SegmentFile;
use crate::error::Result;
use crate::holes::{Explained, Gap, Holes};
use crate::layout;
use crate::scan::read_one;
use icm_event::facts::LogRepaired;
use icm_event::hash;
use icm_event::head::Head;
use icm_event::id::{OriginId, Position, Seq};
use icm_event::segment::HEADER_LEN;

/// Returns a short name of an origin for people, with enough digits to tell a few machines apart.
fn short(origin: OriginId) -> String {
    format!("{}…", &origin.to_string()[..4])
}

fn since(position: Position) -> String {
    match position.0 {
        0 => "a repair".to_owned(),
        _ => format!("the repair @{position}"),
    }
}

impl Verify<'_> {
    pub(super) fn holes(&mut self) -> Result<Arc<Holes>> {
        if let Some(holes) = &self.holes {
            return Ok(Arc::clone(holes));
        }
        // Holes of later appends are read, too: they can only explain more.
        let holes = self.log.explainer(self.walked.clone(), None).holes()?;
        self.holes = Some(Arc::clone(&holes));
        Ok(holes)
    }

    /// Returns `true` if a repair explains the events that are missing before a segment, and reports them.
    pub(super) fn is_bridged(
        &mut self,
        origin: OriginId,
        segment: &SegmentFile,
        expect: &Expect,
    ) -> Result<bool> {
        let first = read_one(
            &*self.log.disk,
            &segment.path,
            HEADER_LEN as u64,
            |record| (record.prev(), hash::event_id(record.head)),
        )?;
        let Some((prev, next)) = first else {
            return Ok(false);
        };
        if segment.name.first_seq == expect.seq && prev == expect.prev {
            return Ok(false); // nothing is missing
        }
        let gap = Gap {
            origin,
            last: expect.prev,
            next,
            from: expect.seq,
            to: Seq(segment.name.first_seq.0 - 1),
        };
        let Some(explained) = self.holes()?.explain(&gap) else {
            return Ok(false);
        };
        let file = segment.path.clone();
        self.gone(file, origin, (gap.from, gap.to), explained);
        Ok(true)
    }

    /// Returns `true` if a repair explains that a chain had more events, and reports the loss.
    pub(super) fn end_is_explained(
        &mut self,
        origin: OriginId,
        expect: &Expect,
        until: Option<Seq>,
    ) -> Result<bool> {
        // The heads are read only if something says that there were more events.
        let open = expect.batch.is_some();
        let continued = until.is_some_and(|until| until >= expect.seq);
        let acknowledged = self
            .slot
            .is_some_and(|slot| slot.origin == origin && slot.seq >= expect.seq);
        let learned = (self.imported.iter())
            .any(|range| range.origin == origin && range.to_seq >= expect.seq);
        if !(open || continued || acknowledged || learned) {
            return Ok(false);
        }
        let Some(explained) = self.holes()?.covering(origin, expect.seq) else {
            return Ok(false);
        };
        self.end_gone(origin, expect.seq, explained);
        Ok(true)
    }

    fn end_gone(&mut self, origin: OriginId, from: Seq, explained: Explained) {
        if self.told.insert(origin) {
            let dir = layout::dir_of(&self.log.dir, origin);
            self.gone(dir, origin, (from, explained.hole.to_seq), explained);
        }
    }

    /// Records the ends of chains that a repair explains.
    pub(super) fn note_ends(&mut self, head: &Head<'_>, facts: &LogRepaired) {
        let position = head.position();
        let ends = facts.holes.iter().filter(|hole| hole.next_good.is_zero());
        let ends = ends.map(|hole| Explained {
            hole: *hole,
            position,
        });
        self.ends.extend(ends);
    }

    /// Reports explained losses at the ends of chains that no other event names.
    pub(super) fn check_ends(&mut self) {
        for explained in std::mem::take(&mut self.ends) {
            let hole = explained.hole;
            let head = self
                .report
                .heads
                .iter()
                .find(|head| head.origin == hole.origin);
            let next = Seq(head.map_or(0, |head| head.seq.0) + 1);
            if hole.from_seq <= next && next <= hole.to_seq {
                self.end_gone(hole.origin, next, explained);
            }
        }
    }

    fn gone(
        &mut self,
        file: PathBuf,
        origin: OriginId,
        (from, to): (Seq, Seq),
        explained: Explained,
    ) {
        let (name, since) = (short(origin), since(explained.position));
        let message = match to.0.checked_sub(from.0) {
            None => format!(
                "event {from} of origin {name} names another event before it than there is: {since} \
                 keeps both"
            ),
            Some(0) => format!("event {from} of origin {name} is gone since {since}: {BACK}"),
            Some(_) => {
                format!("events {from} to {to} of origin {name} are gone since {since}: {BACK}")
            }
        };
        let (case, notice) = (Some(Case::E), Severity::Notice);
        self.find(case, "events_gone", notice, &file, 0, Some(from), message);
    }

    pub(super) fn payload_gone(&mut self, withheld: &Withheld, repaired: Position) {
        let message = format!("the payload is gone since {}: {BACK}", since(repaired));
        self.find(
            Some(Case::H),
            "payload_gone",
            Severity::Notice,
            &withheld.path,
            withheld.offset,
            Some(withheld.seq),
            message,
        );
    }

    /// Returns `true` if a repair declares an event lost.
    pub(super) fn is_gone(&mut self, origin: OriginId, seq: Seq) -> Result<bool> {
        Ok(self.holes()?.covering(origin, seq).is_some())
    }
}

const BACK: &str =
    "an export of a machine that has it brings it back, `icm log repair --from FILE`";
