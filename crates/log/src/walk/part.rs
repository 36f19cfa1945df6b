//! The parts of a walk: chains that continue one another.

use std::path::Path;

use crate::chain;
use crate::disk::Disk;
use crate::error::Result;
use crate::scan::read_one;
use crate::store_file::StoreFile;
use icm_event::facts::{Continues, Facts};
use icm_event::id::{EventId, OriginId, Seq, Time};
use icm_event::segment::HEADER_LEN;

/// A chain of the walk, and its end if another chain continues it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) origin: OriginId,
    pub(crate) until: Option<Seq>,
    /// Id of the event at that end; zero if no chain continues this one.
    pub(crate) event: EventId,
}

/// Returns the parts of the walk of `origin`, oldest first. `known` replaces the first events of chains that are lost.
pub(crate) fn parts(
    disk: &dyn Disk,
    store: &Path,
    origin: OriginId,
    known: Option<&StoreFile>,
) -> Result<Vec<Part>> {
    // The first event of a chain counts; if it is lost, the note in `store.toml` does.
    parts_by(origin, &mut |origin| {
        let said = continued_by(disk, store, origin)?;
        Ok(said.or_else(|| known.and_then(|known| known.noted(origin))))
    })
}

/// Returns the parts of the walk of `origin`. `continued` returns the place from which a chain continues another.
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

/// Returns the origins of the parts, in the same order.
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

/// Returns the chain that no other continues; the one with the latest first event if there are several.
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
