//! The query of a recall, with its filters and its ranking.

use crate::ranking::Ranking;
use crate::rows::{FactFilter, TopicTag};
use crate::views::embedded::ModelId;
use icm_log::SubjectId;
use icm_text::InScope;

/// The query of a recall, with its filters and its ranking.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecallQuery<'a> {
    /// The words of the query.
    pub text: &'a str,
    /// The topic, or everything below it if it ends with `/`.
    pub topic: Option<&'a str>,
    /// The keyword that results have.
    pub keyword: Option<&'a str>,
    /// The scopes of results; if empty, every scope.
    pub scopes: &'a [InScope<'a>],
    /// The caller's own scopes.
    pub own: &'a [InScope<'a>],
    /// The scopes of a session's parents and children.
    pub kin: &'a [InScope<'a>],
    /// The facts that results have; concepts instead of memories, if so set.
    pub facts: FactFilter,
    /// Excluded topics, by their tags.
    pub excluded_topics: &'a [TopicTag],
    /// Excluded memories, ascending: the ids that they are shown under, and the ids that key them.
    pub excluded_memories: &'a [SubjectId],
    /// The largest number of results.
    pub limit: usize,
    /// The least [`RecallHit::fit`](super::RecallHit::fit) of a result, 0 to 1; 0 shows every result.
    pub floor: f64,
    /// The weights of the ranking.
    pub ranking: Ranking,
    /// The model that replaces the built-in one, if one is chosen.
    pub model: Option<ModelVector<'a>>,
}

/// A question's vector by a model that is not built in.
#[derive(Debug, Clone, Copy)]
pub struct ModelVector<'a> {
    /// The model.
    pub id: ModelId<'a>,
    /// The model's vector of the query.
    pub query: &'a [f32],
}
