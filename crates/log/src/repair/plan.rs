//! Plans one chain: the segment of each record, the bytes to set aside, the lost events.

use std::collections::BTreeMap;

use super::chain_plan::{ChainPlan, Gone};
use super::pick::{Known, Picked, Role};
use super::placement::{key, lay_out, roll};
use super::salvage::{Run, Salvaged};
use crate::error::Result;
use crate::holes::Gap;
use icm_event::facts::Hole;
use icm_event::id::{EventId, Seq};

/// Returns the plan for a chain.
pub(super) fn plan(salvaged: &Salvaged, known: &Known<'_>, picked: Picked) -> Result<ChainPlan> {
    let Picked {
        pieces,
        chosen,
        anchors,
        evidence,
        further,
    } = picked;
    let last = chosen.last().map_or(Seq(0), |piece| piece.to);
    let mut plan = ChainPlan {
        origin: known.origin,
        newest: matches!(known.role, Role::Newest),
        write: Vec::new(),
        remove: Vec::new(),
        aside: Vec::new(),
        gone: Vec::new(),
        end: (evidence > last).then_some(evidence),
        other_branch: false,
        further,
        bodies: BTreeMap::new(),
        refilled: 0,
        last,
    };
    let branches = branches(salvaged, known);
    find_gone(
        salvaged, known, branches, &pieces, &chosen, &anchors, &mut plan,
    );
    let taken = chosen.iter().map(key).collect();
    let chosen = roll(salvaged, chosen)?;
    lay_out(salvaged, branches, &pieces, (&chosen, &taken), &mut plan)?;
    Ok(plan)
}

/// Returns `true` if other branches stay beside the chosen one. True for foreign chains, and for an older own chain
/// whose segment names show a branch.
fn branches(salvaged: &Salvaged, known: &Known<'_>) -> bool {
    let places = salvaged.sources.iter().filter_map(|source| source.place);
    let names = places.filter(|place| place.0 == known.origin);
    let mut firsts: Vec<Seq> = names.map(|place| place.1.first_seq).collect();
    firsts.sort_unstable();
    match known.role {
        Role::Foreign(_) => true,
        Role::Continued(..) => firsts.windows(2).any(|pair| pair[0] == pair[1]),
        Role::Newest => false,
    }
}

/// Finds the places that lack events and that no repair explains.
fn find_gone(
    salvaged: &Salvaged,
    known: &Known<'_>,
    branches: bool,
    pieces: &[Run],
    chosen: &[Run],
    anchors: &[(Seq, EventId)],
    plan: &mut ChainPlan,
) {
    let origin = known.origin;
    let foreign = matches!(known.role, Role::Foreign(_));
    let mut before: Option<&Run> = None;
    for piece in chosen {
        let (last, from) = match before {
            Some(before) => (before.last.id, before.to.0 + 1),
            None => (EventId::ZERO, 1),
        };
        let joined = from == piece.from.0 && last == piece.base;
        // Another branch continues from an event that is there.
        let branches = || branches && pieces.iter().any(|other| other.last.id == piece.base);
        if !joined && !branches() {
            let gap = Gap {
                origin,
                last,
                next: piece.first.id,
                from: Seq(from),
                to: Seq(piece.from.0 - 1),
            };
            if salvaged.explained.explain(&gap).is_none() {
                plan.gone.push(Gone {
                    hole: Hole {
                        origin,
                        last_good: gap.last,
                        next_good: gap.next,
                        from_seq: gap.from,
                        to_seq: gap.to,
                    },
                    after: before.map(|run| run.last),
                    before: Some(piece.first),
                });
            }
        }
        before = Some(piece);
    }
    let at_end = |from: Seq, to: Seq, last: Option<&Run>| Gone {
        hole: Hole {
            origin,
            last_good: last.map_or(EventId::ZERO, |run| run.last.id),
            next_good: EventId::ZERO,
            from_seq: from,
            to_seq: to,
        },
        after: last.map(|run| run.last),
        before: None,
    };
    if let Some(end) = plan.end {
        let from = Seq(plan.last.0 + 1);
        match salvaged.explained.covering(origin, end) {
            Some(_) => plan.end = None,
            None => plan.gone.push(at_end(from, end, before)),
        }
    }
    // Another event may stand in place of an acknowledged or continued one.
    let own = anchors.iter().filter(|_| !foreign);
    for (seq, event) in own.filter(|(seq, _)| *seq <= plan.last) {
        let there = pieces.iter().any(|piece| piece.last.id == *event);
        let held = chosen.iter().any(|piece| piece.last.id == *event);
        let in_hole = |gone: &Gone| gone.hole.from_seq <= *seq && *seq <= gone.hole.to_seq;
        if held
            || plan.gone.iter().any(in_hole)
            || salvaged.explained.covering(origin, *seq).is_some()
        {
            continue;
        }
        debug_assert!(!there, "what was acknowledged is preferred");
        let before = chosen.iter().rfind(|piece| piece.to < *seq);
        if before.map_or(0, |run| run.to.0) + 1 == seq.0 {
            plan.other_branch = true;
            plan.gone.push(at_end(*seq, *seq, before));
        }
    }
    plan.gone
        .sort_by_key(|gone| (gone.hole.from_seq, gone.hole.to_seq));
}
