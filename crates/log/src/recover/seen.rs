//! Takes the records of a segment one by one: checks that each fits the chain, and finds the whole batches.

use super::newer_kind;
use super::tip::{Tip, TipPlace, tip_of};
use crate::cases::RecordState;
use crate::chain::SegmentFile;
use icm_event::head::{Head, HeadError};
use icm_event::id::{EventId, OriginId, Seq};
use icm_event::record::{self, Body};
use icm_event::segment::HEADER_LEN;

/// The state of a scan of the newest segment.
pub(super) struct Seen {
    pub(super) tip: Option<TipPlace>,
    /// Seq that the next record must have.
    pub(super) expected: Seq,
    /// Id of the event before the next record, if known.
    pub(super) prev: Option<EventId>,
    /// An open batch: offset of its start, its first seq, events seen, events in the batch.
    pub(super) batch: Option<(u64, Seq, u16, u16)>,
    /// The first record with a damaged body: its seq, and offset and first seq of its batch.
    pub(super) bad_body: Option<(Seq, u64, Seq)>,
    /// The tip before that record's batch.
    pub(super) tip_before_bad: Option<TipPlace>,
    /// Largest `synced` of the records after that record.
    pub(super) synced_after_bad: Seq,
    pub(super) synced: Seq,
    /// The first event of a kind that only a newer version understands: offset, seq, message.
    pub(super) newer: Option<(u64, Seq, String)>,
    /// `true` if the segment starts after a hole, which may cut a batch.
    pub(super) cut_before: bool,
    /// The newest event with start and end of its record, in a whole batch or not.
    pub(super) last: Option<(Tip, u64, u64)>,
}

impl Seen {
    /// Returns the state before the first record, which must have seq `expected`.
    pub(super) fn from(expected: Seq) -> Seen {
        Seen {
            tip: None,
            expected,
            prev: None,
            batch: None,
            bad_body: None,
            tip_before_bad: None,
            synced_after_bad: Seq(0),
            synced: Seq(0),
            newer: None,
            cut_before: false,
            last: None,
        }
    }

    pub(super) fn take(
        &mut self,
        origin: OriginId,
        segment: &SegmentFile,
        offset: u64,
        record: &record::Record<'_>,
        id: EventId,
        from_hint: bool,
    ) -> std::result::Result<(), (RecordState, String)> {
        let head = match record.parse_head() {
            Ok(head) => head,
            Err(error @ (HeadError::NewerFormat { .. } | HeadError::Field { .. })) => {
                return Err((RecordState::Newer, error.to_string()));
            }
            Err(error) => return Err((RecordState::FirstCheckBad, error.to_string())),
        };
        let broken = |what: &str| Err((RecordState::ChainBroken, what.to_owned()));
        if head.origin() != origin {
            return broken("the event is another origin's");
        }
        if head.seq() != self.expected {
            return broken("the event is out of sequence");
        }
        if self.prev.is_some_and(|prev| prev != head.prev()) {
            return broken("the event names another one before it than there is");
        }
        if offset == HEADER_LEN as u64 && segment.name.first_event[..] != id.0[..8] {
            return broken("the first event is not the one that the file's name says");
        }
        self.take_batch(&head, offset, from_hint).or_else(broken)?;
        if self.bad_body.is_some() {
            self.synced_after_bad = self.synced_after_bad.max(record.synced);
        } else if record.body == Body::Damaged {
            let (start, first, ..) = self.batch.expect("the record's batch was just noted");
            self.bad_body = Some((head.seq(), start, first));
            self.tip_before_bad = self.tip.clone();
        }
        let (kind, version) = (head.kind(), head.kind_version());
        if kind.is_critical() && !kind.is_understood(version) && self.newer.is_none() {
            let what = newer_kind(kind, version);
            self.newer = Some((offset, head.seq(), what));
        }
        self.synced = self.synced.max(record.synced);
        self.prev = Some(id);
        self.expected = Seq(head.seq().0 + 1);
        self.last = Some((
            tip_of(&head, id),
            offset,
            offset + record.bytes.len() as u64,
        ));
        if self.batch.is_some_and(|(_, _, have, count)| have == count) {
            self.batch = None;
            self.tip = Some(TipPlace {
                tip: tip_of(&head, id),
                segment: segment.clone(),
                offset,
                end: offset + record.bytes.len() as u64,
                synced: self.synced,
            });
        }
        Ok(())
    }

    fn take_batch(
        &mut self,
        head: &Head<'_>,
        offset: u64,
        from_hint: bool,
    ) -> std::result::Result<(), &'static str> {
        let (index, count) = (head.batch_index(), head.batch_count());
        self.batch = match self.batch {
            // A hint names the last event of a batch.
            None if from_hint && index + 1 == count => Some((offset, head.seq(), count, count)),
            None if index == 0 => Some((offset, head.seq(), 1, count)),
            None if self.cut_before && offset == HEADER_LEN as u64 => {
                Some((offset, head.seq(), index + 1, count))
            }
            Some((start, first, have, all)) if index == have && count == all => {
                Some((start, first, have + 1, count))
            }
            _ => return Err("the event is out of place in its batch"),
        };
        Ok(())
    }
}
