//! The chains that a walk goes through, each carrying on from the one before.

use std::path::Path;

use crate::chain;
use crate::disk::Disk;
use crate::error::Result;
use crate::scan::read_one;
use crate::store_file::StoreFile;
use icm_event::facts::{Continues, Facts};
use icm_event::id::{EventId, OriginId, Seq, Time};
use icm_event::segment::HEADER_LEN;

/// A chain of the walk, and where it ends when another one carries on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) origin: OriginId,
    pub(crate) until: Option<Seq>,
    /// The event there; zero when nothing carries on.
    pub(crate) event: EventId,
}

/// The chains that the walk of `origin` goes through, oldest first; `known` may say what their first
/// events no longer do.
pub(crate) fn parts(
    disk: &dyn Disk,
    store: &Path,
    origin: OriginId,
    known: Option<&StoreFile>,
) -> Result<Vec<Part>> {
    // What the first event of a chain says counts; where that is lost, what was noted of it.
    parts_by(origin, &mut |origin| {
        let said = continued_by(disk, store, origin)?;
        Ok(said.or_else(|| known.and_then(|known| known.noted(origin))))
    })
}

/// The same, by what somebody else knows each chain to carry on from.
pub(crate) fn parts_by(
    origin: OriginId,
    continued: &mut dyn FnMut(OriginId) -> Result<Option<Continues>>,
) -> Result<Vec<Part>> {
    let mut parts = vec![Part {
        origin,
        until: None,
        event: EventId::ZERO,
    }];
    let mut next = continued(origin)?;
    while let Some(continues) = next {
        if parts.iter().any(|part| part.origin == continues.origin) {
            break;
        }
        parts.push(Part {
            origin: continues.origin,
            until: Some(continues.seq),
            event: continues.event,
        });
        next = continued(continues.origin)?;
    }
    parts.reverse();
    Ok(parts)
}

/// The origins of chains, in their order.
pub(crate) fn origins_of(parts: &[Part]) -> Vec<OriginId> {
    parts.iter().map(|part| part.origin).collect()
}

fn continued_by(disk: &dyn Disk, store: &Path, origin: OriginId) -> Result<Option<Continues>> {
    let segments = chain::segments(disk, store, origin)?;
    let Some(first) = segments
        .first()
        .filter(|segment| segment.name.first_seq == Seq(1))
    else {
        return Ok(None);
    };
    let continues = read_one(disk, &first.path, HEADER_LEN as u64, |record| {
        let head = record.parse_head().ok()?;
        match Facts::of(&head) {
            Ok(Facts::OriginStarted(facts)) => facts.continues,
            _ => None,
        }
    })?;
    Ok(continues.flatten())
}

/// The chain that no other one continues; of several the one with the latest first event.
pub(crate) fn newest_origin(disk: &dyn Disk, store: &Path) -> Result<Option<OriginId>> {
    let origins = chain::origins(disk, store)?;
    let mut continued = Vec::new();
    for origin in &origins {
        continued.extend(continued_by(disk, store, *origin)?.map(|continues| continues.origin));
    }
    let mut best: Option<(Time, OriginId)> = None;
    for origin in origins
        .into_iter()
        .filter(|origin| !continued.contains(origin))
    {
        let segments = chain::segments(disk, store, origin)?;
        let Some(first) = segments.first() else {
            continue;
        };
        let time = read_one(disk, &first.path, HEADER_LEN as u64, |record| {
            record.common().time
        })?;
        best = best.max(time.map(|time| (time, origin)));
    }
    Ok(best.map(|(_, origin)| origin))
}
