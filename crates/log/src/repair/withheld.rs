//! Finds payloads that are withheld although no known redaction names their event.
//!
//! If a segment of this store lost the payload, the redaction itself is lost. The repair appends it again, so that no
//! export restores the text. A payload that is missing in a spare is merely lost: the exporting store had it damaged,
//! and an import may restore it. Events of other machines can be either. They are reported if events are lost that may
//! have been a redaction.

use std::collections::{BTreeMap, BTreeSet};

use super::pick::{Known, Picked, Role};
use super::salvage::{NoBody, Run, Salvaged, SourceKind};
use crate::error::Result;
use crate::redacted::Redactions;
use crate::scan::Step;
use icm_event::head::Head;
use icm_event::id::{EventId, OriginId, Seq};
use icm_event::record::Body;

/// Unexplained events without a payload, in the order of their chains.
#[derive(Debug, Default)]
pub(super) struct Withheld {
    pub(super) redacted: Vec<(OriginId, NoBody)>,
    pub(super) gone: Vec<(OriginId, NoBody)>,
    /// Events of other machines.
    pub(super) unexplained: Vec<(OriginId, NoBody)>,
}

/// The reason for which a payload is missing.
#[derive(Debug, Clone, Copy)]
enum Why {
    Redacted,
    Gone,
    Unexplained,
}

/// Finds these events among the chosen runs. `damaged` names payloads that an interrupted repair took out.
pub(super) fn find(
    salvaged: &Salvaged,
    picked: &[(Picked, Known<'_>)],
    redactions: &Redactions,
    own: &[OriginId],
    damaged: &BTreeSet<EventId>,
) -> Result<Withheld> {
    let said = &salvaged.explained.payloads;
    let bodies = picked.iter().flat_map(|(taken, known)| {
        let is_own = own.contains(&known.origin);
        // Events after the place from which a newer chain continues were learned.
        let until = match known.role {
            Role::Continued(until, _) => until,
            _ => Seq(u64::MAX),
        };
        taken.chosen.iter().flat_map(move |run| {
            let withheld = run.no_bodies.iter().filter(move |body| body.seq <= until);
            withheld.map(move |body| {
                // An event within an explained hole came from elsewhere, too.
                let covered = salvaged.explained.covering(known.origin, body.seq);
                let what = match (is_own, run.kind == SourceKind::Spare || covered.is_some()) {
                    (false, _) => Why::Unexplained,
                    (true, true) => Why::Gone,
                    (true, false) => Why::Redacted,
                };
                (known.origin, *body, what)
            })
        })
    });
    let unsaid = |body: &NoBody| {
        body.withheld && !said.contains_key(&body.id) && !damaged.contains(&body.id)
    };
    let mut left: BTreeMap<EventId, (OriginId, NoBody, Why)> = bodies
        .filter(|(_, body, _)| unsaid(body))
        .map(|found| (found.1.id, found))
        .collect();
    let mut found = Withheld::default();
    if left.is_empty() {
        return Ok(found);
    }
    let unsaid = |run: &Run| run.no_bodies.iter().any(unsaid);
    each_redacted(salvaged, picked, redactions, unsaid, &mut |_, _, id| {
        left.remove(&id);
    })?;
    let mut left: Vec<_> = left.into_values().collect();
    left.sort_unstable_by_key(|(origin, body, _)| (*origin, body.seq, body.id));
    for (origin, body, why) in left {
        match why {
            Why::Redacted => found.redacted.push((origin, body)),
            Why::Gone => found.gone.push((origin, body)),
            Why::Unexplained => found.unexplained.push((origin, body)),
        }
    }
    Ok(found)
}

/// Removes the payloads that a redaction names from those declared lost, so that they do not come back.
pub(super) fn drop_redacted(
    salvaged: &mut Salvaged,
    picked: &[(Picked, Known<'_>)],
    redactions: &Redactions,
) -> Result<()> {
    let mut said = std::mem::take(&mut salvaged.explained.payloads);
    if !said.is_empty() {
        let withheld = |run: &Run| run.no_bodies.iter().any(|body| body.withheld);
        each_redacted(salvaged, picked, redactions, withheld, &mut |_, _, id| {
            said.remove(&id);
        })?;
    }
    salvaged.explained.payloads = said;
    Ok(())
}

/// Returns the events of this store's files that still have their body, although a redaction among the chosen runs
/// names them.
pub(super) fn losing(
    salvaged: &Salvaged,
    picked: &[(Picked, Known<'_>)],
    redactions: &Redactions,
) -> Result<Vec<(OriginId, NoBody)>> {
    let mut losing = Vec::new();
    let held = |run: &Run| run.kind != SourceKind::Spare;
    each_redacted(salvaged, picked, redactions, held, &mut |at, head, id| {
        let (start, end, body) = at;
        if body.payload().is_some() {
            let named = NoBody {
                seq: head.seq(),
                id,
                position: head.position(),
                time: head.time(),
                kind: head.kind(),
                subject: head.subject(),
                batch_index: head.batch_index(),
                start,
                end,
                withheld: true,
            };
            losing.push((head.origin(), named));
        }
    })?;
    Ok(losing)
}

/// Returns the redactions among the chosen runs.
pub(super) fn redactions(
    salvaged: &Salvaged,
    picked: &[(Picked, Known<'_>)],
) -> Result<Redactions> {
    let mut redactions = Redactions::default();
    // Most logs have no redaction and are not read again.
    if salvaged.redacts {
        for run in picked.iter().flat_map(|(taken, _)| &taken.chosen) {
            heads(salvaged, run, &mut |_, head, _| redactions.note(head))?;
        }
    }
    redactions.settle();
    Ok(redactions)
}

/// Hands out the events that a redaction names, of the runs that `fits` accepts.
fn each_redacted(
    salvaged: &Salvaged,
    picked: &[(Picked, Known<'_>)],
    redactions: &Redactions,
    fits: impl Fn(&Run) -> bool,
    then: &mut dyn FnMut(At<'_>, &Head<'_>, EventId),
) -> Result<()> {
    if redactions.is_empty() {
        return Ok(());
    }
    let runs = picked.iter().flat_map(|(taken, _)| &taken.chosen);
    for run in runs.filter(|run| fits(run)) {
        heads(salvaged, run, &mut |at, head, id| {
            if redactions.names(head, id) {
                then(at, head, id);
            }
        })?;
    }
    Ok(())
}

/// Start and end of a record, and its body.
type At<'r> = (u64, u64, Body<'r>);

fn heads(
    salvaged: &Salvaged,
    run: &Run,
    then: &mut dyn FnMut(At<'_>, &Head<'_>, EventId),
) -> Result<()> {
    let mut scan = salvaged.sources[run.source].scan(run.start, run.end);
    while let Step::Record { offset, record, id } = scan.step()? {
        if let Ok(head) = record.parse_head() {
            let end = offset + record.bytes.len() as u64;
            then((offset, end, record.body), &head, id);
        }
    }
    Ok(())
}
