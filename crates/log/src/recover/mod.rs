//! Examines the end of a chain: the end of its last whole batch, and the row of the case table for the bytes after it.
//!
//! Only reads; the writer acts on the result.

mod evidence;
mod gap;
mod hint;
mod newest;
mod seen;
mod tip;

use std::path::PathBuf;

use crate::acked::Slot;
use crate::cases::{Case, SlotState};
use crate::chain::{self, SegmentFile};
use crate::error::Result;
use crate::holes::Explainer;
use crate::layout;
use icm_event::id::{OriginId, Seq};
use icm_event::kind::Kind;

use gap::gap_between;
use hint::{Hint, find_slot, holds};
use newest::{NewestEnd, look};

pub(crate) use evidence::find;
pub use tip::Tip;
pub(crate) use tip::{TipPlace, tip_of};

/// The bytes after the tip that are not a whole batch, and their case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) case: Case,
    pub(crate) file: PathBuf,
    /// Offset from which the file is not part of the chain; 0 for the whole file.
    pub(crate) cut: u64,
    /// Seq of the first event that cannot be trusted.
    pub(crate) seq: Seq,
    pub(crate) what: String,
}

/// The result of examining the end of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Examined {
    pub(crate) tip: Option<TipPlace>,
    pub(crate) trouble: Option<Trouble>,
    /// Place at which the slot's event was found: first seq of the segment, and offset.
    pub(crate) slot_place: Option<(Seq, u64)>,
    /// All segments of the chain.
    pub(crate) segments: Vec<SegmentFile>,
}

/// Examines the end of this machine's chain `origin`. Reads only the events after the `known` place, or after the
/// slot's event if it is where the slot says. Looks for explanations only if there is a gap.
pub(crate) fn examine(
    holes: &Explainer<'_>,
    origin: OriginId,
    slot: Option<&Slot>,
    known: Option<&TipPlace>,
) -> Result<Examined> {
    let (disk, store) = (holes.disk, holes.store);
    let slot = slot.filter(|slot| slot.origin == origin);
    let all = chain::segments(disk, store, origin)?;
    let mut segments = all.clone();
    let mut start = match slot {
        Some(slot) => find_slot(disk, &segments, slot)?,
        None => None,
    };
    let slot_start = start;
    let slot_place = start.map(|hint| (hint.segment, hint.offset));
    let slot_present = start.is_some();
    if let Some(known) = known {
        let hint = Hint::from(known);
        if start.is_none_or(|start| start.seq < hint.seq) && holds(disk, &segments, &hint)? {
            start = Some(hint);
        }
    }
    let slot_state = match (slot, slot_present) {
        (None, _) => SlotState::None,
        (Some(_), true) => SlotState::Present,
        // A repair declared the acknowledged event lost.
        (Some(slot), false) if holes.holes()?.covering(origin, slot.seq).is_some() => {
            SlotState::None
        }
        (Some(_), false) => SlotState::Missing,
    };
    let mut evidence_seq = slot.map_or(Seq(0), |slot| slot.seq);
    let gap = gap_between(holes, origin, &segments)?;
    let mut hidden: Option<Trouble> = None;
    loop {
        let Some(newest) = segments.last().cloned() else {
            let missing = slot_state == SlotState::Missing && hidden.is_none();
            let trouble = missing.then(|| Trouble {
                case: Case::M,
                file: layout::relative(store, &layout::dir_of(store, origin)),
                cut: 0,
                seq: Seq(1),
                what: format!("the acknowledged event {} is not there", evidence_seq.0),
            });
            return Ok(Examined {
                tip: None,
                trouble: gap.or(hidden).or(trouble),
                slot_place,
                segments: all,
            });
        };
        let look_from = |start| look(holes, origin, &newest, evidence_seq, slot_state, start);
        let mut looked = look_from(start)?;
        for earlier in [slot_start, None] {
            // The event at which reading started may be the damaged one.
            if looked.tip.is_none() && start.is_some() {
                start = earlier;
                looked = look_from(start)?;
            }
        }
        match looked {
            NewestEnd {
                tip: None,
                trouble: Some(trouble),
            } if trouble.case == Case::D => {
                segments.pop();
                // A segment is created only after all events before it are durable.
                evidence_seq = evidence_seq.max(Seq(trouble.seq.0.saturating_sub(1)));
                hidden = Some(trouble);
            }
            NewestEnd { tip, trouble } => {
                let cut_short = hidden.as_ref().filter(|hidden| {
                    let end = tip.as_ref().map_or(0, |place| place.tip.seq.0);
                    end.saturating_add(1) != hidden.seq.0
                });
                let gap = gap.or(cut_short.map(|hidden| Trouble {
                    case: Case::E,
                    what: "events are missing before this segment".to_owned(),
                    ..hidden.clone()
                }));
                let newer = trouble.as_ref().is_some_and(|found| found.case == Case::G);
                let trouble = match (newer, gap) {
                    (false, Some(gap)) => Some(gap),
                    _ => trouble.or(hidden),
                };
                return Ok(Examined {
                    tip,
                    trouble,
                    slot_place,
                    segments: all,
                });
            }
        }
    }
}

/// Returns the message that a kind needs a newer version.
pub(crate) fn newer_kind(kind: Kind, version: u16) -> String {
    format!(
        "{} version {version} is newer than this version of icm",
        kind.name()
    )
}
