//! Repairs a log: sets damaged bytes aside, keeps valid events, and names the lost ones.
//!
//! A chain is read for every whole record, in any file ([`salvage`]). One way through records that contradict each
//! other is chosen ([`choose`], [`pick`]). Its events are laid out in segments, with holes only between segments
//! ([`plan`], [`placement`]). Then files are changed ([`apply`]): new files are whole before old ones are removed. A
//! repair that was killed therefore finds all its input, and the next one comes to the same end. Last, a `log.repaired`
//! names the lost events.

mod apply;
mod chain_plan;
mod choose;
mod marker;
mod pick;
mod placement;
mod plan;
mod report;
mod salvage;
mod text_mode;
mod withheld;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::acked;
use crate::chain;
use crate::disk;
use crate::env::Env;
use crate::error::{LogError, Result, at};
use crate::holes::Holes;
use crate::layout;
use crate::log::{Log, Refusal};
use crate::strays::{self, Stray};
use crate::walk;
use crate::writer::{Appended, Batch, NewEvent, Writer, actor_named};
use icm_event::facts::{Hole, LogRedacted, LogRepaired};
use icm_event::head::REFS_MAX;
use icm_event::id::{ActorId, EventId, OriginId, Seq, SubjectId};
use icm_event::kind::Kind;
use icm_event::payload;
use icm_event::segment::HEADER_LEN;

use chain_plan::ChainPlan;
use marker::Marker;
use pick::Known;
use salvage::{NoBody, Salvaged, Source, SourceKind};
use withheld::Withheld;

pub use report::{Beside, Gone, PayloadGone, Report, SetAside, Spare};

/// Most `log.repaired` events of a batch. Each may have as many facts and refs as an event can. Raised, a batch could
/// exceed its ceiling in bytes.
const BATCH_MAX: usize = 64;

/// The work of a repair.
struct Plan {
    salvaged: Salvaged,
    chains: Vec<ChainPlan>,
    /// Events whose payload is lost, and no earlier repair says so.
    payloads: BTreeSet<EventId>,
    /// Events whose payload was taken out by a redaction that is lost.
    redacted: Vec<EventId>,
    /// Whole events that are blanked after the repair: the proof that their author knew of a redaction is lost.
    losing: Vec<(OriginId, NoBody)>,
    marker: Option<Marker>,
    /// The reason for which a new origin must continue the chain, if it must.
    mint: Option<String>,
    /// Contents of `acked`, if it names a chain that is not here.
    slot_aside: Option<Vec<u8>>,
    report: Report,
}

impl Plan {
    fn is_empty(&self) -> bool {
        self.report.is_empty()
    }

    fn holes(&self) -> Vec<Hole> {
        let gone = self.chains.iter().flat_map(|chain| &chain.gone);
        let mut holes: Vec<Hole> = gone.map(|gone| gone.hole).collect();
        holes.sort_unstable_by_key(|hole| (hole.origin, hole.from_seq, hole.to_seq));
        holes.dedup_by_key(|hole| (hole.origin, hole.from_seq, hole.to_seq));
        holes
    }
}

impl Log {
    /// Returns the report of the repair that [`Writer::repair`] would make now. Changes nothing.
    ///
    /// # Errors
    /// `NewerFormat` if a newer version wrote the log; `Io` if a file cannot be read.
    pub fn plan_repair(&self, spares: &[Spare], progress: &mut dyn FnMut(u64)) -> Result<Report> {
        Ok(self.plan(spares, progress)?.report)
    }

    /// Takes the lock for a repair, like [`Log::begin`], but even if writes are refused.
    ///
    /// # Errors
    /// `Busy`, `NotWritable`, `Io`.
    pub fn begin_repair<'a>(&'a self, env: &'a dyn Env, wait: Duration) -> Result<Writer<'a>> {
        let writer = self.acquire(env, wait)?;
        let mut state = self.lock_state();
        if state.hold.holders > 1 {
            // Threads of this process that append go first.
            drop(state);
            return Err(LogError::Busy {
                waited_ms: wait.as_millis() as u64,
            });
        }
        state.stamps = None;
        let refreshed = self.refresh_state(&mut state);
        drop(state);
        refreshed.map(|_| writer)
    }

    fn plan(&self, spares: &[Spare], progress: &mut dyn FnMut(u64)) -> Result<Plan> {
        let (parts, store, refusal) = {
            let state = self.lock_state();
            let parts = state.parts.clone();
            (parts, state.store.clone(), state.refusal.clone())
        };
        if let Some(Refusal::Newer { what }) = refusal {
            return Err(LogError::NewerFormat { what });
        }
        let (disk, dir) = (&*self.disk, self.dir.as_path());
        let slot = acked::read(disk, dir)?;
        let marker = Marker::read(disk, dir)?;
        let own = walk::origins_of(&parts);
        let folders = chain::origins(disk, dir)?;
        let mut salvaged = Salvaged::default();
        let slots = slot.map(|slot| slot.origin);
        salvaged.origins = (own.iter().chain(&folders))
            .chain(&slots)
            .map(|origin| origin.0)
            .chain(spares.iter().map(|spare| spare.origin.0))
            .collect();
        self.read_all(&folders, spares, &mut salvaged, progress)?;

        // The first event of a chain counts in any file: it names the chain that it continues.
        let newest = match (&store, slot) {
            (Some(store), _) => Some(store.origin),
            (None, Some(slot)) => Some(slot.origin),
            (None, None) => salvaged.newest_origin(),
        };
        let parts = match newest {
            None => Vec::new(),
            Some(newest) => walk::parts_by(newest, &mut |origin| {
                let noted = || store.as_ref().and_then(|store| store.noted(origin));
                Ok(salvaged.continued_by(origin).or_else(noted))
            })?,
        };
        let own = walk::origins_of(&parts);
        let known = |origin, role| Known {
            origin,
            role,
            slot: slot.as_ref(),
            end: marker.as_ref().and_then(|marker| marker.end_of(origin)),
            further: (marker.as_ref()).is_some_and(|marker| marker.further.contains(&origin)),
        };
        let picked = pick::pick_all(&salvaged, &parts, &folders, &known)?;
        let mut explained = Holes::default();
        for head in picked
            .iter()
            .flat_map(|(taken, _)| salvaged.said_in(&taken.chosen))
        {
            explained.note(&head, &own);
        }
        salvaged.explained = explained;
        let redactions = withheld::redactions(&salvaged, &picked)?;
        withheld::drop_redacted(&mut salvaged, &picked, &redactions)?;
        let remembered = marker.iter().flat_map(|marker| &marker.payloads);
        let remembered = remembered.copied().collect();
        let withheld = withheld::find(&salvaged, &picked, &redactions, &own, &remembered)?;
        let losing = withheld::losing(&salvaged, &picked, &redactions)?;
        let mut chains = Vec::new();
        for (taken, known) in picked {
            chains.push(plan::plan(&salvaged, &known, taken)?);
        }
        let is_known = |slot: &acked::Slot| {
            let known = salvaged.runs.iter().any(|run| run.origin == slot.origin);
            known || own.contains(&slot.origin) || folders.contains(&slot.origin)
        };
        let slot_aside = match slot.filter(|slot| !is_known(slot)) {
            None => None,
            Some(_) => {
                let path = dir.join(layout::ACKED_FILE);
                let bytes = disk::read_all(disk, &path, 64 * 1_024);
                Some(bytes.map_err(at("reading", &path))?)
            }
        };
        let mint = self.why_mint(&parts, &chains, refusal.as_ref());
        let mut plan = Plan {
            salvaged,
            chains,
            payloads: BTreeSet::new(),
            redacted: withheld.redacted.iter().map(|(_, body)| body.id).collect(),
            losing,
            marker,
            mint,
            slot_aside,
            report: Report::default(),
        };
        let no_store = matches!(refusal, Some(Refusal::NoStoreFile { .. }));
        let new_secret = no_store && self.lock_state().older_secret.is_none();
        self.report(&mut plan, &withheld, new_secret);
        Ok(plan)
    }

    /// Reads the segments of these chains, the files beside them, and the spares.
    fn read_all(
        &self,
        folders: &[OriginId],
        spares: &[Spare],
        salvaged: &mut Salvaged,
        progress: &mut dyn FnMut(u64),
    ) -> Result<()> {
        let (disk, dir) = (&*self.disk, self.dir.as_path());
        for origin in folders {
            for segment in chain::segments(disk, dir, *origin)? {
                let source = salvage::open(disk, &segment.path, Some((*origin, segment.name)))?;
                if let Some(source) = text_mode::before_text_mode(&source)? {
                    let end = source.len;
                    salvaged.read(source, (HEADER_LEN as u64).min(end), end, &mut |_| {})?;
                }
                let end = source.len;
                salvaged.read(source, (HEADER_LEN as u64).min(end), end, progress)?;
            }
        }
        let strays = strays::strays(disk, dir)?.into_iter();
        for Stray { path, .. } in strays.filter(|stray| !stray.is_dir && stray.is_near) {
            // A stray that cannot be read does not belong to the log.
            let Ok(source) = salvage::open(disk, &path, None) else {
                continue;
            };
            let start = source.header.map_or(0, |_| HEADER_LEN as u64);
            let end = source.len;
            salvaged.read(source, start, end, progress)?;
        }
        for spare in spares {
            let source = Source {
                kind: SourceKind::Spare,
                file: Arc::clone(&spare.file),
                path: spare.path.clone(),
                place: None,
                header: None,
                len: spare.end,
                end: 0,
                bad: Vec::new(),
            };
            salvaged.read(source, spare.start, spare.end, progress)?;
        }
        Ok(())
    }

    /// Returns the reason for which a new origin must continue the chain, if it must.
    fn why_mint(
        &self,
        parts: &[walk::Part],
        chains: &[ChainPlan],
        refusal: Option<&Refusal>,
    ) -> Option<String> {
        if let Some(Refusal::NoStoreFile { why }) = refusal
            && !chains.is_empty()
        {
            return Some(why.clone());
        }
        let plan_of = |origin| chains.iter().find(|chain| chain.origin == origin);
        let newest = parts.last().and_then(|part| plan_of(part.origin))?;
        if newest.further {
            return Some("the chain goes on in what was brought".to_owned());
        }
        if newest.ends_anew() {
            return Some("the newest events of the chain are gone".to_owned());
        }
        // An origin without events continues a chain that may have lost its end.
        let continued = parts.iter().rev().nth(1)?;
        let older = plan_of(continued.origin)?;
        let until = continued.until?;
        let lost =
            |gone: &chain_plan::Gone| gone.hole.from_seq <= until && until <= gone.hole.to_seq;
        (newest.last == Seq(0) && newest.end.is_none() && older.gone.iter().any(lost))
            .then(|| "the event that the chain was to go on from is gone".to_owned())
    }

    fn report(&self, plan: &mut Plan, withheld: &Withheld, new_secret: bool) {
        let beside = |edge: salvage::Edge| Beside {
            position: edge.position,
            time: edge.time,
        };
        let mut report = Report {
            new_origin: plan.mint.clone(),
            new_secret: new_secret && plan.mint.is_some(),
            resumed: plan.marker.is_some(),
            redacted: (withheld.redacted.iter())
                .map(|(origin, body)| PayloadGone::of(*origin, body))
                .collect(),
            ..Report::default()
        };
        for (origin, body) in &withheld.gone {
            plan.payloads.insert(body.id);
            report.payloads.push(PayloadGone::of(*origin, body));
        }
        let remembered = plan.marker.iter().flat_map(|marker| &marker.payloads);
        let remembered: BTreeSet<EventId> = remembered.copied().collect();
        let said = &plan.salvaged.explained.payloads;
        for chain in &plan.chains {
            let damaged = chain.payloads_gone();
            let left = plan
                .salvaged
                .runs
                .iter()
                .filter(|run| run.origin == chain.origin);
            let left = left.flat_map(|run| &run.no_bodies);
            let left = left.filter(|body| body.withheld && remembered.contains(&body.id));
            for body in damaged.chain(left) {
                let is_back = chain.bodies.get(&body.id).is_some_and(|it| it.1.is_some());
                if said.contains_key(&body.id) || is_back || !plan.payloads.insert(body.id) {
                    continue;
                }
                report.payloads.push(PayloadGone::of(chain.origin, body));
            }
            let back = chain.bodies.values().filter(|(_, copy)| copy.is_some());
            report.refilled_payloads += back.count() as u64;
            report.gone.extend(chain.gone.iter().map(|gone| Gone {
                origin: chain.origin,
                from_seq: gone.hole.from_seq,
                to_seq: gone.hole.to_seq,
                after: gone.after.map(beside),
                before: gone.before.map(beside),
            }));
            if chain.is_empty() {
                continue;
            }
            report.segments_written += chain.write.len() as u64;
            report.segments_removed += chain.remove.len() as u64;
            report.refilled_events += match chain.write.is_empty() {
                true => 0,
                false => chain.refilled,
            };
            report
                .set_aside
                .extend(chain.aside.iter().map(|aside| SetAside {
                    file: layout::relative(
                        &self.dir,
                        &plan.salvaged.sources[aside.slice.source].path,
                    ),
                    offset_bytes: aside.slice.start,
                    len_bytes: aside.slice.end - aside.slice.start,
                    what: aside.what.to_owned(),
                }));
        }
        report
            .set_aside
            .extend(plan.slot_aside.iter().map(|bytes| SetAside {
                file: PathBuf::from(layout::ACKED_FILE),
                offset_bytes: 0,
                len_bytes: bytes.len() as u64,
                what: "what was acknowledged of a chain that is not here".to_owned(),
            }));
        if !report.gone.is_empty() {
            let losing = plan.losing.iter();
            report
                .payloads
                .extend(losing.map(|(origin, it)| PayloadGone::of(*origin, it)));
            let bodies = withheld.unexplained.iter();
            report.unexplained = bodies
                .map(|(origin, it)| PayloadGone::of(*origin, it))
                .collect();
        }
        plan.report = report;
    }
}

impl PayloadGone {
    fn of(origin: OriginId, body: &NoBody) -> PayloadGone {
        PayloadGone {
            origin,
            seq: body.seq,
            event: body.id,
            position: body.position,
            time: body.time,
            kind: body.kind,
            subject: body.subject,
        }
    }
}

impl Log {
    fn knows_actor(&self, actor: ActorId) -> Result<bool> {
        let mut known = false;
        self.scan(&walk::Cursor::START, &mut |event| {
            let subject = event.head.subject();
            known |= event.head.kind() == Kind::LOG_ACTOR_NAMED && subject.0 == actor.0;
            match known {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        Ok(known)
    }
}

/// The author of a repair, and the reason.
#[derive(Debug, Clone, Copy)]
pub struct Repairer<'a> {
    /// The batch that gives the repair's events their author; its own events are ignored.
    pub batch: &'a Batch<'a>,
    /// Reason, in the words of the person or agent.
    pub reason: Option<&'a str>,
}

impl Writer<'_> {
    /// Repairs the log, as the module's text describes. Needs a writer from [`Log::begin_repair`]. Durable when it
    /// returns; doing it again changes nothing.
    ///
    /// # Errors
    /// `NewerFormat`, `NoSpace`, `NotWritable`, `Io`. After any error the next repair ends as if this one had not been
    /// tried.
    pub fn repair(
        &mut self,
        spares: &[Spare],
        who: &Repairer<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(Report, Option<Appended>)> {
        let plan = self.log.plan(spares, progress)?;
        if plan.is_empty() {
            return Ok((plan.report, None));
        }
        let log = self.log;
        let done = log.change_files(&plan).and_then(|()| {
            log.set_pending_holes(plan.holes());
            self.prepare_repaired(plan.mint.as_deref())?;
            self.append_repaired(&plan, who)
        });
        log.set_pending_holes(Vec::new());
        let appended = done?;
        self.flush()?;
        marker::remove(&*log.disk, &log.dir)?;
        let mut state = log.lock_state();
        (state.stamps, state.hold.stamps_before) = (None, None);
        log.refresh_state(&mut state)?;
        drop(state);
        Ok((plan.report, appended))
    }

    /// Appends the events that name the losses.
    fn append_repaired(&mut self, plan: &Plan, who: &Repairer<'_>) -> Result<Option<Appended>> {
        let (holes, refs) = (
            plan.holes(),
            plan.payloads.iter().copied().collect::<Vec<_>>(),
        );
        let mut holes = holes.chunks(LogRepaired::HOLES_MAX);
        let mut refs = refs.chunks(REFS_MAX);
        // Redactions come first: an unexplained hole is what lets a redaction be missed.
        let again = plan.redacted.chunks(REFS_MAX);
        let mut events: Vec<NewEvent> = again.map(|refs| redacted_again(refs, who)).collect();
        loop {
            let (holes, refs) = (holes.next(), refs.next());
            if holes.is_none() && refs.is_none() {
                break;
            }
            events.push(NewEvent {
                kind: Kind::LOG_REPAIRED,
                subject: SubjectId::ZERO,
                refs: refs.unwrap_or_default().to_vec(),
                facts: LogRepaired {
                    holes: holes.unwrap_or_default().to_vec(),
                }
                .encode(),
                payload: payload::encode(&payload::LogRepaired { reason: who.reason }),
            });
        }
        let mut last = None;
        let actor = self.actor(who.batch.actor);
        if !events.is_empty() && !self.starts_origin() && !self.log.knows_actor(actor)? {
            self.append(&Batch {
                events: vec![actor_named(actor, who.batch.actor)],
                ..who.batch.clone()
            })?;
        }
        while !events.is_empty() {
            let rest = events.split_off(events.len().min(BATCH_MAX));
            let appended = self.append(&Batch {
                events,
                ..who.batch.clone()
            })?;
            last = appended.last().copied();
            events = rest;
        }
        Ok(last)
    }
}

fn redacted_again(refs: &[EventId], who: &Repairer<'_>) -> NewEvent {
    NewEvent {
        kind: Kind::LOG_REDACTED,
        subject: SubjectId::ZERO,
        refs: refs.to_vec(),
        facts: LogRedacted {
            subjects: Vec::new(),
        }
        .encode(),
        payload: payload::encode(&payload::LogRedacted { reason: who.reason }),
    }
}
