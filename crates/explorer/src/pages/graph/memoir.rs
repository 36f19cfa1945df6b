//! The page of a memoir: its drawing, a search, and the table of its concepts.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::Uri;
use axum::response::Response;
use icm_api::error::Result;
use icm_api::{ConceptHit, ConceptSearchRequest};
use maud::{Markup, html};

use super::cache::{Drawn, Webs};
use super::data::{AROUND, FIRST, LINKS, answered, depth, drawing};
use super::drawing::{Stage, labels, stage};
use super::{concept_path, memoir_path, part};
use crate::Explorer;
use crate::answer::{Page, in_background};
use crate::ask::Ask;
use crate::show;

/// Concepts on a page of the table.
const ROWS: usize = 50;
/// Results of a search.
const FOUND: usize = 20;

pub(super) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let drawn = Webs::of(explorer, ask, &part(ask, 0))?;
    let (memoir, web) = (&drawn.memoir, &drawn.web);
    let path = memoir_path(memoir);
    let data = match ask.get("around") {
        Some(around) => ask.link(
            &format!("{path}/data"),
            &[("around", around), ("depth", &depth(ask).to_string())],
        ),
        None => ask.link(&format!("{path}/data"), &[]),
    };
    let name = show::start_of(&memoir.name, 80);
    let drawing = Stage {
        data,
        name: format!("Graph of {name}; the table below has the same concepts and links"),
        colours: "Labels",
        find: Some("Find a concept"),
        of_label: None,
    };
    let main = html! {
        nav.crumbs aria-label="Levels" { a href=(ask.link("/graph", &[])) { "Graph" } " / " (show::line(&memoir.name)) }
        @match &memoir.description {
            Some(text) => { (show::text(text)) },
            None => { p { (show::withheld()) } },
        }
        p.quiet {
            (show::count(web.len() as u64, "concept", "concepts")) " · "
            (show::count(web.links() as u64, "link", "links"))
            " · changed " (show::time(explorer, ask, &memoir.updated_at))
        }
        @if web.len() == 0 {
            (show::empty("This memoir has no concept at this moment.", &html! {
                "Add one with " code { "icm memoir add-concept -m " (show::start(&memoir.name, 60)) " -n NAME -d 'What it is'" } "."
            }))
        } @else {
            @if let Some(words) = ask.get("q") { (found(explorer, ask, &drawn, words)?) }
            (stage(ask, web, &drawing))
            (concepts(explorer, ask, &drawn))
            (relations(&drawn))
        }
    };
    Ok(Page {
        scripts: &["cytoscape.js", "graph.js"],
        ..Page::new(format!("Memoir {name}"), main)
    })
}

/// The data of the drawing: around a concept, found by a search, or the most connected concepts.
pub(super) async fn data(
    State(explorer): State<Arc<Explorer>>,
    Query(params): Query<Vec<(String, String)>>,
    uri: Uri,
) -> Response {
    in_background(move || {
        let answer = Ask::of(&explorer, &uri, params).and_then(|ask| {
            let drawn = Webs::of(&explorer, &ask, &part(&ask, 0))?;
            let web = &drawn.web;
            let part = match (ask.get("around"), ask.get("q")) {
                (Some(around), _) => {
                    // A concept that is gone at this moment leaves an empty drawing.
                    let start = web.find(around);
                    let part = |start| web.around(start, depth(&ask), AROUND, LINKS);
                    start.map(part).unwrap_or_default()
                }
                (None, Some(words)) => {
                    let hits = search(&explorer, &ask, &drawn, words)?;
                    let places = hits.iter().filter_map(|hit| web.find(&hit.concept.id));
                    web.some(places.collect(), LINKS)
                }
                (None, None) => web.most_connected(FIRST),
            };
            Ok(drawing(&ask, web, &part, &|node| {
                concept_path(&drawn.memoir, &node.name, &node.id)
            }))
        });
        answered(answer)
    })
    .await
}

fn search(explorer: &Explorer, ask: &Ask, drawn: &Drawn, words: &str) -> Result<Vec<ConceptHit>> {
    let request = ConceptSearchRequest {
        query: words.to_owned(),
        memoir: Some(drawn.memoir.id.clone()),
        limit: Some(FOUND),
        at: ask.at.clone(),
        ..ConceptSearchRequest::default()
    };
    Ok(explorer.service.concept_search(&request)?.results)
}

fn found(explorer: &Explorer, ask: &Ask, drawn: &Drawn, words: &str) -> Result<Markup> {
    let hits = search(explorer, ask, drawn, words)?;
    Ok(html! {
        section aria-labelledby="found" {
            h2 #found { "Found for “" (show::start(words, 60)) "”" }
            @if hits.is_empty() {
                p { "No concept fits. " a href=(ask.link_with(&[("q", "")])) { "Show all concepts" } }
            } @else {
                ol.graph-found {
                    @for hit in &hits {
                        @let concept = &hit.concept;
                        li {
                            a href=(ask.link(&concept_path(&drawn.memoir, &concept.name, &concept.id), &[])) { (show::start(&concept.name, 120)) }
                            " " span.quiet title="Confidence that it fits" { "fit " (format!("{:.2}", hit.fit)) }
                            @if let Some(text) = &concept.definition { br; span.quiet { (show::start(text, 200)) } }
                        }
                    }
                }
            }
        }
    })
}

fn concepts(explorer: &Explorer, ask: &Ask, drawn: &Drawn) -> Markup {
    let web = &drawn.web;
    let label = ask.get("label");
    let fits = |place: &usize| match label {
        Some(label) => web.node(*place).labels.iter().any(|name| name == label),
        None => true,
    };
    let all: Vec<usize> = web.order().iter().copied().filter(fits).collect();
    let after = ask.get("after").and_then(|id| web.find(id));
    let after = after.and_then(|last| all.iter().position(|&place| place == last));
    let from = after.map_or(0, |place| place + 1);
    let rows: Vec<usize> = all.iter().skip(from).take(ROWS).copied().collect();
    let next = rows.last().filter(|_| from + rows.len() < all.len());
    html! {
        section aria-labelledby="concepts" {
            h2 #concepts { "Concepts" }
            p.quiet {
                @if let Some(label) = label {
                    "With the label " (show::start(label, 60)) ": "
                }
                @match rows.is_empty() {
                    true => { "none." },
                    false => {
                        (show::number(from as u64 + 1)) "–" (show::number((from + rows.len()) as u64)) " of "
                        (show::number(all.len() as u64)) ", most connected first."
                    },
                }
                @if label.is_some() { " " a href=(ask.link_with(&[("label", ""), ("after", "")])) { "All labels" } }
            }
            div.wide {
                table.graph-concepts {
                    caption.unseen { "Concepts, most connected first" }
                    thead { tr { th scope="col" { "Concept" } th scope="col" { "Labels" } th.figure scope="col" { "Links" } th scope="col" { "Changed" } } }
                    tbody {
                        @for &place in &rows {
                            @let node = web.node(place);
                            tr {
                                th scope="row" {
                                    a href=(ask.link(&concept_path(&drawn.memoir, &node.name, &node.id), &[])) { (show::start(&node.name, 120)) }
                                    @match &node.about {
                                        Some(text) => { p.quiet { (show::start(text, 160)) } },
                                        None => { p { (show::withheld()) } },
                                    }
                                }
                                td { (labels(web, &node.labels)) }
                                td.figure { (show::number(web.links_at(place) as u64)) }
                                td.tight { (show::time(explorer, ask, &node.updated_at)) }
                            }
                        }
                    }
                }
            }
            @if let Some(&last) = next {
                p { a rel="next" href=(ask.link_with(&[("after", &web.node(last).id)])) { "Next" } }
            }
        }
    }
}

fn relations(drawn: &Drawn) -> Markup {
    html! {
        @if !drawn.web.relations().is_empty() {
            section aria-labelledby="relations" {
                h2 #relations { "Relations" }
                table.narrow {
                    caption.unseen { "Relations with their numbers of links" }
                    thead { tr { th scope="col" { "Relation" } th.figure scope="col" { "Links" } } }
                    tbody {
                        @for (relation, count) in drawn.web.relations() {
                            tr { th scope="row" { (show::line(relation)) } td.figure { (show::number(*count as u64)) } }
                        }
                    }
                }
            }
        }
    }
}
