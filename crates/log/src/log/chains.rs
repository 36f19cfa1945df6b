//! The chains of a store, own and foreign.

use super::Log;
use crate::acked;
use crate::cases::Case;
use crate::chain::{self, SegmentFile};
use crate::disk::OpenMode;
use crate::error::{LogError, Result, at};
use crate::layout;
use crate::recover::{self, Examined, Tip};
use crate::walk;
use icm_event::id::{EventId, OriginId, Seq};

impl Log {
    /// Returns the newest event of every chain, own and foreign, sorted by origin. Only whole batches count, and in the
    /// chain that this store writes only events known to be durable.
    pub fn heads(&self) -> Result<Vec<Tip>> {
        let mut heads = Vec::new();
        for origin in chain::origins(&*self.disk, &self.dir)? {
            let slot = acked::read(&*self.disk, &self.dir)?.filter(|slot| slot.origin == origin);
            let examined = self.examined(origin, slot.as_ref())?;
            let Some(mut place) = examined.tip else {
                continue;
            };
            if self.origin() == Some(origin) {
                let held = self.lock_state().hold.durable;
                let slot = slot.map_or(Seq(0), |slot| slot.seq);
                let durable = slot.max(place.synced).max(held);
                if place.tip.seq > durable {
                    match walk::find_seq(&*self.disk, &self.dir, origin, durable, None)? {
                        Some(earlier) => place = earlier,
                        None if durable == Seq(0) => continue,
                        None => {
                            return Err(LogError::Damaged {
                                case: Case::M,
                                file: layout::relative(
                                    &self.dir,
                                    &layout::dir_of(&self.dir, origin),
                                ),
                                seq: durable,
                                offset_bytes: 0,
                                what: format!("the acknowledged event {durable} cannot be reached"),
                            });
                        }
                    }
                }
            }
            heads.push(place.tip);
        }
        Ok(heads)
    }

    /// Examines the end of a chain, own or foreign.
    pub(crate) fn examined(
        &self,
        origin: OriginId,
        slot: Option<&acked::Slot>,
    ) -> Result<Examined> {
        let (own, tip) = {
            let state = self.lock_state();
            let tip = state.tip.as_ref().map(|place| place.tip.event);
            (walk::origins_of(&state.parts), tip)
        };
        recover::examine(&self.explainer(own, tip), origin, slot, None)
    }

    /// Returns the part of the walk that is this chain, if the chain is walked.
    pub(crate) fn part(&self, origin: OriginId) -> Option<walk::Part> {
        let state = self.lock_state();
        state
            .parts
            .iter()
            .find(|part| part.origin == origin)
            .copied()
    }

    /// Returns those segments of a walked chain that belong to this machine's branch.
    pub(crate) fn own_segments(
        &self,
        part: walk::Part,
        all: Vec<SegmentFile>,
    ) -> Result<Vec<SegmentFile>> {
        (self.own_branches).among(&*self.disk, &self.dir, part, all)
    }

    /// Returns `true` if `event` has this seq in the chain.
    pub fn has_event(&self, origin: OriginId, seq: Seq, event: EventId) -> Result<bool> {
        let place = walk::find_seq(&*self.disk, &self.dir, origin, seq, Some(event))?;
        Ok(place.is_some_and(|place| place.tip.event == event))
    }

    /// Returns the total length of all segments in bytes.
    pub fn len_bytes(&self) -> Result<u64> {
        let mut sum = 0;
        for origin in chain::origins(&*self.disk, &self.dir)? {
            for segment in chain::segments(&*self.disk, &self.dir, origin)? {
                let file = self
                    .disk
                    .open(&segment.path, OpenMode::Read)
                    .map_err(at("reading", &segment.path))?;
                sum += file.len().map_err(at("reading", &segment.path))?;
            }
        }
        Ok(sum)
    }
}
