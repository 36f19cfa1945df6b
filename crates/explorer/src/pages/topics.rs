//! Topics as a tree: beside the memories, and as a page.

use icm_api::error::Result;
use icm_api::{TopicNode, TopicsRequest};
use maud::{Markup, html};

use crate::answer::Page;
use crate::ask::Ask;
use crate::{Explorer, show};

/// Topics on the page. Raised, a page takes longer to read.
const TOPICS: usize = 500;
/// Topics beside the memories. Raised, each page of memories grows.
const BESIDE: usize = 80;
/// Levels beside the memories.
const BESIDE_LEVELS: u32 = 2;

/// The page with all topics.
pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let request = TopicsRequest {
        prefix: ask.get("prefix").map(str::to_owned),
        after: ask.get("after").map(str::to_owned),
        limit: Some(TOPICS),
        at: ask.at.clone(),
        ..TopicsRequest::default()
    };
    let topics = explorer.service.topic_tree(&request)?;
    let last = topics.topics.last().filter(|_| topics.more);
    let main = html! {
        p.quiet {
            (show::count(topics.total, "topic or level", "topics and levels")) ". A number is that of the memories in a topic and below it."
        }
        @if topics.topics.is_empty() {
            (show::empty("There is no topic", &html! { a href=(ask.link("/memories", &[])) { "To the memories" } }))
        }
        nav.topic-tree #tree aria-label="Topics" { (tree(explorer, ask, &topics.topics, (None, None), true)) }
        nav.pager aria-label="Pages of topics" {
            @if ask.get("after").is_some() { a href=(ask.link_with(&[("after", "")])) rel="first" { "First page" } }
            @if let Some(last) = last { a.button href=(ask.link_with(&[("after", &last.topic)])) rel="next" { "Next" } }
        }
    };
    Ok(Page::new("Topics", main))
}

/// Returns the first topics for the side of a page, folded on narrow screens. At a past moment every memory has to be
/// read for them; then the page asks for them once it is shown.
pub(crate) fn beside(explorer: &Explorer, ask: &Ask, here: Option<&str>) -> Result<Markup> {
    let all = ask.link("/topics", &[]);
    if ask.at.is_some() {
        return Ok(html! {
            h2 { a href=(all) { "Topics" } }
            div #tree hx-get=(all) hx-trigger="load" hx-select="#tree" hx-swap="outerHTML" {
                p.quiet { a href=(all) { "As a tree" } }
            }
        });
    }
    let request = TopicsRequest {
        depth: Some(BESIDE_LEVELS),
        limit: Some(BESIDE),
        ..TopicsRequest::default()
    };
    let topics = explorer.service.topic_tree(&request)?;
    let top = grouped(&topics.topics).into_iter();
    let memories: u64 = top.map(|(node, _)| node.with_below.memories).sum();
    Ok(html! {
        h2 { a href=(all) { "Topics" } }
        @if !topics.more { p.quiet { (show::count(memories, "memory", "memories")) } }
        details.fold open {
            summary { "Show or hide" }
            div.topic-tree { (tree(explorer, ask, &topics.topics, (None, here), false)) }
        }
        @if topics.more { p { a href=(all) { "All " (show::number(topics.total)) } } }
    })
}

/// Returns nodes as nested lists. Levels with others below them can be folded; those on the way
/// to `here` are open. `above` is the topic that all are below, which their names leave out.
fn tree(
    explorer: &Explorer,
    ask: &Ask,
    nodes: &[TopicNode],
    (above, here): (Option<&str>, Option<&str>),
    wide: bool,
) -> Markup {
    html! {
        ul {
            @for (node, inside) in grouped(nodes) {
                li {
                    (name(explorer, ask, node, (above, here), wide))
                    @if !inside.is_empty() {
                        details open[is_open(node, here, wide)] {
                            summary { span.unseen { "Topics below " (show::line(&node.topic)) } }
                            (tree(explorer, ask, inside, (Some(&node.topic), here), wide))
                        }
                    }
                }
            }
        }
    }
}

/// Returns the nodes that are not below another one, each with those below it, which stand right behind it.
fn grouped(nodes: &[TopicNode]) -> Vec<(&TopicNode, &[TopicNode])> {
    let mut groups = Vec::new();
    let mut rest = nodes;
    while let Some((node, behind)) = rest.split_first() {
        let end = behind
            .iter()
            .position(|other| below(&node.topic, &other.topic).is_none());
        let (inside, others) = behind.split_at(end.unwrap_or(behind.len()));
        groups.push((node, inside));
        rest = others;
    }
    groups
}

/// Returns the name of a topic below another one; `None` if it is not below it.
fn below<'t>(above: &str, topic: &'t str) -> Option<&'t str> {
    topic.strip_prefix(above)?.strip_prefix('/')
}

/// Returns `true` for a level that is unfolded at first.
fn is_open(node: &TopicNode, here: Option<&str>, wide: bool) -> bool {
    here.is_some_and(|here| below(&node.topic, here).is_some()) || (wide && node.level == 0)
}

/// Returns one topic as a link to its memories and those below it.
fn name(
    explorer: &Explorer,
    ask: &Ask,
    node: &TopicNode,
    (above, here): (Option<&str>, Option<&str>),
    wide: bool,
) -> Markup {
    let sum = &node.with_below;
    let has_below = sum.memories > node.memories;
    let filter = match has_below {
        true => format!("{}/", node.topic),
        false => node.topic.clone(),
    };
    let short = above.and_then(|above| below(above, &node.topic));
    let is_here = here == Some(&*filter) || here == Some(&*node.topic);
    html! {
        span.node {
            a href=(ask.link("/memories", &[("topic", &filter)])) aria-current=[is_here.then_some("true")] title=(show::start_of(&node.topic, 128)) {
                @if node.topic.is_empty() { "(withheld)" } @else { (show::line(short.unwrap_or(&node.topic))) }
            }
            " " span.count { (show::number(sum.memories)) }
            @if wide {
                @if has_below && node.memories > 0 {
                    " " a.quiet href=(ask.link("/memories", &[("topic", &node.topic)])) { (show::number(node.memories)) " in itself" }
                }
                " " (show::share(sum.mean_weight, "mean weight"))
                " " span.quiet { (show::time(explorer, ask, &sum.updated_at)) }
            }
        }
    }
}
