//! A memory as one of many: what stands above and below its text.

use icm_api::{Importance, Memory};
use maud::{Markup, html};

use crate::Explorer;
use crate::ask::Ask;
use crate::show::{self, Tone};

/// Characters of a text in a list. Raised, fewer memories fit on a screen.
pub(super) const START_CHARS: usize = 280;

/// Returns the line above the text: topic, importance, state, and `more` at its end.
pub(super) fn head(explorer: &Explorer, ask: &Ask, memory: &Memory, more: &Markup) -> Markup {
    html! {
        div.head {
            (show::topic_of(ask, memory))
            @if memory.importance != Importance::Medium { (show::importance(memory.importance)) }
            (special(explorer, memory))
            span.end { (more) }
        }
    }
}

/// Returns what is special about a memory: states, marks, time, key, scope.
fn special(explorer: &Explorer, memory: &Memory) -> Markup {
    let marks = memory.marks.unwrap_or_default();
    html! {
        (show::states(memory))
        @if let Some(told) = marks.told() {
            (show::badge(if marks.wrong > marks.useful { Tone::Warn } else { Tone::Good }, &told))
        }
        @if let Some(at) = &memory.occurred_at {
            span.quiet { "of " (show::local_day(explorer, at)) }
        }
        @if let Some(key) = &memory.key { span.quiet { "key " (show::start(key, 40)) } }
        @if memory.scope != "global" { span.quiet { (show::scope(&memory.scope)) } }
    }
}

/// Returns the line below the text: tags, age, weight, accesses, id.
pub(super) fn foot(explorer: &Explorer, ask: &Ask, memory: &Memory) -> Markup {
    html! {
        div.foot {
            (show::tags(ask, &memory.keywords))
            span.facts {
                (show::time(explorer, ask, &memory.updated_at))
                span aria-hidden="true" { "weight" } (show::share(memory.weight, "weight"))
                @if memory.access_count > 0 {
                    span { "shown " (show::count(memory.access_count, "time", "times")) }
                }
                (show::memory_id(ask, &memory.id))
            }
        }
    }
}
