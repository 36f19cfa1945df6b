//! Undo: the preview that the command line shows, then the undo of exactly that plan.

use icm_api::error::Result;
use icm_api::{UndoAction, UndoAlert, UndoAnswer, UndoChange, UndoFact, UndoRequest, UndoRow};
use icm_guard::sanitize::clean_line;
use maud::{Markup, html};

use super::Done;
use super::form::{Fields, form};
use super::memory::offers;
use crate::Explorer;
use crate::answer::Page;
use crate::ask::{Ask, encoded};

/// Most changes, events and commands that a preview names.
const NAMED: usize = 50;

/// Returns the link to the preview of the undo of an event's command, where something can be changed.
pub(crate) fn undo_link(explorer: &Explorer, ask: &Ask, event: &str) -> Markup {
    html! {
        @if offers(explorer, ask) { a.button href={ "/undo?event=" (encoded(event)) } { "Undo…" } }
    }
}

/// The page that shows the changes of an undo before it is done.
pub(crate) fn page(explorer: &Explorer, ask: &Ask) -> Result<Page> {
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
        (preview(ask, &plan))
        @if staying > 0 && !request.cascade {
            p { a href=(ask.link_with(&[("cascade", "yes")])) { "Undo the later changes, too" } }
        }
        @if offers(explorer, ask) { (form) }
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
fn preview(ask: &Ask, plan: &UndoAnswer) -> Markup {
    let (gone, staying) = plan.later_gone_and_staying();
    let later = |n| count(n, "later change", "later changes");
    html! {
        section.preview {
            p { strong {
                "Undoes " (count(plan.events, "event", "events")) " of "
                (count(plan.commands_total, "command", "commands")) ": " (plan.outcome()) "."
            } }
            @if plan.already_undone > 0 { p.quiet { (count(plan.already_undone, "event is", "events are")) " undone already." } }
            @for skipped in plan.skipped.iter().take(NAMED) {
                p.quiet {
                    a href=(ask.link(&format!("/log/{}", skipped.event), &[])) { "Event " (skipped.position) } " stays: "
                    @if skipped.redacted { "it is redacted." } @else { "a " (skipped.kind) " cannot be undone." }
                }
            }
            ul.changes { @for change in plan.changes.iter().take(NAMED) { li { (one_change(ask, change)) } } }
            @if plan.changes.len() > NAMED { p.quiet { "… and " (plan.changes.len() - NAMED) " more." } }
            @if !plan.facts.is_empty() || !plan.alerts.is_empty() {
                ul.changes {
                    @for fact in plan.facts.iter().take(NAMED) { li { (one_fact(ask, fact)) } }
                    @for alert in plan.alerts.iter().take(NAMED) { li { (one_alert(ask, alert)) } }
                }
            }
            @if gone > 0 { p { (later(gone)) " of these disappear with it, and come back when it is undone." } }
            @if staying > 0 { p.warn { (later(staying)) " of these " (plan.later_of()) " stay in force." } }
        }
    }
}

/// Returns a value of a fact that changes although its memory looks the same.
fn one_fact(ask: &Ask, fact: &UndoFact) -> Markup {
    let value =
        |value: &Option<String>| clean_line(value.as_deref().unwrap_or("(no value)")).to_string();
    html! {
        span class="badge warn" { "changed" } " "
        a href=(ask.link(&format!("/memories/{}", fact.id), &[])) {
            bdi { (clean_line(&fact.subject)) " " (clean_line(&fact.attribute)) }
        }
        span.quiet {
            " from " (fact.valid_from)
            @if let Some(until) = &fact.valid_until { " until " (until) }
        }
        p.text { del { (value(&fact.before)) } }
        p.text { ins { (value(&fact.after)) } }
    }
}

/// Returns an alert that waits no longer, waits again, or was shown before.
fn one_alert(ask: &Ask, alert: &UndoAlert) -> Markup {
    let (word, class) = match (alert.action, alert.shown) {
        (_, true) => ("shown before", "badge"),
        (UndoAction::Back, false) => ("back", "badge good"),
        (_, false) => ("gone", "badge bad"),
    };
    html! {
        span class=(class) { (word) } " alert of "
        a href=(ask.link(&format!("/log/{}", alert.position), &[])) { "event " (alert.position) }
        p.text { (clean_line(alert.text.as_deref().unwrap_or("(withheld)"))) }
    }
}

fn one_change(ask: &Ask, change: &UndoChange) -> Markup {
    let text = |row: &Option<UndoRow>| {
        let text = row.as_ref().and_then(UndoRow::text);
        clean_line(text.unwrap_or("(withheld)")).to_string()
    };
    let (word, class) = match change.action {
        UndoAction::Gone => ("gone", "badge bad"),
        UndoAction::Back => ("back", "badge good"),
        UndoAction::Changed => ("changed", "badge warn"),
    };
    let is_memory = matches!(
        change.before.as_ref().or(change.after.as_ref()),
        Some(UndoRow::Memory(_))
    );
    html! {
        span class=(class) { (word) } " "
        @if is_memory { a href=(ask.link(&format!("/memories/{}", change.id), &[])) { (change.id) } } @else { (change.id) }
        " in " bdi { (change.topic) }
        @if !change.fields.is_empty() { span.quiet { " " (change.fields.join(", ")) } }
        @match change.action {
            UndoAction::Gone => { p.text { del { (text(&change.before)) } } }
            UndoAction::Back => { p.text { ins { (text(&change.after)) } } }
            UndoAction::Changed => {
                @if text(&change.before) != text(&change.after) {
                    p.text { del { (text(&change.before)) } }
                    p.text { ins { (text(&change.after)) } }
                }
            }
        }
    }
}

/// Returns a number with its noun.
pub(super) fn count(n: u64, one: &str, many: &str) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    }
}
