//! The reasons for the place of a result: the parts of its score.

use icm_api::{RecallAnswer, RecallHit, texts_with, vectors_searched};
use maud::{Markup, html};
use serde_json::Value;

use crate::ask::Ask;
use crate::show;

/// Features of a score, each with its meaning. The order is that of the table of equal shares.
const FEATURES: [(&str, &str); 17] = [
    ("coverage", "words of the question that it has"),
    ("text", "how rare those words are (BM25)"),
    ("meaning", "near the question in meaning"),
    ("window", "words in it and in what stands beside it"),
    ("neighbours", "its neighbours in the topic fit, too"),
    ("identifier", "it has a rare identifier of the question"),
    ("scope", "its scope"),
    ("importance", "its importance"),
    ("confirmed", "others say the same"),
    ("marked", "called useful or wrong"),
    ("answers", "it answers a turn before it"),
    ("speaker", "the question names who said it"),
    ("asks", "it is a question itself"),
    ("length", "its length"),
    ("when", "the question asks when, and it has a time"),
    ("notes_text", "how rare those words are (BM25)"),
    ("notes_window", "words in it and in what stands beside it"),
];

/// Returns the parts of a result's score, the largest first.
pub(super) fn result(ask: &Ask, answer: &RecallAnswer, place: usize, hit: &RecallHit) -> Markup {
    if let Some(via) = &hit.via {
        let relation = via.relation.replace('_', " ");
        return html! {
            p {
                "The search did not find it. It stands here by a link (" (show::line(&relation)) ") of "
                (show::memory_id(ask, &via.from)) "."
            }
        };
    }
    let Some(explain) = &answer.explain else {
        return html! {};
    };
    let evidence = &explain["results"][place];
    let shares = evidence["shares"].as_object().into_iter().flatten();
    let mut shares: Vec<(&str, f64)> = shares
        .filter_map(|(name, share)| Some((name.as_str(), share.as_f64()?)))
        .collect();
    shares.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    let largest = shares
        .first()
        .map_or(1.0, |(_, share)| share.abs())
        .max(1e-9);
    html! {
        p { (found_by(explain, evidence, hit)) }
        div.wide {
            table.parts {
                caption.unseen { "Parts of the score" }
                thead {
                    tr {
                        th scope="col" { "Part" }
                        th.number scope="col" { "Value" }
                        th.number scope="col" { "Adds" }
                        th scope="col" { span.unseen { "Size" } }
                    }
                }
                tbody {
                    @for (name, share) in &shares {
                        tr {
                            th scope="row" { (meaning_of(name)) " " code.quiet { (name) } }
                            td.number {
                                @if let Some(value) = evidence["features"][*name].as_f64() { (format!("{value:.2}")) }
                            }
                            td.number { (format!("{share:+.3}")) }
                            td { (bar(*share, largest)) }
                        }
                    }
                }
                tfoot {
                    tr {
                        th scope="row" { "Score" } td {}
                        td.number { strong { (format!("{:.3}", hit.score)) } } td {}
                    }
                }
            }
        }
        p.quiet {
            "The fit " (format!("{:.2}", hit.fit)) " tells how likely it answers the question, whatever else was found."
        }
    }
}

/// Returns the words that matched, each with its spread, and the nearness in meaning.
fn found_by(explain: &Value, evidence: &Value, hit: &RecallHit) -> Markup {
    let texts = explain["text"]["documents"].as_u64().unwrap_or(0);
    html! {
        @if hit.matched.is_empty() { "No word matched: it is near in meaning" }
        @else { "Matched" }
        @for (at, word) in hit.matched.iter().enumerate() {
            @if at > 0 { "," }
            " " mark { (show::start(word, 60)) }
            @if let Some(found) = texts_with(explain, word) {
                span.quiet { " (in " (show::number(found)) " of " (show::count(texts, "text", "texts")) ")" }
            }
        }
        @if let Some(cosine) = evidence["cosine"].as_f64() { ". Cosine " (format!("{cosine:.2}")) }
        @match evidence["scope"].as_str() {
            Some("own") => { ". Its scope is yours" }
            Some("kin") => { ". Its session is a parent or child of yours" }
            Some("elsewhere") => { ". Its scope is another one" }
            _ => {}
        }
        "."
    }
}

/// Returns how the search as a whole went.
pub(super) fn search(explain: &Value) -> Markup {
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let documents = count(&explain["text"]["documents"]);
    let terms: Vec<&str> = explain["text"]["terms"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|term| term["word"].as_str())
        .collect();
    let mut words: Vec<&str> = Vec::new();
    for word in terms {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    let model = explain["model"]["id"]
        .as_str()
        .unwrap_or("the built-in model");
    html! {
        details.why {
            summary { "How this search went" }
            dl.pairs {
                dt { "Searched" } dd { (show::count(documents, "text", "texts")) }
                dt { "Words" }
                dd {
                    @if words.is_empty() { "no word of the question can be looked for" }
                    @for (at, word) in words.iter().enumerate() {
                        @if at > 0 { ", " }
                        (show::start(word, 60))
                        span.quiet { " in " (show::number(texts_with(explain, word).unwrap_or(0))) }
                    }
                }
                @if explain["ranking"]["meaning"].as_f64().unwrap_or(0.0) > 0.0 {
                    dt { "Meaning" } dd { "by " (show::line(model)) @if let Some(searched) = vectors_searched(explain) { "; " (searched) } }
                }
                dt { "Floor" }
                dd { "results below a fit of " (format!("{:.2}", explain["ranking"]["floor"].as_f64().unwrap_or(0.0))) " are left out" }
            }
        }
    }
}

fn meaning_of(name: &str) -> &str {
    let known = FEATURES.iter().find(|(known, _)| *known == name);
    known.map_or(name, |(_, meaning)| meaning)
}

/// Returns a share as a bar from the middle: to the right if it adds, to the left if it takes away.
fn bar(share: f64, largest: f64) -> Markup {
    let width = (share.abs() / largest * 40.0).clamp(0.5, 40.0);
    let (class, x) = match share < 0.0 {
        true => ("bar-minus", 40.0 - width),
        false => ("bar-value", 40.0),
    };
    html! {
        svg.bar viewBox="0 0 80 8" width="80" height="8" aria-hidden="true" {
            rect class=(class) x=(format!("{x:.1}")) y="0" width=(format!("{width:.1}")) height="8" {}
            rect.bar-axis x="39.5" y="0" width="1" height="8" {}
        }
    }
}
