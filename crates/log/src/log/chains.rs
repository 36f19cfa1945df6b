//! The chains under a store, own and foreign.

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
    /// The newest event of every chain under the store, own and foreign, as far as whole batches
    /// reach and, for the chain that is written here, as far as it is known to be durable; sorted by
    /// origin.
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

    /// The end of a chain, own or foreign.
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

    /// How a chain is walked, if it is.
    pub(crate) fn part(&self, origin: OriginId) -> Option<walk::Part> {
        let state = self.lock_state();
        state
            .parts
            .iter()
            .find(|part| part.origin == origin)
            .copied()
    }

    /// Of all segments of a walked chain those of this machine's branch.
    pub(crate) fn own_segments(
        &self,
        part: walk::Part,
        all: Vec<SegmentFile>,
    ) -> Result<Vec<SegmentFile>> {
        (self.own_branches).among(&*self.disk, &self.dir, part, all)
    }

    /// Whether an event is at a place of a chain.
    pub fn has_event(&self, origin: OriginId, seq: Seq, event: EventId) -> Result<bool> {
        let place = walk::find_seq(&*self.disk, &self.dir, origin, seq, Some(event))?;
        Ok(place.is_some_and(|place| place.tip.event == event))
    }

    /// Bytes of all segments.
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
