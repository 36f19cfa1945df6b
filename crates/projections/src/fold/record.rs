//! Row versions: rows with the position from which they hold.

use std::borrow::Cow;

use icm_log::facts::{self, Importance, ScopeKind, Trust};
use icm_log::{ActorId, EventId, Kind, Name, OriginId, Position, SubjectId, Time};
use serde::{Deserialize, Serialize};

/// The key of a memory in the views: the id of the first `stored` that was learned of it.
pub type EntityId = SubjectId;

/// The place of an event in the total order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// The time by the author's clock.
    pub time: Time,
    /// The author's origin.
    pub origin: OriginId,
    /// The event.
    pub event: EventId,
}

/// Bits of [`Version::changed`] beside the bits of the fields.
pub mod changed {
    /// The set of keywords.
    pub const KEYWORDS: u32 = 1 << 16;
    /// Forgotten or revived.
    pub const ALIVE: u32 = 1 << 17;
    /// Another part of the row: its times, or the writers of its values.
    pub const ROW: u32 = 1 << 18;
}

/// The source of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Source<T = String> {
    /// The agent that wrote the memory.
    pub agent: Option<T>,
    /// The client program of the agent.
    pub client: Option<T>,
    /// The session in which it was written.
    pub session: Option<T>,
    /// The project in which it was written.
    pub project: Option<T>,
    /// A file that the memory is about.
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
    /// Returns `true` if no part is known.
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
    /// The event that added the keyword.
    pub event: EventId,
    /// The keyword's index among that event's additions.
    pub index: u16,
    /// The word; `None` if its payload is withheld or damaged.
    pub text: Option<T>,
}

/// An event that holds the current value of some fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// The event.
    pub stamp: Stamp,
    /// Fields whose value no other write has replaced. If a field has several writers, the one with the largest stamp
    /// is shown.
    pub fields: u32,
}

/// The fields of a memoir's or concept's row that a memory's row does not have. Its topic is the memoir's name, its key
/// the concept's name, its content the description or definition, and its keywords are the labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphRow {
    /// The memoir of the concept, as the concept's event names it; `None` for a memoir.
    pub memoir: Option<SubjectId>,
    /// The confidence in a concept, in parts per million.
    pub confidence_ppm: u32,
    /// The number of definitions of a concept: 1, plus one for each refinement.
    pub revision: u32,
}

/// The fields of a feedback's row that a memory's row does not have. Its content is the context, the prediction and the
/// right answer in one text; its key is the topic, and its excerpt the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedbackRow {
    /// The memory that the prediction came from, as the event names it.
    pub memory: Option<SubjectId>,
    /// The code of the verdict on that memory.
    pub verdict: u8,
    /// Bytes of the context in the content; 0 if the text is withheld.
    pub context_len: u32,
    /// Bytes of the prediction in the content; 0 if the text is withheld.
    pub predicted_len: u32,
}

/// The beginning of every topic of facts. A fact is a memory of such a topic with a key; its [`Version::occurred_at_ms`]
/// is the first moment at which its value is valid.
pub const FACTS: &str = "facts/";

/// The name of the list of all feedback; it begins with the name of the list of all memoirs.
pub const FEEDBACK: &str = "\u{1}\u{1}";

/// The text between the context and the prediction in the content of feedback. It has no words, so no search finds it.
pub(super) const BEFORE_PREDICTED: &str = "\n\u{2717} ";
/// The text between the prediction and the right answer.
pub(super) const BEFORE_CORRECT: &str = "\n\u{2713} ";

impl FeedbackRow {
    /// Returns the context, the prediction and the right answer in the content of feedback; `None` if the content is of
    /// another form.
    pub fn parts<'a>(&self, content: &'a str) -> Option<[&'a str; 3]> {
        let (context, rest) = content.split_at_checked(self.context_len as usize)?;
        let rest = rest.strip_prefix(BEFORE_PREDICTED)?;
        let (predicted, rest) = rest.split_at_checked(self.predicted_len as usize)?;
        Some([context, predicted, rest.strip_prefix(BEFORE_CORRECT)?])
    }
}

/// The kind of thing that a row describes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Family {
    /// A memory.
    #[default]
    Memory,
    /// A memoir: a named container of concepts.
    Memoir,
    /// A concept.
    Concept,
    /// Feedback: a prediction with its correction.
    Feedback,
}

impl Family {
    /// Returns the family as one byte.
    pub(crate) fn code(self) -> u8 {
        match self {
            Family::Memory => 0,
            Family::Memoir => 1,
            Family::Concept => 2,
            Family::Feedback => 3,
        }
    }

    pub(crate) fn from_code(code: u8) -> Option<Family> {
        let all = [
            Family::Memory,
            Family::Memoir,
            Family::Concept,
            Family::Feedback,
        ];
        all.into_iter().find(|family| family.code() == code)
    }
}

/// The times at which an imported memory was stored and changed in its former store. For display only: decay, filters
/// and order use [`Version::created_ms`] and [`Version::updated_ms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// Time of the first store, in milliseconds since the epoch.
    pub created_ms: i64,
    /// Time of the last change before the export, in milliseconds since the epoch.
    pub updated_ms: i64,
}

/// The condition under which a memory expires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Expiry {
    /// The kind of condition, and its numbers.
    pub facts: facts::Expiry,
    /// The event that set it.
    pub set_by: EventId,
    /// The file of the condition; `None` if it has none, or if the text is withheld.
    pub path: Option<String>,
    /// The time zone of weekly hours; `None` if it has none, or if the text is withheld.
    pub zone: Option<String>,
    /// Length of the file as the condition was set.
    pub len: Option<u64>,
    /// Modification time of the file, in milliseconds since the epoch.
    pub modified_ms: Option<i64>,
    /// BLAKE3 of the file.
    pub hash: Option<String>,
}

/// A row version of a memory, a memoir, a concept or feedback. `T` is the stored form of its texts: a fold without history stores
/// texts elsewhere (see [`Texts`](super::texts::Texts)).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version<T = String> {
    /// First position at which the version holds; it holds until the next version's first position.
    pub from: Position,
    /// The event that made the version.
    pub stamp: Stamp,
    /// The kind of that event.
    pub kind: u16,
    /// The actor of that event.
    pub actor: ActorId,
    /// The changes by that event: bits of the fields and of [`changed`].
    pub changed: u32,
    /// The id under which the row is shown.
    pub id: SubjectId,
    /// Stamp of the `stored` that gave the id.
    pub id_stamp: Stamp,
    /// The actor of that `stored`.
    pub author: ActorId,
    /// Digest of scope, topic and key, as stored; zero without a name.
    pub name: Name,
    /// The causal length: odd if alive, even if forgotten.
    pub causal_length: u32,
    /// The largest causal length of any of its events, in force or not.
    pub length_seen: u32,
    /// `true` if no `stored` of the row is in force: the row then only keeps its id.
    pub hidden: bool,
    /// The ordinal, which text and vectors share; one for each living version.
    pub ordinal: Option<u64>,
    /// Topic.
    pub topic: Option<T>,
    /// The text; `None` with the bit in `withheld` set if its payload is absent.
    pub content: Option<T>,
    /// The verbatim excerpt.
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
    /// The source of the memory.
    pub source: Source<T>,
    /// Valid time, milliseconds since the epoch.
    pub occurred_at_ms: Option<i64>,
    /// End of the pin, in milliseconds since the epoch; 0 means until it is unpinned, `None` means not pinned.
    pub pinned_until_ms: Option<u64>,
    /// The condition under which the memory expires.
    pub expiry: Option<Box<Expiry>>,
    /// The event whose condition came true, as a `memory.expired` says. The memory is expired while that event still
    /// gives the condition.
    pub expired: Option<EventId>,
    /// The writer's JSON object, as text.
    pub metadata: Option<T>,
    /// Keywords, in order of addition.
    pub keywords: Vec<Keyword<T>>,
    /// Time of the first store, in milliseconds since the epoch.
    pub created_ms: u64,
    /// Time of the last change of a field, in milliseconds since the epoch.
    pub updated_ms: u64,
    /// The times in a former store, as the `stored` that gave the id carries them.
    pub carried: Option<Carried>,
    /// The weight, in parts per million.
    pub weight_ppm: u32,
    /// Fields whose payload is withheld or damaged.
    pub withheld: u32,
    /// The writers of the current values.
    pub writers: Vec<Writer>,
    /// See [`Version::heads`]; empty if the event that made the version is the only one.
    pub(super) heads: Vec<EventId>,
    /// The graph fields of a memoir or a concept.
    pub graph: Option<GraphRow>,
    /// The fields of feedback.
    pub feedback: Option<FeedbackRow>,
}

impl<T> Version<T> {
    /// Returns the newest events of the row: those that none of its other events names. An event that names them has
    /// seen all events of the row.
    pub fn heads(&self) -> &[EventId] {
        match self.heads.as_slice() {
            [] => std::slice::from_ref(&self.stamp.event),
            heads => heads,
        }
    }

    /// Returns the kind of thing that the row describes.
    pub fn family(&self) -> Family {
        match (&self.graph, &self.feedback) {
            (None, None) => Family::Memory,
            (None, Some(_)) => Family::Feedback,
            (Some(GraphRow { memoir: None, .. }), _) => Family::Memoir,
            (Some(_), _) => Family::Concept,
        }
    }

    /// Returns `true` if the row is visible: neither a tombstone nor undone.
    pub fn is_alive(&self) -> bool {
        self.causal_length % 2 == 1 && !self.hidden
    }

    /// Returns `true` if the row is a tombstone.
    pub fn is_forgotten(&self) -> bool {
        self.causal_length.is_multiple_of(2) && !self.hidden
    }

    /// Returns `true` if no event has written the topic of the row. Such a row only stands for memories that a
    /// consolidation covers; it is no memory itself.
    pub fn is_part(&self) -> bool {
        let mut writers = self.writers.iter();
        !writers.any(|writer| writer.fields & icm_log::facts::fields::TOPIC != 0)
    }

    /// Returns the texts without the keywords, in the order of the state hash.
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

    /// Returns the same texts, to change them.
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
    /// Returns `true` if the memory is pinned at a time, in milliseconds since the epoch.
    pub fn is_pinned_at(&self, ms: u64) -> bool {
        self.pinned_until_ms
            .is_some_and(|until| until == 0 || until > ms)
    }

    /// Returns `true` if the memory is a fact.
    pub fn is_fact(&self) -> bool {
        let topic = self.topic.as_deref();
        let is_below = topic.is_some_and(|topic| topic.starts_with(FACTS));
        is_below && self.key.is_some() && self.family() == Family::Memory
    }

    /// Returns `true` if the memory is a fact whose value was to become valid after it was written.
    pub fn is_planned(&self) -> bool {
        self.is_planned_at(self.updated_ms)
    }

    /// Returns `true` if the memory is a fact whose value was planned and is not valid yet at a time, in milliseconds since
    /// the epoch. A clock that goes back makes no plan of what was valid when it was written.
    pub fn is_planned_at(&self, ms: u64) -> bool {
        let starts_after = |ms: u64| {
            let from_ms = self.occurred_at_ms;
            from_ms.is_some_and(|from_ms| i128::from(from_ms) > i128::from(ms))
        };
        starts_after(ms) && starts_after(self.updated_ms) && self.is_fact()
    }

    /// Returns the kind of the event that made the version.
    pub fn kind(&self) -> Kind {
        Kind(self.kind)
    }

    /// Returns the scope as users write it: `global`, `project:ID`, `session:ID`.
    pub fn scope_text(&self) -> String {
        let text = self.scope.as_deref().unwrap_or("(withheld)");
        match self.scope_kind {
            ScopeKind::Global => "global".to_owned(),
            ScopeKind::Project => format!("project:{text}"),
            ScopeKind::Session => format!("session:{text}"),
        }
    }

    /// Returns the words of the keywords.
    pub fn keyword_texts(&self) -> Vec<String> {
        self.keywords
            .iter()
            .filter_map(|keyword| keyword.text.clone())
            .collect()
    }

    /// Returns the text that is embedded: a concept's name precedes its definition.
    pub fn meaning_text(&self) -> Cow<'_, str> {
        self.meaning_of(self.content.as_deref().unwrap_or_default())
    }

    /// Returns the text that is embedded for a part of the content.
    pub fn meaning_of<'a>(&self, content: &'a str) -> Cow<'a, str> {
        match (self.family(), &self.key, &self.topic) {
            (Family::Concept, Some(name), _) | (Family::Memoir, _, Some(name)) => {
                Cow::Owned(format!("{name}: {content}"))
            }
            _ => Cow::Borrowed(content),
        }
    }

    /// Returns every event that a change of this row has to name as observed.
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
