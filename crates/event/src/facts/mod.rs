//! Facts: the part of a head that folds need. Facts outlive a redaction and hold no free text.
//!
//! Their fields are little-endian, in a fixed order, and bounded. Bytes after the known fields are kept and hashed:
//! they stay in the head, which is never encoded anew.

mod alert;
mod decay;
mod expiry;
mod feedback;
mod graph;
mod link;
mod log;
mod memory;
mod recalled;
mod session;
mod wire;

use serde_json::Value;
use thiserror::Error;

pub use alert::AlertSet;
pub use decay::{MemoryDecayed, MemoryPruned};
pub use expiry::{Condition, Expiry, MemoryExpired};
pub use feedback::{FeedbackApplied, FeedbackRecorded, Verdict};
pub use graph::{
    CONFIDENCE_MAX_PPM, ConceptAdded, ConceptLabelled, ConceptRefined, ConceptUnlabelled,
    MemoirCreated, MemoirDescribed,
};
pub use link::{MemoryLinked, Relation};
pub use log::{
    Continues, Hole, ImportedRange, LogImported, LogOriginStarted, LogRedacted, LogRepaired,
    LogUndone, UndoneRange,
};
pub use memory::{
    Alive, Covered, Importance, MemoryConsolidated, MemoryPinned, MemoryStored, MemoryUpdated,
    Removal, ScopeKind, Trust, fields,
};
pub use recalled::{Front, MemoryRecalled, Recalled, Shown};
pub use session::{ClientCode, SessionCause, SessionEnd, SessionEnded, SessionStarted};

use crate::head::Head;
use crate::kind::Kind;

/// An error: the facts of an event cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the facts of {kind} are not readable: {why}")]
pub struct FactsError {
    /// Kind of the event.
    pub kind: &'static str,
    /// The defect that was found.
    pub why: &'static str,
}

/// The facts of an event of a kind that this version understands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Facts {
    /// `memory.stored`
    Stored(MemoryStored),
    /// `memory.updated`
    Updated(MemoryUpdated),
    /// `memory.recalled`
    Recalled(MemoryRecalled),
    /// `memory.pinned`
    Pinned(MemoryPinned),
    /// `memory.unpinned`: no facts.
    Unpinned,
    /// `memory.expired`
    Expired(MemoryExpired),
    /// `session.started`
    SessionStarted(SessionStarted),
    /// `session.ended`
    SessionEnded(SessionEnded),
    /// `alert.set`
    AlertSet(AlertSet),
    /// `alert.delivered`: no facts.
    AlertDelivered,
    /// `memory.forgotten`, `memoir.forgotten`, `concept.forgotten`
    Forgotten(Alive),
    /// `memory.revived`, `memoir.revived`, `concept.revived`
    Revived(Alive),
    /// `memory.linked`, `concept.linked`
    Linked(MemoryLinked),
    /// `memory.unlinked`, `concept.unlinked`: no facts.
    Unlinked,
    /// `memory.consolidated`
    Consolidated(MemoryConsolidated),
    /// `memoir.created`
    MemoirCreated(MemoirCreated),
    /// `memoir.described`
    MemoirDescribed(MemoirDescribed),
    /// `concept.added`
    ConceptAdded(ConceptAdded),
    /// `concept.refined`
    ConceptRefined(ConceptRefined),
    /// `concept.labelled`
    ConceptLabelled(ConceptLabelled),
    /// `concept.unlabelled`
    ConceptUnlabelled(ConceptUnlabelled),
    /// `feedback.recorded`
    FeedbackRecorded(FeedbackRecorded),
    /// `feedback.applied`
    FeedbackApplied(FeedbackApplied),
    /// `memory.decayed`
    Decayed(MemoryDecayed),
    /// `memory.pruned`
    Pruned(MemoryPruned),
    /// `log.origin_started`
    OriginStarted(LogOriginStarted),
    /// `log.actor_named`: no facts.
    ActorNamed,
    /// `log.imported`
    Imported(LogImported),
    /// `log.redacted`
    Redacted(LogRedacted),
    /// `log.undone`
    Undone(LogUndone),
    /// `log.repaired`
    Repaired(LogRepaired),
    /// An event of a kind or version that this binary does not understand. Folds skip it.
    Opaque,
}

impl Facts {
    /// Reads the facts of an event.
    pub fn of(head: &Head<'_>) -> Result<Facts, FactsError> {
        let bytes = head.facts();
        if !head.kind().is_understood(head.kind_version()) {
            return Ok(Facts::Opaque);
        }
        Ok(match head.kind() {
            Kind::MEMORY_STORED => Facts::Stored(MemoryStored::decode(bytes)?),
            Kind::MEMORY_UPDATED => Facts::Updated(MemoryUpdated::decode(bytes)?),
            Kind::MEMORY_RECALLED => Facts::Recalled(MemoryRecalled::decode(bytes)?),
            Kind::MEMORY_PINNED => Facts::Pinned(MemoryPinned::decode(bytes)?),
            Kind::MEMORY_UNPINNED => Facts::Unpinned,
            Kind::MEMORY_EXPIRED => Facts::Expired(MemoryExpired::decode(bytes)?),
            Kind::SESSION_STARTED => Facts::SessionStarted(SessionStarted::decode(bytes)?),
            Kind::SESSION_ENDED => Facts::SessionEnded(SessionEnded::decode(bytes)?),
            Kind::ALERT_SET => Facts::AlertSet(AlertSet::decode(bytes)?),
            Kind::ALERT_DELIVERED => Facts::AlertDelivered,
            Kind::MEMORY_FORGOTTEN => Facts::Forgotten(Alive::decode("memory.forgotten", bytes)?),
            Kind::MEMORY_REVIVED => Facts::Revived(Alive::decode("memory.revived", bytes)?),
            Kind::MEMORY_LINKED => Facts::Linked(MemoryLinked::decode(bytes)?),
            Kind::MEMORY_UNLINKED => Facts::Unlinked,
            Kind::MEMORY_CONSOLIDATED => Facts::Consolidated(MemoryConsolidated::decode(bytes)?),
            Kind::MEMOIR_CREATED => Facts::MemoirCreated(MemoirCreated::decode(bytes)?),
            Kind::MEMOIR_DESCRIBED => Facts::MemoirDescribed(MemoirDescribed::decode(bytes)?),
            Kind::MEMOIR_FORGOTTEN => Facts::Forgotten(Alive::decode("memoir.forgotten", bytes)?),
            Kind::MEMOIR_REVIVED => Facts::Revived(Alive::decode("memoir.revived", bytes)?),
            Kind::CONCEPT_ADDED => Facts::ConceptAdded(ConceptAdded::decode(bytes)?),
            Kind::CONCEPT_REFINED => Facts::ConceptRefined(ConceptRefined::decode(bytes)?),
            Kind::CONCEPT_LABELLED => Facts::ConceptLabelled(ConceptLabelled::decode(bytes)?),
            Kind::CONCEPT_UNLABELLED => Facts::ConceptUnlabelled(ConceptUnlabelled::decode(bytes)?),
            Kind::CONCEPT_LINKED => {
                Facts::Linked(MemoryLinked::decode_of("concept.linked", bytes)?)
            }
            Kind::CONCEPT_UNLINKED => Facts::Unlinked,
            Kind::CONCEPT_FORGOTTEN => Facts::Forgotten(Alive::decode("concept.forgotten", bytes)?),
            Kind::CONCEPT_REVIVED => Facts::Revived(Alive::decode("concept.revived", bytes)?),
            Kind::FEEDBACK_RECORDED => Facts::FeedbackRecorded(FeedbackRecorded::decode(bytes)?),
            Kind::FEEDBACK_APPLIED => Facts::FeedbackApplied(FeedbackApplied::decode(bytes)?),
            Kind::MEMORY_DECAYED => Facts::Decayed(MemoryDecayed::decode(bytes)?),
            Kind::MEMORY_PRUNED => Facts::Pruned(MemoryPruned::decode(bytes)?),
            Kind::LOG_ORIGIN_STARTED => Facts::OriginStarted(LogOriginStarted::decode(bytes)?),
            Kind::LOG_ACTOR_NAMED => Facts::ActorNamed,
            Kind::LOG_IMPORTED => Facts::Imported(LogImported::decode(bytes)?),
            Kind::LOG_REDACTED => Facts::Redacted(LogRedacted::decode(bytes)?),
            Kind::LOG_UNDONE => Facts::Undone(LogUndone::decode(bytes)?),
            Kind::LOG_REPAIRED => Facts::Repaired(LogRepaired::decode(bytes)?),
            _ => Facts::Opaque,
        })
    }

    /// Returns the facts as JSON, for people.
    pub fn to_json(&self) -> Value {
        let json = |value: Result<Value, _>| value.unwrap_or(Value::Null);
        match self {
            Facts::Stored(facts) => json(serde_json::to_value(facts)),
            Facts::Updated(facts) => json(serde_json::to_value(facts)),
            Facts::Recalled(facts) => json(serde_json::to_value(facts)),
            Facts::Pinned(facts) => json(serde_json::to_value(facts)),
            Facts::Expired(facts) => json(serde_json::to_value(facts)),
            Facts::SessionStarted(facts) => json(serde_json::to_value(facts)),
            Facts::SessionEnded(facts) => json(serde_json::to_value(facts)),
            Facts::AlertSet(facts) => json(serde_json::to_value(facts)),
            Facts::Forgotten(facts) | Facts::Revived(facts) => json(serde_json::to_value(facts)),
            Facts::Linked(facts) => json(serde_json::to_value(facts)),
            Facts::Consolidated(facts) => json(serde_json::to_value(facts)),
            Facts::MemoirCreated(facts) => json(serde_json::to_value(facts)),
            Facts::MemoirDescribed(facts) => json(serde_json::to_value(facts)),
            Facts::ConceptAdded(facts) => json(serde_json::to_value(facts)),
            Facts::ConceptRefined(facts) => json(serde_json::to_value(facts)),
            Facts::ConceptLabelled(facts) => json(serde_json::to_value(facts)),
            Facts::ConceptUnlabelled(facts) => json(serde_json::to_value(facts)),
            Facts::FeedbackRecorded(facts) => json(serde_json::to_value(facts)),
            Facts::FeedbackApplied(facts) => json(serde_json::to_value(facts)),
            Facts::Decayed(facts) => json(serde_json::to_value(facts)),
            Facts::Pruned(facts) => json(serde_json::to_value(facts)),
            Facts::OriginStarted(facts) => json(serde_json::to_value(facts)),
            Facts::Imported(facts) => json(serde_json::to_value(facts)),
            Facts::Redacted(facts) => json(serde_json::to_value(facts)),
            Facts::Undone(facts) => json(serde_json::to_value(facts)),
            Facts::Repaired(facts) => json(serde_json::to_value(facts)),
            Facts::ActorNamed | Facts::AlertDelivered | Facts::Unlinked | Facts::Unpinned => {
                Value::Object(serde_json::Map::new())
            }
            Facts::Opaque => Value::Null,
        }
    }
}
