//! Settles a conflict: the person chooses the value that holds.

use icm_api::error::Result;
use icm_api::{Conflict, SettleRequest};
use maud::{Markup, html};

use super::Done;
use super::form::{Fields, button};
use super::memory::{done, offers};
use crate::Explorer;
use crate::ask::Ask;

/// Returns a button for each value of a conflict, the shown one first.
pub(crate) fn for_conflict(explorer: &Explorer, ask: &Ask, conflict: &Conflict) -> Result<Markup> {
    if !offers(explorer, ask) {
        return Ok(html! {});
    }
    let seen = seen(conflict);
    let this = [
        ("id", conflict.id.as_str()),
        ("field", conflict.field.as_str()),
        ("seen", seen.as_str()),
        ("take", conflict.shown.event.as_str()),
    ];
    // A memory that one machine forgot comes back by reviving it.
    if conflict.is_about_forgetting() {
        return Ok(html! {
            div.buttons {
                (button(explorer, "settle", &this, "It stays forgotten")?)
                (button(explorer, "revive", &this[..1], "Revive it")?)
            }
        });
    }
    Ok(html! {
        div.buttons {
            (button(explorer, "settle", &this, "Keep the shown value")?)
            @for (n, other) in conflict.others.iter().enumerate() {
                @let hidden = [this[0], this[1], this[2], ("take", other.event.as_str())];
                @let text = match conflict.others.len() {
                    1 => "Take the other value".to_owned(),
                    _ => format!("Take value {}", n + 2),
                };
                (button(explorer, "settle", &hidden, &text)?)
            }
        }
    })
}

/// Returns the events of all values of a conflict, the shown one first.
fn seen(conflict: &Conflict) -> String {
    let values = std::iter::once(&conflict.shown).chain(&conflict.others);
    let events: Vec<&str> = values.map(|value| value.event.as_str()).collect();
    events.join(" ")
}

pub(super) fn settle(explorer: &Explorer, fields: &Fields) -> Result<Done> {
    let (id, field) = (fields.needed("id")?, fields.needed("field")?);
    let request = SettleRequest {
        id: id.to_owned(),
        fields: vec![field.to_owned()],
        take: Some(fields.needed("take")?.to_owned()),
        seen: fields
            .needed("seen")?
            .split(' ')
            .map(str::to_owned)
            .collect(),
    };
    let settled = explorer
        .service
        .settle_conflict(&explorer.caller, &request)?;
    Ok(done(settled.receipt))
}
