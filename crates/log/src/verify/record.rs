//! Verifies one record: its place in the chain, its head, and its body.

use super::{Expect, Severity, Verify, Withheld};
use crate::cases::Case;
use crate::chain::SegmentFile;
use crate::recover;
use icm_event::facts::Facts;
use icm_event::head::{Head, HeadError};
use icm_event::id::{EventId, OriginId, Position, Seq};
use icm_event::record::{Body, Record};
use icm_event::segment::HEADER_LEN;

/// A record, and the place where it was read.
pub(super) struct Met<'a> {
    pub(super) record: &'a Record<'a>,
    pub(super) id: EventId,
    pub(super) offset: u64,
    pub(super) segment: &'a SegmentFile,
    /// The chain that is being verified.
    pub(super) origin: OriginId,
    /// `true` if the chain is walked.
    pub(super) walked: bool,
    /// The last event of the chain that is walked, if another chain continues it.
    pub(super) until: Option<Seq>,
}

/// The damage of one record: row of the case table, short name, message.
type Damages = Vec<(Case, &'static str, String)>;

impl Verify<'_> {
    /// Verifies a record, and sets the expectation for the next one.
    pub(super) fn record(&mut self, met: &Met<'_>, expect: &mut Expect) {
        let common = met.record.common();
        let mut damages = misplaced(met, expect);
        match met.record.parse_head() {
            Ok(head) => self.head(met, &head, expect, &mut damages),
            Err(error @ (HeadError::NewerFormat { .. } | HeadError::Field { .. })) => {
                self.newer_record(met, "newer_format", error.to_string());
                (expect.blind, expect.batch) = (true, None);
            }
            Err(error) => {
                damages.push((Case::F, "unreadable_head", error.to_string()));
                (expect.blind, expect.batch) = (true, None);
            }
        }
        for (case, code, message) in damages {
            self.find(
                Some(case),
                code,
                Severity::Damage,
                &met.segment.path,
                met.offset,
                Some(common.seq),
                message,
            );
        }
        if let Some(found) = self.wanted.get_mut(&(met.origin, common.seq)) {
            found.push(met.id);
        }
        expect.seq = Seq(common.seq.0.wrapping_add(1));
        expect.prev = met.id;
        expect.time = Some(common.time);
        self.report.events += 1;
    }

    /// Verifies the parts that need a readable head, and records the events that the head names.
    fn head(&mut self, met: &Met<'_>, head: &Head<'_>, expect: &mut Expect, damages: &mut Damages) {
        let (index, count) = (head.batch_index(), head.batch_count());
        let follows = match expect.batch {
            None => index == 0,
            Some((have, all)) => index == have && count == all,
        };
        if !follows && !expect.blind {
            let message = "it is out of place in its batch".to_owned();
            damages.push((Case::F, "out_of_batch", message));
        }
        expect.batch = (index + 1 < count).then_some((index + 1, count));
        self.body(met, head);
        self.redactions.note(head);
        match Facts::of(head) {
            Ok(Facts::Imported(facts)) if met.walked => {
                expect.position.0 += facts.count();
                // Events that an older chain learned after it was continued do not belong to this walk.
                if met.until.is_none_or(|until| head.seq() <= until) {
                    for range in &facts.ranges {
                        self.want(range.origin, range.to_seq);
                    }
                    self.imported.extend(facts.ranges);
                }
            }
            Ok(Facts::Repaired(facts)) => self.note_ends(head, &facts),
            Ok(_) => {}
            Err(error) => {
                damages.push((Case::F, "unreadable_facts", error.to_string()));
            }
        }
        if met.walked {
            let want = Position(expect.position.0 + 1);
            if head.position() != want && !expect.blind {
                let message = format!("it says position {}, it is {want}", head.position());
                damages.push((Case::F, "wrong_position", message));
            }
            expect.position = head.position();
        }
        expect.blind = false;
        let unknown = !head.kind().is_understood(head.kind_version());
        if unknown && head.kind().is_critical() {
            let message = recover::newer_kind(head.kind(), head.kind_version());
            self.newer_record(met, "newer_kind", message);
        }
    }

    fn newer_record(&mut self, met: &Met<'_>, code: &str, message: String) {
        let seq = Some(met.record.seq());
        self.find_newer(
            met.origin,
            code,
            &met.segment.path,
            met.offset,
            seq,
            message,
        );
    }

    fn body(&mut self, met: &Met<'_>, head: &Head<'_>) {
        let (path, offset) = (&met.segment.path, met.offset);
        match met.record.body {
            Body::Present { .. } if met.record.keeps_commitment(head) => {}
            Body::Present { .. } | Body::Damaged => {
                self.report.missing_bodies += 1;
                let message =
                    "the payload is not what was written; it shows as withheld".to_owned();
                self.find(
                    Some(Case::H),
                    "damaged_payload",
                    Severity::Damage,
                    path,
                    offset,
                    Some(head.seq()),
                    message,
                );
            }
            Body::Withheld => {
                self.report.missing_bodies += 1;
                self.withheld.push(Withheld {
                    id: head.id(),
                    head: head.bytes().to_vec(),
                    path: path.clone(),
                    offset,
                    seq: head.seq(),
                    walked: met.walked,
                });
            }
        }
    }
}

/// Returns the damage in the place of a record.
fn misplaced(met: &Met<'_>, expect: &Expect) -> Damages {
    let common = met.record.common();
    let mut damages = Damages::new();
    if common.origin != met.origin {
        let message = "the event is another origin's".to_owned();
        damages.push((Case::F, "wrong_origin", message));
    }
    if common.seq != expect.seq {
        let message = format!(
            "event {} stands where {} should",
            common.seq.0, expect.seq.0
        );
        damages.push((Case::F, "out_of_sequence", message));
    }
    if common.prev != expect.prev {
        let message = "it names another event before it than there is".to_owned();
        damages.push((Case::F, "broken_chain", message));
    }
    if expect.time.is_some_and(|time| common.time <= time) {
        let message = "its time is not after the one before".to_owned();
        damages.push((Case::F, "time_not_rising", message));
    }
    let begins = met.offset == HEADER_LEN as u64;
    if begins && met.segment.name.first_event[..] != met.id.0[..8] {
        let message = "the file's name says another first event".to_owned();
        damages.push((Case::F, "wrong_name", message));
    }
    damages
}
