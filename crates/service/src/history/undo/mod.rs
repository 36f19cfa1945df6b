//! Undo: choosing events, showing the later ones that depend on them, and taking them out of force.

mod alerts;
mod choice;
mod effect;
mod in_force;
mod named;

use std::collections::{BTreeMap, BTreeSet};

use icm_log::facts::LogUndone;
use icm_log::{CommandId, EventId, Kind, NewEvent, SubjectId, payload};
use icm_projections::Views;
use icm_projections::fold::{Change, EntityId, Undos};

use self::choice::{Picked, cannot_be_undone, selector_of};
use self::named::undos_of;
use crate::command::{RequestKeyOf, plan_name, refuse_other_plan};
use crate::history::actor::unknown_actor;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::when::rfc3339;
use icm_api::{
    Caller, LaterChange, SkippedEvent, UndoAnswer, UndoChange, UndoFact, UndoRequest, UndoRow,
    UndoneCommand,
};

/// Commands that an answer lists; it counts all of them.
const COMMANDS_MAX: usize = 100;
/// The fields of a fact that are its value.
const OF_VALUE: [&str; 2] = ["content", "occurred_at"];
/// Later changes that an answer lists; it counts all of them.
const LATER_MAX: usize = 100;

/// The events that were asked for, by their fate.
struct Chosen {
    /// Events to be undone.
    picked: Vec<Picked>,
    /// Events that stay as they are.
    skipped: Vec<SkippedEvent>,
    /// The number of events that are undone already, and the undo of the last one.
    already: u64,
    undone_by: Option<EventId>,
    /// The skipped events whose text was redacted.
    redacted: Vec<Picked>,
}

/// The events of an undo.
struct ToUndo {
    picked: Vec<Picked>,
    skipped: Vec<SkippedEvent>,
    /// The number of events that are undone already.
    already: u64,
    /// Later changes that build on the events and stay, with their memories.
    later: Vec<(EntityId, Picked)>,
}

impl Chosen {
    fn of(mut picked: Vec<Picked>, undos: &Undos) -> Chosen {
        let mut skipped = Vec::new();
        let mut already = 0;
        let mut undone_by = None;
        let mut redacted: Vec<Picked> = Vec::new();
        let chosen: BTreeSet<EventId> = picked.iter().map(|picked| picked.at.event).collect();
        picked.retain(|picked| {
            if !picked.kind.can_be_undone() {
                skipped.push(picked.stays());
                return false;
            }
            let mut in_force = undos.in_force(&picked.at).peekable();
            if in_force.peek().is_none() {
                // An undo holds no text of a memory, so none is needed to take it back.
                let stays = picked.withheld && picked.kind != Kind::LOG_UNDONE;
                if stays {
                    redacted.push(picked.clone());
                    skipped.push(picked.stays());
                }
                return !stays;
            }
            // An event that is undone only by an undo chosen here would come back.
            let stays = in_force.find(|undo| !chosen.contains(&undo.event));
            if let Some(undo) = stays {
                already += 1;
                undone_by = Some(undo.event);
            }
            stays.is_none()
        });
        Chosen {
            picked,
            skipped,
            already,
            undone_by,
            redacted,
        }
    }
}

impl Service {
    /// Undoes events, or returns the plan of that.
    ///
    /// # Errors
    /// `Invalid` if nothing or too much is asked for, or if a named event cannot be undone; `Nothing` if the events are
    /// already undone; `NotFound` and `Ambiguous` for event ids.
    pub fn undo(&self, caller: &Caller, request: &UndoRequest) -> Result<UndoAnswer> {
        let selector = selector_of(request)?;
        let harmless = |text: &str| self.without_secret(text);
        let (selector, reason) = (harmless(&selector), request.reason.as_deref().map(harmless));
        if self.is_empty()? {
            return Err(nothing_to_undo(&selector, None));
        }
        if request.dry_run {
            return self.with_views(|views| {
                let (answer, _) = self.undo_plan(views, request, &selector)?;
                Ok(answer)
            });
        }
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let (mut answer, undos) = self.undo_plan(views, request, &selector)?;
            refuse_other_plan(request.plan.as_deref(), &answer.plan)?;
            let events = undos.iter().map(|undo| {
                let payload = payload::LogUndone {
                    selector: Some(&selector),
                    reason: reason.as_deref(),
                    request_digest: None,
                };
                let heads = undo.ranges.iter().map(|range| range.head);
                NewEvent {
                    kind: Kind::LOG_UNDONE,
                    subject: SubjectId::ZERO,
                    refs: heads.take(icm_log::head::REFS_MAX).collect(),
                    facts: undo.encode(),
                    payload: payload::encode(&payload),
                }
            });
            let appended = command.append(views, events.collect())?;
            let written: Vec<EventId> = appended.iter().map(|undo| undo.event).collect();
            let restored = self.restored_by_undo(views, &answer.facts, &undos, &written)?;
            command.append_all(views, restored)?;
            answer.dry_run = false;
            answer.event = appended.last().map(|last| last.event.to_string());
            answer.position = appended.last().map(|last| last.position.0);
            Ok(answer)
        })
    }

    /// Returns a text for the log, with secrets masked.
    pub(crate) fn without_secret(&self, text: &str) -> String {
        let masked = self.settings.secrets.masked(text);
        masked.unwrap_or_else(|| text.to_owned())
    }

    fn undo_plan(
        &self,
        views: &Views,
        request: &UndoRequest,
        selector: &str,
    ) -> QueryResult<(UndoAnswer, Vec<LogUndone>)> {
        let in_force = views.undos()?;
        let ToUndo {
            picked,
            skipped,
            already,
            later,
        } = self.to_undo(views, request, selector, &in_force)?;
        let undos = undos_of(picked.iter().map(|it| (it.at, it.before)).collect());
        let changes = views.what_if_undone(&self.log, &undos)?;
        let facts = self.values_undone(views, &picked, &changes)?;
        let mut answer = UndoAnswer {
            dry_run: true,
            event: None,
            position: None,
            selector: selector.to_owned(),
            plan: String::new(),
            events: picked.len() as u64,
            already_undone: already,
            commands: Vec::new(),
            commands_total: 0,
            skipped,
            changes: self.changes_told(views, &changes, &later, &facts)?,
            alerts: self.undone_alerts(views, &picked, &in_force, &undos)?,
            facts,
            later: Vec::new(),
            later_total: later.len() as u64,
        };
        for (entity, picked) in later.iter().take(LATER_MAX) {
            let version = views.version_at(*entity, views.tally().position)?;
            answer.later.push(LaterChange {
                event: picked.at.event.to_string(),
                position: picked.position.0,
                kind: picked.kind.name(),
                id: id_text(version.map_or(picked.subject, |version| version.id)),
            });
        }
        answer.plan = plan_of(&undos, &answer)?;
        (answer.commands, answer.commands_total) = commands_of(&picked);
        Ok((answer, undos))
    }

    /// Returns the events to undo, and the later changes that stay.
    fn to_undo(
        &self,
        views: &Views,
        request: &UndoRequest,
        selector: &str,
        undos: &Undos,
    ) -> QueryResult<ToUndo> {
        let wanted = self.undo_wanted(views, request)?;
        let Chosen {
            mut picked,
            mut skipped,
            already,
            undone_by,
            redacted,
        } = Chosen::of(self.pick(views, &wanted)?, undos);
        let named = |it: &&Picked| wanted.named.contains(&it.position) || picked.is_empty();
        if let Some(it) = redacted.iter().find(named) {
            return Err(is_redacted(it).into());
        }
        if picked.is_empty() {
            let actor = request.actor.as_deref();
            let unknown = actor.and_then(|name| unknown_actor(views, name));
            let unknown = unknown.map(|hint| self.without_secret(&hint));
            return Err(why_nothing(selector, unknown, undone_by, &skipped).into());
        }
        // Every command names its actor and its chain; to skip such events is no news.
        skipped.retain(|skipped| skipped.kind != "log.actor_named");
        skipped.retain(|skipped| skipped.kind != "log.origin_started");
        let mut later = self.later(views, &picked, undos)?;
        if request.cascade {
            let stays = later.extract_if(.., |(_, it)| it.withheld);
            skipped.extend(stays.map(|(_, it)| it.stays()));
            picked.extend(later.drain(..).map(|(_, picked)| picked));
            picked.sort_by_key(|picked| picked.position);
            picked.dedup_by_key(|picked| picked.position);
        }
        Ok(ToUndo {
            picked,
            skipped,
            already,
            later,
        })
    }

    /// Returns the changes of an undo for people. `facts` are told as values, and left out here.
    fn changes_told(
        &self,
        views: &Views,
        changes: &[Change],
        later: &[(EntityId, Picked)],
        facts: &[UndoFact],
    ) -> QueryResult<Vec<UndoChange>> {
        let mut later_of: BTreeMap<EntityId, u64> = BTreeMap::new();
        for (entity, _) in later {
            *later_of.entry(*entity).or_default() += 1;
        }
        let is_told = |id: &String| facts.iter().any(|fact| fact.id == *id);
        let mut with = self.links_with(views, changes)?;
        let mut all = Vec::with_capacity(changes.len());
        for change in changes {
            let links = with.remove(&change.entity).unwrap_or_default();
            let later = later_of.get(&change.entity).copied().unwrap_or(0);
            let mut told = self.undo_change(views, change, links, later)?;
            // The text of a fact is told as its value.
            if let Some(told) = told.as_mut().filter(|told| is_told(&told.id)) {
                let of_value = |field: &String| OF_VALUE.contains(&field.as_str());
                told.fields.retain(|field| !of_value(field));
            }
            let is_left = |told: &UndoChange| {
                !is_told(&told.id) || !told.fields.is_empty() || !told.links.is_empty()
            };
            all.extend(told.filter(is_left));
        }
        Ok(all)
    }
}

impl Service {
    /// Returns the values of facts that change, except of those whose memories go or come back.
    fn values_undone(
        &self,
        views: &Views,
        picked: &[Picked],
        changes: &[Change],
    ) -> QueryResult<Vec<UndoFact>> {
        let undone = picked.iter().map(|it| (it.at, it.kind, it.subject));
        let undone: Vec<_> = undone.collect();
        let turns = |change: &&Change| change.before.is_alive() != change.after.is_alive();
        let turned = changes.iter().filter(turns);
        let turned: BTreeSet<EntityId> = turned.map(|change| change.entity).collect();
        self.undone_values(views, &undone, &|entity| turned.contains(&entity))
    }
}

/// Returns the newest commands of these events, oldest first, and the number of all.
fn commands_of(picked: &[Picked]) -> (Vec<UndoneCommand>, u64) {
    let mut commands: BTreeMap<CommandId, UndoneCommand> = BTreeMap::new();
    for picked in picked {
        let entry = commands.entry(picked.command).or_insert(UndoneCommand {
            position: picked.position.0,
            event: picked.at.event.to_string(),
            at: rfc3339(picked.ms),
            kind: picked.kind.name(),
            events: 0,
        });
        entry.events += 1;
    }
    let total = commands.len() as u64;
    let mut commands: Vec<_> = commands.into_values().collect();
    commands.sort_by_key(|command| command.position);
    commands.drain(..commands.len().saturating_sub(COMMANDS_MAX));
    (commands, total)
}

/// Returns a digest that tells one plan from another: the events to undo, and the changes.
fn plan_of(undos: &[LogUndone], answer: &UndoAnswer) -> Result<String> {
    // A recall or a tick meanwhile changes nothing of what is undone.
    let as_written = |row: &Option<UndoRow>| match row.clone() {
        Some(UndoRow::Memory(mut memory)) => {
            (memory.access_count, memory.last_accessed, memory.weight) = (0, None, 0.0);
            Some(UndoRow::Memory(memory))
        }
        other => other,
    };
    let changes = answer.changes.iter().map(|change| UndoChange {
        before: as_written(&change.before),
        after: as_written(&change.after),
        ..change.clone()
    });
    let changes: Vec<UndoChange> = changes.collect();
    let told = (undos, &changes, &answer.facts, answer.later_total);
    let bytes = serde_json::to_vec(&told);
    let bytes = bytes.map_err(|error| ServiceError::Internal(error.to_string()))?;
    Ok(plan_name(&blake3::hash(&bytes)))
}

fn nothing_to_undo(selector: &str, unknown: Option<String>) -> ServiceError {
    ServiceError::Nothing {
        message: format!("there is nothing to undo for `{selector}`"),
        hint: unknown.unwrap_or_else(|| "`icm log` lists what there is".to_owned()),
    }
}

fn why_nothing(
    selector: &str,
    unknown: Option<String>,
    undone_by: Option<EventId>,
    skipped: &[SkippedEvent],
) -> ServiceError {
    if let Some(undo) = undone_by {
        let undo = undo.to_string();
        return ServiceError::Nothing {
            message: format!("`{selector}` is undone already"),
            hint: format!("bring it back with `icm undo {}`", &undo[..12]),
        };
    }
    match skipped.first() {
        Some(skipped) => cannot_be_undone(skipped.position, &skipped.kind),
        None => nothing_to_undo(selector, unknown),
    }
}

/// Returns the error for a redacted event. Without its text nobody can say what undoing it would change; other commands
/// still reach its memory.
fn is_redacted(picked: &Picked) -> ServiceError {
    let hint = match picked.kind {
        Kind::MEMORY_CONSOLIDATED => {
            "`icm revive` brings back what it stands for, `icm forget` hides its summary"
        }
        _ => "`icm forget` and `icm update` still reach its memory",
    };
    let message = format!(
        "event @{} is redacted: it cannot be undone",
        picked.position
    );
    ServiceError::invalid_with(message, hint)
}
