//! What can only be judged once every chain has been read.

use super::{Severity, Verify};
use crate::cases::Case;
use crate::chain;
use crate::error::Result;
use crate::id::SubjectId;
use crate::walk;

impl Verify<'_> {
    /// A body that is withheld and that no redaction names was lost otherwise.
    pub(super) fn check_withheld(&mut self) -> Result<()> {
        for withheld in std::mem::take(&mut self.withheld) {
            let named = |subject: &SubjectId| {
                let redacted = self.redacted_subjects.get(subject);
                redacted.is_some_and(|at| withheld.position < *at || !withheld.walked)
            };
            if self.redacted_events.contains(&withheld.id) || withheld.subjects.iter().any(named) {
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

    pub(super) fn check_slot(&mut self) -> Result<()> {
        let Some(slot) = self.slot else { return Ok(()) };
        if self.newer.contains(&slot.origin) {
            return Ok(());
        }
        let found = self.wanted.get(&(slot.origin, slot.seq)).copied().flatten();
        if found == Some(slot.event) || self.is_gone(slot.origin, slot.seq)? {
            return Ok(());
        }
        let message = match found {
            None => format!("the acknowledged event {} is not there", slot.seq.0),
            Some(_) => format!("event {} is not the one that was acknowledged", slot.seq.0),
        };
        let dir = chain::dir_of(&self.log.dir, slot.origin);
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
            let found = self.wanted.get(&(origin, seq)).copied().flatten();
            let known = found == Some(event) || self.newer.contains(&origin);
            if known || self.is_gone(origin, seq)? {
                continue;
            }
            let message = format!("event {seq}, which a newer origin continues, is not there");
            let dir = chain::dir_of(&self.log.dir, origin);
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
            let mut found = self.wanted.get(&place).copied().flatten();
            if found.is_none() {
                // A chain that this one continues was read before the import was met.
                let (disk, dir) = (&*self.log.disk, &self.log.dir);
                found = walk::find_seq(disk, dir, place.0, place.1)?.map(|place| place.tip.event);
            }
            let known = found == Some(range.head) || self.newer.contains(&range.origin);
            if known || self.is_gone(range.origin, range.to_seq)? {
                continue;
            }
            let message = format!(
                "imported events {} to {} are not all there",
                range.from_seq.0, range.to_seq.0
            );
            let dir = chain::dir_of(&self.log.dir, range.origin);
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
