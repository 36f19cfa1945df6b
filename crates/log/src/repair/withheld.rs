//! Payloads that were taken out although nothing that is left says why: the redaction is gone. It is
//! said again, so that no export brings the text back.

use std::collections::{BTreeMap, BTreeSet};

use super::pick::{Known, Picked};
use super::salvage::{NoBody, Run, Salvaged};
use crate::error::Result;
use crate::head::Head;
use crate::id::{EventId, OriginId};
use crate::redacted::Redactions;
use crate::scan::Step;

/// Such events, by chain, in its order.
pub(super) type Withheld = Vec<(OriginId, NoBody)>;

/// Finds them among what is taken. `damaged` are payloads that a repair that was begun took out.
pub(super) fn find(
    salvaged: &Salvaged,
    picked: &[(Picked, Known<'_>)],
    damaged: &BTreeSet<EventId>,
) -> Result<Withheld> {
    let said = &salvaged.explained.payloads;
    let bodies = picked.iter().flat_map(|(taken, known)| {
        let bodies = taken.chosen.iter().flat_map(|run| &run.no_bodies);
        bodies.map(|body| (known.origin, *body))
    });
    let unsaid = |body: &NoBody| {
        body.withheld && !said.contains_key(&body.id) && !damaged.contains(&body.id)
    };
    let open: Withheld = bodies.filter(|(_, body)| unsaid(body)).collect();
    if open.is_empty() {
        return Ok(open);
    }
    let mut redactions = Redactions::default();
    let runs = || picked.iter().flat_map(|(taken, _)| &taken.chosen);
    for run in runs() {
        heads(salvaged, run, &mut |head, _| redactions.note(head))?;
    }
    redactions.settle();
    let mut left: BTreeMap<EventId, (OriginId, NoBody)> = open
        .iter()
        .map(|(origin, body)| (body.id, (*origin, *body)))
        .collect();
    for run in runs().filter(|run| run.no_bodies.iter().any(unsaid)) {
        heads(salvaged, run, &mut |head, id| {
            if redactions.names(head, id) {
                left.remove(&id);
            }
        })?;
    }
    let mut left: Withheld = left.into_values().collect();
    left.sort_unstable_by_key(|(origin, body)| (*origin, body.seq, body.id));
    Ok(left)
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
