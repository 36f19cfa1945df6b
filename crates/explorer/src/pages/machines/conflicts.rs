//! Conflicts: fields to which machines gave different values, side by side.

use icm_api::error::Result;
use icm_api::{Conflict, ConflictOf, ConflictValue, ConflictsRequest};
use maud::{Markup, html};
use serde_json::Value;

use crate::Explorer;
use crate::act;
use crate::ask::Ask;
use crate::show::{
    Tone, actor, badge, count, event_id, line, memory_id, number, text, time, topic, withheld,
};

/// Conflicts that are listed, and with "show more".
const LISTED: usize = 20;
const LISTED_MAX: usize = 100;
/// Digits of an origin that are shown.
const ORIGIN_SHOWN: usize = 8;

pub(super) fn section(explorer: &Explorer, ask: &Ask) -> Result<Markup> {
    let limit = ask.number("conflicts")?;
    let request = ConflictsRequest {
        topic: None,
        limit: Some(limit.unwrap_or(LISTED).min(LISTED_MAX)),
        at: ask.at.clone(),
    };
    let found = explorer.service.conflicts(&request)?;
    let listed = found.conflicts.len() as u64;
    let mut items = Vec::with_capacity(found.conflicts.len());
    for conflict in &found.conflicts {
        items.push(self::conflict(explorer, ask, conflict)?);
    }
    Ok(html! {
        section aria-labelledby="conflicts" {
            h2 #conflicts {
                "Conflicts to settle "
                @if found.total > 0 { (badge(Tone::Warn, &number(found.total))) }
            }
            @if found.total == 0 {
                p.quiet { "None: no machine changed a field that another one had changed unseen." }
            } @else {
                p { "Machines changed these fields without knowing of each other. Each machine shows the value of the latest event until you settle it." }
                ul.log-cards { @for item in &items { li.card { (item) } } }
                @if listed < found.total {
                    p {
                        (count(found.total - listed, "more conflict", "more conflicts")) ". "
                        @if listed < LISTED_MAX as u64 {
                            a href={ (ask.link_with(&[("conflicts", &LISTED_MAX.to_string())])) "#conflicts" } { "Show up to " (LISTED_MAX) }
                        }
                    }
                }
            }
        }
    })
}

fn conflict(explorer: &Explorer, ask: &Ask, conflict: &Conflict) -> Result<Markup> {
    let buttons = act::for_conflict(explorer, ask, conflict)?;
    Ok(html! {
        h3 {
            @match (conflict.of, &conflict.name) {
                (ConflictOf::Memory, _) => { (memory_id(ask, &conflict.id)) " in " (topic(ask, &conflict.topic)) }
                (ConflictOf::Concept, Some(name)) => { "concept " (line(name)) " of memoir " (line(&conflict.topic)) }
                _ => { "memoir " (line(&conflict.topic)) }
            }
            ": " (line(&conflict.field))
        }
        div.log-sides {
            (side(explorer, ask, "shown", conflict, &conflict.shown))
            @for (n, other) in conflict.others.iter().enumerate() {
                @let name = match (conflict.is_about_forgetting(), conflict.others.len()) {
                    (true, _) => "written meanwhile".to_owned(),
                    (false, 1) => "the other value".to_owned(),
                    (false, _) => format!("value {}", n + 2),
                };
                (side(explorer, ask, &name, conflict, other))
            }
        }
        (buttons)
        @if ask.at.is_some() && !explorer.read_only {
            p.quiet { "It is settled on the page of the present. " a href=(ask.link_at(None)) { "To now" } }
        } @else if explorer.read_only {
            p.quiet { "To settle it: " code { "icm conflicts settle " (line(&conflict.id)) " --field " (line(&conflict.field)) } }
        }
    })
}

fn side(
    explorer: &Explorer,
    ask: &Ask,
    name: &str,
    conflict: &Conflict,
    value: &ConflictValue,
) -> Markup {
    let origin = value.origin.get(..ORIGIN_SHOWN).unwrap_or(&value.origin);
    html! {
        div.side {
            p { strong { (name) } }
            @match &value.value {
                _ if value.withheld => { p { (withheld()) } }
                Value::Null => { p.quiet { "(none)" } }
                Value::Bool(_) => { p { (conflict.told(value, &explorer.service.zone())) } }
                _ => { div.log-excerpt tabindex="0" { (text(&conflict.told(value, &explorer.service.zone()))) } }
            }
            p.quiet {
                "by " (actor(ask, &value.actor)) ", " (time(explorer, ask, &value.at)) ", event " (event_id(ask, &value.event))
                ", machine " a href={ "#origin-" (value.origin) } { code { (line(origin)) } }
            }
        }
    }
}
