//! Checks of `verify` that need every chain to have been read.

use std::collections::BTreeSet;

use super::{Severity, Verify};
use crate::cases::Case;
use crate::chain;
use crate::error::Result;
use crate::layout;
use crate::scan::{SegmentScan, Step};
use crate::walk;
use icm_event::head::Head;
use icm_event::id::{EventId, OriginId, Seq};
use icm_event::record::Body;
use icm_event::segment::HEADER_LEN;

impl Verify<'_> {
    /// Checks withheld bodies: one that no redaction names was lost in another way.
    pub(super) fn check_withheld(&mut self) -> Result<()> {
        self.redactions.settle();
        for withheld in std::mem::take(&mut self.withheld) {
            let head = Head::parse(&withheld.head);
            if head.is_ok_and(|head| self.redactions.names(&head, withheld.id)) {
                continue;
            }
            let repair = self.holes()?.payloads.get(&withheld.id).copied();
            let (severity, message) = match (repair, withheld.walked) {
                (Some(position), _) => {
                    self.payload_gone(&withheld, position);
                    continue;
                }
                (None, true) => (
                    Severity::Damage,
                    "the payload was taken out, but no redaction says so",
                ),
                (None, false) => (Severity::Notice, "the payload was taken out by its author"),
            };
            self.find(
                Some(Case::I),
                "withheld_payload",
                severity,
                &withheld.path,
                withheld.offset,
                Some(withheld.seq),
                message.to_owned(),
            );
        }
        Ok(())
    }

    /// Checks redacted events: a body that is there was put back by somebody.
    pub(super) fn check_redacted(&mut self) -> Result<()> {
        // A body that a redaction under way has not reached yet is not damage.
        if self.redactions.is_empty() || self.log.redaction_pending() {
            return Ok(());
        }
        let disk = &*self.log.disk;
        for origin in chain::origins(disk, &self.log.dir)? {
            for segment in chain::segments(disk, &self.log.dir, origin)? {
                let mut scan = SegmentScan::open(disk, &segment.path, HEADER_LEN as u64, u64::MAX)?;
                // Bytes that cannot be read were reported before.
                while let Step::Record { offset, record, id } = scan.step()? {
                    let named = record.parse_head();
                    let named = named.is_ok_and(|head| self.redactions.names(&head, id));
                    if !named || record.body == Body::Withheld {
                        continue;
                    }
                    let seq = record.seq();
                    let message = format!(
                        "the payload of a redacted event is there: `icm redact {}` takes it out",
                        &id.to_string()[..12]
                    );
                    self.find(
                        None,
                        "redacted_payload",
                        Severity::Damage,
                        &segment.path,
                        offset,
                        Some(seq),
                        message,
                    );
                }
            }
        }
        Ok(())
    }

    /// Reports foreign chains of which nothing was ever learned: no answer contains their events.
    pub(super) fn check_learned(&mut self, origins: &[OriginId]) {
        let learned: BTreeSet<_> = self.imported.iter().map(|range| range.origin).collect();
        for origin in origins.iter().filter(|origin| !learned.contains(origin)) {
            let dir = layout::dir_of(&self.log.dir, *origin);
            let message = "its events are held, but were never learned: an import was stopped, or \
                           `store.toml` and `acked` are from before; an import of them learns them";
            let notice = Severity::Notice;
            let message = message.to_owned();
            self.find(Some(Case::J), "not_learned", notice, &dir, 0, None, message);
        }
    }

    /// Makes the verification record the event at this place from now on.
    pub(super) fn want(&mut self, origin: OriginId, seq: Seq) {
        self.wanted.entry((origin, seq)).or_default();
    }

    /// Returns the events that were found at a place; several if the chain branches.
    fn found(&self, origin: OriginId, seq: Seq) -> &[EventId] {
        self.wanted.get(&(origin, seq)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn check_slot(&mut self) -> Result<()> {
        let Some(slot) = self.slot else { return Ok(()) };
        if self.newer.contains(&slot.origin) {
            return Ok(());
        }
        let found = self.found(slot.origin, slot.seq);
        let is_empty = found.is_empty();
        if found.contains(&slot.event) || self.is_gone(slot.origin, slot.seq)? {
            return Ok(());
        }
        let message = match is_empty {
            true => format!("the acknowledged event {} is not there", slot.seq.0),
            false => format!("event {} is not the one that was acknowledged", slot.seq.0),
        };
        let dir = layout::dir_of(&self.log.dir, slot.origin);
        let seq = Some(slot.seq);
        self.find(
            Some(Case::M),
            "end_missing",
            Severity::Damage,
            &dir,
            0,
            seq,
            message,
        );
        Ok(())
    }

    pub(super) fn check_continued(&mut self) -> Result<()> {
        for (origin, seq, event) in std::mem::take(&mut self.continued) {
            let found = self.found(origin, seq).contains(&event);
            let known = found || self.newer.contains(&origin);
            if known || self.is_gone(origin, seq)? {
                continue;
            }
            let message = format!("event {seq}, which a newer origin continues, is not there");
            let dir = layout::dir_of(&self.log.dir, origin);
            let (case, damage) = (Some(Case::M), Severity::Damage);
            self.find(
                case,
                "continued_missing",
                damage,
                &dir,
                0,
                Some(seq),
                message,
            );
        }
        Ok(())
    }

    pub(super) fn check_imported(&mut self) -> Result<()> {
        for range in std::mem::take(&mut self.imported) {
            let place = (range.origin, range.to_seq);
            let mut found = self.found(place.0, place.1).to_vec();
            if found.is_empty() {
                // A chain that this one continues was read before the import was.
                let (disk, dir) = (&*self.log.disk, &self.log.dir);
                let there = walk::find_seq(disk, dir, place.0, place.1, Some(range.head))?;
                found.extend(there.map(|place| place.tip.event));
            }
            let known = found.contains(&range.head) || self.newer.contains(&range.origin);
            if known || self.is_gone(range.origin, range.to_seq)? {
                continue;
            }
            let message = format!(
                "imported events {} to {} are not all there",
                range.from_seq.0, range.to_seq.0
            );
            let dir = layout::dir_of(&self.log.dir, range.origin);
            let seq = Some(range.to_seq);
            self.find(
                Some(Case::L),
                "import_missing",
                Severity::Damage,
                &dir,
                0,
                seq,
                message,
            );
        }
        Ok(())
    }
}
