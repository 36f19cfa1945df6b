//! The page *Health*: memories that need attention, each with what settles it.

use icm_api::error::Result;
use icm_api::{FindingItem, FindingKind, HealthFinding, HealthRequest, Memory, likeness};
use icm_guard::sanitize::{clean, clean_line};
use maud::{Markup, html};

use crate::Explorer;
use crate::act;
use crate::answer::Page;
use crate::ask::Ask;
use crate::show::{
    Tone, badge, count, empty, line, memory_id, number, scope, start, time, topic, withheld,
};

/// Items of a finding that are named, and with "show more".
const NAMED: usize = 5;
const NAMED_MAX: usize = 50;
/// Characters of a memory's text.
const TEXT_CHARS: usize = 280;

pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let default = HealthRequest::default();
    let request = HealthRequest {
        topic: ask.get("topic").map(str::to_owned),
        at: ask.at.clone(),
        stale_days: ask.number("stale")?.unwrap_or(default.stale_days),
        named: ask.number("named")?.unwrap_or(NAMED).min(NAMED_MAX),
    };
    let health = explorer.service.health(&request)?;
    let open: Vec<&HealthFinding> = health.findings.iter().filter(|it| it.count > 0).collect();
    let main = html! {
        (filters(ask, &request))
        @if health.memories == 0 {
            (empty("No memories to look at", &html! { a href=(ask.link("/memories", &[])) { "See all memories" } }))
        } @else {
            (tiles(&health.findings))
            @if open.is_empty() {
                (empty("Nothing needs attention", &html! { (count(health.memories, "memory was", "memories were")) " looked at." }))
            }
            @for finding in &open { (section(explorer, ask, finding, &request)?) }
            p.quiet {
                "All " (count(health.memories, "memory was", "memories were")) " looked at, and all findings are counted. Of each finding, "
                (request.named) " are named, " (NAMED_MAX) " at most. "
                "Memories that say nearly the same are looked for within a topic and a scope, and most of them are found. "
                "Expired memories are left out."
            }
        }
    };
    Ok(Page::new("Health", main))
}

fn filters(ask: &Ask, request: &HealthRequest) -> Markup {
    html! {
        form.log-filters method="get" action="/health" aria-label="Filters" {
            div.row {
                div.field {
                    label for="health-topic" { "Topic" }
                    input #health-topic name="topic" value=[request.topic.as_deref().map(clean_line)] placeholder="payments/" autocomplete="off";
                }
                div.field {
                    label for="health-stale" { "Stale after days" }
                    input #health-stale name="stale" type="number" min="0" max="100000" value=(request.stale_days);
                }
                button type="submit" { "Look" }
            }
            @if let Some(at) = &ask.at { input type="hidden" name="at" value=(at); }
        }
    }
}

/// Returns the count of each finding, as links to its section.
fn tiles(findings: &[HealthFinding]) -> Markup {
    html! {
        ul.tiles.log-tiles aria-label="Findings" {
            @for finding in findings {
                @let (name, ..) = words(finding.finding);
                li class=[(finding.count > 0).then_some("warn")] {
                    @if finding.count > 0 {
                        a href={ "#" (anchor(finding.finding)) } { strong { (number(finding.count)) } " " span { (name) } }
                    } @else {
                        strong { "0" } " " span { (name) }
                    }
                }
            }
        }
    }
}

/// Returns name and meaning of a finding, and the words for what to do by a button.
fn words(kind: FindingKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        FindingKind::Stale => (
            "Stale",
            "Neither changed nor recalled for a long time, of medium or low importance, and not pinned.",
            "Forget what no longer matters.",
        ),
        FindingKind::NearDuplicates => (
            "Nearly the same",
            "Two memories of a topic that say nearly the same.",
            "Keep one of them, or say that the newer one replaces the older one.",
        ),
        FindingKind::Contradictions => (
            "Contradicting",
            "Two memories with a link that says that they contradict each other.",
            "Decide which one holds. It replaces the other one.",
        ),
        FindingKind::NeverRecalled => (
            "Never recalled",
            "Older than 30 days, and no recall has ever shown them. They are of medium or low importance and not pinned.",
            "Forget what nobody asks for, or store it in the words that people ask with.",
        ),
        FindingKind::Crowded => (
            "Crowded topics",
            "Topics with so many memories of one scope that a summary in their place would help.",
            "Look at the topic, and forget what is no longer needed.",
        ),
        FindingKind::ExpireSoon => (
            "Expire soon",
            "A condition hides these memories within seven days.",
            "Let them go, or keep one: its page can give it another condition.",
        ),
    }
}

/// Returns what the command of a finding does; `None` if a button of the page does the same.
fn by_command(explorer: &Explorer, ask: &Ask, kind: FindingKind) -> Option<&'static str> {
    match kind {
        FindingKind::Stale => Some("To let all fade, and prune those below a weight"),
        FindingKind::Crowded => Some("To see the summary that would take their place"),
        _ if act::offers(explorer, ask) => None,
        _ => Some("On the command line"),
    }
}

/// Returns the id of a finding's section.
fn anchor(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Stale => "stale",
        FindingKind::NearDuplicates => "near-duplicates",
        FindingKind::Contradictions => "contradictions",
        FindingKind::NeverRecalled => "never-recalled",
        FindingKind::Crowded => "crowded",
        FindingKind::ExpireSoon => "expire-soon",
    }
}

fn section(
    explorer: &Explorer,
    ask: &Ask,
    finding: &HealthFinding,
    request: &HealthRequest,
) -> Result<Markup> {
    let (name, meaning, help) = words(finding.finding);
    let id = anchor(finding.finding);
    let left = finding.count.saturating_sub(finding.first.len() as u64);
    let mut items = Vec::with_capacity(finding.first.len());
    for item in &finding.first {
        items.push(self::item(explorer, ask, finding.finding, item)?);
    }
    Ok(html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (name) " " (badge(Tone::Warn, &number(finding.count))) }
            p { (meaning) }
            ul.log-cards { @for item in &items { li.card { (item) } } }
            @if left > 0 {
                p {
                    "… and " (count(left, "more", "more")) ". "
                    @if request.named < NAMED_MAX {
                        a href={ (ask.link_with(&[("named", &NAMED_MAX.to_string())])) "#" (id) } { "Name up to " (NAMED_MAX) }
                    }
                }
            }
            p.quiet {
                (help)
                @if let Some(what) = by_command(explorer, ask, finding.finding) { " " (what) ": " code { (clean(&finding.command)) } }
            }
        }
    })
}

/// Returns a memory, a pair or a topic, with its buttons.
fn item(explorer: &Explorer, ask: &Ask, kind: FindingKind, item: &FindingItem) -> Result<Markup> {
    let is_pair = item.ids.len() > 1;
    let mut texts = Vec::with_capacity(item.ids.len());
    for (n, id) in item.ids.iter().enumerate() {
        let name = match (is_pair, n) {
            (false, _) => None,
            (true, 0) => Some("older"),
            (true, _) => Some("newer"),
        };
        texts.push(memory(explorer, ask, id, name));
    }
    let buttons = act::for_finding(explorer, ask, kind, item)?;
    Ok(html! {
        p {
            (topic(ask, &item.topic))
            @if let Some(memories) = item.memories { ": " (count(memories, "memory", "memories")) }
            @if let Some(of) = &item.scope { " of " (scope(of)) }
            @if let Some(score) = item.score { span.quiet { " likeness " (likeness(score)) } }
        }
        @if is_pair { div.log-sides { @for text in &texts { (text) } } } @else { @for text in &texts { (text) } }
        (buttons)
    })
}

fn memory(explorer: &Explorer, ask: &Ask, id: &str, name: Option<&str>) -> Markup {
    // A memory that cannot be read is named by its id alone.
    let found: Option<Memory> = explorer.service.get(id, ask.at.as_deref()).ok();
    html! {
        div.side {
            p.quiet {
                @if let Some(name) = name { strong { (name) } " " }
                (memory_id(ask, id))
                @if let Some(memory) = &found {
                    " changed " (time(explorer, ask, &memory.updated_at))
                    @if memory.access_count > 0 { ", recalled " (count(memory.access_count, "time", "times")) }
                    @if let Some(expires) = &memory.expires { ", expires: " (line(expires)) }
                }
            }
            @match found.as_ref().map(|memory| &memory.content) {
                Some(Some(content)) => { p { (start(content, TEXT_CHARS)) } }
                _ => { p { (withheld()) } }
            }
        }
    }
}
