//! Conditions that hits must meet, translated to terms of documents.

use crate::schema::{AnyOf, keyword_is, scope_is, scope_under, topic_is, topic_under};

/// Conditions that every hit meets; they do not change scores.
#[derive(Debug, Clone, Copy, Default)]
pub struct TextFilter<'a> {
    /// The topic; with a `/` at its end, this topic and all topics below it.
    pub topic: Option<&'a str>,
    /// The keywords, of which a hit has all, regardless of case and accents.
    pub keywords: &'a [String],
    /// The keywords, of which a hit has one; if empty, any hit passes.
    pub any_keyword: &'a [String],
    /// The scopes, of which a hit has one; if empty, every scope.
    pub scopes: &'a [InScope<'a>],
}

/// Scopes that a hit may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InScope<'a> {
    /// Exactly this scope.
    Is(&'a str),
    /// This scope of a session, and the scopes below it: `session:a/b` below `session:a`.
    Under(&'a str),
}

impl InScope<'_> {
    /// Returns `true` if a scope is one of these.
    pub fn holds(&self, scope: &str) -> bool {
        match self {
            InScope::Is(this) => scope == *this,
            InScope::Under(this) => (scope.strip_prefix(this))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
        }
    }

    pub(super) fn term(&self) -> String {
        match self {
            InScope::Is(scope) => scope_is(scope),
            InScope::Under(scope) => scope_under(scope),
        }
    }
}

/// Returns the terms of a filter.
pub(super) fn filter_values(filter: &TextFilter<'_>) -> Vec<AnyOf> {
    let topic = filter.topic.map(|topic| match topic.strip_suffix('/') {
        Some(above) => topic_under(above),
        None => topic_is(topic),
    });
    let keywords = filter.keywords.iter().map(|keyword| keyword_is(keyword));
    let mut filters: Vec<AnyOf> = topic.into_iter().chain(keywords).map(AnyOf::one).collect();
    if !filter.any_keyword.is_empty() {
        filters.push(any_keyword(filter.any_keyword));
    }
    if !filter.scopes.is_empty() {
        filters.push(AnyOf {
            terms: apart(filter.scopes).map(InScope::term).collect(),
            are_apart: true,
        });
    }
    filters
}

/// Returns the filter for documents with one of these keywords.
pub(super) fn any_keyword(keywords: &[String]) -> AnyOf {
    AnyOf {
        terms: keywords.iter().map(|keyword| keyword_is(keyword)).collect(),
        are_apart: false,
    }
}

/// Returns the scopes without those that lie within another, so that each document has the term of one at most.
fn apart<'a>(scopes: &'a [InScope<'a>]) -> impl Iterator<Item = &'a InScope<'a>> {
    let covers = |it: &InScope<'_>, other: &InScope<'_>| match (it, other) {
        (InScope::Is(a), InScope::Is(b)) => a == b,
        (InScope::Is(_), InScope::Under(_)) => false,
        (InScope::Under(_), InScope::Is(scope) | InScope::Under(scope)) => it.holds(scope),
    };
    let needless = move |at: usize| {
        let mut others = scopes.iter().enumerate();
        others.any(|(other_at, other)| {
            let covered = covers(other, &scopes[at]);
            covered && other_at != at && (other_at < at || !covers(&scopes[at], other))
        })
    };
    let kept = (0..scopes.len()).filter(move |at| !needless(*at));
    kept.map(|at| &scopes[at])
}
