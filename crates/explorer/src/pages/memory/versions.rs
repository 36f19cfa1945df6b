//! The versions of a memory, each with its differences to the one before.

use icm_api::error::Result;
use icm_api::expiry::came_true;
use icm_api::shown_value::{shown_text, shown_value};
use icm_api::{FACTS, Memory, MemoryState, Version};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};

use super::words::differences;
use crate::ask::Ask;
use crate::event::later_value;
use crate::show::{self, Tone};
use crate::{Explorer, act};

/// Versions on a page. Raised, long histories take longer to compare.
const VERSIONS: usize = 20;

/// Returns the versions up to the moment, newest first.
///
/// # Errors
/// `Invalid` for a parameter `before` that is no number.
pub(super) fn section(explorer: &Explorer, ask: &Ask, known: &[Version]) -> Result<Markup> {
    let before: Option<u64> = ask.number("before")?;
    let end =
        known.partition_point(|version| before.is_none_or(|before| version.position < before));
    let start = end.saturating_sub(VERSIONS);
    Ok(html! {
        section aria-labelledby="versions" {
            h2 #versions { "Versions " span.badge { (known.len()) } }
            ol.versions {
                @for at in (start..end).rev() {
                    @let version = &known[at];
                    // An event whose values are not shown made no version.
                    @let mut earlier = known[..at].iter().rev().filter(|older| !older.is_not_shown());
                    @let (older, oldest) = (earlier.next(), earlier.next());
                    li data-row="" id={ "version-" (version.position) } {
                        (head(explorer, ask, version))
                        @if version.is_not_shown() { (not_shown(explorer, version)) } @else { (planned(explorer, version, older, oldest)) (changes(explorer, version, older)) }
                    }
                }
            }
            nav.pager aria-label="Pages of versions" {
                @if before.is_some() { a href={ (ask.link_with(&[("before", "")])) "#versions" } { "Newest versions" } }
                @if start > 0 {
                    a.button href={ (ask.link_with(&[("before", &known[start].position.to_string())])) "#versions" } { "Older versions" }
                }
            }
        }
    })
}

/// Returns who did what when, with the ways to the event and to that moment.
fn head(explorer: &Explorer, ask: &Ask, version: &Version) -> Markup {
    let moment = format!("@{}", version.position);
    let is_here = ask.at.as_deref() == Some(&moment);
    html! {
        div.head {
            (show::position(ask, &version.event, version.position))
            (show::badge(tone(&version.kind), &version.kind))
            span { (show::actor(ask, &version.actor)) ", " (show::time(explorer, ask, &version.at)) }
            span.end {
                @if is_here { span.quiet { "this moment" } }
                @else { a href=(ask.link_at(Some(&moment))) { "See this moment" } }
                " " (act::undo_of_version(explorer, ask, version))
            }
        }
    }
}

fn tone(kind: &str) -> Tone {
    match kind {
        "memory.stored" | "memory.revived" => Tone::Good,
        "memory.forgotten" | "memory.consolidated" | "memory.expired" => Tone::Bad,
        "log.undone" | "log.redacted" => Tone::Warn,
        _ => Tone::Plain,
    }
}

/// Returns the values of an event that no version shows.
fn not_shown(explorer: &Explorer, version: &Version) -> Markup {
    let zone = explorer.service.zone();
    html! {
        p.quiet { (version.why_not_shown()) }
        @if let Some(text) = &version.not_shown { div.said { (show::text(text)) } }
        @if !version.not_shown_fields.is_empty() {
            dl.pairs {
                @for (field, value) in &version.not_shown_fields {
                    dt { (show::line(field)) }
                    dd { (show::line(&shown_value(field, value, &zone))) }
                }
            }
        }
    }
}

/// Returns what a version means for a fact that got a value for later: the fact shows it first, and then the current
/// value again.
fn planned(
    explorer: &Explorer,
    version: &Version,
    older: Option<&Version>,
    oldest: Option<&Version>,
) -> Markup {
    let goes_on = |older: &Version| {
        // The events of a command stand together.
        planned_from(older).is_some()
            && older.position + 1 == version.position
            && oldest.is_some_and(|it| it.memory.content == version.memory.content)
    };
    let is_new = older.is_none_or(|it| it.memory.occurred_at != version.memory.occurred_at);
    html! {
        @if let (true, Some(from)) = (is_new, planned_from(version)) {
            p.quiet { "A value for later: valid from " (show::full_time(explorer, &from.to_string())) "." }
        } @else if older.is_some_and(goes_on) {
            p.quiet { "The current value stays until the one for later is valid." }
        }
    }
}

/// Returns the time from which the value of a version is valid; `None` if it was valid when it was written.
fn planned_from(version: &Version) -> Option<Timestamp> {
    let memory = &version.memory;
    let from = memory.occurred_at.as_deref()?.parse().ok()?;
    later_value(|| Some(memory.topic.clone()), from, &version.at)
}

/// Returns the changes of a version: fields with old and new value, then the text.
fn changes(explorer: &Explorer, version: &Version, older: Option<&Version>) -> Markup {
    let memory = &version.memory;
    let Some(before) = older.map(|older| &older.memory) else {
        return html! {
            @match memory.content.as_deref() {
                Some(text) => { details { summary { "The first text" } div.said { (show::text(text)) } } }
                None => { p { (show::withheld()) } }
            }
        };
    };
    let zone = explorer.service.zone();
    let fields = fields(before, memory, &zone);
    let expired = match version.kind.as_str() {
        "memory.expired" => memory.expires.as_deref(),
        _ => None,
    };
    let expired = expired.map(|condition| came_true(condition, &zone));
    html! {
        @if let Some(why) = &expired { p { "Expired: " (show::line(why)) } }
        @if !fields.is_empty() {
            dl.pairs.changed {
                @for (name, old, new) in &fields {
                    dt { (name) }
                    dd {
                        @if !old.is_empty() { del { (show::start(old, 600)) } " " }
                        @if !new.is_empty() { ins { (show::start(new, 600)) } }
                    }
                }
            }
        }
        @match (before.content.as_deref(), memory.content.as_deref()) {
            (Some(old), Some(new)) if old != new => { (differences(old, new)) }
            (Some(_), None) => { p { (show::withheld()) } }
            (None, Some(new)) => { div.said { (show::text(new)) } }
            _ if fields.is_empty() && expired.is_none() => { p.quiet { "No field that is shown changed." } }
            _ => {}
        }
    }
}

/// Returns the fields besides the text that differ, with times in a zone: name, old and new value.
fn fields(old: &Memory, new: &Memory, zone: &TimeZone) -> Vec<(&'static str, String, String)> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let timed = |field: &str, text: &Option<String>| {
        let text = text.as_deref().unwrap_or_default();
        shown_text(field, text, zone)
    };
    let mut fields = vec![
        ("state", state(old), state(new)),
        ("topic", old.topic.clone(), new.topic.clone()),
        ("key", text(&old.key), text(&new.key)),
        (
            "importance",
            old.importance.name().to_owned(),
            new.importance.name().to_owned(),
        ),
        ("tags", old.keywords.join(", "), new.keywords.join(", ")),
        ("scope", old.scope.clone(), new.scope.clone()),
        (
            "trust",
            old.trust.name().to_owned(),
            new.trust.name().to_owned(),
        ),
        (
            match old.topic.starts_with(FACTS) {
                true => "valid from",
                false => "happened",
            },
            timed("occurred_at", &old.occurred_at),
            timed("occurred_at", &new.occurred_at),
        ),
        (
            "expires",
            timed("expires", &old.expires),
            timed("expires", &new.expires),
        ),
        (
            "pinned",
            timed("pinned", &old.pinned_until),
            timed("pinned", &new.pinned_until),
        ),
        (
            "words behind it",
            text(&old.raw_excerpt),
            text(&new.raw_excerpt),
        ),
        ("metadata", json(old), json(new)),
    ];
    fields.retain(|(_, old, new)| old != new);
    fields
}

fn state(memory: &Memory) -> String {
    let state = memory.end().map_or("living", MemoryState::word);
    state.to_owned()
}

fn json(memory: &Memory) -> String {
    memory
        .metadata
        .as_ref()
        .map_or_else(String::new, ToString::to_string)
}
