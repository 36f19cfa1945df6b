//! Redaction: taking texts out of every byte under the store, while the log still verifies.
//!
//! A redaction writes a marker, then the event, then takes the bodies out of the log, then removes the views. A process
//! that opens the store while the marker is there does the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;

use icm_log::disk::OpenMode;
use icm_log::facts::{Facts, LogRedacted};
use icm_log::record::Body;
use icm_log::{
    Cursor, Event, EventId, Kind, NewEvent, OriginId, Position, RequestKey, SubjectId, hash,
    payload,
};
use icm_projections::Views;
use icm_projections::fold::{EntityId, Family, Version};
use serde_json::Value;

use crate::command::{RequestKeyOf, plan_name, refuse_other_plan};
use crate::service::{Service, locked};
use crate::snapshot::{QueryError, QueryResult, unknown};
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::limits;
use icm_api::when::rfc3339;
use icm_api::{Caller, RedactAnswer, RedactEvent, RedactMemory, RedactRequest};
use icm_guard::leak_search::Needle;

/// Single events that an answer lists; it counts all of them.
const EVENTS_MAX: usize = 100;

/// Places beyond a store's reach, named in every receipt.
const OUT_OF_REACH: [&str; 4] = [
    "exports, backups and other copies that were made before: redact or delete them too",
    "answers that were given before: what agents and terminals keep of them",
    "snapshots and free blocks of the file system or the disk",
    "the digests that stay in the log: names of memories with a key, scopes, sessions",
];

/// Returns `true` if nothing is left to do, because an earlier run began it.
fn is_idle(answer: &RedactAnswer) -> bool {
    answer.events == 0 && answer.torn.is_empty()
}

/// The plan of a redaction.
struct Plan {
    /// Every id of the memories.
    subjects: BTreeSet<SubjectId>,
    singles: Vec<EventId>,
    /// Files of `torn/` that hold the text, relative to the store.
    torn: Vec<PathBuf>,
    answer: RedactAnswer,
}

/// The finds of a walk through the log for a redaction.
#[derive(Default)]
struct Sweep {
    /// Every id of the memories.
    subjects: BTreeSet<SubjectId>,
    /// Single events, by id.
    found: BTreeMap<EventId, (Position, RedactEvent)>,
    /// The number of such events about each memory.
    touched: BTreeMap<SubjectId, u64>,
    /// Summaries of memories that are to be redacted.
    summaries: BTreeSet<SubjectId>,
    /// Events whose body is to be removed.
    bodies: u64,
    /// Events of the log that have a body.
    all: u64,
    /// A single event that is already redacted.
    already: Option<Position>,
}

impl Service {
    /// Takes the texts of memories or single events out of the store, or returns the plan of that.
    ///
    /// # Errors
    /// `Invalid` if nothing is named; `Nothing` if nothing matches, or is redacted already.
    pub fn redact(&self, caller: &Caller, request: &RedactRequest) -> Result<RedactAnswer> {
        check(request)?;
        if self.is_empty()? {
            return Err(nothing());
        }
        // The plan comes before any change, also before a copied store gets its own origin.
        let look = self.with_views(|views| Ok(self.redact_plan(views, request)?.answer))?;
        if request.dry_run || is_idle(&look) {
            return Ok(look);
        }
        let reason = request
            .reason
            .as_deref()
            .map(|text| self.without_secret(text));
        let (answer, event) =
            self.command(caller, None, RequestKeyOf(None), |command, views| {
                let plan = self.redact_plan(views, request)?;
                if is_idle(&plan.answer) {
                    return Ok((plan.answer, None));
                }
                let subjects: Vec<_> = plan.subjects.iter().copied().collect();
                refuse_other_plan(request.plan.as_deref(), &plan.answer.plan)?;
                let mut subjects = subjects.chunks(LogRedacted::SUBJECTS_MAX);
                let mut singles = plan.singles.chunks(icm_log::head::REFS_MAX);
                let mut events = Vec::new();
                // No event is redacted if only files of `torn/` hold the text.
                loop {
                    let (subjects, refs) = (subjects.next(), singles.next());
                    if plan.answer.events == 0 || (subjects.is_none() && refs.is_none()) {
                        break;
                    }
                    let (subjects, refs) = (subjects.unwrap_or_default(), refs.unwrap_or_default());
                    events.push(redacted(refs, subjects, reason.as_deref()));
                }
                let key = self.redaction_key(request)?;
                command.begin_redaction(key.unwrap_or(RequestKey::ZERO))?;
                command.remove_torn(&plan.torn)?;
                let mut appended = None;
                if !events.is_empty() {
                    appended = command.append(views, events)?.last().copied();
                }
                Ok((plan.answer, appended))
            })?;
        if is_idle(&answer) {
            return Ok(answer);
        }
        let torn = answer.torn.len() as u64;
        let blanked = self.finish_redaction()?;
        let unknown = unknown(&blanked).into_iter();
        Ok(RedactAnswer {
            out_of_reach: unknown.chain(answer.out_of_reach).collect(),
            dry_run: false,
            event: event.map(|event| event.event.to_string()),
            position: event.map(|event| event.position.0),
            blanked_events: blanked.events,
            segments: blanked.segments,
            torn_removed: torn + blanked.torn,
            ..answer
        })
    }

    /// Returns the key of a request in the marker of a redaction, by which a repeated run is recognised. `None` if
    /// there is no store yet.
    fn redaction_key(&self, request: &RedactRequest) -> Result<Option<RequestKey>> {
        let asked = serde_json::to_string(&(&request.targets, &request.pattern));
        let asked = asked.map_err(|error| ServiceError::Internal(error.to_string()))?;
        let secret = self.log.secret();
        Ok(secret.map(|secret| hash::request_key(&secret, "icm redact", &asked)))
    }

    fn redact_plan(&self, views: &Views, request: &RedactRequest) -> QueryResult<Plan> {
        let (entities, singles) = self.redact_targets(views, request)?;
        let needle = request.pattern.as_deref().map(Needle::new);
        let torn = match &needle {
            Some(needle) => self.log.torn_with(&|bytes| needle.is_in_bytes(bytes))?,
            None => Vec::new(),
        };
        let sweep = self.sweep(views, &entities, &singles, needle.as_ref())?;
        // A run after one that was killed finds its work done.
        if sweep.bodies == 0 && torn.is_empty() && !self.was_begun(request)? {
            return Err(match sweep.already {
                Some(position) => {
                    already_redacted(format!("event @{position} is redacted already"))
                }
                None if !entities.is_empty() => {
                    already_redacted("these memories are redacted already".to_owned())
                }
                None => nothing(),
            }
            .into());
        }
        let memories = redact_memories(views, &sweep.touched, &entities)?;
        let mut listed: Vec<_> = sweep.found.iter().collect();
        listed.sort_unstable_by_key(|(id, (position, _))| (*position, **id));
        let singles: Vec<EventId> = listed.iter().map(|(id, _)| **id).collect();
        let planned = serde_json::to_vec(&(&sweep.subjects, &singles, sweep.bodies, torn.len()));
        let planned = planned.map_err(|error| ServiceError::Internal(error.to_string()))?;
        let answer = RedactAnswer {
            dry_run: true,
            plan: plan_name(&blake3::hash(&planned)),
            event: None,
            position: None,
            events: sweep.bodies,
            share: sweep.bodies as f64 / sweep.all.max(1) as f64,
            memories,
            single_events_total: listed.len() as u64,
            single_events: listed
                .into_iter()
                .map(|(_, (_, event))| event.clone())
                .take(EVENTS_MAX)
                .collect(),
            summaries: sweep.summaries.into_iter().map(id_text).collect(),
            blanked_events: 0,
            segments: 0,
            torn: torn.iter().map(|path| path.display().to_string()).collect(),
            torn_removed: 0,
            out_of_reach: OUT_OF_REACH.map(str::to_owned).to_vec(),
        };
        Ok(Plan {
            subjects: sweep.subjects,
            singles,
            torn,
            answer,
        })
    }

    /// Returns the memories and the single events that a request names.
    fn redact_targets(
        &self,
        views: &Views,
        request: &RedactRequest,
    ) -> QueryResult<(BTreeSet<EntityId>, BTreeSet<Position>)> {
        let mut entities = BTreeSet::new();
        let mut singles = BTreeSet::new();
        for target in &request.targets {
            match self.find_any(views, target) {
                Ok(entity) if !target.trim().starts_with('@') => {
                    entities.insert(entity);
                }
                Err(error @ QueryError::Service(ServiceError::Ambiguous { .. })) => {
                    return Err(error);
                }
                _ => {
                    singles.insert(self.event_named(views, target).map_err(neither)?);
                }
            }
        }
        Ok((entities, singles))
    }

    /// Walks the whole log for the events to redact.
    fn sweep(
        &self,
        views: &Views,
        entities: &BTreeSet<EntityId>,
        singles: &BTreeSet<Position>,
        needle: Option<&Needle>,
    ) -> QueryResult<Sweep> {
        let mut sweep = Sweep::default();
        let mut withheld = Vec::new();
        self.log.scan(&Cursor::START, &mut |event| {
            let head = &event.head;
            let of = |id| match views.resolve(id) {
                Ok(entity) => entities.contains(&entity),
                Err(_) => false,
            };
            // A damaged payload may still be legible.
            let there = event.body != Body::Withheld;
            sweep.all += u64::from(there);
            let about = concerns(event, of);
            if about && !head.kind().name().starts_with("log.") && !head.subject().is_zero() {
                sweep.subjects.insert(head.subject());
            }
            let covers = match Facts::of(head) {
                Ok(Facts::Consolidated(facts)) => facts.covers,
                _ => Vec::new(),
            };
            if !about && covers.iter().any(|covered| of(covered.id)) {
                sweep.summaries.insert(head.subject());
            }
            let matches = match (needle, event.body) {
                (Some(needle), Body::Present { payload, .. }) => holds(payload, needle),
                (Some(needle), Body::Damaged) => self.holds_damaged(event, needle),
                _ => false,
            };
            let single = singles.contains(&event.position) || matches;
            sweep.bodies += u64::from((about || single) && there);
            if singles.contains(&event.position) && !there {
                sweep.already = Some(event.position);
            }
            if (about || single) && !there {
                withheld.push((head.origin(), event.id));
            }
            // Versions that do not know feedback take a text out only if its event is named.
            let is_feedback = head.kind().name().starts_with("feedback.");
            if (single && !about) || (about && is_feedback) {
                let shown = RedactEvent {
                    event: event.id.to_string(),
                    position: event.position.0,
                    kind: head.kind().name(),
                    at: rfc3339(head.time().ms()),
                };
                sweep.found.insert(head.id(), (event.position, shown));
            }
            if (about || single) && !head.subject().is_zero() {
                *sweep.touched.entry(head.subject()).or_default() += 1;
            }
            ControlFlow::Continue(())
        })?;
        if !withheld.is_empty() {
            // A payload that a repair found gone may come back, unless a redaction names it.
            let about_all = withheld.len();
            let named = self.log.redacted()?;
            let is_named = |(origin, id): &(OriginId, EventId)| {
                named.get(origin).is_some_and(|named| named.contains(id))
            };
            withheld.retain(is_named);
            sweep.bodies += (about_all - withheld.len()) as u64;
        }
        let done: BTreeSet<EventId> = withheld.into_iter().map(|(_, id)| id).collect();
        sweep.found.retain(|id, _| !done.contains(id));
        Ok(sweep)
    }

    /// Returns `true` if this process has finished a redaction that the same request began.
    fn was_begun(&self, request: &RedactRequest) -> Result<bool> {
        let key = self.redaction_key(request)?;
        Ok(key.is_some_and(|key| locked(&self.begun).contains(&key)))
    }

    /// Returns `true` if the rest of a damaged payload holds a text.
    fn holds_damaged(&self, event: &Event<'_>, needle: &Needle) -> bool {
        let place = &event.place;
        let mut bytes = vec![0; place.len];
        let file = self.disk().open(place.path, OpenMode::Read);
        let read = file.and_then(|file| file.read_at(&mut bytes, place.offset));
        // A failed read counts as no match; the walk has just read the same bytes.
        read.is_ok_and(|read| needle.is_in_bytes(&bytes[..read]))
    }
}

/// Returns the memories that the events are about, each with the number of its events.
fn redact_memories(
    views: &Views,
    touched: &BTreeMap<SubjectId, u64>,
    entities: &BTreeSet<EntityId>,
) -> QueryResult<Vec<RedactMemory>> {
    let newest = views.tally().position;
    let mut memories: BTreeMap<String, RedactMemory> = BTreeMap::new();
    for (id, events) in touched {
        let entity = views.resolve(*id)?;
        let Some(version) = views.version_at(entity, newest)? else {
            continue;
        };
        let whole = entities.contains(&entity);
        let memory = memories
            .entry(id_text(version.id))
            .or_insert_with(|| redact_memory(&version, whole));
        memory.events += events;
    }
    Ok(memories.into_values().collect())
}

fn redact_memory(version: &Version, whole: bool) -> RedactMemory {
    RedactMemory {
        id: id_text(version.id),
        topic: match version.family() {
            Family::Feedback => "feedback".to_owned(),
            _ => (version.topic.clone()).unwrap_or_else(|| "(withheld)".to_owned()),
        },
        whole,
        events: 0,
    }
}

/// Returns `true` if an event is about a memory that fits, showed it, or corrects a prediction that came from it.
fn concerns(event: &Event<'_>, fits: impl Fn(SubjectId) -> bool) -> bool {
    let subject = event.head.subject();
    let of_log = event.head.kind().name().starts_with("log.");
    if !subject.is_zero() && !of_log && fits(subject) {
        return true;
    }
    match Facts::of(&event.head) {
        Ok(Facts::Recalled(facts)) => facts.results.iter().any(|shown| fits(shown.id)),
        Ok(Facts::FeedbackRecorded(facts)) => fits(facts.memory),
        _ => false,
    }
}

/// Returns `true` if a payload holds this text: in a value, or within the JSON of its metadata. The names of its fields
/// are the same everywhere, and no secret.
fn holds(payload: &[u8], needle: &Needle) -> bool {
    let Some(Value::Object(fields)) = payload::to_json(payload) else {
        // This version cannot decode the payload: the bytes are searched as they stand.
        return needle.is_in_bytes(payload);
    };
    let metadata = fields.get("metadata").and_then(Value::as_str);
    let metadata = metadata.and_then(|text| serde_json::from_str(text).ok());
    metadata.is_some_and(|metadata| value_holds(&metadata, needle))
        || fields
            .iter()
            .any(|(name, value)| match (name.as_str(), value) {
                ("source", Value::Object(source)) => {
                    source.values().any(|value| value_holds(value, needle))
                }
                _ => value_holds(value, needle),
            })
}

fn value_holds(value: &Value, needle: &Needle) -> bool {
    match value {
        Value::String(text) => needle.is_in(text),
        Value::Array(items) => items.iter().any(|item| value_holds(item, needle)),
        Value::Object(fields) => fields
            .iter()
            .any(|(name, item)| needle.is_in(name) || value_holds(item, needle)),
        _ => false,
    }
}

fn check(request: &RedactRequest) -> Result<()> {
    if let Some(pattern) = &request.pattern {
        if pattern.is_empty() {
            return Err(ServiceError::invalid_with(
                "an empty text is in every event: nothing was redacted",
                "give the TEXT that is to go to `--match`, or `-` and the text on stdin",
            ));
        }
        limits::text("the pattern", pattern, limits::CONTENT_LEN_MAX)?;
    }
    if let Some(reason) = &request.reason {
        limits::text("the reason", reason, limits::SOURCE_LEN_MAX)?;
    }
    if let (Some(pattern), Some(reason)) = (&request.pattern, &request.reason)
        && reason.contains(pattern.as_str())
    {
        return Err(ServiceError::invalid_with(
            "the reason holds the very text that is to go, and the reason stays",
            "give another reason",
        ));
    }
    match (&request.pattern, request.targets.is_empty()) {
        (Some(_), false) => Err(ServiceError::invalid(
            "name memories and events, or give `--match`, not both",
        )),
        (None, true) => Err(ServiceError::invalid_with(
            "nothing was named to be redacted",
            "name a MEMORY or an EVENT (`@12`, the beginning of an id), or give `--match TEXT`",
        )),
        _ => Ok(()),
    }
}

/// Returns the error for a text that names neither a memory nor an event.
fn neither(error: QueryError) -> QueryError {
    match error {
        QueryError::Service(ServiceError::NotFound { id, nearest, .. }) => ServiceError::NotFound {
            what: "memory or event",
            id,
            nearest,
        }
        .into(),
        other => other,
    }
}

fn already_redacted(message: String) -> ServiceError {
    ServiceError::Nothing {
        message,
        hint: "`icm log --kind log.redacted` lists redactions".to_owned(),
    }
}

fn nothing() -> ServiceError {
    ServiceError::Nothing {
        message: "nothing in the store holds that".to_owned(),
        hint: "`icm log` and `icm recall` show what there is".to_owned(),
    }
}

/// Returns the event that names the redacted memories and events.
pub(crate) fn redacted(
    singles: &[EventId],
    subjects: &[SubjectId],
    reason: Option<&str>,
) -> NewEvent {
    NewEvent {
        kind: Kind::LOG_REDACTED,
        subject: SubjectId::ZERO,
        refs: singles.to_vec(),
        facts: LogRedacted {
            subjects: subjects.to_vec(),
        }
        .encode(),
        payload: payload::encode(&payload::LogRedacted { reason }),
    }
}
