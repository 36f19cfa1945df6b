//! Another store that answers: what each lacks goes over a pair of pipes. See `schemas/sync.md`.

mod call;
mod serve;
mod wire;

use std::collections::BTreeSet;

use icm_log::bundle::ChainRange;
use icm_log::learn::Lacking;
use icm_server::api::{Caller, Progress};
use icm_server::{Result, Service, ServiceError};

use crate::answer::{Reason, Refused, SyncAnswer};
use crate::export::Export;
use crate::{SyncOptions, lock};

pub use call::Peer;
pub use serve::serve;

/// What files are called of which there are none.
const STREAM: &str = "stream";

/// Takes from another store what this one lacks, and gives it what it lacks.
///
/// What came before it was cut off stays, on both sides, and the next time goes on from there.
///
/// # Errors
/// `Invalid` and `Io` where the other side does not answer, or answers that it cannot; as [`crate::sync`] for this one.
pub fn meet(
    service: &Service,
    caller: &Caller,
    peer: &mut Peer<'_>,
    options: SyncOptions,
    progress: &dyn Progress,
) -> Result<SyncAnswer> {
    let _lock = match options.dry_run {
        true => None,
        false => lock::of(service)?,
    };
    let mut answer = SyncAnswer {
        target: peer.name().to_owned(),
        dry_run: options.dry_run,
        machines: 1,
        ..SyncAnswer::default()
    };
    let mut theirs = peer.held()?;
    take(service, caller, peer, &theirs, &mut answer, progress)?;
    if options.dry_run {
        let lacks = Export::all(service, &theirs, progress)?;
        if lacks.events > 0 {
            (answer.sent.events, answer.sent.bytes, answer.sent.files) =
                (lacks.events, lacks.bytes, 1);
        }
        return Ok(answer);
    }
    loop {
        let news = Export::of(service, &theirs, progress)?;
        let exported = &news.exported;
        answer.sent.incomplete = exported
            .incomplete
            .iter()
            .map(|it| it.to_string())
            .collect();
        if exported.events == 0 {
            return Ok(answer);
        }
        let (more, events, bytes) = (exported.more, exported.events, exported.bytes);
        theirs.extend(exported.ranges.iter().copied());
        let import = peer.give(news)?;
        answer.sent.events += events;
        answer.sent.bytes += bytes;
        answer.sent.files += 1;
        let back = [import.later, import.unproven, import.waiting];
        answer.sent.held_back.extend(back.into_iter().flatten());
        if !more {
            return Ok(answer);
        }
    }
}

fn take(
    service: &Service,
    caller: &Caller,
    peer: &mut Peer<'_>,
    theirs: &[ChainRange],
    answer: &mut SyncAnswer,
    progress: &dyn Progress,
) -> Result<()> {
    let Lacking { ranges, waits } = service.lacking(theirs)?;
    if waits && !answer.dry_run {
        // An import that was cut left them: any other learns them.
        let nothing = Export::of_nothing(service, progress)?.into_file()?;
        let import = service.import_log(caller, &nothing, false, progress)?;
        answer.received.add(import);
    }
    if ranges.is_empty() {
        return Ok(());
    }
    if answer.dry_run {
        let counted = peer.count(&service.held_ranges()?)?;
        answer.received.events = counted.events;
        answer.received.bytes = counted.bytes;
        answer.received.files = u64::from(counted.events > 0);
        return Ok(());
    }
    // What was held back is not asked for again, or it would come for ever.
    let mut here: BTreeSet<ChainRange> = service.held_ranges()?.into_iter().collect();
    loop {
        let there: Vec<ChainRange> = here.iter().copied().collect();
        let taken = peer.take(&there)?;
        if taken.head.events == 0 {
            return Ok(());
        }
        here.extend(taken.head.ranges.iter().copied());
        match service.import_log(caller, &taken.file, false, progress) {
            Ok(import) => {
                answer.received.files += 1;
                answer.received.bytes += taken.head.bytes;
                answer.received.add(import);
            }
            Err(ServiceError::DoesNotFit { why, .. }) => answer.not_there.push(Refused {
                writer: peer.name().to_owned(),
                file: STREAM.to_owned(),
                why,
                reason: Reason::Apart,
            }),
            Err(error) => return Err(error),
        }
        if !taken.head.more {
            return Ok(());
        }
    }
}
