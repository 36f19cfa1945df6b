//! The place of a drawing on a page: canvas, side panel, tools, legend. Without script, only the legend is seen.

use icm_guard::sanitize::clean_line;
use maud::{Markup, html};

use super::data::{DEPTH_MAX, depth};
use super::web::Web;
use crate::ask::Ask;
use crate::show;

/// Labels with a colour of their own. Raised, the style needs more colours, which are harder to tell apart.
const COLOURS: usize = 7;

/// A drawing and its data.
pub(super) struct Stage<'a> {
    /// Address of its data.
    pub(super) data: String,
    /// Name for screen readers.
    pub(super) name: String,
    /// Meaning of the colours.
    pub(super) colours: &'a str,
    /// Name of the field for a search; `None` without one.
    pub(super) find: Option<&'a str>,
    /// Address of the things with a label; `None` for those of this page.
    pub(super) of_label: Option<&'a dyn Fn(&str) -> String>,
}

/// Returns the tools, the canvas and the legend.
pub(super) fn stage(ask: &Ask, web: &Web, stage: &Stage<'_>) -> Markup {
    html! {
        section.graph data-graph=(stage.data) aria-label="Drawing" {
            (tools(ask, stage))
            div.graph-stage hidden {
                // Cytoscape writes no style element if this one is there.
                div #__________cytoscape_stylesheet hidden {}
                div.graph-canvas.__________cytoscape_container role="img" aria-label=(stage.name) {}
                div.graph-zoom role="group" aria-label="View" {
                    button type="button" data-view="in" aria-label="Zoom in" { "+" }
                    button type="button" data-view="out" aria-label="Zoom out" { "−" }
                    button type="button" data-view="fit" { "Fit" }
                    button type="button" data-view="reset" { "Reset" }
                }
                div.graph-panel aria-live="polite" {
                    p.quiet { "Click a node: its neighbours appear, and its details are shown here." }
                }
            }
            p.graph-note.quiet role="status" {}
            (legend(ask, web, stage))
        }
    }
}

fn tools(ask: &Ask, stage: &Stage<'_>) -> Markup {
    let depth = depth(ask);
    html! {
        form.graph-tools action=(ask.path) method="get" role="search" aria-label="This graph" {
            @if let Some(label) = stage.find {
                label {
                    span { (label) }
                    input type="search" name="q" value=[ask.get("q").map(clean_line)] placeholder="Name or words" autocomplete="off";
                }
            }
            label {
                span { "Steps around a node" }
                select name="depth" {
                    @for steps in 1..=DEPTH_MAX {
                        option value=(steps) selected[steps == depth] { (steps) }
                    }
                }
            }
            @for (name, value) in ask.params() {
                @if !matches!(name.as_str(), "q" | "depth" | "after") {
                    input type="hidden" name=(name) value=(value);
                }
            }
            @if let Some(at) = &ask.at { input type="hidden" name="at" value=(at); }
            button type="submit" { @if stage.find.is_some() { "Find" } @else { "Show" } }
        }
    }
}

/// Returns the meaning of the colours. Each label is a link to what has it.
fn legend(ask: &Ask, web: &Web, stage: &Stage<'_>) -> Markup {
    let labels = web.labels();
    let chosen = ask.get("label");
    let others = labels
        .iter()
        .skip(COLOURS)
        .map(|(_, count)| count)
        .sum::<usize>();
    let href = |label: &String, is_chosen: bool| match stage.of_label {
        Some(of_label) => of_label(label),
        None => {
            let label = if is_chosen { "" } else { label.as_str() };
            ask.link_with(&[("label", label), ("after", "")])
        }
    };
    html! {
        @if !labels.is_empty() {
            div.graph-legend {
                h2 #colours { (stage.colours) }
                ul aria-labelledby="colours" {
                    @for (mark, (label, count)) in labels.iter().take(COLOURS).enumerate() {
                        @let is_chosen = chosen == Some(label.as_str());
                        li {
                            a href=(href(label, is_chosen))
                                data-label=(clean_line(label)) data-mark=(mark) aria-current=[is_chosen.then_some("true")] {
                                (dot(mark)) (show::start(label, 40)) " "
                                span.quiet { (show::number(*count as u64)) }
                            }
                        }
                    }
                    @if others > 0 {
                        li { (dot(COLOURS)) (show::count((labels.len() - COLOURS) as u64, "other", "others")) " " span.quiet { (show::number(others as u64)) } }
                    }
                }
            }
        }
    }
}

/// Returns the dot of a label's colour.
pub(super) fn dot(mark: usize) -> Markup {
    html! {
        svg.dot.{ "series-" (mark + 1) } viewBox="0 0 10 10" width="10" height="10" aria-hidden="true" {
            circle cx="5" cy="5" r="5" {}
        }
    }
}

/// Returns the labels of a node, each with the dot of its colour.
pub(super) fn labels(web: &Web, labels: &[String]) -> Markup {
    let known = web.labels();
    html! {
        @if !labels.is_empty() {
            ul.graph-labels {
                @for label in labels {
                    li {
                        @if let Some(mark) = known.iter().position(|(name, _)| name == label) { (dot(mark.min(COLOURS))) }
                        (show::start(label, 40))
                    }
                }
            }
        }
    }
}
