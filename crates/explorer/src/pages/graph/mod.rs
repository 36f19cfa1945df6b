//! The page *Graph*: memoirs as drawings and tables, their concepts, and memories with their links.
//!
//! A drawing is an addition: its nodes and links stand in tables of the same page, too. The data of a drawing is JSON of
//! an address of its own, and is bounded.

mod cache;
mod concept;
mod data;
mod drawing;
mod memoir;
mod memories;
mod web;

use std::borrow::Cow;
use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use icm_api::Memoir;
use icm_api::error::Result;
use maud::{Markup, html};
use percent_encoding::percent_decode_str;

pub(crate) use cache::Webs;

use crate::Explorer;
use crate::answer::{Page, shows};
use crate::ask::{Ask, encoded};
use crate::show;

pub(crate) fn routes() -> Router<Arc<Explorer>> {
    Router::new()
        .route("/graph/memories", shows(memories::page))
        .route("/graph/memories/data", get(memories::data))
        .route("/graph/memories/{id}/panel", get(memories::panel))
        .route("/graph/{memoir}", shows(memoir::page))
        .route("/graph/{memoir}/data", get(memoir::data))
        .route("/graph/{memoir}/{concept}", shows(concept::page))
        .route("/graph/{memoir}/{concept}/panel", get(concept::panel))
}

/// The list of memoirs.
pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let list = explorer.service.memoir_list(ask.at.as_deref())?;
    let concepts = list.memoirs.iter().map(|memoir| memoir.concepts).sum();
    let main = html! {
        @if list.memoirs.is_empty() {
            (show::empty("There is no memoir at this moment.", &html! {
                "A memoir is a graph of concepts. Create one with " code { "icm memoir create -n architecture -d 'How the parts fit'" }
                ", and add concepts with " code { "icm memoir add-concept" } "."
            }))
        } @else {
            p.quiet {
                (show::count(list.memoirs.len() as u64, "memoir", "memoirs")) ", "
                (show::count(concepts, "concept", "concepts"))
            }
            ul.graph-cards {
                @for memoir in &list.memoirs { li { (card(explorer, ask, memoir)) } }
            }
        }
        h2 { "Links between memories" }
        p {
            "Memories are linked, too: one supersedes another one, contradicts it, or is derived from it. "
            a href=(ask.link("/graph/memories", &[])) { "Memories with links" }
        }
    };
    Ok(Page::new("Graph", main))
}

fn card(explorer: &Explorer, ask: &Ask, memoir: &Memoir) -> Markup {
    html! {
        h2 { a href=(ask.link(&memoir_path(memoir), &[])) { (show::line(&memoir.name)) } }
        @match &memoir.description {
            Some(text) => { p { (show::start(text, 240)) } },
            None => { p { (show::withheld()) } },
        }
        p.quiet {
            (show::count(memoir.concepts, "concept", "concepts"))
            " · changed " (show::time(explorer, ask, &memoir.updated_at))
        }
    }
}

/// Returns the address of a memoir's page, without the moment.
fn memoir_path(memoir: &Memoir) -> String {
    format!("/graph/{}", part_of_path(&memoir.name, &memoir.id))
}

/// Returns the address of a concept's page, without the moment.
fn concept_path(memoir: &Memoir, name: &str, id: &str) -> String {
    format!("{}/{}", memoir_path(memoir), part_of_path(name, id))
}

/// Returns a name as a part of a path; the id instead of a name that means something else there, or is long.
fn part_of_path<'a>(name: &'a str, id: &'a str) -> Cow<'a, str> {
    let is_taken = matches!(name, "memories" | "data" | "panel" | "(withheld)");
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ' | ':');
    let is_dots = name.bytes().all(|byte| byte == b'.');
    match name.chars().all(is_plain) && !is_taken && !is_dots && name.len() <= 100 {
        true => encoded(name).into(),
        false => id.into(),
    }
}

/// Returns a part of the path behind `/graph/`, decoded: 0 is the memoir.
fn part(ask: &Ask, place: usize) -> String {
    let part = ask.path.split('/').nth(place + 2).unwrap_or_default();
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests;
