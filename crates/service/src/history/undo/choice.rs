//! The choice of the events that an undo takes back, and the later events about the same memories.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use icm_log::head::Head;
use icm_log::record::Body;
use icm_log::{CommandId, Event, EventId, Kind, Position, SubjectId};
use icm_projections::Views;
use icm_projections::fold::{EntityId, InChain, Undos};

use crate::history::actor::NamedActor;
use crate::service::Service;
use crate::snapshot::QueryResult;
use icm_api::error::{Result, ServiceError};
use icm_api::limits;
use icm_api::when;
use icm_api::when::{DayMeans, When};
use icm_api::{SkippedEvent, UndoRequest};

/// An event that was chosen.
#[derive(Debug, Clone)]
pub(super) struct Picked {
    pub(super) position: Position,
    pub(super) at: InChain,
    /// The event before it in its chain.
    pub(super) before: EventId,
    pub(super) command: CommandId,
    pub(super) kind: Kind,
    pub(super) ms: u64,
    pub(super) subject: SubjectId,
    pub(super) withheld: bool,
}

impl Picked {
    pub(super) fn stays(&self) -> SkippedEvent {
        SkippedEvent {
            event: self.at.event.to_string(),
            position: self.position.0,
            kind: self.kind.name(),
            redacted: self.withheld && self.kind.can_be_undone(),
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

/// A request for an undo, with names and times resolved.
#[derive(Default)]
pub(super) struct Wanted {
    pub(super) positions: Option<BTreeSet<Position>>,
    /// Events that are named one by one, also as a range of one.
    pub(super) named: BTreeSet<Position>,
    pub(super) range: Option<(Position, Position)>,
    pub(super) commands: Option<BTreeSet<CommandId>>,
    /// A session and the sessions that work for it.
    pub(super) sessions: Option<BTreeSet<icm_log::SessionId>>,
    pub(super) actor: Option<NamedActor>,
    /// The members of a topic or a memoir, now or earlier.
    pub(super) members: Option<BTreeSet<SubjectId>>,
    pub(super) since: Option<Position>,
    pub(super) since_ms: Option<u64>,
}

/// Returns `true` if an event changes something that people would call a change. A tick that shares a batch is none: a
/// recall wrote it on its way.
fn is_change(head: &Head<'_>) -> bool {
    let on_the_way = head.kind() == Kind::MEMORY_DECAYED && head.batch_count() > 1;
    let only_tells = matches!(
        head.kind(),
        Kind::MEMORY_RECALLED | Kind::SESSION_STARTED | Kind::SESSION_ENDED
    );
    head.kind().can_be_undone() && !only_tells && !on_the_way
}

impl Service {
    pub(super) fn undo_wanted(&self, views: &Views, request: &UndoRequest) -> QueryResult<Wanted> {
        let mut wanted = Wanted {
            sessions: match &request.session {
                Some(session) => Some(self.sessions_below(session)?),
                None => None,
            },
            actor: (request.actor.as_deref()).map(|name| NamedActor::of(views, name)),
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
                if !event.head.kind().can_be_undone() {
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
            // Whole commands are undone; the times have served to choose them.
            wanted.since = None;
            wanted.since_ms = None;
        }
        Ok(wanted)
    }

    /// Returns the newest commands that changed something.
    fn last_commands(
        &self,
        wanted: &Wanted,
        views: &Views,
        last: usize,
    ) -> QueryResult<BTreeSet<CommandId>> {
        let mut commands = BTreeSet::new();
        self.log.scan_back(None, &mut |event| {
            let known = commands.contains(&event.head.command());
            // Only commands of this store count as its last ones.
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

    /// Returns every event that is wanted, ascending.
    pub(super) fn pick(&self, views: &Views, wanted: &Wanted) -> QueryResult<Vec<Picked>> {
        let mut picked = Vec::new();
        if let Some(positions) = &wanted.positions {
            let positions: Vec<_> = positions.iter().copied().collect();
            views.events_at(&self.log, &positions, &mut |event| {
                picked.push(Picked::of(event));
            })?;
            return Ok(picked);
        }
        // The events of a command may lie anywhere, among those of others.
        self.log.scan(&icm_log::Cursor::START, &mut |event| {
            if wanted.fits(views, event) {
                picked.push(Picked::of(event));
            }
            ControlFlow::Continue(())
        })?;
        Ok(picked)
    }

    /// Returns the later events in force about the same memories, each with its memory, ascending. They are undone,
    /// too, if `cascade` is asked for.
    pub(super) fn later(
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
            && (self.sessions.as_ref()).is_none_or(|sessions| sessions.contains(&head.session()))
            && self.since.is_none_or(|since| position >= since)
            && self.since_ms.is_none_or(|since| head.time().ms() >= since)
            && self.actor.as_ref().is_none_or(|actor| {
                let named = views.actor(head.actor());
                named.map_or_else(
                    || actor.is(&head.actor().to_string()),
                    |name| actor.is(name),
                )
            })
            && (self.members.as_ref()).is_none_or(|members| {
                let entity = views.resolve(head.subject());
                entity.is_ok_and(|entity| members.contains(&entity))
            })
    }
}

/// Returns the request as it would be typed. The event keeps it.
pub(super) fn selector_of(request: &UndoRequest) -> Result<String> {
    let mut parts: Vec<String> = request.events.clone();
    if request.only && request.events.is_empty() {
        return Err(ServiceError::invalid_with(
            "only named events can be undone without their commands",
            "name the events, or leave `--only` out",
        ));
    }
    if request.last == Some(0) {
        return Err(ServiceError::invalid_with(
            "the last 0 commands are nothing to undo",
            "give `--last 1` or more",
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

pub(super) fn cannot_be_undone(position: u64, kind: &str) -> ServiceError {
    ServiceError::invalid_with(
        format!("event @{position} is a {kind}, which cannot be undone"),
        "undo reaches memories, memoirs, feedback, sessions, alerts that were set, and other undos",
    )
}
