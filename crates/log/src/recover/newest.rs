//! The newest segment of a chain: where its last whole batch ends, and what follows it.

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

pub(super) struct Looked {
    pub(super) tip: Option<TipPlace>,
    pub(super) trouble: Option<Trouble>,
}

pub(super) fn look(
    holes: &Explainer<'_>,
    origin: OriginId,
    newest: &SegmentFile,
    evidence_seq: Seq,
    slot: SlotState,
    start: Option<Hint>,
) -> Result<Looked> {
    let (disk, store) = (holes.disk, holes.store);
    let file = layout::relative(store, &newest.path);
    let first_seq = newest.name.first_seq;
    let base = Observation {
        slot,
        ..Observation::CLEAN
    };
    let trouble = |observation: &Observation, cut: u64, seq: Seq, what: String| Trouble {
        case: cases::decide(observation),
        file: file.clone(),
        cut,
        seq,
        what,
    };

    let header = {
        let handle = disk
            .open(&newest.path, OpenMode::Read)
            .map_err(at("reading", &newest.path))?;
        let mut bytes = [0; HEADER_LEN];
        let read = handle
            .read_at(&mut bytes, 0)
            .map_err(at("reading", &newest.path))?;
        SegmentHeader::parse(&bytes[..read])
    };
    match header {
        Ok(header) if header.origin == origin && header.first_seq == first_seq => {}
        Err(error @ (HeaderError::NewerFormat { .. } | HeaderError::Field { .. })) => {
            let seen = Observation {
                record: RecordState::Newer,
                ..base
            };
            let trouble = trouble(&seen, 0, first_seq, error.to_string());
            return Ok(Looked {
                tip: None,
                trouble: Some(trouble),
            });
        }
        other => {
            let evidence = evidence_seq >= first_seq
                || later_synced(disk, &newest.path, 0, origin, first_seq)? >= first_seq;
            let seen = Observation {
                record: RecordState::FirstCheckBad,
                evidence,
                starts_newest_segment: true,
                ..base
            };
            let what = match other {
                Ok(_) => "the header names another origin or event than the file's name".to_owned(),
                Err(error) => error.to_string(),
            };
            return Ok(Looked {
                tip: None,
                trouble: Some(trouble(&seen, 0, first_seq, what)),
            });
        }
    }

    let start = start.filter(|hint| hint.segment == first_seq);
    let offset = start.map_or(HEADER_LEN as u64, |hint| hint.offset);
    let mut seen = Seen {
        tip: None,
        expected: start.map_or(first_seq, |hint| hint.seq),
        prev: None,
        batch: None,
        bad_body: None,
        tip_before_bad: None,
        synced_after_bad: Seq(0),
        synced: Seq(0),
        newer: None,
        cut_before: false,
        last: None,
    };
    // Ids are hashed: taken from the next record's `prev` they would always fit it.
    let mut records = SegmentScan::open(disk, &newest.path, offset, u64::MAX)?.hashing();
    let ended = loop {
        match records.step()? {
            Step::Record { offset, record, id } => {
                let from_hint = start.is_some_and(|hint| hint.offset == offset);
                if offset == HEADER_LEN as u64 && !from_hint {
                    let begun = record.parse_head().is_ok_and(|head| head.batch_index() > 0);
                    seen.cut_before = begun && holes.holes()?.touches(origin, first_seq);
                }
                match seen.take(origin, newest, offset, &record, id, from_hint) {
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

    if ended.is_none()
        && seen.batch.is_some()
        && let Some((tip, offset, end)) = seen.last
        && holes.holes()?.at_end(origin, tip.seq).is_some()
    {
        // The rest of the batch is gone: what is there of it counts.
        seen.batch = None;
        seen.tip = Some(TipPlace {
            tip,
            segment: newest.clone(),
            offset,
            end,
            synced: seen.synced,
        });
    }
    let synced_later = match &ended {
        Some((offset, RecordState::FirstCheckBad, _)) => {
            later_synced(disk, &newest.path, offset + 1, origin, seen.expected)?
        }
        _ => Seq(0),
    };
    let best_synced = seen.synced_after_bad.max(synced_later);

    // A payload that is damaged: torn when nothing says that it was durable.
    if let Some((seq, cut, batch_seq)) = seen.bad_body {
        let evidence = evidence_seq >= seq || best_synced >= seq;
        let observation = Observation {
            record: RecordState::SecondCheckBad,
            evidence,
            starts_newest_segment: batch_seq == first_seq,
            ..base
        };
        if !evidence {
            let what = format!("the payload of event {} is not what was written", seq.0);
            let trouble = trouble(&observation, cut, batch_seq, what);
            return Ok(Looked {
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
            evidence: evidence_seq >= seq || best_synced >= seq,
            starts_newest_segment: seen.tip.is_none() && start.is_none(),
            ..base
        };
        return Ok(Looked {
            tip: seen.tip,
            trouble: Some(whole_file_if_begun(trouble(&observation, cut, seq, what))),
        });
    }
    if let Some((offset, seq, what)) = seen.newer.filter(|_| seen.batch.is_none()) {
        let observation = Observation {
            record: RecordState::Newer,
            ..base
        };
        return Ok(Looked {
            tip: seen.tip,
            trouble: Some(trouble(&observation, offset, seq, what)),
        });
    }
    let (cut, seq, what, batch_open) = match seen.batch {
        Some((start, first, have, count)) => (
            start,
            first,
            format!("the last batch has {have} of its {count} events"),
            true,
        ),
        None => {
            let what = format!("the acknowledged event {} is not there", evidence_seq.0);
            (0, seen.expected, what, false)
        }
    };
    let observation = Observation {
        batch_open,
        slot,
        evidence: evidence_seq >= seq,
        record: if !batch_open && seen.tip.is_none() {
            // A header without a first record.
            RecordState::FirstCheckBad
        } else {
            RecordState::Good
        },
        starts_newest_segment: seen.tip.is_none() && start.is_none(),
        ..base
    };
    let found = trouble(&observation, cut, seq, what);
    // An open batch that is all there is of a segment: the segment was never begun.
    let found = match found.case {
        Case::K if seen.tip.is_none() && start.is_none() => Trouble {
            case: Case::D,
            ..found
        },
        _ => found,
    };
    Ok(Looked {
        tip: seen.tip,
        trouble: (found.case != Case::A).then(|| whole_file_if_begun(found)),
    })
}

/// A torn creation takes the whole file, so that no header without a record stays behind.
fn whole_file_if_begun(trouble: Trouble) -> Trouble {
    match trouble.case {
        Case::D => Trouble { cut: 0, ..trouble },
        _ => trouble,
    }
}
