//! The results of a search, each with the reasons for its place.

use icm_api::error::Result;
use icm_api::{FeedbackHit, Nearest, Passage, RecallAnswer, RecallHit, found_by, shown_bytes};
use maud::{Markup, html};

use super::filters::Filters;
use super::{card, explain};
use crate::Explorer;
use crate::ask::Ask;
use crate::show::{self, Tone};

/// Results on a page. Raised, a page takes longer to read.
const RESULTS: usize = 20;
/// Bytes of a text that is shown whole although it has passages or is one long line.
const WHOLE_BYTES: usize = 4_000;

/// Returns the results of a search.
pub(super) fn results(
    explorer: &Explorer,
    ask: &Ask,
    filters: &Filters,
    query: &str,
) -> Result<Markup> {
    let request = filters.recall_request(ask, query, RESULTS);
    let answer = explorer.service.recall(&explorer.caller, &request)?;
    let offset = request.offset;
    Ok(html! {
        (summary(&answer, offset))
        @if let Some(note) = &answer.note { p.notice { (show::line(note)) } }
        @if let Some(nearest) = &answer.nearest { (nothing_fits(ask, nearest)) }
        @else if answer.results.is_empty() { (nothing_found(ask)) }
        (corrections(explorer, ask, &answer.corrections))
        @if !answer.results.is_empty() {
            ol.cards start=(offset + 1) {
                @for (place, hit) in answer.results.iter().enumerate() {
                    (result(explorer, ask, &answer, (place, offset), hit))
                }
            }
        }
        (together(ask, &answer.often_together))
        nav.pager aria-label="Pages of the search" {
            @if offset > 0 { a href=(ask.link_with(&[("offset", "")])) rel="first" { "First page" } }
            @if let Some(next) = answer.next {
                a.button href=(ask.link_with(&[("offset", &next.to_string())])) rel="next" { "Next" }
            }
        }
        @if let Some(explained) = &answer.explain { (explain::search(explained)) }
    })
}

/// Returns how much was found, and where.
fn summary(answer: &RecallAnswer, offset: usize) -> Markup {
    let scopes = answer.scope.iter().filter(|scope| !scope.ends_with("/*"));
    let scopes: Vec<String> = scopes.map(|scope| show::scope_of(scope)).collect();
    let scopes = match scopes.join(", ") {
        all if all == "all" => "all scopes".to_owned(),
        some => some,
    };
    let found = answer.results.len();
    html! {
        p.quiet role="status" {
            @match (found, offset) {
                (0, _) => { "Nothing found" }
                (found, 0) => { (show::count(found as u64, "result", "results")) }
                (found, _) => { "Results " (offset + 1) " and on: " (found) }
            }
            " in " (scopes) ". This search is not recorded."
        }
    }
}

/// Returns the memory that fits best although it fits too little.
fn nothing_fits(ask: &Ask, nearest: &Nearest) -> Markup {
    html! {
        div.notice {
            p { strong { "Nothing fits." } " The nearest is " (show::badge(Tone::Plain, &found_by::fit(nearest.fit))) }
            p {
                (show::topic(ask, &nearest.topic)) " "
                a href=(show::memory_path(ask, &nearest.id)) {
                    @match &nearest.content {
                        Some(content) => { (show::line(content)) }
                        None => { (show::withheld()) }
                    }
                }
            }
            p.quiet { "Ask with other words, or " a href=(ask.link_with(&[("floor", "0")])) { "show what fits little" } }
        }
    }
}

fn nothing_found(ask: &Ask) -> Markup {
    let all = html! {
        "Ask with other words, " a href=(ask.link("/memories", &[("q", ask.get("q").unwrap_or_default())])) { "search without filters" }
        ", or " a href=(ask.link("/memories", &[])) { "see the list" }
    };
    show::empty("Nothing was found", &all)
}

/// Returns the corrections that come with the results.
fn corrections(explorer: &Explorer, ask: &Ask, hits: &[FeedbackHit]) -> Markup {
    let said = |text: &Option<String>| match text {
        Some(text) => show::start(text, 400),
        None => show::withheld(),
    };
    html! {
        @for FeedbackHit { feedback, .. } in hits {
            div.notice.warn {
                p {
                    strong { "Correction" } " "
                    span.quiet { (show::time(explorer, ask, &feedback.created_at)) ", by " (show::trust(feedback.trust)) }
                }
                dl.pairs {
                    dt { "Predicted" } dd { del { (said(&feedback.predicted)) } }
                    dt { "Right" } dd { ins { (said(&feedback.correct)) } }
                    dt { "When" } dd { (said(&feedback.context)) }
                    @if feedback.reason.is_some() { dt { "Because" } dd { (said(&feedback.reason)) } }
                    @if let Some(memory) = &feedback.memory { dt { "From" } dd { (show::memory_id(ask, memory)) } }
                }
            }
        }
    }
}

/// Returns one result.
fn result(
    explorer: &Explorer,
    ask: &Ask,
    answer: &RecallAnswer,
    (place, offset): (usize, usize),
    hit: &RecallHit,
) -> Markup {
    let score = html! {
        @if hit.via.is_none() {
            span.quiet aria-hidden="true" { "fit" } (show::share(hit.fit, "fit"))
            span.quiet title="rank score, comparable within this answer only" { "score " (format!("{:.2}", hit.score)) }
        }
    };
    html! {
        li.card data-row="" {
            (card::head(explorer, ask, &hit.memory, &score))
            (marks(ask, hit))
            (passage(ask, hit))
            @match shown(hit, place) {
                Some(text) => { (show::marked(&text, &hit.matched)) }
                None => { p { (show::withheld()) } }
            }
            (repeats(ask, hit))
            (card::foot(explorer, ask, &hit.memory))
            details.why {
                summary { "Why it is number " (place + offset + 1) }
                (explain::result(ask, answer, place, hit))
            }
            p.go { a.open href=(show::memory_path(ask, &hit.memory.id)) { "Open this memory" span.unseen { " " (show::short_memory_id(&hit.memory.id)) } } }
        }
    }
}

/// Returns the text that is shown: of a long one the passage with its surroundings.
fn shown(hit: &RecallHit, place: usize) -> Option<String> {
    let text = hit.shown(shown_bytes(place))?;
    Some(match text.len() > WHOLE_BYTES {
        true => format!("{}…", &text[..text.floor_char_boundary(WHOLE_BYTES)]),
        false => text.into_owned(),
    })
}

/// Returns the place of the passage that was found in a long text.
fn passage(ask: &Ask, hit: &RecallHit) -> Markup {
    let place = |passage: &Passage| {
        let path = show::memory_path(ask, &hit.memory.id);
        format!("{path}#passage-{}", passage.number)
    };
    html! {
        @if let Some(passage) = &hit.passage {
            p.quiet { a href=(place(passage)) { (passage.told()) } }
        }
    }
}

/// Returns what links and rules say about a result.
fn marks(ask: &Ask, hit: &RecallHit) -> Markup {
    let ids = |ids: &[String]| html! { @for id in ids { " " (show::memory_id(ask, id)) } };
    let one = |id: &Option<String>, text: &str| {
        html! {
            @if let Some(id) = id { span.mark { (show::badge(Tone::Warn, text)) " " (show::memory_id(ask, id)) } }
        }
    };
    html! {
        div.marks {
            @if let Some(via) = &hit.via {
                span.mark {
                    (show::badge(Tone::Plain, &format!("by its link: {}", via.relation.replace('_', " "))))
                    " " (show::memory_id(ask, &via.from))
                }
            }
            @if hit.elsewhere { (show::badge(Tone::Plain, "elsewhere")) }
            (one(&hit.superseded_by, "superseded by"))
            (one(&hit.seems_replaced_by, "seems replaced by"))
            @if !hit.seems_to_replace.is_empty() {
                span.mark { (show::badge(Tone::Plain, "seems to replace")) (ids(&hit.seems_to_replace)) }
            }
            @if !hit.contradicts.is_empty() {
                span.mark { (show::badge(Tone::Bad, "contradicts")) (ids(&hit.contradicts)) }
            }
        }
    }
}

/// Returns the other memories that say the same.
fn repeats(ask: &Ask, hit: &RecallHit) -> Markup {
    html! {
        @if !hit.repeats.is_empty() {
            p.repeats {
                (show::count(hit.repeats.len() as u64, "more says", "more say")) " the same:"
                @for id in &hit.repeats { " " (show::memory_id(ask, id)) }
                @if !hit.also_in.is_empty() {
                    " in"
                    @for topic in &hit.also_in { " " (show::topic(ask, topic)) }
                }
            }
        }
    }
}

fn together(ask: &Ask, ids: &[String]) -> Markup {
    html! {
        @if !ids.is_empty() {
            p.quiet {
                "Often recalled with the first one:"
                @for id in ids { " " (show::memory_id(ask, id)) }
            }
        }
    }
}
