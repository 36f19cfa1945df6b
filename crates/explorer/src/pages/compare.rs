//! Two moments side by side: what was added, changed and forgotten between them.

use icm_api::error::{Result, ServiceError};
use icm_api::{
    Basis, Diff, DiffOp, DiffPiece, DiffRequest, FeedbackDiff, GraphDiff, MarkedMemory, Memory,
    MemoryChange, MemoryLink,
};
use icm_guard::sanitize::{clean, clean_line};
use maud::{Markup, html};
use serde_json::Value;

use crate::answer::Page;
use crate::ask::Ask;
use crate::show::Tone;
use crate::{Explorer, show, time};

/// Most entries of each list. Raised, a page of two distant moments is longer.
const ENTRIES: usize = 50;
/// Characters of a memory that was added or forgotten. Raised, entries take more lines.
const TEXT_CHARS: usize = 600;

pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    let usual = match (ask.get("with"), &ask.at) {
        (None, None) => usual(explorer)?,
        _ => None,
    };
    let with = ask.get("with").or(usual.as_deref());
    let other = explorer.service.basis(with)?;
    let chooser = chooser(explorer, ask, with, &other)?;
    // Without another moment, or with the same one, there is nothing to compare.
    if ask.basis.position == other.position {
        let main = html! {
            (chooser)
            (show::empty("Both moments are the same", &html! {
                "Choose another moment above: the changes between it and the moment of this page are shown here."
            }))
        };
        return Ok(Page::new("Compare two moments", main));
    }
    let moments = match ask.basis.position < other.position {
        true => [(&ask.basis, ask.at.as_deref()), (&other, with)],
        false => [(&other, with), (&ask.basis, ask.at.as_deref())],
    };
    let request = DiffRequest {
        from: format!("@{}", moments[0].0.position),
        to: moments[1].1.map(str::to_owned),
        topic: ask.get("topic").map(str::to_owned),
        limit: Some(ENTRIES),
        ..DiffRequest::default()
    };
    let diff = explorer.service.diff(&request)?;
    let more = diff.left_out;
    let main = html! {
        (chooser)
        (sums(&diff))
        div.two {
            div.columns aria-hidden="true" {
                @for (basis, at) in moments { p { (moment(explorer, basis, at)) } }
            }
            (listed("Changed", &diff.changed, more.changed, |change| changed(ask, change)))
            (listed("Added", &diff.added, more.added, |memory| whole(ask, memory, Side::Later)))
            (listed("Revived", &diff.revived, more.revived, |memory| whole(ask, memory, Side::Later)))
            (listed("Forgotten", &diff.forgotten, more.forgotten, |memory| whole(ask, memory, Side::Earlier)))
            (list("Linked", &diff.linked, |link| linked(ask, link, Side::Later)))
            (list("Unlinked", &diff.unlinked, |link| linked(ask, link, Side::Earlier)))
            (graph(&diff.graph))
            (feedback(ask, &diff.feedback))
        }
        @if diff.faded > 0 {
            p.quiet { (show::count(diff.faded, "other memory", "other memories")) " lost weight by decay." }
        }
    };
    Ok(Page::new("Compare two moments", main))
}

/// Returns the moment that now is compared with unless another one is chosen: a day ago, or the first event of a younger
/// log; `None` for an empty log.
fn usual(explorer: &Explorer) -> Result<Option<String>> {
    for at in ["1d ago", "@1"] {
        match explorer.service.basis(Some(at)) {
            Ok(basis) if basis.position > 0 => return Ok(Some(format!("@{}", basis.position))),
            Ok(_) | Err(ServiceError::Invalid { .. } | ServiceError::Nothing { .. }) => {}
            Err(ServiceError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Returns both moments, and the ways to choose another one.
fn chooser(explorer: &Explorer, ask: &Ask, with: Option<&str>, other: &Basis) -> Result<Markup> {
    let log = explorer.service.log_handle();
    let times = (explorer.heads).with(log, time::Times::of)?;
    let choice = time::choice(explorer, &times, ask, "with", with, &other.at);
    let near = [
        ("an hour ago", "1h ago"),
        ("a day ago", "1d ago"),
        ("a week ago", "7d ago"),
        ("the first event", "@1"),
    ];
    let swapped = match (with, &ask.at) {
        (with, Some(at)) => {
            let kept = ask.params().iter().filter(|(name, _)| name != "with");
            let kept = kept.map(|(name, value)| (&**name, &**value));
            let swapped = kept.chain([("with", &**at)]);
            Some(crate::ask::address(&ask.path, swapped, with))
        }
        (Some(with), None) => Some(crate::ask::address(
            &ask.path,
            std::iter::empty(),
            Some(with),
        )),
        (None, None) => None,
    };
    Ok(html! {
        section.other aria-label="The other moment" {
            p.when {
                "This page: " (moment(explorer, &ask.basis, ask.at.as_deref()))
                " · compared with " (moment(explorer, other, with))
            }
            (choice)
            ul.steps {
                @for (name, at) in near {
                    @if let Ok(basis) = explorer.service.basis(Some(at)) {
                        li { a.step href=(ask.link_with(&[("with", &format!("@{}", basis.position))])) { (name) } }
                    }
                }
                @if with.is_some() && ask.at.is_some() { li { a.step href=(ask.link_with(&[("with", "")])) { "now" } } }
                @if let Some(swapped) = swapped { li { a.step href=(swapped) { "Swap both" } } }
            }
            form.topic-of action=(ask.path) method="get" {
                @if let Some(at) = &ask.at { input type="hidden" name="at" value=(at); }
                @if let Some(with) = with { input type="hidden" name="with" value=(with); }
                label for="topic-of" { "Only the topic" }
                input #topic-of name="topic" value=[ask.get("topic").map(clean_line)] placeholder="all topics";
                button type="submit" { "Show" }
            }
        }
    })
}

fn moment(explorer: &Explorer, basis: &Basis, at: Option<&str>) -> Markup {
    html! {
        strong {
            @if at.is_none() { "now" } @else { (time::second(explorer, &basis.at)) }
        }
        span.quiet { " (event " (show::number(basis.position)) ")" }
    }
}

fn sums(diff: &Diff) -> Markup {
    let graph = &diff.graph;
    let feedback = &diff.feedback;
    let more = diff.left_out;
    let left = |count| usize::try_from(count).unwrap_or(usize::MAX);
    let sums = [
        (diff.added.len() + left(more.added), "added", Tone::Good),
        (
            diff.changed.len() + left(more.changed),
            "changed",
            Tone::Warn,
        ),
        (
            diff.forgotten.len() + left(more.forgotten),
            "forgotten",
            Tone::Bad,
        ),
        (
            diff.revived.len() + left(more.revived),
            "revived",
            Tone::Good,
        ),
        (
            diff.linked.len() + diff.unlinked.len(),
            "links",
            Tone::Plain,
        ),
        (
            graph.added.len() + graph.changed.len() + graph.forgotten.len(),
            "concepts",
            Tone::Plain,
        ),
        (
            graph.linked.len() + graph.unlinked.len(),
            "links of concepts",
            Tone::Plain,
        ),
        (
            feedback.recorded.len() + feedback.gone.len() + feedback.judged.len(),
            "feedback",
            Tone::Plain,
        ),
    ];
    let found = sums.iter().any(|(count, ..)| *count > 0);
    html! {
        @if found {
            ul.sums aria-label="Changes between both moments" {
                @for (count, name, tone) in sums {
                    @if count > 0 { li { (show::badge(tone, &format!("{} {name}", show::number(count as u64)))) } }
                }
            }
        } @else {
            (show::empty("Nothing changed between both moments", &html! { "Events such as recalls change no memory." }))
        }
    }
}

/// Returns a list with its heading, cut to the first entries; nothing for an empty list.
fn list<T>(name: &str, entries: &[T], one: impl Fn(&T) -> Markup) -> Markup {
    listed(name, entries, 0, one)
}

/// As [`list`], of a list that `left_out` other entries belong to.
fn listed<T>(name: &str, entries: &[T], left_out: u64, one: impl Fn(&T) -> Markup) -> Markup {
    let total = entries.len() as u64 + left_out;
    html! {
        @if !entries.is_empty() {
            section {
                h2 { (name) " " span.quiet { (show::number(total)) } }
                @for entry in entries.iter().take(ENTRIES) { (one(entry)) }
                @if total > ENTRIES as u64 {
                    p.quiet { "and " (show::number(total - ENTRIES as u64)) " more: choose a topic or nearer moments" }
                }
            }
        }
    }
}

/// The moment at which an entry is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Earlier,
    Later,
}

/// Returns an entry with its heading and two columns.
fn entry(heading: &Markup, earlier: &Markup, later: &Markup) -> Markup {
    html! {
        article.pair data-row {
            header { (heading) }
            div.earlier { span.unseen { "Before: " } (earlier) }
            div.later { span.unseen { "After: " } (later) }
        }
    }
}

fn on(side: Side, there: &Markup) -> [Markup; 2] {
    let absent = html! { span.quiet { "—" } };
    match side {
        Side::Earlier => [there.clone(), absent],
        Side::Later => [absent, there.clone()],
    }
}

fn heading(ask: &Ask, topic: &str, id: &str) -> Markup {
    html! { (show::topic(ask, topic)) " " (show::memory_id(ask, id)) }
}

fn whole(ask: &Ask, memory: &Memory, side: Side) -> Markup {
    let text = match &memory.content {
        Some(text) => show::text(&cut(text)),
        None => show::withheld(),
    };
    let text = match side {
        Side::Earlier => html! { del { (text) } },
        Side::Later => html! { ins { (text) } },
    };
    let [earlier, later] = on(side, &text);
    let heading = html! {
        (heading(ask, &memory.topic, &memory.id))
        @if memory.planned_from.is_some() { " " (show::badge(Tone::Warn, "planned")) }
    };
    entry(&heading, &earlier, &later)
}

fn changed(ask: &Ask, change: &MemoryChange) -> Markup {
    let side = |side: Side| {
        html! {
            @if !change.content_diff.is_empty() { (words(&change.content_diff, side)) }
            @let values = if side == Side::Earlier { &change.before } else { &change.after };
            @let fields = change.fields.iter().filter(|name| *name != "content" || change.content_diff.is_empty());
            dl.fields {
                @for name in fields {
                    dt { (clean_line(name)) }
                    dd { (value(values.get(name), side)) }
                }
            }
        }
    };
    entry(
        &heading(ask, &change.topic, &change.id),
        &side(Side::Earlier),
        &side(Side::Later),
    )
}

/// Returns one of two texts, with the words marked that the other one does not have.
fn words(pieces: &[DiffPiece], side: Side) -> Markup {
    html! {
        div.text dir="auto" {
            @for piece in pieces {
                @match (piece.op, side) {
                    (DiffOp::Equal, _) => { (clean(&piece.text)) },
                    (DiffOp::Delete, Side::Earlier) => { del { (clean(&piece.text)) } },
                    (DiffOp::Insert, Side::Later) => { ins { (clean(&piece.text)) } },
                    _ => {},
                }
            }
        }
    }
}

/// Returns the start of a text with its lines.
fn cut(text: &str) -> String {
    match text.char_indices().nth(TEXT_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns a value of a field as text.
fn value(value: Option<&Value>, side: Side) -> Markup {
    let text = match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(values)) if values.iter().all(Value::is_string) => {
            let values: Vec<_> = values.iter().filter_map(Value::as_str).collect();
            values.join(", ")
        }
        Some(other) => other.to_string(),
    };
    let shown = show::start(&text, TEXT_CHARS);
    html! {
        @if text.is_empty() { span.quiet { "none" } }
        @else if side == Side::Earlier { del { (shown) } }
        @else { ins { (shown) } }
    }
}

fn linked(ask: &Ask, link: &MemoryLink, side: Side) -> Markup {
    let text = html! {
        (show::memory_id(ask, &link.from)) " " (show::line(&link.relation)) " " (show::memory_id(ask, &link.to))
    };
    let [earlier, later] = on(side, &text);
    let about = html! { "by event " (show::event_id(ask, &link.event)) };
    entry(&about, &earlier, &later)
}

fn graph(diff: &GraphDiff) -> Markup {
    let plain = |heading: &str, text: &str, side: Side| {
        let text = show::text(&cut(text));
        let [earlier, later] = on(side, &text);
        entry(&show::line(heading), &earlier, &later)
    };
    let concept = |side| {
        move |concept: &icm_api::Concept| {
            let name = format!("{}: {}", concept.memoir, concept.name);
            plain(
                &name,
                concept.definition.as_deref().unwrap_or_default(),
                side,
            )
        }
    };
    let memoir = |side| {
        move |memoir: &icm_api::Memoir| {
            plain(
                &memoir.name,
                memoir.description.as_deref().unwrap_or_default(),
                side,
            )
        }
    };
    let changed = |change: &icm_api::GraphChange| {
        let name = change.name.as_ref();
        let name = name.map_or(change.memoir.clone(), |name| {
            format!("{}: {name}", change.memoir)
        });
        let side = |side: Side| {
            let values = if side == Side::Earlier {
                &change.before
            } else {
                &change.after
            };
            html! {
                @if !change.text_diff.is_empty() { (words(&change.text_diff, side)) }
                dl.fields {
                    @for (name, given) in values {
                        @if change.text_diff.is_empty() || name != change.text_field() {
                            dt { (clean_line(name)) }
                            dd { (value(Some(given), side)) }
                        }
                    }
                }
            }
        };
        entry(&show::line(&name), &side(Side::Earlier), &side(Side::Later))
    };
    let link = |side| {
        move |link: &icm_api::ConceptLink| {
            let text = format!("{} {} {}", link.from, link.relation, link.to);
            plain(&link.memoir, &text, side)
        }
    };
    html! {
        (list("Memoirs added", &diff.memoirs_added, memoir(Side::Later)))
        (list("Memoirs forgotten", &diff.memoirs_forgotten, memoir(Side::Earlier)))
        (list("Memoirs changed", &diff.memoirs_changed, changed))
        (list("Concepts added", &diff.added, concept(Side::Later)))
        (list("Concepts forgotten", &diff.forgotten, concept(Side::Earlier)))
        (list("Concepts changed", &diff.changed, changed))
        (list("Concepts linked", &diff.linked, link(Side::Later)))
        (list("Concepts unlinked", &diff.unlinked, link(Side::Earlier)))
    }
}

fn feedback(ask: &Ask, diff: &FeedbackDiff) -> Markup {
    let one = |side| {
        move |feedback: &icm_api::Feedback| {
            let text = show::text(&feedback.told(TEXT_CHARS));
            let [earlier, later] = on(side, &text);
            entry(&html! { "feedback" }, &earlier, &later)
        }
    };
    let judged = |memory: &MarkedMemory| {
        let told = memory.marks.told();
        let marks = html! { (told.as_deref().unwrap_or("no longer judged")) };
        let [earlier, later] = on(Side::Later, &marks);
        entry(&heading(ask, &memory.topic, &memory.id), &earlier, &later)
    };
    html! {
        (list("Feedback added", &diff.recorded, one(Side::Later)))
        (list("Feedback taken back", &diff.gone, one(Side::Earlier)))
        (list("Judged", &diff.judged, judged))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use icm_api::{Caller, StoreRequest, Verdict};
    use icm_service::{OpenOptions, Service};

    use super::*;

    #[test]
    fn a_judged_memory_is_listed() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = OpenOptions {
            dir: folder.path().join("store"),
            lock_wait: Duration::from_secs(10),
            read_only: false,
        };
        let service = Arc::new(Service::open(options).expect("a store"));
        let caller = Caller::default();
        let stored = service
            .store(&caller, StoreRequest::new("t", "a note"))
            .expect("it stores");
        let mark = service.feedback_mark(&caller, &stored.id, Verdict::Useful);
        mark.expect("it is judged");
        let explorer = Explorer::new(service, caller, false).expect("an explorer");
        let uri = "/compare".parse().expect("an address");
        let with = ("with".to_owned(), format!("@{}", stored.position));
        let ask = Ask::of(&explorer, &uri, vec![with]).expect("a moment");
        let shown = page(&explorer, &ask).expect("a page").main.into_string();
        assert!(shown.contains("1 feedback"), "{shown}");
        assert!(shown.contains("Judged"), "{shown}");
        assert!(shown.contains("called useful once"), "{shown}");
        assert!(shown.contains(&stored.id), "{shown}");
    }
}
