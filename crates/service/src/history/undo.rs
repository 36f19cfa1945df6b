//! Undo: choosing events, showing what goes with them, and taking them out of force.

mod named;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use icm_log::facts::LogUndone;
use icm_log::head::Head;
use icm_log::record::Body;
use icm_log::{CommandId, Event, EventId, Kind, NewEvent, Position, SubjectId};
use icm_log::{hash, payload};
use icm_projections::Views;
use icm_projections::fold::{Change, EntityId, Family, InChain, Link, Undos, Version, difference};

use named::undos_of;

use crate::command::RequestKeyOf;
use crate::memoir::{graph_fields, graph_row};
use crate::memory::link::relation_text;
use crate::memory::present::{field_names, memory};
use crate::service::Service;
use crate::snapshot::{QueryError, QueryResult};
use crate::upkeep::decay::decimal;
use icm_api::clients::same_actor;
use icm_api::error::{Result, ServiceError};
use icm_api::ids::id_text;
use icm_api::limits;
use icm_api::when;
use icm_api::when::{DayMeans, When, rfc3339};
use icm_api::{
    Caller, LaterChange, Memory, RowKind, SkippedEvent, UndoAction, UndoAnswer, UndoChange,
    UndoLink, UndoRequest, UndoRow, UndoneCommand,
};

/// Commands that an answer lists; it counts all of them.
const COMMANDS_MAX: usize = 100;
/// Later changes that an answer lists; it counts all of them.
const LATER_MAX: usize = 100;

/// An event that was chosen.
#[derive(Debug, Clone)]
struct Picked {
    position: Position,
    at: InChain,
    /// The event before it in its chain.
    before: EventId,
    command: CommandId,
    kind: Kind,
    ms: u64,
    subject: SubjectId,
    withheld: bool,
}

impl Picked {
    fn stays(&self) -> SkippedEvent {
        SkippedEvent {
            event: self.at.event.to_string(),
            position: self.position.0,
            kind: self.kind.name(),
            redacted: self.withheld && can_be_undone(self.kind),
        }
    }

    fn of(event: &Event<'_>) -> Picked {
        Picked {
            position: event.position,
            at: InChain::of(event),
            before: event.head.prev(),
            command: event.head.command(),
            kind: event.head.kind(),
            ms: event.head.time().ms(),
            subject: event.head.subject(),
            withheld: event.body == Body::Withheld,
        }
    }
}

/// What is asked for, resolved.
#[derive(Default)]
struct Wanted {
    positions: Option<BTreeSet<Position>>,
    /// What is named one by one, also as a range of one.
    named: BTreeSet<Position>,
    range: Option<(Position, Position)>,
    commands: Option<BTreeSet<CommandId>>,
    session: Option<icm_log::SessionId>,
    actor: Option<String>,
    /// What is or was in a topic or a memoir.
    members: Option<BTreeSet<SubjectId>>,
    since: Option<Position>,
    since_ms: Option<u64>,
}

/// Whether undo reaches events of a kind: everything but the log's own, and of those the undos.
fn can_be_undone(kind: Kind) -> bool {
    kind == Kind::LOG_UNDONE || !kind.name().starts_with("log.")
}

/// Whether an event changes something that people would call a change. A tick in one batch with
/// others is one that a recall wrote on its way.
fn is_change(head: &Head<'_>) -> bool {
    let on_the_way = head.kind() == Kind::MEMORY_DECAYED && head.batch_count() > 1;
    can_be_undone(head.kind()) && head.kind() != Kind::MEMORY_RECALLED && !on_the_way
}

impl Service {
    /// Undoes events, or says what that would change.
    ///
    /// # Errors
    /// `Invalid` when nothing or too much is asked for, or when what is named cannot be undone;
    /// `Nothing` when it is undone already; `NotFound` and `Ambiguous` for event ids.
    pub fn undo(&self, caller: &Caller, request: &UndoRequest) -> Result<UndoAnswer> {
        let selector = selector_of(request)?;
        let harmless = |text: &str| self.without_secret(text);
        let (selector, reason) = (harmless(&selector), request.reason.as_deref().map(harmless));
        if self.is_empty()? {
            return Err(nothing_to_undo(&selector));
        }
        if request.dry_run {
            return self.with_views(|views| {
                let (answer, _) = self.undo_plan(views, request, &selector)?;
                Ok(answer)
            });
        }
        self.command(caller, None, RequestKeyOf(None), |command, views| {
            let (mut answer, undos) = self.undo_plan(views, request, &selector)?;
            if request
                .plan
                .as_ref()
                .is_some_and(|plan| *plan != answer.plan)
            {
                return Err(ServiceError::OtherPlan.into());
            }
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
            answer.dry_run = false;
            answer.event = appended.last().map(|last| last.event.to_string());
            answer.position = appended.last().map(|last| last.position.0);
            Ok(answer)
        })
    }

    /// Text for the log, with what looks like a secret masked.
    pub(crate) fn without_secret(&self, text: &str) -> String {
        let masked = self.secrets.masked(text);
        masked.unwrap_or_else(|| text.to_owned())
    }

    fn undo_plan(
        &self,
        views: &Views,
        request: &UndoRequest,
        selector: &str,
    ) -> QueryResult<(UndoAnswer, Vec<LogUndone>)> {
        let wanted = self.undo_wanted(views, request)?;
        let undos = views.undos()?;
        let mut picked = self.pick(views, &wanted)?;
        let mut skipped = Vec::new();
        let mut already = 0;
        let mut undone_by = None;
        let mut redacted: Vec<Picked> = Vec::new();
        let chosen: BTreeSet<EventId> = picked.iter().map(|picked| picked.at.event).collect();
        picked.retain(|picked| {
            if !can_be_undone(picked.kind) {
                skipped.push(picked.stays());
                return false;
            }
            let mut in_force = undos.in_force(&picked.at).peekable();
            if in_force.peek().is_none() {
                // An undo has no text of a memory: taking it back needs none.
                let stays = picked.withheld && picked.kind != Kind::LOG_UNDONE;
                if stays {
                    redacted.push(picked.clone());
                    skipped.push(picked.stays());
                }
                return !stays;
            }
            // What is undone only by what is undone here would come back.
            let stays = in_force.find(|undo| !chosen.contains(&undo.event));
            if let Some(undo) = stays {
                already += 1;
                undone_by = Some(undo.event);
            }
            stays.is_none()
        });
        let named = |it: &&Picked| wanted.named.contains(&it.position) || picked.is_empty();
        if let Some(it) = redacted.iter().find(named) {
            return Err(is_redacted(it).into());
        }
        if picked.is_empty() {
            return Err(why_nothing(selector, undone_by, &skipped).into());
        }
        // What every command names beside what was asked for is no news.
        skipped.retain(|skipped| skipped.kind != "log.actor_named");
        skipped.retain(|skipped| skipped.kind != "log.origin_started");
        let mut later = self.later(views, &picked, &undos)?;
        if request.cascade {
            let stays = later.extract_if(.., |(_, it)| it.withheld);
            skipped.extend(stays.map(|(_, it)| it.stays()));
        }
        if request.cascade {
            picked.extend(later.iter().map(|(_, picked)| picked.clone()));
            picked.sort_by_key(|picked| picked.position);
            picked.dedup_by_key(|picked| picked.position);
        }
        let undos = undos_of(picked.iter().map(|it| (it.at, it.before)).collect());
        let changes = views.what_if_undone(&self.log, &undos)?;
        let mut later_of: BTreeMap<EntityId, u64> = BTreeMap::new();
        let later = match request.cascade {
            true => Vec::new(),
            false => later,
        };
        for (entity, _) in &later {
            *later_of.entry(*entity).or_default() += 1;
        }
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
            changes: Vec::with_capacity(changes.len()),
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
        let mut with = self.links_with(views, &changes)?;
        for change in &changes {
            let links = with.remove(&change.entity).unwrap_or_default();
            let later = later_of.get(&change.entity).copied().unwrap_or(0);
            answer
                .changes
                .extend(self.undo_change(views, change, links, later)?);
        }
        answer.plan = plan_of(&undos, &answer)?;
        let mut commands: BTreeMap<CommandId, UndoneCommand> = BTreeMap::new();
        for picked in &picked {
            let entry = commands.entry(picked.command).or_insert(UndoneCommand {
                position: picked.position.0,
                event: picked.at.event.to_string(),
                at: rfc3339(picked.ms),
                kind: picked.kind.name(),
                events: 0,
            });
            entry.events += 1;
        }
        answer.commands_total = commands.len() as u64;
        answer.commands = commands.into_values().collect();
        answer.commands.sort_by_key(|command| command.position);
        let more = answer.commands.len().saturating_sub(COMMANDS_MAX);
        answer.commands.drain(..more);
        Ok((answer, undos))
    }

    fn undo_change(
        &self,
        views: &Views,
        change: &Change,
        with: Vec<UndoLink>,
        later: u64,
    ) -> QueryResult<Option<UndoChange>> {
        let newest = views.tally().position;
        let is_memory = change.after.family() == Family::Memory;
        let shown = |version: &Version| {
            if !is_memory {
                return Ok(graph_row(version));
            }
            let entity = views.resolve(version.id)?;
            // Without links: they are another matter than the row, and named as a field.
            let weight_ppm = views.weight_at(&self.log, entity, version, newest)?;
            Ok::<_, QueryError>(UndoRow::Memory(Box::new(Memory {
                weight: decimal(weight_ppm),
                ..memory(version, views.accesses_at(&self.log, entity, newest)?)
            })))
        };
        let (before, after) = (&change.before, &change.after);
        let action = match (before.hidden, after.hidden) {
            (false, true) => UndoAction::Gone,
            (true, false) => UndoAction::Back,
            _ => match (before.is_alive(), after.is_alive()) {
                (true, false) => UndoAction::Gone,
                (false, true) => UndoAction::Back,
                _ => UndoAction::Changed,
            },
        };
        let some = |version: &Version| (!version.hidden).then(|| shown(version)).transpose();
        let (was, is) = (some(before)?, some(after)?);
        if was == is && change.links.is_empty() {
            return Ok(None);
        }
        let links = change.links.iter();
        let links: QueryResult<_> = links.map(|link| self.undo_link(views, link)).collect();
        let mut links: Vec<UndoLink> = links?;
        links.extend(with);
        let mut fields = match action {
            UndoAction::Changed => {
                let mut names = match is_memory {
                    true => field_names(difference(before, after)),
                    false => graph_fields(before, after),
                };
                names.extend((!links.is_empty()).then(|| "links".to_owned()));
                names
            }
            _ => Vec::new(),
        };
        if action == UndoAction::Changed && fields.is_empty() {
            fields.push("created_at".to_owned());
        }
        Ok(Some(UndoChange {
            id: id_text(after.id),
            of: match after.family() {
                Family::Memory => RowKind::Memory,
                Family::Memoir => RowKind::Memoir,
                Family::Concept => RowKind::Concept,
            },
            topic: place_of(before, after),
            action,
            fields,
            before: was,
            after: is,
            links,
            later_changes: later,
        }))
    }

    fn undo_link(&self, views: &Views, link: &Link) -> QueryResult<UndoLink> {
        let entity = views.resolve(link.to)?;
        let to = views.version_at(entity, views.tally().position)?;
        Ok(UndoLink {
            action: match link.holds() {
                true => UndoAction::Gone,
                false => UndoAction::Back,
            },
            relation: relation_text(link),
            from: None,
            name: to
                .as_ref()
                .filter(|to| to.family() == Family::Concept)
                .and_then(|to| to.key.clone()),
            to: id_text(to.map_or(link.to, |to| to.id)),
            event: link.event.to_string(),
        })
    }

    fn undo_wanted(&self, views: &Views, request: &UndoRequest) -> QueryResult<Wanted> {
        let mut wanted = Wanted {
            session: request.session.as_deref().map(hash::session_id),
            actor: request.actor.clone(),
            ..Wanted::default()
        };
        if let Some(topic) = &request.topic {
            let topic = self.topic_filter(views, topic)?;
            wanted.members = Some(views.members(&topic)?.into_iter().collect());
        }
        if let Some(memoir) = &request.memoir {
            wanted.members = Some(self.members_of_memoir(views, memoir)?.into_iter().collect());
        }
        if let Some(since) = &request.since {
            match when::parse(since, self.now_ms(), &self.zone(), DayMeans::Start)
                .map_err(|error| self.without_its_secrets(error))?
            {
                When::Time(ms) => wanted.since_ms = Some(ms),
                When::Position(position) => wanted.since = Some(Position(position)),
                When::Event(prefix) => wanted.since = Some(self.find_event(&prefix)?),
            }
        }
        let mut positions = BTreeSet::new();
        for event in &request.events {
            match event.split_once("..") {
                Some((from, to)) => {
                    let whole = [from, to].iter().all(|end| !end.trim().is_empty());
                    let range = match whole {
                        true => (self.event_named(views, from)?, self.event_named(views, to)?),
                        false => (Position(1), Position(0)),
                    };
                    if request.events.len() > 1 || range.0 > range.1 {
                        return Err(ServiceError::invalid_with(
                            format!("`{event}` is no range that can be undone"),
                            "give one range alone, the earlier end first: `@12..@20`",
                        )
                        .into());
                    }
                    if range.0 == range.1 {
                        wanted.named.insert(range.0);
                    }
                    wanted.range = Some(range);
                }
                None => {
                    positions.insert(self.event_named(views, event)?);
                }
            }
        }
        wanted.named.extend(&positions);
        if !positions.is_empty() && request.only {
            wanted.positions = Some(positions);
        } else if !positions.is_empty() {
            let mut commands = BTreeSet::new();
            let positions: Vec<_> = positions.into_iter().collect();
            let mut refused = None;
            views.events_at(&self.log, &positions, &mut |event| {
                commands.insert(event.head.command());
                if !can_be_undone(event.head.kind()) {
                    refused = Some((event.position, event.head.kind()));
                }
            })?;
            if let Some((position, kind)) = refused {
                return Err(cannot_be_undone(position.0, &kind.name()).into());
            }
            wanted.commands = Some(commands);
        }
        if let Some(last) = request.last {
            wanted.commands = Some(self.last_commands(&wanted, views, last)?);
            // The commands as wholes; what chose them has done its part.
            wanted.since = None;
            wanted.since_ms = None;
        }
        Ok(wanted)
    }

    /// The newest commands that changed something.
    fn last_commands(
        &self,
        wanted: &Wanted,
        views: &Views,
        last: usize,
    ) -> QueryResult<BTreeSet<CommandId>> {
        let mut commands = BTreeSet::new();
        self.log.scan_back(None, &mut |event| {
            let known = commands.contains(&event.head.command());
            // What others did elsewhere is not what was done last here.
            let counts = event.own && is_change(&event.head) && !known;
            if counts && wanted.fits(views, event) {
                if commands.len() == last {
                    return ControlFlow::Break(());
                }
                commands.insert(event.head.command());
            }
            ControlFlow::Continue(())
        })?;
        Ok(commands)
    }

    /// Every event that is wanted, ascending.
    fn pick(&self, views: &Views, wanted: &Wanted) -> QueryResult<Vec<Picked>> {
        let mut picked = Vec::new();
        if let Some(positions) = &wanted.positions {
            let positions: Vec<_> = positions.iter().copied().collect();
            views.events_at(&self.log, &positions, &mut |event| {
                picked.push(Picked::of(event));
            })?;
            return Ok(picked);
        }
        // A command's events may lie anywhere, among those of others.
        self.log.scan(&icm_log::Cursor::START, &mut |event| {
            if wanted.fits(views, event) {
                picked.push(Picked::of(event));
            }
            ControlFlow::Continue(())
        })?;
        Ok(picked)
    }

    /// Events in force that came later and are about the same memories, each with the memory,
    /// ascending. Among them are those that are undone when `cascade` is asked for.
    fn later(
        &self,
        views: &Views,
        picked: &[Picked],
        undos: &Undos,
    ) -> QueryResult<Vec<(EntityId, Picked)>> {
        let chosen: BTreeSet<Position> = picked.iter().map(|picked| picked.position).collect();
        let mut first: BTreeMap<SubjectId, Position> = BTreeMap::new();
        for picked in picked {
            if picked.kind != Kind::LOG_UNDONE && !picked.subject.is_zero() {
                let entity = views.resolve(picked.subject)?;
                first.entry(entity).or_insert(picked.position);
            }
        }
        let mut later = Vec::new();
        for (entity, first) in first {
            let positions = views.touched(entity)?;
            let positions: Vec<_> = (positions.into_iter())
                .filter(|position| *position > first && !chosen.contains(position))
                .collect();
            views.events_at(&self.log, &positions, &mut |event| {
                let is_undo = event.head.kind() == Kind::LOG_UNDONE;
                if !is_undo && !undos.is_undone(&InChain::of(event)) {
                    later.push((entity, Picked::of(event)));
                }
            })?;
        }
        later.sort_by_key(|(_, picked)| picked.position);
        Ok(later)
    }
}

impl Wanted {
    fn fits(&self, views: &Views, event: &Event<'_>) -> bool {
        let head = &event.head;
        let position = event.position;
        let commands = &self.commands;
        (commands.as_ref()).is_none_or(|commands| commands.contains(&head.command()))
            && self
                .range
                .is_none_or(|(from, to)| from <= position && position <= to)
            && self.session.is_none_or(|session| session == head.session())
            && self.since.is_none_or(|since| position >= since)
            && self.since_ms.is_none_or(|since| head.time().ms() >= since)
            && self.actor.as_deref().is_none_or(|actor| {
                let named = views.actor(head.actor());
                named.map_or_else(
                    || head.actor().to_string() == actor,
                    |name| same_actor(name, actor),
                )
            })
            && (self.members.as_ref()).is_none_or(|members| {
                let entity = views.resolve(head.subject());
                entity.is_ok_and(|entity| members.contains(&entity))
            })
    }
}

/// The request as it would be typed; it stands in the event.
fn selector_of(request: &UndoRequest) -> Result<String> {
    let mut parts: Vec<String> = request.events.clone();
    if request.only && request.events.is_empty() {
        return Err(ServiceError::invalid(
            "only named events can be undone without their commands",
        ));
    }
    if request.last == Some(0) {
        return Err(ServiceError::invalid(
            "the last 0 commands are nothing to undo",
        ));
    }
    parts.extend(request.last.map(|last| format!("--last {last}")));
    for (name, value) in [
        ("--session", &request.session),
        ("--actor", &request.actor),
        ("--topic", &request.topic),
        ("--memoir", &request.memoir),
    ] {
        if let Some(value) = value {
            limits::label(name, value, limits::TOPIC_LEN_MAX)?;
            parts.push(format!("{name} {value}"));
        }
    }
    if request.topic.is_some() && request.memoir.is_some() {
        return Err(ServiceError::invalid_with(
            "nothing is in a topic and in a memoir",
            "give `--topic` or `--memoir`",
        ));
    }
    if parts.is_empty() {
        return Err(ServiceError::invalid_with(
            "nothing was chosen to undo",
            "name an event, or give `--last`, `--session`, `--topic` or `--memoir`",
        ));
    }
    if !request.events.is_empty() && parts.len() > request.events.len() {
        return Err(ServiceError::invalid_with(
            "events are named, or chosen by what they belong to, not both",
            "name an event, or give `--last`, `--session`, `--topic` or `--memoir`",
        ));
    }
    if let Some(reason) = &request.reason {
        limits::text("the reason", reason, limits::RAW_EXCERPT_LEN_MAX)?;
    }
    parts.extend(
        request
            .since
            .as_ref()
            .map(|since| format!("--since {since}")),
    );
    for (name, given) in [("--only", request.only), ("--cascade", request.cascade)] {
        if given {
            parts.push(name.to_owned());
        }
    }
    Ok(parts.join(" "))
}

/// Tells one plan from another: what would be undone, and what comes of it.
fn plan_of(undos: &[LogUndone], answer: &UndoAnswer) -> Result<String> {
    // What recalls and ticks do to a memory meanwhile changes nothing of what is undone.
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
    let bytes = serde_json::to_vec(&(undos, &changes, answer.later_total));
    let bytes = bytes.map_err(|error| ServiceError::Internal(error.to_string()))?;
    Ok(blake3::hash(&bytes).to_hex()[..16].to_owned())
}

fn nothing_to_undo(selector: &str) -> ServiceError {
    ServiceError::Nothing {
        message: format!("there is nothing to undo for `{selector}`"),
        hint: "`icm log` lists what there is".to_owned(),
    }
}

fn why_nothing(
    selector: &str,
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
        None => nothing_to_undo(selector),
    }
}

/// Without its text nobody can say what undoing it would change; other commands still reach it.
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

fn cannot_be_undone(position: u64, kind: &str) -> ServiceError {
    ServiceError::invalid_with(
        format!("event @{position} is a {kind}, which cannot be undone"),
        "undo reaches what was done to memories and memoirs, and other undos",
    )
}

/// Where a row stands: its topic, or its memoir; a concept's name comes with it.
fn place_of(before: &Version, after: &Version) -> String {
    let topic = after.topic.as_ref().or(before.topic.as_ref());
    let topic = topic.cloned().unwrap_or_default();
    match (after.family(), after.key.as_ref().or(before.key.as_ref())) {
        (Family::Concept, Some(name)) => format!("{topic} / {name}"),
        _ => topic,
    }
}
