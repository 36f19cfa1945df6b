//! The page of a concept: definition, labels, relations, sources, versions, events. Also its short form beside a
//! drawing.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::Uri;
use axum::response::Response;
use icm_api::error::Result;
use icm_api::{
    Concept, ConceptLink, Definition, DefinitionStatus, InspectRequest, Inspected, LogEntry,
    LogRequest, Memoir,
};
use maud::{Markup, html};

use super::data::piece;
use super::{concept_path, memoir_path, part};
use crate::Explorer;
use crate::answer::{Page, in_background};
use crate::ask::Ask;
use crate::show;

/// Neighbours on the page.
const AROUND: usize = 200;
/// Neighbours beside a drawing.
const AROUND_SHORT: usize = 12;
/// Memories that are shown as sources.
const SOURCES: usize = 20;
/// Versions and events on the page.
const PAST: usize = 50;
/// Characters of a text beside a drawing.
const SHORT: usize = 480;

/// A concept, its memoir, and the addresses of the concepts that it is linked to.
struct Shown {
    memoir: Memoir,
    inspected: Inspected,
    paths: BTreeMap<String, String>,
}

impl Shown {
    fn of(explorer: &Explorer, ask: &Ask, around: usize) -> Result<Shown> {
        let (memoir, name) = (part(ask, 0), part(ask, 1));
        let request = InspectRequest {
            memoir: memoir.clone(),
            name,
            limit: Some(around),
            at: ask.at.clone(),
            ..InspectRequest::default()
        };
        let inspected = explorer.service.inspect(&request)?;
        let list = explorer.service.memoir_list(ask.at.as_deref())?.memoirs;
        let memoir = list
            .into_iter()
            .find(|it| it.name == inspected.concept.memoir || it.id == memoir);
        let memoir = memoir.ok_or_else(|| {
            icm_api::error::ServiceError::nothing("the memoir is gone", "go back to the graph")
        })?;
        let own = std::iter::once(&inspected.concept);
        let all = own.chain(inspected.around.iter().map(|it| &it.concept));
        let paths = all.map(|it| (it.name.clone(), concept_path(&memoir, &it.name, &it.id)));
        Ok(Shown {
            paths: paths.collect(),
            memoir,
            inspected,
        })
    }

    fn concept(&self) -> &Concept {
        &self.inspected.concept
    }

    /// Returns the links from the concept, and those to it.
    fn links(&self) -> [Vec<&ConceptLink>; 2] {
        let own = &self.concept().name;
        let links = || self.inspected.links.iter();
        [
            links().filter(|link| link.from == *own).collect(),
            links()
                .filter(|link| link.to == *own && link.from != *own)
                .collect(),
        ]
    }

    fn link_to(&self, ask: &Ask, name: &str) -> Markup {
        match self.paths.get(name) {
            Some(path) => html! { a href=(ask.link(path, &[])) { (show::start(name, 120)) } },
            None => show::start(name, 120),
        }
    }
}

pub(super) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let shown = Shown::of(explorer, ask, AROUND)?;
    let concept = shown.concept();
    let name = show::start_of(&concept.name, 120);
    let around = ask.link(
        &memoir_path(&shown.memoir),
        &[("around", &concept.id), ("depth", "1")],
    );
    let main = html! {
        nav.crumbs aria-label="Levels" {
            a href=(ask.link("/graph", &[])) { "Graph" } " / "
            a href=(ask.link(&memoir_path(&shown.memoir), &[])) { (show::line(&shown.memoir.name)) } " / "
            (show::start(&concept.name, 60))
        }
        @match &concept.definition {
            Some(text) => { div.graph-definition { (show::text(text)) } },
            None => { p { (show::withheld()) } },
        }
        (labels(ask, &shown))
        dl.graph-facts {
            div { dt { "Confidence" } dd { (show::share(concept.confidence, "Confidence")) } }
            div { dt { "Revision" } dd { (show::number(concept.revision.into())) } }
            div { dt { "Added" } dd { (show::time(explorer, ask, &concept.created_at)) } }
            div { dt { "Changed" } dd { (show::time(explorer, ask, &concept.updated_at)) } }
            div { dt { "Id" } dd { code title=(concept.id) { (show::short_memory_id(&concept.id)) } } }
        }
        p { a href=(around) { "Show its neighbours in the graph" } }
        (relations(ask, &shown))
        (sources(explorer, ask, &shown))
        (versions(explorer, ask, &shown.inspected.definitions))
        (events(explorer, ask, concept)?)
    };
    Ok(Page::new(name, main))
}

/// The short form beside a drawing, without the frame of a page.
pub(super) async fn panel(
    State(explorer): State<Arc<Explorer>>,
    Query(params): Query<Vec<(String, String)>>,
    uri: Uri,
) -> Response {
    in_background(move || {
        let made = Ask::of(&explorer, &uri, params).and_then(|ask| {
            let shown = Shown::of(&explorer, &ask, AROUND_SHORT)?;
            Ok(short(&explorer, &ask, &shown))
        });
        piece(made)
    })
    .await
}

fn short(explorer: &Explorer, ask: &Ask, shown: &Shown) -> Markup {
    let concept = shown.concept();
    let [out, into] = shown.links();
    let page = concept_path(&shown.memoir, &concept.name, &concept.id);
    let (sources, withheld) = (
        &shown.inspected.sources.sources,
        shown.inspected.sources.sources_withheld.len(),
    );
    html! {
        h2 { a href=(ask.link(&page, &[])) { (show::start(&concept.name, 120)) } }
        @match &concept.definition {
            Some(text) => { p.text dir="auto" { (show::start(text, SHORT)) } },
            None => { p { (show::withheld()) } },
        }
        (labels(ask, shown))
        p.quiet {
            "Confidence " (format!("{:.2}", concept.confidence)) " · revision " (show::number(concept.revision.into()))
            " · changed " (show::time(explorer, ask, &concept.updated_at))
        }
        @if !out.is_empty() || !into.is_empty() {
            h3 { "Links" }
            ul.graph-links {
                @for link in out.iter().take(AROUND_SHORT) {
                    li { span.relation { (show::line(&link.relation)) } " → " (shown.link_to(ask, &link.to)) }
                }
                @for link in into.iter().take(AROUND_SHORT) {
                    li { (shown.link_to(ask, &link.from)) " → " span.relation { (show::line(&link.relation)) } " → this" }
                }
                @if shown.inspected.truncated { li.quiet { "more on the page of the concept" } }
            }
        }
        @if !sources.is_empty() || withheld > 0 {
            h3 { "Derived from" }
            ul.graph-links {
                @for id in sources.iter().take(3) { li { (source(explorer, ask, id)) } }
                @if sources.len() > 3 { li.quiet { (show::count(sources.len() as u64 - 3, "more memory", "more memories")) } }
                @if withheld > 0 { li.quiet { (show::count(withheld as u64, "withheld memory", "withheld memories")) } }
            }
        }
        p { a.button href=(ask.link(&page, &[])) { "Open this concept" } }
    }
}

fn labels(ask: &Ask, shown: &Shown) -> Markup {
    let labels = &shown.concept().labels;
    let memoir = memoir_path(&shown.memoir);
    html! {
        @if !labels.is_empty() {
            ul.tags aria-label="Labels" {
                @for label in labels {
                    li { a.tag href=(ask.link(&memoir, &[("label", label)])) { (show::start(label, 64)) } }
                }
            }
        }
    }
}

fn relations(ask: &Ask, shown: &Shown) -> Markup {
    let [out, into] = shown.links();
    html! {
        section aria-labelledby="relations" {
            h2 #relations { "Relations" }
            @if out.is_empty() && into.is_empty() { p.quiet { "It is linked to no other concept." } }
            @else {
                div.wide {
                    table.roomy {
                        caption.unseen { "Links of this concept" }
                        thead { tr { th scope="col" { "From" } th scope="col" { "Relation" } th scope="col" { "To" } th scope="col" { "Reason" } th scope="col" { "Event" } } }
                        tbody {
                            @for link in out.iter().chain(&into) {
                                tr {
                                    td { @if link.from == shown.concept().name { span.quiet { "this" } } @else { (shown.link_to(ask, &link.from)) } }
                                    td.tight { span.relation { (show::line(&link.relation)) } }
                                    td { @if link.to == shown.concept().name { span.quiet { "this" } } @else { (shown.link_to(ask, &link.to)) } }
                                    td { @if let Some(reason) = &link.reason { (show::start(reason, 200)) } }
                                    td.tight { (show::event_id(ask, &link.event)) }
                                }
                            }
                        }
                    }
                }
                @if shown.inspected.truncated {
                    p.quiet { "Only " (show::number(AROUND as u64)) " neighbours are shown; the graph has all." }
                }
            }
        }
    }
}

/// Returns the start of a memory's text as a link to its page.
fn source(explorer: &Explorer, ask: &Ask, id: &str) -> Markup {
    let memory = explorer.service.get(id, ask.at.as_deref());
    let text = memory.ok().and_then(|memory| memory.content);
    html! {
        @match text {
            Some(text) => { a href=(show::memory_path(ask, id)) { (show::start(&text, 120)) } },
            None => { (show::memory_id(ask, id)) },
        }
    }
}

fn sources(explorer: &Explorer, ask: &Ask, shown: &Shown) -> Markup {
    let sources = &shown.inspected.sources;
    let all = sources.sources.len() + sources.sources_withheld.len();
    html! {
        section aria-labelledby="sources" {
            h2 #sources { "Derived from" }
            @if all == 0 { p.quiet { "No memory is named as its source." } }
            @else {
                ul.graph-sources {
                    @for id in sources.sources.iter().take(SOURCES) { li { (source(explorer, ask, id)) } }
                    @for id in &sources.sources_withheld { li { (show::memory_id(ask, id)) " " (show::withheld()) } }
                }
                @if sources.sources.len() > SOURCES {
                    p.quiet { (show::count((sources.sources.len() - SOURCES) as u64, "more memory", "more memories")) }
                }
            }
        }
    }
}

fn versions(explorer: &Explorer, ask: &Ask, definitions: &[Definition]) -> Markup {
    let status = |status: DefinitionStatus| match status {
        DefinitionStatus::Holds => show::badge(show::Tone::Good, "holds"),
        DefinitionStatus::Replaced => show::badge(show::Tone::Plain, "replaced"),
        DefinitionStatus::Lost => show::badge(show::Tone::Warn, "another value holds"),
        DefinitionStatus::Undone => show::badge(show::Tone::Bad, "undone"),
    };
    html! {
        section aria-labelledby="versions" {
            h2 #versions { "Versions" }
            ol.graph-versions {
                @for definition in definitions.iter().rev().take(PAST) {
                    li {
                        p {
                            strong { "Revision " (show::number(definition.revision.into())) } " " (status(definition.status)) " "
                            span.quiet {
                                (show::time(explorer, ask, &definition.at)) " by " (show::actor(ask, &definition.actor))
                                " · confidence " (format!("{:.2}", definition.confidence))
                                " · event " (show::event_id(ask, &definition.event))
                                @if let Some(undo) = &definition.undone_by { " · undone by " (show::event_id(ask, undo)) }
                            }
                        }
                        @match &definition.definition {
                            Some(text) => { (show::text(text)) },
                            None => { p { (show::withheld()) } },
                        }
                    }
                }
            }
            @if definitions.len() > PAST {
                p.quiet { "The newest " (show::number(PAST as u64)) " of " (show::number(definitions.len() as u64)) " are shown." }
            }
        }
    }
}

fn events(explorer: &Explorer, ask: &Ask, concept: &Concept) -> Result<Markup> {
    let request = LogRequest {
        id: Some(concept.id.clone()),
        until: Some(format!("@{}", ask.basis.position)),
        limit: Some(PAST),
        ..LogRequest::default()
    };
    let mut events: Vec<LogEntry> = Vec::new();
    explorer.service.log(&request, &mut |entry| {
        events.push(entry);
        true
    })?;
    Ok(html! {
        section aria-labelledby="events" {
            h2 #events { "Events" }
            div.wide {
                table.roomy {
                    caption.unseen { "Events about this concept, newest first" }
                    thead { tr { th scope="col" { "Event" } th scope="col" { "Kind" } th scope="col" { "Time" } th scope="col" { "Actor" } th scope="col" { "Summary" } } }
                    tbody {
                        @for event in &events {
                            tr {
                                td.tight { (show::position(ask, &event.event, event.position)) }
                                td.tight { (show::line(&event.kind)) }
                                td.tight { (show::time(explorer, ask, &event.at)) }
                                td { (show::actor(ask, &event.actor)) }
                                td { (show::start(&event.summary, 160)) }
                            }
                        }
                    }
                }
            }
        }
    })
}
