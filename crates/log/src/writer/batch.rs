//! Batches: the input of an append, and its ceilings.

use crate::error::{LogError, Result};
use crate::store_file::StoreFile;
use icm_event::facts;
use icm_event::head::{FACTS_LEN_MAX, HEAD_FIXED_LEN, REFS_MAX};
use icm_event::id::{
    ActorId, CommandId, EventId, Position, RequestKey, SessionId, SubjectId, Time,
};
use icm_event::kind::Kind;
use icm_event::payload;
use icm_event::record::{FRAME_LEN, PAYLOAD_LEN_MAX, SALT_LEN, SECOND_CHECK_LEN};

/// Most events of a batch. Raised, an append needs more memory; a head counts up to 65,535.
pub const BATCH_EVENTS_MAX: usize = 16_384;
/// Most bytes of a batch. Raised, an append needs more memory.
pub const BATCH_LEN_MAX: usize = 32 * 1_024 * 1_024;

/// An event to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Kind of the event.
    pub kind: Kind,
    /// Subject of the event.
    pub subject: SubjectId,
    /// Ids of the events observed; at most 1,024.
    pub refs: Vec<EventId>,
    /// Encoded facts.
    pub facts: Vec<u8>,
    /// Encoded payload.
    pub payload: Vec<u8>,
}

impl NewEvent {
    /// Returns the length of the event's record in bytes. The sum over a batch must not exceed [`BATCH_LEN_MAX`].
    pub fn record_len(&self) -> usize {
        let head = HEAD_FIXED_LEN + self.refs.len() * 32 + self.facts.len();
        FRAME_LEN + head + SECOND_CHECK_LEN + SALT_LEN + self.payload.len()
    }
}

/// Events that are appended together or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch<'a> {
    /// Id of the command, shared by all of its batches.
    pub command: CommandId,
    /// Name of the actor; see [`Writer::actor`](super::Writer::actor).
    pub actor: &'a str,
    /// Session; zero for none.
    pub session: SessionId,
    /// Request key; zero for none. Only the first event gets it.
    pub request: RequestKey,
    /// The events; at least one.
    pub events: Vec<NewEvent>,
}

/// An event that was appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Id of the event.
    pub event: EventId,
    /// Position of the event.
    pub position: Position,
    /// Time of the event.
    pub time: Time,
}

pub(super) fn check_ceilings(batch: &Batch<'_>) -> Result<()> {
    let over = |what, len, max| Err(LogError::TooLarge { what, len, max });
    if batch.events.len() > BATCH_EVENTS_MAX {
        return over(
            "number of events in a batch",
            batch.events.len(),
            BATCH_EVENTS_MAX,
        );
    }
    let mut len: usize = 0;
    for event in &batch.events {
        len = len.saturating_add(event.payload.len() + event.facts.len());
        if event.refs.len() > REFS_MAX {
            return over(
                "number of events that one event names",
                event.refs.len(),
                REFS_MAX,
            );
        }
        if event.facts.len() > FACTS_LEN_MAX {
            return over(
                "number of bytes of the facts",
                event.facts.len(),
                FACTS_LEN_MAX,
            );
        }
        if event.payload.len() > PAYLOAD_LEN_MAX {
            return over(
                "number of bytes of a payload",
                event.payload.len(),
                PAYLOAD_LEN_MAX,
            );
        }
    }
    if len > BATCH_LEN_MAX {
        return over("number of bytes of a batch", len, BATCH_LEN_MAX);
    }
    Ok(())
}

/// Returns the first batch of an origin.
pub(super) fn origin_batch<'b>(store: &StoreFile, batch: &Batch<'b>, actor: ActorId) -> Batch<'b> {
    let program = concat!("icm ", env!("CARGO_PKG_VERSION"));
    let started = NewEvent {
        kind: Kind::LOG_ORIGIN_STARTED,
        subject: SubjectId::ZERO,
        refs: store
            .continues
            .map(|continues| continues.event)
            .into_iter()
            .collect(),
        facts: facts::LogOriginStarted {
            continues: store.continues,
        }
        .encode(),
        payload: payload::encode(&payload::LogOriginStarted { program }),
    };
    Batch {
        command: batch.command,
        actor: batch.actor,
        session: batch.session,
        request: RequestKey::ZERO,
        events: vec![started, actor_named(actor, batch.actor)],
    }
}

/// Returns the event that names an actor.
pub fn actor_named(actor: ActorId, name: &str) -> NewEvent {
    NewEvent {
        kind: Kind::LOG_ACTOR_NAMED,
        subject: SubjectId(actor.0),
        refs: Vec::new(),
        facts: Vec::new(),
        payload: payload::encode(&payload::LogActorNamed { name }),
    }
}

/// Most positions that one import takes.
pub(crate) const POSITIONS_MAX: u64 = u32::MAX as u64;

/// Returns the number of positions that an event's imported ranges take before its own.
pub(super) fn imported_count(event: &NewEvent) -> Result<u64> {
    if event.kind != Kind::LOG_IMPORTED {
        return Ok(0);
    }
    // The facts are the writer's own; a reader refuses facts that do not decode.
    let facts = facts::LogImported::decode(&event.facts);
    let count = facts.map_or(u64::MAX, |facts| facts.count());
    if count > POSITIONS_MAX {
        return Err(LogError::TooLarge {
            what: "number of imported events",
            len: usize::try_from(count).unwrap_or(usize::MAX),
            max: usize::try_from(POSITIONS_MAX).unwrap_or(usize::MAX),
        });
    }
    Ok(count)
}
