//! What is asked and answered about memoirs and concepts.

use serde::{Deserialize, Serialize};

use super::{Action, Basis, DiffPiece, Direction};
use crate::cursor::Cursor;

/// A named container of concepts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memoir {
    /// ULID.
    pub id: String,
    /// Unique in the store.
    pub name: String,
    /// What it is about; `null` when that was taken out or is damaged.
    pub description: Option<String>,
    /// Living concepts.
    pub concepts: u64,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339, of the last change of the memoir or of a concept in it.
    pub updated_at: String,
    /// It was deleted; its concepts are hidden.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub forgotten: bool,
}

/// A concept as it stood at some basis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Concept {
    /// ULID.
    pub id: String,
    /// Name of its memoir.
    pub memoir: String,
    /// Unique in its memoir.
    pub name: String,
    /// What it means; `null` when that was taken out or is damaged.
    pub definition: Option<String>,
    /// `namespace:value`, or a value alone, in order of addition.
    pub labels: Vec<String>,
    /// 0 to 1; grows with each refinement unless it is given.
    pub confidence: f64,
    /// 1, and one more each time it was refined.
    pub revision: u32,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub updated_at: String,
    /// It was deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub forgotten: bool,
}

/// A link between two concepts of a memoir.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ConceptLink {
    /// Name of their memoir.
    pub memoir: String,
    /// Name of the concept that it goes out from.
    pub from: String,
    /// For instance `depends_on`.
    pub relation: String,
    /// Name of the concept that it goes to.
    pub to: String,
    /// The event that added it (64 hex digits).
    pub event: String,
    /// Why, where that was said; looked up for exports and for the links of a concept that is inspected.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

/// Creates a memoir, or gives one another description.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoirRequest {
    /// At most 128 bytes.
    pub name: String,
    /// At most 64 KiB.
    pub description: String,
    /// Write it even if it holds a secret.
    pub allow_secret: bool,
}

/// Adds a concept, or refines one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConceptRequest {
    /// The memoir's name, or its id.
    pub memoir: String,
    /// At most 256 bytes.
    pub name: String,
    /// At most 64 KiB; `None`, of a refinement alone, leaves it as it is.
    pub definition: Option<String>,
    /// At most 32 of at most 64 bytes; of a refinement those that come on top.
    pub labels: Vec<String>,
    /// From 0 to 1. Default: 0.5, and a tenth more at each refinement.
    pub confidence: Option<f64>,
    /// Memories that it is taken from: full ids or unique prefixes, on top of those there are.
    pub sources: Vec<String>,
    /// Write it even if it holds a secret.
    pub allow_secret: bool,
}

/// Changes the labels of a concept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelRequest {
    /// The memoir's name, or its id.
    pub memoir: String,
    /// The concept's name, or its id.
    pub name: String,
    /// Labels to add.
    pub add: Vec<String>,
    /// Labels to take away.
    pub remove: Vec<String>,
    /// Write it even if it holds a secret.
    pub allow_secret: bool,
}

/// Links a concept to another one, or takes that away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConceptLinkRequest {
    /// The memoir's name, or its id.
    pub memoir: String,
    /// Name or id of the concept that it goes out from.
    pub from: String,
    /// Name or id of the concept that it goes to.
    pub to: String,
    /// One of the nine relations, in snake_case, kebab-case or camelCase.
    pub relation: String,
    /// Why.
    pub reason: Option<String>,
    /// Write it even if it holds a secret.
    pub allow_secret: bool,
}

/// The receipt of a command that changes the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphReceipt {
    /// The memoir or concept.
    pub id: String,
    /// The event that did it (64 hex digits); for `unchanged` one that holds.
    pub event: String,
    /// The position of that event.
    pub position: u64,
    /// What was done.
    pub action: Action,
    /// Name of the memoir.
    pub memoir: String,
    /// Name of the concept, where one was changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Of a link: how the concept relates to the other.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub relation: Option<String>,
    /// Of a link: name of the other concept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<String>,
    /// Of a concept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub revision: Option<u32>,
    /// Of a concept, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confidence: Option<f64>,
    /// Concepts that went or came with a memoir.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub concepts: Option<u64>,
    /// What to tell whoever wrote it, a line each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
}

/// Every memoir.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoirList {
    /// What it was computed at.
    pub basis: Basis,
    /// By name.
    pub memoirs: Vec<Memoir>,
}

/// Asks for a page of a memoir's concepts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShowRequest {
    /// Name or id.
    pub name: String,
    /// As of a moment.
    pub at: Option<String>,
    /// Most concepts; `None` for all of them.
    pub limit: Option<usize>,
    /// The page after this concept (`next` of the page before).
    pub after: Option<String>,
}

/// A memoir, with what it is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoirShow {
    /// What it was computed at.
    pub basis: Basis,
    /// The memoir.
    #[serde(flatten)]
    pub memoir: Memoir,
    /// Links between its concepts.
    pub links: u64,
    /// Mean confidence of its concepts, 0 to 1; `null` where there are none.
    pub confidence: Option<f64>,
    /// Labels and how many concepts have them, the commonest first.
    pub labels: Vec<(String, u64)>,
    /// Its concepts by name, as many as were asked for.
    pub concept_list: Vec<Concept>,
    /// Where the next page goes on: give it as `after`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
}

/// Asks for a concept and what is around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InspectRequest {
    /// The memoir's name, or its id.
    pub memoir: String,
    /// The concept's name, or its id.
    pub name: String,
    /// Steps to walk along links in both directions, 0 to 10. Default: 1.
    pub depth: Option<usize>,
    /// Walk along links of this relation alone.
    pub relation: Option<String>,
    /// Most concepts around it, 1 to 100,000. Default: 1,000.
    pub limit: Option<usize>,
    /// The page after (`next` of the page before, of the same question); it is as of the same moment.
    pub after: Option<String>,
    /// As of a moment; left alone where `after` is given.
    pub at: Option<String>,
}

/// A concept, what it meant before, and what is around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inspected {
    /// What it was computed at.
    pub basis: Basis,
    /// The concept.
    pub concept: Concept,
    /// Memories that it is taken from.
    #[serde(flatten)]
    pub sources: Sources,
    /// What it was ever said to mean, in the order that every machine folds the same events in.
    pub definitions: Vec<Definition>,
    /// Concepts around it on the pages before this one.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub offset: usize,
    /// Concepts around it, nearest first.
    pub around: Vec<Around>,
    /// Links among all of these, and those of the pages before, that were walked along; without those
    /// that the pages before had.
    pub links: Vec<ConceptLink>,
    /// There are more concepts than the limit.
    pub truncated: bool,
    /// Where the next page goes on: give it as `after`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
}

/// Memories that a concept is taken from, by id; those that are forgotten are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    /// Those that can be read.
    pub sources: Vec<String>,
    /// Those whose text was taken out or is damaged.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sources_withheld: Vec<String>,
}

impl Sources {
    /// As they are shown: ids, and of those that cannot be read that it is so.
    pub fn shown(&self) -> Option<String> {
        let withheld = self.sources_withheld.iter();
        let withheld = withheld.map(|id| format!("{id} (withheld)"));
        let all: Vec<String> = self.sources.iter().cloned().chain(withheld).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// What an event says that a concept means, or how sure it is of that.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// 1 for the first; what is undone counts no more for those after it.
    pub revision: u32,
    /// The text, and where the event only says how sure it is, the one that it says so of; `null` when
    /// that was taken out or is damaged.
    pub definition: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// RFC 3339.
    pub at: String,
    /// Who said so.
    pub actor: String,
    /// The event (64 hex digits).
    pub event: String,
    /// What became of it.
    pub status: DefinitionStatus,
    /// The undo that took the event back (64 hex digits), while that is in force; of several the one
    /// with the smallest id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undone_by: Option<String>,
}

/// What became of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionStatus {
    /// It is the one that is shown.
    Holds,
    /// Whoever gave a later one knew it.
    Replaced,
    /// It lost to one that was given beside it.
    Lost,
    /// Its event is undone.
    Undone,
}

impl DefinitionStatus {
    /// Why it is not what holds, where nobody replaced it.
    pub fn why_not_shown(self) -> Option<&'static str> {
        match self {
            DefinitionStatus::Holds | DefinitionStatus::Replaced => None,
            DefinitionStatus::Lost => Some("not shown: another value holds"),
            DefinitionStatus::Undone => Some("not shown: its event is undone"),
        }
    }
}

/// A concept that is some steps away from another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Around {
    /// Steps, from 1.
    pub depth: usize,
    /// The relation of the link that it was first met by.
    pub relation: String,
    /// Where that link goes, seen from the concept that was there before.
    pub direction: Direction,
    /// All links between it and concepts one step nearer, that one first.
    pub relations: Vec<AroundLink>,
    /// The concept.
    #[serde(flatten)]
    pub concept: Concept,
}

/// A link to a concept around another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AroundLink {
    /// For instance `depends_on`.
    pub relation: String,
    /// Where it goes, seen from the nearer concept.
    pub direction: Direction,
    /// Name of the nearer concept.
    pub with: String,
}

/// Asks which concepts fit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConceptSearchRequest {
    /// What to look for; may be empty where there is a label.
    pub query: String,
    /// Only this memoir: name or id.
    pub memoir: Option<String>,
    /// Only concepts with this label.
    pub label: Option<String>,
    /// Most results, 1 to 1,000. Default: 10.
    pub limit: Option<usize>,
    /// Least [`ConceptHit::fit`], 0 to 1. Default: 0, as the usual floor is measured on memories.
    pub floor: Option<f64>,
    /// The page after (`next` of the page before, of the same search); it is as of the same moment.
    pub after: Option<String>,
    /// As of a moment; left alone where `after` is given.
    pub at: Option<String>,
}

/// Concepts that fit, best first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConceptSearch {
    /// What it was computed at.
    pub basis: Basis,
    /// Results on the pages before this one.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub offset: usize,
    /// Best first; by name where only a label was asked for.
    pub results: Vec<ConceptHit>,
    /// Present where something was found, and all of it lies below the floor.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nearest: Option<NearestConcept>,
    /// Where the next page goes on: give it as `after`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
    /// What to know of how it was answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

impl ConceptSearch {
    /// Where a page goes on that comes after the first `shown` results of this one.
    pub fn after(&self, shown: usize) -> String {
        let cursor = Cursor {
            position: self.basis.position,
            offset: self.offset + shown,
        };
        cursor.to_string()
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The best of the concepts that were found, where all of them lie below the floor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NearestConcept {
    /// The concept, a ULID.
    pub id: String,
    /// As that of a result.
    pub fit: f64,
    /// Its memoir's name.
    pub memoir: String,
    /// Its name.
    pub name: String,
}

/// A concept that fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConceptHit {
    /// Larger is better.
    pub score: f64,
    /// How sure it is that the concept answers the query, 0 to 1 in thousandths; 1 where only a label was asked for.
    #[serde(default)]
    pub fit: f64,
    /// Words of the query that matched; none where it was found by its meaning.
    pub matched: Vec<String>,
    /// The concept.
    #[serde(flatten)]
    pub concept: Concept,
}

/// What a memoir is written out as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GraphFormat {
    /// The whole of it, for programs.
    Json,
    /// For Graphviz.
    Dot,
    /// For Mermaid.
    Mermaid,
    /// A tree of lines, for people.
    Ascii,
    /// Headings and lists, for a model.
    Markdown,
    /// For graph editors.
    Graphml,
}

impl GraphFormat {
    /// Every one.
    pub const ALL: [GraphFormat; 6] = [
        GraphFormat::Json,
        GraphFormat::Dot,
        GraphFormat::Mermaid,
        GraphFormat::Ascii,
        GraphFormat::Markdown,
        GraphFormat::Graphml,
    ];

    /// As users write it.
    pub fn name(self) -> &'static str {
        match self {
            GraphFormat::Json => "json",
            GraphFormat::Dot => "dot",
            GraphFormat::Mermaid => "mermaid",
            GraphFormat::Ascii => "ascii",
            GraphFormat::Markdown => "markdown",
            GraphFormat::Graphml => "graphml",
        }
    }
}

/// A memoir written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoirText {
    /// What it was computed at.
    pub basis: Basis,
    /// The whole of it; it ends with a line break.
    pub text: String,
}

/// A whole memoir.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoirGraph {
    /// What it was computed at.
    pub basis: Basis,
    /// The memoir.
    pub memoir: Memoir,
    /// Its concepts, by name.
    pub concepts: Vec<WholeConcept>,
    /// The links between them.
    pub links: Vec<ConceptLink>,
}

/// A concept with all that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WholeConcept {
    /// The concept.
    #[serde(flatten)]
    pub concept: Concept,
    /// Memories that it is taken from.
    #[serde(flatten)]
    pub sources: Sources,
    /// What it was ever said to mean, in the order that every machine folds the same events in.
    pub definitions: Vec<Definition>,
}

/// How the graph at one moment differs from that at an earlier one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphDiff {
    /// Memoirs that are there now and were not.
    pub memoirs_added: Vec<Memoir>,
    /// Memoirs that are gone.
    pub memoirs_forgotten: Vec<Memoir>,
    /// Memoirs that are described otherwise.
    pub memoirs_changed: Vec<GraphChange>,
    /// Concepts that are there now and were not.
    pub added: Vec<Concept>,
    /// Concepts that are gone.
    pub forgotten: Vec<Concept>,
    /// Concepts that say something else.
    pub changed: Vec<GraphChange>,
    /// Links that are there now and were not.
    pub linked: Vec<ConceptLink>,
    /// Links that are gone.
    pub unlinked: Vec<ConceptLink>,
}

/// What differs in one memoir or concept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphChange {
    /// ULID.
    pub id: String,
    /// Name of the memoir.
    pub memoir: String,
    /// Name of the concept, if it is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Names of the fields that differ: `definition`, `labels`, `confidence`; of a memoir `description`.
    pub fields: Vec<String>,
    /// Those fields as they were.
    pub before: serde_json::Map<String, serde_json::Value>,
    /// And as they are.
    pub after: serde_json::Map<String, serde_json::Value>,
    /// The definition or description word by word; empty unless both texts are there and differ.
    pub text_diff: Vec<DiffPiece>,
}

impl GraphChange {
    /// Which of the fields is the one that `text_diff` is of.
    pub fn text_field(&self) -> &'static str {
        match self.name {
            Some(_) => "definition",
            None => "description",
        }
    }
}

impl GraphDiff {
    /// How much differs.
    pub fn count(&self) -> usize {
        self.memoirs_added.len()
            + self.memoirs_forgotten.len()
            + self.memoirs_changed.len()
            + self.added.len()
            + self.forgotten.len()
            + self.changed.len()
            + self.linked.len()
            + self.unlinked.len()
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        *self == GraphDiff::default()
    }
}
