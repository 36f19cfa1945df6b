//! Payloads of own events that are not there, although nothing that is left says why. Where one was
//! taken out of a segment here, the redaction is gone: it is said again, so that no export brings the
//! text back. One that comes from elsewhere without its payload is only gone: whoever exported it had
//! it damaged, and an import may bring it.

use std::collections::{BTreeMap, BTreeSet};

use super::pick::{Known, Picked, Role};
use super::salvage::{NoBody, Run, Salvaged, SourceKind};
use crate::error::Result;
use crate::head::Head;
use crate::id::{EventId, OriginId, Seq};
use crate::redacted::Redactions;
use crate::scan::Step;

/// Such events of a chain, in its order.
#[derive(Debug, Default)]
pub(super) struct Withheld {
    pub(super) redacted: Vec<(OriginId, NoBody)>,
    pub(super) gone: Vec<(OriginId, NoBody)>,
}

/// Finds them among what is taken of the own chains. `damaged` are payloads that a repair that was
/// begun took out.
pub(super) fn find(
    salvaged: &Salvaged,
    picked: &[(Picked, Known<'_>)],
    own: &[OriginId],
    damaged: &BTreeSet<EventId>,
) -> Result<Withheld> {
    let said = &salvaged.explained.payloads;
    let of_own = picked
        .iter()
        .filter(|(_, known)| own.contains(&known.origin));
    let bodies = of_own.flat_map(|(taken, known)| {
        let bodies = taken.chosen.iter().flat_map(|run| {
            let brought = run.kind == SourceKind::Spare;
            run.no_bodies.iter().map(move |body| (body, brought))
        });
        // What is beyond the place where a newer chain carries on was learned.
        let until = match known.role {
            Role::Continued(until, _) => until,
            _ => Seq(u64::MAX),
        };
        let walked = bodies.filter(move |(body, _)| body.seq <= until);
        walked.map(|(body, brought)| {
            // What was lost before came from elsewhere, too.
            let covered = salvaged.explained.covering(known.origin, body.seq);
            (known.origin, *body, brought || covered.is_some())
        })
    });
    let unsaid = |body: &NoBody| {
        body.withheld && !said.contains_key(&body.id) && !damaged.contains(&body.id)
    };
    let mut left: BTreeMap<EventId, (OriginId, NoBody, bool)> = bodies
        .filter(|(_, body, _)| unsaid(body))
        .map(|found| (found.1.id, found))
        .collect();
    let mut found = Withheld::default();
    if left.is_empty() {
        return Ok(found);
    }
    let mut redactions = Redactions::default();
    let runs = || picked.iter().flat_map(|(taken, _)| &taken.chosen);
    for run in runs() {
        heads(salvaged, run, &mut |head, _| redactions.note(head))?;
    }
    redactions.settle();
    for run in runs().filter(|run| run.no_bodies.iter().any(unsaid)) {
        heads(salvaged, run, &mut |head, id| {
            if redactions.names(head, id) {
                left.remove(&id);
            }
        })?;
    }
    let mut left: Vec<_> = left.into_values().collect();
    left.sort_unstable_by_key(|(origin, body, _)| (*origin, body.seq, body.id));
    for (origin, body, brought) in left {
        match brought {
            true => found.gone.push((origin, body)),
            false => found.redacted.push((origin, body)),
        }
    }
    Ok(found)
}

fn heads(salvaged: &Salvaged, run: &Run, then: &mut dyn FnMut(&Head<'_>, EventId)) -> Result<()> {
    let mut scan = salvaged.sources[run.source].scan(run.start, run.end);
    while let Step::Record { record, id, .. } = scan.step()? {
        if let Ok(head) = record.parse_head() {
            then(&head, id);
        }
    }
    Ok(())
}
