//! Links that the pages of events, sessions, findings and machines share.

use std::collections::BTreeMap;

use icm_api::error::Result;
use icm_guard::sanitize::clean_line;
use icm_log::SessionId;
use maud::{Markup, html};
use percent_encoding::percent_decode_str;

use crate::Explorer;
use crate::ask::{Ask, encoded};
use crate::heads::Family;
use crate::show::{event_path, number};

/// Returns the last part of the path, as it was before it was written into the path.
pub(in crate::pages) fn last_part(ask: &Ask) -> String {
    let part = ask.path.rsplit('/').next().unwrap_or_default();
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

/// Returns an event by its position, as a link to its page. A position is found without a walk through the log.
pub(in crate::pages) fn place(ask: &Ask, position: u64) -> Markup {
    html! { a.id href=(event_path(ask, position)) { "@" (number(position)) } }
}

/// Returns the address of a page at the moment of a position.
pub(super) fn at_place(path: &str, position: u64) -> String {
    format!("{path}?at={}", encoded(&format!("@{position}")))
}

/// Returns the kind of an event, in the colour of its family.
pub(super) fn kind(kind: &str) -> Markup {
    html! { span.kind.(Family::named(kind).class()) { (clean_line(kind)) } }
}

/// Returns the names of sessions, by their ids; those that no event names are left out.
///
/// # Errors
/// If the log cannot be read.
pub(in crate::pages) fn session_names<'a>(
    explorer: &Explorer,
    ids: impl Iterator<Item = &'a str>,
) -> Result<BTreeMap<&'a str, String>> {
    explorer.heads.with(explorer.service.log_handle(), |seen| {
        let named = |id: &'a str| {
            let name = seen.sessions.name(SessionId::parse_hex(id)?)?;
            Some((id, name.to_owned()))
        };
        ids.filter_map(named).collect()
    })
}
