//! Row versions: a row with the position from which it holds.

use std::borrow::Cow;

use icm_log::facts::{Importance, ScopeKind, Trust};
use icm_log::{ActorId, EventId, Kind, Name, OriginId, Position, SubjectId, Time};
use serde::{Deserialize, Serialize};

/// What keys a memory in the views: the id of the first `stored` learned of it.
pub type EntityId = SubjectId;

/// Place of an event in the total order, wherever one is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The author's clock.
    pub time: Time,
    /// The author.
    pub origin: OriginId,
    /// The event.
    pub event: EventId,
}

/// Bits of [`Version::changed`] beside those of the fields.
pub mod changed {
    /// The set of keywords.
    pub const KEYWORDS: u32 = 1 << 16;
    /// Forgotten or revived.
    pub const ALIVE: u32 = 1 << 17;
    /// Something else that the row carries: times, or who holds its values.
    pub const ROW: u32 = 1 << 18;
}

/// Where a memory came from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Source<T = String> {
    /// Who wrote it.
    pub agent: Option<T>,
    /// The program it came through.
    pub client: Option<T>,
    /// The session it was written in.
    pub session: Option<T>,
    /// The project it was written in.
    pub project: Option<T>,
    /// A file it speaks of.
    pub file: Option<T>,
}

impl<T> Default for Source<T> {
    fn default() -> Self {
        Source {
            agent: None,
            client: None,
            session: None,
            project: None,
            file: None,
        }
    }
}

impl<T> Source<T> {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        let Source {
            agent,
            client,
            session,
            project,
            file,
        } = self;
        [agent, client, session, project, file]
            .iter()
            .all(|text| text.is_none())
    }
}

/// An element of the add-wins set of keywords.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keyword<T = String> {
    /// The event that added it.
    pub event: EventId,
    /// Its index among that event's additions.
    pub index: u16,
    /// The word; `None` when its payload is withheld or damaged.
    pub text: Option<T>,
}

/// An event that holds the current value of some fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// The event.
    pub stamp: Stamp,
    /// Fields whose value no other write has replaced; of several writers of one field the one
    /// with the largest stamp is shown.
    pub fields: u32,
}

/// What a row of the concept graph is beside what a memory's row is. Its topic is the memoir's name,
/// its key the concept's, its content the description or definition, its keywords are the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphRow {
    /// The memoir that the concept is in, as its event names it; `None` for a memoir.
    pub memoir: Option<SubjectId>,
    /// How sure a concept is, parts per million.
    pub confidence_ppm: u32,
    /// How often a concept was defined: 1, and one more each time it was refined.
    pub revision: u32,
}

/// What a row is of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Family {
    /// A memory.
    #[default]
    Memory,
    /// A memoir: a named container of concepts.
    Memoir,
    /// A concept.
    Concept,
}

impl Family {
    /// As one byte.
    pub(crate) fn code(self) -> u8 {
        match self {
            Family::Memory => 0,
            Family::Memoir => 1,
            Family::Concept => 2,
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Family> {
        let mut all = [Family::Memory, Family::Memoir, Family::Concept].into_iter();
        all.find(|family| family.code() == code)
    }
}

/// When an imported memory was stored and changed in the store that it was exported from. For show: decay, filters and
/// order read [`Version::created_ms`] and [`Version::updated_ms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// First stored, milliseconds since the epoch.
    pub created_ms: i64,
    /// Last changed before it was exported, milliseconds since the epoch.
    pub updated_ms: i64,
}

/// One row version of a memory, a memoir or a concept. `T` is how its text is held: as a fold that keeps no history holds
/// it elsewhere (see [`Texts`](super::texts::Texts)).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version<T = String> {
    /// Holds from this position on, until the next version's.
    pub from: Position,
    /// The event that made it.
    pub stamp: Stamp,
    /// Kind of that event.
    pub kind: u16,
    /// Who acted.
    pub actor: ActorId,
    /// What it changed: bits of the fields and of [`changed`].
    pub changed: u32,
    /// The id it is shown under.
    pub id: SubjectId,
    /// Stamp of the `stored` that the id is from.
    pub id_stamp: Stamp,
    /// Who wrote that one.
    pub author: ActorId,
    /// Digest of scope, topic and key, as stored; zero for none.
    pub name: Name,
    /// Odd alive, even forgotten.
    pub causal_length: u32,
    /// The largest causal length of any event about it, in force or not.
    pub length_seen: u32,
    /// No event that stores it is in force: there is a row only to keep its id.
    pub hidden: bool,
    /// Number shared by text and vectors; one a living version.
    pub ordinal: Option<u64>,
    /// Topic.
    pub topic: Option<T>,
    /// The text; `None` with the bit in `withheld` set when its payload is not there.
    pub content: Option<T>,
    /// Verbatim excerpt.
    pub raw_excerpt: Option<T>,
    /// The caller's own id.
    pub key: Option<T>,
    /// Kind of scope.
    pub scope_kind: ScopeKind,
    /// Text of a project's or session's scope.
    pub scope: Option<T>,
    /// Importance.
    pub importance: Importance,
    /// Trust.
    pub trust: Trust,
    /// Where it came from.
    pub source: Source<T>,
    /// Valid time, milliseconds since the epoch.
    pub occurred_at_ms: Option<i64>,
    /// Until when it is pinned, milliseconds since the epoch; 0 until it is unpinned, `None` if it is not pinned.
    pub pinned_until_ms: Option<u64>,
    /// The writer's JSON object, as text.
    pub metadata: Option<T>,
    /// Keywords, in order of addition.
    pub keywords: Vec<Keyword<T>>,
    /// When it was stored, milliseconds since the epoch.
    pub created_ms: u64,
    /// When a field last changed, milliseconds since the epoch.
    pub updated_ms: u64,
    /// The times that the `stored` which the id is from carried over from another store.
    pub carried: Option<Carried>,
    /// Parts per million.
    pub weight_ppm: u32,
    /// Fields whose payload is withheld or damaged.
    pub withheld: u32,
    /// Who holds the current values.
    pub writers: Vec<Writer>,
    /// See [`Version::heads`]; empty for the event that made it alone.
    pub(super) heads: Vec<EventId>,
    /// Of a memoir or a concept.
    pub graph: Option<GraphRow>,
}

impl<T> Version<T> {
    /// The newest events about it: those that no other one names. Whoever names them has seen all.
    pub fn heads(&self) -> &[EventId] {
        match self.heads.as_slice() {
            [] => std::slice::from_ref(&self.stamp.event),
            heads => heads,
        }
    }

    /// What it is of.
    pub fn family(&self) -> Family {
        match self.graph {
            None => Family::Memory,
            Some(GraphRow { memoir: None, .. }) => Family::Memoir,
            Some(_) => Family::Concept,
        }
    }

    /// Whether it is to be seen: no tombstone, and not undone.
    pub fn is_alive(&self) -> bool {
        self.causal_length % 2 == 1 && !self.hidden
    }

    /// Whether it is a tombstone.
    pub fn is_forgotten(&self) -> bool {
        self.causal_length.is_multiple_of(2) && !self.hidden
    }

    /// Whether no event has written its topic: it only stands for memories that a consolidation covers, and is
    /// none itself.
    pub fn is_part(&self) -> bool {
        let mut writers = self.writers.iter();
        !writers.any(|writer| writer.fields & icm_log::facts::fields::TOPIC != 0)
    }

    /// Its texts but the keywords, in the order that the state hash takes them in.
    pub(super) fn texts(&self) -> [&Option<T>; 11] {
        let source = &self.source;
        [
            &self.topic,
            &self.content,
            &self.raw_excerpt,
            &self.key,
            &self.scope,
            &self.metadata,
            &source.agent,
            &source.client,
            &source.session,
            &source.project,
            &source.file,
        ]
    }

    /// The same, to change them.
    pub(super) fn texts_mut(&mut self) -> [&mut Option<T>; 11] {
        let source = &mut self.source;
        [
            &mut self.topic,
            &mut self.content,
            &mut self.raw_excerpt,
            &mut self.key,
            &mut self.scope,
            &mut self.metadata,
            &mut source.agent,
            &mut source.client,
            &mut source.session,
            &mut source.project,
            &mut source.file,
        ]
    }
}

impl Version {
    /// The kind of the event that made it.
    pub fn kind(&self) -> Kind {
        Kind(self.kind)
    }

    /// Its scope as users write it: `global`, `project:ID`, `session:ID`.
    pub fn scope_text(&self) -> String {
        let text = self.scope.as_deref().unwrap_or("(withheld)");
        match self.scope_kind {
            ScopeKind::Global => "global".to_owned(),
            ScopeKind::Project => format!("project:{text}"),
            ScopeKind::Session => format!("session:{text}"),
        }
    }

    /// The words of its keywords.
    pub fn keyword_texts(&self) -> Vec<String> {
        self.keywords
            .iter()
            .filter_map(|keyword| keyword.text.clone())
            .collect()
    }

    /// The text that its meaning is taken from: a concept is named before it is defined.
    pub fn meaning_text(&self) -> Cow<'_, str> {
        self.meaning_of(self.content.as_deref().unwrap_or_default())
    }

    /// The same of a part of its text.
    pub fn meaning_of<'a>(&self, content: &'a str) -> Cow<'a, str> {
        match (self.family(), &self.key, &self.topic) {
            (Family::Concept, Some(name), _) | (Family::Memoir, _, Some(name)) => {
                Cow::Owned(format!("{name}: {content}"))
            }
            _ => Cow::Borrowed(content),
        }
    }

    /// Every event that a change of this row has to name as observed.
    pub fn observed(&self) -> Vec<EventId> {
        let mut events: Vec<_> = self
            .writers
            .iter()
            .map(|writer| writer.stamp.event)
            .collect();
        events.extend(self.heads());
        events.extend(self.keywords.iter().map(|keyword| keyword.event));
        events.sort_unstable();
        events.dedup();
        events
    }
}
