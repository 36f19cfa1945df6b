//! The account of how an answer came about.

use std::collections::BTreeMap;

use icm_projections::ranking::{Answered, Ranking};
use icm_projections::{RecallHit as FoundHit, RecallQuery, Recalled as Found, Views};
use icm_vectors::{Plan, Searched};
use serde_json::{Value, json};

use crate::history::basis::At;
use crate::recall::link_expansion::Shown;
use crate::recall::voices;

/// Returns how an answer came about. `results` are in the order of the answer's.
pub(super) fn explain(
    found: &Found,
    shown: &[Shown],
    query: &RecallQuery<'_>,
    views: &Views,
    at: &At,
) -> Value {
    let (text, ranking) = (&found.text, &query.ranking);
    json!({
        "text": {
            "ranking": "BM25 over the words of the query, any of which may match",
            "documents": text.stats_docs,
            "in_memory": text.tail_docs,
            "terms": text.terms.iter().map(|term| json!({
                "word": term.word,
                "term": term.term,
                "exact": term.exact,
                "documents": term.doc_freq,
                "boost": f64::from(term.boost),
            })).collect::<Vec<_>>(),
        },
        "model": query.model.map(|asked| json!({
            "id": asked.id.name,
            "embeds": asked.id.embeds,
            "embedded": found.embedded.map(|embedded| embedded.done),
            "versions": found.embedded.map(|embedded| embedded.of),
        })),
        "words_known": found.known,
        "answered": answered(&found.answered),
        "vectors": found.searched.as_ref().map(searched),
        "ranking": ranking.settings().into_iter().collect::<BTreeMap<_, _>>(),
        // A result that a link brought in has no score to explain.
        "results": shown.iter().map(|shown| shown.found.map(|at| {
            let voices = voices::shares(ranking, &shown.hit.memory);
            explained(&found.hits[at], ranking, voices)
        })).collect::<Vec<_>>(),
        "views_at": views.base_position().0,
        "basis": at.position.0,
    })
}

/// Returns the evidence that the question is answered at all.
fn answered(answered: &Answered) -> Value {
    json!({
        "value": answered.value(),
        "coverage": answered.coverage,
        "with_window": answered.with_window,
        "cosine": answered.cosine,
        "known": answered.known,
        "memories": answered.memories,
        "speaker": answered.speaker,
        "identifier": answered.identifier,
        "transcript": answered.transcript,
        "chosen_model": answered.chosen_model,
    })
}

/// Returns the features and shares of a result.
fn explained(hit: &FoundHit, ranking: &Ranking, voices: [(&'static str, f64); 2]) -> Value {
    let features = &hit.features;
    let shares = ranking.shares(features);
    let values = shares.iter().map(|share| (share.name, share.value));
    let shares = shares.iter().filter(|share| share.share != 0.0);
    let shares = shares.map(|share| (share.name, share.share));
    let voices = voices.into_iter().filter(|(_, share)| *share != 0.0);
    json!({
        "transcript": features.transcript,
        "features": values.collect::<BTreeMap<_, _>>(),
        "shares": shares.chain(voices).collect::<BTreeMap<_, _>>(),
        "with_window": features.with_window(),
        "cosine": hit.cosine.map(f64::from),
        "scope": features.scope.name(),
    })
}

/// Returns how the vectors of the files were searched, and why so.
fn searched(searched: &Searched) -> Value {
    let sizes = &searched.sizes;
    let (by, wanted) = match searched.plan {
        Plan::Graph { wanted, .. } if !searched.fell_back => ("graph", Some(wanted)),
        Plan::List => ("list", None),
        _ => ("scan", None),
    };
    json!({
        "by": by,
        "rows": sizes.rows,
        "covered": sizes.covered,
        "listed": sizes.listed,
        "wanted": wanted,
        "fell_back": searched.fell_back,
    })
}
