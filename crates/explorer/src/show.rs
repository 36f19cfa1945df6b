//! Pieces that many pages show: stored texts, ids, times, numbers, badges.
//!
//! Each piece takes text of the store as it is, removes control and bidirectional characters, and isolates its direction.

pub(crate) use icm_api::counted::{count, number};
use icm_api::ids::short_event;
use icm_api::when::{day, time_ago};
use icm_api::{Importance, Memory, MemoryState, Trust, matched_places};
use icm_guard::sanitize::{clean, clean_line};
use icm_log::SessionId;
use jiff::Timestamp;
use maud::{Markup, html};

use crate::Explorer;
use crate::ask::{Ask, encoded};

/// Characters of a hash in a scope that are shown.
const HASH_SHOWN: usize = 12;
/// Characters of a session's id that are shown.
const SESSION_SHOWN: usize = 8;
/// Characters of a session's name that are shown whole, and of a longer one its first and its last. The name of a
/// sub-agent differs from its parent's at the end.
const NAME_SHOWN: usize = 20;
const FIRST_SHOWN: usize = 8;
const LAST_SHOWN: usize = 8;

/// Returns a stored text as a block that keeps its lines.
pub(crate) fn text(text: &str) -> Markup {
    html! { div.text dir="auto" { (clean(text)) } }
}

/// Returns a stored text as a block, with the matched words of a recall marked.
pub(crate) fn marked(text: &str, matched: &[String]) -> Markup {
    let text = clean(text);
    let (mut pieces, mut end) = (Vec::new(), 0);
    for place in matched_places(matched, &text) {
        pieces.push((&text[end..place.start], &text[place.clone()]));
        end = place.end;
    }
    html! {
        div.text dir="auto" {
            @for (before, word) in pieces { (before) mark { (word) } }
            (text[end..])
        }
    }
}

/// Returns a stored text in one line.
pub(crate) fn line(text: &str) -> Markup {
    html! { bdi { (clean_line(text)) } }
}

/// Returns the start of a stored text in one line, at most `chars` characters.
pub(crate) fn start(text: &str, chars: usize) -> Markup {
    html! { bdi { (start_of(text, chars)) } }
}

/// Returns the start of a stored text as plain text in one line, for titles and attributes.
pub(crate) fn start_of(text: &str, chars: usize) -> String {
    // A character has four bytes at most, and as many are left for what is cleaned away. The rest of a long text need
    // not be cleaned.
    let near = text.floor_char_boundary(chars.saturating_mul(8));
    let line = clean_line(&text[..near]);
    let line = line.trim();
    match line.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None if near < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

/// Returns the words for a text that was taken out or is damaged.
pub(crate) fn withheld() -> Markup {
    html! { span.quiet { "(withheld: taken out, or damaged)" } }
}

/// Returns a time (RFC 3339): its age on a page of now, else the local time. The title has the local time with seconds.
pub(crate) fn time(explorer: &Explorer, ask: &Ask, at: &str) -> Markup {
    let ago = match ask.at {
        Some(_) => None,
        None => time_ago(ask.time(explorer), at, &explorer.service.zone()),
    };
    let (minute, second) = local(explorer, at);
    let shown = ago.unwrap_or(minute);
    html! { time datetime=(clean_line(at)) title=(second) { (shown) } }
}

/// Returns a time (RFC 3339) as the local time, to the minute.
pub(crate) fn full_time(explorer: &Explorer, at: &str) -> Markup {
    let (minute, second) = local(explorer, at);
    html! { time datetime=(clean_line(at)) title=(second) { (minute) } }
}

/// Returns a time (RFC 3339) as a local day.
pub(crate) fn local_day(explorer: &Explorer, at: &str) -> Markup {
    let (_, second) = local(explorer, at);
    let day = day(at, &explorer.service.zone());
    html! { time datetime=(clean_line(at)) title=(second) { (clean_line(&day)) } }
}

/// Returns a time in the user's zone: to the minute, and to the second with the zone. A text that is no time comes back
/// cleaned.
fn local(explorer: &Explorer, at: &str) -> (String, String) {
    match at.parse::<Timestamp>() {
        Ok(at) => {
            let at = at.to_zoned(explorer.service.zone());
            (
                at.strftime("%Y-%m-%d %H:%M").to_string(),
                at.strftime("%Y-%m-%d %H:%M:%S %Z").to_string(),
            )
        }
        Err(_) => (clean_line(at).into_owned(), String::new()),
    }
}

/// Returns the id of a memory, shortened, as a link to its page.
pub(crate) fn memory_id(ask: &Ask, id: &str) -> Markup {
    let shown = short_memory_id(id);
    html! {
        a.id href=(memory_path(ask, id)) title=(clean_line(id)) { code { (shown) } }
    }
}

/// Returns the address of a memory's page at the same moment.
pub(crate) fn memory_path(ask: &Ask, id: &str) -> String {
    ask.link(&format!("/memories/{}", encoded(id)), &[])
}

/// Returns the first and the last characters of a ULID: `01KB3C9XYZ…7Q2M`. The first ones are the time, the last ones
/// are random.
pub(crate) fn short_memory_id(id: &str) -> String {
    match (id.get(..10), id.get(22..)) {
        (Some(first), Some(last)) if id.len() == 26 && id.is_ascii() => format!("{first}…{last}"),
        _ => start_of(id, 26),
    }
}

/// Returns the id of an event, shortened, as a link to its page.
pub(crate) fn event_id(ask: &Ask, event: &str) -> Markup {
    let shown = short_event(event);
    html! { a.id href=(event_id_path(ask, event)) title=(clean_line(event)) { code { (clean_line(shown)) } } }
}

/// Returns an event by its position, as a link to its page.
pub(crate) fn position(ask: &Ask, event: &str, position: u64) -> Markup {
    html! {
        a.id href=(event_path(ask, position)) title={ "event " (clean_line(event)) } { "@" (number(position)) }
    }
}

/// Returns the address of an event's page at the same moment, by the event's id.
pub(crate) fn event_id_path(ask: &Ask, event: &str) -> String {
    ask.link(&format!("/log/{}", encoded(event)), &[])
}

/// Returns the address of the page of the event at a position, at the same moment.
pub(crate) fn event_path(ask: &Ask, position: u64) -> String {
    ask.link(&format!("/log/{position}"), &[])
}

/// Returns the topic of a memory as a link to its memories. No memory is found by a topic that was taken out.
pub(crate) fn topic_of(ask: &Ask, memory: &Memory) -> Markup {
    match memory.withheld.iter().any(|field| field == "topic") {
        true => withheld(),
        false => topic_link(ask, &memory.topic),
    }
}

/// Returns the topic of an answer that does not say what is withheld, as a link to its memories.
pub(crate) fn topic(ask: &Ask, topic: &str) -> Markup {
    match topic {
        "" | "(withheld)" => withheld(),
        _ => topic_link(ask, topic),
    }
}

fn topic_link(ask: &Ask, topic: &str) -> Markup {
    html! { a.topic href=(ask.link("/memories", &[("topic", topic)])) { (line(topic)) } }
}

/// Returns tags as links to the memories that have them.
pub(crate) fn tags(ask: &Ask, tags: &[String]) -> Markup {
    html! {
        @if !tags.is_empty() {
            ul.tags aria-label="Tags" {
                @for tag in tags {
                    li { a.tag href=(ask.link("/memories", &[("tag", tag)])) { (line(tag)) } }
                }
            }
        }
    }
}

/// Returns an actor as a link to what it did.
pub(crate) fn actor(ask: &Ask, actor: &str) -> Markup {
    match actor.is_empty() {
        true => html! { span.quiet { "(no name)" } },
        false => html! { a.actor href=(ask.link("/log", &[("actor", actor)])) { (line(actor)) } },
    }
}

/// Returns a session as a link to its page: its name, or the beginning of its id. A text that is no id is a name.
pub(crate) fn session(ask: &Ask, id: &str, name: Option<&str>) -> Markup {
    let path = ask.link(&format!("/sessions/{}", encoded(id)), &[]);
    let is_id = SessionId::parse_hex(id).is_some();
    let name = name.or((!is_id).then_some(id));
    html! {
        a.session href=(path) title=(clean_line(name.unwrap_or(id))) {
            @match name {
                Some(name) => bdi { (short_name(name)) },
                None => code { (id.get(..SESSION_SHOWN).unwrap_or(id)) },
            }
        }
    }
}

/// Returns a session's name, shortened in the middle.
fn short_name(name: &str) -> String {
    let name = clean_line(name);
    let length = name.chars().count();
    if length <= NAME_SHOWN {
        return name.into_owned();
    }
    let last: String = name.chars().skip(length - LAST_SHOWN).collect();
    format!("{}{last}", start_of(&name, FIRST_SHOWN))
}

/// Returns a scope; an id that is a hash is cut to its beginning.
pub(crate) fn scope(scope: &str) -> Markup {
    html! { bdi title=(clean_line(scope)) { (scope_of(scope)) } }
}

/// Returns a scope as plain text, as [`scope`] shows it.
pub(crate) fn scope_of(scope: &str) -> String {
    let is_hash = |id: &str| id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    match scope.split_once(':') {
        Some((kind, id)) if is_hash(id) => {
            format!("{}:{}…", clean_line(kind), &id[..HASH_SHOWN])
        }
        _ => clean_line(scope).into_owned(),
    }
}

/// The meaning of a badge, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// A fact among others.
    Plain,
    /// Fine, new, alive.
    Good,
    /// To be looked at.
    Warn,
    /// Wrong, gone, or the highest importance.
    Bad,
}

/// Returns a short text in a rounded box.
pub(crate) fn badge(tone: Tone, text: &str) -> Markup {
    let class = match tone {
        Tone::Plain => "badge",
        Tone::Good => "badge good",
        Tone::Warn => "badge warn",
        Tone::Bad => "badge bad",
    };
    html! { span class=(class) { (clean_line(text)) } }
}

/// Returns the states of a memory as badges.
pub(crate) fn states(memory: &Memory) -> Markup {
    html! { @for one in memory.states() { (state(one)) } }
}

/// Returns a state of a memory as a badge.
pub(crate) fn state(state: MemoryState) -> Markup {
    let tone = match state {
        MemoryState::Pinned => Tone::Good,
        MemoryState::Forgotten | MemoryState::Withheld | MemoryState::InConflict => Tone::Bad,
        MemoryState::Undone
        | MemoryState::Consolidated
        | MemoryState::Expired
        | MemoryState::Planned => Tone::Warn,
    };
    badge(tone, state.word())
}

/// Returns the importance as a badge.
pub(crate) fn importance(importance: Importance) -> Markup {
    let tone = match importance {
        Importance::Critical => Tone::Bad,
        Importance::High => Tone::Warn,
        Importance::Medium | Importance::Low => Tone::Plain,
    };
    badge(tone, importance.name())
}

/// Returns the trust in words.
pub(crate) fn trust(trust: Trust) -> &'static str {
    match trust {
        Trust::User => "a person",
        Trust::Agent => "an agent",
        Trust::External => "an outside source",
    }
}

/// Returns a share from 0 to 1 as a bar with its number.
pub(crate) fn share(share: f64, name: &str) -> Markup {
    let share = share.clamp(0.0, 1.0);
    let label = format!("{name} {share:.2}");
    html! {
        span.share title=(label) {
            svg.bar viewBox="0 0 60 6" width="60" height="6" aria-hidden="true" {
                rect.bar-ground x="0" y="0" width="60" height="6" rx="3" {}
                rect.bar-value x="0" y="0" width=(format!("{:.1}", share * 60.0)) height="6" rx="3" {}
            }
            span.unseen { (name) " " }
            (format!("{share:.2}"))
        }
    }
}

/// Returns the words of an empty page: what is missing, and what to do.
pub(crate) fn empty(what: &str, next: &Markup) -> Markup {
    html! {
        div.empty {
            p { strong { (what) } }
            p.quiet { (next) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_text_is_cut_between_characters() {
        for (given, shown) in [
            ("short", "short"),
            (" two\nlines ", "two lines"),
            ("eleven char", "eleven cha…"),
            ("ééééééééééé", "éééééééééé…"),
            ("a\u{202e}b", "ab"),
        ] {
            assert_eq!(start_of(given, 10), shown);
        }
    }

    #[test]
    fn matched_words_are_marked_and_markup_is_not() {
        let shown = marked("<b>Server</b> of \u{202e}servers", &["server".to_owned()]);
        assert_eq!(
            shown.into_string(),
            "<div class=\"text\" dir=\"auto\">&lt;b&gt;<mark>Server</mark>&lt;/b&gt; of <mark>servers</mark></div>"
        );
    }
}
