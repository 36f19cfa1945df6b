//! Repairing the log: first its files, then the views, which are rebuilt.

use std::collections::BTreeMap;

use icm_log::env::random_16;
use icm_log::repair::{Beside, PayloadGone, Repairer, Report, Spare};
use icm_log::{Appended, Batch, CommandId, Durability, NewEvent, RequestKey, SessionId, hash};
use icm_projections::Views;

use crate::command::secrets::Guard;
use crate::command::{actor_of, check_caller, plan_name};
use crate::portable::exchange::{IMPORTS_MAX, imported};
use crate::service::Service;
use crate::snapshot::catching_panics;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::limits;
use icm_api::when::rfc3339;
use icm_api::{
    Caller, Progress, RepairAnswer, RepairAside, RepairBeside, RepairGone, RepairPayload,
    RepairRequest,
};

impl Service {
    /// Puts a damaged log in order, or returns the plan of that. Damaged records are set aside, verified ones stay,
    /// `spares` replace missing ones, and the log names the losses. If there is nothing to repair, nothing is changed,
    /// and the answer says so.
    ///
    /// # Errors
    /// `NewerFormat` if a newer version wrote to the log; `Invalid` if `plan` is no longer the plan.
    pub fn log_repair(
        &self,
        caller: &Caller,
        request: &RepairRequest,
        spares: &[Spare],
        progress: &dyn Progress,
    ) -> Result<RepairAnswer> {
        if let Some(reason) = &request.reason {
            limits::text("the reason", reason, limits::SOURCE_LEN_MAX)?;
        }
        self.log.refresh()?;
        if request.dry_run {
            let planned = self.look(spares, progress)?;
            return Ok(named(
                answer(&planned, true, None),
                &self.memories_of(&planned),
            ));
        }
        self.refuse_read_only()?;
        check_caller(caller)?;
        Guard::new(&self.settings.secrets, false).caller(caller)?;
        let reason = request.reason.as_deref();
        let reason = reason.map(|text| self.without_secret(text));
        let planned = self.look(spares, progress)?;
        if planned.is_empty() {
            // Nothing is locked or written.
            return Ok(answer(&planned, false, None));
        }
        // After the repair no view remembers the lost payloads.
        let memories = self.memories_of(&planned);

        self.snapshots.put(None);
        let env = &*self.ground.env;
        let mut writer = self.until_free(self.options.lock_wait, |wait| {
            Ok(self.log.begin_repair(env, wait)?)
        })?;
        let planned = self.look(spares, progress)?;
        let shown = answer(&planned, false, None);
        if request
            .plan
            .as_ref()
            .is_some_and(|plan| *plan != shown.plan)
        {
            return Err(ServiceError::invalid_with(
                "the log has changed since this was shown",
                "look again with `icm log repair --dry-run`",
            ));
        }
        // The views are removed in any case. A spare may bring back the text of a redacted event, which is removed,
        // too.
        writer.begin_rewrite()?;
        let session = caller.session.as_deref();
        let batch = Batch {
            command: CommandId(random_16(env)),
            actor: actor_of(caller),
            session: session.map_or(SessionId::ZERO, hash::session_id),
            request: RequestKey::ZERO,
            events: Vec::new(),
        };
        let who = Repairer {
            batch: &batch,
            reason: reason.as_deref(),
        };
        progress.start("repairing the log", Some(self.log.len_bytes()?));
        let (report, event) = writer.repair(spares, &who, &mut |bytes| progress.advance(bytes))?;
        progress.finish();
        if report.refilled_events > 0 {
            let facts = writer.unlearned()?;
            let events: Vec<NewEvent> = facts.iter().map(imported).collect();
            for events in events.chunks(IMPORTS_MAX) {
                let events = events.to_vec();
                writer.append(&Batch {
                    events,
                    ..batch.clone()
                })?;
            }
        }
        writer.commit(Durability::Synced)?;
        self.finish_redaction()?;
        Ok(named(answer(&report, false, event), &memories))
    }

    /// Returns the memories that lose a payload, with their topics as far as these are known otherwise: from the views
    /// on disk, else from the rest of the log. Writes nothing.
    fn memories_of(&self, report: &Report) -> BTreeMap<String, (String, Option<String>)> {
        let about = |gone: &&PayloadGone| !gone.subject.is_zero();
        let said = report
            .payloads
            .iter()
            .chain(&report.redacted)
            .chain(&report.unexplained);
        let gone: Vec<_> = said.filter(about).collect();
        let mut memories: BTreeMap<_, _> = (gone.iter())
            .map(|gone| (gone.event.to_string(), (id_text(gone.subject), None)))
            .collect();
        if gone.is_empty() {
            return memories;
        }
        let dir = self.views_dir();
        // If the views cannot be asked, the ids are still known.
        let _ = catching_panics(|| {
            let views = match Views::were_built(&dir) {
                true => Views::open(&dir, &self.log)?,
                false => Views::in_memory(&self.log, &mut |_| {})?,
            };
            for gone in gone {
                let entity = views.resolve(gone.subject)?;
                if let Some(version) = views.version_at(entity, views.tally().position)? {
                    let memory = (id_text(version.id), version.topic.clone());
                    memories.insert(gone.event.to_string(), memory);
                }
            }
            Ok(())
        });
        memories
    }

    fn look(&self, spares: &[Spare], progress: &dyn Progress) -> Result<Report> {
        progress.start("looking for damage", Some(self.log.len_bytes()?));
        let report = self
            .log
            .plan_repair(spares, &mut |bytes| progress.advance(bytes));
        progress.finish();
        Ok(report?)
    }
}

fn named(
    mut answer: RepairAnswer,
    memories: &BTreeMap<String, (String, Option<String>)>,
) -> RepairAnswer {
    let lists = [
        &mut answer.payloads,
        &mut answer.redacted,
        &mut answer.unexplained,
    ];
    for payload in lists.into_iter().flatten() {
        if let Some((memory, topic)) = memories.get(&payload.event) {
            payload.memory = Some(memory.clone());
            payload.topic.clone_from(topic);
        }
    }
    answer
}

fn answer(report: &Report, dry_run: bool, event: Option<Appended>) -> RepairAnswer {
    let beside = |beside: Beside| RepairBeside {
        position: beside.position.0,
        at: rfc3339(beside.time.ms()),
    };
    let set_aside: Vec<_> = (report.set_aside.iter())
        .map(|aside| RepairAside {
            file: aside.file.display().to_string(),
            offset: aside.offset_bytes,
            bytes: aside.len_bytes,
            what: aside.what.clone(),
        })
        .collect();
    let gone: Vec<_> = (report.gone.iter())
        .map(|gone| RepairGone {
            origin: gone.origin.to_string(),
            from_seq: gone.from_seq.0,
            to_seq: gone.to_seq.0,
            events: gone.count(),
            after: gone.after.map(beside),
            before: gone.before.map(beside),
        })
        .collect();
    let payload = |payload: &PayloadGone| RepairPayload {
        origin: payload.origin.to_string(),
        seq: payload.seq.0,
        event: payload.event.to_string(),
        position: payload.position.0,
        at: rfc3339(payload.time.ms()),
        kind: payload.kind.name(),
        memory: None,
        topic: None,
    };
    let plan = blake3::hash(format!("{report:?}").as_bytes());
    RepairAnswer {
        damaged: !report.is_empty(),
        dry_run,
        plan: plan_name(&plan),
        event: event.map(|event| event.event.to_string()),
        position: event.map(|event| event.position.0),
        set_aside,
        gone_events: gone.iter().map(|gone| gone.events).sum(),
        gone,
        payloads: report.payloads.iter().map(payload).collect(),
        redacted: report.redacted.iter().map(payload).collect(),
        unexplained: report.unexplained.iter().map(payload).collect(),
        refilled_events: report.refilled_events,
        refilled_payloads: report.refilled_payloads,
        segments_written: report.segments_written,
        segments_removed: report.segments_removed,
        new_origin: report.new_origin.clone(),
        new_secret: report.new_secret,
        resumed: report.resumed,
    }
}
