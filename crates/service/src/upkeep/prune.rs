//! Prune: forgetting faded memories in one command, which one undo takes back.

use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::{Covered, Importance, MemoryPruned};
use icm_log::head::REFS_MAX;
use icm_log::{EventId, Kind, NewEvent, SubjectId};
use icm_projections::fold::{Schedule, Version, day_of};
use icm_projections::{ALL_IDS, Views};

use crate::command::{RequestKeyOf, next_length, plan_name, refuse_other_plan};
use crate::history::pauses::{EventDays, Pause};
use crate::memory::expiry::Expired;
use crate::service::Service;
use crate::snapshot::QueryResult;
use crate::upkeep::decay::{day_text, decimal, share};
use icm_api::error::Result;
use icm_api::ids::id_text;
use icm_api::{Caller, KEPT_AFTER_RECALL_DAYS, PruneAnswer, PruneRequest, PrunedPause};

const DAY_MS: u64 = 86_400_000;
/// Memories that an answer shows unless all are asked for; it counts all of them.
const FIRST: usize = 10;
/// Memories that one event names, few enough to name the newest events of each, too. Raised, the fold would have to
/// look them up, and an undo to search more.
const EVENT_MEMORIES: usize = 256;
const _: () = assert!(EVENT_MEMORIES <= MemoryPruned::COVERS_MAX && EVENT_MEMORIES <= REFS_MAX);

/// A memory that has faded.
struct Faded {
    weight_ppm: u32,
    id: SubjectId,
    causal_length: u32,
    heads: Vec<EventId>,
    importance: Importance,
    created_day: u32,
}

impl Service {
    /// Forgets all faded memories of medium and low importance, or returns the plan of that. Memories of high and
    /// critical importance and pinned ones stay, and so do those that a recall showed in the last
    /// [`KEPT_AFTER_RECALL_DAYS`] days: a recall slows the fading down, and gives no weight back.
    ///
    /// # Errors
    /// `Invalid` for a threshold that is not from 0 to 1; `OtherPlan` if the plan differs from the one that was agreed
    /// to.
    pub fn prune(&self, caller: &Caller, request: &PruneRequest) -> Result<PruneAnswer> {
        let threshold_ppm = match request.threshold {
            Some(threshold) => share("threshold", threshold)?,
            None => self.settings.decay.prune_threshold_ppm,
        };
        if request.dry_run || self.is_empty()? {
            return self.with_views(|views| {
                let (answer, _) = self.prune_plan(views, threshold_ppm, true, request.all)?;
                Ok(answer)
            });
        }
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let (mut answer, mut faded) =
                self.prune_plan(views, threshold_ppm, false, request.all)?;
            refuse_other_plan(request.plan.as_deref(), &answer.plan)?;
            faded.sort_unstable_by_key(|faded| faded.id);
            let chunks = chunks_of(&faded).into_iter();
            let events = chunks.map(|chunk| pruned(threshold_ppm, chunk));
            let appended = command.append_all(views, events)?;
            answer.event = appended.last().map(|last| last.event.to_string());
            answer.position = appended.last().map(|last| last.position.0);
            Ok(answer)
        })
    }

    fn prune_plan(
        &self,
        views: &Views,
        threshold_ppm: u32,
        dry_run: bool,
        all: bool,
    ) -> QueryResult<(PruneAnswer, Vec<Faded>)> {
        let newest = views.tally().position;
        let (mut faded, mut recalled): (Vec<Faded>, u64) = (Vec::new(), 0);
        let now_ms = self.now_ms();
        let since_ms = now_ms.saturating_sub(KEPT_AFTER_RECALL_DAYS * DAY_MS);
        let expired = Expired::now(self, views);
        // Without ticks every weight is the full one.
        if views.tally().ticks > 0 {
            views.each_at(ALL_IDS, newest, false, &mut |entity, version| {
                let fades = version.importance <= Importance::Medium;
                let is_shown = version.is_alive() && !expired.hides(version);
                if is_shown && fades && !version.is_pinned_at(now_ms) {
                    let weight_ppm = views.weight_at(&self.log, entity, version, newest)?;
                    if weight_ppm < threshold_ppm {
                        let (_, last_ms) = views.accesses_at(&self.log, entity, newest)?;
                        match last_ms.is_some_and(|last| last > since_ms) {
                            true => recalled += 1,
                            false => faded.push(Faded::of(version, weight_ppm)),
                        }
                    }
                }
                Ok(true)
            })?;
        }
        expired.checked()?;
        faded.sort_unstable_by_key(|faded| (faded.weight_ppm, faded.id));
        let ids = faded.iter().map(|faded| id_text(faded.id));
        let shown = match all {
            true => faded.len(),
            false => FIRST.min(faded.len()),
        };
        let mut answer = PruneAnswer {
            dry_run,
            plan: String::new(),
            threshold: decimal(threshold_ppm),
            memories: faded.len() as u64,
            ids: ids.collect(),
            first: Vec::with_capacity(shown),
            recalled,
            ahead: self.ticks_ahead(views)?,
            pauses: self.pauses_of(views, &faded, threshold_ppm)?,
            event: None,
            position: None,
        };
        for faded in faded.iter().take(shown) {
            let entity = views.resolve(faded.id)?;
            if let Some(version) = views.version_at(entity, newest)? {
                answer.first.push(self.memory_at(views, &version, newest)?);
            }
        }
        answer.plan = plan_of(threshold_ppm, &faded);
        Ok((answer, faded))
    }

    /// Returns the memories that a pause alone takes below the threshold, by pause. For each the longest since it was
    /// stored counts.
    fn pauses_of(
        &self,
        views: &Views,
        faded: &[Faded],
        threshold_ppm: u32,
    ) -> QueryResult<Vec<PrunedPause>> {
        if faded.is_empty() {
            return Ok(Vec::new());
        }
        let Ok(days) = EventDays::read(&self.log, day_of(self.now_ms())) else {
            // Damage to the log is told elsewhere, and does not prevent a preview.
            return Ok(Vec::new());
        };
        let schedule = views.schedule_at(views.tally().position)?;
        let mut longest: BTreeMap<u32, Option<Pause>> = BTreeMap::new();
        let mut pauses: BTreeMap<Pause, Vec<String>> = BTreeMap::new();
        for faded in faded {
            let since = faded.created_day;
            let pause = *longest
                .entry(since)
                .or_insert_with(|| days.longest_since(since));
            if let Some(pause) =
                pause.filter(|pause| faded.goes_by(*pause, &schedule, threshold_ppm))
            {
                pauses.entry(pause).or_default().push(id_text(faded.id));
            }
        }
        let pauses = pauses.into_iter().map(|(pause, ids)| PrunedPause {
            from: day_text(pause.from_day),
            to: day_text(pause.to_day),
            ids,
        });
        Ok(pauses.collect())
    }
}

impl Faded {
    /// Returns `true` if this pause alone would take the memory below the threshold, and it would stay without the
    /// pause.
    fn goes_by(&self, pause: Pause, schedule: &Schedule, threshold_ppm: u32) -> bool {
        let Some(last_day) = schedule.last_day() else {
            return false;
        };
        let weight_of = |days: u32| {
            let created_day = last_day.saturating_sub(days);
            schedule.weight_ppm(created_day, self.importance, &[])
        };
        let age_days = last_day.saturating_sub(self.created_day);
        weight_of(pause.days()) < threshold_ppm
            && weight_of(age_days.saturating_sub(pause.days())) >= threshold_ppm
    }

    fn of(version: &Version, weight_ppm: u32) -> Faded {
        Faded {
            weight_ppm,
            id: version.id,
            causal_length: next_length(version),
            heads: version.heads().to_vec(),
            importance: version.importance,
            created_day: day_of(version.created_ms),
        }
    }
}

/// Returns a digest that tells one plan from another.
fn plan_of(threshold_ppm: u32, faded: &[Faded]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&threshold_ppm.to_le_bytes());
    let ids: BTreeSet<SubjectId> = faded.iter().map(|faded| faded.id).collect();
    ids.iter().for_each(|id| _ = hasher.update(&id.0));
    plan_name(&hasher.finalize())
}

/// Divides memories into events that have room to name the newest events of each.
fn chunks_of(mut faded: &[Faded]) -> Vec<&[Faded]> {
    let mut chunks = Vec::with_capacity(faded.len() / EVENT_MEMORIES + 1);
    while !faded.is_empty() {
        let mut refs = 0;
        let fits = |faded: &&Faded| {
            refs += faded.heads.len();
            refs <= REFS_MAX
        };
        let len = faded.iter().take(EVENT_MEMORIES).take_while(fits).count();
        let (chunk, rest) = faded.split_at(len.max(1));
        chunks.push(chunk);
        faded = rest;
    }
    chunks
}

fn pruned(threshold_ppm: u32, faded: &[Faded]) -> NewEvent {
    let covers = faded.iter().map(|faded| Covered {
        id: faded.id,
        causal_length: faded.causal_length,
    });
    let facts = MemoryPruned {
        threshold_ppm,
        covers: covers.collect(),
    };
    let heads: BTreeSet<EventId> = faded
        .iter()
        .flat_map(|faded| &faded.heads)
        .copied()
        .collect();
    NewEvent {
        kind: Kind::MEMORY_PRUNED,
        subject: SubjectId::ZERO,
        refs: heads.into_iter().take(REFS_MAX).collect(),
        facts: facts.encode(),
        payload: icm_log::payload::encode(&icm_log::payload::Nothing {}),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::service::tests::{service_at, store};
    use icm_api::{DecayRequest, RecallRequest};

    #[test]
    fn what_was_recalled_lately_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let (clock, service) = service_at(folder.path());
        store(&service, "quorl");
        store(&service, "vimble");
        let pass = |days: u64| {
            clock.0.fetch_add(days * DAY_MS, Ordering::Relaxed);
            let ticked = service.decay(&Caller::default(), &DecayRequest::default());
            ticked.expect("it ticks");
        };
        let plan = || {
            let request = PruneRequest {
                dry_run: true,
                ..PruneRequest::default()
            };
            let answer = service.prune(&Caller::default(), &request);
            let answer = answer.expect("a plan");
            (answer.memories, answer.recalled)
        };
        pass(100);
        assert_eq!(plan(), (2, 0));
        let request = RecallRequest {
            query: "quorl".to_owned(),
            limit: Some(1),
            record: true,
            ..RecallRequest::default()
        };
        let shown = service.recall(&Caller::default(), &request);
        assert_eq!(shown.expect("an answer").results.len(), 1);
        service.record_recalls();
        assert_eq!(plan(), (1, 1));
        pass(29);
        assert_eq!(plan(), (1, 1));
        pass(2);
        assert_eq!(plan(), (2, 0));
    }

    #[test]
    fn a_pinned_memory_stays_until_the_pin_runs_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let (clock, service) = service_at(folder.path());
        store(&service, "quorl");
        let plan = || {
            let request = PruneRequest {
                dry_run: true,
                ..PruneRequest::default()
            };
            let answer = service.prune(&Caller::default(), &request);
            answer.expect("a plan").ids
        };
        let pass = |days: u64| {
            clock.0.fetch_add(days * DAY_MS, Ordering::Relaxed);
            let ticked = service.decay(&Caller::default(), &DecayRequest::default());
            ticked.expect("it ticks");
        };
        pass(100);
        let ids = plan();
        assert_eq!(ids.len(), 1);
        let until_ms = clock.0.load(Ordering::Relaxed) + 7 * DAY_MS;
        let pinned = service.pin(&Caller::default(), &ids, Some(until_ms));
        pinned.expect("it pins");
        assert_eq!(plan(), Vec::<String>::new());
        pass(8);
        assert_eq!(plan(), ids);
    }
}
