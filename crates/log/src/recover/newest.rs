//! Examines the newest segment of a chain: the end of its last whole batch, and the bytes after it. A torn tail is
//! found here.

use super::Trouble;
use super::evidence::later_synced;
use super::hint::Hint;
use super::seen::Seen;
use super::tip::TipPlace;
use crate::cases::{self, Case, Observation, RecordState, SlotState};
use crate::chain::SegmentFile;
use crate::disk::OpenMode;
use crate::error::{Result, at};
use crate::holes::Explainer;
use crate::layout;
use crate::scan::{SegmentScan, Step};
use icm_event::id::{OriginId, Seq};
use icm_event::segment::{HEADER_LEN, HeaderError, SegmentHeader};

/// The end of a chain in its newest segment.
pub(super) struct NewestEnd {
    pub(super) tip: Option<TipPlace>,
    pub(super) trouble: Option<Trouble>,
}

/// Examines the newest segment of a chain, starting at `start` if that lies in it.
pub(super) fn look(
    holes: &Explainer<'_>,
    origin: OriginId,
    newest: &SegmentFile,
    evidence_seq: Seq,
    slot: SlotState,
    start: Option<Hint>,
) -> Result<NewestEnd> {
    let newest = Newest {
        holes,
        origin,
        segment: newest,
        evidence_seq,
        slot,
        start: start.filter(|hint| hint.segment == newest.name.first_seq),
    };
    if let Some(trouble) = newest.header()? {
        return Ok(NewestEnd {
            tip: None,
            trouble: Some(trouble),
        });
    }
    let (mut seen, ended) = newest.records()?;
    if ended.is_none() {
        newest.close_at_hole(&mut seen)?;
    }
    newest.judge(seen, ended)
}

/// The record at which a scan ended early: offset, state, and defect.
type Ended = (u64, RecordState, String);

/// The newest segment of a chain, and the knowledge about it before it is read.
struct Newest<'a> {
    holes: &'a Explainer<'a>,
    origin: OriginId,
    segment: &'a SegmentFile,
    /// Seq of the newest event that is known to have been durable.
    evidence_seq: Seq,
    slot: SlotState,
    /// The place in the segment at which reading starts.
    start: Option<Hint>,
}

impl Newest<'_> {
    fn first_seq(&self) -> Seq {
        self.segment.name.first_seq
    }

    fn observation(&self) -> Observation {
        Observation {
            slot: self.slot,
            ..Observation::CLEAN
        }
    }

    fn trouble(&self, observation: &Observation, cut: u64, seq: Seq, what: String) -> Trouble {
        Trouble {
            case: cases::decide(observation),
            file: layout::relative(self.holes.store, &self.segment.path),
            cut,
            seq,
            what,
        }
    }

    /// Returns the trouble with the header, if there is any.
    fn header(&self) -> Result<Option<Trouble>> {
        let (disk, path, first_seq) = (self.holes.disk, &self.segment.path, self.first_seq());
        let header = {
            let handle = disk
                .open(path, OpenMode::Read)
                .map_err(at("reading", path))?;
            let mut bytes = [0; HEADER_LEN];
            let read = handle.read_at(&mut bytes, 0).map_err(at("reading", path))?;
            SegmentHeader::parse(&bytes[..read])
        };
        match header {
            Ok(header) if header.origin == self.origin && header.first_seq == first_seq => Ok(None),
            Err(error @ (HeaderError::NewerFormat { .. } | HeaderError::Field { .. })) => {
                let seen = Observation {
                    record: RecordState::Newer,
                    ..self.observation()
                };
                Ok(Some(self.trouble(&seen, 0, first_seq, error.to_string())))
            }
            other => {
                let evidence = self.evidence_seq >= first_seq
                    || later_synced(disk, path, 0, self.origin, first_seq)? >= first_seq;
                let seen = Observation {
                    record: RecordState::FirstCheckBad,
                    evidence,
                    starts_newest_segment: true,
                    ..self.observation()
                };
                let what = match other {
                    Ok(_) => {
                        "the header names another origin or event than the file's name".to_owned()
                    }
                    Err(error) => error.to_string(),
                };
                Ok(Some(self.trouble(&seen, 0, first_seq, what)))
            }
        }
    }

    /// Reads the records up to the end, or up to the first one that does not fit.
    fn records(&self) -> Result<(Seen, Option<Ended>)> {
        let start = self.start;
        let offset = start.map_or(HEADER_LEN as u64, |hint| hint.offset);
        let mut seen = Seen::from(start.map_or(self.first_seq(), |hint| hint.seq));
        // Ids are hashed here: an id taken from the next record's `prev` would always match it.
        let mut records =
            SegmentScan::open(self.holes.disk, &self.segment.path, offset, u64::MAX)?.hashing();
        let ended = loop {
            match records.step()? {
                Step::Record { offset, record, id } => {
                    let from_hint = start.is_some_and(|hint| hint.offset == offset);
                    if offset == HEADER_LEN as u64 && !from_hint {
                        let begun = record.parse_head().is_ok_and(|head| head.batch_index() > 0);
                        seen.cut_before =
                            begun && self.holes.holes()?.touches(self.origin, self.first_seq());
                    }
                    match seen.take(self.origin, self.segment, offset, &record, id, from_hint) {
                        Ok(()) => {}
                        Err((state, what)) => break Some((offset, state, what)),
                    }
                }
                Step::End => break None,
                Step::Bad { offset } => {
                    break Some((
                        offset,
                        RecordState::FirstCheckBad,
                        "bytes that are no record".into(),
                    ));
                }
                Step::Newer { offset } => {
                    let what = "a newer version of icm wrote this record".to_owned();
                    break Some((offset, RecordState::Newer, what));
                }
            }
        };
        Ok((seen, ended))
    }

    /// Counts an open batch as whole if a repair declared the rest of it lost.
    fn close_at_hole(&self, seen: &mut Seen) -> Result<()> {
        if seen.batch.is_some()
            && let Some((tip, offset, end)) = seen.last
            && self.holes.holes()?.at_end(self.origin, tip.seq).is_some()
        {
            seen.batch = None;
            seen.tip = Some(TipPlace {
                tip,
                segment: self.segment.clone(),
                offset,
                end,
                synced: seen.synced,
            });
        }
        Ok(())
    }

    /// Decides which row of the case table applies to the end of the segment.
    fn judge(&self, seen: Seen, ended: Option<Ended>) -> Result<NewestEnd> {
        let (disk, path) = (self.holes.disk, &self.segment.path);
        let synced_later = match &ended {
            Some((offset, RecordState::FirstCheckBad, _)) => {
                later_synced(disk, path, offset + 1, self.origin, seen.expected)?
            }
            _ => Seq(0),
        };
        let best_synced = seen.synced_after_bad.max(synced_later);

        // A damaged payload counts as torn if nothing says that its event was durable.
        if let Some((seq, cut, batch_seq)) = seen.bad_body {
            let evidence = self.evidence_seq >= seq || best_synced >= seq;
            let observation = Observation {
                record: RecordState::SecondCheckBad,
                evidence,
                starts_newest_segment: batch_seq == self.first_seq(),
                ..self.observation()
            };
            if !evidence {
                let what = format!("the payload of event {} is not what was written", seq.0);
                let trouble = self.trouble(&observation, cut, batch_seq, what);
                return Ok(NewestEnd {
                    tip: seen.tip_before_bad,
                    trouble: Some(whole_file_if_begun(trouble)),
                });
            }
        }
        if let Some((offset, state, what)) = ended {
            let (cut, seq) = match seen.batch {
                Some((start, first, ..)) => (start, first),
                None => (offset, seen.expected),
            };
            let observation = Observation {
                record: state,
                evidence: self.evidence_seq >= seq || best_synced >= seq,
                starts_newest_segment: seen.tip.is_none() && self.start.is_none(),
                ..self.observation()
            };
            let trouble = self.trouble(&observation, cut, seq, what);
            return Ok(NewestEnd {
                tip: seen.tip,
                trouble: Some(whole_file_if_begun(trouble)),
            });
        }
        Ok(self.judge_end(seen))
    }

    /// Decides the row if every record fits.
    fn judge_end(&self, seen: Seen) -> NewestEnd {
        if let Some((offset, seq, what)) = seen.newer.filter(|_| seen.batch.is_none()) {
            let observation = Observation {
                record: RecordState::Newer,
                ..self.observation()
            };
            return NewestEnd {
                tip: seen.tip,
                trouble: Some(self.trouble(&observation, offset, seq, what)),
            };
        }
        let (cut, seq, what, batch_open) = match seen.batch {
            Some((start, first, have, count)) => (
                start,
                first,
                format!("the last batch has {have} of its {count} events"),
                true,
            ),
            None => {
                let what = format!(
                    "the acknowledged event {} is not there",
                    self.evidence_seq.0
                );
                (0, seen.expected, what, false)
            }
        };
        let is_first = seen.tip.is_none() && self.start.is_none();
        let observation = Observation {
            batch_open,
            evidence: self.evidence_seq >= seq,
            record: if !batch_open && seen.tip.is_none() {
                // A header without a first record.
                RecordState::FirstCheckBad
            } else {
                RecordState::Good
            },
            starts_newest_segment: is_first,
            ..self.observation()
        };
        let found = self.trouble(&observation, cut, seq, what);
        // If an open batch is all that a segment holds, the segment's creation is torn.
        let found = match found.case {
            Case::K if is_first => Trouble {
                case: Case::D,
                ..found
            },
            _ => found,
        };
        NewestEnd {
            tip: seen.tip,
            trouble: (found.case != Case::A).then(|| whole_file_if_begun(found)),
        }
    }
}

/// Makes a torn creation cover the whole file, so that no header without a record stays behind.
fn whole_file_if_begun(trouble: Trouble) -> Trouble {
    match trouble.case {
        Case::D => Trouble { cut: 0, ..trouble },
        _ => trouble,
    }
}
