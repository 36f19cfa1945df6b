//! The frame of each page: head, time, navigation, landmarks.

use icm_api::error::Result;
use icm_guard::sanitize::clean_line;
use maud::{DOCTYPE, Markup, html};

use crate::Explorer;
use crate::ask::Ask;
use crate::keys;
use crate::time;

/// The pages in the navigation: path, name.
const NAVIGATION: [(&str, &str); 8] = [
    ("/", "Now"),
    ("/memories", "Memories"),
    ("/log", "Log"),
    ("/graph", "Graph"),
    ("/sessions", "Sessions"),
    ("/health", "Health"),
    ("/machines", "Machines"),
    ("/numbers", "Numbers"),
];

/// A page without its frame.
pub(crate) struct Page {
    /// Title of the window, and the one heading of the page.
    pub(crate) title: String,
    /// All below the heading.
    pub(crate) main: Markup,
    /// Names of files in `/assets` that this page needs beside the usual ones.
    pub(crate) scripts: &'static [&'static str],
}

impl Page {
    pub(crate) fn new(title: impl Into<String>, main: Markup) -> Page {
        Page {
            title: title.into(),
            main,
            scripts: &[],
        }
    }
}

/// Puts a page into its frame.
pub(crate) fn around(explorer: &Explorer, ask: &Ask, page: Page) -> Result<Markup> {
    let time = time::bar(explorer, ask)?;
    let is_here = |path: &str| match path {
        "/" => ask.path == "/",
        path => ask
            .path
            .strip_prefix(path)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/')),
    };
    Ok(document(
        &page.title,
        page.scripts,
        &html! {
            header.top {
                nav aria-label="Pages" {
                    a.brand href=(ask.link("/", &[])) { "icm" }
                    ul {
                        @for (path, name) in NAVIGATION {
                            li { a href=(ask.link(path, &[])) aria-current=[is_here(path).then_some("page")] { (name) } }
                        }
                    }
                    form.find role="search" action="/memories" method="get" {
                        label.unseen for="find" { "Search memories" }
                        input #find type="search" name="q" placeholder="Search" value=[ask.get("q").filter(|_| is_here("/memories")).map(clean_line)];
                        @if let Some(at) = &ask.at { input type="hidden" name="at" value=(at); }
                    }
                }
                (time)
            }
            main #main {
                h1 { (page.title) }
                (page.main)
            }
            footer {
                p {
                    @if explorer.read_only { "Read-only. " }
                    "Keys: / search, j and k move, "
                    button.plain type="button" popovertarget="keys" { "? help" }
                }
            }
            (keys::help())
        },
    ))
}

/// A page without navigation and time, for errors of a store that cannot be read.
pub(crate) fn bare(title: &str, main: &Markup) -> Markup {
    document(title, &[], &html! { main #main { h1 { (title) } (main) } })
}

fn document(title: &str, scripts: &[&str], body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // Settings of htmx: it writes no style of its own and evaluates no text.
                meta name="htmx-config" content=r#"{"includeIndicatorStyles":false,"allowEval":false,"selfRequestsOnly":true,"historyCacheSize":0,"ignoreTitle":true}"#;
                title { (title) " · icm" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/explorer.css";
                script src="/assets/htmx.js" defer {}
                script src="/assets/explorer.js" defer {}
                @for script in scripts { script src={ "/assets/" (script) } defer {} }
            }
            body {
                a.skip href="#main" { "To the content" }
                (body)
            }
        }
    }
}
