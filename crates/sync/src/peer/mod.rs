//! A sync with another running store: each side sends the other the events it lacks, over a pair of pipes. The protocol
//! is in `schemas/sync.md`.

mod call;
mod serve;
mod wire;

use std::collections::BTreeSet;

use icm_api::error::{Result, ServiceError};
use icm_api::{Caller, ChainPlace, LogImportAnswer, Progress};
use icm_log::bundle::ChainRange;
use icm_log::learn::Lacking;
use icm_service::Service;

use crate::answer::SyncAnswer;
use crate::export::Export;
use crate::refused::{Reason, Refused};
use crate::{SyncOptions, lock};

use wire::Given;

pub use call::Peer;
pub use serve::serve;

/// File name in the answer for a bundle that came through a pipe.
const STREAM: &str = "stream";

/// Takes from another store the events that this store lacks, and gives it the events that it lacks.
///
/// After an interruption both sides keep the events received so far, and the next sync continues from there.
///
/// # Errors
/// `Invalid` and `Io` if the other side does not answer, or reports an error; as [`crate::sync`] for this store.
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
    let theirs = peer.held()?;
    take(
        service,
        caller,
        peer,
        &theirs,
        &mut answer,
        options,
        progress,
    )?;
    if options.dry_run {
        let lacks = Export::all(service, &theirs, progress)?;
        if lacks.events > 0 {
            (answer.sent.events, answer.sent.bytes, answer.sent.files) =
                (lacks.events, lacks.bytes, 1);
        }
        return Ok(answer);
    }
    let mut round = give(service, peer, theirs, &mut answer, options, progress)?;
    answer.sent.events = round.events;
    // Events that were held back may have needed events sent after them.
    while round.is_open() && round.taken > 0 {
        let theirs = peer.held()?;
        round = give(service, peer, theirs, &mut answer, options, progress)?;
    }
    answer.sent.held_back = round.held_back;
    answer.not_there.extend(round.apart);
    Ok(answer)
}

/// The results of sending bundles to the other side.
#[derive(Default)]
struct Round {
    /// Events sent.
    events: u64,
    /// Events that the other side added.
    taken: u64,
    held_back: Vec<ChainPlace>,
    /// Bundles refused because they go on from events that the other side lacks.
    apart: Vec<Refused>,
}

impl Round {
    fn add(&mut self, import: LogImportAnswer) {
        self.taken += import.added + import.refilled_events;
        let back = [import.later, import.unproven, import.waiting];
        self.held_back.extend(back.into_iter().flatten());
    }

    /// Returns `true` if the other side left events out.
    fn is_open(&self) -> bool {
        !self.held_back.is_empty() || !self.apart.is_empty()
    }
}

/// Gives the other store the events that it lacks.
fn give(
    service: &Service,
    peer: &mut Peer<'_>,
    mut theirs: Vec<ChainRange>,
    answer: &mut SyncAnswer,
    options: SyncOptions,
    progress: &dyn Progress,
) -> Result<Round> {
    let mut round = Round::default();
    loop {
        let news = Export::of(service, &theirs, options.bundle_len, progress)?;
        let exported = &news.exported;
        answer.sent.incomplete = exported
            .incomplete
            .iter()
            .map(|it| it.to_string())
            .collect();
        if exported.events == 0 {
            return Ok(round);
        }
        let more = exported.more;
        round.events += exported.events;
        answer.sent.bytes += exported.bytes;
        answer.sent.files += 1;
        theirs.extend(exported.ranges.iter().copied());
        match peer.give(news)? {
            Given::Taken(import) => round.add(*import),
            Given::Apart { why } => round.apart.push(apart(peer, why)),
        }
        if !more {
            return Ok(round);
        }
    }
}

fn apart(peer: &Peer<'_>, why: String) -> Refused {
    Refused {
        writer: peer.name().to_owned(),
        file: STREAM.to_owned(),
        why,
        reason: Reason::Apart,
    }
}

fn take(
    service: &Service,
    caller: &Caller,
    peer: &mut Peer<'_>,
    theirs: &[ChainRange],
    answer: &mut SyncAnswer,
    options: SyncOptions,
    progress: &dyn Progress,
) -> Result<()> {
    loop {
        let before = answer.received.events;
        answer.received.held_back.clear();
        answer.not_there.clear();
        take_once(service, caller, peer, theirs, answer, options, progress)?;
        // Events that were held back may have needed events that came after them.
        let is_settled = answer.received.held_back.is_empty() && answer.not_there.is_empty();
        if answer.dry_run || is_settled || answer.received.events == before {
            return Ok(());
        }
    }
}

fn take_once(
    service: &Service,
    caller: &Caller,
    peer: &mut Peer<'_>,
    theirs: &[ChainRange],
    answer: &mut SyncAnswer,
    options: SyncOptions,
    progress: &dyn Progress,
) -> Result<()> {
    let Lacking { ranges, waits } = service.lacking(theirs)?;
    if waits && !answer.dry_run {
        // An interrupted import left events unlearned; any import learns them, even an empty one.
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
    // Events that were held back are not asked for again: the loop would never end.
    let mut here: BTreeSet<ChainRange> = service.held_ranges()?.into_iter().collect();
    loop {
        let there: Vec<ChainRange> = here.iter().copied().collect();
        let taken = peer.take(&there, options.bundle_len)?;
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
            Err(ServiceError::DoesNotFit { why, .. }) => answer.not_there.push(apart(peer, why)),
            Err(error) => return Err(error),
        }
        if !taken.head.more {
            return Ok(());
        }
    }
}
