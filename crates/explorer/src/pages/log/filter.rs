//! The filters of the log, as `icm log` has them.

use icm_api::LogRequest;
use icm_api::error::{Result, ServiceError};
use icm_guard::sanitize::clean_line;
use icm_log::kind::{KINDS, Status, family_of};
use maud::{Markup, html};

use crate::ask::Ask;
use crate::show::line;

/// The filters with a text: parameter, label, example.
const TEXTS: [(&str, &str, &str); 7] = [
    ("actor", "Actor", "agent:codex"),
    ("session", "Session", "name or id"),
    ("topic", "Topic", "payments/"),
    ("id", "Memory or concept", "id"),
    ("memoir", "Memoir", "name or id"),
    ("since", "Since", "yesterday"),
    ("until", "Until", "2h ago"),
];
/// Number of those that are always visible.
const IN_SIGHT: usize = 3;

/// The filters of a page of events.
pub(super) struct Filter {
    kind: Option<String>,
    texts: [Option<String>; TEXTS.len()],
    pub(super) actor: Option<String>,
    pub(super) oldest_first: bool,
    /// Only memories that were shown unasked.
    pub(super) injected: bool,
    /// The position of the last event of the page before.
    pub(super) cursor: Option<u64>,
}

impl Filter {
    /// Reads the filters.
    ///
    /// # Errors
    /// `Invalid` for a cursor that is no position.
    pub(super) fn of(ask: &Ask) -> Result<Filter> {
        let text = |name: &str| ask.get(name).map(|value| value.trim().to_owned());
        let cursor = ask.get("cursor").map(str::parse).transpose();
        let cursor = cursor.map_err(|_| {
            ServiceError::invalid_with("`cursor` is no position", "go back to the first page")
        })?;
        Ok(Filter {
            kind: text("kind"),
            texts: TEXTS.map(|(name, ..)| text(name)),
            actor: text("actor"),
            oldest_first: ask.get("order") == Some("oldest"),
            injected: ask.get("injected").is_some(),
            cursor,
        })
    }

    fn text(&self, name: &str) -> Option<String> {
        let mut texts = TEXTS.iter().zip(&self.texts);
        let found = texts.find(|((key, ..), _)| *key == name);
        found.and_then(|(_, value)| value.clone())
    }

    /// Returns `true` if no filter is set, the order aside.
    pub(super) fn is_empty(&self) -> bool {
        !self.injected && self.kind.is_none() && self.texts.iter().all(Option::is_none)
    }

    /// Returns the request for the events up to `newest`, with no limit.
    pub(super) fn request(&self, newest: u64) -> LogRequest {
        let below = newest.saturating_add(1);
        LogRequest {
            kind: self.kind.clone(),
            id: self.text("id"),
            topic: self.text("topic"),
            memoir: self.text("memoir"),
            actor: self.actor.clone(),
            session: self.text("session"),
            since: self.text("since"),
            until: self.text("until"),
            oldest_first: self.oldest_first,
            limit: None,
            cursor: match self.oldest_first {
                true => self.cursor,
                false => Some(self.cursor.map_or(below, |cursor| cursor.min(below))),
            },
        }
    }

    pub(super) fn order(&self) -> &'static str {
        match self.oldest_first {
            true => "oldest first",
            false => "newest first",
        }
    }

    /// Returns the form of the filters.
    pub(super) fn form(&self, ask: &Ask) -> Markup {
        let texts: Vec<_> = TEXTS.iter().zip(&self.texts).collect();
        let (in_sight, others) = texts.split_at(IN_SIGHT);
        let is_open =
            others.iter().any(|(_, value)| value.is_some()) || self.injected || self.oldest_first;
        html! {
            form.log-filters method="get" action="/log" aria-label="Filters" {
                div.row {
                    div.field {
                        label for="log-kind" { "Kind" }
                        select #log-kind name="kind" { (self.kinds()) }
                    }
                    @for (of, value) in in_sight { (field(of, value.as_deref())) }
                    button type="submit" { "Filter" }
                }
                details open[is_open] {
                    summary { "More filters" }
                    div.row {
                        @for (of, value) in others { (field(of, value.as_deref())) }
                    }
                    div.row {
                        label.check { input type="checkbox" name="order" value="oldest" checked[self.oldest_first]; "Oldest first" }
                        label.check { input type="checkbox" name="injected" value="yes" checked[self.injected]; "Only memories that were shown unasked" }
                    }
                }
                @if let Some(at) = &ask.at { input type="hidden" name="at" value=(at); }
            }
        }
    }

    fn kinds(&self) -> Markup {
        let kinds = KINDS.iter().filter(|kind| kind.status != Status::Reserved);
        let kinds: Vec<&str> = kinds.map(|kind| kind.name).collect();
        let families = kinds.chunk_by(|one, other| family_of(one) == family_of(other));
        let chosen = self.kind.as_deref();
        let is_known = chosen.is_none_or(|chosen| {
            kinds
                .iter()
                .any(|kind| *kind == chosen || family_of(kind) == chosen)
        });
        html! {
            option value="" { "all" }
            @for kinds in families {
                @let family = family_of(kinds[0]);
                optgroup label=(family) {
                    option value=(family) selected[chosen == Some(family)] { (family) ": all" }
                    @for kind in kinds {
                        option value=(kind) selected[chosen == Some(kind)] { (kind) }
                    }
                }
            }
            @if let (Some(chosen), false) = (chosen, is_known) {
                option value=(chosen) selected { (line(chosen)) }
            }
        }
    }

    /// Returns the filters that are set, each with a link that takes it away.
    pub(super) fn chips(&self, ask: &Ask) -> Markup {
        let texts = TEXTS.iter().zip(&self.texts);
        let texts =
            texts.filter_map(|((name, label, _), value)| Some((*name, *label, value.as_deref()?)));
        let kind = self.kind.as_deref().map(|kind| ("kind", "Kind", kind));
        let injected = self
            .injected
            .then_some(("injected", "Shown unasked", "yes"));
        let set: Vec<_> = kind.into_iter().chain(texts).chain(injected).collect();
        html! {
            @if !set.is_empty() {
                ul.log-chips aria-label="Filters that are set" {
                    @for (name, label, value) in &set {
                        li.chip {
                            span.quiet { (label) } " " (line(value)) " "
                            a href=(ask.link_with(&[(name, ""), ("cursor", "")])) aria-label={ "Without " (label) } { "✕" }
                        }
                    }
                    @if set.len() > 1 { li { a href=(ask.link("/log", &[])) { "Clear all" } } }
                }
            }
        }
    }
}

fn field((name, label, example): &(&str, &str, &str), value: Option<&str>) -> Markup {
    html! {
        div.field {
            label for={ "log-" (name) } { (label) }
            input id={ "log-" (name) } name=(name) value=[value.map(clean_line)] placeholder=(example) autocomplete="off";
        }
    }
}
