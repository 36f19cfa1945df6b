//! A question, and how it is answered.

use crate::ranking::Ranking;
use crate::rows::{FactFilter, TopicTag};
use crate::views::embedded::ModelId;
use icm_log::SubjectId;
use icm_text::InScope;

/// A question, and how it is answered.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecallQuery<'a> {
    /// Words.
    pub text: &'a str,
    /// Exact topic, or everything below it when it ends with `/`.
    pub topic: Option<&'a str>,
    /// Only memories with this keyword.
    pub keyword: Option<&'a str>,
    /// Only these scopes; where none is named, any.
    pub scopes: &'a [InScope<'a>],
    /// The caller's own scopes.
    pub own: &'a [InScope<'a>],
    /// The scopes of a session's parents and children.
    pub kin: &'a [InScope<'a>],
    /// Only memories (or concepts) with such facts.
    pub facts: FactFilter,
    /// None of these topics, by their tags.
    pub without: &'a [TopicTag],
    /// None of these memories: the ids that they are shown under and those that key them, in order.
    pub hidden: &'a [SubjectId],
    /// Most results.
    pub limit: usize,
    /// The least [`RecallHit::fit`](super::RecallHit::fit) of a result, 0 to 1; with 0 everything is shown.
    pub floor: f64,
    /// The weights.
    pub ranking: Ranking,
    /// Meaning by another model than the built-in one.
    pub model: Option<AskedModel<'a>>,
}

/// A question's vector by a model that is not built in.
#[derive(Debug, Clone, Copy)]
pub struct AskedModel<'a> {
    /// The model.
    pub id: ModelId<'a>,
    /// Its vector of the query.
    pub query: &'a [f32],
}
