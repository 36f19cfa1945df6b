//! Memories and their links as a graph: what is around one memory.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::Uri;
use axum::response::Response;
use icm_api::error::{Result, ServiceError};
use icm_api::{Direction, ListRequest, Memory};
use maud::{Markup, html};

use super::data::{AROUND, LINKS, answered, depth, drawing, piece};
use super::drawing::{Stage, stage};
use super::part;
use super::web::{Edge, Node, Web};
use crate::Explorer;
use crate::act;
use crate::answer::{Page, in_background};
use crate::ask::{Ask, encoded};
use crate::show;

/// Memories that are read for one drawing. Raised, a click takes longer.
const READ: usize = 80;
/// The newest memories among which the first page looks for links.
const LOOKED_AT: usize = 400;
/// Memories with links on the first page.
const ROWS: usize = 50;
/// Characters of a text that stands for a memory.
const NAME: usize = 80;

/// The memories around one, nearest first, and their web.
struct Found {
    memories: Vec<Memory>,
    web: Web,
    /// `true` if there are more than may be read.
    is_cut: bool,
}

/// Reads the memories within so many steps of one.
fn around(explorer: &Explorer, ask: &Ask, id: &str, depth: usize) -> Result<Found> {
    let first = explorer.service.get(id, ask.at.as_deref())?;
    let mut places = BTreeMap::from([(first.id.clone(), 0)]);
    let mut rim = VecDeque::from([(0, 0)]);
    let mut memories = vec![first];
    let mut edges = Vec::new();
    let mut is_cut = false;
    while let Some((at, steps)) = rim.pop_front() {
        for link in memories[at].related.clone() {
            let place = match places.get(&link.id) {
                Some(&place) => place,
                None if steps == depth => continue,
                None if memories.len() == READ => {
                    is_cut = true;
                    continue;
                }
                None => match explorer.service.get(&link.id, ask.at.as_deref()) {
                    Ok(memory) => {
                        let place = memories.len();
                        // A memory may be known under several ids.
                        places.insert(link.id.clone(), place);
                        places.insert(memory.id.clone(), place);
                        memories.push(memory);
                        rim.push_back((place, steps + 1));
                        place
                    }
                    Err(ServiceError::Nothing { .. } | ServiceError::NotFound { .. }) => continue,
                    Err(error) => return Err(error),
                },
            };
            let (from, to) = match link.direction {
                Direction::Out => (at, place),
                Direction::In => (place, at),
            };
            edges.push(Edge {
                from,
                to,
                relation: link.relation,
            });
        }
    }
    let nodes = memories.iter().map(|memory| Node {
        id: memory.id.clone(),
        name: name_of(memory),
        labels: vec![memory.topic.clone()],
        about: None,
        updated_at: memory.updated_at.clone(),
    });
    Ok(Found {
        web: Web::new(nodes.collect(), edges),
        memories,
        is_cut,
    })
}

fn name_of(memory: &Memory) -> String {
    match &memory.content {
        Some(text) => show::start_of(text, NAME),
        None => "(withheld)".to_owned(),
    }
}

pub(super) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let crumbs = html! {
        nav.crumbs aria-label="Levels" { a href=(ask.link("/graph", &[])) { "Graph" } " / Memories" }
    };
    let Some(id) = ask.get("around") else {
        return Ok(Page::new(
            "Memories with links",
            html! { (crumbs) (linked(explorer, ask)?) },
        ));
    };
    let depth = depth(ask);
    let found = around(explorer, ask, id, depth)?;
    let first = &found.memories[0];
    let data = [("around", first.id.as_str()), ("depth", &depth.to_string())];
    let of_topic = |topic: &str| ask.link("/memories", &[("topic", topic)]);
    let drawing = Stage {
        data: ask.link("/graph/memories/data", &data),
        name: "Graph of linked memories; the table below has the same links".to_owned(),
        colours: "Topics",
        find: None,
        of_label: Some(&of_topic),
    };
    let main = html! {
        (crumbs)
        div.graph-definition {
            @match &first.content {
                Some(text) => { p.text dir="auto" { (show::start(text, 600)) } },
                None => { p { (show::withheld()) } },
            }
            p { a href=(show::memory_path(ask, &first.id)) { "Open this memory" } }
        }
        p.quiet {
            (show::count(found.memories.len() as u64, "memory", "memories")) " within "
            (show::count(depth as u64, "step", "steps"))
            @if found.is_cut { "; " (show::number(READ as u64)) " are shown at most" }
        }
        @if found.web.links() == 0 {
            (show::empty("This memory has no link at this moment.", &html! {
                (act::link_advice(explorer, ask))
            }))
        } @else {
            (stage(ask, &found.web, &drawing))
            (links(ask, &found))
        }
    };
    Ok(Page {
        scripts: &["cytoscape.js", "graph.js"],
        ..Page::new("Links around a memory", main)
    })
}

/// The data of the drawing.
pub(super) async fn data(
    State(explorer): State<Arc<Explorer>>,
    Query(params): Query<Vec<(String, String)>>,
    uri: Uri,
) -> Response {
    in_background(move || {
        let answer = Ask::of(&explorer, &uri, params).and_then(|ask| {
            let id = ask.get("around").ok_or_else(|| {
                ServiceError::invalid_with("no memory is named", "give one as `around`")
            })?;
            let found = around(&explorer, &ask, id, depth(&ask))?;
            let mut part = found.web.around(0, depth(&ask), AROUND, LINKS);
            part.is_cut |= found.is_cut;
            Ok(drawing(&ask, &found.web, &part, &|node| {
                format!("/graph/memories/{}", encoded(&node.id))
            }))
        });
        answered(answer)
    })
    .await
}

/// The short form of a memory beside a drawing.
pub(super) async fn panel(
    State(explorer): State<Arc<Explorer>>,
    Query(params): Query<Vec<(String, String)>>,
    uri: Uri,
) -> Response {
    in_background(move || {
        let made = Ask::of(&explorer, &uri, params).and_then(|ask| {
            let memory = explorer.service.get(&part(&ask, 1), ask.at.as_deref())?;
            Ok(short(&explorer, &ask, &memory))
        });
        piece(made)
    })
    .await
}

fn short(explorer: &Explorer, ask: &Ask, memory: &Memory) -> Markup {
    html! {
        h2 { a href=(show::memory_path(ask, &memory.id)) { "Memory in " (show::start(&memory.topic, 60)) } }
        @match &memory.content {
            Some(text) => { p.text dir="auto" { (show::start(text, 600)) } },
            None => { p { (show::withheld()) } },
        }
        p { (show::importance(memory.importance)) " " (show::states(memory)) }
        p.quiet {
            (show::count(memory.related.len() as u64, "link", "links"))
            " · stored " (show::time(explorer, ask, &memory.created_at))
        }
        p {
            a.button href=(show::memory_path(ask, &memory.id)) { "Open this memory" } " "
            a href=(ask.link("/graph/memories", &[("around", &memory.id)])) { "Put it in the middle" }
        }
    }
}

/// Returns the links of a drawing as a table.
fn links(ask: &Ask, found: &Found) -> Markup {
    let memory = |place: usize| {
        let node = found.web.node(place);
        html! { a href=(show::memory_path(ask, &node.id)) { (show::start(&node.name, NAME)) } }
    };
    html! {
        section aria-labelledby="links" {
            h2 #links { "Links" }
            div.wide {
                table.roomy {
                    caption.unseen { "Links between these memories" }
                    thead { tr { th scope="col" { "From" } th scope="col" { "Relation" } th scope="col" { "To" } } }
                    tbody {
                        @for place in 0..found.web.links().min(200) {
                            @let edge = found.web.edge(place);
                            tr {
                                td { (memory(edge.from)) }
                                td.tight { span.relation { (show::line(&edge.relation)) } }
                                td { (memory(edge.to)) }
                            }
                        }
                    }
                }
            }
            @if found.web.links() > 200 { p.quiet { "The first 200 links are shown." } }
        }
    }
}

/// Returns the newest memories that have links.
fn linked(explorer: &Explorer, ask: &Ask) -> Result<Markup> {
    let request = ListRequest {
        limit: Some(LOOKED_AT),
        at: ask.at.clone(),
        ..ListRequest::default()
    };
    let mut memories = explorer.service.list(&request)?;
    memories.retain(|memory| !memory.related.is_empty());
    memories.truncate(ROWS);
    Ok(html! {
        @if memories.is_empty() {
            (show::empty("None of the newest memories has a link at this moment.", &html! {
                (act::link_advice(explorer, ask))
            }))
        } @else {
            p.quiet { "The newest ones. Open one to see the memories around it." }
            div.wide {
                table.roomy {
                    caption.unseen { "The newest memories with links" }
                    thead { tr { th scope="col" { "Memory" } th scope="col" { "Topic" } th.figure scope="col" { "Links" } th scope="col" { "Stored" } } }
                    tbody {
                        @for memory in &memories {
                            tr {
                                th scope="row" { a href=(ask.link("/graph/memories", &[("around", &memory.id)])) { (show::start(&name_of(memory), NAME)) } }
                                td { (show::topic_of(ask, memory)) }
                                td.figure { (show::number(memory.related.len() as u64)) }
                                td { (show::time(explorer, ask, &memory.created_at)) }
                            }
                        }
                    }
                }
            }
        }
    })
}
