//! Memoirs and concepts: requests, answers and receipts.

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
    /// Its subject; `null` if the text was taken out or is damaged.
    pub description: Option<String>,
    /// Living concepts.
    pub concepts: u64,
    /// RFC 3339.
    pub created_at: String,
    /// Last change of the memoir or of a concept in it, RFC 3339.
    pub updated_at: String,
    /// `true` if it was deleted, which hides its concepts.
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
    /// Its meaning; `null` if the text was taken out or is damaged.
    pub definition: Option<String>,
    /// `namespace:value` or a plain value, in order of addition.
    pub labels: Vec<String>,
    /// 0 to 1; grows with each refinement unless a value is given.
    pub confidence: f64,
    /// Starts at 1; one more per refinement.
    pub revision: u32,
    /// RFC 3339.
    pub created_at: String,
    /// RFC 3339.
    pub updated_at: String,
    /// `true` if it was deleted.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub forgotten: bool,
}

/// A link between two concepts of a memoir.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ConceptLink {
    /// Name of the memoir.
    pub memoir: String,
    /// Name of the concept at its start.
    pub from: String,
    /// For instance `depends_on`.
    pub relation: String,
    /// Name of the concept at its end.
    pub to: String,
    /// The event that added it (64 hex digits).
    pub event: String,
    /// The reason, if given; only in exports and in the links of an inspected concept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
}

/// A request to create a memoir or to describe it anew.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoirRequest {
    /// At most 128 bytes.
    pub name: String,
    /// At most 64 KiB.
    pub description: String,
    /// Write it even if it holds a secret.
    pub allow_secret: bool,
}

/// A request to add or refine a concept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConceptRequest {
    /// The memoir's name, or its id.
    pub memoir: String,
    /// At most 256 bytes.
    pub name: String,
    /// At most 64 KiB. `None` keeps the definition, in a refinement only.
    pub definition: Option<String>,
    /// At most 32 labels of at most 64 bytes. A refinement adds them.
    pub labels: Vec<String>,
    /// From 0 to 1. Default: 0.5, plus 0.1 per refinement.
    pub confidence: Option<f64>,
    /// Memories that the concept is taken from, added to those it has: full ids or unique prefixes.
    pub sources: Vec<String>,
    /// Write it even if it holds a secret.
    pub allow_secret: bool,
}

/// A request to change the labels of a concept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelRequest {
    /// The memoir's name, or its id.
    pub memoir: String,
    /// The concept's name, or its id.
    pub name: String,
    /// Labels to add.
    pub add: Vec<String>,
    /// Labels to remove.
    pub remove: Vec<String>,
    /// Write it even if it holds a secret.
    pub allow_secret: bool,
}

/// A request to link two concepts, or to remove that link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConceptLinkRequest {
    /// The memoir's name, or its id.
    pub memoir: String,
    /// Name or id of the concept at its start.
    pub from: String,
    /// Name or id of the concept at its end.
    pub to: String,
    /// One of the nine relations, in snake_case, kebab-case or camelCase.
    pub relation: String,
    /// The reason.
    pub reason: Option<String>,
    /// Write it even if it holds a secret.
    pub allow_secret: bool,
}

/// The receipt of a command that changes the graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphReceipt {
    /// The memoir or concept.
    pub id: String,
    /// The event that did it (64 hex digits); for `unchanged`, an event that is in force.
    pub event: String,
    /// The position of that event.
    pub position: u64,
    /// The outcome.
    pub action: Action,
    /// Name of the memoir.
    pub memoir: String,
    /// Name of the concept, if one was changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Relation of a link.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub relation: Option<String>,
    /// Name of the concept at the end of a link.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<String>,
    /// Revision of a concept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub revision: Option<u32>,
    /// Confidence of a concept, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub confidence: Option<f64>,
    /// Number of concepts that were deleted or brought back with a memoir.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub concepts: Option<u64>,
    /// Warnings for the writer, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub warnings: Vec<String>,
}

/// All memoirs of a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoirList {
    /// The basis of the answer.
    pub basis: Basis,
    /// The memoirs, by name.
    pub memoirs: Vec<Memoir>,
}

/// A request for a page of a memoir's concepts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShowRequest {
    /// Name or id.
    pub name: String,
    /// The moment to answer for, as `--at`.
    pub at: Option<String>,
    /// Most concepts; `None` for all.
    pub limit: Option<usize>,
    /// The concept to go on after: `next` of the page before.
    pub after: Option<String>,
}

/// A memoir with a page of its concepts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoirShow {
    /// The basis of the answer.
    pub basis: Basis,
    /// The memoir.
    #[serde(flatten)]
    pub memoir: Memoir,
    /// Links between its concepts.
    pub links: u64,
    /// Mean confidence of its concepts, 0 to 1; `null` without concepts.
    pub confidence: Option<f64>,
    /// Labels with their number of concepts, most frequent first.
    pub labels: Vec<(String, u64)>,
    /// A page of its concepts, by name.
    pub concept_list: Vec<Concept>,
    /// Start of the next page: pass it as `after`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
}

/// A request for a concept and the concepts around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InspectRequest {
    /// The memoir's name, or its id.
    pub memoir: String,
    /// The concept's name, or its id.
    pub name: String,
    /// Most steps along links in either direction, 0 to 10. Default: 1.
    pub depth: Option<usize>,
    /// Follow links of this relation only.
    pub relation: Option<String>,
    /// Most concepts around it, 1 to 100,000. Default: 1,000.
    pub limit: Option<usize>,
    /// Start of the page: `next` of the page before, for the same request. It answers for the same moment.
    pub after: Option<String>,
    /// The moment to answer for, as `--at`; ignored with `after`.
    pub at: Option<String>,
}

/// A concept with its earlier definitions and the concepts around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Inspected {
    /// The basis of the answer.
    pub basis: Basis,
    /// The concept.
    pub concept: Concept,
    /// Memories that the concept is taken from.
    #[serde(flatten)]
    pub sources: Sources,
    /// All its definitions, in the canonical order, which is the same on every machine.
    pub definitions: Vec<Definition>,
    /// Number of concepts around it on the pages before.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub offset: usize,
    /// Concepts around it, nearest first.
    pub around: Vec<Around>,
    /// Links that were followed among the concepts of this page and the pages before, except links on those pages.
    pub links: Vec<ConceptLink>,
    /// `true` if there are more concepts than the limit.
    pub truncated: bool,
    /// Start of the next page: pass it as `after`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
}

/// Memories that a concept is taken from, by id. Forgotten memories are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sources {
    /// Ids of the memories that can be read.
    pub sources: Vec<String>,
    /// Ids of the memories whose text was taken out or is damaged.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sources_withheld: Vec<String>,
}

impl Sources {
    /// Returns the ids for people, with `(withheld)` behind those that cannot be read; `None` without sources.
    pub fn shown(&self) -> Option<String> {
        let withheld = self.sources_withheld.iter();
        let withheld = withheld.map(|id| format!("{id} (withheld)"));
        let all: Vec<String> = self.sources.iter().cloned().chain(withheld).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// A definition of a concept, or a confidence in it, as one event gave it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Its revision, from 1. Earlier events that are undone are not counted.
    pub revision: u32,
    /// The text; if the event only gave a confidence, the text that the confidence is about. `null` if the text was
    /// taken out or is damaged.
    pub definition: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
    /// RFC 3339.
    pub at: String,
    /// Name of the actor.
    pub actor: String,
    /// The event (64 hex digits).
    pub event: String,
    /// Its status now.
    pub status: DefinitionStatus,
    /// The undo that took the event back (64 hex digits), while that undo is in force. Among several, the smallest id.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub undone_by: Option<String>,
}

/// The status of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionStatus {
    /// It is the definition that is shown.
    Holds,
    /// The author of a later definition knew this one.
    Replaced,
    /// It lost to a concurrent definition.
    Lost,
    /// Its event is undone.
    Undone,
}

impl DefinitionStatus {
    /// Returns why the definition is not shown; `None` if it holds or was replaced.
    pub fn why_not_shown(self) -> Option<&'static str> {
        match self {
            DefinitionStatus::Holds | DefinitionStatus::Replaced => None,
            DefinitionStatus::Lost => Some("not shown: another value holds"),
            DefinitionStatus::Undone => Some("not shown: its event is undone"),
        }
    }
}

/// A concept some steps away from an inspected one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Around {
    /// Steps, from 1.
    pub depth: usize,
    /// Relation of the link that led to it first.
    pub relation: String,
    /// Direction of that link, seen from the nearer concept.
    pub direction: Direction,
    /// All links between it and concepts one step nearer, the first-met link first.
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
    /// Its direction, seen from the nearer concept.
    pub direction: Direction,
    /// Name of the nearer concept.
    pub with: String,
}

/// A request to search concepts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConceptSearchRequest {
    /// Words to search for; may be empty if there is a label.
    pub query: String,
    /// Only this memoir: name or id.
    pub memoir: Option<String>,
    /// Only concepts with this label.
    pub label: Option<String>,
    /// Most results, 1 to 1,000. Default: 10.
    pub limit: Option<usize>,
    /// Least [`ConceptHit::fit`], 0 to 1. Default: 0, because the usual floor is measured on memories.
    pub floor: Option<f64>,
    /// Start of the page: `next` of the page before, for the same search. It answers for the same moment.
    pub after: Option<String>,
    /// The moment to answer for, as `--at`; ignored with `after`.
    pub at: Option<String>,
}

/// The results of a search for concepts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConceptSearch {
    /// The basis of the answer.
    pub basis: Basis,
    /// Number of results on the pages before.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub offset: usize,
    /// The results, best first; by name if the search had only a label.
    pub results: Vec<ConceptHit>,
    /// The best concept below the floor; present if there is no result above it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nearest: Option<NearestConcept>,
    /// Start of the next page: pass it as `after`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
    /// A remark on how the search was answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
}

impl ConceptSearch {
    /// Returns the cursor of a page that starts after the first `shown` results of this one.
    pub fn after(&self, shown: usize) -> String {
        Cursor::after(&self.basis, self.offset + shown).to_string()
    }
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The best concept that was found, if all lie below the floor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NearestConcept {
    /// The concept, a ULID.
    pub id: String,
    /// Its fit, as of a result.
    pub fit: f64,
    /// Its memoir's name.
    pub memoir: String,
    /// Its name.
    pub name: String,
}

/// One result of a search for concepts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConceptHit {
    /// Larger is better.
    pub score: f64,
    /// Fit: confidence that the concept answers the query, 0 to 1 in thousandths; 1 if the search had only a label.
    #[serde(default)]
    pub fit: f64,
    /// Words of the query that matched; empty if the concept was found by its meaning.
    pub matched: Vec<String>,
    /// The concept.
    #[serde(flatten)]
    pub concept: Concept,
}

/// A text format for a memoir.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GraphFormat {
    /// JSON with everything, for programs.
    Json,
    /// Input for Graphviz.
    Dot,
    /// Input for Mermaid.
    Mermaid,
    /// A tree of lines, for people.
    Ascii,
    /// Headings and lists, for a model.
    Markdown,
    /// GraphML, for graph editors.
    Graphml,
}

impl GraphFormat {
    /// All formats.
    pub const ALL: [GraphFormat; 6] = [
        GraphFormat::Json,
        GraphFormat::Dot,
        GraphFormat::Mermaid,
        GraphFormat::Ascii,
        GraphFormat::Markdown,
        GraphFormat::Graphml,
    ];

    /// Returns the name that users write.
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
    /// The basis of the answer.
    pub basis: Basis,
    /// The text; it ends with a line break.
    pub text: String,
}

/// A whole memoir, for exports.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoirGraph {
    /// The basis of the answer.
    pub basis: Basis,
    /// The memoir.
    pub memoir: Memoir,
    /// Its concepts, by name.
    pub concepts: Vec<WholeConcept>,
    /// The links between them.
    pub links: Vec<ConceptLink>,
}

/// A concept with its sources and all its definitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WholeConcept {
    /// The concept.
    #[serde(flatten)]
    pub concept: Concept,
    /// Memories that the concept is taken from.
    #[serde(flatten)]
    pub sources: Sources,
    /// All its definitions, in the canonical order, which is the same on every machine.
    pub definitions: Vec<Definition>,
}

/// The differences between the graph at one moment and at an earlier one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphDiff {
    /// Memoirs that are new.
    pub memoirs_added: Vec<Memoir>,
    /// Memoirs that are gone.
    pub memoirs_forgotten: Vec<Memoir>,
    /// Memoirs with another description.
    pub memoirs_changed: Vec<GraphChange>,
    /// Concepts that are new.
    pub added: Vec<Concept>,
    /// Concepts that are gone.
    pub forgotten: Vec<Concept>,
    /// Concepts with other values.
    pub changed: Vec<GraphChange>,
    /// Links that are new.
    pub linked: Vec<ConceptLink>,
    /// Links that are gone.
    pub unlinked: Vec<ConceptLink>,
}

/// The differences in one memoir or concept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphChange {
    /// ULID.
    pub id: String,
    /// Name of the memoir.
    pub memoir: String,
    /// Name of the concept; `None` for a memoir.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Names of the fields that differ: `definition`, `labels`, `confidence`; for a memoir `description`.
    pub fields: Vec<String>,
    /// The old values of those fields.
    pub before: serde_json::Map<String, serde_json::Value>,
    /// Their new values.
    pub after: serde_json::Map<String, serde_json::Value>,
    /// The definition or description, word by word; empty unless both texts are readable and differ.
    pub text_diff: Vec<DiffPiece>,
}

impl GraphChange {
    /// Returns the name of the field that `text_diff` compares.
    pub fn text_field(&self) -> &'static str {
        match self.name {
            Some(_) => "definition",
            None => "description",
        }
    }
}

impl GraphDiff {
    /// Returns the number of differences.
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

    /// Returns `true` if nothing differs.
    pub fn is_empty(&self) -> bool {
        *self == GraphDiff::default()
    }
}
