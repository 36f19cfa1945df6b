//! Picks the runs of each chain that a repair keeps: those that hold together, without events that were never
//! acknowledged.

use std::collections::{BTreeMap, BTreeSet};

use super::choose::choose;
use super::salvage::{Run, Salvaged, SourceKind};
use crate::acked::Slot;
use crate::error::Result;
use crate::walk::{Part, origins_of};
use icm_event::facts::{Facts, ImportedRange};
use icm_event::head::PLACE_MAX;
use icm_event::id::{EventId, OriginId, Seq};

/// The role of a chain for this machine.
#[derive(Debug, Clone)]
pub(super) enum Role {
    /// The chain that this machine writes.
    Newest,
    /// A chain that a newer own chain continues from this event.
    Continued(Seq, EventId),
    /// A chain of another machine, with the ranges that were learned of it.
    Foreign(Vec<ImportedRange>),
}

/// The knowledge about a chain from outside of it.
pub(super) struct Known<'a> {
    pub(super) origin: OriginId,
    pub(super) role: Role,
    pub(super) slot: Option<&'a Slot>,
    /// Newest seq of the chain, as an interrupted repair found it.
    pub(super) end: Option<Seq>,
    /// As [`Picked::further`]; found by an interrupted repair.
    pub(super) further: bool,
}

/// The runs that a repair keeps of a chain.
pub(super) struct Picked {
    /// All runs of the chain, cut so that two of them hold the same events or none in common.
    pub(super) pieces: Vec<Run>,
    pub(super) chosen: Vec<Run>,
    /// Events that evidence outside the chain confirms.
    pub(super) anchors: Vec<(Seq, EventId)>,
    /// Newest seq that is known to have been durable.
    pub(super) evidence: Seq,
    /// `true` if spares continue the chain beyond the last event that this store knew of. Another store may then write
    /// under the same origin, for instance the one that this store was restored from.
    pub(super) further: bool,
}

/// Picks the runs of every chain: first of the walked chains, then of the others that are here or were learned.
pub(super) fn pick_all<'a>(
    salvaged: &Salvaged,
    parts: &[Part],
    folders: &[OriginId],
    known: &dyn Fn(OriginId, Role) -> Known<'a>,
) -> Result<Vec<(Picked, Known<'a>)>> {
    let mut picked = Vec::new();
    for part in parts {
        let role = match part.until {
            Some(until) => Role::Continued(until, part.event),
            None => Role::Newest,
        };
        let known = known(part.origin, role);
        picked.push((pick(salvaged, &known)?, known));
    }
    let mut learned: BTreeMap<OriginId, Vec<ImportedRange>> = BTreeMap::new();
    for (taken, known) in &picked {
        for head in salvaged.said_in(&taken.chosen) {
            let walked = match known.role {
                Role::Continued(until, _) => head.seq() <= until,
                _ => true,
            };
            if let (true, Ok(Facts::Imported(facts))) = (walked, Facts::of(&head)) {
                for range in facts.ranges {
                    learned.entry(range.origin).or_default().push(range);
                }
            }
        }
    }
    let own = origins_of(parts);
    let foreign: BTreeSet<OriginId> = (folders.iter().chain(learned.keys()))
        .filter(|origin| !own.contains(origin))
        .copied()
        .collect();
    for origin in foreign {
        let learned = learned.remove(&origin).unwrap_or_default();
        let known = known(origin, Role::Foreign(learned));
        picked.push((pick(salvaged, &known)?, known));
    }
    Ok(picked)
}

/// Picks the runs of one chain.
pub(super) fn pick(salvaged: &Salvaged, known: &Known<'_>) -> Result<Picked> {
    let origin = known.origin;
    let mut anchors: Vec<(Seq, EventId)> = Vec::new();
    anchors.extend(
        known
            .slot
            .filter(|slot| slot.origin == origin)
            .map(|slot| (slot.seq, slot.event)),
    );
    match &known.role {
        Role::Newest => {}
        Role::Continued(seq, event) => anchors.push((*seq, *event)),
        Role::Foreign(learned) => {
            anchors.extend(learned.iter().map(|range| (range.to_seq, range.head)));
        }
    }
    let runs: Vec<Run> = (salvaged.runs.iter())
        .filter(|run| run.origin == origin)
        .cloned()
        .collect();
    let seqs: Vec<Seq> = anchors.iter().map(|(seq, _)| *seq).collect();
    let cuts = cuts(&runs, &seqs);
    let mut pieces = salvaged.cut(runs, &cuts)?;
    let chosen = choose(&pieces, &anchors);
    let mut chosen: Vec<Run> = chosen
        .into_iter()
        .map(|index| pieces[index].clone())
        .collect();

    let names = salvaged.sources.iter().filter_map(|source| source.place);
    let named = names.filter(|place| place.0 == origin);
    let named = named
        .map(|place| place.1.first_seq.0.saturating_sub(1))
        .max();
    let synced = salvaged.synced.iter().find(|it| it.0 == origin);
    let mut evidence = known.end.map_or(0, |end| end.0);
    let slot = known.slot.filter(|slot| slot.origin == origin);
    let slot = slot.map_or(0, |slot| slot.seq.0);
    let mut further = false;
    match &known.role {
        Role::Newest => {
            let synced = synced.map_or(0, |it| it.1.0);
            evidence = evidence.max(slot).max(synced).max(named.unwrap_or(0));
            // Nobody exports an event that is not durable.
            let brought = pieces.iter().filter(|run| {
                let taken = |it: &Run| it.to == run.to && it.last.id == run.last.id;
                run.kind == SourceKind::Spare && chosen.iter().any(taken)
            });
            let brought = brought.map(|run| run.to.0).max().unwrap_or(0);
            further = known.further || (brought > evidence && !reach(&pieces, brought));
            evidence = evidence.max(brought);
            let torn = drop_torn(salvaged, &mut chosen, evidence)?;
            let (ends, cut) = drop_open_batch(salvaged, &mut chosen, evidence)?;
            evidence = evidence.max(ends);
            pieces = salvaged.cut(pieces, &torn)?;
            pieces = salvaged.cut(pieces, &cut)?;
        }
        Role::Continued(until, _) => evidence = evidence.max(until.0).max(slot),
        Role::Foreign(learned) => {
            let learned = learned.iter().map(|range| range.to_seq.0).max();
            evidence = evidence.max(learned.unwrap_or(0));
        }
    }
    Ok(Picked {
        pieces,
        chosen,
        anchors,
        evidence: Seq(evidence.min(PLACE_MAX)),
        further,
    })
}

/// Returns `true` if a segment holds an event of this seq or a later one.
fn reach(pieces: &[Run], seq: u64) -> bool {
    let mut own = pieces.iter().filter(|run| run.kind != SourceKind::Spare);
    own.any(|run| run.to.0 >= seq)
}

/// Drops the events from the first damage on that nothing declares durable: a power cut may lose earlier pages and keep
/// later ones. Returns the seqs at which a run was cut.
fn drop_torn(salvaged: &Salvaged, chosen: &mut Vec<Run>, evidence: u64) -> Result<BTreeSet<Seq>> {
    let (mut next, mut torn) = (1, None);
    for piece in chosen.iter() {
        if next < piece.from.0 && next > evidence {
            torn = Some(next);
            break;
        }
        let mut bodies = piece.damaged_bodies();
        if let Some(body) = bodies.find(|body| body.seq.0 > evidence) {
            torn = Some(
                body.seq
                    .0
                    .saturating_sub(u64::from(body.batch_index))
                    .max(1),
            );
            break;
        }
        next = piece.to.0 + 1;
    }
    let Some(torn) = torn else {
        return Ok(BTreeSet::new());
    };
    chosen.retain(|piece| piece.from.0 < torn);
    let cuts = BTreeSet::from([Seq(torn)]);
    if chosen.last().is_some_and(|piece| piece.to.0 >= torn) {
        let piece = chosen.pop().expect("it was just looked at");
        let cut = salvaged.cut(vec![piece], &cuts)?;
        chosen.extend(cut.into_iter().next());
    }
    Ok(cuts)
}

/// Drops the part of the last batch that was never acknowledged. Returns the end of that batch if part of it was
/// acknowledged (else 0), and the seqs at which a run was cut.
fn drop_open_batch(
    salvaged: &Salvaged,
    chosen: &mut Vec<Run>,
    evidence: u64,
) -> Result<(u64, BTreeSet<Seq>)> {
    while let Some(piece) = chosen.last() {
        let (index, count) = piece.last.batch;
        if index + 1 >= count {
            break;
        }
        let begun = piece.to.0.saturating_sub(u64::from(index)).max(1);
        if evidence >= begun {
            let end = piece.to.0 + u64::from(count - 1 - index);
            return Ok((end, BTreeSet::new()));
        }
        let piece = chosen.pop().expect("it was just looked at");
        if piece.from.0 < begun {
            let cuts = BTreeSet::from([Seq(begun)]);
            let cut = salvaged.cut(vec![piece], &cuts)?;
            chosen.extend(cut.into_iter().next());
            return Ok((0, cuts));
        }
    }
    Ok((0, BTreeSet::new()))
}

/// Returns the first seq of each run and each known event, and the seq after its last.
fn cuts(runs: &[Run], known: &[Seq]) -> BTreeSet<Seq> {
    let mut cuts: BTreeSet<Seq> = runs
        .iter()
        .flat_map(|run| [run.from, Seq(run.to.0 + 1)])
        .collect();
    for seq in known {
        cuts.extend([*seq, Seq(seq.0.saturating_add(1))]);
    }
    cuts
}
