//! The query of a recall, with its filters and its ranking.

use crate::moment::Moment;
use crate::ranking::Ranking;
use crate::rows::{FactFilter, TopicTag};
use crate::views::embedded::ModelId;
use icm_log::SubjectId;
use icm_text::{InScope, keyword_fits};

/// The query of a recall, with its filters and its ranking.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecallQuery<'a> {
    /// The words of the query.
    pub text: &'a str,
    /// The topic, or everything below it if it ends with `/`.
    pub topic: Option<&'a str>,
    /// The tags that results have or lack.
    pub tags: TagQuery<'a>,
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
    /// The moment at which expired memories are hidden; `None` hides none.
    pub moment: Option<Moment<'a>>,
    /// The largest number of results.
    pub limit: usize,
    /// The least [`RecallHit::fit`](super::RecallHit::fit) of a result, 0 to 1; 0 shows every result.
    pub floor: f64,
    /// The weights of the ranking.
    pub ranking: Ranking,
    /// The model that replaces the built-in one, if one is chosen.
    pub model: Option<ModelVector<'a>>,
}

/// Conditions on tags, that is, on keywords. Case and accents make no difference.
#[derive(Debug, Clone, Copy, Default)]
pub struct TagQuery<'a> {
    /// The tags of which a result has all.
    pub all: &'a [String],
    /// The tags of which a result has one at least; if empty, any result passes.
    pub any: &'a [String],
    /// The tags whose results stand last.
    pub not: &'a [String],
    /// `true` to leave the results with a tag of `not` out.
    pub drops: bool,
}

impl TagQuery<'_> {
    /// Returns `true` if a version with these keywords may be a result.
    pub fn fits<'k>(&self, keywords: impl Iterator<Item = &'k str> + Clone) -> bool {
        let has = |tag: &String| keywords.clone().any(|keyword| keyword_fits(tag, keyword));
        self.all.iter().all(has)
            && (self.any.is_empty() || self.any.iter().any(has))
            && !(self.drops && self.not.iter().any(has))
    }

    /// Returns `true` if a version with these keywords stands behind all results without a tag of `not`.
    pub fn is_last<'k>(&self, keywords: impl Iterator<Item = &'k str> + Clone) -> bool {
        let mut not = self.not.iter();
        !self.drops && not.any(|tag| keywords.clone().any(|keyword| keyword_fits(tag, keyword)))
    }
}

/// A question's vector by a model that is not built in.
#[derive(Debug, Clone, Copy)]
pub struct ModelVector<'a> {
    /// The model.
    pub id: ModelId<'a>,
    /// The model's vector of the query.
    pub query: &'a [f32],
}

#[cfg(test)]
mod tests {
    use super::*;

    type Tags = &'static [&'static str];

    fn owned(tags: Tags) -> Vec<String> {
        tags.iter().map(|tag| (*tag).to_owned()).collect()
    }

    #[test]
    fn tags_are_all_some_or_none() {
        // The keywords, then `all`, `any`, `not`, and the answers: fits, stands last, fits with `drops`.
        let cases: [(Tags, Tags, Tags, Tags, [bool; 3]); 8] = [
            (&[], &[], &[], &[], [true, false, true]),
            (&["a"], &["a"], &[], &[], [true, false, true]),
            (&["a"], &["a", "b"], &[], &[], [false, false, false]),
            (&["a"], &[], &["b", "a"], &[], [true, false, true]),
            (&["c"], &[], &["b", "a"], &[], [false, false, false]),
            (&["a", "c"], &["a"], &[], &["c"], [true, true, false]),
            (&["a"], &["a"], &[], &["c"], [true, false, true]),
            (
                &["Café"],
                &["cafe"],
                &["CAFÉ"],
                &["café"],
                [true, true, false],
            ),
        ];
        for (keywords, all, any, not, expected) in cases {
            let [all, any, not] = [all, any, not].map(owned);
            let query = TagQuery {
                all: &all,
                any: &any,
                not: &not,
                drops: false,
            };
            let dropping = TagQuery {
                drops: true,
                ..query
            };
            let has = keywords.iter().copied();
            let answers = [
                query.fits(has.clone()),
                query.is_last(has.clone()),
                dropping.fits(has.clone()),
            ];
            assert_eq!(answers, expected, "{keywords:?} {query:?}");
            assert!(!dropping.is_last(has));
        }
    }
}
