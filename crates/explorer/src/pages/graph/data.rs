//! The data of a drawing: a part of a web as JSON.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use icm_api::error::{Result, ServiceError};
use icm_guard::sanitize::{clean_line, escape_json};
use maud::Markup;
use serde::Serialize;

use super::web::{Node, Part, Web};
use crate::answer::{guarded, html_answer, status};
use crate::ask::Ask;
use crate::problem;
use crate::show::start_of;

/// Nodes of a first drawing.
pub(super) const FIRST: usize = 300;
/// Nodes that one click adds.
pub(super) const AROUND: usize = 120;
/// Links that one click brings, also those to nodes that are not drawn.
pub(super) const LINKS: usize = 3_000;
/// Steps around a node.
pub(super) const DEPTH_MAX: usize = 3;
/// Characters of a name in a drawing.
const NAME: usize = 60;
/// Labels of a node in a drawing.
const LABELS: usize = 8;

#[derive(Serialize)]
struct Drawing {
    nodes: Vec<DrawnNode>,
    links: Vec<DrawnLink>,
    /// Nodes of the whole web.
    total: usize,
    /// Links of the whole web.
    total_links: usize,
    /// `true` if a bound left nodes out.
    cut: bool,
}

#[derive(Serialize)]
struct DrawnNode {
    id: String,
    name: String,
    labels: Vec<String>,
    /// Number of all its links.
    links: usize,
    /// Address of its page.
    page: String,
    /// Address of its short form.
    panel: String,
}

#[derive(Serialize)]
struct DrawnLink {
    from: String,
    to: String,
    relation: String,
}

#[derive(Serialize)]
struct Failed {
    error: String,
    hint: Option<String>,
}

/// Returns how many steps around a node are asked for, from 1 to 3.
pub(super) fn depth(ask: &Ask) -> usize {
    let depth = ask.get("depth").and_then(|text| text.parse().ok());
    depth.unwrap_or(1).clamp(1, DEPTH_MAX)
}

/// Answers with a part of a web. `page` returns the address of a node's page, without the moment.
pub(super) fn drawing(
    ask: &Ask,
    web: &Web,
    part: &Part,
    page: &dyn Fn(&Node) -> String,
) -> Response {
    let nodes = part.nodes.iter().map(|&place| {
        let node = web.node(place);
        let path = page(node);
        let labels = node.labels.iter().take(LABELS);
        DrawnNode {
            id: node.id.clone(),
            name: start_of(&node.name, NAME),
            labels: labels.map(|label| clean_line(label).into_owned()).collect(),
            links: web.links_at(place),
            page: ask.link(&path, &[]),
            panel: ask.link(&format!("{path}/panel"), &[]),
        }
    });
    let links = part.edges.iter().map(|&place| {
        let edge = web.edge(place);
        DrawnLink {
            from: web.node(edge.from).id.clone(),
            to: web.node(edge.to).id.clone(),
            relation: clean_line(&edge.relation).into_owned(),
        }
    });
    let drawing = Drawing {
        nodes: nodes.collect(),
        links: links.collect(),
        total: web.len(),
        total_links: web.links(),
        cut: part.is_cut,
    };
    json(StatusCode::OK, &drawing)
}

/// Returns the answer, or an error as JSON.
pub(super) fn answered(answer: Result<Response>) -> Response {
    answer.unwrap_or_else(|error| {
        let told = Failed {
            error: problem::message(&error),
            hint: problem::advice(&error),
        };
        json(status(&error), &told)
    })
}

/// Returns a piece of a page, or an error as such a piece.
pub(super) fn piece(piece: Result<Markup>) -> Response {
    let told = |error: ServiceError| html_answer(status(&error), problem::shown(&error));
    piece.map_or_else(told, |piece| html_answer(StatusCode::OK, piece))
}

fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let text = serde_json::to_string(value).expect("texts and numbers become JSON");
    // No browser takes the data for a page, even if it guesses the kind of an answer.
    let text = escape_json(&text).replace('<', "\\u003c");
    let mut response = (status, [(CONTENT_TYPE, "application/json")], text).into_response();
    guarded(response.headers_mut());
    response.headers_mut().insert(
        HeaderName::from_static("x-content-type-options"),
        HeaderValue::from_static("nosniff"),
    );
    response
}
