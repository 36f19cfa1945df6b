//! Undo: the preview that the command line shows, then the undo of exactly that plan.

use icm_api::error::Result;
use icm_api::{LogEntry, UndoAction, UndoAnswer, UndoEntry, UndoRequest, UndoTarget, Version};
use icm_guard::sanitize::clean_line;
use icm_log::Kind;
use maud::{Markup, html};

use super::form::{Fields, form};
use super::memory::offers;
use super::{Done, only_now};
use crate::Explorer;
use crate::answer::Page;
use crate::ask::{Ask, encoded};
use crate::show::{self, count};

/// Most changes, events and commands that a preview names.
const NAMED: usize = 50;

/// Returns the link to the preview of the undo of an event's command, where something can be changed; for an event
/// whose text was taken out, the reason why no undo takes it back.
pub(crate) fn undo_link(explorer: &Explorer, ask: &Ask, entry: &LogEntry) -> Markup {
    let can_be_undone = Kind::parse(&entry.kind).is_some_and(Kind::can_be_undone);
    // An undo holds no text of a memory, so none is needed to take it back.
    let is_redacted = entry.body == "withheld" && entry.kind != "log.undone";
    html! {
        @if can_be_undone && offers(explorer, ask) {
            @if is_redacted {
                span.quiet { "no undo: its text was taken out" }
            } @else {
                a.button href={ "/undo?event=" (encoded(&entry.event)) } { "Undo…" }
            }
        }
    }
}

/// Returns the link of [`undo_link`] for the event of a version; for a version that is undone, a link to the undo.
pub(crate) fn undo_of_version(explorer: &Explorer, ask: &Ask, version: &Version) -> Markup {
    if let Some(at) = version.undone_at.filter(|at| *at <= ask.basis.position) {
        return html! { a href=(show::event_path(ask, at)) { "undone at @" (at) } };
    }
    // An event that cannot be read is shown without what could be done with it.
    let detail = offers(explorer, ask)
        .then(|| (explorer.service.log_show(&format!("@{}", version.position))).ok());
    html! { @if let Some(detail) = detail.flatten() { (undo_link(explorer, ask, &detail.entry)) } }
}

/// The page that shows the changes of an undo before it is done.
pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
    if ask.at.is_some() {
        return Ok(Page::new("Undo", only_now(ask)));
    }
    let request = UndoRequest {
        dry_run: true,
        ..request(
            ask.get("event"),
            ask.get("only").is_some(),
            ask.get("cascade").is_some(),
        )
    };
    let plan = explorer.service.undo(&explorer.caller, &request)?;
    let event = ask.get("event").unwrap_or_default();
    let (_, staying) = plan.later_gone_and_staying();
    let form = form(
        explorer,
        "undo",
        &html! {
            input type="hidden" name="event" value=(event);
            input type="hidden" name="plan" value=(plan.plan);
            @if request.only { input type="hidden" name="only" value="yes"; }
            @if request.cascade { input type="hidden" name="cascade" value="yes"; }
            label { "Reason" input name="reason" maxlength="1024"; }
            button type="submit" { "Undo " (count(plan.events, "event", "events")) }
        },
    )?;
    let main = html! {
        p { "Nothing is lost: an undo is an event, and undoing it brings things back." }
        (preview(explorer, ask, &plan))
        @if staying > 0 && !request.cascade {
            p { a href=(ask.link_with(&[("cascade", "yes")])) { "Undo the later changes, too" } }
        }
        (form)
    };
    Ok(Page::new("Undo", main))
}

pub(super) fn undo(explorer: &Explorer, fields: &Fields) -> Result<Done> {
    let given = |name| fields.get(name).is_some();
    let request = UndoRequest {
        plan: Some(fields.needed("plan")?.to_owned()),
        reason: fields.get("reason").map(str::to_owned),
        ..request(
            Some(fields.needed("event")?),
            given("only"),
            given("cascade"),
        )
    };
    let done = explorer.service.undo(&explorer.caller, &request)?;
    Ok(match done.event {
        Some(event) => Done::Event(event),
        None => Done::Nothing("/log".to_owned()),
    })
}

fn request(event: Option<&str>, only: bool, cascade: bool) -> UndoRequest {
    UndoRequest {
        events: event.map(str::to_owned).into_iter().collect(),
        only,
        cascade,
        ..UndoRequest::default()
    }
}

/// Returns the changes of a plan, as the command line prints them.
fn preview(explorer: &Explorer, ask: &Ask, plan: &UndoAnswer) -> Markup {
    let (gone, staying) = plan.later_gone_and_staying();
    let later = |n| count(n, "later change", "later changes");
    let either = |n, one, many| if n == 1 { one } else { many };
    html! {
        section.preview {
            p { strong {
                "Undoes " (count(plan.events, "event", "events")) " of "
                (count(plan.commands_total, "command", "commands")) ": " (plan.outcome()) "."
            } }
            @if plan.already_undone > 0 { p.quiet { (count(plan.already_undone, "event is", "events are")) " undone already." } }
            @for skipped in plan.skipped.iter().take(NAMED) {
                p.quiet {
                    a href=(show::event_id_path(ask, &skipped.event)) { "Event " (skipped.position) } " stays: "
                    @if skipped.redacted { "it is redacted." } @else { "a " (skipped.kind) " cannot be undone." }
                }
            }
            @for kind in plan.entries(NAMED, &explorer.service.zone()) {
                @if !kind.entries.is_empty() {
                    ul.changes { @for entry in &kind.entries { li { (one_entry(ask, entry)) } } }
                }
                @if let Some(more) = &kind.more { p.quiet { (more) "." } }
            }
            @if gone > 0 { p { (later(gone)) " of these " (either(gone, "disappears", "disappear")) " with it, and " (either(gone, "comes", "come")) " back when it is undone." } }
            @if staying > 0 { p.warn { (later(staying)) " of these " (plan.later_of()) " " (either(staying, "stays", "stay")) " in force." } }
        }
    }
}

/// Returns a row, a value of a fact or an alert, and its values before and after.
fn one_entry(ask: &Ask, entry: &UndoEntry<'_>) -> Markup {
    let (word, class) = match entry.action {
        Some(UndoAction::Gone) => ("gone", "badge bad"),
        Some(UndoAction::Back) => ("back", "badge good"),
        Some(UndoAction::Changed) => ("changed", "badge warn"),
        None => ("shown before", "badge"),
    };
    let path = match entry.target {
        UndoTarget::Memory(id) => Some(show::memory_path(ask, id)),
        UndoTarget::Event(position) => Some(show::event_path(ask, position)),
        UndoTarget::Row(_) => None,
    };
    let name = entry.target.name();
    html! {
        span class=(class) { (word) } " "
        @match path {
            Some(path) => { a href=(path) { (name) } }
            None => { (name) }
        }
        " " bdi { (clean_line(&entry.place)) }
        @if !entry.note.is_empty() { span.quiet { " " (clean_line(&entry.note)) } }
        @for value in &entry.values {
            @if let Some(line) = value.line() {
                p.text { (clean_line(&line)) }
            } @else {
                @if let Some(before) = &value.before { p.text { del { (clean_line(&value.labelled(before))) } } }
                @if let Some(after) = &value.after { p.text { ins { (clean_line(&value.labelled(after))) } } }
            }
        }
    }
}
